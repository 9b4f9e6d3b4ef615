# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and shear of Baraff and Witkin 1998 (001), on the two columns F = (w_u, w_v) of a triangle.

With the triangle's rest area a and the map w(u, v) from the fabric to the world:

    stretch   psi = a/2 (k_u (|w_u| - b_u)^2 + k_v (|w_v| - b_v)^2)             [J]
    shear     psi = a/2 k_s (w_u . w_v)^2                                       [J]

Baraff and Witkin 1998, sections 4.2 and 4.3, with one departure. The paper's condition C = a (|w_u| - b) gives an
energy that grows with a^2, and a sheet that softens as the mesh is refined. Here the area is outside the square, so
k_u, k_v, k_s are the fabric's stiffness [N/m] on every mesh.

The tangents are projected in closed form by their eigenvalues (Kim 2020). Those of stretch are k along w_u, and k (1 -
b/|w_u|) twice across it. Those of shear are (I2 +- sqrt(I2^2 + 12 s^2))/2, and +-s twice each, with s = w_u . w_v and
I2 = |w_u|^2 + |w_v|^2.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ...description.mesh import ClothMesh
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Columns,
    add,
    add_blocks,
    direction,
    dot,
    identity_block,
    length,
    outer,
    scale,
    scale_block,
    spring_stress,
    spring_tangent,
    transpose,
)
from ..stencil import Condition, Parameters, Stencil, Tangent


def membrane_stencil(mesh: ClothMesh) -> Stencil:
    """Return the columns w_u, w_v of each triangle, the derivatives of the linear map from uv to the world."""
    d1, d2 = mesh.uv[:, 1] - mesh.uv[:, 0], mesh.uv[:, 2] - mesh.uv[:, 0]
    det = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    weights = np.empty((len(mesh.triangles), 3, 2))
    weights[:, 1, 0], weights[:, 2, 0] = d2[:, 1] / det, -d1[:, 1] / det
    weights[:, 1, 1], weights[:, 2, 1] = -d2[:, 0] / det, d1[:, 0] / det
    weights[:, 0] = -weights[:, 1] - weights[:, 2]
    return Stencil(mesh.triangles, weights)


class Stretch:
    """Parameters: a k_u, a k_v [N m], b_u, b_v [-]."""

    name = "stretch"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"stretch": (0, 1)}
    rest_kind = "membrane"

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        ku, kv, bu, bv = p
        return 0.5 * (ku * (length(F[0]) - bu) ** 2 + kv * (length(F[1]) - bv) ** 2)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P_u = a k_u (|w_u| - b_u) w_u/|w_u|, and the same for v."""
        ku, kv, bu, bv = p
        return (spring_stress(F[0], ku, bu), spring_stress(F[1], kv, bv))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is negative across a compressed direction."""
        ku, kv, bu, bv = p
        zero = identity_block(0.0 * ku)
        lu, lv = np.maximum(length(F[0]), SMALLEST_DIVISOR), np.maximum(length(F[1]), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], lu, ku, 1.0 - bu / lu), zero),
                (zero, spring_tangent(F[1], lv, kv, 1.0 - bv / lv)))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H with its negative eigenvalues set to zero."""
        ku, kv, bu, bv = p
        zero = identity_block(0.0 * ku)
        lu, lv = np.maximum(length(F[0]), SMALLEST_DIVISOR), np.maximum(length(F[1]), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], lu, ku, np.maximum(0.0, 1.0 - bu / lu)), zero),
                (zero, spring_tangent(F[1], lv, kv, np.maximum(0.0, 1.0 - bv / lv))))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the conditions |w_u| - b_u and |w_v| - b_v."""
        ku, kv, _, _ = p
        still = (0.0 * ku, 0.0 * ku, 0.0 * ku)
        return ((ku, (direction(F[0]), still)), (kv, (still, direction(F[1]))))


class Shear:
    """Parameter: a k_s [N m]."""

    name = "shear"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"shear": (0,)}
    rest_kind = "membrane"

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        return 0.5 * p[0] * dot(F[0], F[1]) ** 2

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P_u = a k_s s w_v, P_v = a k_s s w_u."""
        ks = p[0] * dot(F[0], F[1])
        return (scale(ks, F[1]), scale(ks, F[0]))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return a k_s (g g^T + s J), exact, where g = (w_v, w_u) and J swaps u and v."""
        k = p[0]
        u, v = F
        s = k * dot(u, v)
        mixed = add_blocks(outer(k, v, u), identity_block(s))
        return ((outer(k, v, v), mixed), (transpose(mixed), outer(k, u, u)))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H with its negative eigenvalues set to zero.

        In the coordinates a = (x + o y)/sqrt2, b = (x - o y)/sqrt2 with o the sign of s, J is +-1 and H = g g^T + |s|
        on a - |s| on b. The positive eigenvalues are |s|, twice, on the part of a perpendicular to g_a, and one in the
        plane of g_a and g_b.
        """
        k = p[0]
        u, v = F
        s = dot(u, v)
        sign = np.copysign(1.0, s)
        s = np.abs(s)
        zero = 0.0 * s
        one, half = zero + 1.0, zero + np.sqrt(0.5)
        ga, gb = scale(half, add(v, scale(sign, u))), scale(half, add(v, scale(-sign, u)))
        a2, b2 = np.maximum(dot(ga, ga), SMALLEST_DIVISOR), dot(gb, gb)
        i2 = a2 + b2
        largest = 0.5 * (i2 + np.sqrt(i2 * i2 + 12.0 * s * s))
        along = largest - b2 + s                                                  # q = (along g_a / |g_a|^2, g_b)
        squared = np.maximum(along * along / a2 + b2, SMALLEST_DIVISOR)
        x = scale(half, add(scale(along / a2, ga), gb))
        y = scale(half * sign, add(scale(along / a2, ga), scale(-one, gb)))
        rest = add_blocks(identity_block(0.5 * k * s), outer(-0.5 * k * s / a2, ga, ga))
        kq = k * largest / squared
        mixed = add_blocks(outer(kq, x, y), scale_block(sign, rest))
        return ((add_blocks(outer(kq, x, x), rest), mixed),
                (transpose(mixed), add_blocks(outer(kq, y, y), rest)))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition w_u . w_v."""
        return ((p[0], (F[1], F[0])),)
