# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs that cloths exclude from contact never act, and all others do as if nothing were excluded: by brute force."""

import numpy as np
import pytest

import core
from core.contact.contact_trial import ContactTrial
from core.contact.crossings import crossing_pairs
from core.contact.exclusions import ITSELF, OTHER
from core.contact.surfaces import SurfaceSet
from core.linear.constraint_filter import ConstraintFilter
from core.model.particle_system import ParticleSystem
from core.stepping.audit import Auditor
from tests.core.contact.shapes import ball, box, sheet
from tests.core.refusals import FABRIC
from tests.core.shapes import random_rotation

pytestmark = pytest.mark.usefixtures("backend")

H = 0.02
SEEDS = range(6)


def crumpled(rng, name, threads=0, height=None, **contact):
    """Return a sheet with its vertices moved at random, and threads with one end at a vertex of it; a sheet at a height
    is level and crosses nothing but itself."""
    x, triangles = sheet(5, 4, 1.0, 0.8)
    x = (x + 0.08 * rng.normal(size=x.shape)) @ random_rotation(rng) + 0.15 * rng.normal(size=3)
    if height is not None:
        x = sheet(5, 4, 1.0, 0.8)[0] + 0.02 * rng.normal(size=x.shape) + [0.0, 0.0, height]
        x[[3, 7]] = x[[4, 9]] + [0.0, 0.0, 0.04]                                    # pairs of the sheet with itself
    more = x[:threads] + 0.2 * rng.normal(size=(threads, 3))
    edges = [(k, len(x) + k) for k in range(threads)]
    mesh = core.ClothMesh(np.concatenate([x, more]), triangles, edges=edges or None, name=name)
    marks = {what: rng.random(len(mesh.positions)) < share
             for what, share in contact.pop("marks", {}).items()}
    return core.Cloth(mesh, core.Material(**FABRIC, friction=float(rng.random())), thickness=0.03,
                      contact=core.ClothContact(**contact, **marks))


def scene(seed, excluding=True, level=False, apart=False):
    """Return three sheets, threads and two balls in one another, or apart, with settings that differ, or without any;
    or with sheets that are level."""
    rng = np.random.default_rng(seed)
    some = {"not_self": 0.6, "not_objects": 0.6}
    settings = [{"marks": some, "self_collision": bool(seed % 2)}, {"marks": some, "colliders": ["b", "c", "round"]},
                {"collisions": seed % 3 > 0}]
    cloths = [crumpled(rng, name, threads, 0.07 * k if level else None, **settings[k])
              for k, (name, threads) in enumerate((("a", 3), ("b", 0), ("c", 2)))]
    if not excluding:
        cloths = [core.Cloth(c.mesh, c.material, thickness=0.03) for c in cloths]
    x, triangles = ball(8, 5, 0.3)
    solids = [core.Collider(x + place + [0.0, 0.0, -0.36 if level else 0.0], triangles, name=name)
              for name, place in (("round", [0.2, 0.0, 0.0]), ("other", [-0.45 if apart else -0.3, 0.1, 0.0]))]
    return core.Scene(cloths, solids)


class Brute:
    """Which pairs of primitives may act, by going through all pairs of triangles and threads."""

    def __init__(self, staged, system):
        self.cloths, self.solids = staged.cloths, staged.colliders
        fixed = system.self_contact
        self.surfaces, self.count = fixed.all, sum(len(c.positions) for c in staged.cloths)
        self.owner = np.concatenate([np.repeat(range(len(self.cloths)), [len(c.positions) for c in self.cloths]),
                                     len(self.cloths) + fixed.all.solid_of[self.count:]])
        self.marked = {what: np.concatenate([getattr(c.contact, name) if getattr(c.contact, name) is not None
                                             else np.zeros(len(c.positions), bool) for c in self.cloths]
                                            + [np.zeros(len(self.owner) - self.count, bool)])
                       for what, name in ((OTHER, "not_objects"), (ITSELF, "not_self"))}
        pieces = [tuple(t) for t in fixed.all.triangles.tolist()]
        pieces += [tuple(e) for e in fixed.all.edges[fixed.surface.threads].tolist()]
        self.around = [set() for _ in self.owner]
        for piece in pieces:
            for vertex in piece:
                self.around[vertex].add(piece)

    def collide(self, a, b):
        if a == b:
            return self.cloths[a].contact.self_collision
        for one, other in ((a, b), (b, a)):
            if one < len(self.cloths):
                contact = self.cloths[one].contact
                name = (*self.cloths, *self.solids)[other].name
                if not contact.collisions or contact.colliders is not None and name not in contact.colliders:
                    return False
        return True

    def may(self, one, other):
        """Return whether primitives, tuples of vertices, may act: whether any two pieces that have them may."""
        a, b = self.owner[one[0]], self.owner[other[0]]
        marked = self.marked[ITSELF if a == b else OTHER]
        free = [any(not all(marked[v] for v in piece) for piece in set.intersection(*(self.around[v] for v in part)))
                for part in (one, other)]
        return self.collide(a, b) and all(free)


def split(vertices, faces, row):
    """Return both primitives of a pair (P, 4)."""
    count = 1 if row < faces else 2
    return tuple(vertices[row, :count].tolist()), tuple(vertices[row, count:].tolist())


def looked(staged):
    system = ParticleSystem(staged)
    solids = SurfaceSet(staged.colliders, system.thickness, system.friction.at, system.shapes,
                        None if system.exclusions is None else system.exclusions.with_solids()).between(0.0, 0.1)
    trial = ContactTrial(system.self_contact)
    x = system.nodes.start
    return system, solids, trial, trial.look(x, x, trial.motion(solids)), x


@pytest.mark.parametrize("level", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_pairs_of_a_step_are_those_without_settings_less_the_excluded_ones(seed, level):
    """Pairs around a crossing are left out, so that fewer crossings leave out fewer pairs. The balls do not overlap:
    what one of them covers depends on the settings."""
    system, _, trial, around, _ = looked(scene(seed, level=level, apart=True))
    _, _, _, free, _ = looked(scene(seed, excluding=False, level=level, apart=True))
    brute = Brute(scene(seed, level=level, apart=True), system)
    found, every = ({split(a.pairs.vertices, a.pairs.faces, row) for row in range(len(a.pairs))}
                    for a in (around, free))
    assert all(brute.may(*pair) for pair in found)
    assert all(pair in found for pair in every if brute.may(*pair))
    if level:
        kinds = {(brute.owner[a[0]], brute.owner[b[0]]) for a, b in found}
        assert len(found) > 10 and len(every - found) > 50 and len(kinds) > 1
    edges, triangles = trial.fixed.all.edges, trial.fixed.all.triangles
    crossings, all_crossings = ({(tuple(edges[e].tolist()), tuple(triangles[t].tolist()))
                                   for e, t in a.crossings.tolist()} for a in (around, free))
    assert crossings == {pair for pair in all_crossings if brute.may(*pair)}
    assert level or len(all_crossings) > len(crossings) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_vertex_is_inside_those_solids_only_that_it_may_touch(seed):
    staged = scene(seed)
    system, _, _, around, _ = looked(staged)
    _, _, _, free, _ = looked(scene(seed, excluding=False))
    brute = Brute(staged, system)
    first = [int(np.flatnonzero(brute.owner == len(staged.cloths) + solid)[0]) for solid in range(2)]
    found, every = (set(zip(*(row.tolist() for row in np.nonzero(a.within)), strict=True)) for a in (around, free))
    assert found < every
    assert found == {(solid, vertex) for solid, vertex in every if brute.may((vertex,), (first[solid],))}


def test_what_a_solid_covers_is_open_for_cloth_that_is_excluded_from_it():
    """A ball in a box: a sheet that collides with the ball alone has the pairs that it has without the box, one that
    collides with both has none, since all of the ball is in the box."""
    x, triangles = sheet(7, 7, 0.4, 0.4)
    mesh = core.ClothMesh(x - x.mean(axis=0) + [0.0, 0.0, 0.305], triangles, name="sheet")
    beyond = core.ClothMesh(mesh.positions + [0.0, 0.0, 5.0], triangles, name="beyond")
    solids = [core.Collider(*ball(10, 7, 0.3), name="ball"), core.Collider(*box((2.0, 2.0, 2.0)), name="box")]

    def pairs(count, **contact):
        cloths = [core.Cloth(own, core.Material(**FABRIC), thickness=0.02, contact=core.ClothContact(**settings))
                  for own, settings in ((mesh, contact), (beyond, {}))]
        _, _, trial, around, _ = looked(core.Scene(cloths, solids[:count]))
        found = around.pairs.vertices
        return found[(found < len(x)).any(axis=1) & (trial.fixed.all.solid_of[found] == 0).any(axis=1)]

    alone = pairs(1)
    assert len(alone) > 20
    np.testing.assert_array_equal(pairs(2, colliders=["ball"]), alone)
    assert len(pairs(2)) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_only_pairs_that_are_not_excluded_act_in_the_solve(seed):
    staged = scene(seed, level=True)
    system, solids, trial, _, x = looked(staged)
    brute, rng = Brute(staged, system), np.random.default_rng(seed)
    v = 4.0 * rng.normal(size=x.shape)
    step = trial.begin(x, v, v, x, H, ConstraintFilter(len(x)), trial.motion(solids))
    step.join(v)
    x1 = step.truncate(x + H * v, lambda: ConstraintFilter(len(x)))
    pairs = trial.look(x, x1, trial.motion(solids)).pairs
    assert len(pairs) > 20 and step.touching > 5
    assert all(brute.may(*split(pairs.vertices, pairs.faces, row)) for row in range(len(pairs)))
    keys = trial.fixed.features.keys(pairs)
    acting = step.repulsion.contacts.key                                    # below 0: of crossings; some go round a rim
    assert np.isin(acting[acting >= 0], keys).mean() > 0.5


@pytest.mark.parametrize("seed", SEEDS)
def test_constraints_hold_only_vertices_that_may_touch_that_solid(seed):
    staged = scene(seed)
    system, solids, _, _, x = looked(staged)
    brute = Brute(staged, system)
    v = np.random.default_rng(seed).normal(size=x.shape)
    found = solids.find(x, x + 0.1 * v).contacts
    assert len(found) > 3
    for vertex, solid in zip(found.vertex.tolist(), found.collider.tolist(), strict=True):
        triangle = int(np.flatnonzero(brute.owner == len(staged.cloths) + solid)[0])
        assert brute.may((vertex,), (triangle,))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_audit_counts_no_excluded_crossing_and_all_others(seed):
    staged = scene(seed)
    system = ParticleSystem(staged)
    brute, surfaces = Brute(staged, system), system.self_contact.all
    meshes = [(c.positions, c.mesh.triangles) for c in staged.cloths], [(c.at(0.0), c.triangles)
                                                                      for c in staged.colliders]
    found, every = (Auditor(*meshes, surface=system.self_contact.surface, shapes=system.shapes, exclusions=given).look(
        *([x for x, _ in part] for part in meshes)) for given in (system.exclusions, None))
    begin = np.cumsum([0, *(len(x) for part in meshes for x, _ in part)])

    def all_of(audit):
        return sorted((tuple((audit.edges[k] + begin[audit.edge_object[k]]).tolist()), tuple(
            ((*meshes[0], *meshes[1])[audit.triangle_object[k]][1][audit.triangles[k]]
             + begin[audit.triangle_object[k]]).tolist())) for k in range(audit.crossings))

    assert 0 < found.crossings < every.crossings
    assert all_of(found) == [pair for pair in all_of(every) if brute.may(*pair)]
    assert found.deepest_penetration <= every.deepest_penetration
    assert len(crossing_pairs(surfaces.cloth, surfaces.cloth)) > 0


def test_beside_triangles_that_are_left_out_a_surface_ends():
    """A vertex over the last row that takes part touches that row's edge, as over a rim."""
    x, triangles = sheet(6, 6, 1.0, 1.0)
    marks = x[:, 0] > -0.15
    lower = core.Cloth(core.ClothMesh(x, triangles), core.Material(**FABRIC), thickness=0.05,
                       contact=core.ClothContact(not_objects=marks))
    tip = core.Cloth(core.ClothMesh(np.array([[0.0, 0.01, 0.06], [0.1, 0.2, 0.5], [0.1, -0.2, 0.5]])
                                    + [x[marks, 0].min() + 0.03, 0.0, 0.0], [[0, 1, 2]]),
                     core.Material(**FABRIC), thickness=0.05)
    system = ParticleSystem(core.Scene([lower, tip]))
    trial = ContactTrial(system.self_contact)
    close = trial.look(system.nodes.start, system.nodes.start).close()
    touching = [row for row in range(len(close)) if close.vertices[row, 0] == len(x)]
    assert len(touching) == 1
    assert (close.weights[touching[0], 1:] < -1e-9).sum() == 2                      # on an edge
