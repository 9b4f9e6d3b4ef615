# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the skin of a collider that is inside of another part of it when the simulation starts.

A limb of two parts hides their ends in each other. Bent far, it shows a piece of them, and cloth may lie on it. When it
is straight again, that piece is inside, and cloth that went there would stay inside for good.

A part that crosses itself hides nothing: a hand may lie on the thigh when a walk begins. A part that is hidden as a
whole is not hidden either: it is to come out.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..row_ops import all_of, box, pick
from .bvh import BVH, element_boxes
from .colliders import SurfaceShape
from .containment import inside
from .covered import covered, in_front


def hidden_skin(shape: SurfaceShape, x: FloatArray) -> BoolArray:
    """Return which triangles (T,) of a collider have all corners inside of another closed part.

    Args:
        shape: of the collider. x: (W, 3) [m] its vertices when the simulation starts.
    """
    hidden = np.zeros(len(shape.triangles), dtype=np.bool_)
    if len(np.unique(shape.part[shape.closed])) < 2:
        return hidden
    under = np.zeros(len(x), dtype=np.bool_)
    low, high = box(x)
    found = covered([(x, shape, shape.tree.around(shape.triangles, x))], low, high)[0]
    under[found[:, 1]] = True
    mine = shape.closed & all_of(pick(under, shape.triangles))
    order = np.argsort(shape.part, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(shape.part[order])) + 1):
        some = rows[mine[rows]]
        if 0 < len(some) < len(rows):
            part = shape.triangles[rows]
            vertex, points = in_front(x, part)
            tree = BVH.build(*element_boxes(part, x))
            under[vertex] &= ~inside(points, x, part, np.ones(len(part), dtype=np.bool_), tree)
            hidden[some] = all_of(pick(under, shape.triangles[some]))
    return hidden
