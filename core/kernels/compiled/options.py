# SPDX-License-Identifier: GPL-3.0-or-later
"""How kernels are compiled."""

from __future__ import annotations

from typing import Any

KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""What Python calls: kept on disk, and other threads run meanwhile."""
INNER: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""What kernels call and Python must not, because there is no way in for it: a sixth less to compile.

A plain number among the arguments, 0 or True, is a type of its own to Numba, which compiles the function once more for
it. Where that would be so, callers write np.int64(0).
"""
