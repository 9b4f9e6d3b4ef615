# SPDX-License-Identifier: GPL-3.0-or-later
"""Ties of a surface's vertices to the nodes of the cage around it.

    F = x_s - sum_i w_i x_i,      psi = k/2 |F|^2                       [m], [J]

w_i are the weights with which the nodes interpolate the rest position of vertex s. They add up to one and reproduce
every affine motion, for which F is zero. Momentum is conserved because all weights of the column add up to zero, and
angular momentum because the force is along F. The stiffness is constant (`Quadratic`), so it is assembled once.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..stencil import Stencil


def tie_stencil(vertices: IntArray, nodes: IntArray, weights: FloatArray) -> Stencil:
    """Return one column per vertex (n,): its offset [m] from the point that its nodes interpolate.

    Args:
        vertices (n,): the tied vertices.
        nodes (n, k), weights (n, k): the nodes of each vertex and their weights.
    """
    column = np.concatenate([np.ones((len(vertices), 1)), -weights], axis=1)
    return Stencil(np.concatenate([vertices[:, None], nodes], axis=1), column[:, :, None])


def tie_weights_per_node(nodes: IntArray, weights: FloatArray, node_count: int) -> FloatArray:
    """Return the sum (N,) of the weights of all ties on each node [-], for nodes and weights (n, k)."""
    held: FloatArray = np.bincount(nodes.ravel(), weights.ravel(), minlength=node_count).astype(np.float64)
    return held
