# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear maps on vectors as compiled functions that compiled code calls by their addresses.

A solve by conjugate gradients is one compiled function for each two kinds of operators. It does not contain them, which
would compile each of them several times: their addresses are numbers among its arguments, so that it can be kept on
disk. All maps have the arguments (team, threads, arrays, x, result), with the team of `parallel_loop` and x, result
(V, 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import _dispatcher, typeof, types
from numba.core import cgutils
from numba.core.callconv import RETCODE_USEREXC, excinfo_ptr_t
from numba.extending import intrinsic

from ..layouts import OperatorArrays
from . import block_matrix, multigrid, packed
from .front_solve import solve_all
from .kernel_cache import for_kernels, njit
from .multifrontal import solve_arguments
from .options import INNER, KERNEL, MAKING
from .pair_penalty import places_of, products_of_vertices, totals_of_pairs
from .parallel_loop import share_parts
from .thread_pool import LEAST_ROWS, LEAST_VERTICES, PARTS_PER_THREAD

_packed_rows, _assembled_rows = for_kernels(packed.product_of_rows), for_kernels(block_matrix.product_of_rows)
_restricted, _prolonged = for_kernels(multigrid.sums_of_groups), for_kernels(multigrid.values_of_vertices)
_pair_totals, _pair_products = for_kernels(totals_of_pairs), for_kernels(products_of_vertices)

_addresses: dict[tuple[Any, bytes], int] = {}                        # a memory of what is compiled, not of results


@intrinsic
def call(_: Any, address: Any, arguments: Any) -> Any:
    """Call a compiled function without a result by its address; raise what it raises.

    arguments: a tuple of the types that it was compiled for.
    """
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kinds = signature.args[1].types
        values = [builder.extract_value(given[1], k) for k in range(len(kinds))]
        kind = context.call_conv.get_function_type(types.none, kinds)
        result, raised = cgutils.alloca_once(builder, kind.args[0].pointee), cgutils.alloca_once(builder, excinfo_ptr_t)
        packer = context.call_conv._get_arg_packer(kinds)
        status = builder.call(builder.inttoptr(given[0], kind.as_pointer()),
                              [result, raised, *packer.as_arguments(builder, values)])
        with builder.if_then(builder.icmp_signed(">=", status, RETCODE_USEREXC), likely=False):
            found = context.call_conv._get_return_status(builder, status, builder.load(raised))
            context.call_conv.return_status_propagate(builder, found)
        return context.get_dummy_value()

    return types.void(types.intp, arguments), generate


def address_of(function: Any, arguments: tuple[Any, ...]) -> int:
    """Return the address of a kernel compiled for the types of these arguments."""
    key = function, _dispatcher.compute_fingerprint(arguments)
    if key not in _addresses:
        kinds = tuple(typeof(argument) for argument in arguments)
        function.compile(kinds)
        compiled = function.overloads[kinds]
        _addresses[key] = int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
    return _addresses[key]


def compiled(operator: OperatorArrays, team: Any, x: Any) -> tuple[int, tuple[Any, ...]]:
    """Return the address of an operator on vectors like x (V, 3), and the arrays with which it is to be called."""
    arrays = operator.arrays
    if operator.kind == "factor":
        arrays = _factor_arrays(team, *arrays)
    elif operator.kind == "two_levels":
        *levels, factor = arrays
        groups = len(levels[1]) - 1
        arrays = (*levels, np.empty((groups, 3)), np.empty((groups, 3)), _factor_arrays(team, *factor))
    else:
        rows, pairs = arrays
        arrays = rows, (*pairs, *places_of(pairs[0], len(x)))
    return address_of(OPERATORS[operator.kind], (team, 1, arrays, x, x)), arrays


def _factor_arrays(team: Any, plan: Any, values: Any, unit: float) -> tuple[Any, ...]:
    """Return the arrays of a factor: its address, tree, numbers, the inverse of their unit, and what `solve_all` takes
    last."""
    tree, last, blocks = *solve_arguments(plan, values, 3, 1), np.empty((1, 3, 1))
    return address_of(solve_all, (team, 1, *tree, values, blocks, 1.0, 1.0, *last, blocks)), tree, values, unit, last


@njit(**INNER)
def parts_of(threads: Any, count: Any, least: Any) -> Any:
    """Return in how many parts a loop of `count` items is shared out, of at least so many items each."""
    return min(PARTS_PER_THREAD * threads, count // least)


@njit(**KERNEL)
def _packed(team: Any, threads: Any, arrays: Any, x: Any, result: Any) -> None:
    """Write A x: rows of a packed matrix, as `packed.product_of_rows` takes them, and pairs."""
    rows, pairs = arrays
    share_parts(team, threads, parts_of(threads, len(x), LEAST_ROWS), len(x), _packed_rows, rows + (x, result))
    _add_pairs(team, threads, pairs, x, result)


@njit(**KERNEL)
def _assembled(team: Any, threads: Any, arrays: Any, x: Any, result: Any) -> None:
    """Write A x: rows of a block matrix, as `block_matrix.product_of_rows` takes them, and pairs."""
    rows, pairs = arrays
    share_parts(team, threads, parts_of(threads, len(x), LEAST_ROWS), len(x), _assembled_rows, rows + (x, result))
    _add_pairs(team, threads, pairs, x, result)


@njit(**INNER)
def _add_pairs(team: Any, threads: Any, pairs: Any, x: Any, result: Any) -> None:
    """Add the product of contacts without diagonal blocks: terms and places as of `pair_penalty.add_product`."""
    vertices, weights, normals, along, across, starts, entries, totals = pairs
    if len(vertices) == 0:
        return
    share_parts(team, threads, parts_of(threads, len(vertices), LEAST_VERTICES), len(vertices), _pair_totals,
                (vertices, weights, x, totals))
    share_parts(team, threads, parts_of(threads, len(x), LEAST_VERTICES), len(x), _pair_products,
                (starts, entries, weights, normals, along, across, totals, x, result))


@njit(**KERNEL)
def _factor(team: Any, threads: Any, arrays: Any, r: Any, result: Any) -> None:
    """Write P^-1 r of a factor."""
    _solve(team, threads, arrays, r, result)


@njit(**KERNEL)
def _two_levels(team: Any, threads: Any, arrays: Any, r: Any, result: Any) -> None:
    """Write J^-1 r + S Q A_c^-1 Q^T S r, as `AggregationMultigrid`.

    arrays: order, starts, group, inverse, number and S as of the kernels `multigrid`; two workspaces (groups, 3); and
    the factor of A_c.
    """
    order, starts, group, inverse, number, S, sums, motion, coarse = arrays
    share_parts(team, threads, parts_of(threads, len(sums), LEAST_ROWS), len(sums), _restricted,
                (r, order, starts, number, S, sums))
    _solve(team, threads, coarse, sums, motion)
    share_parts(team, threads, parts_of(threads, len(r), LEAST_VERTICES), len(r), _prolonged,
                (motion, group, number, S, inverse, r, result))


@njit(**MAKING)
def _solve(team: Any, threads: Any, factor: Any, r: Any, result: Any) -> None:
    """Write P^-1 r of a factor to result (V, 3), scaled as `BlockCholesky` does."""
    where, tree, values, unit, last = factor
    size = _largest(r)
    if not 0.0 < size < np.inf:
        result[:] = 0.0 if size == 0.0 else np.nan
        return
    count = len(r)
    call(where, (team, threads) + tree + (values, r.reshape(count, 3, 1), size, size * unit) + last
         + (result.reshape(count, 3, 1),))


@njit(**INNER)
def _largest(r: Any) -> Any:
    """Return the largest absolute value of r (V, 3); nan if one is nan."""
    largest, whole = 0.0, True
    for i in range(np.uintp(len(r))):
        for a in range(3):
            largest = max(largest, abs(r[i, a]))
            whole &= r[i, a] == r[i, a]
    return largest if whole else np.nan


OPERATORS = {"packed": _packed, "assembled": _assembled, "factor": _factor, "two_levels": _two_levels}
"""By the kinds of `OperatorArrays`."""
