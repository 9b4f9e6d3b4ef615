# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of a sheet on a cylinder, over B kappa^2 / 2 per area: it depends on the triangulation for hinges, and not
for patches.

A free border has no energy; its part of the sheet is inversely proportional to the number of cells. Twice the ratio at
n cells minus the ratio at n / 2 is therefore the ratio without a border.
"""

import pytest

from benchmarks.static_sheet import cylinder_ratio, flat_mesh
from tests.cases import cases
from tests.core.physics.scenes import reference

TABLE = reference("hinge_calibration")
CASES = [(kind, float(angle), ratio) for kind in ("right", "alternating", "crossed")
         for angle, ratio in TABLE["ratio"][kind].items()]


def without_rim(kind, law, angle, cells=16):
    """Return the ratio of the interior of a square sheet that curves in the direction at `angle` [degrees] from its
    rows.
    """
    coarse, fine = (cylinder_ratio(flat_mesh(kind, n - 1, n), law, angle) for n in (cells, 2 * cells))
    return 2.0 * fine - coarse


@cases(("kind", "angle", "ratio"), CASES)
def test_the_energy_of_hinges_depends_on_the_triangulation(kind, angle, ratio):
    assert without_rim(kind, "hinge", angle) == pytest.approx(ratio, abs=TABLE["tolerance"]["ratio_abs"])


@cases("angle", [0.0, 15.0, 45.0, 71.0, 90.0, 135.0])
@cases("kind", ["right", "alternating", "crossed", "equilateral", "jittered"])
def test_the_energy_of_patches_is_the_fabrics_on_every_triangulation(kind, angle):
    assert without_rim(kind, "patch", angle) == pytest.approx(1.0, abs=TABLE["tolerance"]["ratio_abs"])
