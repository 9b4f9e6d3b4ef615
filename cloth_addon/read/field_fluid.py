# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields of type Fluid Flow: the velocities of a baked fluid domain at each frame.

A domain has one velocity u for each of its cells, in its own axes, without unit. Blender takes as velocity in the world

    2.5 (largest side of the domain) / (maximum resolution) |u| unit(M u)                           [Blender units/s]

with the domain's matrix M, at the centre of the cell, and multiplies it with the density where *Smoke Density* is on,
which liquids do not have. Blender turns velocities after it has interpolated them; here they are interpolated turned,
which differs where the scale of the domain is not the same along all axes.
Grids of more than MOST_CELLS cells are averaged over blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from .frame_window import evaluated_object

FloatArray = NDArray[np.float64]
VELOCITY_SCALE = 2.5
"""Factor on velocities of a domain, measured with Blender 5.2."""
MOST_CELLS = 64 ** 3
"""Largest number of cells that are stored for a frame: 8 MB."""
LEAST_SPEED = float(np.finfo(float).tiny)
"""Speed below which a velocity has no direction."""


class FieldFluid:
    """The fluid of one field object.

    Args:
        obj: the field.
        view_layer: with the dependency graph that evaluates it.
        unit: length of one Blender unit [m].
    """

    def __init__(self, obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, unit: float) -> None:
        self._obj, self._view_layer, self._unit = obj, view_layer, unit
        self._counts: tuple[int, ...] | None = None

    def samples(self, lattice_name: str, map_name: str) -> dict[str, Callable[[], FloatArray]]:
        """Return the functions for the frame window that read the lattice (nx, ny, nz, 4) and its map (3, 4)."""
        return {lattice_name: self._velocities, map_name: self._places}

    def _domain(self) -> tuple[Any, FloatArray, NDArray[np.int64]]:
        """Return the evaluated domain, its matrix (4, 4) [Blender units], and the numbers of its cells (3,).

        Raises:
            core.SceneError: it has another number of cells than at the first frame.
        """
        evaluated = evaluated_object(self._obj.field.source_object, self._view_layer)
        settings: Any = domain_settings(evaluated)
        cells = np.array(settings.domain_resolution if settings is not None else (0, 0, 0), np.int64)
        found = tuple(cells.tolist())
        self._counts = self._counts or found
        if found != self._counts:
            scene: Any = self._view_layer.id_data
            raise core.SceneError(f"the domain '{evaluated.name}' of this force field has {found} cells at frame "
                                  f"{scene.frame_current} and had {self._counts} before; switch off its Adaptive "
                                  "Domain and bake it again", object_name=self._obj.name)
        return evaluated, np.array(evaluated.matrix_world, np.float64), cells

    def _velocities(self) -> FloatArray:
        """Return velocity [m/s] and factor (nx, ny, nz, 4) at the scene's frame; all 0 where there is no fluid."""
        domain, matrix, cells = self._domain()
        settings: Any = domain_settings(domain)
        block = _block(cells)
        lattice: FloatArray = np.zeros((*cells, 4))
        shape = tuple(cells[::-1])
        velocities, densities = (_grid(getattr(settings, name, ()), np.prod(shape) * width)
                                 for name, width in (("velocity_grid", 3), ("density_grid", 1)))
        if velocities is not None:
            u = velocities.reshape(*shape, 3).transpose(2, 1, 0, 3)
            speed = np.linalg.norm(u, axis=-1, keepdims=True)
            turned = u @ matrix[:3, :3].T
            turned *= speed / np.maximum(np.linalg.norm(turned, axis=-1, keepdims=True), LEAST_SPEED)
            sides = cells * np.array(settings.cell_size) * np.linalg.norm(matrix[:3, :3], axis=0)
            scale = VELOCITY_SCALE * float(sides.max()) / settings.resolution_max
            lattice[..., :3] = turned * (scale * self._unit)
            lattice[..., 3] = 1.0
            field = evaluated_object(self._obj, self._view_layer).field
            if field.use_smoke_density:
                lattice[..., 3] = 0.0 if densities is None else densities.reshape(shape).transpose(2, 1, 0)
        return _averaged(lattice, block)

    def _places(self) -> FloatArray:
        """Return the map (3, 4) from the world [m] to places in the lattice."""
        domain, matrix, _ = self._domain()
        settings: Any = domain_settings(domain)
        inverse = np.linalg.pinv(matrix[:3, :3])                        # a scale of 0 has no inverse
        per_unit = 1.0 / (np.array(settings.cell_size, np.float64) * _block(settings.domain_resolution))
        linear = per_unit[:, None] * inverse
        offset = -linear @ matrix[:3, 3] - per_unit * np.array(settings.start_point, np.float64) - 0.5
        return np.column_stack([linear / self._unit, offset])


def domain_settings(obj: Any) -> Any:
    """Return the settings of the fluid domain of an object; None if it is not one, or adapts its size."""
    for modifier in obj.modifiers if obj is not None else ():
        if modifier.type == "FLUID" and modifier.fluid_type == "DOMAIN":
            settings = modifier.domain_settings
            if settings.domain_type == "LIQUID" or not settings.use_adaptive_domain:
                return settings
    return None


def _grid(values: Any, count: int) -> FloatArray | None:
    """Return a grid of the domain as an array (count,); None if it has no such values at this frame."""
    return np.array(values[:], np.float64) if len(values) == count else None


def _block(cells: Any) -> int:
    """Return the side of the blocks of cells that are averaged, for numbers of cells (3,)."""
    block = 1
    while np.prod(-(-np.array(cells, np.int64) // block)) > MOST_CELLS:
        block += 1
    return block


def _averaged(lattice: FloatArray, block: int) -> FloatArray:
    """Return the means of the values (nx, ny, nz, c) over blocks, of which the last may be smaller."""
    for axis in range(3):
        if block > 1:
            starts = np.arange(0, lattice.shape[axis], block)
            sizes = np.diff(np.append(starts, lattice.shape[axis]))
            shape = [1] * lattice.ndim
            shape[axis] = len(starts)
            lattice = np.add.reduceat(lattice, starts, axis=axis) / sizes.reshape(shape)
    return lattice
