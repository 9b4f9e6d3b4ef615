# SPDX-License-Identifier: GPL-3.0-or-later
"""The inner loops, twice: `reference` in NumPy, which is the definition, and `compiled` with Numba, which is quick.

Everything else calls them through `current()`, one module per topic, and does not know which of the two runs:

    from ..kernels import current
    current().block_matrix.product(...)

A simulation says once which it wants, with `using`. `backend` knows what there is and why not.
"""

from __future__ import annotations

from .backend import current, using

__all__ = ["current", "using"]
