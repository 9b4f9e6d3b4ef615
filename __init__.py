# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin, the Blender extension.

The add-on is imported only when Blender registers it: this file also stands at the root of the source tree, where
tests of the core import it without any Blender.
"""


def register() -> None:
    from . import cloth_addon
    cloth_addon.register()


def unregister() -> None:
    from . import cloth_addon
    cloth_addon.unregister()
