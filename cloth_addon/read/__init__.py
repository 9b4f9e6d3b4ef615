# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender data to the arrays of the core."""
