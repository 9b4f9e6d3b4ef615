# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes that suit the kernels of each backend: each is fastest with other block sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .backend import current


@dataclass(frozen=True)
class Tuning:
    """The sizes of one backend.

    Attributes:
        row_step: rows of sparse matrices are padded to a multiple of this many entries. NumPy multiplies all rows of
            one width at once; a compiled product takes as long as its numbers take to be read.
        scalar_leaf, block_leaf: largest number of vertices in a leaf of a nested dissection, for scalars and for 3x3
            blocks.
        depths_per_level: cuts of a nested dissection whose separators are eliminated together.
        direct_worth, direct_worth_in_contact: (a, b, c), iterations of multigrid whose work equals a direct solve,
            which are a + b sqrt(V) on a sheet of V vertices, c at most; in contact, multigrid causes more second
            solves.
        packs_matrices: whether products with a packed matrix are quicker.
    """

    row_step: int
    scalar_leaf: int
    block_leaf: int
    depths_per_level: int
    direct_worth: tuple[int, float, float]
    direct_worth_in_contact: tuple[int, float, float]
    packs_matrices: bool


TUNING = {
    "numpy": Tuning(row_step=4, scalar_leaf=64, block_leaf=24, depths_per_level=2, direct_worth=(18, 0.28, math.inf),
                    direct_worth_in_contact=(18, 0.28, math.inf), packs_matrices=False),
    "numba": Tuning(row_step=1, scalar_leaf=16, block_leaf=24, depths_per_level=1, direct_worth=(15, 0.35, 48.0),
                    direct_worth_in_contact=(13, 0.06, math.inf), packs_matrices=True),
}
"""By name of the backend."""


def tuning() -> Tuning:
    """Return the sizes of the backend of the running simulation."""
    return TUNING[current().name]
