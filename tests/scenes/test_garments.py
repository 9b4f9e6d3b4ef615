# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments sewn from flat panels around a body have known final dimensions."""

import numpy as np
import pytest

import core
from demo.systems.garment import skirt
from demo.systems.shapes import ball

ACROSS, DOWN, WAIST = 12, 12, 0.18
RADIUS, HEIGHT = 0.25, 0.22
"""Radius of the ball, and height of the panels' upper edges above its centre at the start [m]."""
CLOSING = 0.4
"""Closing time of the seams [s]. The panels are thrown up so that they are back at their start when it ends."""


def sewn_skirt(frames):
    mesh, seams = skirt(ACROSS, DOWN, waist=WAIST, hem=0.56, length=0.48, apart=0.3, height=HEIGHT)
    fabric = core.Material.preset("cotton", air_drag=1.0, viscous_drag=0.3, damping=0.02)
    toss = np.tile([0.0, 0.0, 0.6 * 9.81 * CLOSING], (len(mesh.positions), 1))
    cloth = core.Cloth(mesh, fabric, velocities=toss, sewing=True, sewing_time=CLOSING)
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2)
    scene = core.Scene([cloth], [core.Collider(*ball(RADIUS), friction=0.0)])
    return cloth, seams, list(core.simulate(scene, solver, range(1, frames + 1)))


def test_a_skirt_sewn_around_a_ball_slides_down_to_where_its_waist_fits():
    """A waist of 2 N chords of length c is a ring of radius r = c / (2 sin(pi / 2 N)). On a smooth ball of radius R
    with the contact distance d, its height above the centre is sqrt((R + d)^2 - r^2). It is nearly at rest there by
    frame 36.
    Most of the skirt hangs below the centre; without friction a shorter one would tip to a side that depends on
    rounding.
    """
    cloth, seams, frames = sewn_skirt(48)
    y, half = frames[-1].positions[0], len(cloth.positions) // 2
    ring = np.concatenate([y[:ACROSS + 1], y[half:half + ACROSS + 1][::-1]])
    chord = 2.0 * np.pi * WAIST / (2 * ACROSS)
    radius = chord / (2.0 * np.sin(np.pi / (2 * ACROSS)))
    wanted = np.sqrt((RADIUS + cloth.thickness) ** 2 - radius ** 2)
    assert wanted < HEIGHT
    assert np.linalg.norm(np.diff(ring, axis=0), axis=1).sum() == pytest.approx(2.0 * np.pi * WAIST, rel=1e-2)
    assert np.linalg.norm(ring.mean(axis=0)) == pytest.approx(wanted, rel=0.03)         # it still swings by a hundredth
    assert np.linalg.norm(y[seams[:, 1]] - y[seams[:, 0]], axis=1).max() < 1e-3 * cloth.mesh.mean_edge
    assert max(frame.certificate.crossings for frame in frames) == 0
    assert frames[-1].certificate.stretch_max < 1.02


def test_the_sewn_skirt_with_merged_seams_does_not_intersect_itself():
    """The audit does not know seams, so their vertices are merged."""
    cloth, seams, frames = sewn_skirt(30)
    label = np.arange(len(cloth.positions))
    label[seams[:, 1]] = seams[:, 0]
    triangles = label[cloth.mesh.triangles]
    for frame in frames[int(24 * CLOSING) + 2::4]:
        found = core.audit([(frame.positions[0], triangles)], [ball(RADIUS)])
        assert found.crossings == 0
        assert found.deepest_penetration == 0.0


def two_panels(fabric, apart, **options):
    """Return two free squares of 1 m, sewn along the sides that face each other, with the settings of the panel."""
    k = 8
    i, j = np.meshgrid(np.arange(k + 1), np.arange(k + 1), indexing="ij")
    side = np.stack([i / k, j / k, np.ones_like(i)], axis=-1).reshape(-1, 3)
    corner = (np.arange(k)[:, None] * (k + 1) + np.arange(k)).ravel()
    quads = np.stack([corner, corner + k + 1, corner + k + 2, corner + 1], axis=1)
    count = len(side)
    seams = np.stack([k * (k + 1) + np.arange(k + 1), count + np.arange(k + 1)], axis=1)
    mesh = core.ClothMesh(np.concatenate([side, side + [1.0 + apart, 0.0, 0.0]]),
                          faces=np.concatenate([quads, quads + count]), edges=seams)
    cloth = core.Cloth(mesh, core.Material.preset(fabric), sewing=True, **options)
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2, backend="numpy")
    return list(core.simulate(core.Scene([cloth]), solver, range(1, 41)))


@pytest.mark.parametrize(("fabric", "apart", "options"), [
    ("cotton", 0.3, {"sewing_time": 0.25}), ("silk", 0.1, {"sewing_time": 0.5}), ("denim", 0.1, {"sewing_time": 0.5}),
    ("cotton", 0.05, {"sewing_time": 0.5}), ("cotton", 0.3, {"sewing_time": 0.25, "sewing_force": 100.0}),
    ("cotton", 0.3, {"sewing_time": 0.25, "sewing_force": 5.0})])
def test_free_panels_are_sewn_and_stay_sewn_with_the_settings_of_the_panel(fabric, apart, options):
    frames = two_panels(fabric, apart, **options)
    gaps = [frame.certificate.seam_gap for frame in frames]
    assert gaps[0] == pytest.approx(apart)
    assert max(gaps) < 1.1 * apart
    assert max(gaps[24:]) < 0.01
    assert max(frame.certificate.stretch_p99 for frame in frames) < 1.1


def test_cloth_without_seams_has_no_seam_gap():
    cloth = core.Cloth(core.ClothMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), core.Material.preset("cotton"))
    frame = next(core.simulate(core.Scene([cloth]), core.Solver(backend="numpy"), range(1, 3)))
    assert frame.certificate.seam_gap is None


@pytest.mark.parametrize("weighs", [True, False])
def test_gravity_can_be_off_until_seams_are_closed(weighs):
    """Two panels side by side keep their height while they are sewn, and fall after that."""
    frames = two_panels("cotton", 0.2, closing_gravity=weighs, sewing_time=0.5)
    falls = [float((frame.positions[0] - frames[0].positions[0])[:, 2].mean()) for frame in frames]
    assert (falls[11] > -1e-3) != weighs
    assert falls[24] < -0.2
