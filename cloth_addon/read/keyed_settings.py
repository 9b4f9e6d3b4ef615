# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that a curve or driver sets, read at every frame of a bake.

A setting `object.muslin.NAME` that nothing animates is a number. An animated one becomes a `core.Keyed`: an element of
an array that the frame window reads from the evaluated object, as often as it reads the moving objects. Actions, NLA
strips and drivers all count. The frame at which the scene stands makes no difference.

    settings = window.settings(obj)                         # obj: a cloth, a collider, or the scene
    friction = settings.setting("friction")                 # float, or core.Keyed
    length = settings.setting("length", metres_per_unit)    # converted to SI
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.unkeyed_values import keyed_names

FloatArray = NDArray[np.float64]
Value = TypeVar("Value")


class KeyedSettings:
    """The settings of one object or scene during a bake.

    Args:
        owner: the object or scene, with the settings at `owner.muslin`.
        sample_name: name of its array in the frame window; no object has that name.
        view_layer: with the dependency graph that evaluates the owner.
        names: of the settings to read, all that are animated if it is None.

    Attributes:
        names: those of the settings that are animated, in the order of the array.
    """

    def __init__(self, owner: Any, sample_name: str, view_layer: bpy.types.ViewLayer,
                 names: Sequence[str] | None = None) -> None:
        self._owner, self._sample_name, self._view_layer = owner, sample_name, view_layer
        animated = keyed_names(owner)
        self.names = sorted(name for name in animated if names is None or name in names)
        self.names = [name for name in self.names if _is_number(owner.muslin, name)]
        self._window: core.MotionWindow | None = None

    def samples(self) -> dict[str, Callable[[], FloatArray]]:
        """Return the function for the frame window that reads the array (n,); none if nothing is animated."""
        return {self._sample_name: self._values} if self.names else {}

    def begin(self, window: core.MotionWindow) -> None:
        """Note the window that holds the array, before `setting` is called."""
        self._window = window

    def setting(self, name: str, factor: float = 1.0) -> float | core.Keyed:
        """Return `factor` times the setting: a number, or a `core.Keyed` if it is animated."""
        if name not in self.names:
            return factor * float(getattr(self._owner.muslin, name))
        assert self._window is not None
        return core.Keyed(self._window.trajectory(self._sample_name), self.names.index(name), factor)

    def keyed_or(self, name: str, value: Value, factor: float = 1.0) -> Value | core.Keyed:
        """Return `value`, or a `core.Keyed` of `factor` times the setting if it is animated."""
        return self.setting(name, factor) if name in self.names else value         # type: ignore[return-value]

    def _values(self) -> FloatArray:
        """Return the animated settings (n,) at the scene's frame."""
        evaluated = self._owner.evaluated_get(self._view_layer.depsgraph)
        return np.array([float(getattr(evaluated.muslin, name)) for name in self.names])


def settings_sample(owner: Any) -> str:
    """Return the name in the frame window of the animated settings of an object or scene. No object has that name."""
    return f"\0settings of the {type(owner).__name__.lower()} {owner.name_full}"


def _is_number(values: Any, name: str) -> bool:
    """Return whether a property is one number, or on or off."""
    known = values.bl_rna.properties.get(name)
    return known is not None and known.type in ("FLOAT", "INT", "BOOLEAN") and not known.is_array
