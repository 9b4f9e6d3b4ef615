# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact kernels: both backends find the same, in the same order."""

import numpy as np
import pytest

from core.contact.bvh import BVH, element_boxes
from core.contact.colliders import SurfaceShape
from core.contact.containment import inside
from core.contact.crossings import crossing_pairs
from core.contact.gaps import meet
from core.contact.pairs import Contacts, find_contacts
from core.contact.planes import find_planes
from core.contact.triangle_surface import TriangleSurface
from core.kernels import current, using
from core.kernels.backend import why_not
from tests.cases import cases
from tests.core.contact.shapes import ball, box, bumpy_ball, rotation, sheet
from tests.core.contact.test_crossings import crumpled, soup

pytestmark = pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")

SOLIDS = {"ball": ball(24, 12), "bumpy": bumpy_ball(32, 16), "box": box([0.7, 0.7, 0.7]), "sheet": sheet(9, 9)}


def on_both(run):
    found = []
    for name in ("numpy", "numba"):
        with using(name):
            found.append(run())
    return found


def assert_same(one, other):
    """Whole numbers and truth values equal, others to rounding."""
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        if isinstance(a, tuple):
            assert_same(a, b)
        elif np.asarray(a).dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
        else:
            np.testing.assert_array_equal(a, b)


def moving(name, speed, turn):
    """A solid that moves and turns, and points around it that move."""
    rng = np.random.default_rng(len(name))
    positions, triangles = SOLIDS[name]
    shape = SurfaceShape.build(positions, triangles)
    later = positions @ rotation([1.0, 2.0, 0.5], turn).T + (0.01 * turn)
    surface = shape.moving(positions, positions if turn == 0.0 else later, thickness=0.001)
    direction = rng.normal(size=(600, 3))
    x = direction / np.linalg.norm(direction, axis=1)[:, None] * rng.uniform(0.2, 0.7, size=(600, 1))
    x[:40] = positions[rng.integers(0, len(positions), size=40)]                     # exactly at vertices
    x[40:52] = positions[triangles[:12]].mean(axis=1)
    return surface, x, x + speed * rng.normal(size=x.shape)


def planes_of(surface, x0, x1, reach):
    planes, distance = find_planes(surface, x0, x1, np.full(len(x0), reach), deep=False)
    planes = planes[np.lexsort((planes.triangle, planes.vertex))]
    return *vars(planes).values(), distance


@cases("turn", [0.0, 0.3])
@cases("speed", [0.0, 0.005, 0.2])
@cases("name", SOLIDS)
def test_points_are_held_by_the_same_planes_of_a_surface(name, speed, turn):
    surface, x0, x1 = moving(name, speed, turn)
    one, other = on_both(lambda: planes_of(surface, x0, x1, 0.03))
    assert_same(one, other)
    assert len(one[0]) > 20


@cases("reach", [0.2, 3.0])
def test_points_are_held_by_the_same_planes_when_the_whole_surface_is_near(reach):
    surface, x0, x1 = moving("ball", 0.1, 0.2)
    assert_same(*on_both(lambda: planes_of(surface, x0[:40], x1[:40], reach)))


@cases("turn", [0.0, 0.3])
@cases("spacing", [0.002, 0.02])
@cases("name", SOLIDS)
def test_points_side_by_side_are_held_by_the_same_planes(name, spacing, turn):
    surface, _, _ = moving(name, 0.0, turn)
    top = surface.x_t1[np.argmax(surface.x_t1[:, 2])]
    x0 = spacing * sheet(41, 40, 40.0, 39.0)[0] + top + [0.0, 0.0, 0.004]
    x0[::7, 2] -= 0.35                                                    # neighbours that lie elsewhere
    x0[[13, 815]] = np.nan
    x1 = x0 - [0.0, 0.0, 0.012]
    planes_a, planes_b = on_both(lambda: planes_of(surface, x0, x1, 0.01))
    assert_same(planes_a, planes_b)
    assert len(planes_a[0]) > 20


@cases("width", [1e-2, 1e-5, 1e-7, 1e-9, 1e-12, 0.0])
def test_needles_hold_what_is_near_them_alike(width):
    rng = np.random.default_rng(3)
    around = rotation([1.0, 2.0, 0.5], 0.7)
    base = rng.uniform(-1.0, 1.0, size=(20, 1, 3))
    needles = base + np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, width, 0.0]]) @ around
    surface = SurfaceShape.build(needles.reshape(-1, 3), np.arange(60).reshape(-1, 3))
    surface = surface.moving(*[needles.reshape(-1, 3)] * 2)
    # at about the reach from them, and past their ends
    aside = rng.normal(size=(4000, 3))
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    on = needles[np.repeat(np.arange(20), 200), 0] + rng.uniform(-0.1, 2.1, size=(4000, 1)) * around[0]
    x = on + 0.05 * (1.0 + rng.choice([0.0, 1e-8, -1e-8, 1e-3, -1e-3, 0.3], size=(4000, 1))) * aside
    planes_a, planes_b = on_both(lambda: planes_of(surface, x, x, 0.05))
    assert_same(planes_a, planes_b)
    assert len(planes_a[0]) > 1000


@cases("name", SOLIDS)
def test_contacts_are_the_same(name):
    surface, x0, x1 = moving(name, 0.05, 0.2)
    one, other = on_both(lambda: find_contacts(x0, x1, [surface], np.full(len(x0), 0.01)))
    assert len(one) > 20
    assert_same(*(tuple(vars(c).values()) for c in (one, other)))
    assert isinstance(one, Contacts)


@cases("name", SOLIDS)
def test_points_are_inside_alike(name):
    positions, triangles = SOLIDS[name]
    shape = SurfaceShape.build(positions, triangles)
    rng = np.random.default_rng(3)
    beside = positions[:50] * [1.0, 1.0, 0.5]                                        # rays through vertices and edges
    points = np.concatenate([rng.uniform(-0.6, 0.6, size=(500, 3)), beside])
    one, other = on_both(lambda: inside(points, positions, shape.triangles, shape.closed, shape.tree))
    np.testing.assert_array_equal(one, other)
    assert one.any() == bool(shape.closed.any())


def pairs_of_surfaces(seed):
    """A crumpled sheet that crosses itself, a ball in it, and a flat sheet that is turned by an odd angle."""
    positions, triangles = crumpled(seed)
    flat = sheet(12, 12)
    return [TriangleSurface.build(positions, triangles), TriangleSurface.build(*bumpy_ball(16, 8)),
            TriangleSurface.build(flat[0] @ rotation([1.0, 0.3, 0.2], 1.0 + seed).T, flat[1])]


@cases("seed", range(3))
def test_crossings_and_gaps_are_the_same(seed):
    def run():
        surfaces = pairs_of_surfaces(seed)
        found = [crossing_pairs(a, b) for a in surfaces for b in surfaces]
        met = [meet(a, b, r) for a in surfaces for b in surfaces for r in (0.003, 0.08)]
        for k, pairs in enumerate(found):
            mirrored = found[3 * (k % 3) + k // 3]
            np.testing.assert_array_equal(met[2 * k].crossings, pairs)
            np.testing.assert_array_equal(met[2 * k + 1].reverse, mirrored[:0] if mirrored is pairs else mirrored)
        return tuple(found), tuple(np.array([m.gap]) for m in met)

    one, other = on_both(run)
    assert_same(one, other)
    assert sum(map(len, one[0])) > 100
    assert len({float(gap[0]) for gap in one[1]}) > 5


@cases("scale", [1e-6, 1.0, 1e6])
@cases("seed", [0, 1, 2])
def test_triangles_without_area_twice_or_anywhere_meet_alike(seed, scale):
    def run():
        a, b = (TriangleSurface.build(*soup(40, seed + k, scale)) for k in (0, 10))
        met = [meet(*pair, r * scale) for pair in ((a, a), (a, b)) for r in (0.0, 1e-3, 0.2)]
        return tuple((m.crossings, m.reverse, np.array([m.gap / scale])) for m in met)

    assert_same(*on_both(run))


@cases("seed", range(3))
def test_gaps_of_scattered_triangles_are_the_same(seed):
    """Nothing crosses: the smallest distances of small triangles far from each other."""
    rng = np.random.default_rng(seed)
    positions = (rng.uniform(size=(60, 1, 3)) + 0.02 * rng.normal(size=(60, 3, 3))).reshape(-1, 3)
    triangles = np.arange(180).reshape(60, 3)

    def run():
        one, other = TriangleSurface.build(positions, triangles), TriangleSurface.build(positions + 0.1, triangles)
        return np.array([meet(one, one, 0.3).gap]), np.array([meet(one, other, 0.3).gap])

    found, again = on_both(run)
    assert_same(found, again)
    assert all(0.0 < gap < 0.3 for gap in found)


@cases("backend", ["numpy", "numba"])
def test_what_rounding_cannot_tell_goes_on_to_be_decided(backend):
    """A flat sheet at an odd angle: nearly all volumes are within their rounding, hardly any pair is in doubt."""
    positions, triangles = sheet(30, 30)
    for turn in ([1.0, 0.0, 0.0], [1.0, 0.3, 0.2]):
        with using(backend):
            s = TriangleSurface.build(positions @ rotation(turn, 1.0).T, triangles)
            left = current().surface_pairs.meet(s.arrays, s.arrays, True, 0.0)[0]
            assert len(left) < 20 and len(crossing_pairs(s, s)) == 0


def test_nodes_fit_their_boxes_alike():
    positions, triangles = bumpy_ball(24, 12)
    positions = positions.copy()
    positions[5] = np.nan
    moved = positions + [0.1, 0.0, 0.2]

    def run():
        low, high = element_boxes(triangles, positions, moved)
        return low, high, BVH.build(low, high).nodes[:, 1:]

    assert_same(*on_both(run))
