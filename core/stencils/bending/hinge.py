# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending of 001: the angle between two triangles that share an edge.

Columns are the hinge's edge vectors e = x1 - x0, a = x2 - x0, b = x3 - x0, with x0 x1 the shared edge. With the
normals N_a = e x a and N_b = b x e,

    angle      theta = atan2(-|e| b . N_a, N_a . N_b)
    energy     psi   = k/2 (theta - theta_rest)^2                                  [J]
    stiffness  k     = B l^2 / (A0 + A1)                                           [N m]
    gradient   dtheta/da = -|e| N_a / |N_a|^2,  dtheta/db = -|e| N_b / |N_b|^2,
               dtheta/de = -(a . e dtheta/da + b . e dtheta/db) / |e|^2

Baraff and Witkin 1998, section 4.4, has C = theta; gradient and Hessian as in Tamstorf and Grinspun 2013: they hold no
sine of theta in a denominator, and stay finite up to a closed hinge. Two departures from 001: k is weighted by the
edge's length over the width it stands for, so that B is the fabric's N m, and B follows the direction that curves,
which is across the edge: B = (B_u dv^2 + B_v du^2) / (du^2 + dv^2) for an edge along (du, dv).

What remains is that a hinge knows only its own angle. A sheet made of hinges is up to three times too stiff where it
curves across a grid's diagonals (docs/bending.md); `patch_bend` is not.
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
    """Columns e, a, b of each hinge."""
    weights = np.zeros((len(mesh.hinges), 4, 3))
    weights[:, 0] = -1.0
    weights[:, [1, 2, 3], [0, 1, 2]] = 1.0
    return Stencil(mesh.hinges, weights)


def hinge_parameters(mesh: ClothMesh, bend: tuple[float, float], *, flat: bool = False) -> Parameters:
    """k (H,) [N m] and rest angles (H,): as the mesh is modelled, or none if `flat`; and by its curvature more."""
    hinge = HingeGeometry(mesh)
    k = hinge.rigidity(bend)
    rest = np.zeros(len(k)) if flat else angle(hinge_stencil(mesh).gather(mesh.positions))
    if mesh.curvature.any():
        rest = rest + angle(hinge.curved(mesh))
    return (k, rest)


def angle(F: Columns) -> FloatArray:
    """theta (E,) in -pi..pi, positive or negative by the side it folds to."""
    e, a, b = F
    na, nb = cross(e, a), cross(b, e)
    return np.arctan2(-length(e) * dot(b, na), dot(na, nb))


class Hinge:
    """Parameters: k [N m], theta_rest."""

    name = "hinge"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"bend": (0,)}
    has_rest_curvature = True

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""
        k, rest = p
        return 0.5 * k * (angle(F) - rest) ** 2

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """k (theta - theta_rest) dtheta/dF."""
        k, rest = p
        moment = k * (angle(F) - rest)
        ge, ga, gb = _gradient(F)
        return (scale(moment, ge), scale(moment, ga), scale(moment, gb))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """k g g^T + k (theta - theta_rest) d2theta; exact, and indefinite where the hinge is bent."""
        k, rest = p
        moment = k * (angle(F) - rest)
        first, second = _outer_tangent(k, _gradient(F)), _second_derivative(F)
        return (_add_turn(first[0], moment, second[0]), _add_turn(first[1], moment, second[1]),
                _add_turn(first[2], moment, second[2]))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """k g g^T: the part that is semi-definite by form."""
        return _outer_tangent(p[0], _gradient(F))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """theta."""
        return ((p[0], _gradient(F)),)


def _outer_tangent(k: FloatArray, g: Columns) -> Tangent:
    e, a, b = g
    return ((outer(k, e, e), outer(k, e, a), outer(k, e, b)), (outer(k, a, e), outer(k, a, a), outer(k, a, b)),
            (outer(k, b, e), outer(k, b, a), outer(k, b, b)))


def _add_turn(row: tuple[Block, ...], moment: FloatArray, turn: tuple[Block, ...]) -> tuple[Block, ...]:
    return (add_blocks(row[0], scale_block(moment, turn[0])), add_blocks(row[1], scale_block(moment, turn[1])),
            add_blocks(row[2], scale_block(moment, turn[2])))


def _gradient(F: Columns) -> Columns:
    e, a, b = F
    size, squared = length(e), np.maximum(dot(e, e), SMALLEST_DIVISOR)
    ga, gb = _apex_gradient(cross(e, a), size), _apex_gradient(cross(b, e), size)
    return (add(scale(-dot(a, e) / squared, ga), scale(-dot(b, e) / squared, gb)), ga, gb)


def _apex_gradient(normal: Vector, size: FloatArray) -> Vector:
    return scale(-size / np.maximum(dot(normal, normal), SMALLEST_DIVISOR), normal)


def _second_derivative(F: Columns) -> Tangent:
    """d2theta / dF dF."""
    e, a, b = F
    zero = identity_block(0.0 * e[0])
    ea_e, ea_a, ee_a = _side(e, a, 1.0)
    eb_e, eb_b, ee_b = _side(e, b, -1.0)
    return ((add_blocks(ee_a, ee_b), transpose(ea_e), transpose(eb_e)), (ea_e, ea_a, zero), (eb_e, zero, eb_b))


def _side(e: Vector, a: Vector, sign: FloatArray | float) -> tuple[Block, Block, Block]:
    """Derivatives of g = dtheta/da by e and by a, and this side's part of d2theta/de2; N = sign e x a.

    dg = g (e . de) / |e|^2 - |e| / |N|^2 (I - 2 n n^T) dN with n = N / |N|.
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
