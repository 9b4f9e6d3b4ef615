# SPDX-License-Identifier: GPL-3.0-or-later
"""The step's matrix as products with its elements, for `Solver(matrix="implicit")`.

000 does this for ropes and threads; here it works for every model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..kernels import current
from ..linear.block_matrix import BlockPattern
from ..linear.implicit_matrix import ElementProduct, ImplicitMatrix, OuterProduct, Part
from ..linear.scalar_matrix import ScalarMatrix
from ..linear.side_operator import SideOperator
from ..linear.spring_product import Layer, SpringProduct, layers_of, spring_form
from ..stencils.stencil import Stencil
from .force_families import Family
from .turned_start import TurnedStart
from .velocity_forces import RateForce


class MatrixFree:
    """Makes the step matrices of a system whose elements are never assembled.

    Args:
        pattern: of the diagonal blocks.
        families: forces whose stiffness changes, grouped by stencil. Their parameters and weights may change with time,
            their vertices do not.
    """

    def __init__(self, pattern: BlockPattern, families: Sequence[Family]) -> None:
        self._pattern = pattern
        self._layers = [_layers(family[0].stencil, pattern.vertex_count) for family in families]

    def matrix(self, families: Sequence[Family], x: FloatArray, factor: float, scalar: ScalarMatrix | None, *,
               exact: bool, rate: RateForce | None, rate_factor: float,
               beside: SideOperator | None = None, start: TurnedStart | None = None,
               total: FloatArray | None = None) -> ImplicitMatrix:
        """Return `factor` K + `rate_factor` D as `ElasticForces.stiffness` defines it.

        `families` are those of the constructor at the time of the step; `scalar` is the part of constant stiffness,
        `beside` that of the pressure. With a `start`, elements are linearised there, and their linear force at x is
        added to `total` (V, 3) [N].
        """
        parts: list[Part] = []
        damped = rate is not None and rate_factor > 0.0
        for family, layers in zip(families, self._layers, strict=True):
            at = TurnedStart(x, 1.0) if start is None else start
            parts.append(_part(family, layers, at, factor, exact))
            if start is not None and total is not None:
                current().element_families.add_linear_force(family, start.x, start.turn(family), x, factor, total)
                if damped and rate is not None and any(force.damping for force in family):
                    current().element_families.add_damping_force(
                        family, start.x, x, total, turn=start.turn(family), factor=rate_factor * rate.share / factor,
                        relative=True)
            if damped and rate is not None and any(force.damping for force in family):
                parts.append(_part(family, layers, rate.damped_at, 0.0, False, rate_factor * rate.share))
        if rate is not None:
            parts += [OuterProduct(drag.stencil, np.sqrt(rate_factor) * drag.vectors) for drag in rate.drags]
        matrix = ImplicitMatrix(self._pattern, scalar, parts, beside)
        if rate is not None and rate.viscous is not None:
            matrix.add_diagonal(rate_factor * rate.viscous)
        if rate is not None and rate.blocks is not None:
            matrix.add_diagonal(rate_factor * rate.blocks)
        return matrix


def _part(family: Family, layers: list[Layer] | None, at: TurnedStart, factor: float, exact: bool,
          damping: float = 0.0) -> Part:
    """Return stiffness or damping at a start. The sum of both has the form of a spring only if both are at one place.
    """
    stencil, turn = family[0].stencil, at.turn(family)
    kernels = current().element_families
    H = kernels.tangents(family, at.x, factor, exact=exact, damped_at=at.x, damping=damping, turn=turn)
    if layers is not None and bool((stencil.weights[:, 0] == -1.0).all() and (stencil.weights[:, 1] == 1.0).all()):
        d = kernels.columns(stencil, at.x, turn)[:, 0]
        form = spring_form(H[:, 0], d)
        if form is not None:
            return SpringProduct(stencil.vertices, *form, d, layers)
    return ElementProduct(stencil, H)


def _layers(stencil: Stencil, vertex_count: int) -> list[Layer] | None:
    """Return the threads that springs make; None for other elements, and for springs that make none."""
    return layers_of(stencil.vertices, vertex_count) if stencil.weights.shape[1:] == (2, 1) else None
