# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of arrays (N, k) of few columns: unit vectors, and reductions one column after the other.

NumPy's own reductions go through such arrays row by row, which takes ten times as long where k is three or four and N
ten thousand; and so does its indexing, five times as long as `take`.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, TypeVar

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray

Number = TypeVar("Number", bound=np.generic)


def pick(rows: np.ndarray[Any, np.dtype[Number]], index: IntArray) -> np.ndarray[Any, np.dtype[Number]]:
    """Return rows[index] of rows (N, k), for an index of any shape."""
    return rows.take(index, axis=0)


def any_of(rows: BoolArray) -> BoolArray:
    """Return whether any entry of each row (N, k) is true (N,)."""
    result: BoolArray = reduce(np.logical_or, rows.T, np.zeros(len(rows), dtype=np.bool_))
    return result


def all_of(rows: BoolArray) -> BoolArray:
    """Return whether all entries of each row (N, k) are true (N,)."""
    result: BoolArray = reduce(np.logical_and, rows.T, np.ones(len(rows), dtype=np.bool_))
    return result


def lowest(rows: FloatArray) -> FloatArray:
    """Return the smallest entry of each row (N, k) (N,); infinity for empty rows."""
    result: FloatArray = reduce(np.minimum, rows.T, np.full(len(rows), np.inf))
    return result


def highest(rows: FloatArray) -> FloatArray:
    """Return the largest entry of each row (N, k) (N,); minus infinity for empty rows."""
    result: FloatArray = reduce(np.maximum, rows.T, np.full(len(rows), -np.inf))
    return result


def total(rows: FloatArray) -> FloatArray:
    """Return the sum of each row (N, k) (N,); k is not 0."""
    result: FloatArray = reduce(np.add, rows.T)
    return result


def box(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper corner (k,) of points (N, k); infinity and minus infinity if there are none."""
    return (np.array([column.min(initial=np.inf) for column in rows.T]),
            np.array([column.max(initial=-np.inf) for column in rows.T]))


def mean(rows: FloatArray) -> FloatArray:
    """Return the mean (k,) of rows (N, k)."""
    return np.array([column.mean() for column in rows.T])


def length(rows: FloatArray) -> FloatArray:
    """Return the length of each row (N, k) (N,); k is not 0."""
    result: FloatArray = np.sqrt(reduce(np.add, (column * column for column in rows.T)))
    return result


def cross(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the cross products one x other (N, 3)."""
    a, b, c = one.T
    d, e, f = other.T
    result = np.empty_like(one)
    result[:, 0], result[:, 1], result[:, 2] = b * f - c * e, c * d - a * f, a * e - b * d
    return result


def tangents(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two unit vectors perpendicular to each unit normal (N, 3) and to each other."""
    axis = pick(np.eye(3), np.argmin(np.abs(normal), axis=1)) if len(normal) else normal
    first = cross(normal, axis)
    first /= length(first)[:, None]
    return first, cross(normal, first)


def tangential(normal: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the part of vectors (N, 3) perpendicular to unit normals (N, 3)."""
    return vector - np.einsum("nj,nj->n", normal, vector)[:, None] * normal


def unit(rows: FloatArray) -> FloatArray:
    """Return rows (N, k) scaled to length 1; zero rows stay zero."""
    size = np.sqrt(np.einsum("ni,ni->n", rows, rows))[:, None]
    return np.divide(rows, size, out=np.zeros(rows.shape), where=size > 0.0)


def rank_of(numbers: IntArray) -> IntArray:
    """Return the rank (N,) of each number among the numbers equal to it, in their order: 0, 1, ..

    numbers: (N,), sorted.
    """
    place = np.arange(len(numbers))
    first = place.copy()
    first[1:][numbers[1:] == numbers[:-1]] = 0
    return place - np.maximum.accumulate(first)
