# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending by the angle between two triangles that share an edge: the law of Baraff and Witkin 1998 (001).

Columns are the hinge's edge vectors e = x1 - x0, a = x2 - x0, b = x3 - x0, with the shared edge from x0 to x1. With the
normals N_a = e x a and N_b = b x e,

    angle      theta = atan2(-|e| b . N_a, N_a . N_b)
    energy     psi   = k/2 (theta - theta_rest)^2                                  [J]
    stiffness  k     = B l^2 / (A0 + A1)                                           [N m]
    gradient   dtheta/da = -|e| N_a / |N_a|^2,  dtheta/db = -|e| N_b / |N_b|^2,
               dtheta/de = -(a . e dtheta/da + b . e dtheta/db) / |e|^2

Baraff and Witkin 1998, section 4.4, with the condition C = theta. Gradient and Hessian follow Tamstorf and Grinspun
2013: they do not divide by the sine of theta, and stay finite up to a closed hinge. There are two departures from 001.
k is weighted by the edge's length over the width that it stands for, so that B is the fabric's bending stiffness [N m].
And B follows the direction across the edge, in which the sheet curves: B = (B_u dv^2 + B_v du^2) / (du^2 + dv^2) for an
edge along (du, dv).

Limit: a hinge has one angle only. A sheet of hinges is up to three times too stiff where it curves across the diagonals
of a grid (docs/bending.md). Patches do not have this limit (`patch_geometry`).
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ...description.mesh import ClothMesh
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Block,
    Columns,
    Vector,
    add,
    add_blocks,
    block_product,
    cross,
    cross_block,
    dot,
    identity_block,
    length,
    outer,
    scale,
    scale_block,
    transpose,
)
from ..stencil import Condition, Parameters, Stencil, Tangent
from .hinge_geometry import HingeGeometry


def hinge_stencil(mesh: ClothMesh) -> Stencil:
    """Return the columns e, a, b of each hinge."""
    weights = np.zeros((len(mesh.hinges), 4, 3))
    weights[:, 0] = -1.0
    weights[:, [1, 2, 3], [0, 1, 2]] = 1.0
    return Stencil(mesh.hinges, weights)


def hinge_parameters(mesh: ClothMesh, bend: tuple[float, float], *, flat: bool = False) -> Parameters:
    """Return k (H,) [N m] and rest angles (H,).

    Rest angles are those of the modelled shape, or zero if `flat`; the rest curvature of the mesh is added.
    """
    hinge = HingeGeometry(mesh)
    k = hinge.rigidity(bend)
    rest = np.zeros(len(k)) if flat else angle(hinge_stencil(mesh).gather(mesh.positions))
    if mesh.curvature.any():
        rest = rest + angle(hinge.curved(mesh))
    return (k, rest)


def angle(F: Columns) -> FloatArray:
    """Return theta (E,) in -pi..pi; its sign gives the side to which the hinge folds."""
    e, a, b = F
    na, nb = cross(e, a), cross(b, e)
    return np.arctan2(-length(e) * dot(b, na), dot(na, nb))


class Hinge:
    """Parameters: k [N m], theta_rest."""

    name = "hinge"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"bend": (0,)}
    rest_kind = "angle"
    has_rest_curvature = True

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        k, rest = p
        return 0.5 * k * (angle(F) - rest) ** 2

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = k (theta - theta_rest) dtheta/dF."""
        k, rest = p
        moment = k * (angle(F) - rest)
        ge, ga, gb = _gradient(F)
        return (scale(moment, ge), scale(moment, ga), scale(moment, gb))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return k g g^T + k (theta - theta_rest) d^2 theta/dF^2, exact; it is indefinite where the hinge is bent."""
        k, rest = p
        moment = k * (angle(F) - rest)
        first, second = _outer_tangent(k, _gradient(F)), _second_derivative(F)
        return (_add_turn(first[0], moment, second[0]), _add_turn(first[1], moment, second[1]),
                _add_turn(first[2], moment, second[2]))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return k g g^T, which is positive semi-definite."""
        return _outer_tangent(p[0], _gradient(F))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition theta."""
        return ((p[0], _gradient(F)),)


def _outer_tangent(k: FloatArray, g: Columns) -> Tangent:
    """Return k g g^T, block by block."""
    e, a, b = g
    return ((outer(k, e, e), outer(k, e, a), outer(k, e, b)), (outer(k, a, e), outer(k, a, a), outer(k, a, b)),
            (outer(k, b, e), outer(k, b, a), outer(k, b, b)))


def _add_turn(row: tuple[Block, ...], moment: FloatArray, turn: tuple[Block, ...]) -> tuple[Block, ...]:
    """Return a row of blocks plus `moment` times a row of blocks of the second derivative."""
    return (add_blocks(row[0], scale_block(moment, turn[0])), add_blocks(row[1], scale_block(moment, turn[1])),
            add_blocks(row[2], scale_block(moment, turn[2])))


def _gradient(F: Columns) -> Columns:
    """Return dtheta/dF."""
    e, a, b = F
    size, squared = length(e), np.maximum(dot(e, e), SMALLEST_DIVISOR)
    ga, gb = _apex_gradient(cross(e, a), size), _apex_gradient(cross(b, e), size)
    return (add(scale(-dot(a, e) / squared, ga), scale(-dot(b, e) / squared, gb)), ga, gb)


def _apex_gradient(normal: Vector, size: FloatArray) -> Vector:
    """Return the gradient of theta by an apex, -|e| N / |N|^2, with |e| = size."""
    return scale(-size / np.maximum(dot(normal, normal), SMALLEST_DIVISOR), normal)


def _second_derivative(F: Columns) -> Tangent:
    """Return d^2 theta / dF dF."""
    e, a, b = F
    zero = identity_block(0.0 * e[0])
    ea_e, ea_a, ee_a = _side(e, a, 1.0)
    eb_e, eb_b, ee_b = _side(e, b, -1.0)
    return ((add_blocks(ee_a, ee_b), transpose(ea_e), transpose(eb_e)), (ea_e, ea_a, zero), (eb_e, zero, eb_b))


def _side(e: Vector, a: Vector, sign: FloatArray | float) -> tuple[Block, Block, Block]:
    """Return, for one side of the hinge, dg/de, dg/da with g = dtheta/da, and the side's part of d^2 theta/de^2.

        N = sign e x a,   dg = g (e . de) / |e|^2 - |e| / |N|^2 (I - 2 n n^T) dN,   n = N / |N|
    """
    one = 1.0 + 0.0 * e[0]
    normal = scale(sign * one, cross(e, a))
    size, area2 = length(e), np.maximum(dot(normal, normal), SMALLEST_DIVISOR)
    squared = np.maximum(size * size, SMALLEST_DIVISOR)
    g = _apex_gradient(normal, size)
    mirror = add_blocks(identity_block(one), outer(-2.0 / area2, normal, normal))
    turn = scale_block(-size / area2, mirror)
    by_a = block_product(turn, cross_block(sign * one, e))
    by_e = add_blocks(outer(1.0 / squared, g, e), block_product(turn, cross_block(-sign * one, a)))
    foot = dot(a, e) / squared
    foot_gradient = add(scale(1.0 / squared, a), scale(-2.0 * foot / squared, e))
    by_e_twice = scale_block(-one, add_blocks(scale_block(foot, by_e), outer(one, g, foot_gradient)))
    return by_e, by_a, by_e_twice
