# SPDX-License-Identifier: GPL-3.0-or-later
"""A published run: a garment of 6,450 vertices on a turning body, the size of Baraff and Witkin 1998, figure 4."""

import core
from benchmarks.published import shirt

from .run import Run


def build() -> Run:
    return Run(scene=shirt(), solver=core.Solver(integrator="bdf2", steps_per_frame=1),
               pictured=(1, 12, 24, 36), eye=(1.0, -2.0, 0.9), target=(0.0, 0.0, 0.36))
