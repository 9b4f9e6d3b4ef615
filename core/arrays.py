# SPDX-License-Identifier: GPL-3.0-or-later
"""Array types of signatures, and conversion of users' data to arrays with checks."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

SINGLE_PRECISION = 1e-6
"""Largest relative error of numbers that are stored or computed in single precision, with a margin [-]: mesh editors
store positions so. Smaller relative differences are rounding."""
FARTHEST = 1e15
"""Largest coordinate [m]: squares of lengths then stay finite, in single precision too."""
LARGEST = 1e20
"""Largest constant, in its own unit: its products with squares of lengths stay finite, in single precision too."""

NUMBERS_PER_PIECE = 1 << 20
"""Largest number of array entries that one operation makes at a time where all of them would need too much memory."""


def is_number(value: Any) -> bool:
    """Return whether `value` is one finite real number. True and False are not."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and bool(np.isfinite(float(value)))
    except OverflowError:                                       # a whole number too long for a float
        return False


def is_whole(value: Any, lowest: int, highest: int = 2 ** 31 - 1) -> bool:
    """Return whether `value` is a whole number in `lowest`..`highest`."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and lowest <= int(value) <= highest


def is_series(value: Any) -> bool:
    """Return whether `value` can be iterated over; an array without dimensions cannot."""
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and value.ndim == 0)


def is_flag(value: Any) -> bool:
    """Return whether `value` is True or False itself, not only convertible to one."""
    return isinstance(value, (bool, np.bool_))


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether `function` can be called with `count` arguments; True if its signature is unknown."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _array(values: Any, columns: int | None = None) -> AnyArray:
    """Return `values` as an array, as `np.asarray` makes it.

    Raises ValueError if rows differ in length; the message names the row. columns: the length wanted, if it is known.
    """
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(_uneven(values, columns) if "inhomogeneous" in str(error) else str(error)) from None


def _uneven(values: Any, columns: int | None) -> str:
    """Return a message that names the first row whose length is not `columns`, or not that of the first row if None."""
    lengths = [len(row) if hasattr(row, "__len__") else None for row in values]
    wanted = lengths[0] if columns is None else columns
    for number, (row, length) in enumerate(zip(values, lengths, strict=True)):
        if length != wanted:
            return (f"expected rows of one length, {wanted}, but row {number} is {reprlib.repr(row)}"
                    + ("" if length is None else f", which has {length}"))
    return "expected rows of one length"                        # what differs is further inside


def float_array(values: Any, columns: int | None = None) -> FloatArray:
    """Return a contiguous float64 copy of `values`.

    Raises ValueError if they are not real numbers in rows of one length; that is `columns`, if given.
    """
    try:
        given = _array(values, columns)
        if np.iscomplexobj(given):                              # NumPy would leave out the imaginary parts
            raise ValueError("expected real numbers, got complex ones")
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None
    try:
        return np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:     # text, objects, whole numbers too long for a float
        raise ValueError(f"expected numbers: {error}") from None


def float_rows(values: Any, columns: int) -> FloatArray:
    """Return a contiguous float64 copy of `values` (n, columns); raises ValueError for another shape."""
    array = float_array(values, columns)
    if array.size == 0:
        array = array.reshape(0, columns)
    if array.ndim != 2 or array.shape[1] != columns:
        raise ValueError(f"expected shape (n, {columns}), got {array.shape}")
    return array


def too_far(rows: FloatArray) -> BoolArray:
    """Return which rows (n,) have a coordinate beyond `FARTHEST`."""
    far: BoolArray = (np.abs(rows) > FARTHEST).any(axis=tuple(range(1, rows.ndim)))
    return far


def index_rows(values: Any, columns: int) -> IntArray:
    """Return a contiguous int64 copy of indices `values` (n, columns); raises ValueError for another shape or type."""
    array = _array(values, columns)
    if array.size == 0:
        return np.zeros((0, columns), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != columns or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"expected integers of shape (n, {columns}), got {array.dtype} of shape {array.shape}")
    return np.array(array, dtype=np.int64, order="C")


def faces_wanted(given: Any, instead: str = "ClothMesh(positions, faces=...).triangles") -> str:
    """Return the end of a message that recommends `instead` if the rows of `given` have more than three corners.

    Empty for triangles.
    """
    try:
        shape = np.shape(given)
    except ValueError:                                          # rows of different lengths
        shape = (0, 4)
    return f"; for faces of more corners, write {instead}" if len(shape) == 2 and shape[1] > 3 else ""
