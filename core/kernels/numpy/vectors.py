# SPDX-License-Identifier: GPL-3.0-or-later
"""3-vectors of many pairs: conversion between rows (P, 3) and the component tuples that formulas take."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas.vectors import Block, Vector, add, cross, divide, dot, scale, select_vector, subtract

__all__ = ["Vector", "add", "at_vertices", "columns", "corners", "cross", "divide", "dot", "join", "join_block",
           "scale", "select_vector", "split", "subtract", "take"]


def take(x: FloatArray, rows: IntArray) -> Vector:
    """Return the rows `rows` of x (N, 3) as components (P,)."""
    return x[rows, 0], x[rows, 1], x[rows, 2]


def split(x: FloatArray) -> Vector:
    """Return x (P, 3) as contiguous components (P,)."""
    a, b, c = np.ascontiguousarray(x.T)
    return a, b, c


def join(a: Vector) -> FloatArray:
    """Return components (P,) as rows (P, 3)."""
    rows = np.empty((len(a[0]), 3))
    rows[:, 0], rows[:, 1], rows[:, 2] = a
    return rows


def columns(rows: FloatArray) -> tuple[FloatArray, ...]:
    """Return the columns of rows (P, k), each contiguous (P,)."""
    return tuple(np.ascontiguousarray(rows.T))


def corners(x: FloatArray, vertices: IntArray) -> tuple[Vector, ...]:
    """Return x (V, 3) at each of the k vertices (P, k) of pairs, as k vectors of components (P,)."""
    a, b, c = at_vertices(x, vertices)
    return tuple(zip(a, b, c, strict=True))


def at_vertices(x: FloatArray, vertices: IntArray) -> Vector:
    """Return x (V, 3) at the vertices (P, k) of pairs, as components (k, P)."""
    a, b, c = np.ascontiguousarray(x.take(vertices.T, axis=0).transpose(2, 0, 1))
    return a, b, c


def join_block(a: Block) -> FloatArray:
    """Return a block's components as arrays (P, 3, 3)."""
    return np.stack([component for row in a for component in row], axis=1).reshape(-1, 3, 3)
