# SPDX-License-Identifier: GPL-3.0-or-later
"""Check in turns of some milliseconds whether baked shape keys were edited, so that Blender's window does not wait.

All keys of a long bake of dense cloth take seconds. Between two turns only names and numbers are kept, no data of
Blender, which an undo would replace.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import bpy

from ..read import edited_keys

TURN = 0.01
"""Time after which a turn ends [s]."""
BETWEEN = 0.02
"""Time between two turns [s]."""


class EditCheck:
    """The check of the keys of all cloths of a bake, from the key of one frame on.

    Attributes:
        is_done: whether all keys were compared, or all that the check was for.
    """

    def __init__(self, frame: int, *, only_frame: bool = False, known: Sequence[tuple[str, int]] = ()) -> None:
        """Begin with the key of `frame`, and compare no other if `only_frame`; `known` is what was found before."""
        self._frame, self._only_frame = frame, only_frame
        self._known = known
        self._found: dict[tuple[str, int], bool] = {}
        self._next: dict[str, int] = {}                             # by cloth the number of keys that were compared
        self.is_done = False

    @property
    def found(self) -> list[tuple[str, int]]:
        """Names of cloths and frames whose keys were edited: what was known before, until it is compared."""
        edits = {edit for edit, edited in self._found.items() if edited}
        if self._only_frame or not self.is_done:
            edits |= {edit for edit in self._known if edit not in self._found}
        return sorted(edits)

    def advance(self, scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
        """Compare keys until the turn ends, at least one."""
        end = time.monotonic() + TURN
        for cloth in edited_keys.cloths_of_bake(scene, obj):
            record = edited_keys.checkable(cloth)
            if record is None:
                continue
            keys, count = edited_keys.BakedKeys(cloth, record), len(record.keys)
            begin = min(max(self._frame - record.first, 0), count - 1)      # what is seen at other frames, too
            while (done := self._next.get(cloth.name, 0)) < (1 if self._only_frame else count):
                place = (begin + done) % count
                self._found[cloth.name, record.first + place] = keys.is_edited(place)
                self._next[cloth.name] = done + 1
                if time.monotonic() > end:
                    return
        self.is_done = True


def texts(obj: bpy.types.Object, edits: Sequence[tuple[str, int]]) -> list[str]:
    """Return for the user what was edited of the bake of `obj`, from names of cloths and frames."""
    found = []
    for name in sorted({name for name, _ in edits}, key=lambda name: (name != obj.name, name)):
        frames = edited_keys.text(frame for cloth, frame in edits if cloth == name)
        found.append(frames if name == obj.name else f"cloth '{name}': {frames}")
    return found


def lost_edits(objects: Sequence[bpy.types.Object]) -> str:
    """Return a sentence on the keys that were edited and are lost with the bakes of these objects; empty for none."""
    by_object = [(obj.name, edited_keys.text(edited_keys.edited_frames(obj))) for obj in objects]
    return "; ".join(f"'{name}': {edited}" for name, edited in by_object if edited)


def edits_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[tuple[str, int]]:
    """Return names of cloths and frames whose keys were edited, of the bake of `obj`. It compares all keys at once."""
    check = EditCheck(scene.frame_current)
    while not check.is_done:
        check.advance(scene, obj)
    return check.found
