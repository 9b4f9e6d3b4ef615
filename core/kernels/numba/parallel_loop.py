# SPDX-License-Identifier: GPL-3.0-or-later
"""Hand out the parts of a loop to threads, in compiled code: without the interpreter, and without its lock.

The threads share one array of numbers, `team`. A loop is published there as the address of compiled code, the address
of its arguments, and a ticket: the number of the loop and the count of parts that are left. The next free thread takes
the next part by counting the ticket down, in one atomic step that fails if another thread was faster or another loop
has started. So a thread that comes late, because another program uses its core, delays no other thread.

Addresses travel in the array and in arguments, never in the code: kernels can be kept on disk.

A team works on one loop at a time. A loop that starts within a part of another one, or on another thread of Python
while the team works, runs in its caller alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import RETCODE_OK, RETCODE_USEREXC, excinfo_ptr_t
from numba.extending import intrinsic

from .atomics import add, call_without_arguments, load, pause, replace, store
from .kernel_cache import njit
from .options import INNER, KERNEL

LEFT_BITS = 32
"""Bits of a ticket that count parts; those above are the number of the loop."""


class Places(NamedTuple):
    """Places in a team's array. Those that are written often are on cache lines of their own, fetched in pairs.

    Attributes:
        busy: whether the team works on a loop.
        ticket: number of the loop, and count of its parts that are left.
        code, record, parts, items: the loop: addresses of its code and arguments, numbers of its parts and items.
        helpers: threads besides the caller that may take parts.
        ended: parts that have ended.
        raised: address of the first exception.
        stopped: whether the threads are to end.
        offer: address of the system's function by which a thread offers its core to others.
        turn: looks at a number, each with a pause, before a waiting thread does so.
        hand_out: address of the function `hand_out`.
        end: length of the array.
    """

    busy: int = 0
    ticket: int = 16
    code: int = 32
    record: int = 33
    parts: int = 34
    items: int = 35
    helpers: int = 36
    ended: int = 48
    raised: int = 64
    stopped: int = 80
    offer: int = 81
    turn: int = 82
    hand_out: int = 83
    end: int = 96


AT = Places()


class _Internal(ir.Function):  # type: ignore[misc]
    """A function of which no other module sees the name, and that is never inlined."""

    def __init__(self, module: Any, kind: Any, name: str) -> None:
        super().__init__(module, kind, name)
        self.linkage = "internal"
        self.attributes.add("noinline")


# ---------------------------------------------------------------------- one part


@intrinsic
def published(context: Any, loop: Any, arguments: Any) -> Any:
    """Return the addresses (code, record) by which `_part` calls loop(begin, end, *arguments).

    The record is in the frame of the function that calls this.
    """
    called = loop.get_call_type(context, (types.intp, types.intp, *arguments.types), {})

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        word = context.get_value_type(types.intp)
        kinds = signature.args[1].types
        record_type = ir.LiteralStructType([context.get_value_type(kind) for kind in kinds])
        record = cgutils.alloca_once(builder, record_type)
        for k in range(len(kinds)):
            builder.store(builder.extract_value(given[1], k), cgutils.gep_inbounds(builder, record, 0, k))
        kind = context.call_conv.get_function_type(types.none, [types.intp] * 3)
        name = builder.module.get_unique_name(f"{builder.function.name}.part")
        part = _Internal(builder.module, kind, name)
        inside = ir.IRBuilder(part.append_basic_block("entry"))
        *_, address, begin, end = part.args
        here = inside.inttoptr(address, record_type.as_pointer())
        values = [inside.load(cgutils.gep_inbounds(inside, here, 0, k)) for k in range(len(kinds))]
        function = context.get_function(loop, called)
        function(inside, [begin, end, *values])
        inside.ret(ir.Constant(ir.IntType(32), RETCODE_OK.constant))
        context.add_linking_libs(getattr(function, "libs", ()))
        addresses = [builder.ptrtoint(part, word), builder.ptrtoint(record, word)]
        return context.make_tuple(builder, signature.return_type, addresses)

    return types.UniTuple(types.intp, 2)(loop, arguments), generate


@intrinsic
def _part(_: Any, code: Any, record: Any, begin: Any, end: Any) -> Any:
    """Work on items begin..end - 1 of a published loop; return the address of the exception it raised, 0 if none."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code, record, begin, end = arguments
        kind = context.call_conv.get_function_type(types.none, [types.intp] * 3)
        result = cgutils.alloca_once(builder, kind.args[0].pointee)
        raised = cgutils.alloca_once(builder, excinfo_ptr_t)
        status = builder.call(builder.inttoptr(code, kind.as_pointer()), [result, raised, record, begin, end])
        failed = builder.icmp_signed(">=", status, RETCODE_USEREXC)
        where = builder.ptrtoint(builder.load(raised), record.type)
        return builder.select(failed, where, ir.Constant(record.type, 0))

    return types.intp(*[types.intp] * 4), generate


@intrinsic
def raise_again(_: Any, raised: Any) -> Any:
    """Raise the exception at an address that `_part` has returned."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        [raised] = arguments
        with builder.if_then(cgutils.is_not_null(builder, raised), likely=False):
            status = context.call_conv._get_return_status(builder, RETCODE_USEREXC,
                                                          builder.inttoptr(raised, excinfo_ptr_t))
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(types.intp), generate


# ---------------------------------------------------------------------- threads


@njit(**INNER)
def share_parts(team: Any, threads: Any, parts: Any, count: Any, loop: Any, arguments: Any) -> None:
    """Call loop(begin, end, *arguments) for `parts` ranges that make up 0..count, on at most so many threads."""
    code, record = published(loop, arguments)
    raise_again(handed_out(team, threads, parts, count, code, record))


@intrinsic
def handed_out(_: Any, team: Any, threads: Any, parts: Any, count: Any, code: Any, record: Any) -> Any:
    """Return hand_out(team, threads, parts, count, code, record), called by its address in the team's array.

    So kernels do not contain it, which saves a third of the time that compiling a shared loop adds.
    """
    called = types.intp(team, *[types.intp] * 5)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.call_conv.get_function_type(types.intp, called.args)
        shared = context.make_array(team)(context, builder, arguments[0])
        address = builder.load(builder.gep(shared.data, [ir.Constant(ir.IntType(64), AT.hand_out)]))
        result, raised = cgutils.alloca_once(builder, kind.args[0].pointee), cgutils.alloca_once(builder, excinfo_ptr_t)
        packed = context.call_conv._get_arg_packer(called.args)
        builder.call(builder.inttoptr(address, kind.as_pointer()),
                     [result, raised, *packed.as_arguments(builder, arguments)])
        return builder.load(result)

    return called, generate


def hand_out_address() -> int:
    """Return the address of the compiled `hand_out`."""
    kind = (types.Array(types.int64, 1, "C"), *[types.intp] * 5)
    hand_out.compile(kind)
    compiled = hand_out.overloads[kind]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


@njit(**KERNEL)
def hand_out(team: Any, threads: Any, parts: Any, count: Any, code: Any, record: Any) -> Any:
    """Return the address of the first exception of a published loop, 0 if none, after all parts have ended."""
    if threads < 2 or parts < 2 or not replace(team, AT.busy, 0, 1):
        return _part(code, record, 0, count)
    team[AT.code], team[AT.record], team[AT.parts], team[AT.items] = code, record, parts, count
    team[AT.helpers] = threads - 1
    team[AT.ended], team[AT.raised] = 0, 0
    store(team, AT.ticket, (((load(team, AT.ticket) >> LEFT_BITS) + 1) << LEFT_BITS) + parts)
    _work(team)
    looks = 0
    while load(team, AT.ended) < parts:
        looks = _wait(team, looks)
    raised = load(team, AT.raised)
    store(team, AT.busy, 0)
    return raised


@njit(**INNER)
def _work(team: Any) -> Any:
    """Work on parts of the team's loop until none is left; return how many."""
    done = 0
    while True:
        ticket = load(team, AT.ticket)
        left = ticket & ((1 << LEFT_BITS) - 1)
        if left == 0:
            return done
        code, record = load(team, AT.code), load(team, AT.record)
        parts, count = load(team, AT.parts), load(team, AT.items)
        if replace(team, AT.ticket, ticket, ticket - 1):             # so the four belong to this ticket's loop
            part = parts - left
            raised = _part(code, record, count * part // parts, count * (part + 1) // parts)
            if raised:
                replace(team, AT.raised, 0, raised)
            add(team, AT.ended, 1)
            done += 1


@njit(**INNER)
def _wait(team: Any, looks: Any) -> Any:
    """Wait a moment after so many looks at a number in a row; return the next count."""
    pause()
    looks += 1
    if looks % load(team, AT.turn) == 0:
        call_without_arguments(load(team, AT.offer))
    return looks


@njit(**KERNEL)
def serve(team: Any, number: Any, turns: Any) -> None:
    """Work as thread `number` of the team, until it had nothing to do for so many turns in a row."""
    looks, most = 0, turns * load(team, AT.turn)
    while looks < most and not load(team, AT.stopped):
        if load(team, AT.ticket) & ((1 << LEFT_BITS) - 1) and number < load(team, AT.helpers) and _work(team):
            looks = 0
        else:
            looks = _wait(team, looks)
