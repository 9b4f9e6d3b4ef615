# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws of one column between two vertices: springs, arcs, dashpots, seams."""
