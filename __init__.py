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


def __getattr__(name: str) -> str:
    """Return the version; say which package this is to a script that wants the installed one of the same name."""
    if name == "__version__":
        from .core.version import __version__
        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}: this is the checkout, the Blender extension; "
                         "for the package that `pip install .` makes, run the script from another folder")
