# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of cloth that colliders pass through, because contact would stretch the cloth beyond all bounds.

A sheet that is held at all its sides cannot let a solid pass, and it cannot tear. Contact with a solid that moves on
asks for the impossible there: each step stretches the cloth further. So contact gives way, as it does where colliders
leave no room (`pinch`). While an edge of a piece of cloth that pins hold is longer than `MOST_HELD_STRETCH` allows,
vertices of the piece that touch a collider have no contact with colliders. They have contact again when they are out of
all of them. Cloth that nothing holds can move out of the way, however long a single step makes its edges.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import any_of
from .containment import inside
from .surfaces import StepSurfaces

MOST_HELD_STRETCH = 2.0
"""Largest length of an edge up to which contact holds its piece of cloth, over its length at rest or at the start,
whichever is longer [-]: no fabric holds more, and rubber that starts stretched may be stretched as much again."""


def let_through(before: BoolArray | None, x: FloatArray, overlong: BoolArray, edges: IntArray, body: IntArray,
                touches: BoolArray, surfaces: StepSurfaces) -> BoolArray | None:
    """Return the vertices (V,) that colliders pass through after a step that ends at x (V, 3) [m]; None for none.

    Args:
        before: the same at its start.
        x: (V, 3) [m].
        overlong: (E,) edges of held cloth that are longer than contact holds.
        edges: (E, 2). body: (V,) connected piece of each vertex.
        touches: (V,) vertices in contact with a collider.
        surfaces: the colliders in the step.
    """
    if before is None and not overlong.any():
        return None
    pieces = np.zeros(int(body.max()) + 1, dtype=np.bool_)
    pieces[body[edges[overlong, 0]]] = True
    result = touches & pieces[body]
    if before is not None:
        result |= before & pieces[body] | before & _beside_solids(x, before, edges, surfaces)
    return result if result.any() else None


def _beside_solids(x: FloatArray, some: BoolArray, edges: IntArray, surfaces: StepSurfaces) -> BoolArray:
    """Return which of `some` vertices (V,) at x (V, 3) [m] are inside a collider, or connected by one of the edges
    (E, 2) to a vertex that is."""
    around = some.copy()
    around[edges[any_of(some[edges])]] = True
    rows = np.flatnonzero(around[:len(surfaces.thickness)])
    within = np.zeros(len(x), dtype=np.bool_)
    for surface in surfaces.moving:
        shape = surface.shape
        within[rows] |= inside(x[rows], surface.x_t1, shape.triangles, shape.closed, surface.tree_t1)
    within[edges[any_of(within[edges])]] = True
    return within
