# SPDX-License-Identifier: GPL-3.0-or-later
"""Results into Blender data and files."""
