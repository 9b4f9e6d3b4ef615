# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of primitives of one surface: their closest points, and whether they meet on the way of a step.

The search in time is conservative (`kernels.numpy.conservative_advancement` says how): a pair that is not said to meet
keeps a part of the distance it starts from during all of the step. A pair that is said to may in truth just miss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import NUMBERS_PER_PIECE, BoolArray, FloatArray, IntArray
from ..kernels import current
from ..kernels.numpy.conservative_advancement import Candidates, corners_of
from ..kernels.numpy.pair_rows import Rows
from ..row_ops import pick
from .effort import Effort
from .kept_searches import KeptSearches
from .self_pairs import candidate_pairs
from .triangle_surface import TriangleSurface

KEPT_DISTANCE = 0.1
"""Part of its distance at the start that a pair keeps, or it counts as meeting [-]: below what the search for pairs
takes care of."""
KEPT_WHEN_CLOSE = 0.5
"""The same of a pair that is so close that it is to come no closer [-]: what is cut is put `truncation.CUT_DISTANCE`
times what it keeps apart, and so where it was."""
Most = Callable[[IntArray, int], FloatArray]
"""Vertices (P, 4) of pairs, and how many of them, the first, are with a triangle -> within which distance each is near
(P,) [m]."""
NEVER = 2.0
"""Meeting time of a pair that does not meet [-]."""


@dataclass(frozen=True)
class Pairs:
    """P pairs, those of a vertex and a triangle first, then those of two edges, and how they start a step.

    Attributes:
        vertices (P, 4): vertex, then the triangle's three; or two of one edge, then two of the other.
        primitives (P, 2): vertex and triangle, or edge and edge, by their numbers in the surface.
        faces: how many have a triangle.
        weights (P, 4): of the offset to the first primitive's closest point from the second's.
        normal (P, 3): unit vector along it, 0 where there is no distance. distance (P,) [m]: its length.
        keep (P,) [m]: the distance to keep during the step.
    """

    vertices: IntArray
    primitives: IntArray
    faces: int
    weights: FloatArray
    normal: FloatArray
    distance: FloatArray
    keep: FloatArray

    @staticmethod
    def at(x: FloatArray, vertices: IntArray, primitives: IntArray, faces: int, *, far: float = np.inf) -> Pairs:
        """The pairs of these vertices as they are at x (V, 3) [m].

        Those that start further apart than `far` [m] have to keep no more than the others: two layers may slide along
        each other for many times what is between them.
        """
        weights, normal, distance = current().conservative_advancement.closest(x, vertices, faces)
        return Pairs(vertices, primitives, faces, weights, normal, distance, KEPT_DISTANCE * np.minimum(distance, far))

    def __len__(self) -> int:
        return len(self.vertices)

    def __getitem__(self, rows: IntArray) -> Pairs:
        """The pairs of these rows, which have to ascend."""
        return Pairs(pick(self.vertices, rows), pick(self.primitives, rows), int(np.searchsorted(rows, self.faces)),
                     pick(self.weights, rows), pick(self.normal, rows), pick(self.distance, rows),
                     pick(self.keep, rows))

    def joined(self, other: Pairs) -> Pairs:
        """These pairs and the others; of each those with a triangle come first."""
        n, m = self.faces, other.faces
        parts = (np.concatenate([a[:n], b[:m], a[n:], b[m:]]) for a, b in (
            (getattr(self, name), getattr(other, name))
            for name in ("vertices", "primitives", "weights", "normal", "distance", "keep")))
        vertices, primitives, weights, normal, distance, keep = parts
        return Pairs(vertices, primitives, n + m, weights, normal, distance, keep)

    def replaced(self, marked: BoolArray, new: Pairs) -> Pairs:
        """These pairs without those of a `marked` vertex (V,), and `new` ones; those with a triangle come first."""
        return Pairs(*current().pair_rows.replaced(self._rows(), marked, new._rows()))

    def _rows(self) -> Rows:
        """The table as kernels take it."""
        return self.vertices, self.primitives, self.faces, self.weights, self.normal, self.distance, self.keep

    @property
    def first(self) -> BoolArray:
        """Which of the four vertices belong to the first primitive (P, 4)."""
        count = np.where(np.arange(len(self)) < self.faces, 1, 2)
        result: BoolArray = np.arange(4) < count[:, None]
        return result

    def keeping(self, least: float) -> Pairs:
        """The same pairs, each of which keeps `least` [m], or half its distance where that is less, or more if it did.
        """
        if not len(self) or float(self.distance.min()) * KEPT_DISTANCE >= least:
            return self
        return replace(self, keep=np.maximum(self.keep, np.minimum(KEPT_WHEN_CLOSE * self.distance, least)))

    def elsewhere(self, x: FloatArray) -> Pairs:
        """The same pairs at other positions (V, 3) [m]."""
        return replace(Pairs.at(x, self.vertices, self.primitives, self.faces), keep=self.keep)

    def meeting_times(self, x0: FloatArray, x1: FloatArray, effort: Effort | None = None) -> FloatArray:
        """Times (P,) in 0..1 up to which each pair keeps apart on straight ways x0 -> x1 (V, 3) [m], else NEVER; x0 is
        where they are now. `effort` counts the advances of the search."""
        times, advances = current().conservative_advancement.meeting_times(
            x0, x1, self.vertices, self.faces, self.normal, self.distance, self.keep)
        if effort is not None:
            effort.advances(advances, len(x0))
        return times

    def at_times(self, x0: FloatArray, x1: FloatArray, times: FloatArray) -> Pairs:
        """The same pairs, each at a time (P,) of its own on the way x0 -> x1."""
        start = pick(x0, self.vertices)
        place = start + times[:, None, None] * (pick(x1, self.vertices) - start)
        own = np.arange(4 * len(self)).reshape(-1, 4)
        then = Pairs.at(place.reshape(-1, 3), own, self.primitives, self.faces)
        return replace(then, vertices=self.vertices, keep=self.keep)


def near_pairs(surface: TriangleSurface, x0: FloatArray, x1: FloatArray, radius: float | FloatArray, slack: FloatArray,
               *, far: float = np.inf, some: BoolArray | None = None, most: Most | None = None,
               allowed: Callable[[Candidates], Candidates] | None = None, kept: KeptSearches | None = None) -> Pairs:
    """All pairs without a common vertex that are within their radius at x0 (V, 3) [m], or may meet on straight ways to
    ends within `slack` (V,) [m] of x1.

    `radius` [m]: of all pairs, or of each vertex (V,) as in `self_pairs`. `slack` is less than half of it; `far` as in
    `Pairs.at`; of `some` vertices (V,) only, if given. Where `most` says that a pair is near only within less than the
    radius, it is within that. `allowed` returns those of the candidates that may be in contact. What
    all have in common of the motion makes no difference. `kept`: of searches from the same start.
    """
    kept = kept or KeptSearches()
    radius = np.array(np.broadcast_to(radius, len(x0)))       # copied: kernels compile once more for read-only arrays
    end = kept.less_common(x0, x1)
    tables = surface.triangles, surface.edges
    candidates = candidate_pairs(surface, x0, end, slack, radius, some, far=far, kept=kept)
    if allowed is not None:
        candidates = allowed(candidates)
    found = []
    for piece in _pieces(candidates):                          # most of many are left out: memory is of a piece
        limit = None if most is None else most(corners_of(piece, tables), len(piece[0]))
        found.append(current().conservative_advancement.relevant(x0, end, piece, tables, slack, radius, far, limit))
    faces = sum(part[2] for part in found)
    vertices, primitives, weights, normal, distance = (
        np.concatenate([part[k] for part in found]) if len(found) > 1 else found[0][k] for k in (0, 1, 3, 4, 5))
    return Pairs(vertices, primitives, faces, weights, normal, distance, KEPT_DISTANCE * np.minimum(distance, far))


def _pieces(candidates: Candidates) -> list[Candidates]:
    """Return candidates in pieces of at most NUMBERS_PER_PIECE pairs, those with a triangle first."""
    faces, between = candidates
    if len(faces) + len(between) <= NUMBERS_PER_PIECE:
        return [candidates]
    starts = range(0, max(len(faces), len(between)), NUMBERS_PER_PIECE)
    return ([(faces[k:k + NUMBERS_PER_PIECE], between[:0]) for k in starts if k < len(faces)]
            + [(faces[:0], between[k:k + NUMBERS_PER_PIECE]) for k in starts if k < len(between)])
