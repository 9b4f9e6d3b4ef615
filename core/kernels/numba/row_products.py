# SPDX-License-Identifier: GPL-3.0-or-later
"""Products of dense rows with a vector: the inner loops of solving with the fronts of a factor.

Rows are parts of flat arrays, read once and in order in whole chunks of sixteen numbers, as vectors (see
`llvm_vectors`), eight or four rows at once. The compiler would divide a plain loop into vectors and a remainder that is
worked on number by number, which takes most of the time for rows of eighty numbers. So callers pad their vectors to
whole chunks, with zeros or with numbers that are not used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .gemm_tiles import CHUNK, FUSED
from .kernel_cache import njit
from .llvm_vectors import FlatVectors
from .options import INLINED

ROWS_ADDED, ROWS_DOTTED = 8, 4
"""Most rows in a call of `add_rows` and of `dot_rows` [-]."""


@njit(**INLINED)
def flushed(tiny, value):  # type: ignore[no-untyped-def]
    """Return the value, or zero if its absolute value is below `tiny`; nan stays nan."""
    return tiny - tiny if abs(value) < tiny else value


def _starts(builder: Any, first: Any, stride: Any, count: Any, most: int) -> list[tuple[Any, Any]]:
    """Return for each of `most` rows a flag, whether it is one of `count` rows, and the place at which it begins.

    Rows are `stride` numbers apart from `first` on. A row beyond `count` begins where row 0 does.
    """
    rows = []
    for p in range(most):
        there = builder.icmp_signed("<", ir.Constant(count.type, p), count)
        away = builder.mul(ir.Constant(stride.type, p), stride)
        rows.append((there, builder.add(first, builder.select(there, away, ir.Constant(stride.type, 0)))))
    return rows


@intrinsic
def add_rows(_: Any, target: Any, at: Any, chunks: Any, factors: Any, factor: Any, rows: Any, first: Any, stride: Any,
             count: Any) -> Any:
    """Add the sum over p < count <= ROWS_ADDED of factors[factor + p] times row p to `chunks` chunks of target.

    The chunks begin at `at`, row p at rows[first + p stride].
    """
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, at, chunks, _, factor, _, first, stride, count = arguments
        written, given, read = (FlatVectors(context, builder, signature.args[k], arguments[k], CHUNK)
                                for k in (0, 3, 5))
        begins, times = [], []
        zero = ir.Constant(written.vector.element, 0.0)
        for p, (there, begin) in enumerate(_starts(builder, first, stride, count, ROWS_ADDED)):
            place = builder.add(factor, builder.select(there, ir.Constant(factor.type, p), ir.Constant(factor.type, 0)))
            times.append(read.everywhere(builder.select(there, given.number(place), zero)))
            begins.append(begin)
        with cgutils.for_range(builder, chunks) as loop:
            along = builder.mul(loop.index, ir.Constant(loop.index.type, CHUNK))
            here = builder.add(at, along)
            total = written.load(here)
            for begin, number in zip(begins, times, strict=True):
                product = builder.fmul(number, read.load(builder.add(begin, along)), flags=FUSED)
                total = builder.fadd(total, product, flags=FUSED)
            written.store(total, here)
        return context.get_dummy_value()

    return types.void(target, *[types.intp] * 2, factors, types.intp, rows, *[types.intp] * 3), generate


@intrinsic
def dot_rows(_: Any, rows: Any, first: Any, stride: Any, count: Any, x: Any, at: Any, chunks: Any) -> Any:
    """Return the products of count <= ROWS_DOTTED rows with `chunks` chunks of x from `at` on.

    Row p begins at rows[first + p stride]; from `count` on it is row 0.
    """
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, first, stride, count, _, at, chunks = arguments
        read, other = (FlatVectors(context, builder, signature.args[k], arguments[k], CHUNK) for k in (0, 4))
        begins = [begin for _, begin in _starts(builder, first, stride, count, ROWS_DOTTED)]
        sums = [cgutils.alloca_once(builder, read.vector) for _ in range(ROWS_DOTTED)]
        for total in sums:
            builder.store(ir.Constant(read.vector, [0.0] * CHUNK), total)
        with cgutils.for_range(builder, chunks) as loop:
            along = builder.mul(loop.index, ir.Constant(loop.index.type, CHUNK))
            value = other.load(builder.add(at, along))
            for begin, total in zip(begins, sums, strict=True):
                product = builder.fmul(read.load(builder.add(begin, along)), value, flags=FUSED)
                builder.store(builder.fadd(builder.load(total), product, flags=FUSED), total)
        one, two, three, four = (_halved(builder, _halved(builder, builder.load(total))) for total in sums)
        ends = _summed(builder, _summed(builder, one, two, (0, 1, 4, 5), (2, 3, 6, 7)),
                       _summed(builder, three, four, (0, 1, 4, 5), (2, 3, 6, 7)), (0, 2, 4, 6), (1, 3, 5, 7))
        index = ir.IntType(32)
        numbers = [builder.extract_element(ends, ir.Constant(index, k)) for k in range(ROWS_DOTTED)]
        return context.make_tuple(builder, signature.return_type, numbers)

    found = types.UniTuple(rows.dtype, ROWS_DOTTED)
    return found(rows, *[types.intp] * 3, x, *[types.intp] * 2), generate


def _summed(builder: Any, a: Any, b: Any, ones: tuple[int, ...], others: tuple[int, ...]) -> Any:
    """Return a vector: components `ones` of the pair of vectors (a, b) plus its components `others`."""
    kind = ir.VectorType(ir.IntType(32), len(ones))
    return builder.fadd(*(builder.shuffle_vector(a, b, ir.Constant(kind, list(which))) for which in (ones, others)))


def _halved(builder: Any, vector: Any) -> Any:
    """Return the first half of a vector plus its second half."""
    half = vector.type.count // 2
    return _summed(builder, vector, vector, tuple(range(half)), tuple(range(half, 2 * half)))
