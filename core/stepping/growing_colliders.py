# SPDX-License-Identifier: GPL-3.0-or-later
"""Let colliders grow into cloth, which they push out in front of them.

From sizes at which nothing crosses, colliders grow to their own in a simulation in which nothing else acts. What keeps
a bake free of crossings keeps this free of them, whatever layers there are, and elasticity keeps the shape. Each frame
starts at rest, and is as long as a wave of stretch takes to pass the cloth, so that the motion is quasi-static.
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
from ..errors import ClothError, SolverError
from ..model.particle_system import ParticleSystem
from ..row_ops import length
from ..stopwatch import Stopwatch
from .adaptive_stepper import Stepper


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


def grown(scene: Scene, solver: Solver, cloths: Sequence[Cloth], shrunk: Sequence[Sequence[FloatArray]]
          ) -> Iterator[tuple[FloatArray, float]]:
    """Yield positions (V, 3) [m] of all cloths after each frame in which colliders grow, and one more in which stretch
    evens out; and the effort of the frame. End early where a step has no solution.

    Args:
        scene: as given.
        solver: its settings.
        cloths: plain ones.
        shrunk: steps inwards of each collider (W, 3) [m], a frame for each; none for those that have their size.
    """
    fabric = cloths[0].material
    extent = max(float(length(np.ptp(cloth.positions, axis=0))) for cloth in cloths)
    frame = extent * float(np.sqrt(fabric.areal_density / min(fabric.stretch)))
    colliders = [_growing(collider, steps, frame) for collider, steps in zip(scene.colliders, shrunk, strict=True)]
    system = ParticleSystem(Scene(cloths, colliders, gravity=(0.0, 0.0, 0.0), air_density=0.0))
    stepper = Stepper(system, Solver(frame_rate=1.0 / frame, tolerance=1e-2, backend=solver.backend,
                                     self_collision=solver.self_collision), Stopwatch())
    state = system.initial_state()
    for number in range(1, max(map(len, shrunk)) + 2):
        try:
            state = stepper.advance(replace(state, v=np.zeros_like(state.v)), number)
        except SolverError:
            return
        yield state.x, stepper.take_record().effort.spent


def _growing(collider: Collider, shrunk: Sequence[FloatArray], frame: float) -> Collider:
    """Return a collider that grows to its size at time 0, by the steps by which it has shrunk, in a `frame` [s] each.
    """
    places = [*reversed(shrunk), collider.at(0.0)]

    def at(time: float) -> FloatArray:
        number = min(int(time / frame), len(shrunk) - 1)
        share = min(time / frame - number, 1.0)
        return places[number + 1] if share == 1.0 else places[number] + share * (places[number + 1] - places[number])

    return Collider(at if shrunk else places[0], collider.triangles, 0.0, thickness=CLEARANCE * collider.thickness,
                    name=collider.name)
