# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics whose constants change: forces of every time are those of the fabric at that time."""

import numpy as np
import pytest

import core
from core.description.keyed_material import PLACES
from core.model.particle_system import ParticleSystem
from tests.core.shapes import grid
from tests.core.simple_scenes import floor

COTTON = core.Material.preset("cotton")
VALUES = {"stretch_warp": 3000.0, "stretch_weft": 2000.0, "shear": 60.0, "bend_warp": 1e-5, "bend_weft": 2e-5,
          "damping": 0.01, "friction": 0.4, "air_drag": 0.6, "drag_coefficient": 1.5, "skin_friction": 0.2,
          "slow_drag_speed": 0.3,
          "viscous_drag": 0.1, "isotropic_damping": 0.02, "spring_damping": 0.1, "compression_warp": 300.0,
          "compression_weft": 100.0, "compression_damping": 0.02, "shear_damping": 0.03, "bend_damping": 0.04}
GROUPS = (["stretch_warp"], ["bend_warp", "bend_weft"], ["bend_weft"], ["shear", "damping"],
          ["stretch_weft", "spring_damping", "isotropic_damping"], ["air_drag", "viscous_drag"],
          ["skin_friction", "drag_coefficient", "slow_drag_speed"],
          ["compression_warp", "stretch_warp", "compression_damping"], ["shear_damping", "bend_damping"])
SHEETS = ("baraff_witkin", "projective", "mass_spring", "immediate_buckling", "thread_cloth")


def keyed(names, start=1.0):
    """Return cotton in which these constants are `start` times VALUES at 0 s, and more later at different rates."""
    return core.KeyedMaterial(COTTON, {name: (lambda t, v=VALUES[name], k=k: v * (start + (k + 1) * t))
                                       for k, name in enumerate(names)})


def system(material, model="baraff_witkin", bumps=0.0, cells=6, **options):
    positions, triangles = grid(cells, cells)
    positions[:, 2] += bumps * np.sin(5.0 * positions[:, 0]) * np.cos(3.0 * positions[:, 1])
    return ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(positions, triangles), material, model, **options)],
                                     wind=(1.0, 2.0, 0.0)))


def state(of):
    rng = np.random.default_rng(3)
    return 1.02 * of.nodes.rest + 0.02 * rng.normal(size=of.nodes.rest.shape), rng.normal(size=of.nodes.rest.shape)


def matrix_product(of, x, v, time):
    """Return the step's matrix at x and `time`, times v."""
    elastic, rate = of.elastic(time), of.rate_force(x, v, time)
    return elastic.stiffness(x, 1e-4, rate=rate, rate_factor=1e-2).multiply(v)


@pytest.mark.parametrize(("model", "options"), [*((model, {}) for model in SHEETS),
                                                ("baraff_witkin", {"buckling": True})])
@pytest.mark.parametrize("start", [1.0, 0.0])
def test_forces_and_matrices_are_those_of_the_fabric_at_the_time(model, options, start):
    for names in GROUPS:
        if "compression_warp" in names and model not in ("baraff_witkin", "mass_spring"):
            continue
        material = keyed(names, start)
        ours = system(material, model, **options)
        for time in (1.7, 0.6, 3.0):
            wanted = system(material.at(time), model, **options)
            x, v = state(wanted)
            for a, b in ((ours.force(x, v, time), wanted.force(x, v, time)),
                         (matrix_product(ours, x, v, time), matrix_product(wanted, x, v, time))):
                assert a == pytest.approx(b, rel=1e-9, abs=1e-9 * np.abs(b).max()), names


@pytest.mark.parametrize("model", ["baraff_witkin", "projective"])
def test_a_curved_sheet_keeps_its_modelled_shape_at_all_times(model):
    material = keyed(["bend_warp", "bend_weft"])
    ours, wanted = system(material, model, 0.05), system(material.at(2.0), model, 0.05)
    assert np.abs(ours.elastic(2.0).force(ours.nodes.rest) - ours.elastic(2.0)._weight).max() < 1e-12
    x, v = state(wanted)
    assert ours.force(x, v, 2.0) == pytest.approx(wanted.force(x, v, 2.0), abs=1e-3)


def test_the_constant_matrices_and_estimates_follow_the_fabric():
    material = keyed(["stretch_warp", "bend_warp", "viscous_drag"])
    ours, wanted = system(material), system(material.at(2.0))
    assert ours.edge_stiffness(2.0) == pytest.approx(wanted.edge_stiffness(0.0), rel=1e-9)
    assert ours.projective(2.0).largest(np.arange(2)) == pytest.approx(wanted.projective(0.0).largest(np.arange(2)),
                                                                     rel=1e-6)


@pytest.mark.parametrize("model", ["baraff_witkin", "mass_spring"])
def test_a_fabric_changes_while_its_rest_shape_moves(model):
    def made(material):
        positions, triangles = grid(5, 4)
        cloth = core.Cloth(core.ClothMesh(positions, triangles), material, model,
                           rest_motion=lambda t: positions * (1.0 + t, 1.0, 1.0))
        return ParticleSystem(core.Scene([cloth]))

    material = keyed(["stretch_warp", "shear", "damping"])
    ours, wanted = made(material), made(material.at(0.4))
    x, v = state(wanted)
    assert ours.force(x, v, 0.4) == pytest.approx(wanted.force(x, v, 0.4), rel=1e-9, abs=1e-9)
    material = keyed(["bend_warp", "bend_weft"])
    ours, wanted = made(material), made(material.at(0.4))
    assert ours.force(x, v, 0.4) == pytest.approx(wanted.force(x, v, 0.4), abs=1e-3)


def scene(material):
    positions, triangles = grid(5, 5)
    cloth = core.Cloth(core.ClothMesh(positions, triangles), material, pins={0: None, 5: None})
    return core.Scene([cloth, core.Cloth(core.ClothMesh(positions + 0.4, triangles), material)], [floor(-0.1)])


def solved(scene, frames=range(1, 8), start=None, **options):
    return list(core.simulate(scene, core.Solver(frame_rate=24.0, **options), frames, start=start))


@pytest.mark.parametrize("integrator", ["bdf2", pytest.param("projective_dynamics", marks=pytest.mark.once)])
def test_a_continued_simulation_has_the_same_bytes(integrator):
    names = ["stretch_warp", "shear", "bend_warp", "damping", "air_drag"]
    options = {"integrator": integrator, "steps_per_frame": 2, "tolerance": 1e-2}
    whole = solved(scene(keyed(names)), **options)
    rest = solved(scene(keyed(names)), range(4, 8), whole[2].checkpoint(), **options)
    assert [p.tobytes() for p in rest[-1].positions] == [p.tobytes() for p in whole[-1].positions]


def test_explicit_steps_become_shorter_as_a_fabric_stiffens():
    stiffening = core.KeyedMaterial(core.Material(areal_density=0.3, stretch=20.0, shear=5.0, damping=1e-3),
                                    {"stretch_warp": lambda t: 20.0 * (1.0 + 3e4 * t * t)})
    positions, triangles = grid(4, 4)
    hung = core.Scene([core.Cloth(core.ClothMesh(positions, triangles), stiffening, pins={0: None, 4: None})])
    frames = solved(hung, integrator="symplectic_euler", steps_per_frame=20)
    assert frames[-1].certificate.step_max < 0.6 * frames[1].certificate.step_max
    assert all(frame.certificate.stretch_max < 3.0 for frame in frames)
    with pytest.raises(core.UnstableStepError):
        solved(hung, range(1, 30), integrator="symplectic_euler", steps_per_frame=1)


def test_constants_that_stay_alike_give_the_motion_of_a_plain_fabric():
    plain = core.Material.preset("cotton", stretch=(3000.0, 2000.0))
    same = core.KeyedMaterial(plain, {"stretch_warp": lambda t: 3000.0, "damping": lambda t: plain.damping})
    one, other = solved(scene(plain))[-1], solved(scene(same))[-1]
    assert np.abs(one.positions[0] - other.positions[0]).max() < 1e-6


def test_a_hanging_sheet_sinks_as_it_softens():
    """It hangs by a row of vertices, and its elongation is weight over stiffness, in every frame of a slow change."""
    positions, triangles = grid(4, 8)
    positions = positions[:, [0, 2, 1]] * (1.0, 1.0, -1.0)
    top = dict.fromkeys(np.flatnonzero(positions[:, 2] == positions[:, 2].max()).tolist())
    fabric = core.Material(areal_density=0.2, stretch=200.0, shear=50.0, damping=0.2, viscous_drag=2.0)
    soft = core.KeyedMaterial(fabric, {"stretch_weft": lambda t: 200.0 / (1.0 + t)})
    cloth = core.Cloth(core.ClothMesh(positions, triangles), soft, pins=top)
    frames = solved(core.Scene([cloth]), range(1, 49))
    fallen = [float(frame.positions[0][:, 2].min() - positions[:, 2].min()) for frame in frames]
    assert fallen[-1] / fallen[23] == pytest.approx(2.96 / 1.96, rel=0.05)


@pytest.mark.parametrize("changes, message", [
    ({"stretch": lambda t: 1.0}, "no constant 'stretch' that can change"), ({"shear": -1.0}, "shear is -1.0"),
    ({"areal_density": lambda t: 1.0}, "no constant 'areal_density'"), (3.0, "it must be a table of constants"),
    ({"bend_warp": lambda t: float("nan")}, "bend_warp is nan at 0 s")])
def test_what_is_no_constant_is_refused_by_name(changes, message):
    with pytest.raises(core.errors.MaterialError, match=message):
        core.KeyedMaterial(COTTON, changes)


def test_a_constant_that_leaves_its_range_is_refused_with_its_time():
    material = core.KeyedMaterial(COTTON, {"shear": lambda t: 50.0 - 1000.0 * t})
    with pytest.raises(core.errors.MaterialError, match=r"shear is -\d.* at 0\.\d+ s, it must be in 0"):
        solved(scene(material), range(1, 4))


def test_every_constant_of_a_fabric_but_its_mass_may_change():
    fields = {field for field, _ in PLACES.values()}
    assert fields == set(core.Material.__dataclass_fields__) - {"areal_density", "thread_width", "name"}
    assert set(VALUES) == set(PLACES)
