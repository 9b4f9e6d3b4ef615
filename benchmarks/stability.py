# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the steps at which models diverge under compression, the stability discussion of Choi and Ko 2005 as a table.

    python benchmarks/stability.py [--seconds 0.75]

A sheet of 17 x 17 vertices is compressed from two sides, as where wrinkles form, to three quarters of its length in
half a second, and then held. Implicit Euler with one linearisation per step (Baraff and Witkin 1998), and no step is
halved. A run has diverged if it ends with an error, if conjugate gradients meet an indefinite matrix, or if an edge is
twice as long as at rest. The Hookean springs of `mass_spring` are solved with their exact tangent, which is indefinite
under compression, and with the projected one; immediate buckling with its reduced tangent, and with the exact one.
"""

import argparse
import sys
from pathlib import Path
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import core  # noqa: E402
from core.model.elastic_forces import ElasticForces  # noqa: E402

STEPS = [1 / 12, 1 / 24, 1 / 48, 1 / 96, 1 / 192, 1 / 384]
"""Steps [s]."""
STRETCH = [250.0, 1000.0, 4000.0]
"""Stretch stiffness [N/m]."""
KINDS = [("Baraff-Witkin", "baraff_witkin", False), ("mass-spring, exact tangent", "mass_spring", True),
         ("mass-spring, projected", "mass_spring", False), ("buckling, exact tangent", "immediate_buckling", True),
         ("buckling, reduced tangent", "immediate_buckling", False)]
"""Title, model, and whether the exact tangent is used."""


def scene(model: str, stretch: float, side: int = 17) -> core.Scene:
    """Return the sheet of `side` x `side` vertices that is compressed from two sides."""
    u, v = np.meshgrid(np.linspace(0.0, 1.0, side), np.linspace(0.0, 1.0, side), indexing="ij")
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    quads = np.stack([corner, corner + side, corner + side + 1, corner + 1], axis=1)
    noise = 1e-3 / side * np.random.default_rng(0).normal(size=u.shape)
    x = np.stack([u, v, noise], axis=-1).reshape(-1, 3)
    fabric = core.Material(areal_density=0.15, stretch=stretch, shear=0.1 * stretch, bend=(1e-5, 1e-5), damping=0.0)
    pins = {}
    for i, sign in ((0, 1.0), (side - 1, -1.0)):
        for j in range(side):
            at = x[i * side + j]
            pins[i * side + j] = lambda t, at=at, sign=sign: at + [sign * 0.125 * min(t / 0.5, 1.0), 0.0, 0.0]
    return core.Scene([core.Cloth(core.ClothMesh(x, faces=quads), fabric, model=model, pins=pins)])


def ends_well(model: str, stretch: float, h: float, exact: bool, seconds: float) -> tuple[bool, float]:
    """Return whether a run does not diverge, and its largest stretch [-]."""
    original = ElasticForces.stiffness

    def stiffness(self, x, factor, **options):  # type: ignore[no-untyped-def]
        return original(self, x, factor, **({**options, "exact": True} if exact else options))

    solver = core.Solver(frame_rate=1.0 / h, steps_per_frame=1, adaptive=False, self_collision=False, tolerance=1e-3)
    worst = 0.0
    try:
        with mock.patch.object(ElasticForces, "stiffness", stiffness):
            for frame in core.simulate(scene(model, stretch), solver, range(int(np.ceil(seconds / h)) + 1)):
                worst = max(worst, frame.certificate.stretch_max)
                if not frame.certificate.converged or worst > 2.0:
                    return False, worst
    except core.SolverError:
        return False, np.inf
    return True, worst


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.75)
    arguments = parser.parse_args()
    print("| step [s] | stretch [N/m] | " + " | ".join(name for name, *_ in KINDS) + " |\n" + "| --- " * 7 + "|")
    for stretch in STRETCH:
        for h in STEPS:
            cells = []
            for _, model, exact in KINDS:
                good, worst = ends_well(model, stretch, h, exact, arguments.seconds)
                cells.append(f"{worst:.2f}" if good else "diverges")
            print(f"| 1/{round(1 / h)} | {stretch:.0f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
