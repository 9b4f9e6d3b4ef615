# SPDX-License-Identifier: GPL-3.0-or-later
"""Atomic operations on numbers of an int64 array that threads share, as LLVM instructions.

Loads acquire and stores release: a thread that reads a number sees everything that its writer wrote before.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the address of arguments[0][arguments[1]]."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


@intrinsic
def load(_: Any, shared: Any, place: Any) -> Any:
    """Return shared[place] as it is in memory now, never a value that the compiler kept in a register."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", 8)

    return types.int64(shared, types.intp), generate


@intrinsic
def store(_: Any, shared: Any, place: Any, value: Any) -> Any:
    """Set shared[place] to a value."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], _place(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(shared, types.intp, types.int64), generate


@intrinsic
def add(_: Any, shared: Any, place: Any, value: Any) -> Any:
    """Add a value to shared[place], and return the number that was there before."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _place(context, builder, signature, arguments), arguments[2], "acq_rel")

    return types.int64(shared, types.intp, types.int64), generate


@intrinsic
def replace(_: Any, shared: Any, place: Any, old: Any, new: Any) -> Any:
    """Set shared[place] to `new` if it is `old`; return whether it was."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments)
        return builder.extract_value(builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire"), 1)

    return types.boolean(shared, types.intp, types.int64, types.int64), generate


@intrinsic
def pause(_: Any) -> Any:
    """Tell the processor that a loop waits, where it has an instruction for this: it then leaves power to others."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, void = ir.IntType(32), ir.VoidType()
        machine = llvm.get_process_triple().partition("-")[0]
        if machine in ("x86_64", "amd64"):
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(void, []), "llvm.x86.sse2.pause")
            builder.call(function, [])
        elif machine in ("aarch64", "arm64"):
            hint = ir.FunctionType(void, [number])
            builder.call(cgutils.get_or_insert_function(builder.module, hint, "llvm.aarch64.hint"),
                         [ir.Constant(number, 1)])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def call_without_arguments(_: Any, address: Any) -> Any:
    """Call a C function `int f(void)` by its address; do nothing if it is zero."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        [address] = arguments
        with builder.if_then(cgutils.is_not_null(builder, address)):
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(builder.inttoptr(address, kind.as_pointer()), [])
        return context.get_dummy_value()

    return types.void(types.int64), generate
