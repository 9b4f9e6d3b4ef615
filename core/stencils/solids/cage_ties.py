# SPDX-License-Identifier: GPL-3.0-or-later
"""A surface's vertices tied to nodes of a cage around it.

    F = x_s - sum_i w_i x_i,      psi = k/2 |F|^2                       [m], [J]

w_i are the weights with which the nodes interpolate the place of vertex s at rest. They add up to one and reproduce
every affine motion: F then is zero in it, momentum is kept because all weights add up to zero, and torque because the
force is along F. The stiffness is constant (`Quadratic`), it is assembled once.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..stencil import Stencil


def tie_stencil(vertices: IntArray, nodes: IntArray, weights: FloatArray) -> Stencil:
    """One column of each vertex (n,): its distance [m] from where its nodes (n, k), with weights (n, k), put it."""
    column = np.concatenate([np.ones((len(vertices), 1)), -weights], axis=1)
    return Stencil(np.concatenate([vertices[:, None], nodes], axis=1), column[:, :, None])


def tie_weights_per_node(nodes: IntArray, weights: FloatArray, node_count: int) -> FloatArray:
    """Sum (N,) over all ties (n, k) of the weights on each node [-]."""
    held: FloatArray = np.bincount(nodes.ravel(), weights.ravel(), minlength=node_count).astype(np.float64)
    return held
