# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin's settings of an object or scene, the same at every frame: keyed ones have their default value.

Settings that a curve or driver sets differ from frame to frame. What reads settings once, at the frame that the scene
happens to stand at, takes them from here; read/keyed_settings.py reads the keyed ones at every frame.
"""

from __future__ import annotations

from typing import Any

from .animation_curves import animated_settings

SAME_VALUE = {"bend_warp_micro": "bend_warp", "bend_weft_micro": "bend_weft"}
"""Settings that show the value of another one in another unit, and that one."""


def keyed_names(owner: Any) -> frozenset[str]:
    """Return the names of the settings of an object or scene that curves or drivers set."""
    return frozenset(SAME_VALUE.get(name, name) for name in animated_settings(owner))


def unkeyed_values(owner: Any) -> Any:
    """Return `owner.muslin` with the default values of its keyed settings in their place."""
    names = keyed_names(owner)
    return _Unkeyed(owner.muslin, names) if names else owner.muslin


class _Unkeyed:
    """A property group in which the settings `names` have their default values."""

    def __init__(self, values: Any, names: frozenset[str]) -> None:
        self._values, self._names = values, names

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            return getattr(self._values, name)
        known = self._values.bl_rna.properties[name]
        return tuple(known.default_array) if known.is_array else known.default
