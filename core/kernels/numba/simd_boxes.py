# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare one box with the boxes of `CLUSTER` elements that are stored side by side: eight comparisons at once.

The compiler makes two or three times as many instructions of a plain loop. So these are written as vectors of eight
(see `llvm_vectors`). Arrays are in C order.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..numpy.wide_bvh import CLUSTER
from .llvm_vectors import FlatVectors

CLUSTER_BITS = CLUSTER.bit_length() - 1
"""Shift that divides a number by CLUSTER."""
WHOLE_CLUSTER = (1 << CLUSTER) - 1
"""Bits of all elements of a cluster."""
CLUSTERS_PER_TASK = 16
"""Clusters that are searched with in one task of a thread [-]."""


@intrinsic
def touching_both(typing: Any, a: Any, i: Any, b: Any, n: Any) -> Any:
    """Return as bits which boxes of group n of b (B, 12, CLUSTER) touch box i of a (A, 12).

    They touch unless they are apart on one side at both times. Boxes are in single precision: lower corners at both
    times, then upper corners.
    """
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        box, boxes = (_Rows(context, builder, signature, arguments, which, 12) for which in (0, 2))
        return boxes.bits([
            builder.or_(boxes.at_most(one, other), boxes.at_most(one_later, other_later))
            for k in range(3) for one, other, one_later, other_later in (
                (box.all(k), boxes.row(6 + k), box.all(3 + k), boxes.row(9 + k)),
                (boxes.row(k), box.all(6 + k), boxes.row(3 + k), box.all(9 + k)))])

    return types.int32(a, i, b, n), generate


@intrinsic
def touching_now(typing: Any, a: Any, i: Any, b: Any, n: Any) -> Any:
    """Return as bits which boxes of group n of b (B, 6, CLUSTER) touch box i of a (A, 6).

    Boxes are in single precision: lower corners, then upper corners.
    """
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        box, boxes = (_Rows(context, builder, signature, arguments, which, 6) for which in (0, 2))
        return boxes.bits([boxes.at_most(one, other) for k in range(3) for one, other in (
            (box.all(k), boxes.row(3 + k)), (boxes.row(k), box.all(3 + k)))])

    return types.int32(a, i, b, n), generate


@intrinsic
def others_than(typing: Any, v: Any, w: Any, corners: Any, n: Any) -> Any:
    """Return as bits which elements of leaf n have neither v nor w among their vertices, corners (C, 3, CLUSTER).

    All are integers of 32 bits.
    """
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = _Rows(context, builder, signature, arguments, 2, 3)
        return rows.bits([builder.icmp_signed("!=", rows.repeated(arguments[which]), rows.row(k))
                          for k in range(3) for which in range(2)])

    return types.int32(v, w, corners, n), generate


@intrinsic
def lowest_bit(typing: Any, bits: Any) -> Any:
    """Return the number of the lowest bit of an integer that is not zero."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))
        return context.cast(builder, number, signature.args[0], signature.return_type)

    return types.int64(bits), generate


class _Rows:
    """Instructions that read part n of an array (N, rows, CLUSTER), or row n of an array (N, rows).

    The array is argument number `which`, and n the next one.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any, which: int, rows: int) -> None:
        kind, n = signature.args[which], arguments[which + 1]
        self._builder = builder
        self._vectors = FlatVectors(context, builder, kind, arguments[which], CLUSTER)
        self._begin = builder.mul(n, ir.Constant(n.type, rows * (CLUSTER if kind.ndim == 3 else 1)))

    def _place(self, k: int) -> Any:
        return self._builder.add(self._begin, ir.Constant(self._begin.type, k))

    def row(self, k: int) -> Any:
        """Return row k of the part."""
        return self._vectors.load(self._place(CLUSTER * k))

    def all(self, k: int) -> Any:
        """Return a vector of number k of the row."""
        return self.repeated(self._vectors.number(self._place(k)))

    def repeated(self, number: Any) -> Any:
        """Return a vector of one number."""
        return self._vectors.everywhere(number)

    def at_most(self, one: Any, other: Any) -> Any:
        """Return one <= other for each of CLUSTER numbers."""
        return self._builder.fcmp_ordered("<=", one, other)

    def bits(self, conditions: Any) -> Any:
        """Return as bits for which of CLUSTER elements all conditions are true."""
        result = conditions[0]
        for condition in conditions[1:]:
            result = self._builder.and_(result, condition)
        return self._builder.zext(self._builder.bitcast(result, ir.IntType(CLUSTER)), ir.IntType(32))
