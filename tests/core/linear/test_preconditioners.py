# SPDX-License-Identifier: GPL-3.0-or-later
"""What every preconditioner must be, on real systems, and what the constant matrix saves."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import core
from core.linear.modified_pcg import modified_pcg
from core.linear.preconditioners.block_jacobi import BlockJacobi
from core.linear.preconditioners.constant_matrix import FACTORS_KEPT, ConstantMatrix, ScalarElements
from core.linear.preconditioners.neighbour_cholesky import NeighbourCholesky
from core.model.particle_system import ParticleSystem
from core.model.projective_matrix import constant_elements
from core.stencils.springs.spring import Spring, edge_stencil
from core.stencils.stencil import ElementForce
from tests.cases import cases
from tests.core.shapes import grid

pytestmark = pytest.mark.usefixtures("backend")
ROOT = Path(__file__).resolve().parents[3]
COTTON = core.Material(areal_density=0.15, stretch=5e3, shear=1e3, bend=1e-5, damping=0.002)
H = 1 / 48


class Problem:
    """A cloth in motion, and the linear system of its next step."""

    def __init__(self, mesh, pins, material=COTTON, seed=1, h=H):
        rng = np.random.default_rng(seed)
        self.h = h
        self.system = ParticleSystem(core.Scene([core.Cloth(mesh, material, pins=dict.fromkeys(pins))]))
        state = self.system.initial_state()
        self.rest = state.x
        size = np.ptp(self.rest, axis=0).max()
        wave = 0.05 * size * np.sin(7.0 / size * self.rest[:, [1, 2, 0]])            # folds, stretch and slack
        self.state = replace(state, x=self.rest + wave, v=rng.normal(size=wave.shape))
        elastic = self.system.elastic(h)
        rate = self.system.rate_force(self.state.x, self.state.v, h)
        self.A = elastic.stiffness(self.state.x, h * h, rate=rate, rate_factor=h)
        self.A.add_diagonal(self.system.mass)
        self.b = h * elastic.force(self.state.x)
        self.filter = self.system.pins(self.state, h)
        self.filter.z[:] = 0.0

    def constant(self):
        return ConstantMatrix(constant_elements(self.system._forces.final, self.rest, bounding=False), self.rest)

    def preconditioner(self, kind, filter_=None, single=True):
        filter_ = filter_ or self.filter
        if kind == "block Jacobi":
            return BlockJacobi(self.A, filter_)
        if kind == "direct":
            direct = NeighbourCholesky(self.A.pattern, self.system.edges, self.rest)
            return direct.at(self.A, filter_, single=single)
        return self.constant().at(self.h, self.system.mass, filter_.rows, self.A, filter_=filter_, single=single)

    def iterations(self, kind, tolerance=1e-3, filter_=None):
        """Until the error is `tolerance` of the solution in the norm of A."""
        filter_ = filter_ or self.filter
        P = self.preconditioner(kind, filter_, single=False)

        def solve(limit, tolerance):
            return modified_pcg(self.A.multiply, self.b, precondition=P, project=filter_.project, tolerance=tolerance,
                                max_iterations=limit)
        exact = solve(3000, 1e-8)
        assert exact.converged
        size = np.vdot(exact.solution, self.A.multiply(exact.solution))
        low, high = 0, exact.iterations
        while low < high:
            middle = (low + high) // 2
            error = solve(middle, 1e-12).solution - exact.solution
            if np.vdot(error, self.A.multiply(error)) <= tolerance ** 2 * size:
                high = middle
            else:
                low = middle + 1
        return low


def sheet(cells=12, size=1.0):
    return core.ClothMesh(*grid(cells, cells, size=(size, size)))


def corners(cells):
    return [0, cells]


def rope(n=40):
    x = np.linspace(0.0, 1.0, n)
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return core.ClothMesh(np.column_stack([x, 0 * x, 0 * x]), edges=edges)


def delaunay():
    from scipy.spatial import Delaunay
    xy = np.random.default_rng(3).random((120, 2))
    return core.ClothMesh(np.column_stack([xy, np.zeros(len(xy))]), Delaunay(xy).simplices)


def pieces():
    (x, t), (y, u) = grid(5, 5), grid(3, 8)
    return core.ClothMesh(np.concatenate([x, y + [0.0, 0.0, 0.3]]), np.concatenate([t, u + len(x)]))


def three_pages():
    x, t = grid(4, 4)
    spine = np.flatnonzero(x[:, 0] == 0.0)
    positions, triangles = [x], [t]
    for angle in (1.0, 2.0):
        turned = x @ np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
        free = np.setdiff1d(np.arange(len(x)), spine)
        number = np.arange(len(x))
        number[free] = sum(len(p) for p in positions) + np.arange(len(free))
        positions.append(turned[free])
        triangles.append(number[t])
    return core.ClothMesh(np.concatenate(positions), np.concatenate(triangles))


MESHES = [sheet, rope, delaunay, pieces, three_pages]
meshes = cases("mesh", MESHES, ids=lambda m: m.__name__)
kinds = cases("kind", ["block Jacobi", "constant matrix", "direct"])


@kinds
@meshes
@cases("pins", [[], [0], [0, 5]])
def test_a_preconditioner_is_symmetric_and_positive_definite(kind, mesh, pins):
    problem = Problem(mesh(), pins)
    P, n = problem.preconditioner(kind), len(problem.b)
    inverse = np.column_stack([P(e.reshape(n, 3)).ravel() for e in np.eye(3 * n)])
    assert np.abs(inverse - inverse.T).max() < 1e-5 * np.abs(inverse).max()
    assert np.linalg.eigvalsh(0.5 * (inverse + inverse.T)).min() > 0.0


@kinds
@meshes
def test_the_solve_converges_to_the_same_answer(kind, mesh):
    problem = Problem(mesh(), [0])
    found = modified_pcg(problem.A.multiply, problem.b, precondition=problem.preconditioner(kind, single=False),
                         project=problem.filter.project, tolerance=1e-10)
    assert found.converged
    residual = problem.filter.project(problem.b - problem.A.multiply(found.solution))
    assert np.abs(residual).max() < 1e-6 * np.abs(problem.b).max()


@cases("scale", [1e-3, 1.0, 1e3])
def test_cloth_in_millimetres_or_kilometres_takes_as_many_iterations(scale):
    """Lengths times s, times times sqrt(s): with k per s and B per s^3 the same sheet."""
    material = core.Material(areal_density=0.15, stretch=5e3 * scale, shear=1e3 * scale, bend=1e-5 * scale ** 3)
    counts = [Problem(sheet(12, size), corners(12), fabric, h=h).iterations("constant matrix")
              for size, fabric, h in ((scale, material, H * scale ** 0.5), (1.0, replace(COTTON, damping=0.0), H))]
    assert abs(counts[0] - counts[1]) <= 2


def test_the_constant_matrix_is_the_sum_over_the_elements():
    """P^-1 without its Jacobi part, against a dense matrix written out from the definition."""
    x, t = grid(6, 6)
    mesh = core.ClothMesh(x, t)
    material = core.Material(areal_density=0.15, stretch=(5e3, 3e3), shear=700.0, damping=0.01)
    problem = Problem(mesh, [], material)
    n, mass = len(x), problem.system.mass
    C = np.diag(mass)
    for tri, area, uv in zip(mesh.triangles, mesh.areas, mesh.uv, strict=True):
        d = np.linalg.inv(np.column_stack([uv[1] - uv[0], uv[2] - uv[0]]))             # rows: gradients of corners 1, 2
        gradient = np.vstack([-d.sum(axis=0), d])                                      # (corner, u or v)
        local = (5e3 + 700.0) * np.outer(gradient[:, 0], gradient[:, 0])
        local += (3e3 + 700.0) * np.outer(gradient[:, 1], gradient[:, 1])
        C[np.ix_(tri, tri)] += (H * H + H * 0.01) * area * local
    r = np.random.default_rng(0).normal(size=(n, 3))
    both, jacobi = problem.constant().at(H, mass, np.zeros(0, int), problem.A), BlockJacobi(problem.A)
    wanted = np.linalg.solve(C, r)
    np.testing.assert_allclose(both(r) - jacobi(r), wanted, atol=1e-5 * np.abs(wanted).max())


def test_a_spring_weighs_its_stiffness():
    edges = np.array([[0, 1], [1, 2]])
    force = ElementForce(edge_stencil(edges), Spring(), (np.array([3.0, 5.0]), np.ones(2)))
    family, = constant_elements([force], np.array([[0.0, 0, 0], [1.0, 0, 0], [1.0, 1.0, 0]]), bounding=False)
    np.testing.assert_allclose(family.stiffness, [[[3, -3], [-3, 3]], [[5, -5], [-5, 5]]])


def test_single_precision_costs_no_iteration():
    problem = Problem(sheet(32), corners(32))

    def count(single):
        P = problem.preconditioner("constant matrix", single=single)
        return modified_pcg(problem.A.multiply, problem.b, precondition=P, project=problem.filter.project,
                            tolerance=1e-4).iterations
    assert abs(count(True) - count(False)) <= 1


def test_held_vertices_take_no_part():
    """C^-1 on the others is the inverse of what is left without the held rows and columns."""
    edges = np.column_stack([np.arange(9), np.arange(1, 10)])
    K = np.tile(2.0 * np.array([[1.0, -1.0], [-1.0, 1.0]]), (9, 1, 1))
    constant = ConstantMatrix([ScalarElements(edges, K, 0 * K)], np.arange(30.0).reshape(10, 3))
    C = np.diag(np.full(10, 0.5))
    for i, j in edges:
        C[np.ix_([i, j], [i, j])] += H * H * K[0]
    held, free = np.array([0, 4]), np.array([1, 2, 3, 5, 6, 7, 8, 9])
    problem = Problem(rope(10), [])
    r = np.random.default_rng(0).normal(size=(10, 3))
    result = constant.at(H, np.full(10, 0.5), held, problem.A)(r) - BlockJacobi(problem.A)(r)
    np.testing.assert_allclose(result[held], 0.0, atol=1e-9 * np.abs(BlockJacobi(problem.A)(r)).max())
    np.testing.assert_allclose(result[free], np.linalg.solve(C[np.ix_(free, free)], r[free]), rtol=1e-4, atol=1e-6)


def test_the_constant_matrix_saves_most_iterations_of_jacobi():
    problem = Problem(sheet(32), corners(32))
    assert problem.iterations("block Jacobi") > 3.5 * problem.iterations("constant matrix")


def test_with_contacts_in_the_filter_it_still_saves_most_of_the_iterations():
    """A patch of the sheet lies on a ball: a direction each of the patch's vertices is taken."""
    problem = Problem(sheet(24), corners(24))
    contacts = problem.filter.copy()
    away = problem.rest[:, :2] - 0.5
    touching = np.flatnonzero(np.linalg.norm(away, axis=1) < 0.25)
    normals = np.column_stack([away[touching], np.full(len(touching), 0.5)])
    contacts.constrain(touching, normals / np.linalg.norm(normals, axis=1)[:, None], np.zeros(len(touching)))
    jacobi, constant = (problem.iterations(kind, filter_=contacts) for kind in ("block Jacobi", "constant matrix"))
    assert jacobi > 2.0 * constant
    assert problem.iterations("direct", filter_=contacts) <= 3


def on_a_ball(problem):
    """A filter with contacts on random sides of many vertices."""
    rng = np.random.default_rng(2)
    contacts = problem.filter.copy()
    some = np.flatnonzero((rng.random(len(problem.b)) < 0.3) & (problem.filter.degrees_of_freedom(
        np.arange(len(problem.b))) == 3))
    normals = rng.normal(size=(len(some), 3))
    contacts.constrain(some, normals / np.linalg.norm(normals, axis=1)[:, None], np.zeros(len(some)))
    return contacts


def test_jacobi_of_the_directions_left_free_takes_fewer_iterations():
    problem = Problem(sheet(24), corners(24))
    contacts = on_a_ball(problem)

    def count(filter_):
        return modified_pcg(problem.A.multiply, problem.b, precondition=BlockJacobi(problem.A, filter_),
                            project=contacts.project, tolerance=1e-3).iterations
    assert count(contacts) < 0.8 * count(None)


@cases("h", [1 / 24, 1 / 240])
@cases("mesh", MESHES, ids=lambda m: m.__name__)
def test_the_direct_one_takes_a_few_iterations_whatever_the_cloth(mesh, h):
    for stretch in (50.0, 5e4):
        fabric = core.Material(areal_density=0.15, stretch=stretch, shear=0.2 * stretch, bend=1e-4, damping=0.002)
        problem = Problem(mesh(), [0], fabric, h=h)
        assert problem.iterations("direct", filter_=on_a_ball(problem)) <= 12


def test_without_bending_the_direct_one_is_the_inverse_of_the_filtered_matrix():
    problem = Problem(sheet(10), corners(10), core.Material(areal_density=0.15, stretch=5e3, shear=1e3))
    contacts = on_a_ball(problem)
    P, rng = problem.preconditioner("direct", contacts, single=False), np.random.default_rng(0)
    u = contacts.project(rng.normal(size=problem.b.shape))
    np.testing.assert_allclose(contacts.project(P(contacts.project(problem.A.multiply(u)))), u, atol=1e-7)


def test_the_direct_one_refuses_an_indefinite_matrix():
    problem = Problem(sheet(8), [])
    problem.A.add_diagonal(np.full(81, -1.0))
    with pytest.raises(ArithmeticError):
        problem.preconditioner("direct")


def test_a_factor_is_made_once_per_step_size_and_pins():
    problem = Problem(sheet(8), [0])
    constant, mass, rows = problem.constant(), problem.system.mass, problem.filter.rows
    factor = constant.at(H, mass, rows, problem.A)._constant
    for h in (H / 2, H / 4, H, H / 8, H):
        constant.at(h, mass, rows, problem.A)
    assert constant.at(H, mass, rows, problem.A)._constant is factor
    assert constant.at(H, mass, np.array([3]), problem.A)._constant is not factor
    assert constant.at(H, 2 * mass, rows, problem.A)._constant is not factor
    for k in range(FACTORS_KEPT):
        constant.at(H / (k + 10), mass, rows, problem.A)
    assert constant.at(H, mass, rows, problem.A)._constant is not factor


SCRIPT = """
import hashlib, sys, numpy as np
from core.kernels import using
from core.linear.block_cholesky import BlockCholesky
from core.linear.nested_dissection import NestedDissection
from core.description.topology import Topology
from tests.core.shapes import grid
if sys.argv[1] == "numba":
    from core.kernels.numba.thread_pool import thread_limit
    thread_limit.set(int(sys.argv[2]))
x, t = grid(90, 90)
edges = Topology(t).edges
rng = np.random.default_rng(0)
for w in (1, 3):
    k = 1e4 * rng.random(len(edges))[:, None, None] * np.eye(w)
    diagonal = np.tile(0.1 * np.eye(w), (len(x), 1, 1))
    np.add.at(diagonal, edges[:, 0], k)
    np.add.at(diagonal, edges[:, 1], k)
    with using(sys.argv[1]):
        factor = BlockCholesky(NestedDissection(edges, x, blocks=w == 3), diagonal, -k, quick=w == 3)
    print(hashlib.sha256(factor.solve(rng.normal(size=(len(x), 3))).tobytes()).hexdigest())
if sys.argv[1] == "numpy":
    product = rng.normal(size=(2, 300, 300)).astype(np.float32)
    print(hashlib.sha256((product @ product).tobytes()).hexdigest())
"""


def test_one_thread_or_several_give_the_same_bytes(backend):
    digests: list[set[str]] = [set(), set(), set()]
    for threads in ("1", "2", "3", "8"):
        environment = os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        run = subprocess.run([sys.executable, "-c", SCRIPT, backend, threads], cwd=ROOT, env=environment,
                             capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        for found, digest in zip(digests, run.stdout.split(), strict=backend == "numpy"):
            found.add(digest)
    if len(digests[2]) > 1:
        pytest.skip("NumPy's library itself adds up a product in another order on other threads")
    assert len(digests[0]) == len(digests[1]) == 1
