# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and folds that stay."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.kernels.backend import using
from core.model.particle_system import ParticleSystem
from tests.core.shapes import grid, random_rotation

FABRIC = core.Material(areal_density=0.2, stretch=(500.0, 300.0), shear=60.0, bend=(1e-3, 1e-3), damping=0.01)
MODELS = [("baraff_witkin", {}), ("baraff_witkin", {"bending": "hinge"}), ("baraff_witkin", {"flat": True}),
          ("projective", {})]


def system(plasticity, model="baraff_witkin", options=None, fabric=FABRIC, **more):
    positions, triangles = grid(6, 4, (1.2, 0.8))
    cloth = core.Cloth(core.ClothMesh(positions, triangles), fabric, model, plasticity=plasticity, **(options or {}),
                       **more)
    return ParticleSystem(core.Scene([cloth], gravity=(0, 0, 0))), positions


def flowed(of, x, h=1.0, plastic=None):
    state = of.initial_state()
    state = state.__class__(**{**vars(state), "x": x, "plastic": state.plastic if plastic is None else plastic})
    return of.flowed(state, h)


def rolled(x, curvature):
    return np.column_stack([np.sin(curvature * x[:, 0]) / curvature, x[:, 1], (1 - np.cos(curvature * x[:, 0]))
                            / curvature])


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_below_the_yields_nothing_flows_and_forces_are_those_of_the_elastic_fabric(model, options):
    with using("numpy"):
        of, x = system(core.Plasticity(0.1, 10.0), model, options)
        elastic, _ = system(None, model, options)
        x = rolled(1.05 * x, 5.0)
        after = flowed(of, x)
        np.testing.assert_array_equal(after, of.initial_state().plastic)
        force = elastic.elastic(0.0).force(x)
        assert np.allclose(of.elastic(0.0, after).force(x), force, rtol=0, atol=1e-12 * np.abs(force).max())


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_stretch_above_the_yield_stays_up_to_the_yield(model, options):
    """With yield y and a stretch s along the warp, the rest length grows to s - y as a whole at once."""
    with using("numpy"):
        of, x = system(core.Plasticity(stretch_yield=0.05), model, options)
        after = flowed(of, x * [1.25, 1, 1])
        ratios = of.rest_lengths_at(0.0, after) / of.rest_lengths
        along = np.flatnonzero(np.abs(np.diff(x[of.edges], axis=1)[:, 0, 1]) < 1e-12)
        assert ratios[along] == pytest.approx(1.2, rel=1e-9)
        left, still = (np.abs(of.elastic(0.0, after).force(x * [s, 1, 1])).max() for s in (1.25 / 1.05, 1.25))
        assert ratios[along] == pytest.approx(1.25 - 0.05, rel=1e-9) and left < 0.2 * still


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_a_fold_above_the_yield_stays_up_to_the_yield(model, options):
    with using("numpy"):
        of, x = system(core.Plasticity(bend_yield=0.2), model, options)
        limp, _ = system(None, model, options, fabric=replace(FABRIC, bend=0.0))
        at = rolled(x, 0.8)
        after = flowed(of, at)

        def bending(x, plastic):
            return of.elastic(0.0, plastic).energy(x) - limp.elastic(0.0).energy(x)

        assert bending(at, after) == pytest.approx(bending(at, None) / 16.0, rel=0.15)                   # (1 / 4)^2
        assert bending(rolled(x, 0.6), after) < 0.02 * bending(at, None)


def test_the_flow_has_the_rate_of_its_time_and_hardens():
    with using("numpy"):
        whole, x = system(core.Plasticity(stretch_yield=0.0))
        slow, _ = system(core.Plasticity(stretch_yield=0.0, time=0.5))
        hard, _ = system(core.Plasticity(stretch_yield=0.0, hardening=1.0))
        at = x * [1.1, 1, 1]
        one = flowed(slow, at, 0.5)
        assert one[0] == pytest.approx(1.0 + 0.1 * (1.0 - np.exp(-1.0)))
        assert flowed(whole, at)[0] == pytest.approx(1.1)
        first = flowed(hard, at)
        assert flowed(hard, x * [1.2, 1, 1], plastic=first)[0] < flowed(whole, x * [1.2, 1, 1])[0] - 0.05


def test_rotation_and_compression_make_no_flow():
    rng = np.random.default_rng(0)
    with using("numpy"):
        of, x = system(core.Plasticity(stretch_yield=0.01, bend_yield=0.1))
        start = of.initial_state().plastic
        assert np.allclose(flowed(of, x @ random_rotation(rng).T), start, rtol=0, atol=1e-12)
        assert np.allclose(flowed(of, 0.8 * x), start, rtol=0, atol=1e-12)


def test_the_force_is_the_gradient_of_the_energy_and_flow_takes_energy():
    rng = np.random.default_rng(1)
    with using("numpy"):
        of, x = system(core.Plasticity(stretch_yield=0.02, bend_yield=0.5))
        x = rolled(1.1 * x, 3.0) + 0.01 * rng.normal(size=x.shape)
        plastic, before = of.initial_state().plastic, np.inf
        for _ in range(4):
            elastic, d = of.elastic(0.0, plastic), rng.normal(size=x.shape)
            slope = (elastic.energy(x + 1e-6 * d) - elastic.energy(x - 1e-6 * d)) / 2e-6
            assert slope == pytest.approx(-float(np.sum(elastic.force(x) * d)), rel=1e-5)
            now = elastic.energy(x)
            assert now <= before * (1.0 + 1e-9)
            before, plastic = now, flowed(of, x, plastic=plastic)


def pulled_scene(plasticity, **more):
    positions, triangles = grid(8, 4, (0.8, 0.4))

    def path(end):
        return lambda t: end + [0.3 * min(t, 0.25, max(0.5 - t, 0.0)) * 4.0 / 1.0, 0.0, 0.0]

    pins = {v: None if positions[v, 0] == 0.0 else path(positions[v])
            for v in range(len(positions)) if positions[v, 0] in (0.0, 0.8)}
    cloth = core.Cloth(core.ClothMesh(positions, triangles), FABRIC, pins=pins, plasticity=plasticity, **more)
    return core.Scene([cloth], gravity=(0, 0, 0))


def test_a_strip_that_was_pulled_is_longer_and_both_backends_agree():
    pytest.importorskip("numba")
    found = []
    for backend in ("numpy", "numba"):
        *_, last = core.simulate(pulled_scene(core.Plasticity(stretch_yield=0.02)),
                                 core.Solver(steps_per_frame=1, backend=backend), range(1, 15))
        plastic = last.checkpoint().state.plastic[:4 * 64].reshape(-1, 4)
        assert plastic[:, 0].mean() > 1.2                                # pulled by 0.3 / 0.8
        assert last.certificate.stretch_max < 1.001                      # and pushed together by the pins since then
        found.append(plastic)
    assert np.allclose(*found, atol=1e-5)


def test_a_stopped_simulation_goes_on_with_the_same_bytes(tmp_path):
    scene = pulled_scene(core.Plasticity(stretch_yield=0.02, bend_yield=1.0, time=0.1))
    whole = list(core.simulate(scene, core.Solver(), range(1, 12)))
    whole[5].checkpoint().save(tmp_path / "c")
    rest = list(core.simulate(scene, core.Solver(), range(7, 12), core.Checkpoint.load(tmp_path / "c")))
    assert rest[-1].positions[0].tobytes() == whole[-1].positions[0].tobytes()


def test_plasticity_may_begin_and_end_at_a_checkpoint():
    plain, plastic = pulled_scene(None), pulled_scene(core.Plasticity(stretch_yield=0.02))
    for first, second in ((plain, plastic), (plastic, plain)):
        start = list(core.simulate(first, core.Solver(), range(1, 4)))[-1].checkpoint()
        assert len(list(core.simulate(second, core.Solver(), range(4, 6), start))) == 2


def test_refusals_name_the_cloth_and_the_way_out():
    with pytest.raises(core.ClothError, match="cloth: its stretch or folds shall stay, but its model 'mass_spring'"):
        system(core.Plasticity(0.1), "mass_spring")
    with pytest.raises(core.ClothError, match="hardening of the plasticity is -1"):
        core.Plasticity(0.1, hardening=-1)
    with pytest.raises(core.ClothError, match="plasticity is 0.1, it must be a Plasticity"):
        system(0.1)


@pytest.mark.parametrize("fabric", [FABRIC, core.KeyedMaterial(FABRIC, {
    "stretch_warp": lambda t: 500.0 + 100.0 * t, "bend_warp": lambda t: 1e-3 + 1e-3 * t})])
def test_painted_moving_and_keyed_rest_shapes_flow_too(fabric):
    """A rest shape that shrinks to 0.8 and grows by 1.1 has no elastic strain in its own shape, and nothing flows."""
    x = grid(6, 4, (1.2, 0.8))[0]
    with using("numpy"):
        of, _ = system(core.Plasticity(0.01, 0.5), fabric=fabric, rest_scale=0.8, sewing_time=1.0,
                       rest_motion=lambda t: x * (1.0 + 0.1 * min(t, 1.0)))
        start = replace(of.initial_state(), time=2.0, x=0.88 * x)
        np.testing.assert_allclose(of.flowed(start, 0.1), start.plastic, atol=1e-9)
        after = of.flowed(replace(start, x=0.88 * x * [1.21, 1, 1]), 0.1)
        assert after[0] == pytest.approx(1.2, rel=1e-6)
        assert np.abs(of.elastic(2.0, after).force(0.88 * x * [1.2, 1, 1])).max() < 0.02


def test_a_yield_that_changes_is_that_of_the_step_s_end():
    with using("numpy"):
        of, x = system(core.Plasticity(stretch_yield=lambda t: 0.2 * t))
        at = replace(of.initial_state(), x=x * [1.1, 1, 1])
        assert of.flowed(replace(at, time=1.0), 0.1)[0] == 1.0
        assert of.flowed(replace(at, time=0.25), 0.1)[0] == pytest.approx(1.05)
        falling, _ = system(core.Plasticity(stretch_yield=lambda t: 0.2 - t))
        with pytest.raises(core.ClothError, match=r"stretch_yield of the plasticity is -0.8 at 1.0000 s"):
            falling.flowed(replace(at, time=1.0), 0.1)
