# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch of a membrane whose triangles buckle under compression; otherwise the law of `stretch_shear`.

A strip of cloth of the length h carries at most the compression n = pi^2 B / h^2 [N/m]. Then it buckles, and resists
further shortening by n / 2 per strain (Euler; the first two terms of the elastica between hinges). A mesh has no folds
shorter than its triangles. Without buckling these carry any compression, and the sheet resists curvature oblique to
its edges, because flat triangles cannot follow it without strain (membrane locking). With the stiffness k, the
shortening d = b - |w| and the rest area a, for each of w_u and w_v,

    psi = a/2 k d^2                                            d <= e = n / k, tension included         [J]
    psi = a (k e^2 / 2 + n (d - e) + n (d - e)^2 / 4)          beyond

Energy and stress are continuous; the tangent jumps from k to n / 2. With h^2 = 2 a, that of the legs of half a
square, a n = pi^2 B / 2 for every triangle. A fold of two cells, the shortest of the mesh, takes the load 4 B / h^2,
which is less: a sheet whose vertices can fold does so before its triangles buckle. On a fine mesh n is large, and the
law is that of `stretch_shear`. Choi and Ko 2002 let links between vertices buckle for the same reason.

A step is linear in the motion, and the law has two branches, each of which is nearly linear. Elements act by the branch
of their expected end (`expected`): by that of the start a triangle that opens would not stop where it is taut. One that
is buckled there may get taut nevertheless. How far it may go beyond what is expected is estimated by what acceleration
does to it in the step, its reach r. From the depth d of buckling at the start it is taut in the part 1 - d / r of such
a motion, and has that part of a tenth of k in the matrix.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Columns,
    Vector,
    direction,
    either,
    identity_block,
    length,
    scale,
    spring_tangent,
)
from ..stencil import Condition, Parameters, Tangent


def load(bend: float) -> float:
    """Return a n [N m], the load of a triangle times its area, for the bending stiffness B [N m]."""
    return 0.5 * float(np.pi) ** 2 * bend


class BucklingStretch:
    """Parameters: a k_u, a k_v, a n_u, a n_v [N m], r_u, r_v, b_u, b_v [-]."""

    name = "buckling stretch"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"stretch": (0, 1), "bend": (2, 3)}
    rest_kind = "membrane"

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        ku, kv, nu, nv, _, _, bu, bv = p
        return _energy(F[0], ku, nu, bu) + _energy(F[1], kv, nv, bv)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P_u = (dpsi/d|w_u|) w_u/|w_u|, and the same for v."""
        ku, kv, nu, nv, _, _, bu, bv = p
        return (scale(_tension(F[0], ku, nu, bu), direction(F[0])), scale(_tension(F[1], kv, nv, bv), direction(F[1])))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is negative across a compressed direction."""
        ku, kv, nu, nv, _, _, bu, bv = p
        zero = identity_block(0.0 * ku)
        lu, lv = np.maximum(length(F[0]), SMALLEST_DIVISOR), np.maximum(length(F[1]), SMALLEST_DIVISOR)
        su = np.maximum(_stiffness(F[0], ku, nu, bu), SMALLEST_DIVISOR)
        sv = np.maximum(_stiffness(F[1], kv, nv, bv), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], lu, su, _tension(F[0], ku, nu, bu) / lu / su), zero),
                (zero, spring_tangent(F[1], lv, sv, _tension(F[1], kv, nv, bv) / lv / sv)))

    def expected(self, F: Columns, G: Columns, p: Parameters) -> Parameters:
        """Return the parameters with which an element acts in a step whose end is expected at F, and at G without
        acceleration.

        One that is not buckled there has a load that it reaches at the length 0 only.
        """
        ku, kv, nu, nv, _, _, bu, bv = p
        return (ku, kv, _load_at(F[0], ku, nu, bu), _load_at(F[1], kv, nv, bv), _reach(F[0], G[0]), _reach(F[1], G[1]),
                bu, bv)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, with at least 0 across a direction, and more along one that may get taut in a step."""
        ku, kv, nu, nv, ru, rv, bu, bv = p
        zero = identity_block(0.0 * ku)
        lu, lv = np.maximum(length(F[0]), SMALLEST_DIVISOR), np.maximum(length(F[1]), SMALLEST_DIVISOR)
        su = np.maximum(_projected_stiffness(F[0], ku, nu, bu, ru), SMALLEST_DIVISOR)
        sv = np.maximum(_projected_stiffness(F[1], kv, nv, bv, rv), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], lu, su, np.maximum(0.0, _tension(F[0], ku, nu, bu)) / lu / su), zero),
                (zero, spring_tangent(F[1], lv, sv, np.maximum(0.0, _tension(F[1], kv, nv, bv)) / lv / sv)))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the conditions |w_u| - b_u and |w_v| - b_v, with the stiffness there is."""
        ku, kv, nu, nv, _, _, bu, bv = p
        still = (0.0 * ku, 0.0 * ku, 0.0 * ku)
        return ((_stiffness(F[0], ku, nu, bu), (direction(F[0]), still)),
                (_stiffness(F[1], kv, nv, bv), (still, direction(F[1]))))

    def tangent_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Return omega_c of the constant matrix: every projected tangent is at most the larger stiffness."""
        return (np.maximum(p[0], 0.5 * p[2]), np.maximum(p[1], 0.5 * p[3]))


def _beyond(column: Vector, k: FloatArray, n: FloatArray, rest: FloatArray) -> FloatArray:
    """Return the shortening beyond that of the load, d - n / k [-]; below 0 the triangle has not buckled."""
    return rest - length(column) - n / np.maximum(k, SMALLEST_DIVISOR)


def _energy(column: Vector, k: FloatArray, n: FloatArray, rest: FloatArray) -> FloatArray:
    beyond, longer = _beyond(column, k, n, rest), length(column) - rest
    at_load = 0.5 * n * n / np.maximum(k, SMALLEST_DIVISOR)
    return either(beyond > 0.0, at_load + n * beyond + 0.25 * n * beyond * beyond, 0.5 * k * longer * longer)


def _tension(column: Vector, k: FloatArray, n: FloatArray, rest: FloatArray) -> FloatArray:
    """Return dpsi/d|w| [N m], below 0 under compression."""
    beyond = _beyond(column, k, n, rest)
    return either(beyond > 0.0, -n - 0.5 * n * beyond, k * (length(column) - rest))


def _stiffness(column: Vector, k: FloatArray, n: FloatArray, rest: FloatArray) -> FloatArray:
    """Return d^2 psi / d|w|^2 [N m]."""
    return either(_beyond(column, k, n, rest) > 0.0, 0.5 * n, k)


def _projected_stiffness(column: Vector, k: FloatArray, n: FloatArray, rest: FloatArray, reach: FloatArray
                         ) -> FloatArray:
    """Return d^2 psi / d|w|^2, but at least k / 10 (1 - d / r) at the depth d of buckling [N m].

    An element that gets taut in a step unexpectedly would end far beyond that length (docs/decisions/0077).
    """
    depth = np.maximum(0.0, _beyond(column, k, n, rest))
    taut = np.maximum(0.0, 1.0 - depth / np.maximum(reach, SMALLEST_DIVISOR))
    return np.maximum(_stiffness(column, k, n, rest), 0.1 * k * taut)


def _load_at(column: Vector, k: FloatArray, n: FloatArray, rest: FloatArray) -> FloatArray:
    """Return n of an element that is buckled at this column, and k b of one that is not [N m]."""
    return either(_beyond(column, k, n, rest) > 0.0, n, k * rest)


def _reach(column: Vector, free: Vector) -> FloatArray:
    """Return the change of length that acceleration makes in a step [-]."""
    away = length(column) - length(free)
    return np.maximum(away, -away)
