# SPDX-License-Identifier: GPL-3.0-or-later
"""The step's matrix as products with its elements, for `Solver(matrix="implicit")`: what 000 does to ropes and threads,
for every model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..kernels import current
from ..linear.block_matrix import BlockPattern
from ..linear.implicit_matrix import ElementProduct, ImplicitMatrix, OuterProduct, Part
from ..linear.spring_product import Layer, SpringProduct, layers_of, spring_form
from ..stencils.stencil import ElementForce
from .velocity_forces import RateForce


def implicit_stiffness(pattern: BlockPattern, scalar: FloatArray | None, families: Sequence[Sequence[ElementForce]],
                       x: FloatArray, factor: float, *, exact: bool, rate: RateForce | None,
                       rate_factor: float) -> ImplicitMatrix:
    """`factor` K + `rate_factor` D as `ElasticForces.stiffness` has it, on a `pattern` that has a diagonal alone;
    `families`: the forces whose stiffness changes."""
    parts: list[Part] = []
    for family in families:
        parts.append(_part(family, x, factor, exact))
        if rate is not None and rate_factor and any(force.damping for force in family):
            parts.append(_part(family, rate.x, 0.0, False, rate_factor))
    if rate is not None:
        parts += [OuterProduct(drag.stencil, np.sqrt(rate_factor) * drag.vectors) for drag in rate.drags]
    matrix = ImplicitMatrix(pattern, scalar, parts)
    if rate is not None and rate.viscous is not None:
        matrix.add_diagonal(rate_factor * rate.viscous)
    return matrix


def _part(family: Sequence[ElementForce], x: FloatArray, factor: float, exact: bool, damping: float = 0.0) -> Part:
    """Stiffness or damping at x: springs have no form of their own in which both would be, unless at the same x."""
    stencil = family[0].stencil
    H = current().element_families.tangents(family, x, factor, exact=exact, damped_at=x, damping=damping)
    layers = _layers(family, len(x))
    if layers is not None:
        i, j = stencil.vertices.T
        d = x[j] - x[i]
        form = spring_form(H[:, 0], d)
        if form is not None:
            return SpringProduct(stencil.vertices, *form, d, layers)
    return ElementProduct(stencil, H)


def _layers(family: Sequence[ElementForce], vertex_count: int) -> list[Layer] | None:
    """The threads of a family of springs, found once; None where it is another or has none."""
    stencil = family[0].stencil
    if "_layers" not in stencil.__dict__:
        w = stencil.weights
        springs = w.shape[1:] == (2, 1) and bool((w[:, 0] == -1.0).all() and (w[:, 1] == 1.0).all())
        stencil.__dict__["_layers"] = layers_of(stencil.vertices, vertex_count) if springs else None
    layers: list[Layer] | None = stencil.__dict__["_layers"]
    return layers
