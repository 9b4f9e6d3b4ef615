# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cloth is excluded from, it passes through; what it collides with, it keeps off, at its own distance and with
its own friction: cloth and solids, constraints and springs, starts that cross."""

import numpy as np
import pytest

import core
from core.kernels import backend
from tests.core.contact.shapes import ball, sheet
from tests.scenes.scenes_of_layers import down_the_slope, slope
from tests.scenes.staging import AS_IN_BLENDER, cloth, floor, turned

G = 9.81
UP = np.array([0.0, 0.0, 1.0])
FALLS = 0.2
"""How far below a floor that cloth is which has passed through it in a second, at least [m]."""


@pytest.fixture(params=["numpy", "numba"])
def settings(request):
    if backend.why_not(request.param):
        pytest.skip(backend.why_not(request.param))
    return {**AS_IN_BLENDER, "backend": request.param}


@pytest.fixture
def quickest():
    """Settings of what takes long on the slower backend, and is decided by what both share."""
    return AS_IN_BLENDER


both_contacts = pytest.mark.parametrize("solid_contact", ["constraints", "springs"])


def run(cloths, colliders, settings, frames=13, gravity=-G, **more):
    scene = core.Scene(cloths, colliders, gravity=(0.0, 0.0, gravity))
    return list(core.simulate(scene, core.Solver(**settings, **more), range(1, frames + 1)))


def layer(height, name, size=0.6, count=9, place=lambda x: x, marks=None, pins=None, **contact):
    """Return a level sheet at a height; `marks`: a setting of `ClothContact` -> function of its points."""
    x, _ = sheet(count, count, size, size)
    contact |= {what: which(x) for what, which in (marks or {}).items()}
    return cloth(count, count, size, size, lambda p: place(p) + height * UP, name=name, thickness=0.01,
                 pins=pins, contact=core.ClothContact(**contact))


def heights(frame):
    return [float(x[:, 2].mean()) for x in frame.positions]


@both_contacts
def test_a_cloth_without_collisions_falls_through_colliders_and_other_cloth(settings, solid_contact):
    frames = run([layer(0.1, "ghost", collisions=False), layer(0.05, "real")], [floor()], settings,
                 solid_contact=solid_contact)
    ghost, real = heights(frames[-1])
    assert ghost < -FALLS and real == pytest.approx(0.01, abs=1e-3)
    assert all(f.certificate.crossings == 0 and f.certificate.deepest_penetration == 0.0 for f in frames)


@both_contacts
def test_a_cloth_collides_with_those_that_it_names(settings, solid_contact):
    """The lower cloth falls through the floor, the upper one stays on it: they do not name each other."""
    x, triangles = ball(16, 8, 0.1)
    solids = [floor(-0.12), core.Collider(x, triangles, name="ball")]
    frames = run([layer(0.12, "on the ball", colliders=["ball"]), layer(0.14, "on the floor", colliders=["floor"])],
                 solids, settings, 24, solid_contact=solid_contact)
    first, second = frames[-1].positions
    middle = np.linalg.norm(first[:, :2], axis=1) < 0.02
    assert first[middle, 2].min() > 0.1 and first[:, 2].min() < -0.14
    assert second[:, 2].max() == pytest.approx(-0.11, abs=2e-3)
    assert all(f.certificate.crossings == 0 for f in frames)


@both_contacts
def test_marked_triangles_pass_and_the_others_stay(settings, solid_contact):
    sheets = [layer(0.012, "half", marks={"not_objects": lambda x: x[:, 0] > 0.01})]
    frames = run(sheets, [floor()], settings, 9, solid_contact=solid_contact)
    x = frames[-1].positions[0]
    rest = sheet(9, 9, 0.6, 0.6)[0]
    borders = np.unique(rest[rest[:, 0] > 0.01, 0])[0]               # the last triangles that are on the floor
    stays = rest[:, 0] <= borders
    assert x[stays, 2].min() > 0.7 * 0.01 and x[rest[:, 0] > borders + 0.1, 2].max() < -0.05
    assert all(f.certificate.crossings == 0 for f in frames)


@both_contacts
def test_a_start_within_an_excluded_solid_stays_as_it_is(settings, solid_contact):
    """Without gravity nothing moves what starts in a ball, through a floor and through another cloth."""
    x, triangles = ball(16, 8, 0.2)
    through = layer(0.0, "through", place=lambda p: turned(p, 0.5, axis=1), collisions=False)
    frames = run([layer(0.02, "level", colliders=[]), through], [core.Collider(x, triangles), floor()], settings, 5,
                 gravity=0.0, solid_contact=solid_contact)
    for start, end in zip(frames[0].positions, frames[-1].positions, strict=True):
        np.testing.assert_allclose(end, start, atol=1e-9)
    for start, made in zip(frames[0].positions, (layer(0.02, "level"), through), strict=True):
        np.testing.assert_array_equal(start, made.positions)
    assert all(f.certificate.crossings == 0 and f.certificate.deepest_penetration == 0.0 for f in frames)


@both_contacts
def test_inside_of_an_excluded_solid_others_hold_as_ever(settings, solid_contact):
    x, triangles = ball(16, 8, 0.6)
    frames = run([layer(0.03, "inside", size=0.3, count=6, colliders=["floor"])],
                 [core.Collider(x, triangles, name="ball"), floor()], settings, 9, solid_contact=solid_contact)
    assert frames[-1].positions[0][:, 2] == pytest.approx(0.01, rel=0.3)
    assert all(f.certificate.deepest_penetration == 0.0 for f in frames)


@both_contacts
def test_cloths_that_exclude_each_other_start_exactly_in_one_another(quickest, solid_contact):
    """Without exclusion they, and what lies in the floor, are put a hair apart."""
    def starts(**contact):
        frame, = run([layer(0.0, "one", **contact), layer(0.0, "other", **contact)], [floor()], quickest, 1,
                     solid_contact=solid_contact)
        return [float(np.abs(x[:, 2]).max()) for x in frame.positions]

    assert starts(collisions=False) == [0.0, 0.0] and starts(colliders=[]) == [0.0, 0.0]
    assert max(starts(colliders=["floor"])) > 0.0 and max(starts()) > 0.0


def test_a_cloth_comes_out_of_one_that_it_collides_with_and_stays_in_one_that_is_excluded(quickest):
    leaning = layer(0.0, "leaning", place=lambda p: turned(p, 0.2, axis=1) + [0.013, 0.007, 0.0],
                    pins=dict.fromkeys(range(81)))
    ghost = layer(0.0, "ghost", size=0.3, count=6, place=lambda p: turned(p, 1.2, axis=0) + [0.1, 0.0, 0.01],
                  collisions=False)
    frames = run([leaning, layer(0.0, "real"), ghost], [], quickest, 30, gravity=0.0, resolve_start=False)
    pairs = [{(pair.first, pair.second) for pair in f.certificate.crossing_pairs} for f in frames]
    assert pairs[0] == {("leaning", "real")} and pairs[-1] == set()
    np.testing.assert_allclose(frames[-1].positions[2], ghost.positions, atol=1e-9)
    assert core.audit([(ghost.positions, ghost.mesh.triangles), (leaning.positions, leaning.mesh.triangles)]
                      ).crossings > 5


def folded(p):
    """A strip that is folded over itself in the middle, both halves 0.05 m apart."""
    radius = 0.025
    arc = np.clip(p[:, 0], 0.0, np.pi * radius) / radius
    past = np.maximum(p[:, 0] - np.pi * radius, 0.0)
    x = np.where(p[:, 0] < 0.0, p[:, 0], radius * np.sin(arc) - past)
    return np.stack([x, p[:, 1], radius * (1.0 - np.cos(arc))], axis=1)


def strip(**contact):
    marks = contact.pop("marks", None)
    x, _ = sheet(25, 4, 0.8, 0.1)
    if marks is not None:
        contact["not_self"] = marks(x)
    held = np.flatnonzero(x[:, 0] < 0.0)
    return cloth(25, 4, 0.8, 0.1, folded, thickness=0.005, pins=dict.fromkeys(held.tolist()),
                 contact=core.ClothContact(**contact), name="strip")


def lowest_of_the_upper_half(frame):
    x, _ = sheet(25, 4, 0.8, 0.1)
    return float(frame.positions[0][(x[:, 0] > 0.15) & (x[:, 0] < 0.3), 2].min())


@pytest.mark.parametrize(("contact", "passes"), [
    ({}, False), ({"self_collision": False}, True), ({"marks": lambda x: x[:, 0] > 0.1}, True),
    ({"marks": lambda x: x[:, 0] < 0.0}, True), ({"marks": lambda x: x[:, 1] > 9.0}, False)])
def test_a_fold_passes_through_itself_where_it_is_excluded(settings, contact, passes):
    frames = run([strip(**contact)], [], settings, 10)
    lowest = lowest_of_the_upper_half(frames[-1])
    assert lowest < -0.02 if passes else lowest > 0.0
    assert all(f.certificate.crossings == 0 for f in frames)


def test_a_cloth_without_self_collision_still_lies_on_others(settings):
    frames = run([layer(0.011, "lower", self_collision=False), layer(0.035, "upper", self_collision=False)], [floor()],
                 settings)
    lower, upper = heights(frames[-1])
    assert lower == pytest.approx(0.01, abs=1e-3) and upper == pytest.approx(0.03, abs=2e-3)


@both_contacts
def test_layers_keep_their_own_distance_and_the_floor_its(settings, solid_contact):
    """Between two cloths it is the mean of both."""
    frames = run([layer(0.011, "lower", self_distance=0.06), layer(0.07, "upper"), ], [floor()], settings, 24,
                 solid_contact=solid_contact)
    lower, upper = heights(frames[-1])
    assert lower == pytest.approx(0.01, rel=0.1) and upper - lower == pytest.approx(0.5 * (0.06 + 0.02), rel=0.05)
    assert frames[-1].certificate.smallest_gap == pytest.approx(0.01, rel=0.15)


def test_a_fold_keeps_its_own_distance(quickest):
    near, far = (lowest_of_the_upper_half(run([strip(self_distance=d)], [], quickest, 24)[-1]) for d in (0.004, 0.03))
    assert near < 0.012 and 0.02 < far < 0.04


# ---------------------------------------------------------------------- friction


def travel(mu_cloth, mu_solid, degrees, on_cloth, settings, frames=25):
    """Return the travel [m] of a sheet down a slope of cloth or of a solid, at each frame; the slope is alike."""
    staged = slope(5, mu=mu_solid, degrees=degrees)
    held, upper = staged.scene.cloths
    contact = core.ClothContact(self_friction=mu_cloth)
    upper = core.Cloth(upper.mesh, upper.material, positions=upper.positions, thickness=upper.thickness,
                       contact=contact)
    if on_cloth:
        held = core.Cloth(held.mesh, held.material, positions=held.positions, thickness=held.thickness,
                          pins=dict.fromkeys(range(len(held.positions))), contact=contact)
        scene = core.Scene([held, upper])
    else:
        scene = core.Scene([upper], [core.Collider(held.positions, held.mesh.triangles, friction=mu_solid,
                                                   thickness=0.004)])
    # `down_the_slope` reads the second cloth
    place = 1 if on_cloth else 0
    found = []
    for frame in core.simulate(scene, core.Solver(**{**settings, "frame_rate": 48.0}), range(1, frames + 1)):
        positions = [frame.positions[place]] * 2
        found.append(down_the_slope(staged, core.Frame(frame.index, frame.time, positions, positions,
                                                       frame.certificate), degrees)[0])
    return np.array(found)


def coulomb(mu, degrees):
    """Return the acceleration [m/s^2] down a slope."""
    angle = np.radians(degrees)
    return G * (np.sin(angle) - mu * np.cos(angle))


@both_contacts
@pytest.mark.parametrize(("mu_cloth", "mu_solid", "on_cloth"), [(0.1, 0.6, True), (0.6, 0.1, True), (0.1, 0.6, False),
                                                                 (0.6, 0.1, False)])
def test_a_sheet_sticks_or_slides_by_the_friction_of_that_kind(quickest, mu_cloth, mu_solid, on_cloth, solid_contact):
    """On 20 degrees, tan 0.36: what sticks on cloth slides on a solid, or the other way round."""
    mu = mu_cloth if on_cloth else mu_solid
    x = travel(mu_cloth, mu_solid, 20.0, on_cloth, {**quickest, "solid_contact": solid_contact})
    if mu > 0.5:
        assert abs(x[-1] - x[12]) < 1e-3
    else:
        t = np.arange(12, 25) / 48.0
        assert 2.0 * np.polyfit(t, x[12:], 2)[0] == pytest.approx(coulomb(mu, 20.0), rel=0.05)


# ---------------------------------------------------------------------- layers


def crossing(layers):
    """Return a level sheet and one that leans through its middle, of these layers; faces point up."""
    return [layer(0.1, "level", layer=layers[0]),
            layer(0.1, "leaning", layer=layers[1], place=lambda p: turned(p, 0.2, axis=1) + [0.013, 0.007, 0.0])]


@pytest.mark.parametrize(("layers", "side"), [((0, 1), 1.0), ((1, 0), -1.0), ((-3, 2), 1.0), ((2, -3), -1.0)])
def test_where_two_cloths_cross_the_higher_layer_comes_out_in_front(quickest, layers, side):
    frames = run(crossing(layers), [floor()], quickest, 30, resolve_start=False)
    counts = [f.certificate.crossings for f in frames]
    assert counts[0] > 20 and counts[-1] == 0 and not any(counts[counts.index(0):])
    level, leaning = frames[-1].positions
    assert (side * (leaning - level)[:, 2] >= 0.0).all()
    assert (side * (leaning - level)[:, 2] > 0.01).mean() > 0.85
    assert max(f.certificate.stretch_max for f in frames) < 1.2


def tube(radius, height, name, layer, shift=(0.0, 0.0), count=32, rows=8):
    """Return a tube whose faces point out."""
    angle, z = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False), np.linspace(-height / 2.0, height / 2.0, rows)
    points = np.stack([np.tile(radius * np.cos(angle), rows), np.tile(radius * np.sin(angle), rows),
                       np.repeat(z, count)], axis=1) + [*shift, 0.0]
    a = (np.arange(rows - 1)[:, None] * count + np.arange(count)).ravel()
    b = (np.arange(rows - 1)[:, None] * count + (np.arange(count) + 1) % count).ravel()
    triangles = np.concatenate([np.stack([a, b, b + count], axis=1), np.stack([a, b + count, a + count], axis=1)])
    fabric = core.Material.preset("cotton")
    return core.Cloth(core.ClothMesh(points, triangles, name=name), fabric, thickness=0.003, name=name,
                      contact=core.ClothContact(layer=layer))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_tubes_that_cross_that_of_the_higher_layer_ends_outside(quickest, order):
    """One is shifted by more than it is wider, as a jacket that has sunk into a shirt."""
    radii = (0.2, 0.207) if order[1] else (0.207, 0.2)
    frames = run([tube(radii[0], 0.3, "one", order[0]), tube(radii[1], 0.3, "other", order[1], (0.012, 0.0))], [],
                 quickest, 24, gravity=0.0, resolve_start=False)
    counts = [f.certificate.crossings for f in frames]
    assert counts[0] > 20 and counts[-1] == 0
    one, other = frames[-1].positions
    centre = one.mean(axis=0)
    away = [np.linalg.norm((x - centre)[:, :2], axis=1) for x in (one, other)]
    angles = [np.arctan2(*(x - centre)[:, :2].T) for x in (one, other)]
    sector = [np.array([r[(a > low) & (a <= low + 0.4)].mean() for low in np.arange(-3.1, 2.6, 0.4)])
              for r, a in zip(away, angles, strict=True)]
    outer, inner = (sector[1], sector[0]) if order[1] else (sector[0], sector[1])
    assert (outer > inner).all()


@pytest.mark.parametrize("layers", [(0, 1), (1, 0), (0, 0)])
@pytest.mark.parametrize("faces", [1, -1])
def test_of_two_that_lie_in_one_another_the_higher_layer_starts_in_front(quickest, layers, faces):
    x, triangles = sheet(9, 9, 0.6, 0.6)
    mesh = core.ClothMesh(x + 0.1 * UP, triangles[:, ::faces])
    sheets = [core.Cloth(mesh, core.Material.preset("cotton"), name=name, thickness=0.01,
                         contact=core.ClothContact(layer=number))
              for name, number in zip(("first", "second"), layers, strict=True)]
    frames = run(sheets, [floor()], quickest, 20)
    first, second = heights(frames[-1])
    assert all(f.certificate.crossings == 0 for f in frames)
    in_front = faces * (second - first)
    assert in_front > 0.01 if layers[0] <= layers[1] else in_front < -0.01


def test_a_higher_layer_that_pins_hold_has_the_other_one_behind_it(settings):
    x, triangles = sheet(9, 9, 0.6, 0.6)
    mesh = core.ClothMesh(x, triangles)
    held, free = (core.Cloth(mesh, core.Material.preset("cotton"), name=name, thickness=0.01, pins=pins,
                             contact=core.ClothContact(layer=number))
                  for name, number, pins in (("held", 1, dict.fromkeys(range(len(x)))), ("free", 0, None)))
    frames = run([held, free], [], settings, 4, gravity=0.0)
    assert (frames[-1].positions[1][:, 2] < -1e-5).all()
