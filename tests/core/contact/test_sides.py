# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is inside is known from step to step, and asked again of those alone for whom that may have changed."""

import numpy as np
import pytest

from core.contact import sides
from core.contact.bvh import BVH, element_boxes
from core.contact.containment import inside, nearest
from tests.cases import cases
from tests.core.contact.shapes import bumpy_ball

pytestmark = pytest.mark.usefixtures("backend")


def solid():
    positions, triangles = bumpy_ball(24, 12)
    return positions, triangles, np.ones(len(triangles), dtype=bool), BVH.build(*element_boxes(triangles, positions))


@cases("stride", [0.001, 0.1, 1.0])
def test_what_is_told_from_step_to_step_is_what_asking_all_would_tell(stride):
    positions, triangles, closed, tree = solid()
    rng = np.random.default_rng(2)
    x, known, changed = 1.2 * rng.uniform(-1.0, 1.0, (400, 3)), sides.Sides(positions, triangles, closed), 0
    before = None
    for _ in range(12):
        clear = np.minimum(0.15, nearest(x, positions, triangles, tree)[1].distance)
        found = known.within(x, clear, tree)
        np.testing.assert_array_equal(found, inside(x, positions, triangles, closed, tree))
        changed += before is not None and np.count_nonzero(found != before)
        before = found.copy()
        found[:] = False                                             # the caller's to change
        x = x + stride * rng.normal(size=x.shape)
    assert changed > 0 or stride < 0.01


def test_only_those_near_the_surface_and_others_than_before_are_asked_for(monkeypatch):
    positions, triangles, closed, tree = solid()
    asked = []
    monkeypatch.setattr(sides, "inside", lambda points, *rest: asked.append(len(points)) or inside(points, *rest))
    x = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.0, 0.1]])
    known, clear = sides.Sides(positions, triangles, closed), np.array([0.3, 0.3, 0.0, 0.3])
    assert known.within(x, clear, tree).tolist() == [True, False, True, True]
    x[3] = [0.0, 0.0, 2.0]                                           # gone far
    assert known.within(x, clear, tree).tolist() == [True, False, True, False]
    known.within(x[:2], clear[:2], tree)
    assert asked == [4, 2, 2]                                        # all; the one on the surface and the one gone; all
