# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract of every law: forces from one energy, tangents from these forces, momentum, and damping without energy
gain.

A new law joins by one line in `laws.LAWS`. Derivatives are taken by complex step where the law is analytic, else by
fourth-order differences in extended precision, on all elements at once.
"""

import numpy as np
import pytest

from core.stencils.stencil import add_columns, dot_columns
from tests.cases import cases
from tests.core.shapes import random_rotation
from tests.core.stencils.laws import CELLS, LAWS, STATES, deformed, jittered_mesh, shear, stretch

each_law = cases("member", LAWS.values(), ids=LAWS)
each_state = cases("state", STATES)
each_cell = cases("cell", CELLS)


def columns_like(F, rng):
    """Return random directions in the space of F, with the magnitude of F."""
    size = max(float(np.abs(np.array(F)).max()), 1e-30)
    return tuple(tuple(size * rng.normal(size=a.shape) for a in column) for column in F)


def moved(F, factor, direction):
    return tuple(tuple(a + factor * d for a, d in zip(p, q, strict=True)) for p, q in zip(F, direction, strict=True))


def derivative(member, function, F, direction):
    """Return d/ds function(F + s direction) at s = 0, as an array."""
    if member.analytic:
        step = 1e-20
        return np.imag(np.array(function(moved(F, 1j * step, direction)))) / step
    F = tuple(tuple(a.astype(np.longdouble) for a in column) for column in F)
    step = np.longdouble(5e-6)
    near, far = (np.array(function(moved(F, k * step, direction))) - np.array(function(moved(F, -k * step, direction)))
                 for k in (1, 2))
    return np.array((8.0 * near - far) / (12.0 * step), dtype=np.float64)


def dense(tangent):
    """Return H (E, 3 C, 3 C) of a tangent H[c][d][i][j]."""
    H = np.array(tangent)                                           # (C, C, 3, 3, E)
    C, E = len(H), H.shape[-1]
    return H.transpose(4, 0, 2, 1, 3).reshape(E, 3 * C, 3 * C)


def product(tangent, d):
    """Return sum_d H_cd d_d (C, 3, E) of columns d."""
    return np.einsum("cdije,dje->cie", np.array(tangent), np.array(d))


def assert_close(found, wanted, tolerance, scale=None):
    scale = np.abs(wanted).max() if scale is None else scale
    assert np.abs(np.asarray(found) - np.asarray(wanted)).max() <= tolerance * scale


# ---------------------------------------------------------------------- energy, force, tangent


@each_cell
@each_state
@each_law
def test_stress_is_the_gradient_of_the_energy(member, state, cell):
    mesh = jittered_mesh(cell)
    stencil, p = member.build(mesh)
    rng = np.random.default_rng(1)
    F = stencil.gather(deformed(mesh, state))
    for _ in range(6):
        direction = columns_like(F, rng)
        slope = dot_columns(member.law.stress(F, p), direction)
        scale = np.abs(slope).max() + np.abs(member.law.energy(F, p)).max()
        assert_close(derivative(member, lambda G: member.law.energy(G, p), F, direction), slope, 1e-10, scale)


@each_cell
@each_state
@each_law
def test_exact_tangent_is_the_derivative_of_the_stress(member, state, cell):
    mesh = jittered_mesh(cell)
    stencil, p = member.build(mesh)
    rng = np.random.default_rng(2)
    F = stencil.gather(deformed(mesh, state))
    H = member.law.tangent(F, p)
    for _ in range(6):
        direction = columns_like(F, rng)
        change = product(H, direction)
        found = derivative(member, lambda G: member.law.stress(G, p), F, direction)
        largest = np.abs(change).max(axis=(0, 1)) + np.abs(np.array(member.law.stress(F, p))).max(axis=(0, 1))
        assert (np.abs(found - change) <= 1e-9 * np.maximum(largest, largest.max())).all()


@each_cell
@each_state
@each_law
def test_force_of_a_mesh_is_minus_the_gradient_of_its_energy(member, state, cell):
    mesh = jittered_mesh(cell)
    force = member.force(mesh)
    rng = np.random.default_rng(3)
    x = deformed(mesh, state)
    f = force.force(x, np.zeros_like(x))
    for _ in range(4):
        d = rng.normal(size=x.shape)
        spread = np.ptp(x, axis=0).max()
        best = np.inf
        for eps in (1e-4, 1e-5, 1e-6):
            step = eps * spread
            slope = (force.energy(x + step * d) - force.energy(x - step * d)) / (2.0 * step)
            best = min(best, abs(slope + np.vdot(f, d)))
        scale = np.linalg.norm(f) * np.linalg.norm(d) + force.energy(x) / spread
        assert best <= 1e-6 * scale


@each_cell
@each_state
@each_law
def test_both_tangents_are_symmetric(member, state, cell):
    mesh = jittered_mesh(cell)
    stencil, p = member.build(mesh)
    F = stencil.gather(deformed(mesh, state))
    for tangent in (member.law.tangent(F, p), member.law.projected_tangent(F, p)):
        H = dense(tangent)
        assert_close(H, H.transpose(0, 2, 1), 1e-13)


@each_cell
@each_state
@each_law
def test_projected_tangent_is_positive_semidefinite(member, state, cell):
    mesh = jittered_mesh(cell)
    stencil, p = member.build(mesh)
    H = dense(member.law.projected_tangent(stencil.gather(deformed(mesh, state)), p))
    eigenvalues = np.linalg.eigvalsh(H)
    assert (eigenvalues.min(axis=1) >= -1e-12 * eigenvalues.max()).all()
    assert eigenvalues.max() > 0.0 or member.may_go_slack or not member.stores


def clamped(H):
    """Return each matrix of H (E, n, n) with its negative eigenvalues set to zero."""
    values, vectors = np.linalg.eigh(H)
    return np.einsum("eij,ej,ekj->eik", vectors, np.maximum(values, 0.0), vectors)


@each_cell
@each_state
@cases("member", [m for m in LAWS.values() if m.clamps], ids=[n for n in LAWS if LAWS[n].clamps])
def test_projected_tangent_is_the_exact_one_with_clamped_eigenvalues(member, state, cell):
    mesh = jittered_mesh(cell)
    stencil, p = member.build(mesh)
    F = stencil.gather(deformed(mesh, state))
    H = dense(member.law.tangent(F, p))
    found = dense(member.law.projected_tangent(F, p))
    scale = np.abs(H).max(axis=(1, 2), keepdims=True)              # rounding of the largest entries of H
    assert (np.abs(found - clamped(H)) <= 1e-11 * scale).all()


@each_cell
@each_state
@each_law
def test_blocks_of_an_element_are_the_derivative_of_its_force(member, state, cell):
    mesh = jittered_mesh(cell)
    force = member.force(mesh)
    stencil, x = force.stencil, deformed(mesh, state)
    d = np.random.default_rng(4).normal(size=x.shape)
    H = member.law.tangent(stencil.gather(x), force.parameters)
    wanted = stencil.scatter(product(H, stencil.gather(d)), len(x))
    blocks = stencil.blocks(H)
    found = np.zeros_like(x)
    for vertices, element in zip(stencil.vertices, blocks, strict=True):
        for i, vi in enumerate(vertices):
            for j, vj in enumerate(vertices):
                found[vi] += element[i, j] @ d[vj]
    assert_close(found, wanted, 1e-12, np.abs(blocks).max())


# ---------------------------------------------------------------------- exceptional states

FIVE = np.array([[0.0, 1.0, 0.0], [0.3, 0.2, 0.9], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
EXCEPTIONAL = {
    "zero": 0.0 * FIVE,
    "identity": np.eye(5, 3),
    "rank one": np.tile([0.6, 0.0, 0.8], (5, 1)),
    "rank one, opposed": np.outer([1.0, -2.0, 0.5, 1.0, 3.0], [0.6, 0.0, 0.8]),
    "first column of length one": FIVE,
    "first column zero": FIVE * [[0.0], [1.0], [1.0], [1.0], [1.0]],
}


def exceptional(member, name, cell):
    """Return the columns of an exceptional state on the first element of a mesh, and that element's parameters."""
    stencil, p = member.build(jittered_mesh(cell))
    size = 1.0 if member.build in (stretch, shear) else cell
    values = size * EXCEPTIONAL[name][:stencil.weights.shape[2]]
    return tuple(tuple(np.array([a]) for a in row) for row in values), tuple(a[:1] for a in p)


@each_cell
@cases("name", EXCEPTIONAL)
@each_law
def test_exceptional_states_give_finite_numbers_and_a_semidefinite_tangent(member, name, cell):
    F, p = exceptional(member, name, cell)
    assert np.isfinite(member.law.energy(F, p)).all()
    assert np.isfinite(np.array(member.law.stress(F, p))).all()
    H = dense(member.law.projected_tangent(F, p))
    assert np.isfinite(H).all()
    eigenvalues = np.linalg.eigvalsh(H)
    assert eigenvalues.min() >= -1e-12 * max(eigenvalues.max(), 0.0)
    for _, g in member.law.conditions(F, p):
        assert np.isfinite(np.array(g)).all()


@cases("name", [n for n in EXCEPTIONAL if n not in ("zero", "first column zero")])
@cases("member", [LAWS["stretch"], LAWS["shear"], LAWS["spring"]], ids=["stretch", "shear", "spring"])
def test_exceptional_states_with_a_tangent_have_clamped_eigenvalues(member, name):
    F, p = exceptional(member, name, 1.0)
    H = dense(member.law.tangent(F, p))
    assert_close(dense(member.law.projected_tangent(F, p)), clamped(H), 1e-12, np.abs(H).max())


# ---------------------------------------------------------------------- momentum


free_laws = cases(
    "member", [m for m in LAWS.values() if m.moves_freely], ids=[n for n in LAWS if LAWS[n].moves_freely])


@each_cell
@each_state
@free_laws
def test_energy_and_force_are_frame_invariant(member, state, cell):
    mesh = jittered_mesh(cell)
    force, x = member.force(mesh), deformed(mesh, state)
    turn = random_rotation(np.random.default_rng(5))
    y = x @ turn.T + 3.0 * mesh.mean_edge
    still = np.zeros_like(x)
    noise = 1e-12 * np.abs(np.array(member.law.stress(force.stencil.gather(x), force.parameters))).max()
    assert force.energy(y) == pytest.approx(force.energy(x), rel=1e-9, abs=noise * mesh.mean_edge)
    f = force.force(x, still)
    weights = np.abs(force.stencil.weights).max()
    assert_close(force.force(y, still), f @ turn.T, 1e-9, np.abs(f).max() + 1e3 * noise * weights)


@each_cell
@each_state
@free_laws
def test_forces_have_no_resultant_and_no_torque(member, state, cell):
    mesh = jittered_mesh(cell)
    force, x = member.force(mesh, damping=0.01), deformed(mesh, state)
    v = np.random.default_rng(6).normal(size=x.shape) * mesh.mean_edge
    f = force.force(x, v)
    size = np.abs(f).sum()
    assert np.abs(f.sum(axis=0)).max() <= 1e-13 * size
    arm = x - x.mean(axis=0)
    torque = np.abs(np.cross(arm, f).sum(axis=0)).max()
    assert (torque <= 1e-11 * size * np.abs(arm).max()) == member.turns


@each_cell
@each_law
def test_translation_has_no_force_or_a_restoring_one(member, cell):
    mesh = jittered_mesh(cell)
    stencil, p = member.build(mesh)
    x = deformed(mesh, "noisy")
    shift = np.tile(mesh.mean_edge * np.array([1.0, -2.0, 0.5]), (len(x), 1))
    change = product(member.law.tangent(stencil.gather(x), p), stencil.gather(shift))
    response = stencil.scatter(change, len(x)).sum(axis=0)
    if member.moves_freely:
        total = np.abs(stencil.blocks(member.law.tangent(stencil.gather(x), p))).max() * mesh.mean_edge
        assert np.abs(response).max() <= 1e-10 * total
    else:
        assert response @ shift[0] > 0.0


# ---------------------------------------------------------------------- damping


@each_cell
@each_state
@each_law
def test_damping_dissipates_energy_and_is_linear_in_the_velocity(member, state, cell):
    mesh = jittered_mesh(cell)
    force, x = member.force(mesh, damping=0.02), deformed(mesh, state)
    F = force.stencil.gather(x)
    D = force.damping_tangent(F)
    H = dense(D)
    assert_close(H, H.transpose(0, 2, 1), 1e-13)
    assert np.linalg.eigvalsh(H).min() >= -1e-12 * np.abs(H).max()
    rng = np.random.default_rng(7)
    for _ in range(4):
        v = mesh.mean_edge * rng.normal(size=x.shape)
        f = force.force(x, v) - force.force(x, np.zeros_like(x))
        assert np.vdot(f, v) <= 0.0
        rate = force.stencil.gather(v)
        P = force.damping_stress(F, rate)
        assert_close(product(D, rate), np.array(P), 1e-12)
        assert (dot_columns(P, rate) >= 0.0).all()


@each_cell
@each_state
@free_laws
def test_damping_has_no_force_in_rigid_motion(member, state, cell):
    mesh = jittered_mesh(cell)
    force, x = member.force(mesh, damping=0.02), deformed(mesh, state)
    F = force.stencil.gather(x)
    rng = np.random.default_rng(8)
    spin = rng.normal(size=3)
    rigid = np.cross(spin, x) + mesh.mean_edge * rng.normal(size=3)
    if not member.turns:
        rigid[:] = spin
    random = np.abs(rigid).max() * rng.normal(size=x.shape)

    def size(v):
        return np.abs(np.array(force.damping_stress(F, force.stencil.gather(v)))).max()

    assert size(rigid) <= 1e-9 * size(random)


@cases("member", [m for m in LAWS.values() if m.damps], ids=[n for n in LAWS if LAWS[n].damps])
def test_damping_acts_along_the_conditions_whose_energy_the_law_stores(member):
    """With psi = k/2 C^2 summed over conditions, the stress k C g is in the span of their gradients g."""
    mesh = jittered_mesh(1.0)
    stencil, p = member.build(mesh)
    F = stencil.gather(deformed(mesh, "noisy"))
    values = member.law.conditions(F, p)
    P = np.array(member.law.stress(F, p))
    rng = np.random.default_rng(9)
    gradients = np.array([np.array(columns).reshape(-1, len(p[0])) for _, columns in values])     # (n, 3 C, E)
    flat = P.reshape(-1, len(p[0]))
    for e in rng.choice(len(p[0]), size=min(5, len(p[0])), replace=False):
        left = flat[:, e] - gradients[:, :, e].T @ np.linalg.lstsq(gradients[:, :, e].T, flat[:, e], rcond=None)[0]
        assert np.linalg.norm(left) <= 1e-10 * np.linalg.norm(flat[:, e])


def test_columns_add_component_by_component():
    a, b = (tuple(tuple(np.array([float(i + 3 * c + k)]) for i in range(3)) for c in range(2)) for k in (0, 10))
    np.testing.assert_array_equal(np.array(add_columns(a, b)), np.array(a) + np.array(b))
