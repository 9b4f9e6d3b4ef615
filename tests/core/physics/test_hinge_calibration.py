# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sheet laid on a cylinder stores, over B kappa^2 / 2 per area: of hinges a matter of the triangulation, of
patches of none.

A free rim stores nothing, a part of the sheet that is inversely as large as its cells are many: twice the ratio of so
many cells less that of half as many is the ratio without a rim.
"""

import pytest

from benchmarks.static_sheet import cylinder_ratio, flat_mesh
from tests.core.physics.scenes import reference

TABLE = reference("hinge_calibration")
CASES = [(kind, float(angle), ratio) for kind in ("right", "alternating", "crossed")
         for angle, ratio in TABLE["ratio"][kind].items()]


def without_rim(kind, law, angle, cells=16):
    """The ratio inside of a square sheet that curves in the direction at `angle` [degrees] from its rows."""
    coarse, fine = (cylinder_ratio(flat_mesh(kind, n - 1, n), law, angle) for n in (cells, 2 * cells))
    return 2.0 * fine - coarse


@pytest.mark.parametrize(("kind", "angle", "ratio"), CASES)
def test_hinges_store_what_their_triangulation_makes_of_the_fabrics_stiffness(kind, angle, ratio):
    assert without_rim(kind, "hinge", angle) == pytest.approx(ratio, abs=TABLE["tolerance"]["ratio_abs"])


@pytest.mark.parametrize("angle", [0.0, 15.0, 45.0, 71.0, 90.0, 135.0])
@pytest.mark.parametrize("kind", ["right", "alternating", "crossed", "equilateral", "jittered"])
def test_patches_store_the_fabrics_stiffness_on_every_triangulation(kind, angle):
    assert without_rim(kind, "patch", angle) == pytest.approx(1.0, abs=TABLE["tolerance"]["ratio_abs"])
