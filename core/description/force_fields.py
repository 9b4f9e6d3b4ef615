# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields of objects, and how much of them one cloth feels.

A field acts on cloth as a force per area [N/m^2], the field of kind "wind" as a velocity of the air [m/s], which drags
the cloth as `Scene(wind=...)` does. docs/theory/force-fields.md has the equations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import LARGEST, AnyArray, FloatArray, is_flag, is_number, is_series, is_whole
from ..did_you_mean import names_arguments_of
from ..errors import ClothError, SceneError
from ..number_text import number_text
from .frame_clock import FrameClock
from .keyed import Setting, check_setting, checked_number_at
from .motion import Trajectory
from .vertex_values import shown

KINDS = ("force", "wind", "vortex", "magnetic", "harmonic", "turbulence", "drag", "texture", "fluid_flow")
"""What a field does: `ForceField.kind`."""
SHAPES = ("point", "line", "plane", "surface", "points")
"""From where distances are measured: `ForceField.shape`."""
FALLOFFS = ("sphere", "tube", "cone")
"""How the strength falls off: `ForceField.falloff`."""
Z_DIRECTIONS = ("both", "positive", "negative")
"""On which side of the object's XY plane a field acts: `ForceField.z_direction`."""
VALUES = (
    "xx", "xy", "xz", "x",
    "yx", "yy", "yz", "y",
    "zx", "zy", "zz", "z",
    "influence", "strength", "flow", "wind_factor", "noise",
    "power", "minimum", "maximum", "radial_power", "radial_minimum", "radial_maximum",
    "size", "rest_length", "damping", "linear_drag", "quadratic_drag",
)
"""Names of the numbers of a field, in their order in `ForceField.values`; `ForceField` says what each means."""
PLACE = {name: place for place, name in enumerate(VALUES)}
"""Place of each number in `ForceField.values`."""
DEFAULTS = {"xx": 1.0, "yy": 1.0, "zz": 1.0, "influence": 1.0, "maximum": math.inf, "radial_maximum": math.inf}
"""Values of `field_values` that are not 0 by default."""
NEVER_NEGATIVE = ("noise", "minimum", "maximum", "radial_minimum", "radial_maximum", "size", "rest_length")
"""Numbers of a field that are 0 or more."""
CHANNELS = {"texture": 3, "fluid_flow": 4}
"""Numbers at each point of the lattice of a field."""

Array = Trajectory | AnyArray
"""An array, or a Trajectory of one."""


def field_values(**values: float) -> FloatArray:
    """Return the numbers of a field (len(VALUES),), from keywords that `VALUES` names.

    Without a keyword a number is 0; the object stands at the origin without rotation, `influence` is 1, and both
    maxima are infinite.
    """
    for name in values:
        if name not in PLACE:
            raise SceneError(f"a force field has no value {name!r}; there are: {', '.join(VALUES)}")
    return np.array([values.get(name, DEFAULTS.get(name, 0.0)) for name in VALUES])


@names_arguments_of(SceneError)
@dataclass(frozen=True, eq=False)
class ForceField:
    """A force field of an object. All its numbers may change with time.

    `values` has the numbers that `VALUES` names, in SI:

        xx .. z             rows (3, 4) of the object's matrix: axes with their scale, and its location [m]
        influence           factor on the falloff; a field whose influence is 0 does nothing [-]
        strength            S: [N/m^2] for a force; [m/s] of wind; see the equations of each kind
        flow                resistance against motion, -flow w v [N s/m^3]; not of harmonic, drag and wind on cloth
        wind_factor         part of the force of which only the component along the cloth's normal acts, in 0..1 [-]
        noise               amplitude of noise that is added to the strength, in its unit
        power, minimum, maximum
                            falloff w = (1 + max(r - minimum, 0))^-power up to r = maximum, 0 beyond; r [m] is the
                            distance (sphere) or the height over the object's XY plane (tube, cone)
        radial_power, radial_minimum, radial_maximum
                            the same for the distance from the axis [m] (tube), or the angle to it [degrees] (cone)
        size                scale of turbulence [m]
        rest_length         of a harmonic field [m]
        damping             of a harmonic field, over the critical damping of a unit mass [-]
        linear_drag         drag per speed [N s/m^3], 2 at most
        quadratic_drag      drag per square of the speed [N s^2/m^4], 2 at most

    Attributes:
        kind: one of KINDS.
        values: (len(VALUES),), or a Trajectory of such an array; `field_values` makes one from keywords.
        shape: one of SHAPES: the object's location, its Z axis, its XY plane, the nearest point of a surface, or each
            of `vertices`.
        falloff: one of FALLOFFS.
        z_direction: one of Z_DIRECTIONS.
        seed: of the noise.
        name: in messages, and in `FieldWeights.fields`. A collider of this name does not absorb the field.
        gravitation: whether a field of kind "force" also falls off with the square of the distance.
        two_dimensional: whether only the part of a texture's force in the object's XY plane acts.
        global_coordinates: whether turbulence is fixed to the world, not to the object.
        absorption: whether colliders between the field and the cloth weaken it, by their `absorption`.
        curve: whether heights, axis and local coordinates are those of the nearest point of a surface and its normal,
            not those of the object.
        vertices: (P, 3) [m] in the world, of the shapes "surface" and "points"; may be a Trajectory.
        triangles: (T, 3) of a surface.
        edges: (E, 2) of a surface without triangles, as of a curve. Its normals are the edges' directions, from their
            second to their first vertex.
        normals: (P, 3) unit normals of `vertices`, of the shape "points"; the object's Z axis if not given.
        lattice: samples of the field; may be a Trajectory:
            turbulence, (256, 5): columns T, P, gx, gy, gz of a gradient noise; the gradient at whole numbers (i, j, k)
            is row (P[(T[i] + j) mod 256] + k) mod 256 of g; a lattice of Muslin's own if not given;
            texture, (nx, ny, nz, 3): force at strength 1;
            fluid_flow, (nx, ny, nz, 4): velocity [m/s] and a factor on the strength; 0 outside.
        lattice_map: (3, 4) affine map from the world [m] to places in the lattice, from 0 to nx - 1 along the first
            axis; may be a Trajectory. Values in between are interpolated linearly.
        noise_rate: how often noise changes [1/s], the frame rate; or a `FrameClock`, with each frame of which it does.

    Raises:
        SceneError: a word that is not in these lists, numbers out of range, or arrays of another shape.
    """

    kind: str
    values: Array
    shape: str = "point"
    falloff: str = "sphere"
    z_direction: str = "both"
    seed: int = 0
    name: str = "field"
    gravitation: bool = False
    two_dimensional: bool = False
    global_coordinates: bool = False
    absorption: bool = False
    curve: bool = False
    vertices: Array | None = None
    triangles: AnyArray | None = None
    edges: AnyArray | None = None
    normals: Array | None = None
    lattice: Array | None = None
    lattice_map: Array | None = None
    noise_rate: float | FrameClock = 24.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise SceneError(f"name is {self.name!r}, it must be text")
        for what, given, words in (("kind", self.kind, KINDS), ("shape", self.shape, SHAPES),
                                   ("falloff", self.falloff, FALLOFFS),
                                   ("z_direction", self.z_direction, Z_DIRECTIONS)):
            if given not in words:
                raise self._error(f"{what} is {given!r}, it must be one of: {', '.join(words)}")
        for what in ("gravitation", "two_dimensional", "global_coordinates", "absorption", "curve"):
            if not is_flag(getattr(self, what)):
                raise self._error(f"{what} is {getattr(self, what)!r}, it must be True or False")
        if not is_whole(self.seed, -2 ** 31):
            raise self._error(f"seed is {self.seed!r}, it must be a whole number")
        rate = self.noise_rate
        if not (isinstance(rate, FrameClock) or is_number(rate) and rate > 0.0):
            raise self._error(f"noise_rate is {rate!r}, it must be a number above 0, such as 24, or a FrameClock")
        self.numbers_at(0.0)
        if self.shape in ("surface", "points"):
            points = self.vertices_at(0.0)
            self._check_elements(len(points))
            if self.shape == "points":
                self.normals_at(0.0)
        if self.kind in CHANNELS or self.kind == "turbulence" and self.lattice is not None:
            self.lattice_at(0.0)
        if self.kind in CHANNELS:
            self.lattice_map_at(0.0)

    def noise_at(self, time: float) -> float:
        """Return how often noise has changed until `time` [s], with the part of the way to the next change."""
        rate = self.noise_rate
        return rate.position(time) if isinstance(rate, FrameClock) else time * rate

    def numbers_at(self, time: float) -> FloatArray:
        """Return the numbers that `VALUES` names, at `time` [s]."""
        row = self._array("values", time, (len(VALUES),), infinite=True)
        for name in NEVER_NEGATIVE:
            if row[PLACE[name]] < 0.0:
                raise self._error(f"{name} is {number_text(row[PLACE[name]])} at {time:.4f} s, it must be 0 or more")
        for name, number in zip(VALUES, row, strict=True):
            if not (abs(number) <= LARGEST or name.endswith("maximum")):
                raise self._error(f"{name} is {number_text(number)} at {time:.4f} s, it must be a number, "
                                  f"{number_text(LARGEST)} at most")
        return row

    def vertices_at(self, time: float) -> FloatArray:
        """Return the vertices (P, 3) [m] of the shapes "surface" and "points", at `time` [s]."""
        if self.vertices is None:
            raise self._error(f"its shape is '{self.shape}', but it has no vertices; give vertices (P, 3)")
        points = self._array("vertices", time, (None, 3))
        if len(points) == 0:
            raise self._error(f"its shape is '{self.shape}', but it has no vertices at {time:.4f} s; give its object a "
                              "mesh with vertices, or another shape")
        return points

    def normals_at(self, time: float) -> FloatArray | None:
        """Return the normals (P, 3) of the vertices at `time` [s], None if they were not given."""
        return None if self.normals is None else self._array("normals", time, (len(self.vertices_at(time)), 3))

    def lattice_at(self, time: float) -> FloatArray | None:
        """Return the lattice at `time` [s], None if it was not given."""
        if self.lattice is None:
            if self.kind in CHANNELS:
                raise self._error(f"a field of kind '{self.kind}' needs samples; give lattice (nx, ny, nz, "
                                  f"{CHANNELS[self.kind]}) and lattice_map (3, 4)")
            return None
        if self.kind == "turbulence":
            table = self._array("lattice", time, (256, 5))
            if not (np.sort(table[:, :2], axis=0) == np.arange(256.0)[:, None]).all():
                raise self._error("the first two columns of lattice must each hold the numbers 0..255 once")
            return table
        samples = self._array("lattice", time, (None, None, None, CHANNELS[self.kind]))
        if samples.size == 0:
            raise self._error(f"lattice has shape {samples.shape} at {time:.4f} s; give at least one sample")
        return samples

    def lattice_map_at(self, time: float) -> FloatArray:
        """Return the map (3, 4) from the world [m] to places in the lattice, at `time` [s]."""
        if self.lattice_map is None:
            raise self._error(f"a field of kind '{self.kind}' needs lattice_map (3, 4), from the world to places in "
                              "its lattice")
        return self._array("lattice_map", time, (3, 4))

    def _check_elements(self, count: int) -> None:
        """Check the triangles or edges of a surface of `count` vertices."""
        if self.shape != "surface":
            return
        if self.triangles is None and self.edges is None:
            raise self._error("its shape is 'surface', but it has no surface; give triangles (T, 3), or edges (E, 2)")
        for what, corners in (("triangles", 3), ("edges", 2)):
            given = getattr(self, what)
            if given is None:
                continue
            rows = np.asarray(given)
            if rows.ndim != 2 or rows.shape[1] != corners or len(rows) == 0 or not np.issubdtype(rows.dtype,
                                                                                                  np.integer):
                raise self._error(f"{what} has shape {rows.shape} of {rows.dtype}, it must be at least one row of "
                                  f"{corners} whole numbers")
            if rows.min() < 0 or rows.max() >= count:
                raise self._error(f"{what} names vertex {int(rows.max() if rows.min() >= 0 else rows.min())}, it must "
                                  f"be one of the {count} vertices, 0..{count - 1}")

    def _array(self, what: str, time: float, shape: Sequence[int | None], *, infinite: bool = False) -> FloatArray:
        """Return one of the arrays at `time` [s], of this shape, where None is any number."""
        given = getattr(self, what)
        value = given(time) if isinstance(given, Trajectory) else given
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._error(f"{what} is {shown(value)}, it must be an array of numbers or a Trajectory of one"
                              ) from None
        if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
            wanted = ", ".join("n" if n is None else str(n) for n in shape)
            raise self._error(f"{what} has shape {array.shape} at {time:.4f} s, it must be ({wanted})")
        if np.isnan(array).any() or not (infinite or np.isfinite(array).all()):
            place = np.argwhere(~np.isfinite(array) if not infinite else np.isnan(array))[0].tolist()
            raise self._error(f"{what}{place} is not a number at {time:.4f} s; check what moves the field, such as a "
                              "driver")
        return array

    def _error(self, message: str) -> SceneError:
        return SceneError(f"force field {message}", object_name=self.name)


@names_arguments_of(ClothError)
@dataclass(frozen=True, eq=False)
class FieldWeights:
    """Factors on gravity and on the fields of each kind, for one cloth [-].

    Each may be a number or a function of time. A factor multiplies the falloff; at 0 or less a field does nothing.

    Attributes:
        all: on the fields of every kind.
        gravity: on the weight of the cloth.
        force, wind, vortex, magnetic, harmonic, turbulence, drag, texture, fluid_flow: on the fields of this kind.
        fields: names of the fields that act on this cloth; all fields of the scene if not given.

    Raises:
        ClothError: a factor that is no number, or names that are no text.
    """

    all: Setting = 1.0
    gravity: Setting = 1.0
    force: Setting = 1.0
    wind: Setting = 1.0
    vortex: Setting = 1.0
    magnetic: Setting = 1.0
    harmonic: Setting = 1.0
    turbulence: Setting = 1.0
    drag: Setting = 1.0
    texture: Setting = 1.0
    fluid_flow: Setting = 1.0
    fields: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for what in ("all", "gravity", *KINDS):
            check_setting(getattr(self, what), f"the weight of {what}", "field weights", least=-LARGEST, most=LARGEST)
        if self.fields is not None and (isinstance(self.fields, str) or not is_series(self.fields) or any(
                not isinstance(name, str) for name in self.fields)):
            raise ClothError(f"fields is {shown(self.fields)}, it must be a list of the names of fields, or None for "
                             "all", object_name="field weights")

    def gravity_at(self, time: float, cloth: str) -> float:
        """Return the factor on the weight of the cloth of this name at `time` [s]."""
        return self._at("gravity", time, cloth)

    def factor_at(self, field: ForceField, time: float, cloth: str) -> float:
        """Return the factor on a field at `time` [s]; 0 if it does not act on the cloth of this name."""
        if self.fields is not None and field.name not in self.fields:
            return 0.0
        return self._at("all", time, cloth) * self._at(field.kind, time, cloth)

    def _at(self, what: str, time: float, cloth: str) -> float:
        return checked_number_at(getattr(self, what), time, f"the field weight of {what}", cloth, least=-LARGEST,
                                 most=LARGEST)
