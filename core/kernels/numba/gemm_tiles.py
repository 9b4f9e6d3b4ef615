# SPDX-License-Identifier: GPL-3.0-or-later
"""Products and triangular solves of tiles of a matrix, four rows by sixteen columns, kept in registers.

A plain loop would write its sums after every few rows and read them again. Here the sixty-four numbers of a tile are
LLVM vectors from the first product to the last, so that the compiler keeps them in registers: eight products of vectors
for every six numbers or vectors that are read (Goto and van de Geijn 2008). LLVM maps each vector of sixteen numbers to
the processor's own: two of eight in single precision, or four of four.

Tiles are parts of flat arrays: row a begins at `at` + a `apart`.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .llvm_vectors import FlatVectors

TILE_ROWS, CHUNK = 4, 16
"""Rows and columns of a tile [-]."""
CHAINS = 2 if get_host_cpu_features().get("avx512f") else 1
"""Partial sums of each number of a tile [-]. An addition waits for the one before it, and a processor with vectors of
sixteen numbers has only four independent sums in a tile; one with shorter vectors has eight, and no registers for
more."""
FUSED = ("contract",)
"""Flags of floating-point instructions: a product and a sum may be rounded once. No other fast mathematics is allowed,
so that nan stays nan."""


@intrinsic
def subtract_tile(_: Any, target: Any, at: Any, apart: Any, rows: Any, first: Any, stride: Any, count: Any,
                  factor: Any, along: Any, across: Any) -> Any:
    """Subtract products from a tile of `target`: from column j of row a the sum over p < count of

        rows[factor + p along + a across] rows[first + p stride + j]
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, at, apart, _, first, stride, count, factor, along, across = arguments
        written, read = (FlatVectors(context, builder, signature.args[k], arguments[k], CHUNK) for k in (0, 3))
        sums = [[cgutils.alloca_once(builder, written.vector) for _ in range(TILE_ROWS)] for _ in range(CHAINS)]
        for total in chain.from_iterable(sums):
            builder.store(ir.Constant(written.vector, [0.0] * CHUNK), total)

        def add(p: Any, totals: list[Any]) -> None:
            """Add the products with row p to its partial sums."""
            row = read.load(builder.add(first, builder.mul(p, stride)))
            place = builder.add(factor, builder.mul(p, along))
            for total in totals:
                product = builder.fmul(read.everywhere(read.number(place)), row, flags=FUSED)
                builder.store(builder.fadd(builder.load(total), product, flags=FUSED), total)
                place = builder.add(place, across)

        none, one, chains = (ir.Constant(count.type, k) for k in (0, 1, CHAINS))
        whole = builder.sub(count, builder.srem(count, chains))
        with cgutils.for_range_slice(builder, none, whole, chains, inc=True) as (p, _):
            for k, totals in enumerate(sums):
                add(builder.add(p, ir.Constant(count.type, k)), totals)
        with cgutils.for_range_slice(builder, whole, count, one, inc=True) as (p, _):
            add(p, sums[0])
        for parts in zip(*sums, strict=True):
            total = builder.load(parts[0])
            for part in parts[1:]:
                total = builder.fadd(total, builder.load(part))
            written.store(builder.fsub(written.load(at), total), at)
            at = builder.add(at, apart)
        return context.get_dummy_value()

    return types.void(target, *[types.intp] * 2, rows, *[types.intp] * 7), generate


@intrinsic
def solve_tile(_: Any, target: Any, at: Any, apart: Any, count: Any, triangle: Any, tiny: Any) -> Any:
    """Replace the first `count` <= 4 rows v of a tile of `target` by x_a = (v_a - sum over b < a of r_ba x_b) s_a.

    The triangle is (r_01, r_02, r_12, r_03, r_13, r_23, s_0, s_1, s_2, s_3). Numbers below `tiny` become zero.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, at, apart, count, triangle, tiny = arguments
        tiles = FlatVectors(context, builder, signature.args[0], arguments[0], CHUNK)
        r = [tiles.everywhere(builder.extract_value(triangle, k)) for k in range(10)]
        zero, least = ir.Constant(tiles.vector, [0.0] * CHUNK), tiles.everywhere(tiny)
        below = builder.fsub(zero, least)
        solved: list[Any] = []

        def solve(a: int, place: Any) -> None:
            """Solve for row a of the tile, which begins at `place`: subtract earlier rows, then scale it."""
            value = tiles.load(place)
            for b, x in enumerate(solved):
                value = builder.fsub(value, builder.fmul(r[a * (a - 1) // 2 + b], x, flags=FUSED), flags=FUSED)
            value = builder.fmul(value, r[6 + a])
            small = builder.and_(builder.fcmp_ordered("<", value, least), builder.fcmp_ordered(">", value, below))
            solved.append(builder.select(small, zero, value))
            tiles.store(solved[a], place)

        def go_on(a: int, place: Any) -> None:
            solve(a, place)
            if a + 1 < TILE_ROWS:
                with builder.if_then(builder.icmp_signed(">", count, ir.Constant(count.type, a + 1))):
                    go_on(a + 1, builder.add(place, apart))

        go_on(0, at)
        return context.get_dummy_value()

    number = target.dtype
    return types.void(target, *[types.intp] * 3, types.UniTuple(number, 10), number), generate

