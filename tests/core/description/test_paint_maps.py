# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted values: what they change, by how much, and that they change nothing where they say nothing."""

import numpy as np
import pytest

import core
from core.contact.contact_trial import ContactTrial
from core.errors import ClothError
from core.kernels.backend import why_not
from core.model.cloth_forces import built_model
from core.model.particle_system import ParticleSystem
from core.stencils.bending.hinge_geometry import HingeGeometry
from tests.cases import cases
from tests.core.shapes import ball, grid
from tests.core.stencils.laws import LAWS, deformed, jittered_mesh

BACKENDS = [pytest.param(name, marks=pytest.mark.skipif(bool(why_not(name)), reason="cannot run here"))
            for name in ("numpy", "numba")]
LENGTH, WIDTH = 1.0, 0.2


def fabric(**changes):
    values = {"areal_density": 0.2, "stretch": (1000.0, 1000.0), "shear": 100.0, "bend": (1e-2, 1e-2),
              "damping": 0.05, "viscous_drag": 1.0}
    return core.Material(**values | changes)


def strip(**options):
    return core.ClothMesh(*grid(20, 4, (LENGTH, WIDTH)), **options)


def at_rest(cloth, backend="numpy", frames=72):
    *_, last = core.simulate(core.Scene([cloth], gravity=(0.0, 0.0, 0.0)),
                             core.Solver(backend=backend, self_collision=False), range(1, frames + 1))
    return last


# ---------------------------------------------------------------------- rubber map


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("scale", [0.6, 1.25])
def test_a_free_strip_of_scale_s_comes_to_rest_at_s_times_its_length(scale, backend):
    cloth = core.Cloth(strip(), fabric(bend=0.0), rest_scale=scale)
    end = at_rest(cloth, backend)
    assert np.ptp(end.positions[0], axis=0) == pytest.approx([scale * LENGTH, scale * WIDTH, 0.0], rel=1e-3, abs=1e-9)
    assert end.certificate.stretch_max == pytest.approx(1.0, abs=1e-3)
    assert cloth.mesh.areas.sum() == pytest.approx(scale ** 2 * LENGTH * WIDTH)


def test_a_strip_painted_at_one_end_is_narrower_there():
    mesh = strip()
    x = mesh.positions
    cloth = core.Cloth(mesh, fabric(bend=0.0), rest_scale=np.where(x[:, 0] > 0.7 * LENGTH, 0.5, 1.0))
    y = at_rest(cloth).positions[0].reshape(21, 5, 3)
    width = np.linalg.norm(y[:, -1] - y[:, 0], axis=1)
    assert width[2] == pytest.approx(WIDTH, rel=0.02)
    assert width[-3] == pytest.approx(0.5 * WIDTH, rel=0.02)


def test_loose_edges_are_scaled_by_the_mean_of_their_ends():
    mesh = core.ClothMesh([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], edges=[[0, 1], [1, 2]])
    cloth = core.Cloth(mesh, fabric(), rest_scale=[0.5, 1.0, 1.0])
    assert cloth.mesh.rest_lengths == pytest.approx([0.75, 1.0])


@cases("bending", ["patch", "hinge"])
def test_a_curved_mesh_that_is_scaled_evenly_is_at_rest_when_it_has_that_size(bending):
    """A quarter of a tube: not only its lengths but its bends are those of the smaller one."""
    x, t = grid(8, 3, (1.5, 0.5))
    tube = np.stack([np.sin(x[:, 0]), x[:, 1], np.cos(x[:, 0])], axis=1)
    cloth = core.Cloth(core.ClothMesh(tube, t), fabric(), rest_scale=0.5, bending=bending)
    still = np.zeros_like(tube)
    for bends in (False, True):
        forces = [force for force in built_model(cloth).forces if ("bend" in force.law.stiffness_parameters) is bends]
        f, g = (sum(force.force(s * tube, still) for force in forces) for s in (0.5, 0.7))
        assert np.abs(f).max() <= 1e-9 * max(np.abs(g).max(), 1e-6)


def test_neighbours_of_scaled_cloth_keep_half_the_distance_that_they_have_at_rest():
    """As those of the same cloth, modelled at that size."""
    x, t = grid(6, 5)
    kept = []
    for size, options in ((1.0, {"rest_scale": 0.3}), (0.3, {})):
        cloth = core.Cloth(core.ClothMesh(size * x, t), fabric(), thickness=0.03, **options)
        own = ParticleSystem(core.Scene([cloth])).self_contact
        pairs = ContactTrial(own).look(0.3 * x, 0.3 * x).pairs
        kept.append(own.thickness_of(pairs))
    assert kept[0].min() < 0.05
    assert kept[0] == pytest.approx(kept[1])


# ---------------------------------------------------------------------- wrinkle map


def radius_and_side(x):
    """Of the circle through the middle line of a strip (V, 3) [m]; z of its middle."""
    p = x.reshape(21, 5, 3).mean(axis=1)
    a = np.column_stack([2.0 * p[:, 0], 2.0 * p[:, 2], np.ones(len(p))])
    u, w, c = np.linalg.lstsq(a, p[:, 0] ** 2 + p[:, 2] ** 2, rcond=None)[0]
    return np.sqrt(c + u * u + w * w), w - p[:, 2].mean()


@pytest.mark.parametrize("bending", ["patch", "hinge"])
@pytest.mark.parametrize("curvature", [2.0, -4.0])
def test_a_free_strip_of_constant_rest_curvature_rolls_up_to_that_radius(curvature, bending):
    cloth = core.Cloth(strip(), fabric(), rest_curvature=curvature, bending=bending)
    radius, side = radius_and_side(at_rest(cloth).positions[0])
    assert radius == pytest.approx(1.0 / abs(curvature), rel=0.02)
    assert np.sign(side) == np.sign(curvature)                     # to where the normals point


@pytest.mark.skipif(bool(why_not("numba")), reason="cannot run here")
def test_a_compiled_strip_rolls_up_likewise():
    radius, _ = radius_and_side(at_rest(core.Cloth(strip(), fabric(), rest_curvature=2.0), "numba").positions[0])
    assert radius == pytest.approx(0.5, rel=0.02)


@cases("bending", ["patch", "hinge"])
def test_the_curl_angle_says_which_way_it_curves(bending):
    """Forces on the flat sheet curve the weft as they curve the warp of the sheet that is turned."""
    x, t = grid(6, 6)
    still = np.zeros_like(x)

    def forces(grain, angle):
        body = built_model(core.Cloth(core.ClothMesh(x, t, grain=grain), fabric(), rest_curvature=1.0, curl_angle=angle,
                          bending=bending))
        return sum(force.force(x, still) for force in body.forces)

    along, across = forces((1.0, 0.0, 0.0), 0.5 * np.pi), forces((0.0, 1.0, 0.0), 0.0)
    assert np.abs(along).max() > 1e-3
    assert np.allclose(along, across, atol=1e-9 * np.abs(along).max())
    assert not np.allclose(along, forces((1.0, 0.0, 0.0), 0.0), atol=0.1 * np.abs(along).max())


def test_hinges_of_a_parabolic_cylinder_are_at_rest_on_it():
    x, t = grid(6, 4, (0.6, 0.4))
    curvature = 0.01                                               # shallow, so that lengths hardly change
    mesh = core.ClothMesh(x, t).curved(np.full(len(x), curvature))
    e, a, b = HingeGeometry(mesh).curved(mesh)
    y = x.copy()
    y[:, 2] = 0.5 * curvature * x[:, 0] ** 2
    corners = y[mesh.hinges]
    for found, k in ((e, 1), (a, 2), (b, 3)):
        wanted = np.linalg.norm(corners[:, k] - corners[:, 0], axis=1)
        assert np.linalg.norm(np.stack(found), axis=0) == pytest.approx(wanted, rel=1e-4)


# ---------------------------------------------------------------------- stiffness maps


@cases("member", [m for m in LAWS.values() if hasattr(m.law, "stiffness_parameters")],
       ids=[n for n in LAWS if hasattr(LAWS[n].law, "stiffness_parameters")])
def test_energy_stress_and_damping_are_linear_in_what_a_law_calls_its_stiffness(member):
    mesh = jittered_mesh(1.0)
    stencil, p = member.build(mesh)
    F = stencil.gather(deformed(mesh, "noisy"))
    places = {place for some in member.law.stiffness_parameters.values() for place in some}
    twice = tuple(2.0 * q if place in places else q for place, q in enumerate(p))
    assert set(member.law.stiffness_parameters) <= {"stretch", "shear", "bend", "volume"}
    assert np.allclose(member.law.energy(F, twice), 2.0 * member.law.energy(F, p), rtol=1e-12)
    assert np.allclose(member.law.stress(F, twice), 2.0 * np.array(member.law.stress(F, p)), rtol=1e-12)
    assert np.allclose(member.law.projected_tangent(F, twice), 2.0 * np.array(member.law.projected_tangent(F, p)),
                       rtol=1e-9, atol=1e-12)
    for (k, _), (one, _) in zip(member.law.conditions(F, twice), member.law.conditions(F, p), strict=True):
        assert np.allclose(k, 2.0 * one)


@cases("what", ["stretch", "shear", "bend"])
@cases("bending", ["patch", "hinge", "quadratic"])
def test_an_element_has_the_mean_of_its_vertices_factors(what, bending):
    mesh = core.ClothMesh(*grid(5, 4))
    factor = np.random.default_rng(2).uniform(0.5, 3.0, len(mesh.positions))
    plain = built_model(core.Cloth(mesh, fabric(), bending=bending)).forces
    painted = built_model(core.Cloth(mesh, fabric(), bending=bending, **{f"{what}_scale": factor})).forces
    for one, other in zip(plain, painted, strict=True):
        if what not in one.law.stiffness_parameters:
            assert all(np.array_equal(p, q) for p, q in zip(one.parameters, other.parameters, strict=True))
            continue
        wanted = np.array([factor[np.unique(v[w.any(axis=1)])].mean() if w.any() else 1.0
                           for v, w in zip(one.stencil.vertices, one.stencil.weights, strict=True)]) \
            if one.painted_vertices is None else factor[one.painted_vertices].mean(axis=1)
        for place in one.law.stiffness_parameters[what]:
            assert np.allclose(other.parameters[place], wanted * one.parameters[place])


def test_a_strip_whose_half_is_twice_as_stiff_stretches_half_as_much_there():
    x, t = grid(10, 2, (1.0, 0.2))
    mesh = core.ClothMesh(x, t)
    pins = dict.fromkeys(range(3)) | {v: (lambda s, v=v: x[v] + [0.03, 0.0, 0.0]) for v in range(30, 33)}
    cloth = core.Cloth(mesh, fabric(shear=0.0), pins=pins, stretch_scale=np.where(x[:, 0] < 0.501, 2.0, 1.0))
    y = at_rest(cloth, frames=48).positions[0].reshape(11, 3, 3)[:, 1, 0]
    assert y[4] - y[0] - 0.4 == pytest.approx(0.5 * (y[10] - y[6] - 0.4), rel=0.02)


# ---------------------------------------------------------------------- all of them


def test_maps_that_say_nothing_change_nothing():
    mesh = jittered_mesh(1.0)
    ones = np.ones(len(mesh.positions))
    x = deformed(mesh, "noisy")
    painted = core.Cloth(mesh, fabric(), rest_scale=ones, rest_curvature=0.0, stretch_scale=1.0, shear_scale=ones,
                         bend_scale=1.0)
    for one, other in zip(built_model(core.Cloth(mesh, fabric())).forces, built_model(painted).forces, strict=True):
        assert np.array_equal(one.force(x, 0.0 * x), other.force(x, 0.0 * x))
    assert np.array_equal(painted.mesh.rest_lengths, mesh.rest_lengths)


@cases("options, message", [
    ({"rest_scale": 0.0}, "rest_scale of vertex 0 is 0 .*above 0"),
    ({"rest_scale": [1.0, 2.0]}, "expected one number or"),
    ({"bend_scale": -1.0}, "0 or more"),
    ({"rest_curvature": np.nan}, "a number"),
    ({"curl_angle": "u"}, "an angle"),
    ({"stretch_scale": "soft"}, "stretch_scale"),
    ({"rest_curvature": 1.0, "bending": "quadratic"}, "always flat"),
])
def test_what_cannot_be_painted_is_said(options, message):
    with pytest.raises(ClothError, match=message):
        built_model(core.Cloth(strip(name="Sleeve"), fabric(), **options))


@cases("model, material", [("mass_spring", fabric()), ("baraff_witkin", fabric(bend=0.0))])
def test_a_rest_curvature_that_nothing_takes_on_is_refused(model, material):
    with pytest.raises(ClothError, match="nothing in its model can be curved at rest"):
        built_model(core.Cloth(strip(), material, model, rest_curvature=1.0))


def test_a_jelly_whose_inner_nodes_are_no_vertices_cannot_be_painted():
    with pytest.raises(ClothError, match="none of its laws"):
        built_model(core.Cloth(core.ClothMesh(*ball(0.1, 1)), fabric(), "jelly", stretch_scale=3.0))
    for what, values in (("bend_scale", 0.0), ("rest_scale", 1.3)):      # its ties are no bending, its skin no sheet
        with pytest.raises(ClothError, match=what):
            built_model(core.Cloth(core.ClothMesh(*ball(0.1, 1)), fabric(), "jelly", **{what: values}))


def test_a_map_of_what_a_model_does_not_resist_is_refused():
    rope = core.ClothMesh([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], edges=[[0, 1]])
    with pytest.raises(ClothError, match="none of its laws .spring. has such a stiffness"):
        built_model(core.Cloth(rope, fabric(), bend_scale=2.0))


@cases("model", ["baraff_witkin", "mass_spring"])
def test_a_tube_that_shrinks_to_half_its_size_stays_round(model):
    """It takes its rest shape on within the closing time; at once, it would be thrown together and crumple."""
    angle, height = 2.0 * np.pi * np.arange(20) / 20, np.linspace(0.0, 0.5, 9)
    x = np.array([(0.3 * np.cos(a), 0.3 * np.sin(a), z) for z in height for a in angle])
    faces = [[20 * j + k, 20 * j + (k + 1) % 20, 20 * (j + 1) + (k + 1) % 20, 20 * (j + 1) + k]
             for j in range(8) for k in range(20)]
    cloth = core.Cloth(core.ClothMesh(x, faces=faces), core.Material.preset("cotton"), model=model, rest_scale=0.55)
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, backend="numpy")
    *_, last = core.simulate(core.Scene([cloth], gravity=(0, 0, 0)), solver, range(31))
    radius = np.linalg.norm(last.positions[0][:, :2], axis=1)
    assert radius == pytest.approx(0.55 * 0.3, rel=0.15)
    assert last.certificate.stretch_max < 1.01
    *_, early = core.simulate(core.Scene([cloth], gravity=(0, 0, 0)), solver, range(4))
    assert early.certificate.stretch_max > 1.7


@cases("pins", [{}, {0: None}])
def test_limit_stretch_lets_edges_be_as_long_as_the_rest_shape_that_is_being_taken_on(pins):
    """s(t) = 1 - 0.45 (3 t^2 - 2 t^3) of its length; at once brought back to the lengths of the end, it would be torn
    together in the first frame."""
    x, triangles = grid(8, 8)
    mesh = core.ClothMesh(x, triangles)
    curtain = core.Cloth(core.ClothMesh(x + [3.0, 0.0, 0.0], triangles), core.Material.preset("cotton"),
                         max_elongation=0.1)                     # keeps its size beside it
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), rest_scale=0.55, sewing_time=1.0, max_elongation=0.1,
                       pins=pins)
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, backend="numpy")
    for frame in core.simulate(core.Scene([curtain, cloth], gravity=(0, 0, 0)), solver, range(27)):
        still, x = frame.positions
        t = min(frame.time, 1.0)
        length = np.linalg.norm(x[mesh.edges[:, 1]] - x[mesh.edges[:, 0]], axis=1) / mesh.rest_lengths
        assert length.mean() == pytest.approx(1.0 - 0.45 * t * t * (3.0 - 2.0 * t), abs=0.05)
        assert np.abs(still - curtain.positions).max() < 1e-9
    assert length.max() < 1.1 * 0.55


def test_while_a_rest_shape_is_taken_on_the_force_of_damping_is_that_of_its_matrix():
    """Otherwise cloth runs away: the matrix of elements of now, the force of those of the end."""
    x, triangles = grid(4, 4)
    fabric = core.Material(areal_density=0.2, stretch=100.0, shear=30.0, damping=0.01)
    system = ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(x, triangles), fabric, rest_scale=0.5)]))
    v = np.random.default_rng(4).normal(size=x.shape)
    for time in (0.0, 0.4, 2.0):
        elastic = system.elastic(time)
        rate = system.rate_force(x, v, time)
        product = elastic.stiffness(x, 0.0, rate=rate, rate_factor=1.0).multiply(v)
        np.testing.assert_allclose(product, rate.product(v), atol=1e-9 * np.abs(product).max())
