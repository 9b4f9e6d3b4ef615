# SPDX-License-Identifier: GPL-3.0-or-later
"""Between vertices and elements. What is quick lies in `families`; these serve what is done once or on few elements."""

from ..numpy.elements import element_blocks, gather, scatter

__all__ = ["element_blocks", "gather", "scatter"]
