# SPDX-License-Identifier: GPL-3.0-or-later
"""The data that Muslin stores in a .blend file: settings of objects and scenes, and the record of a bake.

The lowest folder of the add-on: it imports the core and no other folder.
"""
