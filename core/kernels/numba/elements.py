# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather, scatter and element blocks: those in NumPy. The compiled loops over elements are in `element_families`."""

from ..numpy.elements import element_blocks, gather, scatter

__all__ = ["element_blocks", "gather", "scatter"]
