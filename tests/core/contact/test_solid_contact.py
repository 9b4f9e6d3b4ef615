# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders among the pairs of contact: found, pressing on cloth as what moves as it will, and never passed."""


import numpy as np
import pytest

import core
from core.contact.contact_trial import ContactTrial
from core.contact.continuous import Pairs
from core.contact.kept_searches import KeptSearches
from core.contact.moving_contacts import prescribed
from core.contact.pair_contacts import make_contacts
from core.contact.repulsion import Repulsion
from core.contact.self_contact import SelfContact
from core.contact.surfaces import SurfaceSet
from core.contact.triangle_surface import TriangleSurface
from core.contact.truncation import cut_motion
from core.errors import SolverError
from core.kernels import current, using
from core.kernels.backend import why_not
from core.linear.constraint_filter import ConstraintFilter
from tests.cases import cases
from tests.core.contact.shapes import ball, box, rotation, sheet

H = 0.02
BACKENDS = ["numpy", "numba"]
COTTON = core.Material(areal_density=0.2, stretch=(2000.0, 2000.0), shear=200.0, bend=(2e-5, 2e-5), damping=0.01,
                       friction=0.4)


def need(backend):
    if why_not(backend):
        pytest.skip("Numba is not there")


def moved(mesh, way):
    return mesh[0] + way, mesh[1]


def spike(height, width=0.01):
    """A needle on its base, tip up."""
    corners = np.array([[0, 0, height], [width, 0, 0], [-width / 2, width, 0], [-width / 2, -width, 0]], dtype=float)
    return corners, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])


def contact_of(cloth, colliders, thickness=0.02, step=(0.0, H)):
    x, triangles = cloth
    fixed = SelfContact(np.full(len(x), thickness), np.full(len(x), 0.3), np.ones(len(x)), np.zeros(len(x), dtype=int),
                        x, TriangleSurface.build(x, triangles), colliders)
    owner = ContactTrial(fixed)
    surfaces = SurfaceSet(colliders, np.full(len(x), thickness), np.full(len(x), 0.3))
    return owner, owner.motion(surfaces.between(*step))


# ---------------------------------------------------------------------- which pairs


@cases(("apart", "stuck"), [(1e-3, False), (1e-9, True)])
def test_where_nobody_can_tell_on_which_side_of_a_collider_cloth_is_the_next_step_looks(apart, stuck):
    owner, motion = contact_of(sheet(4, 4, 1.0, 1.0), [core.Collider(*moved(spike(0.3), [0.1, 0.05, -0.3 - apart]))])
    x = owner.fixed.surface.positions
    owner.look(x, x, motion)
    assert owner.history.stuck == stuck


@pytest.mark.parametrize("backend", BACKENDS)
@cases("seed", range(3))
def test_all_pairs_of_cloth_and_colliders_that_are_near_are_found(backend, seed):
    """And no others; colliders that move are found where they come from. But at a face or an edge whose vertices
    are all covered by a collider nothing can be in contact."""
    need(backend)
    rng = np.random.default_rng(seed)
    x, triangles = sheet(6, 5, 1.0, 1.0)
    x = x + 0.05 * rng.normal(size=x.shape)
    solids = [ball(8, 5, 0.2), moved(box([0.6, 0.6, 0.25]), [-0.2, -0.1, -0.175])]
    turn = rotation(rng.normal(size=3), 0.3)
    colliders = [core.Collider(lambda t: solids[0][0] @ (turn if t else np.eye(3)).T + [0.1, 0.0, 5.0 * t],
                               solids[0][1]), core.Collider(*solids[1])]
    with using(backend):
        owner, motion = contact_of((x, triangles), colliders, 0.05)
        owner.history.stuck = False                                      # they cross; that is not what this is about
        around = owner.look(x, x + [0.0, 0.1, 0.0], motion, itself=False)
        found = {tuple(row) for row in np.column_stack([around.pairs.vertices, np.arange(len(around.pairs))
                                                        < around.pairs.faces])}
        n, all_ = len(x), owner.fixed.all
        vertices = [[v, *t] for v in range(all_.total) for t in all_.triangles if (v < n) != (t[0] < n)]
        edges = [[*a, *b] for a in all_.edges for b in all_.edges if a[0] < n <= b[0]]
        every = Pairs.at(around.start, np.array(vertices + edges), np.zeros((len(vertices + edges), 2), dtype=int),
                         len(vertices))
        covered = np.zeros(n + len(motion.x_t1), dtype=bool)
        covered[n + motion.covered(np.full(3, -9.0), np.full(3, 9.0))[:, 1]] = True
        def is_covered(pairs):
            return (covered[pairs.vertices] | (pairs.vertices < n)).all(axis=1)

        assert covered.any() and not is_covered(around.pairs).any()
        every = every[np.flatnonzero(~is_covered(every))]
        near = np.flatnonzero(every.distance < owner.history.solid.scale)
        assert len(near) > 100
        assert all((*every.vertices[row], int(row < every.faces)) in found for row in near)
        end = around.end(x + [0.0, 0.1, 0.0])
        meets = every[np.flatnonzero((every.meeting_times(around.start, end) < 1.0) & (every.distance > 0.0))]
        assert all((*row, int(k < meets.faces)) in found for k, row in enumerate(meets.vertices))
        assert ((around.pairs.vertices < n).any(axis=1) & (around.pairs.vertices >= n).any(axis=1)).all()


def test_a_place_is_narrow_where_another_collider_is_within_two_thicknesses():
    """At a needle's tip under a box; its base and cloth alone are in no gap."""
    for gap, narrow in ((0.02, True), (0.06, False)):
        solids = [moved(spike(0.3), [0.0, 0.0, -0.3 - gap]), moved(box([1.0, 1.0, 0.2]), [0.0, 0.0, 0.1])]
        owner, motion = contact_of(moved(sheet(4, 4, 1.0, 1.0), [0.0, 0.0, -2.0]), [core.Collider(*s) for s in solids])
        x = owner.fixed.surface.positions
        found = owner.look(x, x, motion).narrow(np.array([[0, 1, 2, 16], [16, 3, 4, 5], [0, 1, 2, 17], [0, 1, 4, 5]]))
        np.testing.assert_array_equal(found, [narrow, narrow, False, False])


def test_where_no_collider_is_near_nothing_is_searched(monkeypatch):
    x, triangles = sheet(6, 5, 1.0, 1.0)
    owner, motion = contact_of((x, triangles), [core.Collider(*moved(ball(8, 5, 0.2), [0.0, 0.0, 3.0]))])
    monkeypatch.setattr(current().self_pairs, "pairs", None)
    assert len(owner.look(x, x + 0.1, motion, itself=False).pairs) == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_collider_that_was_left_out_of_a_search_is_searched_anew(backend):
    """One vertex goes to it, then back, and then its neighbour goes there."""
    need(backend)
    x, triangles = sheet(6, 5, 1.0, 1.0)
    with using(backend):
        owner, motion = contact_of((x, triangles), [core.Collider(*moved(ball(8, 5, 0.2), [0.0, 0.0, 3.0]))])
        start, kept, counts, end = np.concatenate([x, motion.x_t0]), KeptSearches(), [], x.copy()
        slack, radius = np.zeros(len(start)), np.full(len(start), 0.1)
        for vertex, height in ((None, 0.0), (14, 4.0), (14, 0.0), (15, 2.75)):
            some = None if vertex is None else np.arange(len(x)) == vertex
            if vertex is not None:
                end[vertex, 2] = height
            step = start, np.concatenate([end, motion.x_t1]), slack, radius
            found = motion.candidates(*step, some=some, kept=kept)
            anew = motion.candidates(*step, some=some, kept=KeptSearches())
            for one, other in zip(found, anew, strict=True):
                np.testing.assert_array_equal(one, other)
            counts.append(len(found[0]) + len(found[1]))
    assert (np.array(counts) > 0).tolist() == [False, True, False, True]


def kinds(owner, pairs):
    """How many contacts: vertices of cloth, vertices of colliders, edges."""
    faces = np.arange(len(pairs)) < pairs.faces
    solid = pairs.vertices[:, 0] >= len(owner.fixed.mass)
    return int((faces & ~solid).sum()), int((faces & solid).sum()), int((~faces).sum())


def test_over_a_sharp_edge_the_edges_of_cloth_are_contacts_and_over_a_tip_its_faces():
    x, triangles = sheet(6, 6, 1.0, 1.0)
    x = x + [0.013, 0.007, 0.0]
    ridge = np.array([[-2, 0, -0.01], [2, 0, -0.01], [0, -0.3, -1], [0, 0.3, -1]], dtype=float)
    owner, motion = contact_of((x, triangles), [core.Collider(ridge, [[0, 1, 2], [0, 3, 1]])])
    assert kinds(owner, owner.look(x, x, motion, itself=False).close()) == (0, 0, 11)    # all edges across the ridge
    needle = spike(0.99)
    owner, motion = contact_of((x, triangles), [core.Collider(needle[0] - [0, 0, 1.0], needle[1])])
    close = owner.look(x, x, motion, itself=False).close()
    assert kinds(owner, close) == (0, 1, 0)
    np.testing.assert_allclose(close.normal, [[0.0, 0.0, -1.0]], atol=1e-9)             # from cloth to the tip


def test_on_what_is_flat_or_smooth_only_vertices_of_cloth_are_contacts():
    x, triangles = sheet(6, 6, 1.0, 1.0)
    floor, faces = sheet(9, 9, 2.0, 2.0)
    for solid in ((floor - [0.03, 0.02, 0.01], faces), moved(ball(64, 32, 3.0), [0.0, 0.0, -3.01])):
        owner, motion = contact_of((x, triangles), [core.Collider(*solid)])
        vertices, tips, edges = kinds(owner, owner.look(x, x, motion, itself=False).close())
        assert vertices > 4 and tips == edges == 0


# ---------------------------------------------------------------------- forces


def mixed(seed, mu):
    """Contacts of random vertices, the last ten of which belong to something that moves as it will."""
    rng = np.random.default_rng(seed)
    x0 = rng.normal(size=(30, 3))
    vertices = np.array([rng.choice(30, 4, replace=False) for _ in range(40)])
    weights = np.concatenate([np.ones((40, 1)), -rng.dirichlet(np.ones(3), size=40)], axis=1)
    offset = np.einsum("pk,pki->pi", weights, x0[vertices])
    inverse_mass = np.where(np.arange(30) < 20, rng.uniform(0.5, 2.0, 30), 0.0)
    contacts = make_contacts(np.arange(40), vertices, weights, offset / np.linalg.norm(offset, axis=1)[:, None],
                             np.full(40, 2.0), np.full(40, mu), x0, inverse_mass, H)
    return x0, contacts, rng.normal(size=(30, 3))


@cases("mu", [0.0, 0.5])
def test_what_a_collider_takes_is_what_the_cloth_gets(mu):
    """The impulses on cloth are those of contacts that know all vertices: with those on the collider they add up to
    nothing."""
    x0, contacts, u = mixed(0, mu)
    x_t1 = x0[20:] + H * u[20:]
    parts = []
    for contact, base, velocity in ((contacts, x0, u), (prescribed(contacts, x0[20:], x_t1, 20, H), x0[:20], u[:20])):
        repulsion = Repulsion(base, H, contact)
        no = np.zeros(len(contact))
        repulsion.begin(velocity, no > 0, no, 0.0 * contact.normal, velocity)
        repulsion.judge(velocity)
        parts.append(repulsion.impulse(velocity))
    everything, cloth = parts
    np.testing.assert_allclose(cloth, everything[:20], atol=1e-9 * np.abs(cloth).max())
    np.testing.assert_allclose(cloth.sum(axis=0), -everything[20:].sum(axis=0), atol=1e-9 * np.abs(cloth).max())
    assert np.abs(cloth.sum(axis=0)).max() > 0.1 * np.abs(cloth).max()


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_matrix_of_contacts_with_colliders_is_what_impulses_lose_with_velocity(backend):
    need(backend)
    x0, contacts, u = mixed(1, 0.5)
    repulsion = Repulsion(x0[:20], H, prescribed(contacts, x0[20:], x0[20:] + 0.1, 20, H))
    repulsion.judge(u[:20])
    direction = np.random.default_rng(2).normal(size=(20, 3))
    with using(backend):
        product = np.einsum("vij,vj->vi", repulsion.diagonal(), direction)
        repulsion.add_product(direction, product)
    lost = repulsion.impulse(u[:20]) - repulsion.impulse(u[:20] + direction)
    np.testing.assert_allclose(product, lost, rtol=1e-9, atol=1e-9 * np.abs(lost).max())
    assert np.abs(product).max() > 0.0


# ---------------------------------------------------------------------- cutting


@pytest.mark.parametrize("backend", BACKENDS)
@cases("seed", range(3))
def test_cloth_is_pushed_along_in_front_of_what_moves_into_it(backend, seed):
    """A box flies and turns into a sheet that rests: the box goes where it goes, nothing crosses on the way."""
    need(backend)
    ipctk = pytest.importorskip("ipctk")
    rng = np.random.default_rng(seed)
    x, triangles = sheet(8, 8, 1.0, 1.0)
    x = x + 0.01 * rng.normal(size=x.shape)
    solid, faces = moved(box([0.4, 0.3, 0.25]), [0.0, 0.0, 0.175])
    after = (solid - [0, 0, 0.2]) @ rotation(rng.normal(size=3), 0.8).T + [0.05, 0.0, -0.4]
    collider = core.Collider(lambda t: after if t else solid, faces)
    with using(backend):
        owner, motion = contact_of((x, triangles), [collider])
        around = owner.look(x, x, motion, itself=True)
        inverse_mass = np.where(np.arange(owner.fixed.all.total) < len(x), 1.0, 0.0)
        free = ConstraintFilter(len(x))
        end = x
        for _ in range(4):
            around.cover(end)
            cut = cut_motion(around.pairs, around.start, around.end(end), inverse_mass, lambda: free, free)
            end = cut.x[:len(x)]
            if around.covers(end):
                break
    assert len(cut.left) == 0
    np.testing.assert_array_equal(cut.x[len(x):], after)
    every = owner.fixed.all
    mesh = ipctk.CollisionMesh(around.start, every.edges.astype(np.int32), every.triangles.astype(np.int32))
    assert not ipctk.is_step_collision_free(mesh, around.start, around.end(x))
    assert ipctk.is_step_collision_free(mesh, around.start, cut.x)


# ---------------------------------------------------------------------- whole simulations


def crosses(frame, cloths, colliders):
    """Whether anything crosses anything by ipctk."""
    ipctk = pytest.importorskip("ipctk")
    meshes = [(x, c.mesh.triangles) for x, c in zip(frame.positions, cloths, strict=True)]
    meshes += [(c.at(frame.time), c.triangles) for c in colliders]
    begin = np.cumsum([0, *(len(x) for x, _ in meshes)])
    x = np.concatenate([x for x, _ in meshes])
    triangles = np.concatenate([t + k for (_, t), k in zip(meshes, begin, strict=False)]).astype(np.int32)
    mesh = ipctk.CollisionMesh(x, ipctk.edges(triangles), triangles)
    return ipctk.has_intersections(mesh, x)


def held_sheet(side):
    x, triangles = sheet(side, side, 0.6, 0.6)
    border = np.flatnonzero(np.abs(x[:, :2]).max(axis=1) > 0.299)
    return core.Cloth(core.ClothMesh(x + [0.013, 0.007, 0.0], triangles), COTTON, pins=dict.fromkeys(border.tolist()))


def rising(shape, speed):
    corners, triangles = shape
    return core.Collider(lambda t: corners + [0.0, 0.0, min(speed * t, 0.12) - 0.03 - corners[:, 2].max()], triangles)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("solid_contact", ["constraints", "springs"])
@pytest.mark.parametrize("self_collision", [True, False])
@pytest.mark.parametrize("shape", ["spike", "edge"])
def test_what_rises_into_a_held_sheet_lifts_it_and_does_not_pierce_it(shape, self_collision, solid_contact, backend):
    """A needle that meets a face between its vertices, and a sharp edge that meets edges."""
    need(backend)
    ridge = np.array([[-0.15, 0, 0.3], [0.15, 0, 0.3], [-0.15, 0.01, 0], [0.15, -0.01, 0]], dtype=float)
    solid = rising(spike(0.3) if shape == "spike" else (ridge, np.array([[0, 1, 2], [1, 0, 3]])), 2.0)
    cloths = [held_sheet(7)]
    frames = list(core.simulate(core.Scene(cloths, [solid]), core.Solver(
        backend=backend, self_collision=self_collision, solid_contact=solid_contact), range(1, 7)))
    assert [f.certificate.crossings for f in frames] == [0] * len(frames)
    assert not any(crosses(f, cloths, [solid]) for f in frames)
    assert frames[-1].positions[0][:, 2].max() > 0.05


@cases("integrator", ["implicit_euler", "bdf2"])
def test_a_fast_edge_is_not_passed_by_either_integrator(integrator):
    """Cloth in free flight over a blade that comes up at it through several times its thickness in a step."""
    x, triangles = sheet(7, 7, 0.6, 0.6)
    cloths = [core.Cloth(core.ClothMesh(x + [0.013, 0.007, 0.2], triangles), COTTON)]
    ridge = np.array([[-0.5, 0, 0], [0.5, 0, 0], [0, 0.1, -0.5]], dtype=float)
    blade = core.Collider(lambda t: ridge + [0.0, 0.0, min(6.0 * t, 0.6)], [[0, 1, 2]])
    frames = list(core.simulate(core.Scene(cloths, [blade]), core.Solver(integrator=integrator), range(1, 9)))
    assert [f.certificate.crossings for f in frames] == [0] * len(frames)
    assert frames[-1].positions[0][:, 2].max() > 0.55


def test_cloth_that_starts_on_a_needle_comes_off_it():
    """The needle's edges pierce faces, no vertex of cloth is inside it."""
    x, triangles = sheet(7, 7, 0.6, 0.6)
    cloth = core.Cloth(core.ClothMesh(x + [0.013, 0.007, 0.0], triangles), COTTON)
    corners, faces = spike(0.3)
    needle = core.Collider(corners - [0.0, 0.0, 0.295], faces)
    frames = list(core.simulate(core.Scene([cloth], [needle], gravity=(0.0, 0.0, 0.0)),
                                core.Solver(resolve_start=False), range(1, 20)))
    crossings = [f.certificate.crossings for f in frames]
    assert crossings[0] > 0 and crossings[-1] == 0
    assert max(np.abs(f.velocities[0]).max() for f in frames) < 5.0


def test_only_known_contact_with_solids_is_taken():
    with pytest.raises(SolverError, match="solid_contact is 'glue', it must be one of constraints, springs"):
        core.Solver(solid_contact="glue")


