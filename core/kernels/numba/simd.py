# SPDX-License-Identifier: GPL-3.0-or-later
"""The type `Lanes` for Numba: numbers of `GROUP_SIZE` elements, on which arithmetic works as on one number.

A law written in plain arithmetic runs on lanes as on plain numbers, and LLVM makes each operation one or several vector
instructions (see `llvm_vectors`). Each lane gets exactly the value that a plain number would get. Comparisons give 1
where they are true and 0 elsewhere.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model

from ...stencils.stencil import GROUP_SIZE
from .llvm_vectors import FlatVectors

Generate = Callable[..., Any]
_VECTOR = ir.VectorType(ir.DoubleType(), GROUP_SIZE)


class _Lanes(types.Type):  # type: ignore[misc]
    """The Numba type of lanes."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES = _Lanes()


@register_model(_Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


# ---------------------------------------------------------------------- from arrays and back


@intrinsic
def load(typing: Any, array: Any, place: Any) -> Any:
    """Return the lanes that begin at number `place` of an array in C order of any shape."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return FlatVectors(context, builder, signature.args[0], arguments[0], GROUP_SIZE).load(arguments[1])

    return LANES(array, place), generate


@intrinsic(prefer_literal=True)
def row(typing: Any, array: Any, group: Any, count: Any) -> Any:
    """Return the `count` lanes of a group in an array (G, count, 8), as a tuple."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vectors = FlatVectors(context, builder, signature.args[0], arguments[0], GROUP_SIZE)
        begin = builder.mul(arguments[1], ir.Constant(arguments[1].type, count.literal_value * GROUP_SIZE))
        return context.make_tuple(builder, signature.return_type, [
            vectors.load(builder.add(begin, ir.Constant(begin.type, k * GROUP_SIZE)))
            for k in range(count.literal_value)])

    if not isinstance(count, types.IntegerLiteral):
        return None
    return types.UniTuple(LANES, count.literal_value)(array, types.intp, count), generate


@intrinsic
def store(typing: Any, lanes: Any, array: Any, place: Any) -> Any:
    """Write lanes, or one number into all of them, to an array from `place` on."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _as_vector(context, builder, signature.args[0], arguments[0])
        FlatVectors(context, builder, signature.args[1], arguments[1], GROUP_SIZE).store(vector, arguments[2])
        return context.get_dummy_value()

    return types.void(lanes, array, place), generate


@intrinsic
def gather(typing: Any, x: Any, rows: Any, place: Any, axis: Any) -> Any:
    """Return x[v, axis] of the vertices v = rows[place], rows[place + 1], ..; x (V, 3) and rows in C order."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        field, index = (FlatVectors(context, builder, signature.args[k], arguments[k], GROUP_SIZE) for k in range(2))
        three, result = ir.Constant(ir.IntType(64), 3), ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(GROUP_SIZE):
            vertex = index.number(builder.add(arguments[2], ir.Constant(arguments[2].type, lane)))
            vertex = context.cast(builder, vertex, signature.args[1].dtype, types.int64)
            number = field.number(builder.add(builder.mul(vertex, three), arguments[3]))
            result = builder.insert_element(result, number, ir.Constant(ir.IntType(32), lane))
        return result

    if not x.layout == rows.layout == "C":
        return None
    return LANES(x, rows, place, axis), generate


@intrinsic(prefer_literal=True)
def spread(typing: Any, lanes: Any, count: Any, array: Any, group: Any, fresh: Any) -> Any:
    """Write the numbers of a group's elements, lanes (count, 8), to an array (8 G, count), one element after the other;
    add them to the array's numbers unless `fresh`."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        there, here = (FlatVectors(context, builder, signature.args[k], arguments[k], GROUP_SIZE) for k in (0, 2))
        of, index = count.literal_value, ir.IntType(32)
        begin = builder.mul(arguments[3], ir.Constant(arguments[3].type, of * GROUP_SIZE))
        lanes = [there.load(ir.Constant(begin.type, number * GROUP_SIZE)) for number in range(of)]
        rows = []
        for part in range(of):
            element, number = np.divmod(np.arange(GROUP_SIZE) + part * GROUP_SIZE, of)
            row = ir.Constant(_VECTOR, ir.Undefined)
            for which in sorted(set(number.tolist())):
                taken = np.where(number == which, GROUP_SIZE + element, np.arange(GROUP_SIZE)).tolist()
                row = builder.shuffle_vector(row, lanes[which], ir.Constant(ir.VectorType(index, GROUP_SIZE), taken))
            rows.append((row, builder.add(begin, ir.Constant(begin.type, part * GROUP_SIZE))))
        with builder.if_else(context.cast(builder, arguments[4], signature.args[4], types.boolean)) as (then, other):
            with then:
                for row, place in rows:
                    here.store(row, place)
            with other:
                for row, place in rows:
                    here.store(builder.fadd(here.load(place), row), place)
        return context.get_dummy_value()

    if not isinstance(count, types.IntegerLiteral):
        return None
    return types.void(lanes, count, array, group, fresh), generate


@intrinsic
def lane(typing: Any, lanes: Any, number: Any) -> Any:
    """Return the number in one lane."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(_as_vector(context, builder, signature.args[0], arguments[0]), arguments[1])

    return types.float64(lanes, number), generate


@intrinsic
def everywhere(typing: Any, number: Any) -> Any:
    """Return lanes that all hold one number."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _as_vector(context, builder, signature.args[0], arguments[0])

    return LANES(number), generate


def _as_vector(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if kind == LANES:
        return value
    number, index = context.cast(builder, value, kind, types.float64), ir.IntType(32)
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(index, 0))
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined),
                                  ir.Constant(ir.VectorType(index, GROUP_SIZE), [0] * GROUP_SIZE))


# ---------------------------------------------------------------------- operations of laws


def _two(function: Any, make: Generate) -> None:
    """Define a function of two arguments, of which one or both are lanes: `make` returns the code for vectors."""
    pairs = ((LANES, LANES), (types.float64, LANES), (LANES, types.float64))

    class Pair(ConcreteTemplate):  # type: ignore[misc]
        key = function
        cases = [signature(LANES, *pair) for pair in pairs]

    infer_global(function, types.Function(Pair))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return make(context, builder, *(_as_vector(context, builder, kind, value)
                                        for kind, value in zip(signature.args, arguments, strict=True)))

    for pair in pairs:
        lower_builtin(function, *pair)(generate)


def _one(function: Any, make: Generate) -> None:
    """Define a function of one argument that is lanes: `make` returns the code for vectors."""
    class Single(ConcreteTemplate):  # type: ignore[misc]
        key = function
        cases = [signature(LANES, LANES)]

    infer_global(function, types.Function(Single))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return make(context, builder, arguments[0])

    lower_builtin(function, LANES)(generate)


def _compare(sign: str) -> Generate:
    def make(context: Any, builder: Any, a: Any, b: Any) -> Any:
        return builder.uitofp(builder.fcmp_ordered(sign, a, b), _VECTOR)

    return make


def _extreme(sign: str) -> Generate:
    """Return code for the larger or smaller number, or nan if either is nan, as in NumPy."""
    def make(context: Any, builder: Any, a: Any, b: Any) -> Any:
        first = builder.select(builder.fcmp_unordered(sign, a, b), a, b)
        return builder.select(builder.fcmp_unordered("uno", b, b), b, first)

    return make


def _instruction(name: str, count: int) -> Generate:
    """Return code that calls a function which LLVM has for vectors."""
    def make(context: Any, builder: Any, *values: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * count)
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{GROUP_SIZE}f64")
        return builder.call(function, values)

    return make


def _each(function: Any) -> Generate:
    """Return code that calls a function of plain numbers, lane by lane."""
    def make(context: Any, builder: Any, *values: Any) -> Any:
        called = signature(types.float64, *[types.float64] * len(values))
        scalar = context.get_function(function, context.typing_context.resolve_function_type(
            context.typing_context.resolve_value_type(function), called.args, {}))
        result = ir.Constant(_VECTOR, ir.Undefined)
        for k in range(GROUP_SIZE):
            at = ir.Constant(ir.IntType(32), k)
            number = scalar(builder, [builder.extract_element(value, at) for value in values])
            result = builder.insert_element(result, number, at)
        return result

    return make


@infer_global(operator.pow)
class _Square(AbstractTemplate):  # type: ignore[misc]
    key = operator.pow

    def generic(self, args: Any, kws: Any) -> Any:
        if args[0] == LANES and isinstance(args[1], types.IntegerLiteral) and args[1].literal_value == 2:
            return signature(LANES, *args)
        return None


@lower_builtin(operator.pow, LANES, types.IntegerLiteral)  # type: ignore[untyped-decorator]
def _square(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.fmul(arguments[0], arguments[0])


for _function, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"),
                         (operator.truediv, "fdiv")):
    _two(_function, lambda context, builder, a, b, name=_name: getattr(builder, name)(a, b))
for _function, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _two(_function, _compare(_sign))
_two(np.maximum, _extreme(">="))
_two(np.minimum, _extreme("<="))
_two(np.copysign, _instruction("copysign", 2))
_two(np.arctan2, _each(math.atan2))
_one(operator.neg, lambda context, builder, a: builder.fneg(a))
_one(np.sqrt, _instruction("sqrt", 1))
_one(np.abs, _instruction("fabs", 1))
