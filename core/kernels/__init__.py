# SPDX-License-Identifier: GPL-3.0-or-later
"""The inner loops, for each backend: `numpy` is the definition, `numba` the same functions compiled.

Both folders have one module per topic. All other code calls them through `current()`, whichever backend runs:

    from ..kernels import current
    current().block_matrix.product(...)

A simulation selects its backend once, with `using`. `backend` lists what there is and why something is missing,
`tuning` has the block sizes of each, `layouts` the records of arrays that describe sparse matrices. Formulas
per element or pair are shared: written once in `formulas` (and as laws in `core.stencils`), used by both.

Module globals hold nothing that changes a result: which backends can run, compiled loops, worker threads, and how
loaded the machine is.
"""

from __future__ import annotations

from .backend import current, using

__all__ = ["current", "using"]
