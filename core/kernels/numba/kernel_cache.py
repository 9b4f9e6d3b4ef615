# SPDX-License-Identifier: GPL-3.0-or-later
"""Numba's decorator `njit`, with a kernel cache of its own: one sealed file for each function and argument types.

Numba's own cache trusts its folder, unpickles what is there, and keeps an index in which two processes that compile at
once can mix up their kernels. Here a file's name contains a digest of all that its machine code depends on, so that no
index is needed. `kernel_folder` has the rules for folder and files. If a file cannot be used, the kernel is compiled;
if it cannot be written, it is compiled again by the next process.

The settings of Numba are left alone, because other add-ons may use it in the same process.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

from .. import backend, kernel_folder

NUMBA_SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
"""Settings of Numba that change the machine code, from variables of the environment such as NUMBA_OPT."""


class KernelCache(NullCache):  # type: ignore[misc]
    """The compiled forms of one function on disk, for Numba's dispatcher."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function

    @property
    def cache_path(self) -> str:
        """Return the folder, which Numba shows among the statistics of a function."""
        return str(backend.cache_folder())

    def load_overload(self, signature: Any, target_context: Any) -> CompileResult | None:
        """Return the function compiled for argument types, None if there is no usable file."""
        target_context.refresh()
        folder = kernel_folder.find(backend.cache_folder())
        if folder is None:
            return None
        path = folder / self._name(signature, target_context.codegen())
        contents = kernel_folder.read(path)
        if contents is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(contents))
        except Exception:                                       # an installation that changed under one version number
            kernel_folder.remove(path)
            return None

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        """Keep the compiled function, if there is a folder for it, and if it does not depend on this process."""
        if result.library.has_dynamic_globals or not all(part.can_cache for part in result.lifted):
            return
        folder = kernel_folder.make(backend.cache_folder())
        if folder is not None:
            kernel_folder.write(folder / self._name(signature, result.codegen), dumps(result._reduce()))

    def _name(self, signature: Any, codegen: Any) -> str:
        """Return the name of a file. The folder's name stands for the sources, this one for everything else."""
        settings = [getattr(numba.config, name, None) for name in NUMBA_SETTINGS]
        parts = (_description(self.function), signature, codegen.magic_tuple(), settings, numba.__version__,
                 llvmlite.__version__, np.__version__)
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
        return f"{self.function.__name__}-{digest}{kernel_folder.KERNEL_SUFFIX}"


def _description(function: FunctionType) -> tuple[Any, ...]:
    """Return what tells a function apart from all others: its place, its code, and the variables that it encloses."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    known = tuple(_description(value.py_func) if isinstance(value, CPUDispatcher) else value for value in values)
    return (function.__module__, function.__qualname__, function.__code__.co_firstlineno,
            hashlib.sha256(function.__code__.co_code).hexdigest(), hashlib.sha256(dumps(known)).hexdigest())


class KeptDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that is kept in the kernel cache."""

    def enable_caching(self) -> None:
        """Use the kernel cache instead of Numba's own."""
        self._cache = KernelCache(self.py_func)


def named(function: Any, name: str, qualified_name: str) -> FunctionType:
    """Return a function under another name. Machine code refers to functions by their qualified names."""
    code = function.__code__.replace(co_name=name, co_qualname=qualified_name)
    return FunctionType(code, function.__globals__, name, function.__defaults__, function.__closure__)


def _told_apart(function: FunctionType) -> FunctionType:
    """Return a function with a digest of what it encloses in its qualified name.

    Numba numbers the functions of one name in each process. Two files of kernels from two processes may so contain two
    functions under one name and number, and a process that reads both would call the first one for both.
    """
    if not function.__closure__:
        return function
    digest = hashlib.sha256(repr(_description(function)).encode()).hexdigest()[:16]
    return named(function, function.__name__, f"{function.__qualname__}_{digest}")


def for_kernels(function: Any) -> Any:
    """Return a compiled function again, for other kernels alone: it is not kept, and Python cannot call it."""
    options = {**function.targetoptions, "no_cpython_wrapper": True}
    return CPUDispatcher(function.py_func, function.locals, options)


def njit(cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function with Numba, and keeps it on disk if `cache`."""
    plain = numba.njit(**options)

    def compiled(function: Any) -> Any:
        dispatcher = plain(_told_apart(function))
        if not cache or not isinstance(dispatcher, CPUDispatcher):              # NUMBA_DISABLE_JIT
            return dispatcher
        kept = KeptDispatcher(dispatcher.py_func, dispatcher.locals, dispatcher.targetoptions)
        kept.enable_caching()
        return kept

    return compiled
