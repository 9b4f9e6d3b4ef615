# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws with one column between two vertices: springs, buckling arcs, dashpots, seams, soft pins."""
