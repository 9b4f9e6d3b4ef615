# SPDX-License-Identifier: GPL-3.0-or-later
"""The force fields of a scene: what they do to the cloths, and to single points.

Fields of kind "wind" move the air (m/s), which drags the cloth. All others are forces per area. They are linearised at
the start of a step or at its predicted end, with the part of their derivatives that resists motion (see
`formulas.force_fields`), so that strong fields are stable in long steps.

The force v x B of a magnetic field does no work. Explicit, it would make particles faster with every step. Here a step
of h turns the velocity v0 of its start, for an areal density s [kg/m^2], with t = h B / (2 s), as Boris 1970 does:

    v' = v0 + v0 x t,    F = v' x B / (1 + t . t)

v0 + h F / s is as long as v0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import FloatArray, float_rows, is_number, is_series
from ..description.collider import Collider
from ..description.force_fields import ForceField
from ..description.scene import Scene
from ..errors import SceneError
from ..kernels import current
from ..kernels.backend import choose, using
from ..loads.field_load import FieldForce, FieldLoad
from .dof_numbering import SolverNodes, patch_areas
from .field_sources import FieldSource, Points, Sums
from .field_surfaces import Absorbers
from .turned_start import TurnedStart


@dataclass(frozen=True)
class Step:
    """An implicit step of h [s] that is linearised: x = base + h u at its end, from velocities v (V, 3) [m/s].

    start: the time span over which damping acts; None for damping of the rate at one time.
    """

    h: float
    base: FloatArray
    v: FloatArray
    start: TurnedStart | None = None


class FieldForces:
    """The fields of a scene, and the areas of its cloths on which they act.

    Args:
        scene: for its fields, cloths and colliders.
        nodes: numbering of the particles.
    """

    def __init__(self, scene: Scene, nodes: SolverNodes) -> None:
        self._cloths, self._slices = scene.cloths, nodes.slices
        sources = [FieldSource(field) for field in scene.fields]
        self._winds = [source for source in sources if source.field.kind == "wind"]
        self._sources = [source for source in sources if source.field.kind != "wind"]
        self._absorbers = Absorbers(scene.colliders if any(field.absorption for field in scene.fields) else ())
        if self._sources:
            areas = [patch_areas(c.mesh, c.material) for c in scene.cloths]
            loose = [area - c.mesh.vertex_areas for area, c in zip(areas, scene.cloths, strict=True)]
            triangles = [c.mesh.triangles + s.start for c, s in zip(scene.cloths, nodes.slices, strict=True)]
            self._load = FieldLoad(nodes.padded(np.concatenate(areas)), nodes.padded(np.concatenate(loose)),
                                   np.concatenate(triangles))
            area = self._load.area
            self._density = np.divide(nodes.mass, area, out=np.full(len(area), np.inf), where=area > 0.0)

    @property
    def push(self) -> bool:
        """Return whether there are fields besides wind."""
        return bool(self._sources)

    def air(self, time: float, x: FloatArray) -> FloatArray | None:
        """Return the velocity of the air (V, 3) [m/s] that fields make at x (V, 3) [m] and `time` [s]; None without
        such a field."""
        if not self._winds:
            return None
        air = np.zeros_like(x)
        none, still = np.zeros((0, 6)), np.zeros_like(x)
        sums = Sums(air, none, none[:, :3], none[:, 0], none[:, :3], none[:, :3])
        absorbers = self._absorbers.at(time)
        for cloth, span in zip(self._cloths, self._slices, strict=True):
            at = Points(x[span], still[span], x[span])
            for source in self._winds:
                source.add(time, cloth.field_weights.factor_at(source.field, time, cloth.name), at, (1.0, 0.0),
                           sums.of(span), absorbers, flow=False)
        return air

    def at(self, time: float, x: FloatArray, v: FloatArray, step: Step | None) -> FieldForce | None:
        """Return the force of all fields but wind, linearised at x and v (V, 3) and `time` [s]; None without any.

        step: the implicit step that is linearised; None for the force at x and v.
        """
        if not self._sources:
            return None
        count, factors = len(x), [source.wind_factor(time) for source in self._sources]
        along = any(factors)
        resists = any(source.resists(time) for source in self._sources)
        spins = step is not None and any(source.field.kind == "magnetic" for source in self._sources)
        some, none = np.zeros((count, 3)), np.zeros((0, 3))
        sums = Sums(some, np.zeros((count if resists else 0, 6)), np.zeros((count, 3)) if along else none,
                    np.zeros(count if along and resists else 0), np.zeros((count, 3)) if spins else none,
                    np.zeros((count, 3)) if spins and along else none)
        absorbers = self._absorbers.at(time)
        points = Points(x, v, x) if step is None else Points(x, v, step.base, step.h)
        for cloth, span in zip(self._cloths, self._slices, strict=True):
            for source, part in zip(self._sources, factors, strict=True):
                source.add(time, cloth.field_weights.factor_at(source.field, time, cloth.name), points.of(span),
                           (1.0 - part, part), sums.of(span), absorbers)
        if step is not None and spins:
            current().force_fields.turn(step.v, 0.5 * step.h / self._density, sums.spin, sums.normal_spin, sums.push,
                                        sums.normal_push)
        return self._load.force(x, sums.push, sums.blocks, sums.normal_push, sums.bounds)


def field_forces(fields: Sequence[ForceField], x: Any, v: Any = None, time: float = 0.0, *,
                 colliders: Sequence[Collider] = (), lookahead: float = 0.0, backend: str | None = None) -> FloatArray:
    """Return the force per area (F, V, 3) [N/m^2] of each of F fields at points x (V, 3) [m].

    It is what the fields do to a particle of mass 1 in Blender [N]. On cloth, the wind of a field is a velocity of the
    air instead, and `FieldWeights` and the wind factor apply.

    Args:
        fields: force fields.
        x: (V, 3) positions [m].
        v: (V, 3) velocities [m/s]; zero if not given.
        time: of the fields [s].
        colliders: what may absorb the fields, by their `absorption`.
        lookahead: time for which points move on before the nearest point of a surface is found [s].
        backend: as of `Solver`.

    Raises:
        SceneError: positions or velocities of another shape, or a field whose numbers are out of range.
    """
    if not is_series(fields) or not all(isinstance(field, ForceField) for field in fields):
        raise SceneError(f"fields is {fields!r}, it must be a list of ForceField")
    if not (is_number(time) and is_number(lookahead)):
        raise SceneError(f"time is {time!r} and lookahead {lookahead!r}, they must be numbers [s]")
    try:
        points = float_rows(x, 3)
        speeds = np.zeros_like(points) if v is None else float_rows(v, 3)
    except ValueError as error:
        raise SceneError(f"positions or velocities: {error}") from None
    if speeds.shape != points.shape:
        raise SceneError(f"there are {len(speeds)} velocities for {len(points)} positions; give as many")
    result = np.zeros((len(fields), *points.shape))
    none = np.zeros((0, 6))
    with using(choose(backend)):
        absorbers = Absorbers(colliders).at(time)
        for field, force in zip(fields, result, strict=True):
            sums = Sums(force, none, none[:, :3], none[:, 0], none[:, :3], none[:, :3])
            FieldSource(field).add(time, 1.0, Points(points, speeds, points), (1.0, 0.0), sums, absorbers,
                                   lookahead=lookahead)
    return result
