# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn nested records of arrays and numbers into one flat table and back, checked by their declared types.

A record is a dataclass whose fields are arrays, numbers, tuples of whole numbers, other records, or None where the type
allows it. The name of a value is its path, as in "state.before.x".
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from ..arrays import AnyArray
from ..errors import CheckpointError

Flat = Mapping[str, Any]
"""Path -> array, number or None."""

R = TypeVar("R")


def flatten(record: Any, prefix: str = "") -> dict[str, Any]:
    """Return the values of a record by their paths."""
    flat: dict[str, Any] = {}
    for field in fields(record):
        value, path = getattr(record, field.name), prefix + field.name
        if is_dataclass(value):
            flat |= flatten(value, f"{path}.")
        elif isinstance(value, tuple):
            flat[path] = np.array(value, dtype=np.int64)
        elif value is None or isinstance(value, np.ndarray):
            flat[path] = value
        else:
            flat[path] = bool(value) if isinstance(value, np.bool_) else value
    return flat


def restore(cls: type[R], flat: Flat) -> R:
    """Return the record of type `cls` that `flatten` turned into `flat`.

    Raises:
        CheckpointError: a value is missing, is left over or has another type than declared.
    """
    left = dict(flat)
    record = _restored(cls, left, "")
    if left:
        raise CheckpointError(f"'{next(iter(left))}' is not known here")
    return record


def _restored(cls: type[R], left: dict[str, Any], prefix: str) -> R:
    hints = get_type_hints(cls)                          # one for each field: records have no other annotations
    return cls(**{name: _value(hint, left, prefix + name) for name, hint in hints.items()})


def _value(hint: Any, left: dict[str, Any], path: str) -> Any:
    options = [option for option in get_args(hint) if option is not NoneType] if NoneType in get_args(hint) else []
    if options:
        if path in left and left[path] is None:
            return left.pop(path)
        hint = options[0]
    if is_dataclass(hint) and isinstance(hint, type):
        return _restored(hint, left, f"{path}.")
    if path not in left:
        raise CheckpointError(f"'{path}' is missing")
    value = left.pop(path)
    scalar = _scalar_type(hint)
    if scalar is not None:
        return _array(value, np.dtype(scalar), path)
    if get_origin(hint) is tuple:
        return tuple(int(n) for n in _array(value, np.dtype(np.int64), path).ravel())
    whole = isinstance(value, int) and not isinstance(value, bool)
    if hint is float and (whole or isinstance(value, float)):
        return float(value)
    if hint is int and whole or hint is bool and isinstance(value, bool):
        return value
    raise CheckpointError(f"'{path}' is {reprlib.repr(value)}, it must be a {getattr(hint, '__name__', hint)}")


def _scalar_type(hint: Any) -> type[np.generic] | None:
    """Return the scalar type of an array type, None for other types; NumPy 1 and 2 write array types differently."""
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return hint
    found = (_scalar_type(part) for part in get_args(hint))
    return next((scalar for scalar in found if scalar is not None), None)


def _array(value: Any, dtype: np.dtype[Any], path: str) -> AnyArray:
    if not (isinstance(value, np.ndarray) and value.dtype == dtype):
        raise CheckpointError(f"'{path}' must be an array of type {dtype}")
    return value
