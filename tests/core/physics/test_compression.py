# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics that resist compression less than tension, and damp stretch, compression, shear and bending apart."""

import numpy as np
import pytest

import core
from core.kernels.backend import using
from core.model.particle_system import ParticleSystem
from tests.core.shapes import grid, quads

CONSTANTS = {"areal_density": 0.2, "stretch": (600.0, 600.0), "shear": 60.0, "damping": 0.005}
MODELS = ["baraff_witkin", "mass_spring"]


def system(model, cells=4, **constants):
    fabric = core.Material(**{**CONSTANTS, **constants})
    positions, triangles = grid(cells, cells)
    mesh = core.ClothMesh(positions, **({"faces": quads(cells, cells)} if model == "mass_spring" else
                                        {"triangles": triangles}))
    return ParticleSystem(core.Scene([core.Cloth(mesh, fabric, model=model)], gravity=(0, 0, 0))), positions


@pytest.mark.parametrize("model", MODELS)
def test_tension_is_that_of_the_fabric_and_compression_has_its_own(model):
    with using("numpy"):
        ordinary, x = system(model)
        soft, _ = system(model, compression=(60.0, 60.0))
        none, _ = system(model, compression=0.0)
        long, short = 1.05 * x, 0.95 * x
        assert soft.elastic(0.0).energy(long) == pytest.approx(ordinary.elastic(0.0).energy(long), rel=1e-12)
        assert soft.elastic(0.0).energy(short) == pytest.approx(0.1 * ordinary.elastic(0.0).energy(short), rel=1e-6)
        assert none.elastic(0.0).energy(short) == 0.0


@pytest.mark.parametrize("model", MODELS)
def test_a_compression_that_is_the_stretch_changes_no_force(model):
    rng = np.random.default_rng(0)
    with using("numpy"):
        ordinary, x = system(model)
        same, _ = system(model, compression=CONSTANTS["stretch"])
        x = x + 0.05 * rng.normal(size=x.shape)
        v = rng.normal(size=x.shape)
        assert np.allclose(ordinary.force(x, v, 0.0), same.force(x, v, 0.0), rtol=1e-12, atol=1e-12)


def damping(model, motion, at=1.0, **constants):
    """Return the power (W) that the damping of a sheet takes from a motion x -> v (V, 3)."""
    with using("numpy"):
        of, x = system(model, bend=1e-3, **constants)
        rate = of.rate_force(at * x, motion(x), 0.0)
        return float(np.sum(motion(x) * rate.product(motion(x))))


def sheared(x):
    return np.column_stack([x[:, 1], x[:, 0], 0.0 * x[:, 0]])


def grown(x):
    return np.column_stack([x[:, 0], x[:, 1], 0.0 * x[:, 0]])


def curled(x):
    return np.column_stack([0.0 * x[:, 0], 0.0 * x[:, 0], (x[:, 0] - 0.5) ** 2])


@pytest.mark.parametrize(("name", "motion", "at"), [
    ("shear_damping", sheared, 1.0), ("compression_damping", grown, 0.99), ("bend_damping", curled, 1.0)])
@pytest.mark.parametrize("model", MODELS)
def test_each_damping_is_in_proportion_to_its_own_time(model, name, motion, at):
    if model == "mass_spring" and name == "bend_damping":
        pytest.skip("its bend springs do not resist the beginning of a bend")
    none, half, full = (damping(model, motion, at, **{name: tau}) for tau in (0.0, 0.5, 1.0))
    assert full > 1e-6
    assert half - none == pytest.approx(0.5 * (full - none), rel=1e-6)
    if model == "baraff_witkin":
        assert none == pytest.approx(0.0, abs=1e-12 + 1e-3 * full)
    assert damping(model, motion, at, **{name: 0.005}) == pytest.approx(damping(model, motion, at), rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("compression", [60.0, 0.0])
def test_cloth_that_hardly_resists_compression_hangs_at_one_step_a_frame(model, compression):
    of, _ = system(model, 12, compression=compression, bend=1e-5, air_drag=0.2)
    cloth = core.Cloth(of.scene.cloths[0].mesh, of.scene.cloths[0].material, model=model, pins={0: None, 12: None})
    frames = list(core.simulate(core.Scene([cloth]), core.Solver(steps_per_frame=1), range(1, 31)))
    assert sum(f.certificate.rejected for f in frames) <= 2
    assert max(f.certificate.stretch_max for f in frames) < 1.25


def test_a_model_that_does_not_distinguish_refuses_compression():
    with pytest.raises(core.ClothError, match="cloth: its fabric has a compression of its own.*'baraff_witkin'"):
        system("projective", compression=10.0)
    with pytest.raises(core.MaterialError, match="compression is -1, it must be a number 0 or more"):
        core.Material(**CONSTANTS, compression=-1)
    with pytest.raises(core.MaterialError, match="bend_damping is 'x'"):
        core.Material(**CONSTANTS, bend_damping="x")
