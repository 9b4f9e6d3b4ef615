# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of cloth that colliders pass through, because contact would stretch the cloth beyond all bounds.

A sheet that is held at all its sides cannot let a solid pass, and it cannot tear. Contact with a solid that moves on
asks for the impossible there: each step stretches the cloth further. So contact gives way, as it does where colliders
leave no room (`pinch`). While an edge of a piece of cloth that pins hold is longer than `MOST_HELD_STRETCH` allows,
vertices that touch a collider and pull on that edge have no contact with colliders: those that a chain of taut edges,
stretched at least half as far, connects with it. The rest of the piece keeps its contact: a sleeve that is caught in an
armpit does not take the whole garment through the body. Vertices have contact again when they are out of all colliders,
or no taut edge pulls on them any more. Until then they have no home (`homes`): it would be in front of the collider,
where they came from, and hold them as contact did. Cloth that nothing holds can move out of the way, however long a
single step makes its edges; and the length of an edge between two pins is none of contact's.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import bodies
from ..row_ops import any_of
from .containment import inside
from .surfaces import StepSurfaces

MOST_HELD_STRETCH = 2.0
"""Largest length of an edge up to which contact holds its piece of cloth, over its length at rest or at the start,
whichever is longer [-]: no fabric holds more, and rubber that starts stretched may be stretched as much again."""


def taut_lengths(held: FloatArray) -> FloatArray:
    """Return the lengths (E,) [m] of taut edges: stretched half as far as the lengths `held` (E,) up to which contact
    holds."""
    return 0.5 * (1.0 + 1.0 / MOST_HELD_STRETCH) * held


def let_through(before: BoolArray | None, x: FloatArray, overlong: BoolArray, taut: BoolArray, edges: IntArray,
                touches: BoolArray, surfaces: StepSurfaces) -> BoolArray | None:
    """Return the vertices (V,) that colliders pass through after a step that ends at x (V, 3) [m]; None for none.

    Args:
        before: the same at its start.
        x: (V, 3) [m].
        overlong, taut: (E,) edges of held cloth that are longer than contact holds, and half as far stretched.
        edges: (E, 2).
        touches: (V,) vertices in contact with a collider.
        surfaces: the colliders in the step.
    """
    if before is None and not overlong.any():
        return None
    chain = bodies(edges[taut], len(x))
    pulled = np.zeros(len(x), dtype=np.bool_)
    pulled[chain[edges[overlong, 0]]] = True
    result: BoolArray = touches & pulled[chain]
    if before is not None:
        tense = np.zeros(len(x), dtype=np.bool_)
        tense[edges[taut]] = True
        result |= before & (pulled[chain] | tense & _beside_solids(x, before, edges, surfaces))
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
