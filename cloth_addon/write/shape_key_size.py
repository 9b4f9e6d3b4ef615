# SPDX-License-Identifier: GPL-3.0-or-later
"""The size of a bake as shape keys, compared with the memory of this machine before any work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ... import core
from ..properties.number_text import number_text

BYTES_OF_VERTEX = 12
"""Size of one vertex of a shape key [bytes]."""


def shape_key_bytes(vertices: int, frames: int) -> int:
    """Return the size of shape keys [bytes], one for each frame."""
    return BYTES_OF_VERTEX * vertices * frames


def check_memory(objects: Sequence[Any], frames: int, result: str | None = None) -> None:
    """Raise SceneError if the shape keys of all cloths together are larger than the memory of this machine.

    Cloths whose result is a Mesh Cache count nothing; `result` replaces the one that is chosen for each cloth. A bake
    within this bound may still run out of memory, which other programs use too; it then says so.
    """
    objects = [obj for obj in objects if (result or obj.muslin.result) != "MESH_CACHE"]
    available = _memory()
    needed = sum(shape_key_bytes(len(obj.data.vertices), frames) for obj in objects)
    if available is None or needed <= available:
        return
    largest = max(objects, key=lambda obj: len(obj.data.vertices))
    raise core.SceneError(
        f"{frames} frames as shape keys take {number_text(needed / 1e9, 3)} GB, and this machine has "
        f"{number_text(available / 1e9, 3)} GB of memory; choose Mesh Cache as the result, or bake at most "
        f"{int(frames * available / needed)} frames at once, or coarser meshes: '{largest.name}' has "
        f"{len(largest.data.vertices)} vertices")


def _memory() -> int | None:
    """Return the size of the memory of this machine [bytes], None where the system does not say."""
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):       # Windows has no such function
        return None
