# SPDX-License-Identifier: GPL-3.0-or-later
"""Gap and stiffness of one pair of primitives in contact.

Weights w_i of the pair's four vertices and unit normal n. The stiffness of the pair is w w^T (x) B with the block
B = a n n^T + b (I - n n^T), a along the normal and b across. Vectors are tuples of components, arrays (P,) or plain
numbers.
"""

from __future__ import annotations

from typing import Any

from ...arrays import FloatArray
from ...stencils.component_algebra import Block, add_blocks, identity_block, scale_block
from .vectors import Vector, add, dot, outer_square, scale, subtract, weighted_sum


def gap(weights: Any, x: Any, fixed: Vector, n: Vector) -> FloatArray:
    """Return n . (sum_i w_i x_i + fixed) [m] for four weights and four positions x [m]."""
    return dot(weighted_sum(fixed, weights, x), n)


def contact_block(a: FloatArray, b: FloatArray, n: Vector) -> Block:
    """Return B = a n n^T + b (I - n n^T)."""
    return add_blocks(scale_block(a - b, outer_square(n)), identity_block(b))


def product_beside_diagonal(w: FloatArray, x: Vector, total: Vector, a: FloatArray, b: FloatArray, n: Vector) -> Vector:
    """Return one vertex's part w B (total - w x) of the product with w w^T (x) B, without its diagonal block.

    w, x: weight and vector of this vertex. total: sum_i w_i x_i of the pair.
    """
    rest = subtract(total, scale(w, x))
    return scale(w, add(scale((a - b) * dot(n, rest), n), scale(b, rest)))
