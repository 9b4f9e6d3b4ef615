# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest shapes that follow known positions."""

import numpy as np
import pytest

import core
from core.kernels.backend import using
from core.model.particle_system import ParticleSystem
from tests.core.shapes import ball, grid, quads, random_rotation

FABRIC = core.Material(areal_density=0.2, stretch=(500.0, 300.0), shear=60.0, bend=(1e-3, 5e-4), damping=0.01)
MODELS = [("baraff_witkin", {}), ("baraff_witkin", {"bending": "hinge"}), ("projective", {}), ("mass_spring", {}),
          ("immediate_buckling", {}), ("baraff_witkin", {"flat": True})]


def bent(x, t):
    """Return x grown unevenly and rolled around the y axis, more with time t."""
    s, angle = 1.0 + 0.3 * t, 0.8 * t * x[:, 0]
    return np.column_stack([s * x[:, 0] * np.cos(angle), (1.0 + 0.1 * t * x[:, 0]) * x[:, 1],
                            s * x[:, 0] * np.sin(angle)]) if t else x


def system(model, options, move=bent, shape=None, **more):
    positions, triangles = shape or grid(5, 4)
    faces = {"faces": quads(5, 4)} if shape is None and model == "mass_spring" else {"triangles": triangles}
    mesh = core.ClothMesh(positions, **faces)
    cloth = core.Cloth(mesh, FABRIC, model=model, rest_motion=lambda t: move(positions, t), **options, **more)
    return ParticleSystem(core.Scene([cloth], gravity=(0, 0, 0))), positions


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_no_force_acts_in_the_rest_shape_of_each_time(model, options):
    """The shape may be turned too. Bending that is flat at rest, and that of springs across two quads, is left out."""
    rng = np.random.default_rng(0)
    with using("numpy"):
        of, positions = system(model, options, (lambda x, t: x * [1 + t, 1 - 0.5 * t, 1]) if options.get("flat")
                               else bent)
        for t in (0.0, 0.4, 1.0):
            x = (of.scene.cloths[0].rest_positions(t)) @ random_rotation(rng).T
            still, pulled = np.abs(of.elastic(t).force(x)).max(), np.abs(of.elastic(0.0).force(x)).max()
            assert still < (1e-11 if t == 0.0 else 1e-4 * pulled)        # patches of an uneven stretch leave a trace


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_the_force_is_the_gradient_of_the_energy_at_every_time(model, options):
    rng = np.random.default_rng(1)
    with using("numpy"):
        of, positions = system(model, options)
        elastic = of.elastic(0.7)
        x, d = bent(positions, 0.5) + 0.02 * rng.normal(size=positions.shape), rng.normal(size=positions.shape)
        slope = (elastic.energy(x + 1e-6 * d) - elastic.energy(x - 1e-6 * d)) / 2e-6
        assert slope == pytest.approx(-float(np.sum(elastic.force(x) * d)), rel=1e-5)


def test_a_stretched_rest_shape_has_the_energy_of_a_mesh_of_that_size():
    """The stiffness belongs to the fabric: a larger area has more of it."""
    rng = np.random.default_rng(2)
    with using("numpy"):
        of, positions = system("baraff_witkin", {"flat": True}, lambda x, t: x * [1 + t, 1 + 0.5 * t, 1])
        large = core.ClothMesh(positions * [2, 1.5, 1], grid(5, 4)[1])
        other = ParticleSystem(core.Scene([core.Cloth(large, FABRIC, flat=True)], gravity=(0, 0, 0)))
        x = large.positions * 1.1 + 0.05 * rng.normal(size=positions.shape) * [1, 1, 0]         # there is next to no
        assert of.elastic(1.0).energy(x) == pytest.approx(other.elastic(0.0).energy(x), rel=1e-3)          # bending


def test_a_turned_rest_shape_changes_nothing():
    rng = np.random.default_rng(3)
    turn = random_rotation(rng)
    with using("numpy"):
        of, positions = system("baraff_witkin", {}, lambda x, t: x @ turn.T + 3.0 * t if t else x, ball(1.0, 1))
        x = positions + 0.1 * rng.normal(size=positions.shape)
        assert np.allclose(of.elastic(1.0).force(x), of.elastic(0.0).force(x), rtol=0, atol=1e-9)


def test_both_backends_agree():
    pytest.importorskip("numba")
    results = []
    for backend in ("numpy", "numba"):
        with using(backend):
            of, positions = system("baraff_witkin", {})
            results.append(of.elastic(0.7).force(bent(positions, 0.4)))
    assert np.allclose(*results, rtol=1e-9, atol=1e-12)


def moving_scene(**options):
    positions, triangles = grid(6, 6)
    cloth = core.Cloth(core.ClothMesh(positions, triangles), FABRIC, rest_motion=lambda t: bent(positions, min(t, 1.0)),
                       **options)
    return core.Scene([cloth], gravity=(0, 0, 0))


@pytest.mark.parametrize("integrator", ["bdf2", "implicit_euler", "projective_dynamics"])
def test_cloth_takes_the_shape_that_its_rest_shape_moves_to(integrator):
    scene = moving_scene()
    frames = list(core.simulate(scene, core.Solver(integrator, steps_per_frame=1), range(1, 61)))
    edges = scene.cloths[0].mesh.edges
    lengths = [np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
               for x in (frames[-1].positions[0], scene.cloths[0].rest_positions(9.0))]
    assert np.abs(lengths[0] / lengths[1] - 1.0).max() < 0.01
    assert np.ptp(frames[-1].positions[0], axis=0).min() > 0.2                              # it has rolled up
    assert frames[-1].certificate.stretch_max < 1.01


def test_a_limit_of_stretch_is_that_of_the_moving_rest_shape():
    frames = list(core.simulate(moving_scene(max_elongation=0.02), core.Solver(steps_per_frame=1), range(1, 31)))
    assert all(f.certificate.stretch_max < 1.03 for f in frames)
    assert frames[-1].certificate.rejected == 0


def test_a_stopped_simulation_goes_on_with_the_same_bytes():
    whole = list(core.simulate(moving_scene(), core.Solver(), range(1, 9)))
    rest = list(core.simulate(moving_scene(), core.Solver(), range(5, 9), whole[3].checkpoint()))
    assert rest[-1].positions[0].tobytes() == whole[-1].positions[0].tobytes()


def test_refusals_name_the_cloth_and_the_cause():
    with pytest.raises(core.ClothError, match="cloth.*model 'jelly'.*choose another model"):
        system("jelly", {}, shape=ball(1.0, 2))
    with pytest.raises(core.ClothError, match="rest_motion is 3"):
        core.Cloth(core.ClothMesh(*grid(1, 1)), FABRIC, rest_motion=3)
    of, _ = system("baraff_witkin", {}, lambda x, t: x * [1, 1 - t, 1])
    with pytest.raises(core.MeshError, match=r"triangle \d+ .*times the area at the start at 1.0000 s"):
        of.elastic(1.0)
    of, positions = system("baraff_witkin", {}, lambda x, t: x if t == 0.0 else x[:-1])
    with pytest.raises(core.ClothError, match=r"rest_motion at 1.0000 s has 29 rows"):
        of.elastic(1.0)


@pytest.mark.parametrize("keys", [
    {"stretch_warp": lambda t: 500.0 + 300.0 * t}, {"bend_warp": lambda t: 1e-3 + 1e-3 * t},
    {"damping": lambda t: 0.1 * t}])
def test_a_keyed_fabric_has_the_moving_rest_shape_too(keys):
    positions, triangles = grid(5, 4)
    cloth = core.Cloth(core.ClothMesh(positions, triangles), core.KeyedMaterial(FABRIC, keys),
                       rest_motion=lambda t: bent(positions, t))
    with using("numpy"):
        of = ParticleSystem(core.Scene([cloth], gravity=(0, 0, 0)))
        still, pulled = (np.abs(of.elastic(t).force(bent(positions, 0.8))).max() for t in (0.8, 0.0))
    assert still < 1e-3 * pulled
