# SPDX-License-Identifier: GPL-3.0-or-later
"""All cloths of a scene as one set of particles: masses, forces and pins, as arrays.

This is the fixed half of a simulation (the moving half is `State`) and all that an integrator knows of cloth.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..contact.piles import Piles
from ..contact.rooms import shapes_of
from ..contact.self_contact import SelfContact
from ..description.cloth import Cloth
from ..description.scene import Scene
from ..description.seam_pairs import Links
from ..description.topology import bodies
from ..integrators import step_strain
from ..integrators.strain_limit import StrainLimit
from ..kernels import current
from ..linear.block_matrix import BlockMatrix, BlockPattern
from ..linear.constraint_filter import ConstraintFilter
from ..linear.implicit_matrix import ImplicitMatrix
from ..linear.modified_pcg import Operator
from ..linear.preconditioners.block_jacobi import BlockJacobi
from ..linear.preconditioners.select import Preconditioners
from ..loads.air_drag import AirDrag, drag_stencil
from ..state import SolveHistory, State, Touch
from ..stencils.springs.edge_damping import dashpots
from ..stencils.stencil import ElementForce, Stencil
from .dof_numbering import Nodes, patch_areas
from .elastic_forces import ConstantStiffness, ElasticForces, by_stencil, changing_families
from .emission import Emission
from .matrix_free import MatrixFree
from .projective_elements import scalar_elements
from .projective_matrix import ProjectiveMatrix
from .rest_shape_ramp import Easing
from .seam_forces import SeamForce
from .soft_pins import SoftPinForce
from .velocity_forces import RateForce
from .velocity_predictor import Smoothing


class System:
    """Particles of all cloths in one numbering.

    Attributes:
        nodes: the particles' numbering. mass (V,) [kg]; carried (V,) [kg], what contact and pins take hold of;
        thickness (V,) [m]; friction (V,) [-]; slices: per cloth its range of particles;
        edges (E, 2) and rest_lengths (E,) [m] of all cloths; body (V,) the connected piece of each particle;
        piles: these with their weights;
        abrupt (V,): whether there are threads, seams or links that go slack in its piece; sewn, slackens: whether there
        are seams, or such links, at all; shapes: of the colliders, with their rooms open;
        smoothing: of velocities, along the edges; strain_limit: of edges, None where there is none.
    """

    def __init__(self, scene: Scene, *, assembled: bool = True) -> None:
        self.scene = scene
        self.nodes = nodes = Nodes(scene.cloths)
        self.vertex_count, self.slices = nodes.count, nodes.slices
        counts, starts = [s.stop - s.start for s in nodes.slices], [s.start for s in nodes.slices]
        self.mass, self.carried = nodes.mass, nodes.carried
        self.thickness: FloatArray = nodes.padded(np.repeat([c.distance for c in scene.cloths], counts))
        self.friction: FloatArray = nodes.padded(np.repeat([c.material.friction for c in scene.cloths], counts))
        self.edges: IntArray = np.concatenate([c.mesh.edges + s for c, s in zip(scene.cloths, starts, strict=False)])
        self.rest_lengths: FloatArray = np.concatenate([c.mesh.rest_lengths for c in scene.cloths])
        ends = np.cumsum([0, *(len(c.mesh.edges) for c in scene.cloths)])
        self._edges_of = [slice(*span) for span in zip(ends[:-1], ends[1:], strict=True)]
        self.triangles: IntArray = np.concatenate(
            [c.mesh.triangles + s for c, s in zip(scene.cloths, starts, strict=False)])
        threads: IntArray = np.concatenate(
            [c.mesh.loose_edges + s for c, s in zip(scene.cloths, starts, strict=False)])
        self._measured: list[tuple[FloatArray, FloatArray]] = []
        near: IntArray = np.concatenate([self.edges, nodes.links])
        self.body: IntArray = bodies(near, self.vertex_count)
        self.piles = Piles(self.body, self.mass, scene.gravity)
        self._forces = self._element_forces()
        seams = Links.joined([(s.links(), span.start) for c, span in zip(scene.cloths, self.slices, strict=True)
                              for s in c.sewing])
        links = seams.ends
        self.sewn = len(links) > 0
        slack = [f.stencil.vertices for f in self._forces if getattr(f.law, "may_go_slack", False)]
        self.may_go_slack = len(slack) > 0
        self.abrupt: BoolArray = np.isin(self.body, self.body[np.concatenate([threads, links, *slack])])
        self.emission = Emission.of(scene.cloths, self.slices)
        self._held = ConstraintFilter(self.vertex_count)
        for cloth, span in zip(scene.cloths, self.slices, strict=True):
            self._held.fix(cloth.pins.held + span.start, np.zeros((len(cloth.pins.held), 3)))
        elongation: FloatArray = np.concatenate([np.full(len(c.mesh.edges), c.max_elongation) for c in scene.cloths])
        longest: FloatArray = self.rest_lengths * (1.0 + elongation)
        self.strain_limit = StrainLimit(self.edges, longest, self.carried,
                                        self._held.rows) if np.isfinite(elongation).any() else None
        self._last_longest, self._last_limit = longest, self.strain_limit
        self._weight: FloatArray = self.mass[:, None] * scene.gravity
        self._damped = by_stencil(f for f in self._forces if f.damping and not f.law.constant_tangent)
        self._damped_constant = by_stencil(f for f in self._forces if f.damping and f.law.constant_tangent)
        self._in_air = self._triangles_in_air()
        self._viscous: FloatArray = nodes.padded(np.concatenate(
            [c.material.viscous_drag * patch_areas(c.mesh, c.material) for c in scene.cloths]))
        self.smoothing = Smoothing(near, self.vertex_count)
        changing = [*(f.stencil for f in self._forces if not f.law.constant_tangent),
                    *(stencil for stencil, _ in self._in_air)] if assembled else []
        self._pattern = BlockPattern(
            self.vertex_count,
            [*(s.vertices for s in changing), *([nodes.links] if assembled else [])],   # ties are scalars, and near
            [f.stencil.vertices for f in self._forces if f.law.constant_tangent],
            [*(s.hub_count for s in changing), *([None] if assembled else [])])
        # the numbers of a step's matrix: memory fresh from the machine takes longer to touch than to fill
        self.room = np.zeros(self._pattern.size)
        self._constant = ConstantStiffness(self._forces, self._pattern.scalar)
        self._matrix_free = None if assembled else MatrixFree(self._pattern, changing_families(self._forces))
        self._elastic = ElasticForces(self._forces, self._pattern, self._weight, self._constant, self._matrix_free)
        scale: FloatArray = np.concatenate([c.mesh.scale for c in scene.cloths])
        self.self_contact = SelfContact(
            self.thickness, self.friction, self.carried, self.body, nodes.rest, nodes.start, self.triangles,
            scene.colliders, seams=seams if len(links) else None, skin=nodes.surface_count,
            threads=threads, points=np.flatnonzero(np.concatenate([c.mesh.loose_points for c in scene.cloths])),
            scale=nodes.padded(scale) if (scale != 1.0).any() else None,
            held=np.concatenate([c.pins.fixed + s.start for c, s in zip(scene.cloths, self.slices, strict=True)]),
        ) if len(self.triangles) + len(threads) else None
        skin = nodes.surface_count
        self.shapes = shapes_of([(c.at(0.0), c.triangles) for c in scene.colliders], nodes.start[:skin],
                                self.body[:skin], self.self_contact.surface if self.self_contact else None)
        self.preconditioners = Preconditioners(
            self._pattern, lambda: scalar_elements(self._forces, nodes.rest), np.concatenate([near, links]),
            nodes.rest)

    def initial_state(self) -> State:
        """Where everything starts, at time 0."""
        solids = [(c.at(0.0), shape) for c, shape in zip(self.scene.colliders, self.shapes, strict=True)]
        x = self.nodes.start if self.self_contact is None else self.self_contact.parted_start(solids)
        state = State(x, self.nodes.velocities.copy(), 0.0, Touch.none(self.vertex_count))
        state.v[self.emission.unborn(state)] = 0.0
        return state

    def edge_lengths(self, x: FloatArray) -> FloatArray:
        """Lengths (E,) [m] of all edges with vertices at x (V, 3) [m]; looked up once for the same array."""
        for known, lengths in self._measured:
            if known is x:
                return lengths
        found = x, current().strain.lengths(x, self.edges)
        self._measured = [found, *self._measured[:1]]
        return found[1]

    def growth(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """Stretch (E,) that the way from vertices `before` to `after` (V, 3) [m] adds to each edge, over its rest
        length [-].

        An edge that folds had made shorter may go back to its rest length: no smaller step would keep it from that.
        """
        old = np.maximum(self.edge_lengths(before), self.rest_lengths)
        added: FloatArray = (self.edge_lengths(after) - old) / self.rest_lengths
        return added

    def growth_of_most(self, before: FloatArray, after: FloatArray, enough: float = 0.0, *,
                       settled: bool = True) -> float:
        """That of most edges of a cloth, as `growth.of_most` has it, in the cloth of which it is largest."""
        added = self.growth(before, after)
        return float(np.max([step_strain.of_most(added[span], enough, settled=settled) for span in self._edges_of],
                            initial=0.0))

    def has_spikes(self, before: FloatArray, after: FloatArray) -> bool:
        """Whether a few edges of a cloth grow by so much more than its others that it shows, see `growth.is_spiky`."""
        added = self.growth(before, after)
        return any(step_strain.is_spiky(added[span]) for span in self._edges_of)

    def edge_named(self, edge: int) -> tuple[str, list[int]]:
        """The cloth that an edge is of, and its two vertices there."""
        ends = self.edges[edge]
        cloth = next(i for i, span in enumerate(self.slices) if span.start <= ends[0] < span.stop)
        return self.scene.cloths[cloth].name, (ends - self.slices[cloth].start).tolist()

    def seam_gap(self, x: FloatArray) -> float | None:
        """How far apart the widest seam or button is [m] with vertices at x (V, 3) [m]; None where nothing is sewn."""
        gaps = [sewing.gap(x[span]) for cloth, span in zip(self.scene.cloths, self.slices, strict=True)
                for sewing in cloth.sewing]
        return max(gaps, default=None)

    # ------------------------------------------------------------------ forces of position

    def elastic(self, time: float) -> ElasticForces:
        """Elastic forces and weight, with soft pins' targets, the lengths of seams and painted rest shapes as they are
        at `time` [s]."""
        eased = [easing.set(time) for easing in self._easings]
        if any(eased):                       # the force of damping is of the same elements as its matrix
            self._damped = by_stencil(f for f in self._forces if f.damping and not f.law.constant_tangent)
            self._ease_limit()
        if self._soft_pins or self._sewn or any(eased):
            for pin_force, place in self._soft_pins:
                self._forces[place] = pin_force.at(time)
            for seam_force, place in self._sewn:
                self._forces[place] = seam_force.at(time)
            self._elastic = ElasticForces(self._forces, self._pattern, self._weight, self._constant, self._matrix_free)
        return self._elastic

    def _ease_limit(self) -> None:
        """Edges may be as long as the rest shape that is being taken on lets them be, not as that of the end."""
        longest = self._last_longest.copy()
        for easing, edges, scale in self._eased_edges:
            longest[edges] *= easing.longer(scale)
        last = self._last_limit
        if last is not None:
            self.strain_limit = last if np.array_equal(longest, self._last_longest) else last.of_lengths(longest)

    # ------------------------------------------------------------------ forces of velocity

    def rate_force(self, x: FloatArray, v: FloatArray, time: float) -> RateForce | None:
        """Damping and drag, linearised at x and v (V, 3): None where there is neither.

        Damping of a constant, isotropic stiffness K acts along directions that change, D <= tau K. Implicit is all of
        tau K, which is constant; what it has too much is taken back as it was at v: -tau K v1 + (tau K - D) v0. The
        difference to -D v1 is (tau K - D)(v1 - v0), an inertia that vanishes with the step.
        """
        viscous = self._viscous if self._viscous.any() else None
        if not (self._in_air or self._damped or self._damped_constant or viscous is not None):
            return None
        push = np.zeros_like(x)
        drags = [AirDrag.at(stencil, coefficients, x) for stencil, coefficients in self._in_air]
        wind = self.scene.wind_at(time, x)
        if np.any(wind):
            for drag in drags:
                drag.add_force(np.ascontiguousarray(np.broadcast_to(-wind, x.shape)), push)
        constant = self._constant.damping if self._damped_constant else None
        if constant is not None:
            self._pattern.scalar.add_product(constant, v, push)
            for family in self._damped_constant:
                current().element_families.add_damping_force(family, x, v, push)
        return RateForce(x, push, self._damped, constant, drags, viscous, self._pattern)

    def damping_force(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Deformation-rate damping (V, 3) [N] at positions x and velocities v (V, 3), a part of `rate_force`."""
        total = np.zeros_like(x)
        for family in (*self._damped, *self._damped_constant):
            current().element_families.add_damping_force(family, x, v, total)
        return total

    def force(self, x: FloatArray, v: FloatArray, time: float) -> FloatArray:
        """All forces (V, 3) [N] but those of contact at positions x and velocities v (V, 3), at `time` [s]."""
        f = self.elastic(time).force(x)
        rate = self.rate_force(x, v, time)
        if rate is not None:
            f += rate.push - rate.product(v)
        return f

    # ------------------------------------------------------------------ the linear system

    def preconditioner(self, history: SolveHistory, h: float, matrix: BlockMatrix, filter_: ConstraintFilter,
                       tolerance: float) -> tuple[Operator, bool]:
        """Return r -> P^-1 r for A = `matrix` of a step of h [s], pins and contacts in `filter_`, solved to
        `tolerance`, and whether it is a direct factor; selected by the `history` of solves."""
        if isinstance(matrix, ImplicitMatrix):
            return BlockJacobi(matrix.diagonal(), filter_), False
        return self.preconditioners.make(history, h, self.mass + h * self._viscous, filter_, matrix, tolerance)

    @cached_property
    def edge_stiffness(self) -> FloatArray:
        """About how stiff each edge is at rest (E,) [N/m]."""
        blocks = self._elastic.stiffness(self.nodes.rest, 1.0).diagonal_blocks()
        return step_strain.edge_stiffness(self.edges, blocks.trace(axis1=1, axis2=2))

    @cached_property
    def projective(self) -> ProjectiveMatrix:
        """The constant matrix of projective dynamics, made when it is first asked for."""
        return ProjectiveMatrix(self._forces, self.nodes.rest, self.mass, self._viscous)

    @cached_property
    def diagonal_pattern(self) -> BlockPattern:
        """Of matrices in which no vertex knows of another."""
        return BlockPattern(self.vertex_count, [])

    # ------------------------------------------------------------------ pins

    def pins(self, state: State, step: float) -> ConstraintFilter:
        """The filter of all pins and attachments, with z = the velocity change that brings them to where they must
        be at the end of the step [m/s]."""
        pins = self._held.copy()
        unborn = self.emission.unborn(state)
        if len(unborn):
            pins.fix(unborn, -state.v[unborn])
        end = state.time + step
        for cloth, span in zip(self.scene.cloths, self.slices, strict=True):
            x, v = state.x[span], state.v[span]
            if len(cloth.pins.held):
                wanted = (cloth.pins.positions(cloth.pins.held, end) - x[cloth.pins.held]) / step
                pins.z[cloth.pins.held + span.start] = wanted - v[cloth.pins.held]
            for attachment in cloth.pins.attachments:
                i = attachment.vertex
                wanted = (cloth.pins.attachment_target(attachment, end) - x[i]) / step - v[i]
                for direction in np.asarray(attachment.directions):
                    unit = direction / np.linalg.norm(direction)
                    pins.constrain(np.array([i + span.start]), unit[None], np.array([wanted @ unit]))
        return pins

    def held_positions(self, time: float) -> tuple[IntArray, FloatArray]:
        """Indices (n,) of exactly pinned particles and where they are at `time` [s] (n, 3) [m]."""
        held = [c.pins.held + s.start for c, s in zip(self.scene.cloths, self.slices, strict=True)]
        at = [c.pins.positions(c.pins.held, time) for c in self.scene.cloths if len(c.pins.held)]
        return np.concatenate(held), np.concatenate(at) if at else np.zeros((0, 3))

    # ------------------------------------------------------------------ building

    def _element_forces(self) -> list[ElementForce]:
        forces: list[ElementForce] = []
        shrinking: list[tuple[Cloth, range]] = []
        self._soft_pins: list[tuple[SoftPinForce, int]] = []           # and their places in forces
        self._sewn: list[tuple[SeamForce, int]] = []
        for cloth, span, own_forces in zip(self.scene.cloths, self.slices, self.nodes.forces, strict=True):
            if cloth.maps.rest_scale is not None:
                shrinking.append((cloth, range(len(forces), len(forces) + len(own_forces))))
            forces += own_forces
            for damper in dashpots(cloth.mesh, cloth.material):
                forces.append(replace(damper, stencil=Stencil(damper.stencil.vertices + span.start,
                                                              damper.stencil.weights)))
            if len(cloth.pins.pulled):
                self._soft_pins.append((SoftPinForce(cloth.pins, self.carried[span], span.start), len(forces)))
                forces.append(self._soft_pins[-1][0].at(0.0))
            for sewing in cloth.sewing:
                self._sewn.append((SeamForce(sewing, span.start), len(forces)))
                forces.append(self._sewn[-1][0].at(0.0))
        scale = self.nodes.padded(np.concatenate([c.mesh.scale for c in self.scene.cloths]))
        self._easings = [Easing(forces, places, scale, cloth.closing_time) for cloth, places in shrinking]
        spans = {id(c): span for c, span in zip(self.scene.cloths, self._edges_of, strict=True)}
        self._eased_edges = [(easing, spans[id(c)], c.mesh.scale[c.mesh.edges].mean(axis=1))
                             for easing, (c, _) in zip(self._easings, shrinking, strict=True)]
        return forces

    def _triangles_in_air(self) -> list[tuple[Stencil, FloatArray]]:
        """Of each cloth that the air drags: the stencil of its triangles, and their k_d (T,)."""
        return [(drag_stencil(cloth.mesh.triangles + span.start),
                 np.full(len(cloth.mesh.triangles), float(cloth.material.air_drag)))
                for cloth, span in zip(self.scene.cloths, self.slices, strict=True)
                if cloth.material.air_drag and len(cloth.mesh.triangles)]
