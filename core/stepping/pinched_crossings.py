# SPDX-License-Identifier: GPL-3.0-or-later
"""Count crossings apart that nothing could prevent: those at places where colliders leave no room for cloth.

This looks at finished positions alone. What the solver took for pinched, or let through, is no reason: where it was
wrong, the crossings count like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..model.particle_system import ParticleSystem
from ..row_ops import any_of
from ..state import State
from .audit import Audit, Auditor


def without_pinched(found: Audit, auditor: Auditor, system: ParticleSystem, state: State) -> tuple[Audit, int]:
    """Return an audit of a state without crossings where colliders leave no room, and the number of these.

    They are crossings at narrow places (`contact.narrow_places`) of colliders that this cloth collides with, and those
    of the next edges and triangles of cloth: what reaches into the overlap of two colliders has to come out of it,
    through a surface that is not covered by the other one, within an edge of the cloth.
    """
    scene = system.scene
    if not found.crossings or not scene.colliders:
        return found, 0
    solids = [c.at(state.time) for c in scene.colliders]
    positions = [*(state.x[span] for span in system.slices), *solids]
    triangles = [*(c.mesh.triangles for c in scene.cloths), *(c.triangles for c in scene.colliders)]
    room = 2.0 * float(system.thickness.max())
    cloth, places = np.minimum(found.edge_object, found.triangle_object), _places(found, positions, triangles)
    apart = np.zeros(len(places), dtype=np.bool_)
    for number in np.unique(cloth):
        rows, some = np.flatnonzero(cloth == number), np.arange(len(solids))
        if system.exclusions is not None:
            some = np.flatnonzero(system.exclusions.meets[number, len(scene.cloths):])
        if len(some):
            apart[rows] = auditor.narrow(places[rows], solids, room, some)
    apart |= _beside(found, apart, triangles[:len(scene.cloths)])
    keep = np.flatnonzero(~apart)
    return replace(found, crossings=len(keep), edge_object=found.edge_object[keep], edges=found.edges[keep],
                   triangle_object=found.triangle_object[keep], triangles=found.triangles[keep]), int(apart.sum())


def _places(found: Audit, positions: Sequence[FloatArray], triangles: Sequence[IntArray]) -> FloatArray:
    """Return where each crossing is (N, 3) [m], for objects with positions (V, 3) [m] and triangles (T, 3)."""
    ends, corners = np.zeros((len(found.edges), 2, 3)), np.zeros((len(found.edges), 3, 3))
    for number, (x, own) in enumerate(zip(positions, triangles, strict=True)):
        one, other = found.edge_object == number, found.triangle_object == number
        ends[one], corners[other] = x[found.edges[one]], x[own[found.triangles[other]]]
    p, q = ends[:, 0], ends[:, 1]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    above = np.einsum("ni,ni->n", p - corners[:, 0], area)
    drop = np.einsum("ni,ni->n", p - q, area)
    share = np.clip(above / np.where(drop != 0.0, drop, 1.0), 0.0, 1.0)
    return np.asarray(p + share[:, None] * (q - p))


def _beside(found: Audit, apart: BoolArray, triangles: Sequence[IntArray]) -> BoolArray:
    """Return which crossings (N,) with colliders are of an edge or a triangle of cloth that shares a vertex with one
    that has a crossing which is `apart` (N,); `triangles` (T, 3) of each cloth."""
    cloths = len(triangles)
    of_edge, of_triangle = found.edge_object < cloths, found.triangle_object < cloths
    result = np.zeros(len(apart), dtype=np.bool_)
    for number, corners in enumerate(triangles):
        one = np.flatnonzero((found.edge_object == number) & ~of_triangle)
        other = np.flatnonzero((found.triangle_object == number) & ~of_edge)
        reach = np.zeros(1 + max(int(corners.max(initial=0)), int(found.edges[one].max(initial=0))), dtype=np.bool_)
        elements = ((one, found.edges[one]), (other, corners[found.triangles[other]]))
        for rows, vertices in elements:
            reach[vertices[apart[rows]]] = True
        for rows, vertices in elements:
            result[rows] = any_of(reach[vertices])
    return result
