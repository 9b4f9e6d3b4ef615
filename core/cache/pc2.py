# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's point cache files (PC2), which its modifier *Mesh Cache* plays.

    "POINTCACHE2\\0" (12 bytes), version 1 (int32), vertices (int32), start (float32), sampling (float32),
    samples (int32), then per sample the positions of all vertices (float32, (V, 3))

All numbers are little endian. `start` is the frame of the first sample and `sampling` the frames from one sample to the
next. The number of samples is written after a sample, so that a player of a growing file sees whole samples only.
"""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CacheError
from ..number_text import number_text
from .disk_file import DiskFile, errors_of

PC2_HEAD = struct.Struct("<12siiffi")
PC2_MAGIC = b"POINTCACHE2\0"
PC2_VERSION = 1
COUNT_AT = PC2_HEAD.size - 4
"""Place of the number of samples [byte]."""
MOST = 2 ** 31 - 1
"""Largest number of vertices or samples in a file."""

Single = npt.NDArray[np.float32]


class Pc2File:
    """A PC2 file, open for writing (`create`, `open(write=True)`) or reading (`open`). Readers keep no file open.

    Attributes:
        path: its path.
        vertices: in every sample.
        start: frame of the first sample.
        sampling: frames from one sample to the next.
        count: number of samples that can be read.
    """

    def __init__(self, path: Path, vertices: int, start: float, sampling: float, count: int,
                 file: DiskFile | None = None) -> None:
        self.path, self.vertices, self.start, self.sampling, self.count = path, vertices, start, sampling, count
        self._file = file

    @classmethod
    def create(cls, path: str | Path, vertices: int, start: float) -> Pc2File:
        """Make a new file without samples and open it for writing.

        Raises:
            CacheError: it cannot be made, or is there already.
        """
        path = Path(path)
        if not 0 < vertices <= MOST:
            raise CacheError(f"{path}: {vertices} vertices cannot be stored, the number must be from 1 to {MOST}")
        file = DiskFile.create(path)
        file.write(0, PC2_HEAD.pack(PC2_MAGIC, PC2_VERSION, vertices, start, 1.0, 0))
        file.sync()
        return cls(path, vertices, start, 1.0, 0, file)

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False, whole: bool = True) -> Pc2File:
        """Open a file.

        Args:
            path: of the file.
            write: for writing too.
            whole: refuse a file that is shorter than its header says. Otherwise `count` is what is there, whatever
                the header says.

        Raises:
            CacheError: it cannot be read, is no such file, or is cut off.
        """
        path = Path(path)
        with errors_of(path, "read"), open(path, "rb") as reader:
            head, size = reader.read(PC2_HEAD.size), os.fstat(reader.fileno()).st_size
        if len(head) < PC2_HEAD.size or not head.startswith(PC2_MAGIC):
            raise CacheError(f"{path} is no PC2 file, or its start is damaged; take another, or bake again")
        _, version, vertices, start, sampling, count = PC2_HEAD.unpack(head)
        if version != PC2_VERSION:
            raise CacheError(f"{path} has the version {version}, it must be {PC2_VERSION}")
        if vertices <= 0 or whole and count < 0 or not np.isfinite([start, sampling]).all():
            raise CacheError(f"{path} says that it has {count} samples of {vertices} vertices from frame "
                             f"{number_text(start, 10)} on, one in {number_text(sampling)} frames: its start is "
                             "damaged; take another, or bake again")
        there = (size - PC2_HEAD.size) // (12 * vertices)
        if whole and there < count:
            raise CacheError(f"{path} has {there} whole samples where its start says {count}: it is cut off; take "
                             "another, or bake again")
        return cls(path, vertices, start, sampling, min(count if whole else there, MOST),
                   DiskFile.open(path) if write else None)

    def append(self, sample: npt.ArrayLike, *, sync: bool = True) -> int:
        """Add a sample (V, 3), wait until it is on the disk unless `sync` is False, and return its CRC-32.

        Raises:
            CacheError: it has another shape, or cannot be written; the samples before it stay valid.
        """
        file, data = self._writable(), self._packed(sample)
        if self.count == MOST:
            raise CacheError(f"{self.path} takes no more than {MOST} samples; bake a shorter range")
        try:
            file.write(self._at(self.count), data)
            if sync:
                file.sync()
            self._set_count(self.count + 1)
        except CacheError:
            with suppress(CacheError):                      # the first error says it
                self.truncate(self.count)
            raise
        self.count += 1
        return zlib.crc32(data)

    def read(self, index: int) -> Single:
        """Return the sample (V, 3) of an index.

        Raises:
            CacheError: there is none, or it cannot be read.
        """
        if not 0 <= index < self.count:
            raise CacheError(f"{self.path} has no sample {index}, only {self.count} samples; take one of them")
        return np.frombuffer(self._bytes(index), dtype="<f4").reshape(self.vertices, 3).astype(np.float32)

    def checksum(self, index: int) -> int:
        """Return the CRC-32 of the sample of an index.

        Raises:
            CacheError: there is none, or it cannot be read.
        """
        return zlib.crc32(self._bytes(index))

    def grow(self) -> int:
        """Count the whole samples in a file that another process writes, and return their number."""
        with errors_of(self.path, "read"):
            size = os.stat(self.path).st_size
        self.count = min(max(size - PC2_HEAD.size, 0) // (12 * self.vertices), MOST)
        return self.count

    def truncate(self, count: int) -> None:
        """Keep the first samples only, and set the number of samples in the header.

        Raises:
            CacheError: it cannot be written.
        """
        file = self._writable()
        self.count = min(count, self.count)
        self._set_count(self.count)
        if file.size() != self._at(self.count):
            file.truncate(self._at(self.count))
        file.sync()

    def sync(self) -> None:
        """Wait until all samples are on the disk."""
        self._writable().sync()

    def close(self) -> None:
        """Close the file; it can still be read."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def _at(self, index: int) -> int:
        return PC2_HEAD.size + 12 * self.vertices * index

    def _packed(self, sample: Any) -> bytes:
        array = np.ascontiguousarray(sample, dtype="<f4")
        if array.shape != (self.vertices, 3):
            raise CacheError(f"{self.path}: a sample has the shape {array.shape}, it must be {(self.vertices, 3)}")
        return array.tobytes()

    def _bytes(self, index: int) -> bytes:
        with errors_of(self.path, "read"), open(self.path, "rb") as reader:
            length = 12 * self.vertices
            if os.fstat(reader.fileno()).st_size < self._at(index) + length:
                raise CacheError(f"{self.path} is cut off before its sample {index}; bake again from that frame")
            reader.seek(self._at(index))
            data = reader.read(length)
        if len(data) < length:
            raise CacheError(f"{self.path} is cut off before its sample {index}; bake again from that frame")
        return data

    def _set_count(self, count: int) -> None:
        self._writable().write(COUNT_AT, struct.pack("<i", count))

    def _writable(self) -> DiskFile:
        if self._file is None:
            raise CacheError(f"{self.path} is open for reading only; open it for writing first")
        return self._file
