# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields at points: equations of each kind, energies, noise, absorption, and both backends alike."""

import numpy as np
import pytest

import core
from core import ForceField, field_forces, field_values
from core.description.force_fields import FALLOFFS, KINDS, SHAPES
from core.errors import SceneError
from core.kernels.backend import why_not

RNG = np.random.default_rng(3)
X, V = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 3))
TURNED = {"xx": 0.0, "xz": 1.0, "zx": -1.0, "zz": 0.0, "x": 0.1, "y": -0.2}
"""An object whose Z axis is the world's X axis."""
ORIGIN, AXIS = np.array([0.1, -0.2, 0.0]), np.array([1.0, 0.0, 0.0])
CORNERS = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])


def given(kind, shape="point", **options):
    """A field of this kind and shape with the samples and vertices that it needs."""
    rng = np.random.default_rng(5)
    if shape in ("surface", "points"):
        options |= {"vertices": CORNERS, "triangles": np.array([[0, 1, 2], [0, 2, 3]]), "normals": CORNERS - 0.5}
    if kind in ("texture", "fluid_flow"):
        options |= {"lattice": rng.normal(size=(4, 5, 6, 3 + (kind == "fluid_flow"))),
                    "lattice_map": np.column_stack([np.eye(3), [1.5, 2.0, 2.5]])}
    values = options.pop("values", {})
    return ForceField(kind, field_values(**{"strength": 1.5, **TURNED, **values}), shape, **options)


def force(kind, shape="point", x=X, v=V, time=0.0, colliders=(), **options):
    return field_forces([given(kind, shape, **options)], x, v, time, colliders=colliders)[0]


def unit(a):
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


def along(a):
    """The part of vectors along the object's axis."""
    return (a @ AXIS)[:, None] * AXIS


@pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
def test_both_backends_compute_the_same_forces():
    values = {"flow": 0.3, "power": 1.5, "radial_power": 0.7, "maximum": 2.5, "minimum": 0.1, "radial_maximum": 120.0,
              "noise": 0.2, "size": 0.7, "rest_length": 0.3, "damping": 0.1, "linear_drag": 0.5, "quadratic_drag": 0.3}
    fields = [given(kind, shape, falloff=FALLOFFS[number % 3], z_direction="both" if number % 2 else "positive",
                    values=values, curve=number % 4 == 0)
              for number, (kind, shape) in enumerate((kind, shape) for kind in KINDS for shape in SHAPES)]
    one, other = (field_forces(fields, X, V, 0.1, backend=name) for name in ("numpy", "numba"))
    assert np.isfinite(one).all() and one.any(axis=(1, 2)).all()
    np.testing.assert_allclose(other, one, rtol=0.0, atol=1e-12)


@pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
def test_threads_change_no_byte():
    from core.kernels.numba.thread_pool import thread_limit

    points = np.random.default_rng(8).normal(size=(3000, 3))
    fields, found = [given("turbulence", values={"noise": 0.3}), given("drag", values={"quadratic_drag": 1.0})], []
    for threads in (1, 3):
        token = thread_limit.set(threads)
        found.append(field_forces(fields, points, points[::-1], 0.1, backend="numba").tobytes())
        thread_limit.reset(token)
    assert found[0] == found[1]


def test_forces_of_each_kind_are_those_of_its_equation():
    d = X - ORIGIN
    r = np.linalg.norm(d, axis=1)[:, None]
    S, flow = 1.5, 0.4
    w = (1.0 + np.maximum(r - 0.3, 0.0)) ** -2.0 * (r <= 1.8)
    falloff = {"power": 2.0, "minimum": 0.3, "maximum": 1.8, "flow": flow}
    for kind, wanted in (
            ("wind", S * w * AXIS - flow * w * V),
            ("force", S * w * d / r - flow * w * V),
            ("vortex", S * w * r * unit(np.cross(AXIS, d)) - flow * w * V),
            ("magnetic", np.cross(V, S * w * unit(np.cross(AXIS, d))) - flow * w * V)):
        np.testing.assert_allclose(force(kind, values=falloff), wanted, atol=1e-12, err_msg=kind)
    np.testing.assert_allclose(force("force", values=falloff, gravitation=True), S * w * d / r ** 3 - flow * w * V,
                               atol=1e-10)
    length, c = 0.6, 2.0 * 0.2 * np.sqrt(S)
    np.testing.assert_allclose(force("harmonic", values=falloff | {"rest_length": length, "damping": 0.2}),
                               (-S * w * (r - length) * d / r - c * V) * (w > 0.0), atol=1e-12)
    speed = np.linalg.norm(V, axis=1)[:, None]
    np.testing.assert_allclose(force("drag", values=falloff | {"linear_drag": 0.3, "quadratic_drag": 7.0}),
                               -w * (2.0 * speed + 0.3) * V, atol=1e-12)
    t = S * w * np.cross(AXIS, d)
    radial = d - along(d)
    near = np.linalg.norm(radial, axis=1)[:, None]
    w = (1.0 + np.maximum(near - 0.3, 0.0)) ** -2.0 * (near <= 1.8)
    t = S * w * np.cross(AXIS, d)
    np.testing.assert_allclose(force("vortex", "line", values=falloff),
                               (S * w * np.cross(AXIS, t) + t - V) * (w > 0.0) - flow * w * V, atol=1e-12)
    np.testing.assert_allclose(force("vortex", "plane", values=falloff), force("vortex", "line", values=falloff))
    np.testing.assert_allclose(force("magnetic", "line", values=falloff),
                               np.cross(V, S * w * unit(np.cross(AXIS, radial))) - flow * w * V, atol=1e-12)


def test_shapes_measure_distances_from_the_axis_the_plane_the_nearest_point_and_each_vertex():
    d = X - ORIGIN
    np.testing.assert_allclose(force("force", "line"), 1.5 * unit(d - along(d)), atol=1e-12)
    np.testing.assert_allclose(force("force", "plane"), 1.5 * unit(along(d)), atol=1e-12)
    np.testing.assert_allclose(force("force", "points"), sum(1.5 * unit(X - corner) for corner in CORNERS), atol=1e-12)
    inside = np.column_stack([RNG.uniform(0.1, 0.9, size=(9, 2)), RNG.normal(size=9)])
    flat = {"vertices": CORNERS, "triangles": np.array([[0, 1, 2]])}
    field = ForceField("force", field_values(strength=1.5), "surface", **flat)
    np.testing.assert_allclose(field_forces([field], inside)[0], 1.5 * unit(inside * [0.0, 0.0, 1.0]), atol=1e-12)
    edge = ForceField("wind", field_values(strength=2.0), "surface", vertices=CORNERS, edges=np.array([[1, 0]]))
    np.testing.assert_allclose(field_forces([edge], X)[0], np.tile([2.0, 0.0, 0.0], (len(X), 1)))
    tied = force("harmonic", "points")
    np.testing.assert_allclose(tied, -1.5 * (X - CORNERS[np.arange(len(X)) % 4]), atol=1e-12)


def test_tubes_and_cones_fall_off_along_the_axis_and_around_it():
    d = X - ORIGIN
    height, radius = d @ AXIS, np.linalg.norm(d - along(d), axis=1)
    values = {"power": 1.0, "radial_power": 2.0, "radial_minimum": 0.2, "radial_maximum": 1.2}
    w = (1.0 + np.abs(height)) ** -1.0 * (1.0 + np.maximum(radius - 0.2, 0.0)) ** -2.0 * (radius <= 1.2)
    np.testing.assert_allclose(force("wind", falloff="tube", values=values), 1.5 * w[:, None] * AXIS, atol=1e-12)
    angle = np.degrees(np.arccos(height / np.linalg.norm(d, axis=1)))
    values = {"power": 1.0, "radial_power": 0.5, "radial_minimum": 20.0, "radial_maximum": 90.0}
    w = (1.0 + np.abs(height)) ** -1.0 * (1.0 + np.maximum(angle - 20.0, 0.0)) ** -0.5 * (angle <= 90.0)
    np.testing.assert_allclose(force("wind", falloff="cone", values=values), 1.5 * w[:, None] * AXIS, atol=1e-12)
    for side, acts in (("positive", height >= 0.0), ("negative", height <= 0.0)):
        assert (force("wind", z_direction=side).any(axis=1) == acts).all()


@pytest.mark.parametrize("kind, shape, values, options, energy", [
    ("force", "point", {}, {}, lambda r: -1.5 * r),
    ("force", "line", {}, {}, lambda r: -1.5 * r),
    ("force", "plane", {}, {}, lambda r: -1.5 * r),
    ("force", "point", {}, {"gravitation": True}, lambda r: 1.5 / r),
    ("force", "point", {"power": 2.0}, {}, lambda r: 1.5 / (1.0 + r)),
    ("harmonic", "point", {"rest_length": 0.5}, {}, lambda r: 0.75 * (r - 0.5) ** 2),
    ("harmonic", "line", {"rest_length": 0.5}, {}, lambda r: 0.75 * (r - 0.5) ** 2)])
def test_conservative_forces_are_gradients_of_their_energy(kind, shape, values, options, energy):
    def potential(x):
        d = x - ORIGIN
        d = {"point": d, "line": d - along(d), "plane": along(d)}[shape]
        return energy(np.linalg.norm(d, axis=1))

    step = 1e-6
    gradient = np.stack([(potential(X + step * e) - potential(X - step * e)) / (2.0 * step) for e in np.eye(3)], axis=1)
    np.testing.assert_allclose(force(kind, shape, v=np.zeros_like(X), values=values, **options), -gradient, rtol=1e-6,
                               atol=1e-6)


def test_turbulence_follows_its_lattice():
    rng = np.random.default_rng(7)
    g = rng.normal(size=(256, 3))
    T, P = rng.permutation(256), rng.permutation(256)
    lattice = np.column_stack([T, P, g])

    def noise(p):
        field = ForceField("turbulence", field_values(strength=1.0, size=1.0), global_coordinates=True, lattice=lattice)
        return field_forces([field], p)[0]

    whole = rng.integers(-300, 300, size=(30, 3)).astype(float)
    assert np.abs(noise(whole)).max() == 0.0
    i, j, k = whole.astype(int).T
    near = 1e-5 * rng.normal(size=whole.shape)
    doubled = [g[(P[(T[f * i & 255] + f * j) & 255] + f * k) & 255] for f in (1, 2, 4)]
    wanted = 4.0 / 7.0 * sum((gradient * near).sum(axis=1) for gradient in doubled)      # halved, and twice as steep
    np.testing.assert_allclose(noise(whole + near)[:, 0], wanted, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(noise(X + 256.0), noise(X), atol=1e-10)
    assert np.abs(noise(X * 10.0)).max() > 0.1
    assert np.isfinite(noise(X * 1e30)).all()                # too far away for whole numbers of 64 bits
    np.testing.assert_array_equal(force("turbulence", x=X, values={"size": 0.5}),
                                  force("turbulence", x=X, values={"size": 0.5}))


def test_turbulence_of_an_object_moves_with_it():
    values = {"size": 0.7}
    one = force("turbulence", values=values)
    moved = force("turbulence", x=X + [0.0, 3.0, 0.0], values=values | {"y": 2.8})
    np.testing.assert_allclose(moved, one, atol=1e-12)
    fixed = force("turbulence", values=values, global_coordinates=True)
    np.testing.assert_array_equal(fixed, force("turbulence", values=values | {"y": 9.0}, global_coordinates=True))


def test_samples_are_interpolated_and_fluid_ends_at_the_border():
    lattice = RNG.normal(size=(3, 4, 5, 4))
    field = ForceField("fluid_flow", field_values(strength=2.0, flow=0.5), lattice=lattice,
                       lattice_map=np.column_stack([np.eye(3), np.zeros(3)]))
    u, k = lattice[1, 2, 3, :3], lattice[1, 2, 3, 3]
    v = np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(field_forces([field], [[1.0, 2.0, 3.0]], v)[0, 0], 2.0 * k * (u - 0.5 * v[0]))
    assert not field_forces([field], [[2.6, 0.0, 0.0], [0.0, -0.6, 0.0]]).any()
    image = ForceField("texture", field_values(strength=2.0), lattice=lattice[..., :3],
                       lattice_map=np.column_stack([np.eye(3), np.zeros(3)]), two_dimensional=True)
    mean = lattice[0, 0, 0:2, :3].mean(axis=0) * [1.0, 1.0, 0.0]
    found = field_forces([image], [[0.0, 0.0, 0.5], [-9.0, -9.0, 0.5]])[0]
    np.testing.assert_allclose(found, 2.0 * np.stack([mean] * 2))


def test_noise_has_its_statistics_and_depends_on_frame_point_and_seed_alone():
    points = np.zeros((20000, 3))
    noise = [force("wind", x=points, v=points, time=time, values={"strength": 0.0, "noise": 2.0}, seed=seed)[:, 0]
             for time, seed in ((1.0, 4), (1.0 - 0.5 / 24.0, 4), (2.0, 4), (1.0, 5))]
    a, b = np.meshgrid(np.arange(128), (np.arange(1000) + 0.5) / 1000.0)
    exact = 2.0 * np.where(a > 64, 1.0, -1.0) * a / (128.0 * (1.0 + b))
    for found in noise:
        assert found.mean() == pytest.approx(exact.mean(), abs=0.02)
        assert found.std() == pytest.approx(exact.std(), rel=0.02)
        for part in (0.1, 0.5, 0.9):
            assert np.quantile(found, part) == pytest.approx(np.quantile(exact, part), abs=0.03)
    np.testing.assert_array_equal(noise[0], noise[1])
    for other in noise[2:]:
        assert abs(np.corrcoef(noise[0], other)[0, 1]) < 0.03


def test_colliders_absorb_fields_that_are_absorbed():
    wall = np.array([[0.5, -9.0, -9.0], [0.5, 9.0, -9.0], [0.5, 0.0, 20.0]])
    made = {part: core.Collider(wall + [shift, 0.0, 0.0], [[0, 1, 2]], absorption=part, name=f"wall {part}")
            for part, shift in ((0.75, 0.0), (0.5, 0.5))}
    points = np.array([[0.2, 0.0, 0.1], [0.8, 0.0, 0.1], [1.8, 0.0, 0.1]])
    full = np.linalg.norm(force("force", x=points, v=points), axis=1)
    found = force("force", x=points, v=points, colliders=made.values(), absorption=True)
    assert np.linalg.norm(found, axis=1) / full == pytest.approx([1.0, 0.25, 0.125])
    found = force("force", x=points, v=points, colliders=made.values(), absorption=True, name="wall 0.75")
    assert np.linalg.norm(found, axis=1) / full == pytest.approx([1.0, 1.0, 0.5])
    assert np.linalg.norm(force("force", x=points, v=points, colliders=made.values()), axis=1) == pytest.approx(full)


def test_a_field_without_influence_does_nothing():
    for kind in KINDS:
        assert not force(kind, values={"influence": 0.0, "linear_drag": 1.0, "damping": 1.0, "flow": 1.0}).any()


def test_what_is_wrong_with_points_is_named():
    with pytest.raises(SceneError, match="there are 1 velocities for 40 positions"):
        field_forces([given("force")], X, V[:1])
    with pytest.raises(SceneError, match="it must be a list of ForceField"):
        field_forces(given("force"), X)
