# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a cloth whose fabric changes over time: the parameters of its laws as functions of its constants.

Elements and their stencils never change. The parameters p of most laws are linear in the constants s_j of the fabric,

    p(s) = c + sum_j s_j a_j,      a_j = (p(.., 2 b_j, ..) - p(b)) / b_j

with base values b_j. The a_j are read by building the model once for each changing constant, and one more time to see
that p is linear. Models whose parameters are not are built anew for every value.

The patch law of bending has weights that depend on the ratio of warp and weft. Its energy is a sum of that of a fabric
which resists along the warp only, and of one that does along the weft only; so it becomes these two. Only at free edges
that run across the grain is the sum softer than the whole, because each part has the slope of its own least energy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import SINGLE_PRECISION, FloatArray
from ..description.cloth import Cloth
from ..description.keyed_material import DAMPING_NAMES, PLACES, STIFFNESS_NAMES
from ..errors import ClothError
from ..stencils.models.built_model import BuiltModel
from ..stencils.springs.edge_damping import dashpots
from ..stencils.stencil import ElementForce
from ..stencils.tolerances import ROUNDING_SHARE
from .cloth_forces import built_model
from .latest import Latest
from .stiffness_limit import headroom, limited

Values = tuple[float, ...]


@dataclass(frozen=True)
class _Response:
    """Parameters and damping of one force as linear functions of the constants.

    Attributes:
        base: each parameter (E,) at the base values.
        constant: c of each parameter (E,).
        slopes: per constant, a_j of each parameter; None where it does not depend on it.
        damping, damping_slopes: the same of the force's damping [s].
    """

    base: tuple[FloatArray, ...]
    constant: tuple[FloatArray, ...]
    slopes: tuple[tuple[FloatArray | None, ...], ...]
    damping: float
    damping_slopes: tuple[float, ...]

    def at(self, values: Values, force: ElementForce) -> ElementForce:
        """Return `force` with the parameters and damping of these constants."""
        parameters = list(force.parameters)
        for place, constant in enumerate(self.constant):
            terms = _products(values, [slopes[place] for slopes in self.slopes])
            if terms:
                parameters[place] = _scaled(parameters[place], self.base[place], sum(terms, start=constant))
        damping = self.damping + sum(s * slope for s, slope in zip(values, self.damping_slopes, strict=True))
        return replace(force, parameters=tuple(parameters), damping=damping)


class KeyedFabric:
    """The forces of one cloth with a `KeyedMaterial`.

    Args:
        cloth: the cloth.

    Attributes:
        base: model built with the base values, in the cloth's own numbering.
        dashpots: forces of damping along edges, likewise.
    """

    def __init__(self, cloth: Cloth) -> None:
        assert cloth.keyed_material is not None
        self._cloth, self._keyed = cloth, cloth.keyed_material
        at_start = self._keyed.values(0.0)
        self._names = [name for name in (*STIFFNESS_NAMES, *DAMPING_NAMES) if name in self._keyed.changes]
        plain = self._keyed.with_values({})
        usual = {name: getattr(plain, field) if place is None else (getattr(plain, field) or plain.stretch)[place]
                 for name, (field, place) in PLACES.items()}
        self._base = {name: at_start[name] or usual[name] or 1.0 for name in self._names}
        self._halves = (any(name in self._names for name in ("bend_warp", "bend_weft"))
                        and cloth.options.get("bending") == "patch")
        self.base, self.dashpots = self._built(self._base)
        self._responses = self._read_responses() if self._names else []
        self._headroom, self._rest, self._mass = np.inf, np.zeros((0, 3)), np.zeros(0)
        self._latest: Latest[Values, list[ElementForce]] = Latest()

    @property
    def bends(self) -> list[tuple[float, float]]:
        """Return the stiffness along warp and weft of each force of flat patches, as it was built [N m]."""
        warp, weft = self._keyed.with_values(self._base).bend
        return [bend for bend in ([(warp, 0.0), (0.0, weft)] if self._halves else [(warp, weft)]) if any(bend)]

    @property
    def changes(self) -> bool:
        """Whether a constant changes that the forces depend on."""
        return bool(self._names)

    def limit(self, forces: Sequence[ElementForce], rest: FloatArray, mass: FloatArray) -> None:
        """Note the largest stiffness that the elements of the model may have; see `stiffness_limit`.

        Args:
            forces: of `base`, in the numbering of all particles.
            rest: (V, 3) rest positions [m].
            mass: (V,) [kg].
        """
        self._rest, self._mass = rest, mass
        self._headroom = headroom(forces, rest, mass)

    def values(self, time: float) -> Values:
        """Return the constants that the forces depend on, at `time` [s]."""
        self._keyed.at(time)                                                        # checks them
        now = self._keyed.values(time)
        return tuple(now[name] for name in self._names)

    def at(self, values: Values, forces: Sequence[ElementForce]) -> list[ElementForce]:
        """Return `forces`, those of `base` and of `dashpots`, with parameters and damping of these constants.

        Forces between them that a moving rest shape adds stay as they are.

        Raises:
            ClothError: the model has other elements at these values.
        """
        found = self._rebuilt(values, forces) if self._responses is None else self._changed(values, forces)
        grown = max((value / self._base[name] for name, value in zip(self._names, values, strict=True)
                     if name in STIFFNESS_NAMES), default=0.0)
        if grown > self._headroom:
            count = len(found) - len(self.dashpots)
            found[:count] = limited(found[:count], self._rest, self._mass)
        return found

    def _changed(self, values: Values, forces: Sequence[ElementForce]) -> list[ElementForce]:
        """Return the forces with the linear functions applied."""
        assert self._responses is not None
        found, left = [], list(zip([*self.base.forces, *self.dashpots], self._responses, strict=True))
        for force in forces:
            if left and left[0][0].law.name == force.law.name and len(left[0][0].parameters) == len(force.parameters):
                found.append(left.pop(0)[1].at(values, force))
            else:
                found.append(force)
        assert not left
        return found

    def _built(self, values: Mapping[str, float]) -> tuple[BuiltModel, list[ElementForce]]:
        """Return model and dashpots of a fabric with these values of its constants."""
        material = self._keyed.with_values(values)
        along = [material]
        if self._halves:
            warp, weft = material.bend
            along = [replace(material, bend=(warp, 0.0)), replace(material, bend=(0.0, weft))]
        model = built_model(self._cloth, along[0])
        if self._halves:                           # the load at which triangles buckle is that of both directions
            whole = iter([force for force in built_model(self._cloth, material).forces if not _bends(force)])
            model = replace(model, forces=[force if _bends(force) else next(whole) for force in model.forces])
        for other in along[1:]:
            more = built_model(self._cloth, other).forces
            model = replace(model, forces=[*model.forces, *(force for force in more if _bends(force))])
        return model, dashpots(self._cloth.mesh, material)

    def _read_responses(self) -> list[_Response] | None:
        """Return the linear functions of all forces; None if the model is not linear."""
        base = [*self.base.forces, *self.dashpots]
        doubled = []
        for name in self._names:
            model, more = self._built({**self._base, name: 2.0 * self._base[name]})
            doubled.append([*model.forces, *more])
        if any(len(forces) != len(base) for forces in doubled):
            return None
        size = tuple(self._base[name] for name in self._names)
        found = []
        for row, force in enumerate(base):
            slopes, damping = [], []
            for forces, b in zip(doubled, size, strict=True):
                other = forces[row]
                if not np.array_equal(other.stencil.weights, force.stencil.weights):
                    return None
                slopes.append(tuple(_slope(new, old, b)
                                    for new, old in zip(other.parameters, force.parameters, strict=True)))
                damping.append((other.damping - force.damping) / b)
            constant = []
            for place, old in enumerate(force.parameters):
                rest = old - sum(_products(size, [own[place] for own in slopes]), start=np.zeros_like(old))
                constant.append(np.where(np.abs(rest) <= ROUNDING_SHARE * np.abs(old), 0.0, rest))
            left = force.damping - sum(b * slope for b, slope in zip(size, damping, strict=True))
            found.append(_Response(force.parameters, tuple(constant), tuple(slopes),
                                   0.0 if abs(left) <= ROUNDING_SHARE * abs(force.damping) else left, tuple(damping)))
        return found if all(self._are_right(found, base, ratio) for ratio in (3.0, 0.1, 1e3)) else None

    def _are_right(self, responses: Sequence[_Response], base: Sequence[ElementForce], ratio: float) -> bool:
        """Return whether the linear functions give the model with the base values times powers of `ratio`."""
        values = {name: ratio ** (place % 3 + 1) * self._base[name] for place, name in enumerate(self._names)}
        model, more = self._built(values)
        wanted = [*model.forces, *more]
        if len(wanted) != len(base):
            return False
        for response, force, right in zip(responses, base, wanted, strict=True):
            made = response.at(tuple(values.values()), force)
            if not np.array_equal(right.stencil.weights, force.stencil.weights) or not np.isclose(
                    made.damping, right.damping, rtol=SINGLE_PRECISION, atol=0.0) or not all(
                    np.allclose(a, b, rtol=SINGLE_PRECISION, atol=0.0)
                    for a, b in zip(made.parameters, right.parameters, strict=True)):
                return False
        return True

    def _rebuilt(self, values: Values, forces: Sequence[ElementForce]) -> list[ElementForce]:
        built = self._latest.at(values, self._built_forces)
        if len(built) != len(forces) or any(
                new.stencil.weights.shape != old.stencil.weights.shape for new, old in zip(built, forces, strict=True)):
            raise ClothError(f"its model '{self._cloth.model}' cannot follow keyed values of "
                             f"{', '.join(self._names)}: other elements resist at other values; key a factor of a "
                             "vertex group instead, or choose the model 'baraff_witkin'", object_name=self._cloth.name)
        base = [*self.base.forces, *self.dashpots]
        return [replace(old, damping=new.damping, parameters=tuple(
            p if np.array_equal(first, now) else _scaled(p, first, now)
            for p, first, now in zip(old.parameters, same.parameters, new.parameters, strict=True)))
            for new, old, same in zip(built, forces, base, strict=True)]

    def _built_forces(self, values: Values) -> list[ElementForce]:
        """Return model and dashpots built anew. A small value stands for 0, at which a model may leave out elements."""
        model, more = self._built({name: max(value, SINGLE_PRECISION * self._base[name])
                                   for name, value in zip(self._names, values, strict=True)})
        return [*model.forces, *more]


def fabric_of(cloth: Cloth) -> KeyedFabric | None:
    """Return the forces that follow the keyed fabric of a cloth; None if its fabric never changes."""
    return None if cloth.keyed_material is None else KeyedFabric(cloth)


def _bends(force: ElementForce) -> bool:
    """Return whether a force is one of bending; the load of a membrane depends on its stiffness, too."""
    return "bend" in getattr(force.law, "stiffness_parameters", {}) and getattr(
        force.law, "rest_kind", None) != "membrane"


def _products(values: Values, slopes: Sequence[FloatArray | None]) -> list[FloatArray]:
    """Return the products of values and slopes, without those that are None."""
    return [value * slope for value, slope in zip(values, slopes, strict=True) if slope is not None]


def _scaled(before: FloatArray, base: FloatArray, now: FloatArray) -> FloatArray:
    """Return `now`, or `before` times its ratio to `base` where a changed rest shape has made `before` of that."""
    return now if before is base else before * np.divide(now, base, out=np.ones_like(now), where=base != 0.0)


def _slope(new: FloatArray, old: FloatArray, base: float) -> FloatArray | None:
    """Return (new - old) / base without rounding errors; None if it is zero everywhere."""
    change = new - old
    change = np.where(np.abs(change) <= ROUNDING_SHARE * np.abs(old), 0.0, change)
    return change / base if change.any() else None
