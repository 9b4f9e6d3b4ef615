# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields at one time, as the kernels take them: numbers, places, and what colliders absorb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from ..arrays import FloatArray, IntArray
from ..description.force_fields import FALLOFFS, PLACE, SHAPES, Z_DIRECTIONS, ForceField
from ..description.motion import Trajectory
from ..kernels import current
from ..kernels.formulas.force_fields import harmonic_offset, offset
from ..kernels.formulas.gradient_noise import Table
from ..kernels.formulas.random_numbers import mixed
from ..kernels.formulas.vectors import length as norm
from ..kernels.numpy.vectors import join, split
from ..row_ops import unit
from .field_surfaces import Absorber, Mesh
from .latest import Latest

FIELD_LAWS = {"turbulence": "turbulent", "magnetic": "flux"}
"""Names of laws that are not the kind of their field."""


@dataclass(frozen=True)
class Points:
    """V points of a cloth that fields act on.

    Attributes:
        x, v: (V, 3) [m], [m/s].
        base, h: with velocities u they will be at base + h u, after a step of h [s]; h is 0 outside of implicit steps.
    """

    x: FloatArray
    v: FloatArray
    base: FloatArray
    h: float = 0.0

    def of(self, span: slice) -> Points:
        """Return some of the points."""
        return replace(self, x=self.x[span], v=self.v[span], base=self.base[span])


@dataclass(frozen=True)
class Sums:
    """Sums over force fields at V points. An array without rows is not computed. See
    `kernels.numpy.force_fields.add_field`.

    Attributes:
        push, normal_push: (V, 3) [N/m^2].
        blocks: (V, 6) [N s/m^3]. bounds: (V,) [N s/m^3].
        spin, normal_spin: (V, 3) [N s/m^3].
    """

    push: FloatArray
    blocks: FloatArray
    normal_push: FloatArray
    bounds: FloatArray
    spin: FloatArray
    normal_spin: FloatArray

    def of(self, span: slice) -> Sums:
        """Return the sums of some of the points."""
        return Sums(self.push[span], self.blocks[span], self.normal_push[span], self.bounds[span], self.spin[span],
                    self.normal_spin[span])


@dataclass(frozen=True)
class FieldAt:
    """A field at one time, in the arrays of `kernels.numpy.force_fields.add_field`."""

    influence: float
    q: FloatArray
    codes: IntArray
    frame: FloatArray
    lattice: FloatArray
    cells: FloatArray
    table: Table


@dataclass(frozen=True)
class Source:
    """A field seen from one place per point.

    Attributes:
        place, normal: (V, 3) or (1, 3), place [m] and axis of the field.
        number: of the place, where a field has several.
    """

    place: FloatArray
    normal: FloatArray
    number: int = 0


class FieldSource:
    """One field, with what stays the same at all times."""

    def __init__(self, field: ForceField) -> None:
        self.field = field
        self.law = FIELD_LAWS.get(field.kind, field.kind)
        if field.kind == "vortex" and field.shape != "point":
            self.law = "whirl"
        on_axis = field.shape == "line" or field.kind == "vortex" and field.shape == "plane"
        self._shape = 1 if on_axis else min(SHAPES.index(field.shape), 3)
        self._stiff_shape = {"point": 0, "points": 0, "line": 1}.get(field.shape, 2)
        self._form, self._side = FALLOFFS.index(field.falloff), (0, 1, -1)[Z_DIRECTIONS.index(field.z_direction)]
        self._moves = any(isinstance(given, Trajectory) for given in (field.values, field.lattice, field.lattice_map))
        self._latest: Latest[float, FloatArray] = Latest()
        self._latest_at: Latest[float, FieldAt] = Latest()

    def numbers(self, time: float) -> FloatArray:
        """Return the numbers of the field at `time` [s]."""
        return self._latest.at(time if self._moves else 0.0, self.field.numbers_at)

    def wind_factor(self, time: float) -> float:
        """Return the part of the force that acts along the cloth's normals alone."""
        return float(self.numbers(time)[PLACE["wind_factor"]])

    def resists(self, time: float) -> bool:
        """Return whether the force may resist motion, or attract, at `time` [s]."""
        numbers, kind = self.numbers(time), self.field.kind
        if kind in ("harmonic", "drag") or self.law == "whirl":
            return True
        attracts = kind == "force" and (numbers[PLACE["strength"]] < 0.0 or numbers[PLACE["noise"]] > 0.0)
        return kind != "texture" and (attracts or numbers[PLACE["flow"]] != 0.0)

    def add(self, time: float, factor: float, at: Points, shares: tuple[float, float], sums: Sums,
            absorbers: Sequence[Absorber] = (), *, flow: bool = True, lookahead: float = 0.0) -> None:
        """Add the field at `time` [s], times a `factor` on its falloff, at some points.

        Args:
            shares: parts that act as a whole, and along the normals.
            absorbers: colliders that may absorb the field.
            flow: whether it resists motion by its flow.
            lookahead: time for which points move on before the nearest point of a surface is found [s].
        """
        made = self._at(time)
        factor *= made.influence
        if not factor > 0.0:
            return
        q, codes = made.q.copy(), made.codes.copy()
        q[0] = q[0] if flow else 0.0
        q[-1] = factor
        codes[5] = ceil(self.field.noise_at(time) - 1e-6)
        resists = len(sums.blocks) + len(sums.bounds) > 0 and self.resists(time)
        for source in self._sources(time, at, made.frame, lookahead):
            codes[6] = source.number
            visible = self._visible(absorbers, at, made.frame, source, q[1]) if self.field.absorption else np.ones(1)
            current().force_fields.add_field(
                self.law, codes, q, made.frame, at.x, at.v, at.base, at.h, source.place, source.normal, visible,
                made.table, made.lattice, made.cells, resists, np.array(shares), sums.push, sums.blocks,
                sums.normal_push, sums.bounds, sums.spin, sums.normal_spin)

    # ------------------------------------------------------------------ parts

    def _at(self, time: float) -> FieldAt:
        return self._latest_at.at(time if self._moves else 0.0, self._made)

    def _made(self, time: float) -> FieldAt:
        numbers, field = self.numbers(time), self.field
        lattice = None if self.law == "turbulent" else field.lattice_at(time)
        lattice = np.zeros((0, 0, 0, 0)) if lattice is None else np.ascontiguousarray(lattice)
        cells = np.ascontiguousarray(field.lattice_map_at(time)) if lattice.size else np.zeros((3, 4))
        codes = np.array([self._shape, self._form, self._side, field.curve, int(mixed(field.seed)), 0, 0,
                          self._stiff_shape], dtype=np.int64)
        return FieldAt(float(numbers[PLACE["influence"]]), self._q(numbers), codes, _frame(numbers), lattice, cells,
                       self._table(time))

    def _q(self, numbers: FloatArray) -> FloatArray:
        """Return the numbers (15,) of a law, the last of which is a factor."""
        field, n = self.field, {name: numbers[place] for name, place in PLACE.items()}
        flag = {"magnetic": field.shape in ("point", "line"), "turbulence": field.global_coordinates,
                "texture": field.two_dimensional}.get(field.kind, False)
        strength, damping = n["strength"], n["damping"]
        if field.kind == "drag":
            strength, damping = n["quadratic_drag"], n["linear_drag"]
        return np.array([n["flow"], n["rest_length"], n["size"], field.gravitation, flag, n["power"], n["minimum"],
                         n["maximum"], n["radial_power"], n["radial_minimum"], n["radial_maximum"], strength, damping,
                         n["noise"], 1.0], dtype=np.float64)

    def _sources(self, time: float, at: Points, frame: FloatArray, lookahead: float) -> Iterator[Source]:
        field = self.field
        if field.shape == "surface":
            assert self._mesh is not None
            ahead = at.x + lookahead * at.v if lookahead else at.x
            yield Source(*self._mesh.nearest(np.ascontiguousarray(field.vertices_at(time)), ahead))
        elif field.shape == "points":
            places, normals = np.ascontiguousarray(field.vertices_at(time)), field.normals_at(time)
            normals = np.tile(frame[1], (len(places), 1)) if normals is None else np.ascontiguousarray(normals)
            if field.kind == "harmonic":                                   # each point is tied to one of the places
                mine = np.arange(len(at.x)) % len(places)
                yield Source(places[mine], normals[mine])
            else:
                for number in range(len(places)):
                    yield Source(places[number:number + 1], normals[number:number + 1], number)
        else:
            yield Source(frame[:1], frame[1:])

    def _visible(self, absorbers: Sequence[Absorber], at: Points, frame: FloatArray, source: Source, length: float
                 ) -> FloatArray:
        """Return the part (V,) of the field that reaches each point; (1,) if it is all of it."""
        visible = np.ones(1)
        for absorber in absorbers:
            if absorber.name == self.field.name:
                continue
            x = split(at.x)
            origin, axis, place, normal = (tuple(column for column in np.ascontiguousarray(rows.T))
                                           for rows in (frame[:1], frame[1:], source.place, source.normal))
            d, _ = offset(self._shape, x, origin, axis, place, normal)
            if self.law == "harmonic" and length:
                d = harmonic_offset(d, norm(d), length)
            reached = np.where(absorber.blocks(at.x, at.x - join(d)), 1.0 - absorber.part, 1.0)
            visible = visible * reached
        return visible

    @cached_property
    def _mesh(self) -> Mesh | None:
        field = self.field
        if field.shape != "surface":
            return None
        if field.triangles is not None:
            return Mesh(np.array(field.triangles, dtype=np.int64), field.vertices_at(0.0))
        edges = np.array(field.edges, dtype=np.int64)
        return Mesh(edges[:, [0, 1, 1]], field.vertices_at(0.0))

    def _table(self, time: float) -> Table:
        """Return the table of turbulence; an empty one for other fields."""
        if self.law != "turbulent":
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 3))
        given = self.field.lattice_at(time)
        return self._own_table if given is None else _columns(given)

    @cached_property
    def _own_table(self) -> Table:
        """A table of random permutations, and of the twelve directions to the middles of a cube's edges."""
        numbers = np.arange(256)
        T, P, order = (np.argsort(mixed(numbers + 256 * (row + 1)), kind="stable") for row in range(3))
        gradients = np.array([[a, b, 0] for a in (1, -1) for b in (1, -1)], dtype=np.float64)
        twelve = np.concatenate([np.roll(gradients, shift, axis=1) for shift in range(3)])
        return T, P, np.ascontiguousarray(twelve[order % 12])


def _columns(table: FloatArray) -> Table:
    """Return the columns of a lattice (256, 5) of turbulence."""
    return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), np.ascontiguousarray(table[:, 2:])


def _frame(numbers: FloatArray) -> FloatArray:
    """Return location [m] and unit Z axis of the object, (2, 3)."""
    matrix = numbers[:12].reshape(3, 4)
    return np.stack([matrix[:, 3], unit(matrix[None, :, 2])[0]])
