# SPDX-License-Identifier: GPL-3.0-or-later
"""How kernels are compiled."""

from __future__ import annotations

from typing import Any

_ALL: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "fastmath": False, "forceinline": False}
"""What is left open a function takes over from whatever calls it first, so that its last digits would depend on which
kernel was compiled before."""
KERNEL: dict[str, Any] = {**_ALL, "cache": True, "nogil": True}
"""What Python calls: kept on disk, and other threads run meanwhile."""
INNER: dict[str, Any] = {**_ALL, "no_cpython_wrapper": True}
"""What kernels call and Python must not, because there is no way in for it: a sixth less to compile.

A plain number among the arguments, 0 or True, is a type of its own to Numba, which compiles the function once more for
it. Where that would be so, callers write np.int64(0).
"""
INLINED: dict[str, Any] = {**INNER, "forceinline": True}
"""What is put into every kernel that calls it: a few operations, fewer than a call takes."""
