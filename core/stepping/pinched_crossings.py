# SPDX-License-Identifier: GPL-3.0-or-later
"""Count crossings of pinched cloth apart: where colliders leave no room for cloth, nothing could prevent them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import BoolArray, IntArray
from ..description.topology import bodies
from ..model.particle_system import ParticleSystem
from ..row_ops import any_of
from ..state import State
from .audit import Audit, Auditor


def without_pinched(found: Audit, auditor: Auditor, system: ParticleSystem, state: State) -> tuple[Audit, int]:
    """Return an audit of a state without crossings of pinched cloth or at covered places, and the number of these.

    A place of a collider is covered where another one, or another part of it, is nearer in front of it than the cloth
    is thick on both sides. A contour of crossings with colliders counts as a whole: it is there because of the place
    where there is no room, and it is gone when that is.
    """
    scene = system.scene
    if not found.crossings or not scene.colliders:
        return found, 0
    pinched, room = _pinched(state, system.edges), 2.0 * float(system.thickness.max())
    masks = [*(pinched[span] for span in system.slices),
             *auditor.covered([c.at(state.time) for c in scene.colliders], room)]
    triangles = [*(c.mesh.triangles for c in scene.cloths), *(c.triangles for c in scene.colliders)]
    apart = np.zeros(found.crossings, dtype=np.bool_)
    for number, (mask, corners) in enumerate(zip(masks, triangles, strict=True)):
        one, other = found.edge_object == number, found.triangle_object == number
        apart[one] |= any_of(mask[found.edges[one]])
        apart[other] |= any_of(mask[corners[found.triangles[other]]])
    apart |= _along_contours(found, apart, [span.start for span in system.slices], triangles)
    keep = np.flatnonzero(~apart)
    return replace(found, crossings=len(keep), edge_object=found.edge_object[keep], edges=found.edges[keep],
                   triangle_object=found.triangle_object[keep], triangles=found.triangles[keep]), int(apart.sum())


def _along_contours(found: Audit, apart: BoolArray, first: Sequence[int], triangles: Sequence[IntArray]) -> BoolArray:
    """Return which crossings (N,) with colliders are of a contour with one that is `apart` (N,): crossings next to each
    other share vertices of cloth.

    `first`: number of the first vertex of each cloth. `triangles`: of cloths and colliders.
    """
    links = [np.zeros((0, 2), dtype=np.int64)]
    of_solid = np.maximum(found.edge_object, found.triangle_object) >= len(first)
    count = len(apart)
    for number, begin in enumerate(first):
        one = np.flatnonzero(of_solid & (found.edge_object == number))
        other = np.flatnonzero(of_solid & (found.triangle_object == number))
        for rows, vertices in ((one, found.edges[one]), (other, triangles[number][found.triangles[other]])):
            links += [np.column_stack([rows, count + begin + column]) for column in vertices.T]
    pairs = np.concatenate(links)
    contour = bodies(pairs, count + 1 + int(pairs.max(initial=count)))[:count]
    result: BoolArray = of_solid & np.isin(contour, contour[apart & of_solid])
    return result


def _pinched(state: State, edges: IntArray) -> BoolArray:
    """Return which vertices (V,) are pinched, or passed through by colliders, or connected to such a vertex by one of
    the edges (E, 2)."""
    there = np.zeros(len(state.x), dtype=np.bool_)
    if state.contact is not None and state.contact.between is not None:
        there |= state.contact.between[:, 0] != 0
    if state.contact is not None and state.contact.through is not None:
        there |= state.contact.through
    result = there.copy()
    result[edges[any_of(there[edges])]] = True
    return result
