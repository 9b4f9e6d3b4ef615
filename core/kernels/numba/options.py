# SPDX-License-Identifier: GPL-3.0-or-later
"""Options with which kernels are compiled."""

from __future__ import annotations

from typing import Any

_ALL: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "fastmath": False, "forceinline": False}
"""Options of all functions. A function takes over options that are left open from its first caller, so that its last
digits would depend on the order of compilation."""
KERNEL: dict[str, Any] = {**_ALL, "_nrt": True, "cache": True, "nogil": True}
"""Functions that Python calls: kept on disk, and run without the interpreter lock."""
SUMMING: dict[str, Any] = {**KERNEL, "fastmath": {"reassoc", "contract"}}
"""The same for sums over arrays whose terms may be added in any order, so that they are added as vectors."""
MAKING: dict[str, Any] = {**_ALL, "no_cpython_wrapper": True, "_nrt": True}
"""Functions that only kernels call, and that make arrays. They have no wrapper for Python, which saves a sixth of the
compile time.

To Numba, a literal among the arguments, such as 0 or True, is a type of its own, for which it compiles the function
once more. To avoid this, callers write np.int64(0).
"""
INNER: dict[str, Any] = {**MAKING, "_nrt": False}
"""The same for functions that make no arrays: references to their arguments are not counted, which for a dozen arrays
takes as long as a hundred products."""
INLINED: dict[str, Any] = {**INNER, "forceinline": True}
"""Functions that are inlined into every kernel that calls them, because they take less time than a call."""
