# SPDX-License-Identifier: GPL-3.0-or-later
"""Aggregation multigrid: symmetric, positive definite, the exact coarse solve, and no slower on finer meshes."""

import numpy as np
import pytest

import core
from core.description.topology import bodies
from core.kernels import using
from core.linear.aggregation import aggregates
from core.linear.galerkin import CoarsePattern
from core.linear.modified_pcg import modified_pcg
from core.linear.preconditioners.aggregation_multigrid import GROUP_VERTICES, AggregationMultigrid
from core.linear.preconditioners.block_jacobi import BlockJacobi
from tests.cases import cases
from tests.core.linear.test_preconditioners import Problem, delaunay, pieces, rope, sheet, three_pages
from tests.core.shapes import random_rotation

pytestmark = pytest.mark.usefixtures("backend")
MESHES = [sheet, rope, delaunay, pieces, three_pages]
meshes = cases("mesh", MESHES, ids=lambda m: m.__name__)
SOFT = core.Material(areal_density=0.3, stretch=250.0, shear=50.0, bend=1e-5)


def multigrid(problem, **options):
    return AggregationMultigrid(problem.A.pattern, problem.system.edges, problem.rest, **options)


def touched(problem, seed=5):
    """The pins and, at a third of the vertices, one direction taken."""
    rng = np.random.default_rng(seed)
    filter_ = problem.filter.copy()
    vertices = np.sort(rng.choice(len(problem.b), len(problem.b) // 3, replace=False))
    directions = rng.normal(size=(len(vertices), 3)) * [0.1, 0.1, 1.0]
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    filter_.constrain(vertices, directions, np.zeros(len(vertices)))
    return filter_


def dense(P, n):
    return np.column_stack([P(e.reshape(n, 3)).ravel() for e in np.eye(3 * n)])


# ------------------------------------------------------------------ groups

@meshes
def test_groups_are_connected_small_and_cover_every_vertex(mesh):
    mesh = mesh()
    group = aggregates(mesh.edges, mesh.positions, GROUP_VERTICES)
    sizes = np.bincount(group)
    assert group.shape == (len(mesh.positions),) and sizes.min() >= 1 and sizes.max() <= 3 * GROUP_VERTICES
    assert len(sizes) <= len(mesh.positions) / 3
    within = mesh.edges[group[mesh.edges[:, 0]] == group[mesh.edges[:, 1]]]
    assert bodies(within, len(group)).max() == group.max()


def test_two_sheets_that_lie_close_share_no_group():
    (x, t), n = (sheet(8).positions, sheet(8).triangles), len(sheet(8).positions)
    mesh = core.ClothMesh(np.concatenate([x, x + [0.0, 0.0, 1e-3]]), np.concatenate([t, t + n]))
    group = aggregates(mesh.edges, mesh.positions, GROUP_VERTICES)
    assert not set(group[:n]) & set(group[n:])


# ------------------------------------------------------------------ the coarse matrix

@meshes
@cases("contacts", [False, True])
def test_the_coarse_matrix_is_the_galerkin_product(mesh, contacts):
    problem = Problem(mesh(), [0])
    filter_ = touched(problem) if contacts else problem.filter
    n, group = len(problem.b), aggregates(problem.system.edges, problem.rest, GROUP_VERTICES)
    pattern = CoarsePattern(problem.A.pattern, group)
    diagonal, off = pattern.product(problem.A, filter_)

    A, S = dense(problem.A.multiply, n), dense(filter_.project, n)
    size = np.zeros(n)
    scalars, problem.A.scalar = problem.A.scalar, None
    size[filter_.rows] = np.trace(problem.A.diagonal_blocks()[filter_.rows], axis1=1, axis2=2) / 3.0
    problem.A.scalar = scalars
    A = S @ A @ S + np.repeat(size, 3)[:, None] * (np.eye(3 * n) - S)
    Q = np.kron(np.eye(pattern.count)[group], np.eye(3))
    wanted = (Q.T @ A @ Q).reshape(pattern.count, 3, pattern.count, 3).swapaxes(1, 2)
    found = np.zeros_like(wanted)
    found[np.arange(pattern.count), np.arange(pattern.count)] = diagonal
    found[pattern.edges[:, 0], pattern.edges[:, 1]] = off
    found[pattern.edges[:, 1], pattern.edges[:, 0]] = off.transpose(0, 2, 1)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())


# ------------------------------------------------------------------ the preconditioner

@meshes
@cases("pins", [[], [0, 5]])
@cases("contacts", [False, True])
def test_it_is_symmetric_and_positive_definite(mesh, pins, contacts):
    problem = Problem(mesh(), pins)
    filter_ = touched(problem) if contacts else problem.filter
    for single, rounding in ((True, 1e-5), (False, 1e-12)):
        inverse = dense(multigrid(problem).at(problem.A, filter_, single=single), len(problem.b))
        assert np.abs(inverse - inverse.T).max() < rounding * np.abs(inverse).max()
        assert np.linalg.eigvalsh(0.5 * (inverse + inverse.T)).min() > 0.0


def test_it_is_the_direct_solve_beside_jacobi_when_every_vertex_is_a_group():
    problem = Problem(sheet(6), [0])
    P = multigrid(problem, size=1).at(problem.A, problem.filter, single=False)
    J = BlockJacobi(problem.A, problem.filter)
    r = problem.filter.project(np.random.default_rng(2).normal(size=problem.b.shape))
    x = P(r) - problem.filter.project(J(r))
    x = problem.filter.project(x)
    np.testing.assert_allclose(problem.filter.project(problem.A.multiply(x)), r, atol=1e-9)


def test_a_cloth_in_a_single_group_is_moved_as_a_whole():
    problem = Problem(sheet(4), [])
    P = multigrid(problem, size=1000).at(problem.A, problem.filter, single=False)
    J = BlockJacobi(problem.A, problem.filter)
    r = np.ones_like(problem.b)
    moved = P(r) - J(r)
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape))
    total = problem.A.multiply(moved).sum(axis=0)
    np.testing.assert_allclose(total, r.sum(axis=0))


def test_a_cloth_held_everywhere_is_no_obstacle():
    problem = Problem(sheet(4), range(25))
    assert np.isfinite(multigrid(problem).at(problem.A, problem.filter)(problem.b)).all()


def test_where_the_mesh_lies_does_not_matter():
    problem = Problem(sheet(8), [0])
    turned = problem.rest @ random_rotation(np.random.default_rng(4)).T + [1.0, 2.0, 3.0]
    P = AggregationMultigrid(problem.A.pattern, problem.system.edges, turned)
    solve = modified_pcg(problem.A.multiply, problem.b, precondition=P.at(problem.A, problem.filter),
                         project=problem.filter.project, tolerance=1e-5)
    other = modified_pcg(problem.A.multiply, problem.b, precondition=multigrid(problem).at(problem.A, problem.filter),
                         project=problem.filter.project, tolerance=1e-5)
    assert solve.converged and solve.iterations <= 1.5 * other.iterations


def iterations(problem, P, filter_):
    result = modified_pcg(problem.A.multiply, problem.b, precondition=P, project=filter_.project, tolerance=1e-3)
    assert result.converged
    return result.iterations


@cases("material", [None, SOFT], ids=["cotton", "soft"])
@cases("contacts", [False, True])
def test_iterations_do_not_grow_with_the_mesh(material, contacts):
    options = {} if material is None else {"material": material}
    counts, jacobi = [], []
    for cells in (12, 24, 48):
        problem = Problem(sheet(cells), [0, cells], **options)
        filter_ = touched(problem) if contacts else problem.filter
        counts.append(iterations(problem, multigrid(problem).at(problem.A, filter_), filter_))
        jacobi.append(iterations(problem, BlockJacobi(problem.A, filter_), filter_))
    assert counts[2] <= 1.5 * counts[0]
    assert counts[2] < 0.7 * jacobi[2]


def test_the_coarse_factor_grows_little_faster_than_the_mesh():
    """O(n log n) numbers, because the groups are dissected by where they are."""
    sizes = []
    for cells in (24, 48):
        problem = Problem(sheet(cells), [0])
        sizes.append(multigrid(problem).at(problem.A, problem.filter).bytes)
    assert sizes[1] < 6.0 * sizes[0]                                        # of 4 times as many vertices


def test_two_runs_give_the_same_bytes():
    problem = Problem(sheet(12), [0])
    one, other = (multigrid(problem).at(problem.A, problem.filter)(problem.b) for _ in range(2))
    assert one.tobytes() == other.tobytes()


def test_both_backends_agree(backend):
    problem = Problem(sheet(12), [0])
    here = multigrid(problem).at(problem.A, touched(problem), single=False)(problem.b)
    with using("numpy"):
        there = multigrid(problem).at(problem.A, touched(problem), single=False)(problem.b)
    np.testing.assert_allclose(here, there, rtol=0.0, atol=1e-11 * np.abs(there).max())
