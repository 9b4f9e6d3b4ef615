# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers that may change over time, as a setting with keyframes or a driver does.

A setting is a number, or a function of the time t [s] -> number. In a scene that goes to another process the function
is a `Keyed`: one element of an array that a `MotionWindow` holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import is_number, takes
from ..errors import ClothError, SceneError
from ..number_text import number_text
from .motion import Trajectory
from .vertex_values import shown

Setting = float | Callable[[float], float]
"""A number, or a function of the time [s]."""


@dataclass(frozen=True, eq=False)
class Keyed:
    """The function time [s] -> number that element `index` of a trajectory's array holds, times `factor`.

    Attributes:
        values: trajectory of an array (n,).
        index: place in the array.
        factor: converts the element to the number's unit.

    Raises:
        SceneError: the array has no such element, or the factor is no number.
    """

    values: Trajectory
    index: int
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.values, Trajectory):
            raise SceneError(f"values is {shown(self.values)}, it must be a Trajectory of an array (n,)")
        size = np.size(self.values(0.0))
        if not 0 <= self.index < size:
            raise SceneError(f"index is {self.index!r}, it must be in 0..{size - 1}")
        if not is_number(self.factor):
            raise SceneError(f"factor is {self.factor!r}, it must be a number")

    def __call__(self, time: float) -> float:
        """Return the number at `time` [s]."""
        return self.factor * float(self.values(time)[self.index])


def number_at(setting: Setting, time: float) -> float:
    """Return the value of a setting at `time` [s]."""
    return float(setting(time)) if callable(setting) else float(setting)


def check_setting(value: Any, what: str, name: str, *, least: float = -math.inf, most: float = math.inf,
                  error: type[ClothError] = ClothError) -> None:
    """Check a setting, at time 0 if it is a function.

    Args:
        value: number or function of the time alone.
        what: name of the setting in the message.
        name: of the object in the message.
        least, most: range of the value.

    Raises:
        error: the value is neither a number in the range nor a function that returns one.
    """
    if callable(value) and not takes(value, 1):
        raise error(f"{what} is {shown(value)}, it must be a number or a function of the time alone", object_name=name)
    at_start = value(0.0) if callable(value) else value
    if not (is_number(at_start) and least <= at_start <= most):
        low, high = (number_text(bound) if math.isfinite(bound) else "" for bound in (least, most))
        wanted = f"a number in {low}..{high}" if low and high else f"a number, {low} or more" if low else \
            f"a number, {high} or less" if high else "a number"
        raise error(f"{what} is {shown(at_start)}{' at 0 s' if callable(value) else ''}, it must be {wanted}",
                    object_name=name)


def checked_number_at(setting: Setting, time: float, what: str, name: str, *, least: float = -math.inf,
                      most: float = math.inf, error: type[ClothError] = ClothError) -> float:
    """Return the value of a setting at `time` [s]; raise `error` if it leaves the range. Arguments as `check_setting`
    takes them."""
    value = number_at(setting, time)
    if not least <= value <= most:                                                                  # nan fails too
        raise error(f"{what} is {number_text(value)} at {time:.4f} s, it must be in "
                    f"{number_text(least)}..{number_text(most)}; correct its keyframes or driver", object_name=name)
    return value
