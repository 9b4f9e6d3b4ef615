# SPDX-License-Identifier: GPL-3.0-or-later
"""What is simulated together: cloths, colliders, gravity, wind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arrays import FloatArray, float_array
from .cloth import Cloth
from .collider import Collider
from .errors import SceneError


class Scene:
    """Cloths and colliders with what acts on all of them.

    Args:
        cloths: at least one.
        colliders: solids and surfaces.
        gravity: (3,) [m/s^2].
        wind: velocity of the air (3,) [m/s], or a function of time t [s] -> (3,).
    """

    def __init__(self, cloths: Sequence[Cloth], colliders: Sequence[Collider] = (), gravity: Any = (0.0, 0.0, -9.81),
                 wind: Any = (0.0, 0.0, 0.0)) -> None:
        self.cloths, self.colliders = tuple(cloths), tuple(colliders)
        if not self.cloths:
            raise SceneError("there is no cloth to simulate; add at least one")
        self.gravity = _vector(gravity, "gravity")
        self._wind: Callable[[float], Any] | FloatArray = wind if callable(wind) else _vector(wind, "wind")

    def wind_at(self, time: float) -> FloatArray:
        """Velocity of the air (3,) [m/s] at `time` [s]."""
        return _vector(self._wind(time), f"wind at {time:.4f} s") if callable(self._wind) else self._wind


def _vector(value: Any, what: str) -> FloatArray:
    try:
        vector = float_array(value)
    except ValueError:
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise SceneError(f"{what} is {value!r}, expected 3 numbers")
    return vector
