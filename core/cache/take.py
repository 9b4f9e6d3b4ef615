# SPDX-License-Identifier: GPL-3.0-or-later
"""A take: the folder with the result of one bake of one or several cloths that were solved together.

    frames.muslin        log of records: the header, then the frames with certificate and velocities
    NAME.pc2             positions of one cloth, in the space of its object [Blender units], one sample a frame
    checkpoint-NNNNNN    states from which the bake continues, fewer the older they are

A frame is committed by its samples first and its record second, each written and synced. It counts once its record is
whole, so that the files hold a valid prefix of the bake whenever the process is killed.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CacheError
from ..parsed import ParsedError
from ..stepping.checkpoint import Checkpoint
from ..stepping.simulate import Frame
from . import take_checkpoints as kept
from .disk_file import errors_of, sync_folder
from .pc2 import Pc2File, Single
from .record_log import RecordLog
from .take_entries import (
    LOG_NAME,
    OTHER_NAMES,
    Entry,
    entry_of,
    fault_of,
    first_record,
    is_own_name,
    opened,
    read_header,
)
from .take_header import TakeHeader, checked_header, head_of, values_of


class Take:
    """A take, open for writing (`create`, `resume`) or reading (`open`).

    A writer locks the files until `close`. Readers keep no file open, and may read while another process writes; `poll`
    returns the new frames. Frames are numbered as in the scene.

    Attributes:
        folder: its path.
        header: what was baked.
    """

    def __init__(self, folder: Path, log: RecordLog, header: TakeHeader, files: list[Pc2File],
                 entries: list[Entry]) -> None:
        self.folder, self.header = folder, header
        self._log, self._files, self._entries = log, files, entries
        self._frames = [entry for entry in entries if entry.kind == "frame"]

    @classmethod
    def create(cls, folder: str | Path, header: TakeHeader) -> Take:
        """Make a new take and open it for writing.

        The folder must not exist, or have no files but those that a bake leaves that was killed before its first
        record.

        Raises:
            CacheError: the folder cannot be made or is in use, or a value of the header does not fit.
        """
        folder, header = Path(folder), checked_header(header)
        with errors_of(folder, "made"):
            folder.mkdir(parents=True, exist_ok=True)
            names = [path.name for path in folder.iterdir()]
        if LOG_NAME in names and first_record(RecordLog.reader(folder / LOG_NAME)) is not None:
            raise CacheError(f"{folder} holds a take already; resume or delete it, or choose another folder")
        foreign = [name for name in names if not is_own_name(name)]
        if foreign:
            raise CacheError(f"{folder} holds other files, such as {foreign[0]}; choose an empty folder")
        with errors_of(folder, "made"):
            for name in names:
                if name not in OTHER_NAMES:
                    (folder / name).unlink()
        files = [Pc2File.create(folder / cloth.file, cloth.vertices, header.start) for cloth in header.cloths]
        log = RecordLog.create(folder / LOG_NAME)
        record = log.append(b"", header.as_head())
        sync_folder(folder)
        return cls(folder, log, header, files, [Entry(record, "header", header.start, {})])

    @classmethod
    def open(cls, folder: str | Path) -> Take:
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
        while take._frames and fault_of(take._frames[-1], header, log, files):
            take._keep(take._before(take._frames[-1]))
        return take

    @classmethod
    def resume(cls, folder: str | Path, frame: int | None = None) -> Take:
        """Open a take for writing, and remove what is damaged or not whole at its end.

        With `frame`, all frames after it are removed, too. All that is kept is read and checked.

        Raises:
            CacheError: as for `open`; it cannot be written; another bake writes to it; or it has no such frame. Nothing
                is removed then.
        """
        folder = Path(folder)
        header = read_header(folder)
        files = [opened(folder, header, index, write=False) for index in range(len(header.cloths))]
        log = RecordLog.open(folder / LOG_NAME)
        take = cls(folder, log, header, files, [])
        try:
            take._read_on(checked=True)
            if frame is not None and frame != take.last:
                take._keep(take._until(frame))
            for entry in take._frames:
                if fault_of(entry, header, None, files):
                    take._keep(take._before(entry))
                    break
            kept.remove_others(folder, take._checkpoints())
            log.cut(take._entries[-1].record)
            take._files = [opened(folder, header, index, write=True) for index in range(len(header.cloths))]
            for file in take._files:
                file.truncate(len(take._frames))
        except BaseException:
            take.close()
            raise
        return take

    def append(self, frame: Frame, local: Sequence[npt.ArrayLike], seconds: float = 0.0) -> None:
        """Commit the next frame: when this returns, it is on the disk.

        Args:
            frame: from `simulate`.
            local: (V, 3) positions of each cloth in the space of its object [Blender units].
            seconds: wall-clock time that the frame took [s].

        Raises:
            CacheError: it is not the next frame, or it cannot be written; the frames before it stay valid, and `append`
                can be tried again.
        """
        due = self.header.start if self.last is None else self.last + 1
        if frame.index != due:
            raise CacheError(f"{self.folder}: frame {frame.index} cannot be added, the next one must be {due}")
        counts = [cloth.vertices for cloth in self.header.cloths]
        if len(local) != len(counts) or [v.shape for v in frame.velocities] != [(count, 3) for count in counts]:
            raise CacheError(f"{self.folder}: frame {frame.index} is of other cloths, they must have {counts} vertices")
        count = len(self._frames)
        try:
            samples = [file.append(x) for file, x in zip(self._files, local, strict=True)]
            body = b"".join(np.ascontiguousarray(v, dtype="<f4").tobytes() for v in frame.velocities)
            head = self._head("frame", frame=frame.index, certificate=frame.certificate.as_dict(), seconds=seconds,
                              samples=samples)
            record = self._log.append(body, head)
        except CacheError:
            for file in self._files:
                with suppress(CacheError):                  # the first error says it; `resume` cuts it off
                    file.truncate(count)
            raise
        self._add(Entry(record, "frame", frame.index, {"samples": samples}))

    def checkpoint(self, frame: Frame) -> None:
        """Save the state of a committed frame, and delete some of the older ones.

        Raises:
            CacheError: the frame is not in the take, or the state cannot be written.
        """
        self._frame(frame.index)
        digest = kept.save(self.folder, frame.checkpoint())
        record = self._log.append(b"", self._head("checkpoint", frame=frame.index, digest=digest), sync=False)
        self._add(Entry(record, "checkpoint", frame.index, {"digest": digest}))
        kept.thin(self.folder, self._checkpoints())

    def begin_segment(self, settings: Mapping[str, Any], fingerprints: Mapping[str, Mapping[str, str]],
                      last: int | None = None, report: Mapping[str, Any] | None = None) -> None:
        """Record that the frames from the next one on are baked with other settings, or up to another `last` frame."""
        due = self.header.start if self.last is None else self.last + 1
        values = {"from_frame": due, "settings": settings, "fingerprints": fingerprints, "report": report or {},
                  "last": last}
        head = self._head("segment", **values)
        self._add(Entry(self._log.append(b"", head), "segment", due, values_of(head)[1]))

    def set_owner(self, owner: str) -> None:
        """Record the path of the .blend that the take belongs to from now on."""
        record = self._log.append(b"", self._head("owner", owner=owner))
        self._add(Entry(record, "owner", self.header.start, {"owner": owner}))

    def close(self) -> None:
        """Close the files of a writer. The take can still be read."""
        self._log.close()
        for file in self._files:
            file.close()

    def __enter__(self) -> Take:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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

    def certificates(self) -> list[dict[str, Any]]:
        """Return the certificate of each frame as in `Certificate.as_dict`, with its `frame` and `frame_seconds`."""
        found = []
        for entry in self._frames:
            values = values_of(entry.record.head)[1]
            found.append({**values["certificate"], "frame": entry.frame, "frame_seconds": values["seconds"]})
        return found

    def checkpoint_frames(self) -> list[int]:
        """Return the frames of the checkpoints that are there, ascending."""
        there = [e for e in self._checkpoints() if kept.is_there(self.folder, e.frame, e.values["digest"])]
        return sorted({entry.frame for entry in there})

    def checkpoint_before(self, frame: int) -> Checkpoint | None:
        """Return the latest state at or before a frame; None if the bake has to start from its first frame."""
        entries = [entry for entry in self._checkpoints() if entry.frame <= frame]
        for entry in sorted(entries, key=lambda e: e.frame, reverse=True):
            found = kept.load(self.folder, entry.frame, entry.values["digest"])
            if found is not None and found.first == self.header.start:
                return found
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

    def verify(self) -> list[str]:
        """Read the whole take, and return what is damaged, one line for each file and frame; empty if all is sound."""
        found = [fault_of(entry, self.header, self._log, self._files) for entry in self._frames]
        there = [e for e in self._checkpoints() if kept.is_there(self.folder, e.frame, None)]
        damaged = [e for e in there if kept.load(self.folder, e.frame, e.values["digest"]) is None]
        return [*filter(None, found), *(f"{kept.path_of(self.folder, e.frame)} is damaged" for e in damaged)]

    def bytes_on_disk(self) -> int:
        """Return the size of all files in the folder [byte]."""
        with errors_of(self.folder, "read"):
            return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())

    def copy_prefix(self, folder: str | Path, frame: int) -> Take:
        """Make a new take with the frames and checkpoints up to `frame`, open for writing.

        Raises:
            CacheError: this take has no such frame, the frame is damaged, or the new one cannot be written.
        """
        entries = self._entries[1:self._until(frame)]
        copy = Take.create(folder, self.header)
        try:
            for entry in entries:
                samples = []
                if entry.kind == "frame":
                    samples = [self.positions(index, entry.frame) for index in range(len(self._files))]
                for file, sample in zip(copy._files, samples, strict=False):
                    file.append(sample, sync=False)
                if entry.kind == "checkpoint":
                    kept.copy(self.folder, copy.folder, entry.frame, entry.values["digest"])
                record = copy._log.append(self._log.body(entry.record), entry.record.head, sync=False)
                copy._add(replace(entry, record=record))
            for file in copy._files:
                file.sync()
            copy._log.sync()
            sync_folder(copy.folder)
        except BaseException:
            copy.close()
            raise
        return copy

    def _head(self, kind: str, **values: Any) -> bytes:
        try:
            return head_of(kind, **values)
        except ParsedError as error:
            raise CacheError(f"{self.folder}: the {kind} cannot be stored: {error}; give another value") from None

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        if entry.kind == "frame":
            self._frames.append(entry)

    def _keep(self, count: int) -> None:
        """Forget all records but the first ones."""
        self._entries = self._entries[:count]
        self._frames = [entry for entry in self._entries if entry.kind == "frame"]

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
        for record in self._log.scan(self._entries[-1].record if self._entries else None):
            entry = entry_of(record, self.header, self._entries, len(self._frames))
            if entry is None:
                return
            if entry.kind == "frame" and (any(len(self._frames) >= file.count for file in self._files)
                                          or checked and fault_of(entry, self.header, self._log, self._files)):
                return
            self._add(entry)
