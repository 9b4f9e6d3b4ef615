# SPDX-License-Identifier: GPL-3.0-or-later
"""How two triangle surfaces, or one and itself, meet: what pierces, and the smallest distance within a radius.

The closest points of two surfaces that do not cross are a vertex and a triangle, or two edges.

Of one surface, neighbours are left out: primitives that share a vertex, or that an edge connects. They are about an
edge length apart because the mesh is made so, and say nothing about folds. What is sewn together counts as one vertex.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import IntArray
from ..kernels import current
from .crossings import piercing
from .triangle_surface import TriangleSurface


@dataclass(frozen=True)
class Meeting:
    """How two surfaces, or one and itself, meet.

    Attributes:
        crossings (N, 2): edges of the first and triangles of the second that they pierce, in order.
        reverse (M, 2): edges of the second and triangles of the first; none if they are the same.
        gap [m]: the smallest distance.
    """

    crossings: IntArray
    reverse: IntArray
    gap: float


def meet(a: TriangleSurface, b: TriangleSurface, radius: float) -> Meeting:
    """How two surfaces, or one and itself, meet: the gap is `radius` [m] if there is no smaller one."""
    if len(a.triangles) > len(b.triangles):                          # the fewer ones look for the many
        other = meet(b, a, radius)
        return Meeting(other.reverse, other.crossings, other.gap)
    to_b, to_a, gap = current().surface_pairs.meet(a.arrays, b.arrays, a is b, radius, a.joins if a is b else None)
    return Meeting(piercing(a, b, to_b), piercing(b, a, to_a), gap)
