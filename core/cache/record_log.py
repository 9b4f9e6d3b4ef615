# SPDX-License-Identifier: GPL-3.0-or-later
"""Append-only files of records, of which every prefix is valid.

    file      "MUSLINRL" (8 bytes), version (uint32), 0 (uint32), then the records
    record    "MREC" (4 bytes), length of the head (uint32), length of the body (uint64), CRC-32 of the body (uint32),
              CRC-32 (uint32), head, body

All numbers are little endian. The second checksum is of both lengths, the first checksum and the head, and continues
that of the record before (the first one that of the file's first 16 bytes): a record is valid only behind the records
behind which it was written. Heads are checked without reading bodies, which may be large. All lengths are checked
against the file's size before anything is allocated.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import CacheError
from .disk_file import DiskFile, errors_of, sync_folder

LOG_HEAD = struct.Struct("<8sII")
LOG_MAGIC = b"MUSLINRL"
LOG_VERSION = 1
RECORD_HEAD = struct.Struct("<4sIQII")
RECORD_MAGIC = b"MREC"
LENGTHS = struct.Struct("<IQI")
"""Lengths of head and body and the checksum of the body, as the second checksum takes them."""
LONGEST_HEAD = 1 << 24
"""Largest head of a record [byte]."""
PIECE = 1 << 20
"""Largest number of bytes that are read at a time where a body is only checked."""


@dataclass(frozen=True)
class Record:
    """Place and head of a record whose head is valid.

    Attributes:
        at: its first byte. body_at: first byte of its body. end: the byte after its last.
        head: its head.
        body_crc: checksum of its body. crc: of all before its body, and of all records before it.
    """

    at: int
    body_at: int
    end: int
    head: bytes
    body_crc: int
    crc: int


class RecordLog:
    """A file of records, open for writing (`create`, `open`) or reading (`reader`). Several threads may append.

    Args:
        path: of the file.
        file: the file, None for a reader. Readers keep no file open.
        end: the byte after the last record, for a writer.
        crc: checksum of the last record.
    """

    def __init__(self, path: Path, file: DiskFile | None = None, end: int = LOG_HEAD.size, crc: int = 0) -> None:
        self.path, self._file, self._end, self._crc = path, file, end, crc
        self._appending = threading.Lock()

    @classmethod
    def create(cls, path: str | Path) -> RecordLog:
        """Make a new file without records and open it for writing.

        Raises:
            CacheError: it cannot be made, or is there already.
        """
        path = Path(path)
        file = DiskFile.create(path)
        head = LOG_HEAD.pack(LOG_MAGIC, LOG_VERSION, 0)
        file.write(0, head)
        file.sync()
        sync_folder(path.parent)
        return cls(path, file, LOG_HEAD.size, zlib.crc32(head))

    @classmethod
    def open(cls, path: str | Path) -> RecordLog:
        """Open a file for writing, and cut off what is behind the last valid record.

        Raises:
            CacheError: it cannot be opened, is no such file, or another process writes to it.
        """
        log = cls(Path(path), DiskFile.open(Path(path)))
        try:
            valid = deque(log.scan(bodies=True), maxlen=1)
            log.cut(valid[0] if valid else None)
        except BaseException:
            log.close()
            raise
        return log

    @classmethod
    def reader(cls, path: str | Path) -> RecordLog:
        """Return a reader of a file that another process may be writing. It never changes the file."""
        return cls(Path(path))

    def append(self, body: bytes, head: bytes = b"", *, sync: bool = True) -> Record:
        """Add a record and wait until it is on the disk, unless `sync` is False.

        Raises:
            CacheError: it cannot be written; the records before it stay valid, and `append` can be tried again.
        """
        file = self._writable()
        if len(head) > LONGEST_HEAD:
            raise CacheError(f"{self.path}: a head of {len(head)} bytes is too long, {LONGEST_HEAD} are the most; make "
                             "the settings or the report shorter")
        with self._appending:
            body_crc = zlib.crc32(body)
            crc = _checksum(head, len(body), body_crc, self._crc)
            start = RECORD_HEAD.pack(RECORD_MAGIC, len(head), len(body), body_crc, crc)
            body_at = self._end + len(start) + len(head)
            try:
                file.write(self._end, b"".join((start, head, body)))
                if sync:
                    file.sync()
            except CacheError:
                with suppress(CacheError):                      # the first error says it; the next `open` cuts it off
                    file.truncate(self._end)
                raise
            record = Record(self._end, body_at, body_at + len(body), head, body_crc, crc)
            self._end, self._crc = record.end, crc
            return record

    def sync(self) -> None:
        """Wait until all records are on the disk."""
        self._writable().sync()

    def cut(self, last: Record | None) -> None:
        """Remove all records after `last`, or all records if it is None."""
        file, end = self._writable(), LOG_HEAD.size if last is None else last.end
        if file.size() != end:
            file.truncate(end)
            file.sync()
        head = LOG_HEAD.pack(LOG_MAGIC, LOG_VERSION, 0)
        self._end, self._crc = end, zlib.crc32(head) if last is None else last.crc

    def close(self) -> None:
        """Close the file; the log can still be read."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def scan(self, after: Record | None = None, *, bodies: bool = False) -> Iterator[Record]:
        """Yield the valid records after a record, or all; the first one that is damaged or not yet whole ends them.

        bodies: check bodies too, which reads the whole file.

        Raises:
            CacheError: the file cannot be read, is no such file, or of another version.
        """
        with errors_of(self.path, "read"), open(self.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            crc = _checked_start(self.path, file)
            at = LOG_HEAD.size
            if after is not None:
                at, crc = after.end, after.crc
            while True:
                record = _read(file, at, size, crc)
                if record is None or bodies and not _sound(file, record):
                    return
                yield record
                at, crc = record.end, record.crc

    def has(self, record: Record) -> bool:
        """Return whether the file still has this record at its place, and with it all records before it."""
        with errors_of(self.path, "read"), open(self.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(record.at)
            start = file.read(RECORD_HEAD.size)
        lengths = (len(record.head), record.end - record.body_at, record.body_crc, record.crc)
        return record.end <= size and start == RECORD_HEAD.pack(RECORD_MAGIC, *lengths)

    def sound(self, record: Record) -> bool:
        """Return whether the body of a record is there, with the right checksum."""
        with errors_of(self.path, "read"), open(self.path, "rb") as file:
            return _sound(file, record)

    def body(self, record: Record, start: int = 0, length: int | None = None) -> bytes:
        """Return the body of a record, or a part of it whose checksum is not checked.

        Raises:
            CacheError: it is damaged or not there any more.
        """
        wanted = record.end - record.body_at - start if length is None else length
        with errors_of(self.path, "read"), open(self.path, "rb") as file:
            if record.end > os.fstat(file.fileno()).st_size:
                raise CacheError(f"{self.path} is shorter than it was, before byte {record.end}; open it again")
            file.seek(record.body_at + start)
            found = file.read(wanted)
        if len(found) != wanted or length is None and start == 0 and zlib.crc32(found) != record.body_crc:
            raise CacheError(f"{self.path}: the checksum of the record at byte {record.at} is wrong: the disk or a "
                             "program has damaged it; bake again from the frame before it")
        return found

    def _writable(self) -> DiskFile:
        if self._file is None:
            raise CacheError(f"{self.path} is open for reading only; open it for writing first")
        return self._file


def _checksum(head: bytes, body_length: int, body_crc: int, before: int) -> int:
    return zlib.crc32(head, zlib.crc32(LENGTHS.pack(len(head), body_length, body_crc), before))


def _checked_start(path: Path, file: BinaryIO) -> int:
    """Return the checksum of the first bytes of the file, which must be those of a log."""
    start = file.read(LOG_HEAD.size)
    if len(start) < LOG_HEAD.size or start[:len(LOG_MAGIC)] != LOG_MAGIC:
        raise CacheError(f"{path} is no file of Muslin's cache, or its start is damaged; take another, or bake again")
    _, version, _ = LOG_HEAD.unpack(start)
    if version != LOG_VERSION:
        raise CacheError(f"{path} is of version {version}, and only {LOG_VERSION} can be read here; open it with the "
                         "version of Muslin that wrote it, or bake again")
    return zlib.crc32(start)


def _read(file: BinaryIO, at: int, size: int, crc: int) -> Record | None:
    """Return the record at a byte of a file of this size; None if it is not whole or damaged."""
    file.seek(at)
    start = file.read(RECORD_HEAD.size)
    if len(start) < RECORD_HEAD.size:
        return None
    magic, head_length, body_length, body_crc, found = RECORD_HEAD.unpack(start)
    body_at = at + RECORD_HEAD.size + head_length
    if magic != RECORD_MAGIC or head_length > LONGEST_HEAD or body_at + body_length > size:
        return None
    head = file.read(head_length)
    if len(head) < head_length or _checksum(head, body_length, body_crc, crc) != found:
        return None
    return Record(at, body_at, body_at + body_length, head, body_crc, found)


def _sound(file: BinaryIO, record: Record) -> bool:
    """Return whether the body of a record has the right checksum. It is read in pieces."""
    file.seek(record.body_at)
    left, crc = record.end - record.body_at, 0
    while left:
        piece = file.read(min(left, PIECE))
        if not piece:
            return False
        left, crc = left - len(piece), zlib.crc32(piece, crc)
    return crc == record.body_crc
