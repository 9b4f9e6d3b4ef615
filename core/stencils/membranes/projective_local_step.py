# SPDX-License-Identifier: GPL-3.0-or-later
"""The local step of projective dynamics, as laws of triangles and tetrahedra (Bouaziz et al. 2014, 004).

The local step projects the deformation gradient F of each element onto the nearest rotation R (`nearest_rotation`). The
energy is the squared distance between the two. F (3 x 2 or 3 x 3) has the stencil's columns, A is the rest area or
volume, w a stiffness, and s_i are the singular values of F:

    energy      psi = w/2 A |F - R|^2 = w/2 A sum_i (s_i - 1)^2                 [J]
    stress      P   = w A (F - R)
    stiffness   H   = w A (I - dR/dF)

For a tetrahedron w = G = E / (2 (1 + nu)) [Pa], the shear modulus, as in 004. For a triangle w is G times the thickness
of the sheet [N/m]. For small strains this energy has the modulus w in tension in every direction, no transverse
contraction, and the modulus w/2 in shear.

With F = sum s_i u_i v_i^T, dR/dF has the eigenvalue 2/(s_i + s_j) along (u_i v_j^T - u_j v_i^T)/sqrt2. On triangles
with normal n it also has 1/s_i along n v_i^T. All other eigenvalues are zero. H is projected by limiting these values
to 1. Without dR/dF, H is the constant matrix w A I of the global step, which is therefore an upper bound of the
stiffness.

Damped are the s_i and the shear between the directions i and j, (s_i u_i v_j^T + s_j u_j v_i^T) / sqrt(s_i^2 + s_j^2).
Rigid motion changes neither.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...errors import MeshError
from ...number_text import number_text
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Block,
    Columns,
    Vector,
    add,
    add_blocks,
    cross,
    identity_block,
    outer,
    scale,
)
from ..nearest_rotation import svd_three_columns, svd_two_columns
from ..stencil import Condition, ElementForce, Parameters, Stencil, Tangent
from ..tolerances import ROUNDING_SHARE


def triangle_forces(stencil: Stencil, areas: FloatArray, stiffness: float, damping: float = 0.0) -> list[ElementForce]:
    """Return the forces of triangles.

    Args:
        stencil: columns w_u, w_v.
        areas (T,) [m^2]: rest areas.
        stiffness: w [N/m].
        damping: tau [s].
    """
    return [ElementForce(stencil, ProjectiveTriangle(), (stiffness * areas,), damping)]


def tetrahedron_stencil(positions: FloatArray, tetrahedra: IntArray) -> Stencil:
    """Return the columns of the deformation gradient F = X_f X_g^-1 of `tetrahedra` (Q, 4).

    The rest positions are `positions` (V, 3) [m].

    Raises:
        MeshError: a tetrahedron is flat.
    """
    sides = _sides(positions, tetrahedra)
    volume, longest = np.abs(np.linalg.det(sides)) / 6.0, np.abs(sides).max(axis=(1, 2), initial=0.0)
    flat = ~(volume > ROUNDING_SHARE * longest ** 3)
    if flat.any():
        q = int(np.argmax(flat))
        raise MeshError(f"tetrahedron {q} of vertices {tetrahedra[q].tolist()} is flat: its volume is "
                        f"{number_text(volume[q], 3)} m^3; leave it out, or move its vertices apart")
    weights = np.empty((len(tetrahedra), 4, 3))
    weights[:, :3] = np.linalg.inv(sides)                              # X_g^-1; row i has the weights of vertex i
    weights[:, 3] = -weights[:, :3].sum(axis=1)
    return Stencil(tetrahedra, weights)


def _sides(positions: FloatArray, tetrahedra: IntArray) -> FloatArray:
    """Return X_g (Q, 3, 3) of 004, with columns q_0 - q_3, q_1 - q_3, q_2 - q_3."""
    corners = positions[tetrahedra]
    sides: FloatArray = (corners[:, :3] - corners[:, 3:]).transpose(0, 2, 1)
    return sides


class ProjectiveTriangle:
    """Parameter: w A [N m]."""

    name = "projective triangle"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"stretch": (0,)}
    rest_kind = "membrane"

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        _, s, _ = svd_two_columns(F)
        return 0.5 * p[0] * ((s[0] - 1.0) ** 2 + (s[1] - 1.0) ** 2)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = w A (F - R)."""
        (u1, u2), _, (v1, v2) = svd_two_columns(F)
        return (_difference(p[0], F[0], add(scale(v1[0], u1), scale(v2[0], u2))),
                _difference(p[0], F[1], add(scale(v1[1], u1), scale(v2[1], u2))))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is negative along the rotations of a compressed element."""
        (u1, u2), s, (v1, v2) = svd_two_columns(F)
        return _triangle_tangent(p[0], u1, u2, v1, v2, 1.0 / np.maximum(s[0] + s[1], ROUNDING_SHARE),
                                 1.0 / np.maximum(s[0], ROUNDING_SHARE), 1.0 / np.maximum(s[1], ROUNDING_SHARE))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H with its negative eigenvalues set to zero."""
        (u1, u2), s, (v1, v2) = svd_two_columns(F)
        return _triangle_tangent(p[0], u1, u2, v1, v2, 1.0 / np.maximum(s[0] + s[1], 2.0),
                                 1.0 / np.maximum(s[0], 1.0), 1.0 / np.maximum(s[1], 1.0))

    def tangent_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Return omega_c of the constant matrix: every tangent is at most w A I."""
        return (p[0], p[0])

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the conditions s_1, s_2 and the shear between them."""
        (u1, u2), s, (v1, v2) = svd_two_columns(F)
        a, b = _normalised(s[0], s[1])
        return ((p[0], (scale(v1[0], u1), scale(v1[1], u1))), (p[0], (scale(v2[0], u2), scale(v2[1], u2))),
                (p[0], (add(scale(a * v2[0], u1), scale(b * v1[0], u2)),
                        add(scale(a * v2[1], u1), scale(b * v1[1], u2)))))


class ProjectiveTetrahedron:
    """Parameter: w V [J]."""

    name = "projective tetrahedron"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"stretch": (0,)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        _, s, _ = svd_three_columns(F)
        return 0.5 * p[0] * ((s[0] - 1.0) ** 2 + (s[1] - 1.0) ** 2 + (s[2] - 1.0) ** 2)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = w V (F - R)."""
        u, _, v = svd_three_columns(F)
        return (_difference(p[0], F[0], _rotation_column(u, v, 0)), _difference(p[0], F[1], _rotation_column(u, v, 1)),
                _difference(p[0], F[2], _rotation_column(u, v, 2)))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is negative along the rotations of a compressed element."""
        u, s, v = svd_three_columns(F)
        return _tetrahedron_tangent(p[0], u, v, 1.0 / np.maximum(s[0] + s[1], ROUNDING_SHARE),
                                    1.0 / np.maximum(s[0] + s[2], ROUNDING_SHARE),
                                    1.0 / np.maximum(s[1] + s[2], ROUNDING_SHARE))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H with its negative eigenvalues set to zero."""
        u, s, v = svd_three_columns(F)
        return _tetrahedron_tangent(p[0], u, v, 1.0 / np.maximum(s[0] + s[1], 2.0),
                                    1.0 / np.maximum(s[0] + s[2], 2.0), 1.0 / np.maximum(s[1] + s[2], 2.0))

    def tangent_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Return omega_c of the constant matrix: every tangent is at most w V I."""
        return (p[0], p[0], p[0])

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the conditions s_1, s_2, s_3 and the shears between them."""
        u, s, v = svd_three_columns(F)
        a, b = _normalised(s[0], s[1])
        c, d = _normalised(s[0], s[2])
        e, f = _normalised(s[1], s[2])
        one, zero = 1.0 + 0.0 * s[0], 0.0 * s[0]
        return ((p[0], _mixed(one, u[0], v[0], zero, u[1], v[1])), (p[0], _mixed(one, u[1], v[1], zero, u[2], v[2])),
                (p[0], _mixed(one, u[2], v[2], zero, u[0], v[0])), (p[0], _mixed(a, u[0], v[1], b, u[1], v[0])),
                (p[0], _mixed(c, u[0], v[2], d, u[2], v[0])), (p[0], _mixed(e, u[1], v[2], f, u[2], v[1])))


def _difference(k: FloatArray, column: Vector, axis: Vector) -> Vector:
    """Return k (column - axis)."""
    return (k * (column[0] - axis[0]), k * (column[1] - axis[1]), k * (column[2] - axis[2]))


def _rotation_column(u: Columns, v: Columns, c: int) -> Vector:
    """Return column c of R = sum u_i v_i^T."""
    return add(add(scale(v[0][c], u[0]), scale(v[1][c], u[1])), scale(v[2][c], u[2]))


def _mixed(a: FloatArray, ui: Vector, vi: Vector, b: FloatArray, uj: Vector, vj: Vector) -> Columns:
    """Return the columns of a u_i v_i^T + b u_j v_j^T."""
    return (add(scale(a * vi[0], ui), scale(b * vj[0], uj)), add(scale(a * vi[1], ui), scale(b * vj[1], uj)),
            add(scale(a * vi[2], ui), scale(b * vj[2], uj)))


def _normalised(si: FloatArray, sj: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (s_i, s_j) / sqrt(s_i^2 + s_j^2)."""
    size = np.maximum(np.sqrt(si * si + sj * sj), SMALLEST_DIVISOR)
    return si / size, sj / size


def _triangle_tangent(k: FloatArray, u1: Vector, u2: Vector, v1: Vector, v2: Vector, twist: FloatArray, r1: FloatArray,
                      r2: FloatArray) -> Tangent:
    """Return k (I - twist W W^T - sum r_i (n v_i^T)(n v_i^T)^T) with W = u_1 v_2^T - u_2 v_1^T."""
    n = cross(u1, u2)
    W1 = add(scale(v2[0], u1), scale(-v1[0], u2))
    W2 = add(scale(v2[1], u1), scale(-v1[1], u2))
    ku, kv = -k * r1, -k * r2
    mixed = add_blocks(outer(-k * twist, W1, W2), outer(ku * v1[0] * v1[1] + kv * v2[0] * v2[1], n, n))
    return ((add_blocks(add_blocks(identity_block(k), outer(-k * twist, W1, W1)),
                        outer(ku * v1[0] * v1[0] + kv * v2[0] * v2[0], n, n)), mixed),
            (add_blocks(outer(-k * twist, W2, W1), outer(ku * v1[0] * v1[1] + kv * v2[0] * v2[1], n, n)),
             add_blocks(add_blocks(identity_block(k), outer(-k * twist, W2, W2)),
                        outer(ku * v1[1] * v1[1] + kv * v2[1] * v2[1], n, n))))


def _tetrahedron_tangent(k: FloatArray, u: Columns, v: Columns, a: FloatArray, b: FloatArray,
                         c: FloatArray) -> Tangent:
    """Return k (I - a W_12 W_12^T - b W_13 W_13^T - c W_23 W_23^T) with W_ij = u_i v_j^T - u_j v_i^T."""
    one = 1.0 + 0.0 * k
    p, q, r = (_mixed(one, u[0], v[1], -one, u[1], v[0]), _mixed(one, u[0], v[2], -one, u[2], v[0]),
               _mixed(one, u[1], v[2], -one, u[2], v[1]))
    a, b, c = -k * a, -k * b, -k * c
    whole, none = identity_block(k), identity_block(0.0 * k)
    return ((_twists(whole, a, b, c, p, q, r, 0, 0), _twists(none, a, b, c, p, q, r, 0, 1),
             _twists(none, a, b, c, p, q, r, 0, 2)),
            (_twists(none, a, b, c, p, q, r, 1, 0), _twists(whole, a, b, c, p, q, r, 1, 1),
             _twists(none, a, b, c, p, q, r, 1, 2)),
            (_twists(none, a, b, c, p, q, r, 2, 0), _twists(none, a, b, c, p, q, r, 2, 1),
             _twists(whole, a, b, c, p, q, r, 2, 2)))


def _twists(start: Block, a: FloatArray, b: FloatArray, c: FloatArray, p: Columns, q: Columns, r: Columns, i: int,
            j: int) -> Block:
    """Return start + a p_i p_j^T + b q_i q_j^T + c r_i r_j^T."""
    return add_blocks(add_blocks(start, outer(a, p[i], p[j])), add_blocks(outer(b, q[i], q[j]), outer(c, r[i], r[j])))
