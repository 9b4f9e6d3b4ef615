# SPDX-License-Identifier: GPL-3.0-or-later
"""How many threads the kernels take. NumPy's take one."""

from __future__ import annotations


def settle() -> int:
    """Choose for what comes next, and say how many."""
    return 1
