# SPDX-License-Identifier: GPL-3.0-or-later
"""Wind: the velocity of the air, uniform or a field, steady or time-dependent.

Wind acts on cloth through its air drag (`air_drag`): each triangle feels the mean wind of its corners (002).
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import FARTHEST, FloatArray, float_array, takes, too_far
from ..errors import SceneError
from ..number_text import number_text


class Wind:
    """The wind of a scene.

    Args:
        given: a velocity (3,) [m/s]; a function of time t [s] -> (3,); or a field, a function of time and positions (t
            [s], (V, 3) [m]) -> (V, 3).

    Attributes:
        is_field: True if the velocity depends on the position.
    """

    def __init__(self, given: Any) -> None:
        self._function: Callable[..., Any] | None = given if callable(given) else None
        self._steady = vector(np.zeros(3) if callable(given) else given, "wind")
        self.is_field = self._function is not None and _positional_count(self._function) > 1
        if self._function is not None and not takes(self._function, 2 if self.is_field else 1):
            raise SceneError(f"wind is a function of {inspect.signature(self._function)}, it must take the time, as "
                             "lambda t: (3, 0, 0) does, or the time and positions (V, 3), as lambda t, x: 3 * x")

    def at(self, time: float, x: FloatArray | None = None) -> FloatArray:
        """Return the velocity [m/s] at `time` [s]: (3,) if it is uniform, or (V, 3) at positions x (V, 3) [m].

        Raises:
            SceneError: the function returns the wrong shape or no finite numbers; or the wind is a field and x is
                missing.
        """
        if self._function is None:
            return self._steady
        if not self.is_field:
            return vector(self._function(time), f"wind at {time:.4f} s")
        if x is None:
            raise SceneError("the wind is a field: it has no single velocity, ask for it at positions")
        value = self._function(time, x)
        try:
            field = float_array(value)
        except ValueError:
            field = np.zeros(0)
        if field.shape != x.shape:
            raise SceneError(f"wind at {time:.4f} s has shape {field.shape}, expected {x.shape}: a velocity for each "
                             f"of the {len(x)} positions that the field was asked for")
        bad = ~np.isfinite(field).all(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise SceneError(f"wind at {time:.4f} s at {x[row].tolist()} is {field[row].tolist()}, it must be "
                             "3 finite numbers")
        far = too_far(field)
        if far.any():
            row = int(np.argmax(far))
            raise SceneError(f"wind at {time:.4f} s at {x[row].tolist()} is {field[row].tolist()} m/s, it must be "
                             f"within {number_text(FARTHEST)} m/s")
        return field


def vector(value: Any, what: str) -> FloatArray:
    """Return three numbers (3,); raise a SceneError that names `what` if the value is not three finite numbers, or too
    large."""
    try:
        found = float_array(value)
    except ValueError:
        found = np.zeros(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise SceneError(f"{what} is {reprlib.repr(value)}, it must be 3 finite numbers")
    if too_far(found[None])[0]:
        raise SceneError(f"{what} is {found.tolist()}, it must be within {number_text(FARTHEST)}")
    return found


def _positional_count(function: Callable[..., Any]) -> int:
    """Return the number of positional arguments that a function requires; 1 if its signature is unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)
