# SPDX-License-Identifier: GPL-3.0-or-later
"""Multiply a row of 3x3 blocks with a vector: blocks in single precision, column by column, sums in double precision.

A column is read as a vector of four numbers; the last one belongs to the next column and is not used. That makes three
products of vectors for nine numbers, where a plain loop has nine products.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .gemm_tiles import FUSED
from .llvm_vectors import FlatVectors

COLUMN_NUMBERS = 4
"""Numbers that are read for a column of a block [-]: a vector of the processor, of which three are used."""


@intrinsic
def multiplied(_: Any, blocks: Any, first: Any, columns: Any, at: Any, count: Any, x: Any) -> Any:
    """Return the sum of `count` blocks, the first at blocks[9 first], each times the row of x (V, 3) whose number is in
    columns, from `at` on."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, first, _, at, count, _ = arguments
        read = FlatVectors(context, builder, signature.args[0], arguments[0], COLUMN_NUMBERS)
        names = FlatVectors(context, builder, signature.args[2], arguments[2], 1)
        given = FlatVectors(context, builder, signature.args[5], arguments[5], COLUMN_NUMBERS)
        sums = [cgutils.alloca_once(builder, given.vector) for _ in range(3)]
        for total in sums:
            builder.store(ir.Constant(given.vector, [0.0] * COLUMN_NUMBERS), total)
        with cgutils.for_range(builder, count) as loop:
            row = builder.sext(names.number(builder.add(at, loop.index)), first.type)
            row = builder.mul(row, ir.Constant(first.type, 3))
            place = builder.mul(builder.add(first, loop.index), ir.Constant(first.type, 9))
            for column, total in enumerate(sums):
                along = ir.Constant(first.type, column)
                numbers = read.load(builder.add(place, ir.Constant(first.type, 3 * column)))
                number = given.everywhere(given.number(builder.add(row, along)))
                product = builder.fmul(builder.fpext(numbers, given.vector), number, flags=FUSED)
                builder.store(builder.fadd(builder.load(total), product, flags=FUSED), total)
        one, two, three = (builder.load(total) for total in sums)
        whole = builder.fadd(builder.fadd(one, two), three)
        numbers = [builder.extract_element(whole, ir.Constant(ir.IntType(32), a)) for a in range(3)]
        return context.make_tuple(builder, signature.return_type, numbers)

    return types.UniTuple(x.dtype, 3)(blocks, types.intp, columns, types.intp, types.intp, x), generate
