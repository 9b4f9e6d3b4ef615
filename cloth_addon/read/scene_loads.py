# SPDX-License-Identifier: GPL-3.0-or-later
"""Gravity and uniform wind of a scene: vectors, or functions of the time where curves or drivers set them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.animation_curves import animated_paths
from ..properties.number_text import number_text
from ..properties.settings import SceneSettings

FloatArray = NDArray[np.float64]
Vector = tuple[float, float, float]
LARGEST_LOAD = 1e5
"""Largest valid wind [m/s] and gravity [m/s^2]. A larger one would need steps that are too short."""
GRAVITY, WIND = "\0gravity", "\0wind"
"""Names in the frame window, which no object has."""


class SceneLoads:
    """Gravity and uniform wind during a bake.

    Args:
        scene: the scene.
        view_layer: with the dependency graph that evaluates it.
        settings: of the scene.

    Raises:
        core.SceneError: gravity or wind is no number or too large.
    """

    def __init__(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, settings: SceneSettings) -> None:
        self._scene, self._view_layer, self._settings = scene, view_layer, settings
        paths = {path for path, _ in animated_paths(scene)}
        self._animated: dict[str, Callable[[], FloatArray]] = {}
        if paths & {"gravity", "use_gravity"}:
            self._animated[GRAVITY] = self._gravity
        else:
            _check_gravity(settings.gravity)
        if "muslin.wind" in paths:
            self._animated[WIND] = self._wind
        else:
            _check_wind(settings.wind)

    def samples(self) -> dict[str, Callable[[], FloatArray]]:
        """Return the functions for the frame window that read those vectors (3,) that are animated."""
        return dict(self._animated)

    def gravity(self, window: core.MotionWindow) -> Vector | core.Trajectory:
        """Return the gravity [m/s^2]; `window` holds the samples."""
        return window.trajectory(GRAVITY) if GRAVITY in self._animated else self._settings.gravity

    def wind(self, window: core.MotionWindow) -> Vector | core.Trajectory:
        """Return the uniform wind [m/s]; `window` holds the samples."""
        return window.trajectory(WIND) if WIND in self._animated else self._settings.wind

    def _gravity(self) -> FloatArray:
        scene = self._evaluated()
        vector = self._in_metres(scene.gravity) if scene.use_gravity else np.zeros(3)
        _check_gravity(vector, f" at frame {self._scene.frame_current}")
        return vector

    def _wind(self) -> FloatArray:
        vector = self._in_metres(self._evaluated().muslin.wind)
        _check_wind(vector, f" at frame {self._scene.frame_current}")
        return vector

    def _evaluated(self) -> Any:
        return self._scene.evaluated_get(self._view_layer.depsgraph)

    def _in_metres(self, vector: Any) -> FloatArray:
        return np.array([float(component) * self._settings.metres_per_unit for component in vector])


def _check_gravity(vector: Any, when: str = "") -> None:
    _check("gravity", vector, "m/s²", when, "Scene > Gravity")


def _check_wind(vector: Any, when: str = "") -> None:
    _check("the wind", vector, "m/s", when, "Wind in the Bake panel")


def _check(what: str, vector: Any, unit: str, when: str, where: str) -> None:
    """Raise SceneError if a vector is no number or too large."""
    if not np.linalg.norm(vector) <= LARGEST_LOAD:                                  # nan fails too
        shown = ", ".join(number_text(value, 4) for value in vector)
        raise core.SceneError(f"{what} is ({shown}) {unit}{when}, which is no number or above "
                              f"{number_text(LARGEST_LOAD)}; correct {where}{' and its keys' if when else ''}, or the "
                              "unit scale in Scene > Units")
