# SPDX-License-Identifier: GPL-3.0-or-later
"""Tear edges after a step, and carry the state over to the particle system with the new tears.

An edge is overloaded if the tension across it is above its strength. A tear relieves what is beside it, so in one step

    a tear grows    at each of its ends, by the edge there that is most overloaded
    a tear begins   in each connected piece where none grows, at the edge that is most overloaded
    weight 0        all edges without any strength tear

A vertex comes apart where torn edges divide the faces around it. Positions and velocities of its parts are those of the
vertex, and their masses add up to its mass, so momentum stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..arrays import AnyArray, BoolArray, FloatArray, IntArray
from ..model.edge_tension import edge_tensions
from ..model.particle_system import ParticleSystem
from ..state import Before, ContactWarmStart, Homes, State


def torn_after(system: ParticleSystem, state: State) -> BoolArray:
    """Return the flags (W,) of the torn edges after a step that ends in `state`, where some mesh is split."""
    tears = system.tears
    assert tears.torn is not None
    forces, result, begin = system.element_forces(state.time, state.plastic), tears.torn.copy(), 0
    for given, cloth, edges, place, span in zip(tears.given.cloths, tears.scene.cloths, tears.edges, tears.place,
                                                system.slices, strict=True):
        if edges is None or place is None:
            continue
        part = slice(begin, begin + len(edges))
        begin = part.stop
        if given.tearing is None:
            continue
        weights = given.tearing.checked_weights(edges.vertex_count, given.name)
        factor = weights[edges.ends].mean(axis=(1, 2))
        strength = np.full(len(edges), np.inf)
        np.multiply(given.tearing.strength_at(state.time, given.name), factor, out=strength, where=factor < np.inf)
        load = edge_tensions(edges, place, cloth, span.start, forces, state.x, state.v)
        excess = np.full(len(edges), np.inf)
        np.divide(load, strength, out=excess, where=strength > 0.0)
        excess[tears.torn[part]] = 0.0
        result[part] |= _tearing(excess, place[edges.ends], tears.torn[part], system.body[span])
    return result


def _tearing(excess: FloatArray, ends: IntArray, torn: BoolArray, body: IntArray) -> BoolArray:
    """Return which edges (W,) tear in one step.

    Args:
        excess: (W,) load over strength [-], infinite without strength.
        ends: (W, 2, 2) vertices of the two sides, joined; those of a whole edge are the same on both sides.
        torn: (W,) edges that have torn before.
        body: (n,) connected piece of each vertex.
    """
    at_once = np.isinf(excess)
    over = np.flatnonzero((excess > 1.0) & ~at_once)
    at_tear = np.zeros(len(body), dtype=np.bool_)
    at_tear[ends[torn]] = True
    edge, vertex = np.repeat(over, 2), ends[over, 0].ravel()
    grown = _most(excess, edge[at_tear[vertex]], vertex[at_tear[vertex]])
    piece = body[vertex]
    rests = ~np.isin(piece, body[ends[grown, 0]])
    begun = _most(excess, edge[rests], piece[rests])
    at_once[grown] = at_once[begun] = True
    return at_once


def _most(excess: FloatArray, edge: IntArray, group: IntArray) -> IntArray:
    """Return of each group the edge with the largest excess, and of several the first one."""
    order = np.lexsort((edge, -excess[edge], group))
    result: IntArray = edge[order[np.unique(group[order], return_index=True)[1]]]
    return result


def carried_over(state: State, before: ParticleSystem, after: ParticleSystem) -> State:
    """Return the state of `before` as one of `after`, in which further edges are torn."""
    source = _sources(before, after)
    changed = after.mass != before.mass[source]                                  # parts of vertices that came apart
    share = np.ones(len(source))
    np.divide(after.mass, before.mass[source], out=share, where=changed)

    def copied(values: AnyArray) -> AnyArray:
        return values[source]

    def shared(values: FloatArray) -> FloatArray:
        result: FloatArray = values[source] * share.reshape(-1, *[1] * (values.ndim - 1))
        return result

    touch, last, contact = state.touch, state.before, state.contact
    if contact is not None:                             # the numbers of edges have changed: pairs have no first guess
        guess, homes = contact.warm_start, contact.homes
        contact = replace(
            contact, missed=copied(contact.missed), missed_solid=copied(contact.missed_solid),
            homes=None if homes is None else Homes(
                copied(homes.number), copied(homes.weights), copied(homes.astray), copied(homes.foreign),
                homes.speed),
            through=None if contact.through is None else copied(contact.through),
            warm_start=ContactWarmStart(gain=None if guess.gain is None else copied(guess.gain)))
    return replace(
        state, x=copied(state.x), v=copied(state.v), torn=after.tears.torn, contact=contact,
        touch=replace(touch, mode=copied(touch.mode), pressing=shared(touch.pressing)),
        before=None if last is None else _with_arrays(last, copied))


def _with_arrays(last: Before, copied: Callable[[AnyArray], AnyArray]) -> Before:
    """Return the history with all of its arrays over vertices `copied`."""
    arrays = {each.name: getattr(last, each.name) for each in fields(last)}
    changed: dict[str, Any] = {name: copied(a) for name, a in arrays.items() if isinstance(a, np.ndarray)}
    return replace(last, **changed)


def _sources(before: ParticleSystem, after: ParticleSystem) -> IntArray:
    """Return the particle (V,) of `before` that each one of `after` was, in which further edges are torn."""
    parts = [np.arange(span.start, span.stop) if kept is None or place is None else span.start + place[kept]
             for kept, place, span in zip(after.tears.kept, before.tears.place, before.slices, strict=True)]
    return np.concatenate([*parts, np.arange(before.nodes.surface_count, before.vertex_count)])
