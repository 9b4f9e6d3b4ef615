# SPDX-License-Identifier: GPL-3.0-or-later
"""Let colliders grow into cloth, which they push out in front of them.

From sizes at which nothing crosses, colliders grow to their own in a simulation in which nothing else acts. What keeps
a bake free of crossings keeps this free of them, whatever layers there are, and elasticity keeps the shape. Each step
starts at rest, and is long for a wave of stretch, so that the motion is quasi-static.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..contact.initial_state.collider_rows import CLEARANCE
from ..description.cloth import Cloth
from ..description.collider import Collider
from ..description.material import Material
from ..description.mesh import ClothMesh
from ..description.scene import Scene
from ..description.settings import Solver
from ..errors import ClothError
from ..model.particle_system import ParticleSystem
from ..stopwatch import Stopwatch
from .adaptive_stepper import Stepper

FRAMES = 12
"""Frames in which colliders grow [-]."""
SLOWNESS = 100.0
"""Length of a frame, over the time in which a wave of stretch passes an edge [-]."""


def plain_cloths(system: ParticleSystem, x: FloatArray, held: BoolArray) -> list[Cloth] | None:
    """Return the cloths of a scene as plain cotton without friction, whose rest shape is x (V, 3) [m]; None where one
    is more than a sheet, or too crumpled for a rest shape.

    held: (V,) vertices that do not move.
    """
    scene, fabric, result = system.scene, Material.preset("cotton", friction=0.0), []
    if system.vertex_count != sum(len(cloth.positions) for cloth in scene.cloths):
        return None
    for cloth, own in zip(scene.cloths, system.slices, strict=True):
        if len(cloth.mesh.triangles) == 0 or cloth.mesh.split:
            return None
        try:
            mesh = ClothMesh(x[own], cloth.mesh.triangles, cloth.mesh.loose_edges, name=cloth.name, points=True)
        except ClothError:
            return None
        result.append(Cloth(mesh, fabric, pins=dict.fromkeys(np.flatnonzero(held[own]).tolist()), name=cloth.name,
                            thickness=CLEARANCE * cloth.thickness, contact=replace(cloth.contact, self_distance=None)))
    return result


def grown(scene: Scene, solver: Solver, cloths: Sequence[Cloth], small: Sequence[FloatArray | None]
          ) -> Iterator[tuple[FloatArray, float]]:
    """Yield positions (V, 3) [m] of all cloths after each frame in which colliders grow, and the frame's effort.

    Args:
        scene: as given.
        solver: its settings.
        cloths: plain ones.
        small: positions (W, 3) [m] from which each collider grows, None for those that have their size.
    """
    fabric, edge = cloths[0].material, float(np.mean([cloth.mesh.mean_edge for cloth in cloths]))
    frame = SLOWNESS * edge * float(np.sqrt(fabric.areal_density / min(fabric.stretch)))
    colliders = [_growing(collider, place, FRAMES * frame)
                 for collider, place in zip(scene.colliders, small, strict=True)]
    system = ParticleSystem(Scene(cloths, colliders, gravity=(0.0, 0.0, 0.0), air_density=0.0))
    stepper = Stepper(system, Solver(steps_per_frame=1, frame_rate=1.0 / frame, tolerance=1e-2, backend=solver.backend,
                                     self_collision=solver.self_collision), Stopwatch())
    state = system.initial_state()
    for number in range(1, FRAMES + 1):
        state = stepper.advance(replace(state, v=np.zeros_like(state.v)), number)
        yield state.x, stepper.take_record().effort


def _growing(collider: Collider, small: FloatArray | None, duration: float) -> Collider:
    """Return a collider that grows from `small` (W, 3) [m] to its size at time 0 in `duration` [s]."""
    size = collider.at(0.0)

    def at(time: float) -> FloatArray:
        share = time / duration
        return size if small is None or share >= 1.0 else small + share * (size - small)

    return Collider(size if small is None else at, collider.triangles, 0.0, thickness=CLEARANCE * collider.thickness,
                    name=collider.name)
