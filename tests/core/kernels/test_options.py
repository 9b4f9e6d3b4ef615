# SPDX-License-Identifier: GPL-3.0-or-later
"""Python calls no kernel's inner function: it has no way in, and the process would crash. What any function is compiled
to depends on no other."""

import ast
from pathlib import Path

import pytest

import core
from tests.cases import cases

FOLDER = Path(core.__file__).parent / "kernels" / "numba"
TREES = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.py")}


INNER = ("njit(**INNER)", "njit(**INLINED)", "njit(**MAKING)")


def decorated(node, *words):
    return isinstance(node, ast.FunctionDef) and any(word in ast.unparse(d) for d in node.decorator_list
                                                     for word in words)


def names(tree):
    """Inner functions by the name that they have in a module."""
    found = {node.name for node in tree.body if decorated(node, *INNER)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module in TREES:
            theirs = {other.name for other in TREES[node.module].body if decorated(other, *INNER)}
            found |= {alias.asname or alias.name for alias in node.names if alias.name in theirs}
    return found


def stands_in(tree):
    """Names of the functions that are compiled in the place of a function of Python, by `overload`."""
    return {part.id for node in tree.body if not isinstance(node, ast.FunctionDef) and "overload(" in ast.unparse(node)
            for part in ast.walk(node) if isinstance(part, ast.Name)}


def of_python(node):
    """Yield the nodes of a function, apart from those of compiled functions inside of it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not decorated(child, "njit"):
            yield from of_python(child)


def test_python_calls_no_inner_function():
    inner, wrong = 0, []
    for module, tree in TREES.items():
        known = names(tree)
        inner += len(known)
        compiled = stands_in(tree)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not decorated(node, "njit") and node.name not in compiled:
                wrong += [(module, node.name, call.func.id) for call in of_python(node) if isinstance(call, ast.Call)
                          and isinstance(call.func, ast.Name) and call.func.id in known]
    assert inner > 50 and not wrong, wrong


def test_every_compiled_function_is_a_kernel_or_inner():
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if decorated(node, "njit"):
                assert decorated(node, "njit(**KERNEL)", "njit(**SUMMING)", *INNER), (module, node.name)


@cases("kind", ["KERNEL", "INNER", "MAKING", "INLINED"])
def test_a_function_takes_nothing_over_from_the_one_that_calls_it_first(kind):
    numba = pytest.importorskip("numba")
    from core.kernels.numba import options

    own = {**getattr(options, kind), "cache": False}

    @numba.njit(**own)
    def called(a, b, c):
        return a * b + c

    @numba.njit(fastmath={"contract"}, forceinline=True)
    def caller(a, b, c):
        return called(a, b, c)

    caller(2.0, 3.0, 4.0)
    code = next(iter(called.overloads.values())).library.get_llvm_str()
    assert "fmul double" in code and ("alwaysinline" in code) == (kind == "INLINED")
