# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction that changes over time, of the fabric, of cloth on cloth and of colliders."""

import numpy as np
import pytest

import core
from tests.core.shapes import grid

FABRIC = core.Material(areal_density=0.3, stretch=300.0, shear=100.0, bend=1e-4, friction=0.4)
SLOPE = np.arctan(0.5)


def slope():
    corners = np.array([[-9.0, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]])
    turn = np.array([[np.cos(SLOPE), 0, np.sin(SLOPE)], [0, 1, 0], [-np.sin(SLOPE), 0, np.cos(SLOPE)]])
    return corners @ turn.T, turn


def slid(fabric, friction, contact="constraints", until=24, start=None, begin=1):
    """Return the frames of a sheet on a slope of tan = 1/2."""
    corners, turn = slope()
    positions, triangles = grid(4, 4)
    positions[:, 2] += 0.02
    cloth = core.Cloth(core.ClothMesh(positions @ turn.T, triangles), fabric, thickness=0.02)
    scene = core.Scene([cloth], [core.Collider(corners, [[0, 1, 2], [0, 2, 3]], friction=friction)])
    solver = core.Solver(backend="numpy", frame_rate=24.0, solid_contact=contact)
    return list(core.simulate(scene, solver, range(begin, until + 1), start=start))


def way(frames):
    return float(np.linalg.norm(frames[-1].positions[0].mean(axis=0) - frames[0].positions[0].mean(axis=0)))


def let_go(t):
    """Return a coefficient that holds for half a second and lets go then."""
    return 1.0 if t < 0.5 else 0.0


@pytest.mark.parametrize("contact", ["constraints", "springs"])
@pytest.mark.parametrize("keyed", ["collider", "fabric"])
def test_a_sheet_begins_to_slide_when_friction_ends(contact, keyed):
    """Then it falls along the slope: s = g sin(a) t^2 / 2."""
    fabric = core.KeyedMaterial(FABRIC, {"friction": let_go}) if keyed == "fabric" else FABRIC
    frames = slid(fabric, let_go if keyed == "collider" else 1.0, contact)
    at = round(0.5 * 24)
    assert way(frames[:at]) < 2e-3
    t = (len(frames) - 1 - at) / 24.0
    assert way(frames) == pytest.approx(0.5 * 9.81 * np.sin(SLOPE) * t * t, rel=0.25)


def test_a_function_of_one_value_gives_the_bytes_of_that_value():
    one, other = (slid(FABRIC, friction, until=6)[-1].positions[0] for friction in (0.3, lambda t: 0.3))
    assert one.tobytes() == other.tobytes()


def test_a_continued_simulation_has_the_same_bytes():
    whole = slid(FABRIC, lambda t: 1.0 - t, until=14)
    rest = slid(FABRIC, lambda t: 1.0 - t, until=14, start=whole[5].checkpoint(), begin=7)
    assert rest[-1].positions[0].tobytes() == whole[-1].positions[0].tobytes()


def test_friction_of_cloth_on_cloth_changes_too():
    cloth = core.Cloth(core.ClothMesh(*grid(2, 2)), FABRIC,
                       contact=core.ClothContact(self_friction=lambda t: 0.1 + t))
    assert cloth.friction_at(0.0) == (0.4, 0.1) and cloth.friction_at(0.5) == (0.4, 0.6)


@pytest.mark.parametrize("made", [
    lambda: core.Collider(np.eye(3), [[0, 1, 2]], friction=lambda t: -1.0), lambda: slid(FABRIC, lambda t: 0.1 - t),
    lambda: core.ClothContact(self_friction=lambda t: float("nan"))])
def test_friction_out_of_range_is_refused(made):
    with pytest.raises(core.ClothError, match="friction.* is (-|nan)"):
        made()
