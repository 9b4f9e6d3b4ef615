# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of values that are given per vertex of a cloth, or for one of its vertices."""

from __future__ import annotations

import inspect
import reprlib
from typing import Any

import numpy as np

from ..arrays import FARTHEST, BoolArray, FloatArray, float_array, float_rows, too_far
from ..errors import ClothError, PinError
from ..number_text import number_text


def vectors(values: Any, count: int, what: str, name: str, error_type: type[ClothError] = ClothError) -> FloatArray:
    """Return vectors (V, 3), one for each of `count` vertices of the cloth `name`.

    Raises:
        ClothError, or the kind of it that is given: another shape, or values that are not finite or too large.
    """
    try:
        rows = float_rows(values, 3)
    except ValueError as error:
        raise error_type(f"{what}: {error}", object_name=name) from None
    if len(rows) != count:
        raise error_type(f"{what} has {len(rows)} rows, it must have one for each of the mesh's {count} vertices",
                         object_name=name)
    bad: BoolArray = ~np.isfinite(rows).all(axis=1)
    if bad.any():
        vertex = int(np.argmax(bad))
        raise error_type(f"{what} of vertex {vertex} is {rows[vertex].tolist()}, which is not a number; "
                         "check what gives it, such as a driver or a modifier", object_name=name)
    far = too_far(rows)
    if far.any():
        vertex = int(np.argmax(far))
        raise error_type(f"{what} of vertex {vertex} is {rows[vertex].tolist()}, it must be within "
                         f"{number_text(FARTHEST)}",
                         object_name=name)
    return rows


def birth_times(values: Any, count: int, name: str) -> FloatArray:
    """Return times of birth (V,) [s] of `count` vertices of the cloth `name`, zeros for None.

    Raises:
        ClothError: another shape, or a time that is negative or not finite.
    """
    try:
        times = np.zeros(count) if values is None else float_array(values)
    except ValueError as error:
        raise ClothError(f"births: {error}", object_name=name) from None
    if times.shape != (count,):
        raise ClothError(f"births has shape {times.shape}, expected ({count},), one per vertex", object_name=name)
    bad = ~(np.isfinite(times) & (times >= 0.0))
    if bad.any():
        vertex = int(np.argmax(bad))
        raise ClothError(f"births of vertex {vertex} is {times[vertex]} s, it must be 0 or more", object_name=name)
    return times


def target_point(value: Any, vertex: int, time: float, name: str) -> FloatArray:
    """Return the target (3,) [m] of a vertex of the cloth `name` at `time` [s].

    Raises:
        PinError: not three finite numbers, or too far away.
    """
    try:
        point = float_array(value)
    except ValueError:
        point = np.zeros(0)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise PinError(f"the target of vertex {vertex} is {reprlib.repr(value)} at {time:.4f} s, it must be 3 finite "
                       "numbers; check what moves it there, such as a driver", object_name=name)
    if too_far(point[None])[0]:
        raise PinError(f"the target of vertex {vertex} is {point.tolist()} m at {time:.4f} s, it must be within "
                       f"{number_text(FARTHEST)} m", object_name=name)
    return point


def shown(given: Any) -> str:
    """Return how a message shows a value that may be a function: by the arguments that it takes."""
    return f"a function of {inspect.signature(given)}" if callable(given) else repr(given)
