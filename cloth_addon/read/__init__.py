# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's data to arrays and the core's scene. Imports the properties and no other folder of the add-on."""
