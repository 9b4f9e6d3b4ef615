# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles of a collider are left out of collisions, and a closed surface stays closed."""

import numpy as np
import pytest

import core
from core.contact.colliders import SurfaceShape
from tests.core.contact.shapes import ball, box, sheet


def test_a_ball_without_its_top_is_closed_by_a_cap():
    x, triangles = ball(16, 8, 0.5)
    top = x[:, 2] > 0.2
    collider = core.Collider(x, triangles, left_out=top)
    assert not top[collider.triangles].all(axis=1)[:-14].any()
    shape = SurfaceShape.build(x, collider.triangles)
    assert shape.closed.all() and len(np.unique(shape.part)) == 1
    assert len(collider.triangles) < len(triangles)
    sides = np.stack([collider.triangles, np.roll(collider.triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
    assert len(np.unique(sides, axis=0)) == len(sides), "all triangles are wound alike"


def test_two_holes_are_closed_each():
    x, triangles = ball(16, 8, 0.5)
    shape = SurfaceShape.build(x, core.Collider(x, triangles, left_out=np.abs(x[:, 2]) > 0.3).triangles)
    assert shape.closed.all()


def test_an_open_surface_keeps_its_border():
    x, triangles = sheet(6, 6, 1.0, 1.0)
    collider = core.Collider(x, triangles, left_out=x[:, 0] < -0.2)
    assert (x[collider.triangles][:, :, 0].max(axis=1) >= -0.2).all()


def test_cloth_falls_through_what_is_left_out():
    plate, faces = sheet(21, 21, 2.0, 2.0)
    middle = np.abs(plate[:, :2]).max(axis=1) < 0.51
    patch, own = sheet(6, 6, 0.3, 0.3)
    cloth = core.Cloth(core.ClothMesh(patch + [0.0, 0.0, 0.02], own), core.Material.preset("cotton"))
    falls, stays = (list(core.simulate(core.Scene([cloth], [core.Collider(plate, faces, left_out=marks)]),
                                       frames=range(1, 9)))[-1].positions[0][:, 2].max()
                    for marks in (middle, None))
    assert falls < -0.1 and stays > 0.0


@pytest.mark.parametrize(("marks", "words"), [
    (np.ones(8, dtype=bool), "all of its triangles are left out"), (np.zeros(3, dtype=bool), "at least 8 vertices"),
    (np.zeros(8), "weights > 0.5")])
def test_marks_that_do_not_fit_are_refused(marks, words):
    x, triangles = box(1.0)
    with pytest.raises(core.ColliderError, match=words):
        core.Collider(x, triangles, left_out=marks)
