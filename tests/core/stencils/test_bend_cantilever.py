# SPDX-License-Identifier: GPL-3.0-or-later
"""Clamped strips at rest with large deflections, against the heavy elastica and the tip-loaded one.

Two rows of pinned vertices clamp the strip half a cell inside the last pinned row; the exact solution is that of the
length from there.
"""

import json
from pathlib import Path

import pytest

from benchmarks.bending_study import heavy_error, tip_error
from benchmarks.elastica import heavy, tip_loaded
from benchmarks.triangulations import TRIANGULATIONS
from tests.cases import cases

MASTER = json.loads((Path(__file__).parents[1] / "reference" / "cantilever_elastica.json").read_text())["master_curve"]
TOLERANCE = {10: 0.05, 20: 0.03}


@cases("row", [r for r in MASTER if r["gamma"] in (0.1, 1, 3, 10, 30)], ids=lambda r: str(r["gamma"]))
def test_our_own_elastica_is_the_master_curve(row):
    assert heavy(row["gamma"]) == pytest.approx((row["W"], row["H"]), rel=1e-6)


@cases(("alpha", "reach", "drop"), [(1.0, 0.943566763717, 0.3017207738),
                                    (4.0, 0.671058757753, 0.669964181278),
                                    (10.0, 0.445004402246, 0.81060902488)])
def test_our_own_tip_loaded_elastica_is_the_table(alpha, reach, drop):
    assert tip_loaded(alpha) == pytest.approx((reach, drop), rel=1e-6)


@pytest.mark.parametrize("cells", [10, pytest.param(20, marks=pytest.mark.slow)])
@cases("kind", TRIANGULATIONS)
def test_a_heavy_strip_of_patches_hangs_as_the_elastica_on_every_triangulation(kind, cells):
    assert max(map(abs, heavy_error(kind, cells, "patch", (0.3, 3.0, 30.0)))) <= TOLERANCE[cells]


def test_a_heavy_strip_of_patches_converges():
    errors = {cells: max(map(abs, heavy_error("right", cells, "patch", (0.3, 3.0)))) for cells in (10, 20, 40)}
    assert errors[40] <= 0.001
    assert errors[20] <= errors[10] / 3.5
    assert errors[40] <= errors[20] / 3.5


@cases("cells", [16, 32])
def test_a_strip_of_patches_with_a_load_at_its_tip_meets_the_plate_table(cells):
    assert max(map(abs, tip_error("right", cells, "patch", (1.0, 10.0)))) <= {16: 0.01, 32: 0.005}[cells]
