# SPDX-License-Identifier: GPL-3.0-or-later
"""How far ends are from where they were expected is a distance, but for what all have in common."""

import numpy as np
import pytest

from core.kernels import current
from tests.cases import cases

pytestmark = pytest.mark.usefixtures("backend")


@cases("share", [0.0, 0.3, 1.0])
@cases("size", [1, 7, 5000])
def test_it_is_the_distance_but_for_the_mean_way_of_the_steady_ones(size, share):
    rng = np.random.default_rng(size)
    x, y = rng.normal(size=(2, size, 3))
    steady = rng.random(size) < share
    moved = x - y
    common = moved[steady].mean(axis=0) if steady.any() else np.zeros(3)
    found = current().motion_bounds.away(x, y, steady)
    np.testing.assert_allclose(found, np.linalg.norm(moved - common, axis=1), rtol=1e-12, atol=1e-12)


def test_what_all_have_in_common_makes_no_difference_and_what_has_no_surface_neither():
    rng = np.random.default_rng(2)
    y = rng.normal(size=(40, 3))
    x = y + [3.0, -2.0, 1.0]
    x[30:] += rng.normal(size=(10, 3))
    np.testing.assert_allclose(current().motion_bounds.away(x, y, np.ones(30, dtype=bool)), 0.0, atol=1e-14)
    alone = current().motion_bounds.away(x, y, np.zeros(30, dtype=bool))           # nobody says which motion is common
    np.testing.assert_allclose(alone[:30], np.sqrt(14.0), rtol=1e-13)
    assert (alone[30:] == 0.0).all()
