# SPDX-License-Identifier: GPL-3.0-or-later
"""The first frames of a simulation on coarser meshes: dense cloth settles there, and is carried to its own mesh.

A dense mesh takes long to fall to rest, because a stiff sheet of many vertices moves by little in each of many dear
steps. For its first `Solver.coarse_frames` frames, each cloth of four times `Solver.coarse_vertices` vertices or more
is simulated on a mesh over some of its vertices (`description.coarse_mesh`). Its positions there move all others:

    x_v  =  sum_k  w_vk  ( x_k + R_k (X_v - X_k) )

X are the positions at the start, R_k is the rotation nearest to the deformation of the coarse edges at k, and the
weights w are smooth, near k only, and 1 at k itself (embedded deformation, Sumner, Schmid and Pauly 2007). All frames
that are yielded have the full mesh. After the last coarse one the simulation goes on with it, and settles what the
coarse mesh cannot show.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..contact.initial_state.shape_energy import ShapeEnergy
from ..description.arguments import arguments_of, changes_of
from ..description.cloth import Cloth, usual_thickness
from ..description.coarse_mesh import CoarseMesh, coarsened
from ..description.frame_clock import FrameClock
from ..description.mesh import ClothMesh
from ..description.scene import Scene
from ..description.settings import Solver
from ..description.topology import Topology
from ..model.particle_system import ParticleSystem
from ..row_ops import length
from ..state import State, Touch
from ..stopwatch import Stopwatch
from .adaptive_stepper import Stepper

OF_EACH_VERTEX = frozenset(("positions", "velocities", "rest_scale", "rest_curvature", "stretch_scale", "shear_scale",
                            "bend_scale"))
"""Arguments of `Cloth` with a value for each vertex, which the coarse vertices keep."""
AS_GIVEN = frozenset(("material", "model", "pin_stiffness", "max_elongation", "name", "curl_angle", "field_weights"))
"""Arguments of `Cloth` that the coarse cloth has too."""
OTHERWISE = frozenset(("mesh", "pins", "pin_targets", "contact", "thickness", "sewing_time", "closing_gravity"))
"""Arguments of `Cloth` that the coarse cloth has in its own way, or that count only with others."""


class CoarseFrames:
    """The coarse half of a simulation.

    Args:
        system: the particle system on the full meshes.
        carriers: of each cloth, None for those that keep their mesh.
        solver: settings of the solver.
        watch: measures the stages of a step.
        clock: times of the frames.

    Attributes:
        stepper: of the coarse system.
    """

    def __init__(self, system: ParticleSystem, carriers: list[Carrier | None], solver: Solver, watch: Stopwatch,
                 clock: FrameClock) -> None:
        scene = system.scene
        cloths = [cloth if carrier is None else carrier.cloth
                  for cloth, carrier in zip(scene.cloths, carriers, strict=True)]
        self._system, self._carriers = system, carriers
        self._coarse = ParticleSystem(Scene(**{**arguments_of(scene), "cloths": cloths}),
                                      assembled=solver.matrix == "assembled")
        self.stepper = Stepper(self._coarse, solver, watch, clock)

    @staticmethod
    def of(system: ParticleSystem, solver: Solver, watch: Stopwatch, clock: FrameClock) -> CoarseFrames | None:
        """Return the coarse half of a simulation, None if no cloth can be coarser or `coarse_frames` is 0."""
        if not solver.coarse_frames:
            return None
        plain = system.vertex_count == sum(len(cloth.positions) for cloth in system.scene.cloths) and not any(
            cloth.tearing or cloth.plasticity for cloth in system.tears.given.cloths)
        carriers = [Carrier.of(cloth, solver.coarse_vertices) if plain else None for cloth in system.scene.cloths]
        return CoarseFrames(system, carriers, solver, watch, clock) if any(carriers) else None

    def advance(self, state: State, frame: int) -> State:
        """Return the state at `frame`, from the one at the frame before, both on the full meshes."""
        coarse = state.coarse
        if coarse is None or len(coarse.x) != self._coarse.vertex_count:
            coarse = replace(self._coarse.initial_state(), x=self._picked(state.x), v=self._picked(state.v),
                             time=state.time, emitted=state.emitted, emitted_before=state.emitted_before)
        coarse = self.stepper.advance(coarse, frame)
        x, v = np.empty_like(state.x), np.empty_like(state.v)
        for carrier, fine, few in zip(self._carriers, self._system.slices, self._coarse.slices, strict=True):
            x[fine], v[fine] = (coarse.x[few], coarse.v[few]) if carrier is None else carrier.carried(
                coarse.x[few], coarse.v[few])
        return State(x, v, coarse.time, Touch.none(len(x)), emitted=coarse.emitted,
                     emitted_before=coarse.emitted_before, plastic=state.plastic, torn=state.torn, coarse=coarse)

    def _picked(self, values: FloatArray) -> FloatArray:
        return np.concatenate([values[fine] if carrier is None else values[fine][carrier.mesh.vertices]
                               for carrier, fine in zip(self._carriers, self._system.slices, strict=True)])


class Carrier:
    """One cloth on a coarser mesh, and how that moves the full one.

    Attributes:
        cloth: on the coarse mesh.
        mesh: the coarse mesh.
    """

    def __init__(self, full: Cloth, mesh: CoarseMesh) -> None:
        self.mesh, self.cloth = mesh, _on(full, mesh)
        start: FloatArray = full.positions
        few = start[mesh.vertices]
        edges = Topology(mesh.triangles).edges
        self._energy = ShapeEnergy(few, edges, np.zeros(len(few), dtype=np.bool_))
        row, k = _near(mesh.nearest, edges)
        span = length(few[edges[:, 1]] - few[edges[:, 0]])
        reach = np.zeros(len(few))
        np.maximum.at(reach, edges.ravel(), np.repeat(span, 2))
        self._offset: FloatArray = start[row] - few[k]
        weight = np.clip(1.0 - length(self._offset) / reach[k], 0.0, None) ** 2
        weight[(mesh.vertices[k] != row) & np.isin(row, mesh.vertices)] = 0.0
        total = np.bincount(row, weight, len(start))
        weight = np.where(total[row] > 0.0, weight, k == mesh.nearest[row])
        self._row, self._k, self._count = row, k, len(start)
        self._weight: FloatArray = weight / np.bincount(row, weight, len(start))[row]

    @staticmethod
    def of(cloth: Cloth, most: int) -> Carrier | None:
        """Return the carrier of a cloth of four times `most` vertices or more, None if it has fewer, or a setting that
        its own mesh alone can have, such as seams, or another model than Baraff and Witkin's."""
        known = OF_EACH_VERTEX | AS_GIVEN | OTHERWISE | set(cloth.model_options)
        other = [name for name, value in arguments_of(cloth).items() if name not in known
                 and value is not None and value is not False and not (np.ndim(value) and len(value) == 0)]
        mesh, model = cloth.mesh, cloth.model == "baraff_witkin"
        if (len(mesh.positions) < 4 * most or other or not model or len(mesh.loose_edges)
                or arguments_of(mesh).get("uv") is not None or changes_of(arguments_of(cloth)["mesh"])):
            return None
        coarse = coarsened(mesh.positions, mesh.triangles, most, _pinned(cloth))
        return None if coarse is None else Carrier(cloth, coarse)

    def carried(self, x: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions (V, 3) [m] and velocities (V, 3) [m/s] of the full mesh for those of the coarse one (C, 3).
        """
        turned = np.einsum("nij,nj->ni", self._energy.rotations(x)[self._k], self._offset)
        return self._sum(x[self._k] + turned), self._sum(v[self._k])

    def _sum(self, values: FloatArray) -> FloatArray:
        return np.stack([np.bincount(self._row, self._weight * column, self._count) for column in values.T], axis=1)


def _near(nearest: IntArray, edges: IntArray) -> tuple[IntArray, IntArray]:
    """Return pairs of a vertex and a coarse vertex (N,), (N,): that to which it belongs and the neighbours of that."""
    count = int(nearest.max()) + 1
    one, other = np.concatenate([edges, edges[:, ::-1], np.repeat(np.arange(count), 2).reshape(-1, 2)]).T
    order = np.lexsort((other, one))
    one, other = one[order], other[order]
    first = np.searchsorted(one, np.arange(count + 1))
    sizes = np.diff(first)[nearest]
    row = np.repeat(np.arange(len(nearest)), sizes)
    within = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return row, other[first[nearest][row] + within]


def _pinned(cloth: Cloth) -> BoolArray:
    """Return which vertices (V,) pins pull or hold."""
    result: BoolArray = cloth.pins.weights > 0.0
    result[cloth.pins.held] = result[cloth.pins.pulled] = True
    return result


def _on(full: Cloth, mesh: CoarseMesh) -> Cloth:
    """Return a cloth on its coarse mesh."""
    given, some = arguments_of(full), mesh.vertices
    own = ClothMesh(full.mesh.positions[some], mesh.triangles, name=full.mesh.name,
                    grain=arguments_of(full.mesh).get("grain", (1.0, 0.0, 0.0)))
    arguments = {name: value for name, value in given.items() if name in AS_GIVEN}
    arguments |= {**full.model_options,
                  "thickness": None if full.has_usual_thickness else max(full.thickness, usual_thickness(own))}
    arguments |= {name: np.asarray(value)[some] if np.ndim(value) else value for name, value in given.items()
                  if name in OF_EACH_VERTEX and value is not None}
    pins, targets, contact = given.get("pins"), given.get("pin_targets"), given.get("contact")
    if isinstance(pins, dict):
        index = {int(v): n for n, v in enumerate(some)}
        arguments["pins"] = {index[int(v)]: held for v, held in pins.items() if int(v) in index}
    elif callable(pins):
        arguments["pins"] = lambda time: np.asarray(pins(time))[some]
    elif pins is not None:
        arguments["pins"] = np.asarray(pins)[some]
    if targets is not None:
        arguments["pin_targets"] = lambda time: np.asarray(targets(time))[some]
    if contact is not None:
        marks = {name: None if getattr(contact, name) is None else getattr(contact, name)[some]
                 for name in ("not_self", "not_objects")}
        arguments["contact"] = replace(contact, **marks)
    return Cloth(own, **arguments)
