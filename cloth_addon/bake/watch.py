# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of Blender's data while a bake or comparison runs, and the errors that they lead to.

Between two frames of a bake the user, and scripts, may change, remove and load anything. Before the bake touches
Blender's data again, it compares everything that it depends on with how it left that (read/fingerprint.py).
What a bake does not depend on may change: names, selection, display, the current frame, the backend, other objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy

from ... import core
from ..properties.settings import SceneSettings
from ..read import fingerprint
from ..read.editable_checks import check_editable

MEMORY = "there is not enough memory for this {noun}; close other programs, or {verb} fewer frames or a coarser mesh"


class Watch:
    """Compares what a bake depends on with its state before.

    Attributes:
        frame: the frame that the bake works on, for messages; None before the first.
    """

    def __init__(self, scene: bpy.types.Scene, noun: str = "bake", verb: str = "bake", *,
                 ignores_settings: bool = False) -> None:
        """`noun` and `verb` name the work to the user. `ignores_settings`: the settings of Muslin and of the scene may
        change, because they were all read at the beginning."""
        self._ignores_settings = ignores_settings
        self.frame: int | None = None
        self._noun, self._verb = noun, verb
        self._scene = scene
        self._scene_name = scene.name if exists(scene) else ""
        self._cloths: list[Any] = []
        self._colliders: list[Any] = []
        self._names: list[str] = []

    def start(self, view_layer: bpy.types.ViewLayer, cloths: Sequence[bpy.types.Object],
              colliders: Sequence[bpy.types.Object], current_settings: Callable[[], SceneSettings]) -> None:
        """Note the state at the start.

        Args:
            cloths, colliders: the objects that are simulated.
            current_settings: returns the bake's settings as the scene has them when it is called.
        """
        self._layer = view_layer.name, view_layer.as_pointer()
        self._cloths, self._colliders = list(cloths), list(colliders)
        self._names = [obj.name for obj in (*cloths, *colliders)]
        self._current_settings = current_settings
        self.set_frame(self._scene.frame_current)

    def set_frame(self, frame: int) -> None:
        """Note that the bake has set the scene to `frame`.

        The state after that is the one to compare with, so that whatever the animation changes is no change.
        """
        self.frame, self._parts = frame, self._read()

    def check(self) -> bool:
        """Return whether animated values are no longer those of the frame that the bake has set.

        Raises:
            core.ClothError: something that the bake depends on has changed.
        """
        removed = self._removed()
        if removed is not None:
            raise removed
        if not self._names:                                         # not started
            return False
        for cloth in self._cloths:
            check_editable(cloth)
        for collider in self._colliders:
            if collider.data.is_editmode:
                raise core.ColliderError(f"is in Edit Mode{self._time()}; leave it (Tab) and {self._verb} again",
                                         object_name=collider.name)
        now = self._read()
        for key in [*now, *self._parts]:
            before, after = self._parts.get(key), now.get(key)
            if before is None or after is None or before.digest != after.digest:
                raise self._changed(before, after)
        return any(now[key].animated != part.animated for key, part in self._parts.items())

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Raise ClothError, with a remedy, instead of Python's errors for removed data and a lack of memory."""
        try:
            yield
        except ReferenceError as error:
            raise self._removed() or self._error(f"something that the {self._noun} needs was removed", "") from error
        except AttributeError as error:
            if is_enabled():
                raise
            raise self._removed() from error
        except MemoryError as error:
            raise core.SceneError(MEMORY.format(noun=self._noun, verb=self._verb)) from error

    def _removed(self) -> core.SceneError | None:
        """Return the error that names what exists no longer, None if everything does. It reads nothing else."""
        if not is_enabled():
            return self._error("Muslin was switched off", "")
        if not exists(self._scene):
            return self._error(f"scene '{self._scene_name}' was removed, or another file was opened,", "")
        for name, obj in zip(self._names, (*self._cloths, *self._colliders), strict=True):
            if not exists(obj):
                return self._error("was removed", name)
        if self._names and not any((layer.name, layer.as_pointer()) == self._layer
                                   for layer in self._scene.view_layers):
            return self._error(f"view layer '{self._layer[0]}' was removed or renamed", "")
        return None

    def _read(self) -> fingerprint.Parts:
        return fingerprint.scene_parts(self._scene, self._cloths, fingerprint.session_identity,
                                       None if self._ignores_settings else self._current_settings())

    def _changed(self, before: fingerprint.Part | None, after: fingerprint.Part | None) -> core.SceneError:
        """Return the error for a part that differs, is missing, or is new."""
        part: Any = before or after
        if before is None or after is None:
            return self._error(f"{part.label.partition(' (its ')[0]} was {'added' if before is None else 'removed'}",
                               part.owner)
        details = ", ".join(fingerprint.names_of_changes(before.details, after.details))
        return self._error(f"{'its ' if part.owner else ''}{part.label}{details and f' ({details})'} changed",
                           part.owner)

    def _error(self, what: str, name: str) -> core.SceneError:
        return core.SceneError(f"{what} while the {self._noun} ran{self._time()}; undo that and {self._verb} again",
                               object_name=name or None)

    def _time(self) -> str:
        return "" if self.frame is None else f" (frame {self.frame})"


def is_enabled() -> bool:
    """Return whether Muslin's settings are registered."""
    return hasattr(bpy.types.Scene, "muslin") and hasattr(bpy.types.Object, "muslin")


def exists(item: bpy.types.ID) -> bool:
    """Return whether the data-block still exists."""
    try:
        return bool(item.name)
    except ReferenceError:
        return False
