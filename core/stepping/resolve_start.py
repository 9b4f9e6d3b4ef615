# SPDX-License-Identifier: GPL-3.0-or-later
"""Resolve the start of a scene: positions before the first frame that intersect neither colliders nor other cloth.

The rest shapes stay those of the meshes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..arrays import FloatArray, IntArray
from ..contact.colliders import SurfaceShape
from ..contact.effort import MOST_EFFORT, Effort
from ..contact.initial_state.resolve import Resolution, StartResolver
from ..description.scene import Scene
from ..description.settings import Solver
from ..did_you_mean import names_arguments
from ..errors import SceneError
from ..kernels.backend import choose, using
from ..model.particle_system import ParticleSystem
from ..row_ops import length
from ..state import State
from .audit import Audit, Auditor
from .certificate import MAX_LISTED_PAIRS, CrossingsLeft, StartMove, StartResolution
from .growing_colliders import grown, plain_cloths


@dataclass(frozen=True)
class ResolvedStart:
    """Positions without intersections, as far as they could be resolved.

    Attributes:
        positions: (V, 3) of each cloth [m].
        crossings: edges that pierced faces at the start.
        left: crossings that are left, per pair of objects, most crossings first; empty if all are resolved.
    """

    positions: list[FloatArray]
    crossings: int
    left: list[CrossingsLeft]


@names_arguments(SceneError)
def resolve_start(scene: Scene, solver: Solver | None = None, progress: Callable[[int, int], bool] | None = None, *,
                  move_pins: bool = False) -> ResolvedStart:
    """Return positions near those of the cloths that intersect neither colliders nor other cloth.

    Colliders shrink where they cross cloth, cloth that crosses cloth is separated, and colliders grow again and push
    the cloth out, which keeps its shape. Where that does not help, cloth leaves them to the side of its outer faces.
    Pinned vertices stay, unless `move_pins`. A start without intersections is returned as it is.

    Args:
        scene: cloths and colliders, at time 0.
        solver: settings; `backend` and `self_collision` count.
        progress: is called with the crossings left and those at the start, and returns whether to go on.
        move_pins: pinned vertices are moved, too, for meshes whose pins follow them.

    Raises:
        SceneError: the first argument is no scene.
        SolverError: the backend cannot run here.
    """
    result = None
    for result in resolving(scene, solver, move_pins=move_pins):
        if progress is not None and not progress(result.crossings_left, result.crossings):
            break
    assert result is not None
    return result.start()


@dataclass(frozen=True)
class ResolvedSoFar:
    """A resolution after some iterations.

    Attributes:
        crossings, crossings_left: at the start, and left.
        start: returns the positions with that.
    """

    crossings: int
    crossings_left: int
    start: Callable[[], ResolvedStart]


def resolving(scene: Scene, solver: Solver | None = None, *, move_pins: bool = False) -> Iterator[ResolvedSoFar]:
    """Yield the resolution of a start after each iteration, for callers that show progress.

    The backend is selected only while an iteration is computed. Arguments and errors as of `resolve_start`.
    """
    if not isinstance(scene, Scene):
        raise SceneError(f"the first argument is {scene!r}, it must be a Scene")
    solver = solver or Solver()
    backend = choose(solver.backend)
    with using(backend):
        system = ParticleSystem(scene)
        state, auditor = system.initial_state(), make_auditor(system)
        found = look(auditor, system, state)
        iterations = resolutions(system, solver, state, move_pins=move_pins) if crosses(found) else iter(())

    def start_at(x: FloatArray) -> ResolvedStart:
        with using(backend):
            now = replace(state, x=x)
            left = crossings_left(system, now, look(auditor, system, now))
        return ResolvedStart([part.copy() for part in system.of_cloths(x)], found.crossings, left)

    yield ResolvedSoFar(found.crossings, found.crossings, partial(start_at, state.x))
    while True:
        with using(backend):
            resolution = next(iterations, None)
        if resolution is None:
            return
        yield ResolvedSoFar(resolution.first, resolution.crossings, partial(start_at, resolution.x))


def make_auditor(system: ParticleSystem) -> Auditor:
    """Return the auditor of a system, which shares its surfaces."""
    scene = system.scene
    return Auditor([(c.positions, c.mesh.triangles) for c in scene.cloths],
                   [(c.at(0.0), c.triangles) for c in scene.colliders],
                   surface=system.self_contact.surface if system.self_contact else None, shapes=system.shapes,
                   exclusions=system.exclusions)


def look(auditor: Auditor, system: ParticleSystem, state: State) -> Audit:
    """Return the audit of a state."""
    return auditor.look([state.x[s] for s in system.slices], [c.at(state.time) for c in system.scene.colliders])


def crosses(found: Audit) -> bool:
    """Return whether an audit found something to resolve."""
    return found.crossings > 0 or found.deepest_penetration > 0.0


def resolutions(system: ParticleSystem, solver: Solver, state: State, *, move_pins: bool = False
                ) -> Iterator[Resolution]:
    """Yield the best of the iterations that resolve an initial state, at most until they have taken the effort of a
    frame.

    Colliders shrink where they cross cloth, and grow again into cloth that does not cross itself any more. What that
    leaves is pushed out of them as they are.
    """
    contact = system.self_contact
    if contact is None:
        return
    held = np.zeros(system.vertex_count, dtype=np.bool_)
    if not move_pins:
        held[system.end_positions(state, 0.0)[0]] = True
    held[system.emission.unborn(state)] = True
    solids = [(c.at(0.0), shape) for c, shape in zip(system.scene.colliders, system.shapes, strict=True)]
    edges: IntArray = np.concatenate([system.edges, system.nodes.links])
    allowed = None if system.exclusions is None else system.exclusions.with_solids()

    def resolver(x: FloatArray, solids: list[tuple[FloatArray, SurfaceShape]]) -> StartResolver:
        return StartResolver(contact, x, edges, held, solids, allowed, itself=solver.self_collision)

    pushing = resolver(state.x, solids)
    first = pushing.count(state.x)
    best = Resolution(state.x, first, first)
    shrunk = pushing.shrunk()
    if any(shrunk) and plain_cloths(system, state.x, held):
        places = [(steps[-1] if steps else x, shape) for steps, (x, shape) in zip(shrunk, solids, strict=True)]
        x, effort = state.x, 0.0
        for resolution in resolver(x, places).resolve():
            x, effort = resolution.x, resolution.effort
            best = replace(best, effort=effort)
            yield best
            if effort > MOST_EFFORT:
                return
        cloths = plain_cloths(system, x, held)
        for x, more in grown(system.scene, solver, cloths, shrunk) if cloths else ():
            left, effort = pushing.count(x), effort + more
            best = replace(Resolution(x, left, first) if left <= best.crossings else best, effort=effort)
            yield best
            if effort > MOST_EFFORT:
                return
        if best.x is not state.x:
            pushing = resolver(best.x, solids)
    for resolution in pushing.resolve(settles=best.x is not state.x):
        resolution = replace(resolution, first=first, effort=best.effort + resolution.effort)
        yield resolution
        if resolution.effort > MOST_EFFORT:
            return


def resolved(system: ParticleSystem, solver: Solver, state: State) -> State:
    """Return the initial state with positions that are resolved as far as possible, and what that took."""
    x, effort = state.x, Effort()
    for resolution in resolutions(system, solver, state):
        x, effort = resolution.x, Effort(spent=resolution.effort)
    return replace(state, x=x, overspent=effort.overspent(state.overspent))


def resolution_of(system: ParticleSystem, given: State, before: Audit, state: State, after: Audit) -> StartResolution:
    """Return what a certificate says about the resolution of a `given` start to `state`, with their audits."""
    ways = length(state.x - given.x)
    moved = [StartMove(cloth.name, float(ways[span].max(initial=0.0)))
             for cloth, span in zip(system.scene.cloths, system.slices, strict=True)]
    return StartResolution(before.crossings, before.deepest_penetration, crossings_left(system, state, after),
                           [move for move in moved if move.way > 0.0])


def crossings_left(system: ParticleSystem, state: State, found: Audit) -> list[CrossingsLeft]:
    """Return the crossings of an audit per pair of objects, with their places."""
    scene, result = system.scene, []
    names = [*(c.name for c in scene.cloths), *(c.name for c in scene.colliders)]
    places = [*(state.x[s] for s in system.slices), *(c.at(state.time) for c in scene.colliders)]
    one, other = found.edge_object, found.triangle_object
    low, high = np.minimum(one, other), np.maximum(one, other)
    for a, b, count in found.by_objects()[:MAX_LISTED_PAIRS]:
        rows = np.flatnonzero((low == a) & (high == b))
        middle = np.mean([places[one[row]][found.edges[row]].mean(axis=0) for row in rows], axis=0)
        result.append(CrossingsLeft(names[a], names[b], count, middle.tolist()))
    return result
