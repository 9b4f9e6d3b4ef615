# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a take, also while another process writes it."""

from __future__ import annotations

import math
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..errors import CacheError
from ..stepping.checkpoint import Checkpoint
from . import take_checkpoints as kept
from .disk_file import errors_of
from .pc2 import Pc2File, Single
from .record_log import RecordLog
from .take_entries import LOG_NAME, Entry, entry_of, fault_of, opened, read_header
from .take_header import TakeHeader, values_of


class TakeReader:
    """The valid prefix of a take, see `Take`. No file is kept open.

    Attributes:
        folder: its path.
        header: what was baked.
        damage: what ends the valid prefix before the last frame that was committed, as far as it is known; empty if
            nothing does.
    """

    def __init__(self, folder: Path, log: RecordLog, header: TakeHeader, files: list[Pc2File],
                 entries: list[Entry]) -> None:
        self.folder, self.header, self.damage = folder, header, ""
        self._log, self._files, self._entries = log, files, entries
        self._frames = [entry for entry in entries if entry.kind == "frame"]

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open a take for reading: its valid prefix, with sizes and heads checked, and the last frame as a whole.

        Raises:
            CacheError: there is none, it is of another version, or its start is damaged.
        """
        folder = Path(folder)
        log = RecordLog.reader(folder / LOG_NAME)
        header = read_header(folder)
        files = [opened(folder, header, index, write=False) for index in range(len(header.cloths))]
        take = cls(folder, log, header, files, [])
        take._read_on(checked=False)
        while take._frames and (fault := fault_of(take._frames[-1], header, log, files)):
            take._end_before(take._frames[-1], fault)
        return take

    def keep_whole(self, within: float = math.inf) -> None:
        """Read the frames one by one, and forget those from the first damaged one on, which `damage` then names.

        Frames that are not read `within` that time [s] count as whole.
        """
        end = time.monotonic() + within
        for entry in self._frames:
            if time.monotonic() > end:
                return
            fault = fault_of(entry, self.header, self._log, self._files)
            if fault:
                self._end_before(entry, fault)
                return

    @property
    def last(self) -> int | None:
        """Return the last committed frame, None if there is none."""
        frames = self._frames
        return frames[-1].frame if frames else None

    @property
    def end(self) -> int:
        """Return the frame with which the bake is complete."""
        ends = [s["last"] for s in self.segments if s["last"] is not None]
        return ends[-1] if ends else self.header.last

    @property
    def is_complete(self) -> bool:
        """Return whether the last frame is there."""
        return self.last is not None and self.last >= self.end

    @property
    def segments(self) -> list[dict[str, Any]]:
        """Return {from_frame, settings, fingerprints, report, last} of each part of the bake, in order."""
        first = {"from_frame": self.header.start, "settings": self.header.settings, "report": self.header.report,
                 "fingerprints": self.header.fingerprints, "last": self.header.last}
        return [first, *(dict(entry.values) for entry in self._entries if entry.kind == "segment")]

    @property
    def owner(self) -> str:
        """Return the path of the .blend that the take belongs to, empty if it was not saved."""
        return next((e.values["owner"] for e in reversed(self._entries) if e.kind == "owner"), self.header.owner)

    def positions(self, cloth_index: int, frame: int) -> Single:
        """Return the positions (V, 3) of a cloth in the space of its object [Blender units].

        Raises:
            CacheError: the take has no such frame, or it is damaged or gone.
        """
        entry, file = self._frame(frame), self._files[cloth_index]
        sample = file.read(frame - self.header.start)
        if zlib.crc32(sample.astype("<f4", copy=False).tobytes()) != entry.values["samples"][cloth_index]:
            raise CacheError(f"{file.path}: the checksum of frame {frame} is wrong: the disk or a program has damaged "
                             "it; bake again from the frame before it")
        return sample

    def velocities(self, cloth_index: int, frame: int) -> Single:
        """Return the velocities (V, 3) of a cloth [m/s], world space.

        Raises:
            CacheError: the take has no such frame, or it is damaged or gone.
        """
        counts = [cloth.vertices for cloth in self.header.cloths]
        body = np.frombuffer(self._log.body(self._frame(frame).record), dtype="<f4").reshape(-1, 3)
        start = sum(counts[:cloth_index])
        return body[start:start + counts[cloth_index]].astype(np.float32)

    def certificates(self, first: int | None = None) -> list[dict[str, Any]]:
        """Return the certificate of each frame as in `Certificate.as_dict`, with its `frame` and `frame_seconds`.

        With `first`, only those from that frame on.
        """
        found = []
        for entry in self._frames[0 if first is None else max(0, first - self.header.start):]:
            values = values_of(entry.record.head)[1]
            found.append({**values["certificate"], "frame": entry.frame, "frame_seconds": values["seconds"]})
        return found

    def checkpoint_frames(self) -> list[int]:
        """Return the frames of the checkpoints that are there, ascending."""
        there = [e for e in self._checkpoints() if kept.is_there(self.folder, e.frame, e.values["digest"])]
        return sorted({entry.frame for entry in there})

    def checkpoint_before(self, frame: int) -> Checkpoint | None:
        """Return the latest state at or before a frame; None if the bake has to start from its first frame.

        Raises:
            CacheError: the settings have changed before that frame, and the state at that change is damaged or gone.
        """
        begun = max(segment["from_frame"] for segment in self.segments if segment["from_frame"] <= max(
            frame, self.header.start))
        entries = [entry for entry in self._checkpoints() if begun - 1 <= entry.frame <= frame]
        for entry in sorted(entries, key=lambda e: e.frame, reverse=True):
            found = kept.load(self.folder, entry.frame, entry.values["digest"])
            if found is not None and found.first == self.header.start:
                return found
        if begun > self.header.start:
            raise CacheError(f"{kept.path_of(self.folder, begun - 1)} is damaged or gone, and with it the state in "
                             f"which the settings changed; resume from frame {begun - 1} or an earlier one")
        return None

    def poll(self) -> list[int]:
        """Return the frames that another process has committed since `open` or the last call.

        Frames that it has removed and baked again are among them. A frame that is not whole yet is left for a later
        call.

        Raises:
            CacheError: the take is gone, or has been replaced by another one.
        """
        known = len(self._entries)
        while known and not self._log.has(self._entries[known - 1].record):
            known -= 1
        if not known:
            raise CacheError(f"{self.folder} has been replaced by another bake; open it again")
        if known < len(self._entries):
            self._keep(known)
        before = len(self._frames)
        for file in self._files:
            file.grow()
        self._read_on(checked=True)
        return [entry.frame for entry in self._frames[before:]]

    def bytes_on_disk(self) -> int:
        """Return the size of all files in the folder [byte]."""
        total = 0
        with errors_of(self.folder, "read"):
            for path in self.folder.iterdir():
                with suppress(FileNotFoundError):           # the bake has just deleted it
                    total += path.stat().st_size
        return total

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        if entry.kind == "frame":
            self._frames.append(entry)

    def _keep(self, count: int) -> None:
        """Forget all records but the first ones."""
        self._entries = self._entries[:count]
        self._frames = [entry for entry in self._entries if entry.kind == "frame"]

    def _end_before(self, entry: Entry, fault: str) -> None:
        """Forget a damaged frame and all records after it."""
        self._keep(self._before(entry))
        self.damage = fault

    def _frame(self, frame: int) -> Entry:
        """Return the entry of a frame."""
        frames, index = self._frames, frame - self.header.start
        if not 0 <= index < len(frames):
            raise CacheError(f"{self.folder} has no frame {frame}, only {self._range()}; take one of "
                             "them, or bake again")
        return frames[index]

    def _range(self) -> str:
        return "none" if self.last is None else f"{self.header.start} to {self.last}"

    def _before(self, entry: Entry) -> int:
        return self._entries.index(entry)

    def _until(self, frame: int) -> int:
        """Return the number of records up to those of a frame; all records if it is the last frame."""
        self._frame(frame)
        later = (number for number, entry in enumerate(self._entries)
                 if entry.kind in ("frame", "segment") and entry.frame > frame)
        return len(self._entries) if frame == self.last else next(later, len(self._entries))

    def _checkpoints(self) -> list[Entry]:
        return [entry for entry in self._entries if entry.kind == "checkpoint"]

    def _read_on(self, *, checked: bool) -> None:
        """Take in the records that are new in the log, up to the first one that does not fit or is not whole.

        checked: check the samples and velocities of frames, not only their sizes.
        """
        self.damage = ""
        for record in self._log.scan(self._entries[-1].record if self._entries else None):
            entry = entry_of(record, self.header, self._entries, len(self._frames))
            if entry is None:
                return
            if entry.kind == "frame":
                short = [file for file in self._files if len(self._frames) >= file.count
                         and len(self._frames) >= file.grow()]              # it may be written at the same time
                if short:
                    self.damage = f"{short[0].path}: it is cut off before frame {entry.frame}"
                if short or checked and fault_of(entry, self.header, self._log, self._files):
                    return
            self._add(entry)
