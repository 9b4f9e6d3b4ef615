# SPDX-License-Identifier: GPL-3.0-or-later
"""An independent audit of cloth on a body that crosses itself: crossings at such places apart from all others.

The IPC toolkit finds intersections, and solid angles say where the body covers itself. It shares no code with the
solver. `ipctk` is a dependency of the tests only.

A crossing of cloth and body is *at an overlap* if the place on the body lies inside of the body, or within `margin` of
a place where the body's surface crosses itself, or of another sheet of the body that faces it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.core.contact.shapes import winding
from tests.scenes.audit import sides_of


@dataclass(frozen=True)
class Split:
    """Crossings of one frame.

    Attributes:
        clean: pairs of an edge and a triangle of cloth and body that intersect away from overlaps.
        at_overlaps: such pairs at overlaps.
        own: pairs of cloth and cloth away from overlaps.
        own_at_overlaps: such pairs at overlaps.
        body: pairs of the body and itself.
        places: (n, 3) where the clean ones are [m].
    """

    clean: int
    at_overlaps: int
    own: int
    own_at_overlaps: int
    body: int
    places: np.ndarray


class OverlapAudit:
    """The audit of one cloth and one closed body.

    Args:
        cloth, body: triangles (T, 3) of each.
        margin: distance within which sheets of the body leave no room for the cloth [m].
    """

    def __init__(self, cloth, body, margin):
        import ipctk

        self._tool, self._margin = ipctk, margin
        self._cloth, self._body = np.asarray(cloth), np.asarray(body)

    def look(self, cloth, body) -> Split:
        """Return the crossings at positions (V, 3) of the cloth and of the body [m]."""
        contour = self._places(body, self._body, body, self._body)
        there = np.concatenate([self._places(cloth, self._cloth, body, self._body),
                                self._places(body, self._body, cloth, self._cloth)])
        own = self._places(cloth, self._cloth, cloth, self._cloth)
        at, own_at = (self._overlaps(places, body, contour) for places in (there, own))
        return Split(int((~at).sum()), int(at.sum()), int((~own_at).sum()), int(own_at.sum()), len(contour), there[~at])

    def total(self, cloth, body):
        """Return the number of pairs of an edge and a triangle that intersect, at least one of them of cloth."""
        pairs = (cloth, self._cloth, body, self._body), (body, self._body, cloth, self._cloth), \
            (cloth, self._cloth, cloth, self._cloth)
        return sum(len(self._places(*pair)) for pair in pairs)

    def _places(self, x, of_edges, y, triangles):
        """Return the places (n, 3) [m] at which edges on x pierce triangles on y."""
        same = x is y
        edges = sides_of(of_edges)
        both = np.asfortranarray(x if same else np.concatenate([x, y]))
        faces = triangles if same else triangles + len(x)
        grid = self._tool.HashGrid()
        grid.build(both, edges.astype(np.int32), faces.astype(np.int32), 0.0)
        pairs = np.array([(c.edge_id, c.face_id) for c in grid.detect_edge_face_candidates()], dtype=int).reshape(-1, 2)
        e, t = edges[pairs[:, 0]], faces[pairs[:, 1]]
        apart = (e[:, :, None] != t[:, None, :]).all(axis=(1, 2))
        return pierced(both, e[apart], t[apart])

    def _overlaps(self, places, body, contour):
        """Return which of the places (n, 3) [m] are at overlaps."""
        result = np.zeros(len(places), dtype=bool)
        for begin in range(0, len(places), 64):
            p = places[begin:begin + 64]
            a, b, c = (body[self._body[:, k]] for k in range(3))
            centre = (a + b + c) / 3.0
            area = np.cross(b - a, c - a)
            normal = area / np.maximum(np.linalg.norm(area, axis=1), 1e-300)[:, None]
            if len(contour):
                away = np.linalg.norm(p[:, None] - contour[None], axis=2).min(axis=1)
                result[begin:begin + 64] |= away < self._margin
            # sheets that face each other with less than the margin between them, on either side of the place
            for k, q in enumerate(p):
                near = np.flatnonzero(np.linalg.norm(centre - q, axis=1) < 2.0 * self._margin)
                n, between = normal[near], centre[near][None] - centre[near][:, None]
                ahead = np.einsum("ij,ikj->ik", n, between)
                facing = (n @ n.T < -0.5) & (ahead > 0.0) & (np.linalg.norm(between, axis=2) < self._margin)
                result[begin + k] |= bool(facing.any())
            # in front of the nearest triangle: the body covers it there if it is inside
            first = np.array([np.argmin(np.linalg.norm(centre - q, axis=1)) for q in p])
            front = p + 1e-5 * normal[first]
            result[begin:begin + 64] |= np.abs(winding(front, body, self._body)) > 0.5
        return result


def pierced(x, edges, triangles):
    """Return the places (n, 3) [m] at which edges (N, 2) pierce triangles (N, 3) on x (V, 3) [m]."""
    p, q = x[edges[:, 0]], x[edges[:, 1]]
    a, b, c = (x[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    rate = np.einsum("ni,ni->n", normal, q - p)
    share = np.einsum("ni,ni->n", normal, a - p) / np.where(rate == 0.0, np.inf, rate)
    at = p + share[:, None] * (q - p)
    inside = (rate != 0.0) & (share >= 0.0) & (share <= 1.0)
    for one, other in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("ni,ni->n", np.cross(other - one, at - one), normal) >= 0.0
    return at[inside]
