# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs through the inside of a shell."""

import math

import numpy as np
import pytest

import core
from core.kernels.backend import using
from core.model.particle_system import ParticleSystem
from core.model.surface_rays import first_hits
from tests.core.shapes import ball, block, random_rotation

FABRIC = core.Material(areal_density=0.2, stretch=100.0, shear=10.0)


def system(springs, shape=None, **options):
    positions, triangles = shape or ball(0.5, 2)
    cloth = core.Cloth(core.ClothMesh(positions, triangles), FABRIC, internal_springs=springs, **options)
    return ParticleSystem(core.Scene([cloth], gravity=(0, 0, 0))), cloth.mesh


def springs_of(of):
    return of._forces.final[-1]


def slab(thickness=0.1, counts=(6, 5, 1)):
    positions, faces = block((1.0, 0.8, thickness), counts)
    return positions, np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])


def test_rays_find_the_first_triangle_as_a_search_of_all_does():
    rng = np.random.default_rng(0)
    positions, triangles = ball(1.0, 2)
    positions = positions * (1.0 + 0.2 * rng.random((len(positions), 1)))
    d = rng.normal(size=positions.shape)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    hits = first_hits(positions, triangles, np.arange(len(positions)), d, 5.0)
    for v in rng.choice(len(positions), 60, replace=False):
        best, at = np.inf, -1
        for t, corners in enumerate(triangles):
            if v in corners:
                continue
            a, b, c = positions[corners]
            solved = np.linalg.solve(np.stack([b - a, c - a, -d[v]], axis=1), positions[v] - a)
            if solved[0] >= 0 and solved[1] >= 0 and solved[0] + solved[1] <= 1 and 0 < solved[2] < best:
                best, at = solved[2], t
        assert (at, hits.triangle[v]) == (-1, -1) or best == pytest.approx(hits.distance[v], rel=1e-9)
        if at >= 0:
            where = hits.weights[v] @ positions[triangles[hits.triangle[v]]]
            assert np.allclose(where, positions[v] + best * d[v], atol=1e-9)


def test_springs_of_a_ball_go_through_its_centre():
    of, mesh = system(core.InternalSprings(1e3))
    force = springs_of(of)
    assert len(force.stencil.vertices) == len(mesh.positions)
    assert force.parameters[1] == pytest.approx(1.0, rel=0.03)                                 # the diameter
    assert np.allclose(force.stencil.weights.sum(axis=1), 0.0)


@pytest.mark.parametrize("thickness", [0.05, 0.2])
def test_a_slab_resists_as_its_filling(thickness):
    """k of the whole slab is E A / L, on any mesh."""
    modulus = 2e3
    for counts in ((6, 5, 1), (13, 9, 1)):
        with using("numpy"):
            of, _ = system(core.InternalSprings(modulus, max_diversion=0.0, max_length=1.5 * thickness),
                           slab(thickness, counts))
            x = of.nodes.rest * [1.0, 1.0, 1.01]
            energy = springs_of(of).energy(x)
        inner = (1.0 - 2.0 / counts[0]) * (0.8 - 1.6 / counts[1])        # normals at the rims are oblique
        least, most = (0.5 * modulus * area / thickness * (0.01 * thickness) ** 2 for area in (inner, 0.8))
        assert least < energy < 1.1 * most


def test_tension_and_compression_differ_and_a_painted_factor_scales_both():
    with using("numpy"):
        of, mesh = system(core.InternalSprings(1e3, 1e2))
        doubled, _ = system(core.InternalSprings(1e3, 1e2, scale=np.full(len(mesh.positions), 2.0)))
        long, short = (springs_of(of).energy(s * of.nodes.rest) for s in (1.01, 0.99))
        assert long == pytest.approx(10.0 * short, rel=1e-6)
        assert springs_of(doubled).energy(1.01 * of.nodes.rest) == pytest.approx(2.0 * long, rel=1e-9)


def test_length_and_direction_limit_the_springs():
    of, mesh = system(core.InternalSprings(1e3, max_length=0.12), slab(0.1))
    assert 0 < len(springs_of(of).stencil.vertices) <= len(mesh.positions)
    assert springs_of(of).parameters[1].max() <= 0.12 + 1e-9
    with pytest.raises(core.ClothError, match="cloth: its mesh has no opposite side"):
        system(core.InternalSprings(1e3, max_length=0.05), slab(0.1))
    positions, triangles = ball(0.5, 2)
    with pytest.raises(core.ClothError, match="turn its normals outwards"):
        system(core.InternalSprings(1e3), (positions, triangles[:, ::-1]))
    inside, outside = ball(0.5, 1), ball(1.0, 2)                             # two shells, both with normals outwards
    both = np.concatenate([outside[0], inside[0]]), np.concatenate([outside[1], inside[1] + len(outside[0])])
    of, _ = system(core.InternalSprings(1e3, check_normals=False), both)
    assert springs_of(of).parameters[1].min() < 0.6
    of, _ = system(core.InternalSprings(1e3, max_diversion=0.0), both)
    assert springs_of(of).parameters[1].min() > 0.7   # not to the inner shell


def test_rotation_makes_no_force_and_momentum_is_kept():
    rng = np.random.default_rng(1)
    with using("numpy"):
        of, _ = system(core.InternalSprings(1e3, damping=0.01), slab())
        force, x = springs_of(of), of.nodes.rest
        assert np.abs(force.force(x @ random_rotation(rng).T, 0.0 * x)).max() < 1e-9
        x, v = x + 0.01 * rng.normal(size=x.shape), rng.normal(size=x.shape)
        f = force.force(x, v)
        assert np.abs(f.sum(axis=0)).max() < 1e-9 * np.abs(f).max()


def test_a_ball_keeps_its_shape_by_its_filling_and_both_backends_agree():
    positions, triangles = ball(0.3, 2)
    floor = core.Collider([[-2, -2, -0.32], [2, -2, -0.32], [2, 2, -0.32], [-2, 2, -0.32]], [[0, 1, 2], [0, 2, 3]])
    heights = {}
    for name, springs in (("hollow", None), ("filled", core.InternalSprings(2e4, damping=0.02))):
        cloth = core.Cloth(core.ClothMesh(positions, triangles), FABRIC, internal_springs=springs)
        *_, last = core.simulate(core.Scene([cloth], [floor]), core.Solver(steps_per_frame=1), range(1, 25))
        heights[name] = np.ptp(last.positions[0][:, 2])
    assert heights["filled"] > 0.52 > heights["hollow"]


@pytest.mark.parametrize(("name", "value"), [("tension", -1.0), ("max_diversion", 2.0), ("max_length", math.nan),
                                             ("compression", "x"), ("damping", None)])
def test_values_out_of_range_are_refused(name, value):
    with pytest.raises(core.ClothError, match=f"{name} of the internal springs is"):
        core.InternalSprings(**{"tension": 1e3, name: value})
    with pytest.raises(core.ClothError, match="scale of the internal springs is -1 at vertex 0"):
        system(core.InternalSprings(1e3, scale=-1.0))


@pytest.mark.parametrize("keys", [{"tension": lambda t: 1e3 * t}, {"tension": 1e3, "compression": lambda t: 500.0 + t},
                                  {"tension": lambda t: 1e3 * (1.0 + t), "compression": 10.0}])
def test_moduli_may_change_over_time(keys):
    with using("numpy"):
        ours, _ = system(core.InternalSprings(**keys))
        for t in (0.0, 0.7):
            now = {name: value(t) if callable(value) else value for name, value in keys.items()}
            wanted, _ = system(core.InternalSprings(**now))
            for s in (0.95, 1.05):
                x = s * ours.nodes.rest
                assert ours.elastic(t).force(x) == pytest.approx(wanted.elastic(0.0).force(x), abs=1e-9)
