# SPDX-License-Identifier: GPL-3.0-or-later
"""All cloths of a scene as one set of particles: masses, forces and pins, as arrays.

This is the fixed half of a simulation; `State` is the moving half. Everything here is a function of a state and of
time: no call changes the result of another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..contact.contact_distances import contact_distances
from ..contact.exclusions import Exclusions
from ..contact.rooms import shapes_of
from ..contact.self_contact import SelfContact
from ..contact.triangle_surface import TriangleSurface
from ..description.scene import Scene
from ..description.seam_pairs import Links
from ..description.topology import bodies
from ..description.torn_scene import TornScene
from ..kernels import current
from ..linear.block_matrix import BlockMatrix, BlockPattern
from ..linear.constraint_filter import ConstraintFilter
from ..linear.implicit_matrix import ImplicitMatrix
from ..linear.modified_pcg import Operator
from ..linear.preconditioners.block_jacobi import BlockJacobi
from ..linear.preconditioners.select import Preconditioners
from ..state import SolveHistory, State, Touch
from ..stencils.stencil import ElementForce
from .air_in_time import AirInTime
from .cloth_forces import built_model
from .dof_numbering import SolverNodes
from .elastic_forces import ConstantStiffness, ElasticForces, edge_stiffness
from .emission import Emission
from .field_forces import FieldForces, Step
from .force_families import changing, damped
from .forces_in_time import ForcesInTime
from .friction_in_time import FrictionInTime
from .gravity import Gravity
from .keyed_fabric import fabric_of
from .latest import Latest
from .matrix_free import MatrixFree
from .pin_constraints import PinConstraints
from .pressure_forces import PressureForces
from .projective_matrix import ProjectiveMatrix, constant_elements
from .stiffness_limit import limited
from .strain_limit import StrainLimit
from .velocity_forces import RateForce, VelocityForces
from .velocity_predictor import MotionPredictor


@dataclass(frozen=True)
class ForcesAt:
    """The forces of a system at one time: elastic forces and weight, and those that are linear in the velocity."""

    elastic: ElasticForces
    rates: VelocityForces


class ParticleSystem:
    """Particles of all cloths in one numbering.

    Args:
        scene: the scene that is simulated.
        assembled: whether step matrices are assembled; otherwise they are products with the elements.
        torn: (W,) flags of the edges of split meshes that have torn; none if not given.

    Attributes:
        tears: which edges have torn.
        scene: the one that is simulated, with the split meshes joined where they have not torn.
        nodes: numbering of the particles.
        gravity: of each particle.
        vertex_count: V, number of all particles, inner nodes included.
        slices: per cloth its range of particles.
        mass: (V,) [kg]. masses: (V, 3), of each coordinate.
        carried: (V,) mass that moves with a particle that is held or in contact [kg].
        thickness: (V,) [m]. friction: coefficients of friction over time.
        edges: (E, 2) of all cloths. rest_lengths: (E,) [m].
        displayed_edges: (E,) false for the diagonals by which quads and n-gons were cut into triangles.
        held_edges: (E,) true for the displayed edges between two vertices that pins hold exactly at all times.
        edge_slices: per cloth its range of edges.
        triangles: (T, 3) of all cloths.
        body, sewn: (V,) number of the connected piece of each particle; in `sewn`, seams and buttons connect.
        pressure: in the cloths, None where there is none.
        has_seams: whether there are seams or buttons. may_go_slack: whether links carry no compression.
        abrupt: (V,) whether the piece of a particle has threads, seams or links that may go slack.
        emission: particles that are born later.
        predictor: of motions.
        self_contact: contact of all cloths, None where there is no triangle, no thread and no collider.
        exclusions: what is excluded from contact; None if nothing is.
        shapes: of the colliders, with their rooms open.
        preconditioners: of the step matrices.
        workspace: numbers of a step's matrix, overwritten in each step: fresh memory is slower than writing to it.
    """

    def __init__(self, scene: Scene, *, assembled: bool = True, torn: BoolArray | None = None) -> None:
        self.tears = TornScene(scene, torn)
        self.scene = scene = self.tears.scene
        cloths = scene.cloths
        fabrics = [fabric_of(cloth) for cloth in cloths]
        self.nodes = nodes = SolverNodes(cloths, [built_model(cloth) if fabric is None else fabric.base
                                                  for cloth, fabric in zip(cloths, fabrics, strict=True)])
        self.vertex_count, self.slices = nodes.count, nodes.slices
        counts, starts = [s.stop - s.start for s in nodes.slices], [s.start for s in nodes.slices]
        self.mass, self.carried = nodes.mass, nodes.carried
        self.masses: FloatArray = np.repeat(self.mass, 3).reshape(-1, 3)
        self.gravity = Gravity(scene, nodes)
        self.friction = FrictionInTime(scene, nodes)
        self.edges: IntArray = np.concatenate([c.mesh.edges + s for c, s in zip(cloths, starts, strict=True)])
        self.rest_lengths: FloatArray = np.concatenate([c.mesh.rest_lengths for c in cloths])
        self.displayed_edges: BoolArray = ~np.concatenate([c.mesh.is_diagonal for c in cloths])
        ends = np.cumsum([0, *(len(c.mesh.edges) for c in cloths)])
        self.edge_slices = [slice(*span) for span in zip(ends[:-1], ends[1:], strict=True)]
        self.triangles: IntArray = np.concatenate([c.mesh.triangles + s for c, s in zip(cloths, starts, strict=True)])
        threads: IntArray = np.concatenate([c.mesh.loose_edges + s for c, s in zip(cloths, starts, strict=True)])
        near: IntArray = np.concatenate([self.edges, nodes.links])
        self.body: IntArray = bodies(near, self.vertex_count)
        scale: FloatArray = np.concatenate([c.mesh.scale for c in cloths])
        models = [limited(forces, nodes.rest, nodes.mass) for forces in nodes.forces]
        for fabric, forces in zip(fabrics, nodes.forces, strict=True):
            if fabric is not None:
                fabric.limit(forces, nodes.rest, nodes.mass)
        self._forces = ForcesInTime(cloths, nodes.slices, models, nodes.padded(scale), self.carried, fabrics)
        final = self._forces.final
        seams = Links.joined([(sewing.links(), start) for c, start in zip(cloths, starts, strict=True)
                              for sewing in c.sewing])
        self.has_seams = len(seams.ends) > 0
        self.sewn: IntArray = bodies(np.concatenate([near, seams.ends]), self.vertex_count)
        self.pressure = PressureForces.of(cloths, nodes.slices, nodes.start, self.sewn)
        slack = [f.stencil.vertices.ravel() for f in final if getattr(f.law, "may_go_slack", False)]
        self.may_go_slack = len(slack) > 0
        self.abrupt: BoolArray = np.isin(
            self.body, self.body[np.concatenate([threads.ravel(), seams.ends.ravel(), *slack])])
        self.emission = Emission.of(cloths, self.slices)
        self._pins = PinConstraints(cloths, self.slices, self.vertex_count, self.emission)
        self.held_edges: BoolArray = self.displayed_edges & np.isin(self.edges, self._pins.always).all(axis=1)
        self._limit = self._final_limit()
        self._latest_limit: Latest[tuple[tuple[float, ...], bytes | None], StrainLimit] = Latest()
        self._air = AirInTime(scene, self.slices, nodes.mass)
        self.predictor = MotionPredictor(near, self.vertex_count, self.abrupt)
        stencils = [*(f.stencil for f in final if not f.law.constant_tangent),
                    *self._air.stencils] if assembled else []
        self._pattern = BlockPattern(
            self.vertex_count,
            [*(s.vertices for s in stencils), *([nodes.links] if assembled else [])],   # ties are scalars, and near
            [f.stencil.vertices for f in final if f.law.constant_tangent],
            [*(s.hub_count for s in stencils), *([None] if assembled else [])])
        self.workspace = np.zeros(self._pattern.size)
        self._keyed = self._forces.constants_change
        self._constant = ConstantStiffness(final, self._pattern.scalar, again=self._keyed)
        self._matrix_free = None if assembled else MatrixFree(self._pattern, changing(final))
        self._fields = FieldForces(scene, nodes)
        self._latest_forces: Latest[tuple[float, bytes | None], ForcesAt] = Latest()
        self._latest_constant: Latest[tuple[object, ...], ConstantStiffness] = Latest()
        self._latest_edge_stiffness: Latest[tuple[float, ...], FloatArray] = Latest()
        self._latest_projective: Latest[tuple[float, ...], ProjectiveMatrix] = Latest()
        names = [*(c.name for c in cloths), *(c.name for c in scene.colliders)]
        exclusions = Exclusions([c.contact for c in cloths], counts, names, self.triangles, threads)
        self.exclusions = exclusions if exclusions.exclude else None
        layers = [c.contact.layer for c in cloths]
        # contact keeps edges apart by their distance at rest only within one piece: that before anything tore
        tears = np.concatenate([pairs + s.start for pairs, s in zip(self.tears.parted, self.slices, strict=True)])
        whole = bodies(np.concatenate([near, tears]), self.vertex_count)
        skin, surface, fitted = nodes.surface_count, None, [c.has_usual_thickness for c in self.tears.given.cloths]
        if len(self.triangles) + len(threads) + len(scene.colliders):
            points = np.flatnonzero(np.concatenate([c.mesh.loose_points & ~c.mesh.kept_loose for c in cloths]))
            together = bodies(seams.ends, self.vertex_count) if self.has_seams else None
            surface = TriangleSurface.build(nodes.start, self.triangles, together, threads, points)
        with_solids = None if self.exclusions is None else self.exclusions.with_solids()
        self.shapes = shapes_of([(c.at(0.0), c.triangles) for c in scene.colliders], nodes.start[:skin],
                                self.body[:skin], surface, with_solids)
        self.thickness, from_cloth = map(nodes.padded, contact_distances(
            cloths, fitted, scene.colliders, self.shapes, with_solids))
        self.self_contact = None if surface is None else SelfContact(
            self.thickness, self.friction.at, self.carried, whole, nodes.rest, surface, scene.colliders,
            seams=seams if self.has_seams else None, skin=skin,
            scale=nodes.padded(scale) if (scale != 1.0).any() else None,
            held=np.concatenate([c.pins.fixed + s.start for c, s in zip(scene.cloths, self.slices, strict=True)]),
            from_cloth=from_cloth, exclusions=self.exclusions,
            layer=np.repeat(layers, counts) if len(set(layers)) > 1 else None, tears=tears if len(tears) else None)
        self.preconditioners = Preconditioners(
            self._pattern, lambda: constant_elements(final, nodes.rest, bounding=False),
            np.concatenate([near, seams.ends]), nodes.rest)

    def initial_state(self) -> State:
        """Return the state at time 0."""
        solids = [(c.at(0.0), shape) for c, shape in zip(self.scene.colliders, self.shapes, strict=True)]
        x = self.nodes.start if self.self_contact is None else self.self_contact.parted_start(solids)
        state = State(x, self.nodes.velocities.copy(), 0.0, Touch.none(self.vertex_count),
                      plastic=self._forces.plastic_start, torn=self.tears.torn)
        state.v[self.emission.unborn(state)] = 0.0
        return state

    def of_cloths(self, values: FloatArray) -> list[FloatArray]:
        """Return values (V, 3) of all particles for the given vertices of each cloth; joined ones have the same."""
        return [values[s] if place is None else values[s][place]
                for s, place in zip(self.slices, self.tears.place, strict=True)]

    def element_forces(self, time: float, plastic: FloatArray | None = None) -> list[ElementForce]:
        """Return the element forces at `time` [s] with the `plastic` part of rest shapes."""
        return self._forces.at(time, plastic)

    def edge_lengths(self, x: FloatArray) -> FloatArray:
        """Return the lengths (E,) [m] of all edges with vertices at x (V, 3) [m]."""
        lengths: FloatArray = current().strain.lengths(x, self.edges)
        return lengths

    @cached_property
    def given_lengths(self) -> FloatArray:
        """Return the lengths of the edges at rest or at the start, whichever is more (E,) [m]."""
        return np.maximum(self.edge_lengths(self.nodes.start), self.rest_lengths)

    def edge_named(self, edge: int) -> tuple[str, list[int]]:
        """Return the name of the cloth of an edge, and the numbers of its two vertices there."""
        ends = self.edges[edge]
        cloth = next(i for i, span in enumerate(self.slices) if span.start <= ends[0] < span.stop)
        own, kept = ends - self.slices[cloth].start, self.tears.kept[cloth]
        return self.scene.cloths[cloth].name, (own if kept is None else kept[own]).tolist()

    def seam_gap(self, x: FloatArray) -> float | None:
        """Return the width [m] of the widest seam or button with vertices at x (V, 3) [m]; None without any."""
        gaps = [sewing.gap(x[span]) for cloth, span in zip(self.scene.cloths, self.slices, strict=True)
                for sewing in cloth.sewing]
        return max(gaps, default=None)

    # ------------------------------------------------------------------ forces

    @property
    def plastic_start(self) -> FloatArray | None:
        """Return the plastic part of all rest shapes at the start (n,), None if none flows."""
        return self._forces.plastic_start

    def flowed(self, state: State, h: float) -> FloatArray | None:
        """Return the plastic part of all rest shapes after a step of h [s] that ends in `state`."""
        return None if state.plastic is None else self._forces.flowed(state.time, state.x, h, state.plastic)

    @property
    def keyed(self) -> bool:
        """Whether stiffness, damping or drag of fabrics and pins are functions of time."""
        return self._keyed or self._air.changes

    def forces_at(self, time: float, plastic: FloatArray | None = None) -> ForcesAt:
        """Return the forces at `time` [s] with the `plastic` part of rest shapes, that of the start if not given.

        Soft pins have their targets at this time, seams their lengths, cloths their rest shapes, and the weight its
        gravity.
        """
        change = self._forces.change or self.gravity.changes or self._air.changes or (
            self.pressure is not None and self.pressure.changes)
        key = time if change else 0.0, None if plastic is None else plastic.tobytes()
        return self._latest_forces.at(key, lambda _: self._made_forces(key[0], plastic))

    def elastic(self, time: float, plastic: FloatArray | None = None) -> ElasticForces:
        """Return elastic forces and weight at `time` [s] with the `plastic` part of rest shapes."""
        return self.forces_at(time, plastic).elastic

    def rate_force(self, x: FloatArray, v: FloatArray, time: float, step: Step | None = None,
                   plastic: FloatArray | None = None) -> RateForce | None:
        """Return damping, drag and force fields, linearised at x and v (V, 3) and `time` [s]; None if there are none.

        step: the implicit step that is linearised, None for the forces at x and v.
        """
        return self.forces_at(time, plastic).rates.at(x, v, time, step)

    def force(self, x: FloatArray, v: FloatArray, time: float, plastic: FloatArray | None = None) -> FloatArray:
        """Return all forces (V, 3) [N] except contact at positions x and velocities v (V, 3), at `time` [s]."""
        f = self.elastic(time, plastic).force(x)
        rate = self.rate_force(x, v, time, plastic=plastic)
        if rate is not None:
            f += rate.push - rate.product(v)
        return f

    @cached_property
    def outer_forces(self) -> BoolArray:
        """Return whether other forces from outside than the weight act on each particle (V,), at any time."""
        acted = self._air.is_viscous | self._fields.push
        for stencil in (*(f.stencil for f in self._forces.final if f.stencil.held), *self._air.stencils):
            acted[stencil.vertices] = True
        if self.pressure is not None:
            acted[self.pressure.surface.triangles] = True
        return acted

    # ------------------------------------------------------------------ the linear system

    def preconditioner(self, history: SolveHistory, h: float, matrix: BlockMatrix, filter_: ConstraintFilter,
                       tolerance: float, *, in_flight: bool) -> tuple[Operator, bool]:
        """Return r -> P^-1 r for A = `matrix` of a step of h [s], pins and contacts in `filter_`, solved to
        `tolerance`, and whether it is a direct factor; selected by the `history` of solves, and by whether the step is
        one without contact (`in_flight`)."""
        if isinstance(matrix, ImplicitMatrix):
            return BlockJacobi(matrix.diagonal(), filter_), False
        return self.preconditioners.make(history, h, self.mass + h * self._air.viscous(0.0), filter_, matrix, tolerance,
                                         in_flight=in_flight)

    def edge_stiffness(self, time: float) -> FloatArray:
        """Return the approximate stiffness (E,) [N/m] of each edge, at rest and at the start; of a keyed fabric, at
        `time` [s]."""
        return self._latest_edge_stiffness.at(self._fabric_key(time), self._made_edge_stiffness)

    def projective(self, time: float) -> ProjectiveMatrix:
        """Return the matrix of projective dynamics, which is constant if no fabric is keyed, at `time` [s]."""
        return self._latest_projective.at(self._fabric_key(time), self._made_projective)

    @cached_property
    def diagonal_pattern(self) -> BlockPattern:
        """Return the pattern of matrices that couple no vertices."""
        return BlockPattern(self.vertex_count, [])

    # ------------------------------------------------------------------ constraints

    def pins(self, state: State, step: float) -> ConstraintFilter:
        """Return the filter of all pins and attachments in a step of `step` [s] from `state`.

        Its z are the velocity changes [m/s] that bring particles to their positions at the end of the step.
        """
        return self._pins.at(state, step)

    def held_positions(self, time: float) -> tuple[IntArray, FloatArray]:
        """Return the particles (n,) that pins hold exactly at all times, and their positions (n, 3) [m] at `time` [s].
        """
        return self._pins.positions(time)

    def end_positions(self, state: State, step: float) -> tuple[IntArray, FloatArray]:
        """Return the particles (n,) that pins hold exactly at the end of a step of `step` [s] from `state`, and where
        they are then (n, 3) [m]."""
        return self._pins.ends(state, step)

    def strain_limit(self, time: float, plastic: FloatArray | None = None) -> StrainLimit | None:
        """Return the limit of the edges' lengths at `time` [s]; None if there is none.

        Edges may be as long as their present rest shape allows, not as the final one does.
        """
        if self._limit is None:
            return None
        key = (*(shape.key(time) for shape in self._forces.shapes),
               *(c.max_elongation_at(time) for c in self.scene.cloths)), None if plastic is None else plastic.tobytes()
        return self._latest_limit.at(key, lambda _: self._made_limit(time, plastic))

    def rest_lengths_at(self, time: float, plastic: FloatArray | None = None) -> FloatArray:
        """Return the rest lengths (E,) [m] at `time` [s]; final ones where a painted scale is reached gradually."""
        ratios = [shape.lasting_ratios(time, part) for shape, part in zip(
            self._forces.shapes, self._forces.plastic_parts(plastic), strict=True)]
        return self.rest_lengths if all(r is None for r in ratios) else np.concatenate(
            [self.rest_lengths[span] if r is None else self.rest_lengths[span] * r
             for span, r in zip(self.edge_slices, ratios, strict=True)])

    # ------------------------------------------------------------------ building

    def _made_forces(self, time: float, plastic: FloatArray | None) -> ForcesAt:
        forces = self._forces.at(time, plastic)
        constant = self._constant
        if self._keyed:
            constant = self._latest_constant.at(self._forces.constant_key(time), lambda _: ConstantStiffness(
                forces, self._pattern.scalar, again=True))
        weight = self.mass[:, None] * self.gravity.at(time)
        pressure = None if self.pressure is None else self.pressure.at(time)
        elastic = ElasticForces(forces, self._pattern, weight, constant, self._matrix_free, pressure)
        rates = VelocityForces(self.scene, self._fields, self._air.triangles(time), self._air.viscous(time),
                               damped(forces, constant=False), damped(forces, constant=True), constant.damping,
                               self._pattern)
        return ForcesAt(elastic, rates)

    def _fabric_key(self, time: float) -> tuple[float, ...]:
        """Return a key that is equal at times at which no fabric differs: the time if any is keyed, () otherwise."""
        return (time,) if self.keyed else ()

    def _made_edge_stiffness(self, key: tuple[float, ...]) -> FloatArray:
        time = key[0] if key else 0.0
        blocks = self.elastic(time).stiffness(self.nodes.rest, 1.0).diagonal_blocks()
        return edge_stiffness(self.edges, blocks.trace(axis1=1, axis2=2))

    def _made_projective(self, key: tuple[float, ...]) -> ProjectiveMatrix:
        time = key[0] if key else 0.0
        forces = self._forces.at(time) if key else self._forces.final
        return ProjectiveMatrix(forces, self.nodes.rest, self.mass, self._air.viscous(time))

    def _final_limit(self) -> StrainLimit | None:
        elongation = np.concatenate([np.full(len(c.mesh.edges), c.max_elongation) for c in self.scene.cloths])
        if not np.isfinite(elongation).any():
            return None
        return StrainLimit(self.edges, self.rest_lengths * (1.0 + elongation), self.carried, self._pins.always)

    def _made_limit(self, time: float, plastic: FloatArray | None) -> StrainLimit:
        """Return the limit with the rest shapes of `time` [s]."""
        assert self._limit is not None
        longest = self._limit.all_longest.copy()
        parts = self._forces.plastic_parts(plastic)
        for cloth, span, shape, part in zip(self.scene.cloths, self.edge_slices, self._forces.shapes, parts,
                                            strict=True):
            if shape.moves:
                longest[span] *= shape.edge_ratios(time, part)
            now = cloth.max_elongation_at(time)
            if now != cloth.max_elongation:
                longest[span] *= (1.0 + now) / (1.0 + cloth.max_elongation)
        same = np.array_equal(longest, self._limit.all_longest)
        return self._limit if same else self._limit.of_lengths(longest)
