# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the rest shape of element forces, without a change of their vertices or of a constant tangent.

A rest shape enters an element in one of four ways, which `rest_kind` of its law names:

    membrane    columns w_u, w_v by the rest coordinates (u, v). For a rest shape that is stretched by U (2 x 2), they
                become (w_u, w_v) U^-1, and the stiffness is multiplied by the change of area det U.
    angle       the parameter theta_rest of a hinge.
    curvature   q = sum_c r_c F_c and rho = sum_c r_c^2 of a patch, by the rest curvatures r_c.
    (none)      a size s, over the one with which the element was built. Columns become F / s, and stiffness against
                stretch and shear is multiplied by s^2, so that a spring keeps its k and has the length s L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray
from ..stencils.bending.rest_curvature import RestCurvature
from ..stencils.stencil import ElementForce, Stencil

KEPT_BY_SIZE = ("stretch", "shear")
"""Stiffness that is kept for an element of another size; bending is by angles, which do not change."""


@dataclass(frozen=True)
class CurvatureColumns:
    """The bending columns of patches, from which the law of a curved rest shape is made.

    Attributes:
        stencil: the vertices of `RestCurvature`, with the columns q, w_u, w_v of the rest shape that was built.
        columns: (T, k, 3) weights of F_1, F_2, F_3 on these vertices.
    """

    stencil: Stencil
    columns: FloatArray

    def force(self, stiffness: FloatArray, rest: FloatArray) -> ElementForce:
        """Return the force of patches with the rest curvatures `rest` (T, 3) [-], for flat patches of a `stiffness`
        (3 T,) [N m]."""
        k = stiffness.reshape(-1, 3)
        most = np.maximum(k.max(axis=1), np.finfo(float).tiny)
        share = k / most[:, None]
        weights = self.stencil.weights.copy()
        weights[:, :, 0] = np.einsum("tkc,tc->tk", self.columns, share * rest)
        rho = (share * rest * rest).sum(axis=1)
        return ElementForce(self.stencil.reweighted(weights), RestCurvature(), (most, rho))

    def normal_parts(self, x: FloatArray) -> FloatArray:
        """Return F_c . n (T, 3) [-] at x (V, 3) [m]."""
        at = x[self.stencil.vertices]
        u, v = (np.einsum("tk,tka->ta", self.stencil.weights[:, :, c], at) for c in (1, 2))
        normal = np.cross(u, v)
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
        parts: FloatArray = np.einsum("tkc,tka,ta->tc", self.columns, at, normal, optimize=True)
        return parts


def stretched(family: Sequence[ElementForce], U: FloatArray) -> list[ElementForce]:
    """Return forces of membranes, which share a stencil, with rest shapes stretched by U (T, 2, 2) [-]."""
    old = family[0].stencil
    stencil, area = old.reweighted(old.weights @ np.linalg.inv(U)), np.linalg.det(U)
    return [replace(force, stencil=stencil, parameters=_scaled(force, area, KEPT_BY_SIZE))
            for force in family]


def resized(family: Sequence[ElementForce], size: FloatArray) -> list[ElementForce]:
    """Return forces that share a stencil with rest shapes of another `size` (E,) [-]."""
    old = family[0].stencil
    stencil = old.reweighted(old.weights / size[:, None, None])
    return [replace(force, stencil=stencil, parameters=_scaled(force, size * size, KEPT_BY_SIZE)) for force in family]


def turned(force: ElementForce, angles: FloatArray) -> ElementForce:
    """Return the force of hinges with rest angles (H,)."""
    return replace(force, parameters=(force.parameters[0], angles))


def sizes(stencil: Stencil, x: FloatArray) -> FloatArray:
    """Return the size (E,) [m] of each element at x (V, 3) [m]: the root of the sum of squared distances of its
    vertices from their mean, or the length of the column if there is one only, as of a spring."""
    if stencil.weights.shape[2] == 1:
        column = np.einsum("ek,eka->ea", stencil.weights[:, :, 0], x[stencil.vertices])
        return np.linalg.norm(column, axis=1).astype(np.float64)
    there = stencil.weights.any(axis=2)[:, :, None]
    at, count = x[stencil.vertices], np.maximum(there.sum(axis=1, keepdims=True), 1)
    apart = (at - (at * there).sum(axis=1, keepdims=True) / count) * there
    size: FloatArray = np.sqrt(np.einsum("eki,eki->e", apart, apart))
    return size


def square_root(C: FloatArray) -> FloatArray:
    """Return the symmetric square roots of positive definite matrices C (T, 2, 2)."""
    det = np.sqrt(np.maximum(np.linalg.det(C), 0.0))
    trace = np.sqrt(C[:, 0, 0] + C[:, 1, 1] + 2.0 * det)
    root: FloatArray = (C + det[:, None, None] * np.eye(2)) / trace[:, None, None]
    return root


def metrics(x: FloatArray, stencil: Stencil) -> FloatArray:
    """Return w_a . w_b (T, 2, 2) [-] of the two columns of a membrane at x (V, 3) [m]."""
    columns = np.einsum("tkc,tka->tca", stencil.weights, x[stencil.vertices])
    metric: FloatArray = columns @ columns.transpose(0, 2, 1)
    return metric


def _scaled(force: ElementForce, factor: FloatArray, what: Sequence[str]) -> tuple[FloatArray, ...]:
    """Return the parameters with the stiffness against `what` times `factor` (E,)."""
    parameters, stiffness = list(force.parameters), getattr(force.law, "stiffness_parameters", {})
    for place in (place for name, places in stiffness.items() if name in what for place in places):
        parameters[place] = parameters[place] * factor
    return tuple(parameters)
