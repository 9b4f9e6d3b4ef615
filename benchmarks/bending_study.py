# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how the stiffness of bending laws depends on the triangulation.

    python -m benchmarks.bending_study [--quick] [--laws patch,hinge,quadratic]

Prints, for every law and triangulation: the energy on given cylinders over the exact one, the tip deflection of a
clamped plate and of a strip at small angles over the exact one, and the error of H/W of a heavy strip with large
deflections. A clamped end counts as half a row inside the last pinned one. docs/bending.md quotes this output.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.elastica import heavy, tip_loaded
from benchmarks.static_sheet import Strip, cylinder_ratio, flat_mesh, small_tip_ratio
from benchmarks.triangulations import TRIANGULATIONS
from core.stencils.bending.bend_forces import LAWS

GAMMAS = (0.3, 1.0, 3.0, 10.0, 30.0)
ALPHAS = (1.0, 4.0, 10.0)
ANGLES = range(0, 180, 15)


def heavy_error(kind: str, cells: int, law: str, gammas: Sequence[float] = GAMMAS) -> list[float]:
    """Return the relative error of H/W of a heavy strip, a quarter as wide as long, for each gamma."""
    strip = Strip(kind, cells, max(2, cells // 4), law)
    errors = []
    for gamma in gammas:
        reach, drop = strip.hang(gamma)
        length = 1.0 + strip.half_row
        w, h = heavy(gamma * length ** 3)
        errors.append(drop / reach / (h * length / (w * length - strip.half_row)) - 1.0)
    return errors


def tip_error(kind: str, cells: int, law: str, alphas: Sequence[float] = ALPHAS) -> list[float]:
    """Return the error of the drop over the length [-] of a strip loaded at its tip, for each alpha."""
    strip = Strip(kind, cells, max(2, cells // 4), law)
    length = 1.0 + strip.half_row
    return [strip.load_tip(alpha)[1] - tip_loaded(alpha * length ** 2)[1] * length for alpha in alphas]


def main() -> None:
    """Print the results of all laws and triangulations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10 and 20 cells only")
    parser.add_argument("--laws", default=",".join(LAWS))
    options = parser.parse_args()
    sizes = (10, 20) if options.quick else (10, 20, 40)
    for law in options.laws.split(","):
        for kind in TRIANGULATIONS:
            print(f"\n{law}, {kind}")
            for cells in sizes:
                mesh = flat_mesh(kind, cells, cells)
                cylinders = [cylinder_ratio(mesh, law, angle) for angle in ANGLES]
                plate, strip = (small_tip_ratio(kind, cells, width, law) for width in (cells, cells // 2))
                print(f"  {cells:3} cells   cylinders {min(cylinders):.3f} - {max(cylinders):.3f}   "
                      f"plate {plate:.4f}   strip {strip:.4f}", flush=True)
                bent = " ".join(f"{100 * error:+7.2f}" for error in heavy_error(kind, cells, law))
                tip = " ".join(f"{error:+7.4f}" for error in tip_error(kind, cells, law))
                print(f"              heavy H/W [%] {bent}   tip load H {tip}", flush=True)
    print(f"\nheavy: gamma = {GAMMAS}; tip load: alpha = {ALPHAS}; cylinders every 15 degrees; NumPy {np.__version__}")


if __name__ == "__main__":
    main()
