# SPDX-License-Identifier: GPL-3.0-or-later
"""Emitters by their bounds and directions, particles by their neighbours, births by their hour."""

import numpy as np
import pytest

import core
from core.stencils.models.particles import build, neighbours
from tests.cases import cases

FABRIC = core.Material(areal_density=0.2, stretch=1e3, shear=1e2, thread_width=0.01)
COUNT = 4000


# ---------------------------------------------------------------------- emitters


@cases("kind", core.emitters())
def test_an_emitter_gives_the_same_for_the_same_seed_and_moves_with_its_origin(kind):
    x, v = core.emit(kind, 50, seed=3)
    again, other = core.emit(kind, 50, seed=3, origin=(1.0, 2.0, 3.0)), core.emit(kind, 50, seed=4)
    np.testing.assert_array_equal(again[0], x + [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(again[1], v)
    assert not np.array_equal(other[1], v)
    assert x.shape == v.shape == (50, 3)


def test_a_fountain_rises_from_one_point_with_a_little_spread():
    x, v = core.emit("fountain", COUNT)
    assert not x.any()
    np.testing.assert_array_equal(v[:, 2], 10.0)
    assert np.abs(v[:, :2]).max() <= 0.5
    np.testing.assert_allclose(v[:, :2].mean(axis=0), 0.0, atol=4.0 * 12 ** -0.5 / COUNT ** 0.5)
    np.testing.assert_allclose(v[:, :2].std(axis=0), 12 ** -0.5, rtol=0.03)
    np.testing.assert_allclose(core.emit("fountain", 5, speed=3.0)[1], 0.3 * core.emit("fountain", 5)[1], rtol=1e-14)


def test_a_waterfall_starts_level_from_its_height():
    x, v = core.emit("waterfall", COUNT)
    np.testing.assert_array_equal(x, np.tile([0.0, 0.0, 10.0], (COUNT, 1)))
    assert not v[:, 2].any()
    assert 0.49 < np.abs(v[:, :2]).max() <= 0.5
    assert core.emit("waterfall", 1, size=2.0)[0][0, 2] == 2.0


@cases(("kind", "size", "lowest"), [("semi_sphere", 1.0, 0.0), ("explosion", 0.01, -90.0)])
def test_balls_burst_outwards_at_all_angles_alike(kind, size, lowest):
    x, v = core.emit(kind, COUNT, speed=3.0)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), size, rtol=1e-12)
    np.testing.assert_allclose(v, 3.0 / size * x, rtol=1e-12)
    altitude = np.degrees(np.arcsin(x[:, 2] / size))
    azimuth = np.degrees(np.arctan2(x[:, 1], x[:, 0]))
    assert lowest <= altitude.min() < lowest + 1.0
    assert 89.0 < altitude.max() <= 90.0
    assert np.abs(np.histogram(altitude, bins=9, range=(lowest, 90.0))[0] / COUNT - 1 / 9).max() < 0.025
    assert np.abs(np.histogram(azimuth, bins=8, range=(-180.0, 180.0))[0] / COUNT - 1 / 8).max() < 0.025


@cases(("arguments", "message"), [
    ({"kind": "geyser"}, "no emitter 'geyser'; there are: fountain"), ({"count": 0}, "count is 0"),
    ({"count": 2.5}, "count is 2.5"), ({"seed": -1}, "seed is -1"), ({"speed": np.inf}, "speed is inf"),
    ({"size": -1.0}, "size is -1.0"), ({"origin": (0.0, 1.0)}, "origin is")])
def test_an_emitter_refuses_what_makes_no_sense(arguments, message):
    with pytest.raises(core.ClothError) as caught:
        core.emit(**{"kind": "fountain", "count": 3} | arguments)
    assert message in str(caught.value)


# ---------------------------------------------------------------------- meshes of points


def test_a_mesh_of_points_has_to_be_asked_for_and_may_have_two_at_one_place():
    x = np.zeros((3, 3))
    with pytest.raises(core.MeshError, match="no faces and no edges"):
        core.ClothMesh(x, name="Dust")
    mesh = core.ClothMesh(x, points=True)
    assert mesh.loose_points.all() and mesh.mean_edge == 0.0 and len(mesh.edges) == 0
    with pytest.raises(core.MeshError, match="Dust: no vertices"):
        core.ClothMesh(np.zeros((0, 3)), points=True, name="Dust")
    with pytest.raises(core.MeshError, match="vertex 1 is at"):
        core.ClothMesh([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0]], points=True)


def test_points_weigh_a_square_of_fabric_as_wide_as_a_thread_or_what_they_are_given():
    mesh = core.ClothMesh(np.eye(3), points=True)
    for options, wanted in (({}, 0.2 * 0.01 ** 2), ({"mass": 0.5}, 0.5)):
        cloth = core.Cloth(mesh, FABRIC, model="particles", velocities=2.0 * np.ones((3, 3)), **options)
        assert cloth.thickness == 0.005
        frame = next(core.simulate(core.Scene([cloth], gravity=(0, 0, -2)), core.Solver(measure_energy=True)))
        assert frame.certificate.energy.kinetic == pytest.approx(3 * 0.5 * wanted * 12.0)


def test_neighbours_are_those_of_brute_force():
    x = np.random.default_rng(0).random((60, 3))
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    wanted = {(i, j) for i in range(60) for j in range(i + 1, 60) if distance[i, j] <= 0.2}
    assert {tuple(p) for p in neighbours(x, 0.2, 0).tolist()} == wanted
    order = np.argsort(distance, axis=1)[:, 1:4]
    wanted = {tuple(sorted((i, int(j)))) for i in range(60) for j in order[i]}
    assert {tuple(p) for p in neighbours(x, 0.0, 3).tolist()} == wanted
    assert len(neighbours(x, 0.0, 0)) == 0
    assert len(neighbours(x[:1], 1.0, 0)) == 0


def test_a_mesh_s_edges_are_springs_too():
    mesh = core.ClothMesh(np.eye(3), edges=[[0, 1]], points=True)
    assert build(mesh, FABRIC).neighbours.tolist() == [[0, 1]]
    assert len(build(mesh, FABRIC, nearest=2).neighbours) == 3
    assert len(build(core.ClothMesh(np.eye(3), points=True), FABRIC).forces) == 0


@cases(("options", "message"), [
    ({"mass": 0.0}, "mass is 0.0, it must be above 0 kg"), ({"radius": -1.0}, "radius is -1.0"),
    ({"nearest": 1.5}, "nearest is 1.5"), ({"spring_stiffness": 0.0}, "spring_stiffness is 0.0"),
    ({"spring_damping": -1.0}, "spring_damping is -1.0")])
def test_an_option_out_of_range_is_refused(options, message):
    with pytest.raises(core.ClothError, match="^Dust: ") as caught:
        build(core.ClothMesh(np.eye(3), points=True, name="Dust"), FABRIC, **options)
    assert message in str(caught.value)


@cases(("births", "message"), [
    ([0.0, 1.0], "births has shape"), ([0.0, -1.0, 0.0], "births of vertex 1 is -1.0"), ("soon", "births: ")])
def test_births_that_make_no_sense_are_refused(births, message):
    with pytest.raises(core.ClothError, match="^Dust: ") as caught:
        core.Cloth(core.ClothMesh(np.eye(3), points=True), FABRIC, births=births, name="Dust")
    assert message in str(caught.value)


def test_springs_at_rest_are_as_long_as_is_painted():
    mesh = core.ClothMesh(np.eye(3), edges=[[0, 1]], points=True).scaled(np.array([0.5, 1.0, 2.0]))
    (springs,) = build(mesh, FABRIC, nearest=2).forces
    np.testing.assert_allclose(springs.parameters[1], np.sqrt(2.0) * np.array([0.75, 1.25, 1.5]), rtol=1e-14)


def test_an_emitter_s_origin_is_three_numbers():
    for wrong in ("here", (0.0, 1.0), (np.nan, 0.0, 0.0), None):
        with pytest.raises(core.ClothError, match="origin"):
            core.emit("fountain", 3, origin=wrong)
