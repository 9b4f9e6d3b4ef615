# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure of enclosed gas: energy, force and stiffness.

    E = sum_pieces E_k(V_k),    f = p a,    K = -dp/dV a a^T - p da/dx,    a_i = dV/dx_i = 1/3 sum_triangles N_t

N_t is the area vector of a triangle. This is exact for closed pieces on which the whole pressure acts: uniform pressure
is the gradient of p V, and makes no momentum. -p da/dx is symmetric there, but may be indefinite; without it a ball
under pressure would resist rotation.

On open pieces, and where the pressure acts on a part of the vertices, it has no potential, because it turns with the
surface while the boundary is free. There N_t is held at a reference in each step, and V = V_ref + sum_t w_t N_t . dx_t
is linear: energy, force and stiffness agree, and the direction of the pressure follows from step to step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import SINGLE_PRECISION, BoolArray, FloatArray, IntArray
from ..description.cloth import Cloth
from ..description.pressure import RANGES
from ..kernels import current
from ..linear.side_operator import LowRank, Rest, SideOperator
from ..loads.gas_law import GasState, gas_state
from .fluid_step import FluidStep
from .gas_surface import Fans, GasSurface


class PressureForces:
    """The pressure in all cloths of a system.

    Args:
        surface: the triangles that it acts on.
        cloths: of the system.
        start: (V, 3) positions at the start [m].
        body: (V,) connected piece of each particle; seams, buttons and threads connect.

    Attributes:
        surface, body: as given.
        least_volumes: (P,) volume of each piece with its sides in contact [m^3].
        sewn: (P,) whether a piece has seams. The change of the pressure's direction is left out of its stiffness:
            panels whose seams are still open have no tension that would balance it.
        changes: whether any setting changes with time.
        has_fluid: whether there is a fluid at any time.
        fans: half-edges of closed pieces without seams.
        columns: (V,) number of the field of the low-rank stiffness that a vertex belongs to, -1 for none.
    """

    def __init__(self, surface: GasSurface, cloths: Sequence[Cloth], start: FloatArray, body: IntArray) -> None:
        self.surface, self.body, self._cloths = surface, body, cloths
        self._own = [cloths[number] for number in surface.cloth]
        self.changes = any(cloth.pressure is not None and cloth.pressure.changes for cloth in cloths)
        x = surface.weld.positions(start)
        N = current().area_vectors.area_vectors(surface.triangles, x)
        area = np.bincount(surface.piece, np.linalg.norm(N, axis=1))
        size = area ** 1.5
        volumes = surface.volumes(x, N)
        self._start_volumes = np.where(volumes > SINGLE_PRECISION * size, volumes, 0.0)
        self.least_volumes: FloatArray = area * [cloth.distance for cloth in self._own]
        self._shares = _shares(surface.cloth, self._start_volumes, size)
        self.has_fluid = any(cloth.pressure is not None and cloth.pressure.has_fluid for cloth in cloths)
        self.columns: IntArray = np.full(len(start), -1)
        self.columns[surface.triangles] = _ranks(body[surface.anchor])[surface.piece][:, None]
        self.sewn: BoolArray = np.isin(np.arange(len(area)), surface.piece[np.isin(
            surface.triangles, surface.weld.places).any(axis=1)])
        self.columns[surface.weld.vertices] = self.columns[surface.weld.places]
        turns = (surface.closed & ~self.sewn)[surface.piece]
        self.fans = Fans.of(surface.triangles[turns], surface.piece[turns], len(start))

    @staticmethod
    def of(cloths: Sequence[Cloth], slices: Sequence[slice], start: FloatArray,
           body: IntArray) -> PressureForces | None:
        """Return the pressure in cloths, whose vertices are the ranges `slices` of all; None if there is none."""
        surface = GasSurface.of(cloths, slices, start)
        return None if surface is None else PressureForces(surface, cloths, start, body)

    def at(self, time: float) -> PressureAt:
        """Return the pressure at `time` [s]."""
        uniform, gas, scale, target, density = np.array([
            [cloth.pressure.number(what, time, cloth.name) for what in RANGES]
            for cloth in self._own if cloth.pressure is not None]).T
        target = np.where(np.isnan(target), self._start_volumes, self._shares * target)
        return PressureAt(self, scale * uniform, scale * gas, target, density)


@dataclass(frozen=True)
class Reference:
    """A configuration at which the area vectors of pieces without a potential are kept constant.

    Attributes:
        x: (V, 3) welded positions [m].
        N: (T, 3) area vectors [m^2].
        volumes: (P,) [m^3].
    """

    x: FloatArray
    N: FloatArray
    volumes: FloatArray


@dataclass(frozen=True)
class PressureAt:
    """The pressure at one time.

    Attributes:
        forces: constants of the system.
        uniform, gas: (P,) [Pa].
        target: (P,) [m^3].
        density: (P,) of the fluid [kg/m^3].
        reference: of pieces without a potential; None for their present area vectors.
        fluid: that of a step; None outside of steps and without any.
    """

    forces: PressureForces
    uniform: FloatArray
    gas: FloatArray
    target: FloatArray
    density: FloatArray
    reference: Reference | None = None
    fluid: FluidStep | None = None

    def in_step(self, x: FloatArray, free: FloatArray, h: float, gravity: FloatArray) -> PressureAt:
        """Return the pressure in a step of h [s] that ends near x (V, 3) [m], and at `free` (V, 3) [m] without forces.

        gravity: (V, 3) of each particle [m/s^2].
        """
        surface, reference, fluid = self.forces.surface, None, None
        if not surface.closed.all():
            welded = surface.weld.positions(x)
            N = current().area_vectors.area_vectors(surface.triangles, welded)
            reference = Reference(welded, N, surface.volumes(welded, N))
        if self.density.any():
            fluid = FluidStep.at(surface, x, free, h, self.density, self.target, gravity)
        return replace(self, reference=reference, fluid=fluid)

    def energy(self, x: FloatArray) -> float:
        """Return E [J] at x (V, 3) [m]."""
        fluid = 0.0 if self.fluid is None else self.fluid.energy(self.forces.surface.weld.positions(x))
        return float(self._shape(x)[1].energy.sum()) + fluid

    def add_force(self, x: FloatArray, total: FloatArray) -> None:
        """Add the force at x (V, 3) [m] to total (V, 3) [N]."""
        N, state = self._shape(x)
        forces = state.pressure[self.forces.surface.piece][:, None] * N
        if self.fluid is not None:
            forces += self.fluid.forces(self.forces.surface.weld.positions(x))
        total += self._at_corners(forces)

    def add_magnitude(self, x: FloatArray, total: FloatArray) -> None:
        """Add the absolute contributions to the force at x (V, 3) [m] to total (V, 3) [N]."""
        N, state = self._shape(x)
        total += self._at_corners(np.abs(state.pressure[self.forces.surface.piece][:, None] * N))

    def largest_frequency(self, x: FloatArray, mass: FloatArray) -> float:
        """Return an upper bound of omega^2 [1/s^2] of the pressure alone at x (V, 3) [m], with masses (V,) [kg].

        No eigenvalue of M^-1 K is above the largest sum of a row of absolute values; that of a a^T is its trace.
        """
        forces, surface = self.forces, self.forces.surface
        N, state = self._shape(x)
        a = self._at_corners(np.sqrt(state.stiffness)[surface.piece][:, None] * N)
        gas = np.bincount(forces.body, np.einsum("vi,vi->v", a, a) / mass)
        corners = x[surface.triangles]
        longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
        turning = np.bincount(surface.triangles.ravel(), np.repeat(np.abs(state.pressure)[surface.piece] * longest, 3),
                              len(mass))
        return float(gas.max() + (turning / mass).max())

    def stiffness(self, x: FloatArray, factor: float) -> SideOperator:
        """Return `factor` K at x (V, 3) [m]."""
        forces, surface = self.forces, self.forces.surface
        N, state = self._shape(x)
        vectors = [self._at_corners(np.sqrt(factor * state.stiffness)[surface.piece][:, None] * N)]
        rest: list[Rest] = []
        if self.fluid is not None:
            vectors += [self._at_corners(np.sqrt(factor) * moment) for moment in self.fluid.inertia]
            rest.append(_Heights(self.fluid, factor))
        fields = [vector if forces.columns.max() == 0 else np.where((forces.columns == column)[:, None], vector, 0.0)
                  for vector in vectors if vector.any() for column in range(int(forces.columns.max()) + 1)]
        p = np.where(surface.closed & ~forces.sewn, state.pressure, 0.0)
        if p.any():
            rest.append(_Turning(forces.fans, x, factor * p))
        return SideOperator(LowRank(fields, forces.body, int(forces.body.max()) + 1), rest)

    def _shape(self, x: FloatArray) -> tuple[FloatArray, GasState]:
        """Return the area vectors (T, 3) [m^2] times the part of the pressure that acts, and the gas at x (V, 3)."""
        surface, reference = self.forces.surface, self.reference
        welded = surface.weld.positions(x)
        N = current().area_vectors.area_vectors(surface.triangles, welded)
        volumes = surface.volumes(welded, N)
        if not surface.closed.all():
            N = surface.weights[:, None] * N
            if reference is not None:
                held = ~surface.closed[surface.piece]
                N[held] = (surface.weights[:, None] * reference.N)[held]
                moved = (welded - reference.x)[surface.triangles].mean(axis=1)
                swept = np.bincount(surface.piece, np.einsum("ti,ti->t", N, moved), len(volumes))
                volumes = np.where(surface.closed, volumes, reference.volumes + swept)
        return N, gas_state(volumes, self.uniform, self.gas, self.target, self.forces.least_volumes)

    def _at_corners(self, vectors: FloatArray) -> FloatArray:
        """Return the sum (V, 3) of a third of the vectors (T, 3) of the triangles around each vertex."""
        total, surface = np.zeros((len(self.forces.body), 3)), self.forces.surface
        current().area_vectors.add_to_corners(surface.stencil, vectors, total)
        return surface.weld.spread(total)


class _Heights:
    """The change of a fluid's pressure with the height, times a factor."""

    definite = True

    def __init__(self, fluid: FluidStep, factor: float) -> None:
        self._fluid, self._factor = fluid, factor

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add the product with x (V, 3) to total (V, 3)."""
        surface = self._fluid.surface
        moved = surface.weld.positions(x)[surface.triangles].mean(axis=1)
        added = np.zeros_like(total)
        current().area_vectors.add_to_corners(surface.stencil, self._factor * self._fluid.stiff_forces(moved), added)
        total += surface.weld.spread(added)


class _Turning:
    """-p da/dx of closed pieces without seams, times a factor.

    Args:
        fans: their half-edges.
        x: (V, 3) positions [m].
        factors: (P,) pressure times the factor.
    """

    definite = False

    def __init__(self, fans: Fans, x: FloatArray, factors: FloatArray) -> None:
        self._half_edges = fans.half_edges
        self._vectors = current().area_vectors.edge_vectors(fans.opposite, -factors, fans.piece, x)

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add the product with x (V, 3) to total (V, 3)."""
        current().area_vectors.add_gradient_changes(self._half_edges, self._vectors, x, total)


def _ranks(body: IntArray) -> IntArray:
    """Return the number (P,) of each piece among those of one body."""
    order = np.argsort(body, kind="stable")
    ordered = body[order]
    ranks = np.empty(len(body), dtype=np.int64)
    ranks[order] = np.arange(len(body)) - np.searchsorted(ordered, ordered)
    return ranks


def _shares(cloth: IntArray, volumes: FloatArray, size: FloatArray) -> FloatArray:
    """Return the part (P,) of its cloth's target volume that each piece gets: as of their volumes at the start, or of
    their areas to the power 3/2 if one has no volume."""
    shares = np.empty(len(cloth))
    for number in np.unique(cloth):
        own = cloth == number
        measure = volumes[own] if (volumes[own] > 0.0).all() else size[own]
        shares[own] = measure / measure.sum()
    return shares
