# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a take on disk without writing to it: which frames and states it has, and where it is damaged."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ... import core
from ...core.cache.take import Take
from ...core.cache.take_entries import LOG_NAME

LONGEST_CHECK = 0.05
"""Time for which the frames of a take are checked while panels are drawn [s], once for each state of its files. A
checksum takes 0.2 to 1 ns for a byte, so that this is enough for 50 to 200 MB. *Resume* and *Use* check the rest."""


@dataclass(frozen=True)
class FoundTake:
    """A take on disk.

    Attributes:
        folder: its folder.
        id: its identity.
        cloths: names of the cloths that were baked together.
        start, first, last: first simulated frame, first and last frame of the bake.
        reached: last frame that is there, None if there is none.
        owner: the .blend that it was baked in, empty if that was never saved.
        size: on disk [bytes].
        changed: time of the last change [s].
        states: frames of the stored states that a bake can go on from, ascending.
        parts: {from_frame, settings, fingerprints, report, last} of each part with settings of its own.
        backend, versions: that its frames were computed by.
        damage: what ends the frames that are there before those that were baked, as far as it is known; empty if
            nothing does.
    """

    folder: Path
    id: str
    cloths: tuple[str, ...]
    start: int
    first: int
    last: int
    reached: int | None
    owner: str
    size: int
    changed: float
    states: tuple[int, ...] = ()
    parts: tuple[dict[str, Any], ...] = field(default=(), repr=False, compare=False)
    backend: str = "numpy"
    versions: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    damage: str = ""

    @property
    def is_complete(self) -> bool:
        """Return whether the take has all frames."""
        return self.reached is not None and self.reached >= self.last

    @property
    def has_frames(self) -> bool:
        """Return whether the take has frames after the first one of the bake."""
        return self.reached is not None and self.reached > self.first


_known: dict[Path, tuple[tuple[Any, ...], FoundTake | None]] = {}
"""Takes by folder, each with the state of its files when it was read."""


def read(folder: Path, *, whole: bool = False) -> FoundTake | None:
    """Return the take in `folder`, None if there is none that can be read.

    It ends before the first frame that is damaged. With `whole` every frame is read for that, however long it takes,
    and later calls know it; otherwise as many as can be read quickly.
    """
    try:
        status = os.stat(folder / LOG_NAME)
        files = os.stat(folder).st_mtime_ns                 # stored states may have been deleted
        with os.scandir(folder) as found:
            positions = sorted((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in found
                               if file.name.endswith(".pc2"))
    except (OSError, ValueError):                           # a path may be any text
        return None
    state = status.st_mtime_ns, status.st_size, files, positions
    if whole or _known.get(folder, (None, None))[0] != state:
        _known[folder] = state, _read(folder, status, math.inf if whole else LONGEST_CHECK)
    return _known[folder][1]


def _read(folder: Path, status: os.stat_result, seconds: float) -> FoundTake | None:
    """Return the take in `folder` as `read` does, of which frames are checked for so long [s]."""
    try:
        take = Take.open(folder)
        header, owner = take.header, take.owner             # also one that was recorded after a damaged frame
        take.keep_whole(seconds)
        return FoundTake(folder, header.take, tuple(cloth.name for cloth in header.cloths), header.start, header.first,
                         take.end, take.last, owner, take.bytes_on_disk(), status.st_mtime,
                         tuple(take.checkpoint_frames()), tuple(take.segments), _backend(take), header.versions,
                         take.damage)
    except core.ClothError:
        return None


def _backend(take: Take) -> str:
    """Return the backend that has computed the last frame of a take."""
    last = [] if take.last is None else take.certificates(take.last)
    return str(last[-1].get("backend", "numpy")) if last else "numpy"
