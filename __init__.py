# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin, the Blender extension.

The add-on is imported only when Blender registers the extension. This file is also at the root of the source tree,
where tests of the core import it without Blender.
"""


def register() -> None:
    """Register the add-on in Blender."""
    from . import cloth_addon
    cloth_addon.register()


def unregister() -> None:
    """Remove the add-on from Blender."""
    from . import cloth_addon
    cloth_addon.unregister()
