# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts that cross are resolved before the first frame: nothing crosses, and cloth keeps its shape.

Each result is checked by the independent audit.
"""

import numpy as np
import pytest

import core
from core.stepping.adaptive_stepper import Stepper
from tests.core.contact.shapes import ball, box, sheet
from tests.scenes import scenes_of_colliders as colliders
from tests.scenes import scenes_of_layers as layers
from tests.scenes.audit import Judge
from tests.scenes.solids import capsule, cone
from tests.scenes.staging import cloth, floor, turned

pytest.importorskip("ipctk")

UP = np.array([0.0, 0.0, 1.0])


def scene_of(cloths, solids=()):
    return core.Scene(cloths, [s if isinstance(s, core.Collider) else core.Collider(*s) for s in solids])


def found_at(scene, positions):
    """Return the finding of the audit at positions (V, 3) [m] of each cloth."""
    solids = [(c.at(0.0), c.triangles) for c in scene.colliders]
    judge = Judge([(c.positions, c.mesh.triangles) for c in scene.cloths], solids)
    return judge.look(positions, [x for x, _ in solids])


def ratios(scene, positions):
    """Return the lengths of all displayed edges over those at the start."""
    found = []
    for c, x in zip(scene.cloths, positions, strict=True):
        one, other = c.mesh.edges[~c.mesh.is_diagonal].T
        found.append(np.linalg.norm(x[other] - x[one], axis=1)
                     / np.linalg.norm(c.positions[other] - c.positions[one], axis=1))
    return np.concatenate(found)


def tube(radius, count=24, rows=12, length=0.3, name="tube", shift=(0.0, 0.0, 0.0), **contact):
    """Return a tube along z whose faces point out."""
    angle, z = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False), np.linspace(-0.5 * length, 0.5 * length, rows)
    x = np.stack([np.tile(radius * np.cos(angle), rows), np.tile(radius * np.sin(angle), rows), np.repeat(z, count)],
                 axis=1) + shift
    faces = [[i * count + j, i * count + (j + 1) % count, (i + 1) * count + (j + 1) % count, (i + 1) * count + j]
             for i in range(rows - 1) for j in range(count)]
    return core.Cloth(core.ClothMesh(x, faces=faces, name=name), core.Material.preset("cotton"), name=name,
                      contact=core.ClothContact(**contact))


def tilted(height, lean):
    return cloth(16, 16, 0.8, 0.8, lambda x: turned(x, lean, axis=1) + height * UP)


def in_ball(lift, size=0.6, count=20):
    return scene_of([cloth(count, count, size, size, lambda x: x + lift * UP)], [ball(24, 12, 0.15)])


def open_limb():
    """Return a limb without its end caps, and a sleeve that is partly inside of it."""
    x, triangles = capsule(0.04, 0.5)
    middle = np.abs(x[triangles][:, :, 2]).max(axis=1) < 0.25
    return scene_of([tube(0.045, shift=(0.012, 0.0, 0.0))], [(x, triangles[middle])])


def lined_sleeve():
    """Return a sleeve with a lining that is turned in at the hem, both partly in an arm."""
    inner, outer = tube(0.043).mesh, tube(0.046).mesh
    count, last = len(inner.positions), len(inner.positions) - 24
    hem = [[last + j, count + last + j, count + last + (j + 1) % 24, last + (j + 1) % 24] for j in range(24)]
    faces = [*inner.triangles[:, ::-1].tolist(), *(outer.triangles + count).tolist(), *hem]
    mesh = core.ClothMesh(np.concatenate([inner.positions, outer.positions]) + [0.012, 0.004, 0.0], faces=faces)
    return scene_of([core.Cloth(mesh, core.Material.preset("cotton"), thickness=0.001)], [capsule(0.04, 0.5)])


def suit():
    """Return two open sleeves of one mesh that cross each other and the arm in them."""
    positions, faces = [], []
    for radius, shift, columns in ((0.043, (0.008, 0.0, 0.0), 20), (0.045, (-0.008, 0.003, 0.0), 18)):
        first, x = sum(map(len, positions)), tube(radius, shift=shift).mesh.positions
        positions.append(x.reshape(12, 24, 3)[:, :columns].reshape(-1, 3))
        corner = first + np.array([i * columns + j for i in range(11) for j in range(columns - 1)])
        faces += np.stack([corner, corner + 1, corner + columns + 1, corner + columns], axis=1).tolist()
    mesh = core.ClothMesh(np.concatenate(positions), faces=faces)
    return scene_of([core.Cloth(mesh, core.Material.preset("cotton"), thickness=0.001)], [capsule(0.04, 0.5)])


def solidified():
    """Return a sheet of two layers with a closed rim, partly in a box: its faces point to both sides."""
    x, triangles = sheet(16, 16, 0.4, 0.4)
    n = len(x)
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    edges, degree = np.unique(sides, axis=0, return_counts=True)
    rim = edges[degree == 1]
    wall = np.concatenate([np.column_stack([rim, rim[:, 1] + n]), ])
    wall = np.concatenate([wall, np.column_stack([rim[:, 0], rim[:, 1] + n, rim[:, 0] + n])])
    both = np.concatenate([x + 0.012 * UP, x])
    mesh = core.ClothMesh(both + [0.21, 0.013, 0.105], np.concatenate([triangles, triangles[:, ::-1] + n, wall]))
    return scene_of([core.Cloth(mesh, core.Material.preset("cotton"), thickness=0.003)], [box(0.24)])


SCENES = {
    "ball": lambda: in_ball(0.05), "ball_through_middle": lambda: in_ball(0.0), "inside_ball": lambda: in_ball(
        0.03, 0.1, 10),
    "box": lambda: colliders.through_solid(box(0.12), 16, frames=2, lift=0.03, gravity=0.0).scene,
    "capsule": lambda: colliders.through_solid(capsule(0.08, 0.3), 16, frames=2, lift=0.03, gravity=0.0).scene,
    "cone": lambda: colliders.through_solid(cone(0.15, 0.3), 16, frames=2, lift=0.03, gravity=0.0).scene,
    "coarse_ball": lambda: colliders.through_solid(ball(8, 4, 0.12), 16, frames=2, lift=0.03, gravity=0.0).scene,
    "floor": lambda: scene_of([tilted(0.34, 1.05)], [floor()]), "flat_floor": lambda: scene_of(
        [tilted(0.02, 0.3)], [floor()]),
    "sleeve_beside_arm": lambda: scene_of([tube(0.05, shift=(0.03, 0.0, 0.0))], [capsule(0.04, 0.5)]),
    "sleeve_past_arm": lambda: scene_of([tube(0.05, shift=(0.06, 0.0, 0.0))], [capsule(0.04, 0.5)]),
    "open_limb": open_limb, "solidified": solidified, "lined_sleeve": lined_sleeve, "suit": suit,
    "bumps": lambda: layers.crossing_bumps(16, frames=2).scene,
    "standing": lambda: layers.standing_sheet(16, frames=2).scene,
    "sheets": lambda: layers.crossing_sheets(16, frames=2).scene,
    "jacket_over_sleeve": lambda: scene_of(
        [tube(0.044, name="shirt", shift=(0.01, 0.0, 0.0)), tube(0.047, name="jacket", layer=1)],
        [capsule(0.04, 0.5)]),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_start_that_crosses_is_resolved_and_keeps_its_shape(name):
    scene = SCENES[name]()
    before = found_at(scene, [c.positions for c in scene.cloths])
    assert before.total or before.inside
    start = core.resolve_start(scene)
    found = found_at(scene, start.positions)
    assert not start.left and found.total == 0 and found.inside == 0
    stretch = ratios(scene, start.positions)
    assert np.quantile(stretch, 0.01) > 0.95 and np.quantile(stretch, 0.99) < 1.05
    assert 0.98 < stretch.mean() < 1.02


def test_a_start_that_is_hundreds_of_distances_deep_is_resolved():
    """The way out of a deep place is taken in parts of its depth, not of the distance that cloth keeps."""
    for thickness in (2e-4, 5e-5):
        deep = cloth(12, 12, 0.4, 0.4, lambda x: x + [0.01, 0.007, 0.03], thickness=thickness)
        scene = scene_of([deep], [ball(24, 12, 0.1)])
        start = core.resolve_start(scene)
        found = found_at(scene, start.positions)
        assert not start.left and found.total == 0 and found.inside == 0


def test_a_sleeve_around_an_arm_stays_around_it():
    """Vertices past the axis of the arm do not leave on the far side."""
    scene = SCENES["sleeve_past_arm"]()
    x, = core.resolve_start(scene).positions
    rings = x.reshape(12, 24, 3)[:, :, :2]
    angle = np.unwrap(np.arctan2(rings[..., 1], rings[..., 0]), axis=1)
    turns = np.round((angle[:, -1] - angle[:, 0]) / (2.0 * np.pi) * 24.0 / 23.0)
    np.testing.assert_array_equal(turns, 1.0)


def test_the_higher_layer_ends_outside():
    scene = SCENES["jacket_over_sleeve"]()
    shirt, jacket = (np.linalg.norm((x - x.mean(axis=0))[:, :2], axis=1) for x in core.resolve_start(scene).positions)
    assert jacket.mean() > shirt.mean()


@pytest.mark.parametrize("name", ["ball", "open_limb", "bumps"])
def test_results_do_not_differ_between_runs(name):
    first, second = (core.resolve_start(SCENES[name](), core.Solver(backend="numpy")) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first.positions, second.positions, strict=True))


def test_the_first_frame_is_the_resolved_start_and_its_certificate_says_so():
    scene = in_ball(0.05)
    frame = next(core.simulate(scene, core.Solver()))
    np.testing.assert_array_equal(frame.positions[0], core.resolve_start(scene).positions[0])
    assert frame.certificate.crossings == 0 and frame.certificate.start.crossings > 0
    assert frame.certificate.start.left == []
    (moved,) = frame.certificate.start.moved
    way = np.linalg.norm(frame.positions[0] - scene.cloths[0].positions, axis=1).max()
    assert moved.cloth == scene.cloths[0].name and moved.way == pytest.approx(way, rel=1e-12) and way > 0.0
    later = list(core.simulate(scene, core.Solver(), range(1, 4)))
    assert later[-1].certificate.start is None and later[-1].certificate.crossings == 0
    given = next(core.simulate(scene, core.Solver(resolve_start=False)))
    np.testing.assert_array_equal(given.positions[0], scene.cloths[0].positions)
    assert given.certificate.start is None and given.certificate.crossings > 0


def test_a_clean_start_is_untouched():
    clean = scene_of([cloth(12, 12, 0.4, 0.4, lambda x: x + 0.3 * UP)], [ball(16, 8, 0.15)])
    start = core.resolve_start(clean)
    assert start.crossings == 0 and not start.left
    assert start.positions[0].tobytes() == clean.cloths[0].positions.tobytes()
    on, off = (list(core.simulate(clean, core.Solver(resolve_start=flag), range(1, 4))) for flag in (True, False))
    assert all(a.positions[0].tobytes() == b.positions[0].tobytes() for a, b in zip(on, off, strict=True))


def test_what_pins_hold_in_a_solid_stays_and_is_listed():
    x = sheet(16, 16, 0.6, 0.6)[0]
    held = np.flatnonzero(np.linalg.norm(x, axis=1) < 0.08)
    scene = colliders.through_solid(ball(20, 10, 0.15), lift=-0.02, tilt=0.0, pins=dict.fromkeys(held.tolist())).scene
    start = core.resolve_start(scene)
    np.testing.assert_array_equal(start.positions[0][held], scene.cloths[0].positions[held])
    left, = start.left
    assert {left.first, left.second} == {scene.cloths[0].name, scene.colliders[0].name} and left.crossings > 0
    assert np.linalg.norm(np.array(left.place) - scene.cloths[0].positions[held].mean(axis=0)) < 0.2
    stretch = ratios(scene, start.positions)
    assert np.quantile(stretch, 0.99) < 1.5


def test_what_is_excluded_from_contact_stays_crossed():
    crossed = cloth(12, 12, 0.4, 0.4, contact=core.ClothContact(collisions=False))
    scene = scene_of([crossed], [ball(16, 8, 0.1)])
    np.testing.assert_array_equal(core.resolve_start(scene).positions[0], crossed.positions)


def test_a_growth_without_a_solution_leaves_the_start_to_the_distances(monkeypatch):
    tried = []

    def fails(self, state, frame):
        tried.append(frame)
        raise core.SolverError("no solution")

    monkeypatch.setattr(Stepper, "advance", fails)
    scene = lined_sleeve()
    start = core.resolve_start(scene)
    assert tried == [1]
    found = found_at(scene, start.positions)
    assert not start.left and found.total == 0 and found.inside == 0


def test_a_resolution_can_be_stopped():
    seen = []

    def progress(left, first):
        seen.append((left, first))
        return len(seen) < 2

    scene = in_ball(0.0)
    core.resolve_start(scene, progress=progress)
    assert len(seen) == 2 and seen[0][0] == seen[0][1] > 0


@pytest.mark.parametrize("model", ["rope", "particles"])
def test_a_start_without_faces_is_resolved(model):
    """A row of vertices in a box."""
    x = np.column_stack([np.linspace(-0.05, 0.05, 5), np.full(5, 0.01), np.full(5, 0.02)])
    edges = np.column_stack([np.arange(4), np.arange(1, 5)]) if model == "rope" else None
    mesh = core.ClothMesh(x, np.zeros((0, 3), dtype=int), edges=edges, points=model == "particles")
    row = core.Cloth(mesh, core.Material.preset("cotton"), model=model)
    corners, faces = box((0.3, 0.3, 0.3))
    start = core.resolve_start(core.Scene([row], [core.Collider(corners, faces)]), core.Solver(backend="numpy"))
    assert np.isfinite(start.positions[0]).all()
