# SPDX-License-Identifier: GPL-3.0-or-later
"""How what crosses is pulled apart: from the ends of a contour, at a speed that goes by the mesh alone."""

import numpy as np
import pytest

import core
from core.contact.crossings import crossing_pairs
from core.contact.nearness import Features
from core.contact.pair_contacts import LEVER
from core.contact.piercing import Piercings
from core.contact.triangle_surface import TriangleSurface
from core.contact.untangling import SPEED, lift_out, pull_apart
from core.contact.way_back import WayBack, left_by_solids
from tests.cases import cases
from tests.core.contact.shapes import ball, box, rotation, sheet

H = 0.02


def pulled(size, edge):
    """Two square sheets with edges of this length [m], one upright through the middle of the other; and, of each pair
    that crosses, how fast it is pulled [m/s] and how far from the contour's middle it is, over its half length [-]."""
    x, triangles = sheet(size, size, edge * (size - 1), edge * (size - 1))
    upright = np.stack([x[:, 0], 0.13 * edge + 0.0 * x[:, 1], x[:, 1] + 0.07 * edge], axis=1)
    upright += 1e-3 * edge * np.random.default_rng(0).normal(size=x.shape)
    both, all_triangles = np.concatenate([x, upright]), np.concatenate([triangles, triangles + len(x)])
    surface = TriangleSurface.build(both, all_triangles)
    crossings, inverse_mass = crossing_pairs(surface, surface), np.ones(len(both))
    found = pull_apart(surface, crossings, Features(surface, len(both)), both, inverse_mass, H)
    gap = np.einsum("pk,pki,pi->p", found.weights, both[found.vertices], found.normal)
    place = np.abs(both[found.vertices[:, :2], 0]).mean(axis=1) / (0.5 * edge * (size - 1))
    return found, (found.least - gap) / H, place


@cases("edge", [0.01, 0.05])
def test_a_straight_contour_opens_at_its_ends(edge):
    _, speed, place = pulled(12, edge)
    assert len(speed) > 20
    assert speed.max() == pytest.approx(SPEED * edge, rel=0.5)
    assert place[speed > 0.5 * SPEED * edge].min() > 0.8
    assert speed[place < 0.8].max() < 0.1 * SPEED * edge


def test_the_ends_are_pulled_towards_each_other():
    found, speed, _ = pulled(12, 0.05)
    fast = np.flatnonzero(speed > 0.5 * speed.max())
    assert len(fast) > 1 and (np.abs(found.normal[fast, 0]) > 0.5).all()


@cases("lift", [0.13, -0.13])
@cases("held", [False, True])
def test_what_a_contour_parts_goes_back_on_its_smaller_side_unless_that_is_held(lift, held):
    """A sheet stands through the middle of a wider one. Its rims alone would pull it together, for ever."""
    edge = 0.05
    x, triangles = sheet(21, 21, 1.0, 1.0)
    narrow, own = sheet(11, 11, 0.5, 0.5)
    upright = np.stack([narrow[:, 0], 0.13 * edge + 0.0 * narrow[:, 1], narrow[:, 1] + lift], axis=1)
    both, all_triangles = np.concatenate([x, upright]), np.concatenate([triangles, own + len(x)])
    both = both + 1e-3 * edge * np.random.default_rng(0).normal(size=both.shape)
    surface, inverse_mass = TriangleSurface.build(both, all_triangles), np.ones(len(both))
    if held:
        inverse_mass[len(x) + int(np.argmax(-np.sign(lift) * upright[:, 2]))] = 0.0
    found = pull_apart(surface, crossing_pairs(surface, surface), Features(surface, len(both)), both, inverse_mass, H)
    gap = np.einsum("pk,pki,pi->p", found.weights, both[found.vertices], found.normal)
    speed = (found.least - gap) / H
    up = np.where(found.vertices[:, 0] < len(x), -1.0, 1.0) * found.normal[:, 2]             # of the one that stands
    inner = np.abs(both[found.vertices[:, :2], 0]).mean(axis=1) < 0.2
    assert (np.sign(lift) * (-1.0 if held else 1.0) * up[inner] > 0.9).all()
    assert speed[inner].min() > 0.5 * SPEED * edge


def test_a_thread_through_a_sheet_goes_back_by_its_shorter_end():
    x, triangles = sheet(9, 9, 0.4, 0.4)
    height = np.linspace(-0.05, 0.1, 8)
    thread = np.stack([0.013 + 0.0 * height, 0.007 + 0.0 * height, height], axis=1)
    edges = len(x) + np.stack([np.arange(7), np.arange(1, 8)], axis=1)
    both = np.concatenate([x, thread])
    surface = TriangleSurface.build(both, triangles, threads=edges)
    found = pull_apart(surface, crossing_pairs(surface, surface), Features(surface, len(both)), both,
                       np.ones(len(both)), H)
    assert len(found) == 1 and found.vertices[0, 0] >= len(x) and found.normal[0, 2] > 0.99


@cases("lift", [0.0, 0.02, -0.04])
def test_a_sheet_through_a_solid_goes_as_one_over_the_smaller_part_of_the_solid(lift):
    """Each vertex for itself it would be put out of the ball to all sides, and the patch inside pulled apart."""
    solid, triangles = ball(16, 8, 0.15)
    cloth, own = sheet(16, 16, 0.6, 0.6)
    both = np.concatenate([cloth + [0.011, 0.007, lift], solid])
    surface = TriangleSurface.build(both, np.concatenate([own, triangles + len(cloth)]))
    is_cloth = np.arange(len(both)) < len(cloth)
    pierced = Piercings.at(surface, crossing_pairs(surface, surface), Features(surface, len(both)), both)
    way = WayBack.of(pierced, surface.edges, both, np.zeros(len(both), dtype=bool))
    assert way.sure.all() and (way.of_edge == ~is_cloth[pierced.ends[:, 0]]).all()
    up = np.where(way.of_edge, -1.0, 1.0) * way.direction[:, 2]                                       # of the cloth
    assert np.abs(up).min() > 0.99 and (up > 0).all() == (up[0] > 0) and (lift == 0.0 or up[0] * lift > 0.0)
    swallowed = is_cloth & (np.linalg.norm(both, axis=1) < 0.14)
    none = np.zeros(len(pierced.edge), dtype=bool)
    left = left_by_solids(pierced, way, surface.edges, swallowed, is_cloth, none)
    assert left[swallowed].all() and left[pierced.ends[is_cloth[pierced.ends[:, 0]]]].all()
    assert not left[~(np.isin(np.arange(len(both)), pierced.vertices) & is_cloth | swallowed)].any()
    assert not left_by_solids(pierced, way, surface.edges, swallowed, is_cloth, ~none).any()      # pins want it there


def test_a_corner_of_a_sheet_in_a_solid_is_put_out_by_the_solid():
    """All of its vertices are nearest to one side."""
    solid, triangles = box(0.5)
    cloth, own = sheet(16, 16, 0.6, 0.6)
    both = np.concatenate([cloth @ rotation((0, 1, 0), 1.2).T + [0.0, 0.01, 0.5], solid])
    surface = TriangleSurface.build(both, np.concatenate([own, triangles + len(cloth)]))
    is_cloth = np.arange(len(both)) < len(cloth)
    pierced = Piercings.at(surface, crossing_pairs(surface, surface), Features(surface, len(both)), both)
    way = WayBack.of(pierced, surface.edges, both, np.zeros(len(both), dtype=bool))
    swallowed = is_cloth & (np.abs(both) < 0.25).all(axis=1)
    assert swallowed.sum() > 3 and way.sure.mean() > 0.5
    assert not left_by_solids(pierced, way, surface.edges, swallowed, is_cloth, way.sure & False).any()


def test_a_vertex_that_lies_in_a_triangle_is_lifted_out_to_the_side_of_its_neighbours():
    """Two layers pressed onto a floor can end in one plane: neither crosses the other, and nothing says which is above.
    What has no distance was held together for ever."""
    x, triangles = sheet(7, 7, 0.6, 0.6)
    middle = int(np.argmin(np.linalg.norm(x[:, :2], axis=1)))
    above = x + [0.03, 0.01, 0.02]
    above[middle, 2] = x[0, 2]
    fabric = core.Material.preset("cotton")
    cloths = [core.Cloth(core.ClothMesh(x, triangles), fabric, positions=y) for y in (x, above)]
    frames = list(core.simulate(core.Scene(cloths, gravity=(0.0, 0.0, 0.0)), core.Solver(), range(1, 13)))
    gap = [f.positions[1][middle, 2] - f.positions[0][middle, 2] for f in frames]
    assert gap[0] == 0.0 and gap[-1] > 0.5 * cloths[0].thickness
    assert frames[-1].certificate.crossings == 0 and frames[-1].certificate.stretch_p99 < 1.01


def test_what_pins_hold_but_for_a_corner_of_hardly_any_weight_is_not_lifted_as_a_mountain():
    """The mass behind such a pair would be 1e97 kg beside grams, and no matrix stays definite with that."""
    x = np.array([[0.3, 1e-50, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.2, 0.1]])
    unheld = np.full(5, 10.0)
    inverse_mass = np.array([0.0, 0.0, 0.0, 10.0, 10.0])
    level, edges = np.array([[0, 1, 2, 3]]), np.array([[0, 4]])
    found = lift_out(level, edges, x, inverse_mass, H, unheld)
    assert 0.0 < abs(found.weights[0, 3]) < 1e-40
    assert found.mass[0] == pytest.approx(LEVER / (found.weights[0]**2 @ unheld[level[0]]))
    np.testing.assert_array_equal(lift_out(level, edges, x, unheld, H, unheld).mass,
                                  lift_out(level, edges, x, unheld, H).mass)      # without pins it changes nothing
