# SPDX-License-Identifier: GPL-3.0-or-later
"""Continue a simulation from a checkpoint: whether it fits the scene, and what of its state still holds."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from ..description.scene import Scene
from ..description.settings import Solver
from ..errors import CheckpointError
from ..model.particle_system import ParticleSystem
from ..number_text import number_text
from ..state import State
from .checkpoint import Checkpoint


class CheckpointMaker:
    """Makes the checkpoints of one simulation, whose frame `first` is at time 0."""

    def __init__(self, scene: Scene, solver: Solver, first: int) -> None:
        self._scene, self._solver, self._first = scene, solver, first
        self._colliders = _collider_vertices(scene)          # asked for once: a trajectory may be slow to read
        self._meshes = _meshes(scene)

    def at(self, frame: int, state: State) -> Checkpoint:
        """Return the checkpoint of a frame."""
        return Checkpoint(frame, self._first, _vertices(self._scene), self._meshes, self._colliders,
                          float(self._solver.frame_rate), self._solver.steps_per_frame, _halvings(self._solver), state)


def check_continues(start: Checkpoint, scene: Scene, solver: Solver, frame: int) -> None:
    """Raise a CheckpointError if a simulation cannot go on from `start` with this `frame`."""
    if not isinstance(start, Checkpoint):
        raise CheckpointError(f"start is {start!r}, it must be a Checkpoint, such as frame.checkpoint()")
    if frame != start.frame + 1:
        raise CheckpointError(f"the checkpoint is of frame {start.frame}, so that the first of frames must be "
                              f"{start.frame + 1}, not {frame}")
    if start.vertices != _vertices(scene):
        raise CheckpointError(f"the checkpoint is of cloths with {list(start.vertices)} vertices, those of the scene "
                              f"have {list(_vertices(scene))}; start anew with the changed mesh")
    if start.meshes != _meshes(scene):
        raise CheckpointError("the edges, triangles or rest lengths of the cloths are not those of the checkpoint; "
                              "start anew with the changed mesh")
    if start.frame_rate != float(solver.frame_rate):
        raise CheckpointError(f"the checkpoint was made at {number_text(start.frame_rate)} frames per second, the "
                              f"solver has {number_text(solver.frame_rate)}; take the same frame rate, or start anew")


def continued(start: Checkpoint, scene: Scene, solver: Solver, system: ParticleSystem) -> State:
    """Return the state from which a simulation of `system` continues.

    If colliders differ from those of the checkpoint, contact forces are not kept as first guess; if steps differ, the
    step size starts anew; and if other rest shapes flow, none has flowed.

    Raises:
        CheckpointError: the state has another number of particles; a jelly with other cells, for example, has.
    """
    state, count = start.state, system.vertex_count
    if len(state.x) != count:
        raise CheckpointError(f"the checkpoint has {len(state.x)} particles, the scene has {count}: the cells of "
                              "a jelly have changed, so that it has to start anew")
    if start.colliders != _collider_vertices(scene):
        state = replace(state, contact=None)
    if (start.steps_per_frame, start.halvings) != (solver.steps_per_frame, _halvings(solver)):
        state = replace(state, control=None)
    begin = system.plastic_start
    if begin is None or state.plastic is None or len(begin) != len(state.plastic):
        state = replace(state, plastic=begin)
    return replace(state, torn=system.tears.torn)


def _vertices(scene: Scene) -> tuple[int, ...]:
    return tuple(len(cloth.positions) for cloth in scene.cloths)


def _meshes(scene: Scene) -> tuple[int, ...]:
    """Return a digest of the cloths' edges, triangles and rest lengths, as four whole numbers."""
    digest = hashlib.sha256()
    for cloth in scene.cloths:
        for array in (cloth.mesh.edges, cloth.mesh.triangles, cloth.mesh.rest_lengths):
            digest.update(np.ascontiguousarray(array).tobytes())
    return tuple(int(number) for number in np.frombuffer(digest.digest(), dtype="<i8"))


def _collider_vertices(scene: Scene) -> tuple[int, ...]:
    return tuple(len(collider.at(0.0)) for collider in scene.colliders)


def _halvings(solver: Solver) -> int:
    return solver.max_halvings if solver.adaptive else 0
