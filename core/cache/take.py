# SPDX-License-Identifier: GPL-3.0-or-later
"""A take: the folder with the result of one bake of one or several cloths that were solved together.

    frames.muslin        log of records: the header, then the frames with certificate and velocities
    NAME.pc2             positions of one cloth, in the space of its object [Blender units], one sample a frame
    checkpoint-NNNNNN    states from which the bake continues, at most 10 frames from one to the next

A frame is committed by its samples first and its record second, each written and synced. It counts once its record is
whole, so that the files hold a valid prefix of the bake whenever the process is killed.
"""

from __future__ import annotations

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
from .disk_file import sync_folder
from .pc2 import Pc2File
from .record_log import RecordLog
from .take_entries import LOG_NAME, Entry, delete_take, fault_of, make_room, opened, read_header
from .take_header import TakeHeader, checked_header, head_of, values_of
from .take_reader import TakeReader


class Take(TakeReader):
    """A take, open for writing (`create`, `resume`) or reading (`open`).

    A writer locks the files until `close`. Readers keep no file open, and may read while another process writes; `poll`
    returns the new frames. Frames are numbered as in the scene.

    Attributes:
        folder: its path.
        header: what was baked.
    """

    @classmethod
    def create(cls, folder: str | Path, header: TakeHeader) -> Take:
        """Make a new take and open it for writing.

        The folder must not exist, or be empty but for the files of a solver process. Files of a bake that was killed
        before it could write the header are deleted.

        Raises:
            CacheError: the folder cannot be made or is in use, or a value of the header does not fit.
        """
        folder, header = Path(folder), checked_header(header)
        make_room(folder)
        log = RecordLog.create(folder / LOG_NAME)
        files = [Pc2File.create(folder / cloth.file, cloth.vertices, header.start) for cloth in header.cloths]
        record = log.append(b"", header.as_head())
        sync_folder(folder)
        return cls(folder, log, header, files, [Entry(record, "header", header.start, {})])

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
            take._files[:] = [opened(folder, header, index, write=True) for index in range(len(header.cloths))]
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

    def checkpoint(self, state: Frame | Checkpoint) -> None:
        """Save the state of a committed frame, and delete some of the older ones.

        Raises:
            CacheError: the frame is not in the take, or the state cannot be written.
        """
        state = state.checkpoint() if isinstance(state, Frame) else state
        self._frame(state.frame)
        digest = kept.save(self.folder, state)
        record = self._log.append(b"", self._head("checkpoint", frame=state.frame, digest=digest), sync=False)
        self._add(Entry(record, "checkpoint", state.frame, {"digest": digest}))
        kept.thin(self.folder, self._checkpoints(), {segment["from_frame"] - 1 for segment in self.segments})

    def begin_segment(self, settings: Mapping[str, Any], fingerprints: Mapping[str, Mapping[str, str]],
                      last: int | None = None, report: Mapping[str, Any] | None = None,
                      state: Checkpoint | None = None) -> None:
        """Record that the bake continues with other settings from the next frame on.

        Args:
            settings, fingerprints, report: as in the header.
            last: frame with which the bake is complete now, None for the one before.
            state: at the last frame. It is saved and never thinned out, because frames of this
                segment can be computed from it alone. Not needed if the take has that checkpoint, or no frames.

        Raises:
            CacheError: the state is missing or of another frame, or it cannot be written.
        """
        at = self.last
        if at is not None and at not in self.checkpoint_frames():
            if state is None or state.frame != at:
                raise CacheError(f"{self.folder}: other settings from frame {at + 1} on need the state of frame {at}; "
                                 "give that state, or resume from a frame that has a checkpoint")
            self.checkpoint(state)
            sync_folder(self.folder)
        due = self.header.start if at is None else at + 1
        head = self._head("segment", from_frame=due, settings=settings, fingerprints=fingerprints, report=report or {},
                          last=last)
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
            with suppress(CacheError):
                delete_take(copy.folder)                        # a shorter take would hide this one
            raise
        return copy

    def _head(self, kind: str, **values: Any) -> bytes:
        try:
            return head_of(kind, **values)
        except ParsedError as error:
            raise CacheError(f"{self.folder}: the {kind} cannot be stored: {error}; give another value") from None
