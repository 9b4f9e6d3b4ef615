# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of a bake on disk, frame by frame: one process reads it from the scene, another one solves with it.

A feed is a log of records (record_log.py). The head of a record is JSON:

    {"kind": "feed", "format": 1, "first": frame, "start": checksum of the values at it, "locks": flag, "source": text}
    {"kind": "frame", "frame": number, "times": [frames]}     body: a parcel of arrays, "K:NAME" of sample K
    {"kind": "end", "frame": last}                            after it the feed is complete

An array that equals the one of the sample before is not stored again; the first frame is that of the scene file. The
writer locks the feed as long as it is open, by which a reader finds out that a writer has died. "locks" says whether
the disk has locks, "source" from which state of a scene the feed is read: only that state may continue it.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..array_file import ArrayFileError, opened_parcel, parcel
from ..arrays import FloatArray
from ..description.motion import MotionWindow, Values
from ..errors import CacheError
from ..parsed import Fields, Flag, Kind, ListOf, Number, ParsedError, Text, from_json
from .disk_file import DiskFile
from .record_log import Record, RecordLog

FEED_NAME = "feed.muslin"
FEED_FORMAT = 1
FEED_POLL = 0.02
"""Time between two looks for the next frame [s]."""
WRITER_POLL = 1.0
"""Time between two tests whether the writer is alive [s]."""
FEED_PATIENCE = 3600.0
"""Longest wait for the next frame on a disk without locks, where nothing tells that the writer has died [s]."""
OPEN_ATTEMPTS = 20
"""Number of attempts to open a feed for writing while a reader tests its lock."""
MOST_SAMPLES = 4096
"""Largest number of samples from one frame to the next."""
LONGEST_FEED_HEAD = 1 << 20
"""Largest head of a record [characters]."""
NUMBER, FRAME = Number(), Number(-2 ** 31, 2 ** 31 - 1, whole=True)
HEADS: Mapping[str, Kind] = {
    "feed": Fields({"format": Number(FEED_FORMAT, FEED_FORMAT, whole=True), "first": FRAME,
                    "start": Number(0, 2 ** 32 - 1, whole=True), "locks": Flag()}, {"source": Text(64)}),
    "frame": Fields({"frame": FRAME, "times": ListOf(NUMBER, MOST_SAMPLES, 1)}, {}),
    "end": Fields({"frame": FRAME}, {})}
"""Kinds of records, and what their heads must say."""

Opened = TypeVar("Opened")
Samples = Sequence[tuple[float, Values]]
"""Times [frames] and values that lead from one frame to the next, as `MotionWindow.advance` takes them."""


class FeedLostError(CacheError):
    """The writer of a feed has ended before the last frame."""


class FeedWriter:
    """A feed that is open for writing.

    Attributes:
        path: its path.
        frame: the last frame in it.
        values: at that frame.
        is_complete: whether `finish` was called.
    """

    def __init__(self, log: RecordLog, window: MotionWindow, frame: int, values: Values, is_complete: bool) -> None:
        self.path = log.path
        self.frame, self.is_complete = frame, is_complete
        self._log, self._window, self.values = log, window, dict(values)

    @classmethod
    def create(cls, path: str | Path, window: MotionWindow, source: str = "") -> FeedWriter:
        """Make a new feed for the window of a scene file, in place of an earlier one.

        `source` (at most 64 characters) identifies the state of the scene that is read.

        Raises:
            CacheError: it cannot be made, or another process writes the earlier one.
        """
        path = Path(path)
        if path.exists():
            _opened(DiskFile.open, path).close()                       # refuses while another process writes it
            with suppress(OSError):
                path.unlink()
        log = RecordLog.create(path)
        log.append(b"", _head("feed", format=FEED_FORMAT, first=window.first, start=_checksum(window.start),
                              locks=is_written(path), source=source))
        return cls(log, window, window.first, window.start, is_complete=False)

    @classmethod
    def open(cls, path: str | Path, window: MotionWindow, source: str = "") -> FeedWriter:
        """Open a feed whose writer has ended, to continue it after its last frame.

        Raises:
            CacheError: it cannot be opened, is of another scene or `source`, or another process writes it.
        """
        log = _opened(RecordLog.open, Path(path))
        try:
            reader = FeedReader(path, window)
            for _ in reader.frames():
                pass
            if reader.source != source:
                raise CacheError(f"{path} was read from another state of the scene; bake again")
            return cls(log, window, reader.last, reader.values, reader.is_complete)
        except BaseException:
            log.close()
            raise

    def append(self, frame: int, samples: Samples) -> None:
        """Add the samples that lead to the next frame.

        Raises:
            CacheError: it is not the next frame, a sample has other arrays than the first frame, or the feed cannot be
                written.
        """
        if frame != self.frame + 1 or self.is_complete:
            raise CacheError(f"{self.path}: frame {frame} cannot be added, " + (
                "the feed is complete" if self.is_complete else f"the next one must be {self.frame + 1}"))
        if not samples or samples[-1][0] != frame:
            raise CacheError(f"{self.path}: the last sample must be at frame {frame}")
        changed: dict[str, FloatArray] = {}
        values = self.values
        for number, (_, sample) in enumerate(samples):
            if sample.keys() != self._window.start.keys():
                names = sorted(sample.keys() ^ self._window.start.keys())
                raise CacheError(f"{self.path}: '{names[0]}' is not in all samples up to frame {frame}; keep the "
                                 "objects of the scene, or bake again")
            changed |= {f"{number}:{name}": array for name, array in sample.items()
                        if not (array is values[name] or np.array_equal(array, values[name]))}
            values = {name: changed.get(f"{number}:{name}", values[name]) for name in sample}
        self._log.append(parcel(None, {name: np.asarray(array, np.float64) for name, array in changed.items()}),
                         _head("frame", frame=frame, times=[float(time) for time, _ in samples]), sync=False)
        self.frame, self.values = frame, dict(values)

    def finish(self) -> None:
        """Say that the last frame is there, and wait until all is on the disk."""
        if not self.is_complete:
            self._log.append(b"", _head("end", frame=self.frame))
            self.is_complete = True

    def close(self) -> None:
        """Close the feed; a reader that waits for more frames is told if it is not complete."""
        self._log.close()

    def __enter__(self) -> FeedWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FeedReader:
    """Moves the window of a scene by a feed, which another process may be writing.

    Args:
        path: of the feed.
        window: of the scene file that belongs to the feed, at its first frame.

    Attributes:
        last: the last frame that was read.
        values: at that frame.
        is_complete: whether no more frames follow.
        source: identity of the state of the scene that it was read from.
    """

    def __init__(self, path: str | Path, window: MotionWindow) -> None:
        self.path = Path(path)
        self.last, self.values, self.is_complete = window.first, dict(window.start), False
        self._window = window
        self._log = RecordLog.reader(path)
        self._record: Record | None = None
        self._locks, self.source = False, ""
        self._shapes = {name: array.shape for name, array in window.start.items()}

    def read_to(self, frame: int, waiting: Callable[[], None] = lambda: None) -> None:
        """Move the window to a frame. Wait until it is there.

        The window goes on by one frame, or jumps to a later frame, from which a simulation continues.

        Args:
            frame: number.
            waiting: called again and again while the frame is not there. It may raise to end the wait.

        Raises:
            FeedLostError: the writer has ended before this frame.
            CacheError: the feed is damaged, is of another scene, or ends before this frame.
        """
        if frame == self._window.frame:
            return
        if frame < self.last:
            raise CacheError(f"{self.path}: frame {frame} has been read already; read the feed anew")
        samples, began = self._read_on(frame), time.monotonic()
        tested = began
        while self.last < frame:
            if self.is_complete:
                raise CacheError(f"{self.path} ends at frame {self.last}, frame {frame} is needed; bake again")
            waiting()
            time.sleep(FEED_POLL)
            was_written = True
            if self._locks and time.monotonic() > tested + WRITER_POLL:
                was_written, tested = is_written(self.path), time.monotonic()
            elif not self._locks:
                was_written = time.monotonic() < began + FEED_PATIENCE
            samples = self._read_on(frame) or samples                   # also what was written just before its end
            if self.last < frame and not (was_written or self.is_complete):
                raise FeedLostError(f"{self.path} ends at frame {self.last}, because Blender ended while it read the "
                                    "scene ahead; open the file and resume")
        if frame == self._window.frame + 1:
            self._window.advance(samples)
        else:
            self._window.jump(frame, self.values)

    def _read_on(self, frame: int) -> Samples:
        """Read up to a frame, or to the last one that is there, and return its samples."""
        samples: Samples = ()
        while self.last < frame and not self.is_complete:
            new = next(self.frames(), None)
            if new is None:
                break
            samples = new
        return samples

    def frames(self) -> Iterator[Samples]:
        """Yield the samples of the frames that are new since the last call.

        Raises:
            CacheError: the feed is damaged, or of another scene.
        """
        for record in self._log.scan(self._record, bodies=True):
            self._record = record
            kind, head = self._head(record)
            if kind == "frame":
                samples = self._samples(record, head)
                self.last, self.values = self.last + 1, dict(samples[-1][1])
                yield samples
            elif kind == "end":
                self.is_complete = True
                return

    def _head(self, record: Record) -> tuple[str, dict[str, Any]]:
        """Return kind and head of a record that must follow here."""
        try:
            head = from_json(str(record.head, "utf-8"), Fields({"kind": Text(16)}, {}), longest=LONGEST_FEED_HEAD,
                             deepest=4)
            kind = str(head["kind"])
            if kind not in HEADS:
                raise ParsedError(f"a record of the kind {kind!r} is not known here")
            HEADS[kind].check(head, kind)
        except ValueError as error:
            raise self._damaged(str(error)) from None
        if kind == "feed":
            if head["first"] != self._window.first or head["start"] != _checksum(self._window.start):
                raise CacheError(f"{self.path} is of another scene; bake again")
            self._locks, self.source = head["locks"], head.get("source", "")
        elif head["frame"] != self.last + (kind == "frame"):
            raise self._damaged(f"frame {head['frame']} follows on frame {self.last}")
        return kind, head

    def _samples(self, record: Record, head: Mapping[str, Any]) -> Samples:
        try:
            _, arrays = opened_parcel(self._log.body(record), ("<f8",))
        except ArrayFileError as error:
            raise self._damaged(str(error)) from None
        samples, values, times = [], self.values, head["times"]
        if times[-1] != head["frame"] or any(b <= a for a, b in zip([self.last, *times], times, strict=False)):
            raise self._damaged(f"the times of frame {head['frame']} are {times}")
        for number, at in enumerate(times):
            values = {name: arrays.pop(f"{number}:{name}", before) for name, before in values.items()}
            samples.append((float(at), values))
        misfits = [name for name, shape in self._shapes.items() for _, sample in samples if sample[name].shape != shape]
        if arrays or misfits:
            raise self._damaged(f"the arrays of frame {head['frame']} do not fit: {[*arrays, *misfits][0]}")
        return samples

    def _damaged(self, why: str) -> CacheError:
        return CacheError(f"{self.path} is damaged: {why}; bake again")


def is_written(path: Path) -> bool:
    """Return whether a process has the feed open for writing. False, too, where the disk has no locks."""
    try:
        DiskFile.open(path).close()
    except CacheError:
        return path.exists()
    return False


def _opened(opening: Callable[[Path], Opened], path: Path) -> Opened:
    """Return an earlier feed, opened for writing by `opening`. A reader may lock it for a moment."""
    for _ in range(OPEN_ATTEMPTS):
        with suppress(CacheError):
            return opening(path)
        time.sleep(FEED_POLL)
    return opening(path)


def _head(kind: str, **values: Any) -> bytes:
    return json.dumps({"kind": kind, **values}).encode()


def _checksum(values: Values) -> int:
    """Return the CRC-32 of values, in the order of their names."""
    crc = 0
    for name in sorted(values):
        array = np.ascontiguousarray(values[name], dtype="<f8")
        crc = zlib.crc32(array.tobytes(), zlib.crc32(f"{name} {array.shape}".encode(), crc))
    return crc
