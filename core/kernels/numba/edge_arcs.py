# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the changes of edges from tangents to arcs, compiled. Arguments are those of `kernels.numpy.edge_arcs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import edge_arcs as formulas
from ..formulas.edge_arcs import back_to_the_arc
from .kernel_cache import njit
from .options import KERNEL
from .plain_functions import register
from .thread_pool import LEAST_VERTICES, share
from .vectors import at, subtract

register(formulas)


def back_to_arcs(edges: IntArray, start: FloatArray, quaternions: FloatArray, end: FloatArray, least: float
                 ) -> FloatArray:
    """Return the changes (E, 3) [m] of edges (E, 2) that bring them back to arcs."""
    result = np.empty((len(edges), 3))
    share(_back_to_arcs, len(edges), LEAST_VERTICES, edges, np.ascontiguousarray(start), quaternions,
          np.ascontiguousarray(end), least, result)
    return result


@njit(**KERNEL)
def _back_to_arcs(begin: Any, end: Any, edges: Any, x0: Any, q: Any, x1: Any, least: Any, result: Any) -> None:
    """Write the changes of edges begin..end - 1 to result (E, 3)."""
    for e in range(begin, end):
        i, j = edges[e, 0], edges[e, 1]
        turn = q[i, 0] + q[j, 0], q[i, 1] + q[j, 1], q[i, 2] + q[j, 2], q[i, 3] + q[j, 3]
        result[e, 0], result[e, 1], result[e, 2] = back_to_the_arc(
            subtract(at(x0, j), at(x0, i)), turn, subtract(at(x1, j), at(x1, i)), least)
