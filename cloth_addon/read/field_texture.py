# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields of type Texture: samples of the force on a lattice over the reach of the cloth.

The force at strength 1 is a vector g of the texture's coordinates q, with the colour (r, g, b) or intensity I there:

    RGB         g = 1/2 - (r, g, b)
    Gradient    g_i = (I(q) - I(q + N e_i)) / N                         and for all textures without colour
    Curl        g = (dB_y - dG_z, dR_z - dB_x, dG_x - dR_y) / N         d: difference of a colour from q to q + N e_i

with the *Nabla* N. q is the position in the world or, with *Use Coordinates*, in the object's space; with *2D*
projected along the object's Z axis. Axes of g are always the world's. The lattice stands still in the world; it is
sampled again whenever the texture or its coordinates change. A texture that does not vary along one direction has a
lattice of one layer, which can be finer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..properties.number_text import number_text
from .field_lattice import Lattice
from .frame_window import evaluated_object

FloatArray = NDArray[np.float64]
Reach = Callable[[], FloatArray]
"""Returns the smallest and the largest corner (2, 3) [m] of the place of all cloth."""
SAMPLES_STILL, SAMPLES_MOVING = 40 ** 3, 20 ** 3
"""Number of samples of a texture that seems to stand still, and of one that may change from frame to frame."""
PROBES = 200
"""Number of random points at which a change of the texture, and the error of interpolation, is found."""
NOTED_ERROR = 0.1
"""Error of interpolation, over the mean force, from which on the report has a note [-]."""
SHORTEST = float(np.finfo(float).tiny)
"""Length below which an axis has no direction."""
UNFILTERED = {"use_mipmap": False, "filter_type": "BOX"}
"""Settings of an image texture without filters, where Blender has these settings."""
WITH_COLOR: dict[str, Callable[[Any], bool]] = {
    "IMAGE": lambda texture: True, "MAGIC": lambda texture: True,
    "CLOUDS": lambda texture: texture.cloud_type == "COLOR",
    "VORONOI": lambda texture: texture.color_mode != "INTENSITY"}
"""Types of textures that have colours, without a colour ramp."""


class FieldTexture:
    """The texture of one field object.

    Args:
        obj: the field.
        view_layer: with the dependency graph that evaluates it.
        unit: length of one Blender unit [m].
        reach: where the cloth is at the first frame.
    """

    def __init__(self, obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, unit: float, reach: Reach) -> None:
        self._obj, self._view_layer, self._unit, self._reach = obj, view_layer, unit, reach
        self._lattice: Lattice | None = None
        self._probes, self._probed = np.zeros((0, 3)), np.zeros((0, 3))
        self._values = np.zeros((1, 1, 1, 3))

    def samples(self, lattice_name: str, map_name: str) -> dict[str, Callable[[], FloatArray]]:
        """Return the functions for the frame window that read the lattice (nx, ny, nz, 3) and its map (3, 4)."""
        return {lattice_name: self._read, map_name: lambda: self._begun().places}

    def note(self) -> str:
        """Return a note if the texture has details that are finer than the lattice, empty otherwise."""
        if self._lattice is None or not self._probed.any():
            return ""
        error = self._lattice.interpolated(self._values, self._probes) - self._probed
        relative = float(np.sqrt((error ** 2).sum() / (self._probed ** 2).sum()))
        if not relative > NOTED_ERROR:
            return ""
        return (f"The texture of the force field '{self._obj.name}' has details that are finer than its samples, which "
                f"are {number_text(self._lattice.spacing, 3)} m apart: its force is off by {100.0 * relative:.0f} % of "
                "its mean. Give the texture a larger size, or blur it")

    def _begun(self) -> Lattice:
        """Return the lattice, which is chosen at the first frame."""
        if self._lattice is None:
            low, high = self._reach()
            self._probes = np.random.default_rng(0).uniform(low, high, (PROBES, 3))
            still = _seems_still(self._obj)
            self._lattice = Lattice.over(low, high, SAMPLES_STILL if still else SAMPLES_MOVING,
                                         self._constant_direction() if still else None)
        return self._lattice

    def _read(self) -> FloatArray:
        """Return the samples (nx, ny, nz, 3) at the scene's frame: the same array if nothing has changed."""
        lattice = self._begun()
        probed = self._force(self._probes)
        if not np.array_equal(probed, self._probed):
            self._probed = probed
            self._values = self._force(lattice.points()).reshape(*lattice.counts, 3)
        return self._values

    def _field(self) -> tuple[Any, FloatArray]:
        """Return the evaluated settings of the field, and its matrix (4, 4) [Blender units]."""
        evaluated = evaluated_object(self._obj, self._view_layer)
        return evaluated.field, np.array(evaluated.matrix_world, np.float64)

    def _constant_direction(self) -> FloatArray | None:
        """Return the direction (3,) along which the texture does not vary, None if there is none."""
        field, matrix = self._field()
        image = field.texture is not None and field.texture.type == "IMAGE" and not field.texture.use_nodes
        if field.use_2d_force or (image and field.use_object_coords):
            return _axis(matrix)
        return np.array([0.0, 0.0, 1.0]) if image else None

    def _force(self, points: FloatArray) -> FloatArray:
        """Return g (n, 3) at points (n, 3) [m]."""
        field, matrix = self._field()
        if field.texture is None:
            return np.zeros_like(points)
        texture, nabla = field.texture, float(field.texture_nabla)
        q = self._coordinates(points / self._unit, field, matrix)
        color, here = has_color(texture), _evaluated(texture, q)
        if color and field.texture_mode == "RGB":
            return 0.5 - here[:, :3]
        if nabla == 0.0:
            return np.zeros_like(points)
        moved = [_evaluated(texture, q + nabla * axis) - here for axis in np.eye(3)]
        if field.texture_mode == "GRADIENT" or not color:
            channels = slice(0, 3) if color else slice(3, 4)
            return -np.stack([change[:, channels].mean(axis=1) for change in moved], axis=1) / nabla
        x, y, z = moved
        return np.stack([y[:, 2] - z[:, 1], z[:, 0] - x[:, 2], x[:, 1] - y[:, 0]], axis=1) / nabla

    def _coordinates(self, x: FloatArray, field: Any, matrix: FloatArray) -> FloatArray:
        """Return the texture's coordinates q (n, 3) of points x (n, 3) [Blender units]."""
        if field.use_object_coords:
            inverse = np.linalg.pinv(matrix[:3, :3])                    # a scale of 0 has no inverse
            q = np.asarray((x - matrix[:3, 3]) @ inverse.T, np.float64)
            q[:, 2] *= float(not field.use_2d_force)
            return q
        if field.use_2d_force:
            axis = _axis(matrix)
            return x - np.outer(x @ axis, axis)
        return x


def _axis(matrix: FloatArray) -> FloatArray:
    """Return the direction (3,) of the Z axis of an object's matrix (4, 4)."""
    axis: FloatArray = matrix[:3, 2] / max(float(np.linalg.norm(matrix[:3, 2])), SHORTEST)
    return axis


def has_color(texture: Any) -> bool:
    """Return whether a texture has colours besides its intensity."""
    return bool(texture.use_nodes or texture.use_color_ramp
                or WITH_COLOR.get(texture.type, lambda texture: False)(texture))


def _evaluated(texture: Any, points: FloatArray) -> FloatArray:
    """Return colour and intensity (n, 4) of an evaluated texture at its coordinates (n, 3)."""
    with _unfiltered(texture):
        return np.array([tuple(texture.evaluate(point)) for point in points.tolist()])


@contextmanager
def _unfiltered(texture: Any) -> Iterator[None]:
    """Switch off the filters of an image, which Blender 4.5 has in `evaluate` and not in its fields."""
    before = {name: getattr(texture, name) for name in UNFILTERED if hasattr(texture, name)}
    for name in before:
        setattr(texture, name, UNFILTERED[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(texture, name, value)


def _seems_still(obj: Any) -> bool:
    """Return whether neither the field nor its texture seems to be animated."""
    texture, data = obj.field.texture, [obj]
    if texture is not None:
        data += [texture, *filter(None, [texture.node_tree, getattr(texture, "image", None)])]
    moves = obj.parent is not None or len(obj.constraints) > 0 or obj.rigid_body is not None
    played = getattr(getattr(texture, "image", None), "source", "FILE") in ("MOVIE", "SEQUENCE")
    return not (moves or played or any(getattr(item, "animation_data", None) is not None for item in data))
