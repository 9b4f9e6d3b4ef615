# SPDX-License-Identifier: GPL-3.0-or-later
"""Products without a matrix: of 000's springs along threads, and of any elements, against dense Jacobians."""

import numpy as np
import pytest

import core
from core.linear.packed_matrix import packed
from core.linear.spring_product import SpringProduct, layers_of, spring_form
from core.model.particle_system import ParticleSystem
from core.model.velocity_forces import RateForce
from core.stencils.models.thread_cloth import Threads
from core.stencils.springs.spring import Spring, edge_stencil
from tests.cases import cases
from tests.core.shapes import ball, grid, quads


def chain(n, rng):
    """A rope of n springs, stretched at random: pairs, x (V, 3), k and rest lengths (E,)."""
    x = np.cumsum(rng.uniform(0.5, 1.5, size=(n + 1, 3)), axis=0)
    pairs = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    return pairs, x, rng.uniform(1.0, 9.0, size=n), rng.uniform(0.5, 2.0, size=n)


def dense(multiply, count):
    """The matrix (3 V, 3 V) of a linear map."""
    return np.stack([multiply(e.reshape(count, 3)).ravel() for e in np.eye(3 * count)], axis=1)


def product_of(part, count):
    def multiply(v):
        total = np.zeros((count, 3))
        part.add_product(v, total)
        return total
    return multiply


def test_the_product_of_a_rope_is_its_dense_jacobian(backend):
    rng = np.random.default_rng(0)
    pairs, x, k, rest = chain(7, rng)

    def force(y):
        d = y[1:] - y[:-1]
        length = np.sqrt((d * d).sum(axis=1))
        g = (k * (length - rest) / length)[:, None] * d
        return np.concatenate([g, 0.0 * g[:1]]) - np.concatenate([0.0 * g[:1], g])

    J = np.stack([np.imag(force(x + 1e-20j * e.reshape(-1, 3))).ravel() / 1e-20 for e in np.eye(x.size)], axis=1)
    d = x[1:] - x[:-1]
    length = np.linalg.norm(d, axis=1)
    part = SpringProduct(pairs, k, length, k * (rest - length) / length, d, layers_of(pairs, len(x)))
    np.testing.assert_allclose(dense(product_of(part, len(x)), len(x)), -J, atol=1e-13 * np.abs(J).max())
    blocks = np.zeros((len(x), 3, 3))
    part.add_diagonal(blocks)
    np.testing.assert_allclose(blocks, [-J[3 * i:3 * i + 3, 3 * i:3 * i + 3] for i in range(len(x))], atol=1e-13 * 9.0)


def test_along_a_spring_the_stiffness_is_k_which_the_slide_has_at_rest_only():
    d, k, rest = np.array([[2.0, 0.0, 0.0]]), np.array([5.0]), np.array([1.0])
    pair, alpha = np.array([[0, 1]]), k * (rest - 2.0) / 2.0
    part = SpringProduct(pair, k, np.array([2.0]), alpha, d, [])
    blocks = np.zeros((2, 3, 3))
    part.add_diagonal(blocks)
    np.testing.assert_allclose(blocks[0], np.diag([5.0, 2.5, 2.5]))


def test_the_form_of_a_spring_is_found_in_its_blocks_and_nothing_else_is_taken_for_one():
    rng = np.random.default_rng(1)
    pairs, x, k, rest = chain(9, rng)
    d = x[1:] - x[:-1]
    H = np.array(Spring().tangent(edge_stencil(pairs).gather(x), (k, rest))[0][0]).reshape(9, -1).T
    found, length, alpha = spring_form(H, d)
    np.testing.assert_allclose(found, k, rtol=1e-12)
    np.testing.assert_allclose(alpha, k * (rest - length) / length, rtol=1e-11, atol=1e-12)
    assert spring_form(H, d[:, ::-1]) is None


# ---------------------------------------------------------------------- threads


def test_a_grid_is_woven_of_two_layers_each_a_permutation_of_its_vertices():
    x, _ = grid(6, 4)
    threads = Threads.of(core.ClothMesh(x, faces=quads(6, 4)))
    g = threads.grid
    pairs = np.concatenate([np.stack([g.T[:, :-1], g.T[:, 1:]], axis=-1).reshape(-1, 2),
                            np.stack([g[:, :-1], g[:, 1:]], axis=-1).reshape(-1, 2)])
    layers = layers_of(pairs, len(x))
    assert len(layers) == 2
    for layer in layers:
        assert sorted(layer.order) == list(range(len(x)))
    assert sum((layer.springs < 0).sum() for layer in layers) == (7 - 1) + (5 - 1)


NETS = {
    "square": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "branch": [(i, i + 1) for i in range(9)] + [(4, 10), (10, 11)],
    "loop": [(i, (i + 1) % 9) for i in range(9)],
}


@cases("pairs", NETS.values(), ids=NETS)
def test_every_spring_of_a_net_is_in_one_layer_and_no_vertex_is_twice_in_one(pairs):
    pairs = np.array(pairs)
    layers = layers_of(pairs, pairs.max() + 1)
    assert sorted(s for layer in layers for s in layer.springs if s >= 0) == list(range(len(pairs)))
    for layer in layers:
        assert len(set(layer.order)) == len(layer.order)
        for gap, s in enumerate(layer.springs):
            if s >= 0:
                assert list(layer.order[gap:gap + 2]) == list(pairs[s])


def test_single_springs_are_not_put_in_an_order_that_gains_nothing():
    assert layers_of(np.array([[0, 1], [2, 3], [4, 5]]), 6) is None


# ---------------------------------------------------------------------- whole models

FABRIC = core.Material(areal_density=0.2, stretch=(800.0, 600.0), shear=60.0, bend=(2e-5, 1e-5), damping=0.01,
                       air_drag=0.5, viscous_drag=0.2, friction=0.4)
SHEETS = ("baraff_witkin", "mass_spring", "immediate_buckling", "thread_cloth", "rope")


def mesh_of(model):
    if model == "rope":
        x = np.stack([np.linspace(0.0, 0.5, 13), 0.02 * np.sin(np.arange(13)), np.zeros(13)], axis=1)
        x = np.concatenate([x, x[6] + np.outer(np.arange(1, 6), (0.0, 0.04, 0.005))])
        edges = [(i, i + 1) for i in range(12)] + [(6, 13)] + [(i, i + 1) for i in range(13, 17)]
        return core.ClothMesh(x, edges=edges)
    x, _ = grid(6, 5, (0.6, 0.5))
    return core.ClothMesh(x, faces=quads(6, 5))


@cases("exact", [False, True], ids=["projected", "exact"])
@cases("model", SHEETS)
def test_the_implicit_matrix_does_what_the_assembled_one_does(model, exact, backend):
    scene = core.Scene([core.Cloth(mesh_of(model), FABRIC, model=model)], wind=(0.0, 0.0, 1.0))
    rng = np.random.default_rng(2)
    both = []
    x = scene.cloths[0].positions + 0.01 * rng.normal(size=scene.cloths[0].positions.shape)
    v, p = rng.normal(size=(2, *x.shape))
    for assembled in (True, False):
        system = ParticleSystem(scene, assembled=assembled)
        rate = system.rate_force(0.9 * x, v, 0.0)
        assert isinstance(rate, RateForce)
        A = system.elastic(0.0).stiffness(x, 1e-3, exact=exact, rate=rate, rate_factor=0.03)
        A.add_diagonal(system.mass)
        A.add_diagonal(np.einsum("vi,vj->vij", v, v))
        both.append((A.multiply(p), A.diagonal_blocks()))
    for found, wanted in zip(both[1], both[0], strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("model", SHEETS)
def test_both_matrices_give_the_same_frames_with_pins_contact_and_friction(model, backend):
    mesh = mesh_of(model)
    start = mesh.positions + [-0.2, -0.2, 0.17]
    last = []
    for matrix in ("assembled", "implicit"):
        cloth = core.Cloth(mesh, FABRIC, model=model, positions=start, pins={0: None})
        scene = core.Scene([cloth], [core.Collider(*ball(0.15, 2))], wind=(0.0, 1.0, 0.0))
        solver = core.Solver(matrix=matrix, backend=backend, tolerance=1e-10)
        *_, frame = core.simulate(scene, solver, range(5))
        assert frame.certificate.converged
        last.append(frame.positions[0])
    moved = np.abs(last[0] - start).max()
    assert moved > 0.05
    np.testing.assert_allclose(last[1], last[0], atol=1e-6 * moved)


def test_an_implicit_matrix_stores_no_block_beside_its_diagonal():
    cloth = core.Cloth(mesh_of("thread_cloth"), FABRIC, model="thread_cloth")
    system = ParticleSystem(core.Scene([cloth]), assembled=False)
    A = system.elastic(0.0).stiffness(system.initial_state().x, 1e-3)
    assert len(A.pattern.rows) == system.vertex_count
    assert len(A.pattern.scalar.rows) == 0
    x = system.initial_state().x                                     # and so nothing to pack
    np.testing.assert_array_equal(packed(A, system.mass, 1e-2)(x), A.multiply(x))


def test_another_name_for_the_matrix_is_refused():
    with pytest.raises(core.SolverError, match="matrix is 'sparse', it must be one of assembled, implicit"):
        core.Solver(matrix="sparse")
