# SPDX-License-Identifier: GPL-3.0-or-later
"""How kernels are compiled."""

from __future__ import annotations

from typing import Any

_ALL: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "fastmath": False, "forceinline": False}
"""What is left open a function takes over from whatever calls it first, so that its last digits would depend on which
kernel was compiled before."""
KERNEL: dict[str, Any] = {**_ALL, "_nrt": True, "cache": True, "nogil": True}
"""What Python calls: kept on disk, and other threads run meanwhile."""
SUMMING: dict[str, Any] = {**KERNEL, "fastmath": {"reassoc", "contract"}}
"""The same for sums over an array whose numbers may be added up in any order, as many at a time as a vector holds."""
MAKING: dict[str, Any] = {**_ALL, "no_cpython_wrapper": True, "_nrt": True}
"""What kernels call and Python must not, because there is no way in for it (a sixth less to compile), and which makes
arrays of its own.

A plain number among the arguments, 0 or True, is a type of its own to Numba, which compiles the function once more for
it. Where that would be so, callers write np.int64(0).
"""
INNER: dict[str, Any] = {**MAKING, "_nrt": False}
"""The same for what makes no arrays: references to those it is given are not counted, which for a dozen of them takes
as long as a hundred products."""
INLINED: dict[str, Any] = {**INNER, "forceinline": True}
"""What is put into every kernel that calls it: a few operations, fewer than a call takes."""
