# SPDX-License-Identifier: GPL-3.0-or-later
"""Results to Blender's data and to files: shape keys, their coordinates, the report, and paths of output."""
