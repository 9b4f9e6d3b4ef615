# SPDX-License-Identifier: GPL-3.0-or-later
"""Find baked shape keys that are no longer as they were baked: edited, scaled with the object, masked or muted.

The record of a bake has a digest of every key. A digest takes a millisecond for 100,000 vertices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..properties import baked_record
from ..properties.baked_record import BakedRecord

MOST_RANGES = 3
"""Largest number of ranges of frames that a sentence names [-]."""


def digest(coordinates: NDArray[Any]) -> str:
    """Return the digest of the coordinates (V, 3) of a key. It is the same for 0 and -0, which Blender may swap."""
    values = np.ascontiguousarray(coordinates, np.float32) + np.float32(0.0)
    return hashlib.blake2b(values.tobytes(), digest_size=8).hexdigest()


class BakedKeys:
    """The keys of one bake, to be compared with its record.

    It refers to data of Blender: keep it no longer than a function runs.
    """

    def __init__(self, obj: bpy.types.Object, record: BakedRecord) -> None:
        self._record, self._keys = record, obj.data.shape_keys
        self._by_name = {block.name: block for block in self._keys.key_blocks if block.slider_min == baked_record.MARK}
        named = {*record.keys}
        self._renamed = [block for name, block in self._by_name.items()
                         if name not in named and block != self._keys.reference_key]

    def is_edited(self, place: int) -> bool:
        """Return whether what the key of the frame at this place of the record shows differs from what was baked.

        A key that was renamed is among those without a name in the record. One that was removed is not edited.
        """
        block = self._by_name.get(self._record.keys[place])
        candidates = self._renamed if block is None else [block]
        return bool(candidates) and not any(self._is_as_baked(block, place) for block in candidates)

    def _is_as_baked(self, block: Any, place: int) -> bool:
        if not self._record.absolute and (block.mute or block.vertex_group
                                          or block.relative_key != self._keys.reference_key):
            return False
        coordinates = np.empty(3 * len(block.points), np.float32)
        block.points.foreach_get("co", coordinates)
        return digest(coordinates) == self._record.key_digests[place]


def checkable(obj: bpy.types.Object) -> BakedRecord | None:
    """Return the record of a bake whose keys can be compared with it; None if there is none.

    Bakes of earlier versions have no digests. The keys of a bake that a modifier plays are the user's.
    """
    record = baked_record.known(obj)
    return record if record is not None and record.key_digests and obj.data.shape_keys is not None else None


def edited_frames(obj: bpy.types.Object) -> list[int]:
    """Return the frames of the bake of `obj` whose shape keys were edited since.

    It takes a millisecond for each 100,000 vertices of all frames.
    """
    record = checkable(obj)
    if record is None:
        return []
    keys = BakedKeys(obj, record)
    return [record.first + place for place in range(len(record.keys)) if keys.is_edited(place)]


def cloths_of_bake(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return `obj` and the other cloths of the scene that were baked together with it."""
    record = baked_record.known(obj)
    if record is None or not record.take_id:
        return [obj]
    others: dict[str, bpy.types.Object] = {}                        # of copies of a cloth the one with its name
    for other in scene.objects:
        found = baked_record.known(other) if other != obj and other.type == "MESH" else None
        if (found is not None and found.take_id == record.take_id and found.cloth != record.cloth
                and (found.cloth not in others or other.name == found.cloth)):
            others[found.cloth] = other
    return [obj, *(others[name] for name in sorted(others))]


def text(frames: Iterable[int]) -> str:
    """Return for the user which baked frames were edited; empty for none."""
    ranges: list[list[int]] = []
    for frame in sorted(frames):
        if ranges and ranges[-1][-1] == frame - 1:
            ranges[-1] = [ranges[-1][0], frame]
        else:
            ranges.append([frame])
    if not ranges:
        return ""
    several = len(ranges) > 1 or len(ranges[0]) > 1
    shown = [" to ".join(map(str, pair)) for pair in ranges[:MOST_RANGES]]
    more = f" and {len(ranges) - MOST_RANGES} more" if len(ranges) > MOST_RANGES else ""
    return f"baked frame{'s' if several else ''} {_listed(shown, more)} {'were' if several else 'was'} edited by hand"


def _listed(names: Sequence[str], more: str) -> str:
    return ", ".join(names) + more if more or len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"
