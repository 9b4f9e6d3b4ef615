# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that one process writes and others may read at the same time, with errors that say what to do.

Writes go to the operating system at once, without a buffer in between, so that a killed process leaves what it wrote.
`sync` waits until the data is on the disk, where it outlives a power failure, too.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CacheError
from .file_lock import LOCK_HELD

if sys.platform != "win32":
    import fcntl

LOCKED_BYTE = 1 << 62
"""Place of the byte that a writer locks on Windows [byte]: far behind the end, because a locked byte cannot be read."""
REASONS = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the quota of the disk is used up; free some space",
    errno.EFBIG: "the disk takes no files of this size; choose another cache folder",
    errno.EROFS: "the disk is read-only; choose another cache folder",
    errno.EACCES: "there is no permission for it; choose another cache folder, or give the permission",
    errno.EPERM: "there is no permission for it; choose another cache folder, or give the permission",
    errno.ENOENT: "it is not there; check the path, or bake again",
    errno.ENOTDIR: "a part of its path is a file, not a folder; choose another cache folder",
    errno.EEXIST: "it is there already; choose another name",
    errno.EISDIR: "it is a folder; move it away, or choose another cache folder",
    errno.ENAMETOOLONG: "its name is too long; choose another cache folder",
    errno.EIO: "the disk has an error; check the disk, and choose another cache folder",
}
"""What an error of the operating system means, and what to do about it."""


def cannot(path: Path, what: str, error: OSError | ValueError) -> CacheError:
    """Return the error about a file that cannot be read, written or made (`what`)."""
    known = REASONS.get(error.errno or 0) if isinstance(error, OSError) else None
    reason = known or f"{getattr(error, 'strerror', None) or error}; check the path and the disk"
    return CacheError(f"{path} cannot be {what}: {reason}")


@contextmanager
def errors_of(path: Path, what: str) -> Iterator[None]:
    """Raise errors of the operating system as CacheError about `path`. ValueError is a name that no file can have."""
    try:
        yield
    except CacheError:
        raise
    except (OSError, ValueError) as error:
        raise cannot(path, what, error) from None


def sync_folder(folder: Path) -> None:
    """Wait until the names of new, renamed and deleted files are on the disk. Windows has no such call."""
    if sys.platform == "win32":
        return
    with errors_of(folder, "written"):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):      # disks that do not know it
                raise
        finally:
            os.close(number)


class DiskFile:
    """A file that is open for writing, made by `create` or `open`. No other process can open it for writing.

    Attributes:
        path: its path.
    """

    def __init__(self, path: Path, number: int) -> None:
        self.path, self._number = path, number

    @classmethod
    def create(cls, path: Path) -> DiskFile:
        """Make a new, empty file.

        Raises:
            CacheError: it cannot be made, or is there already.
        """
        return cls._opened(path, os.O_CREAT | os.O_EXCL, "made")

    @classmethod
    def open(cls, path: Path) -> DiskFile:
        """Open a file to change it.

        Raises:
            CacheError: it cannot be opened, or another process writes to it.
        """
        return cls._opened(path, 0, "written")

    @classmethod
    def _opened(cls, path: Path, flags: int, what: str) -> DiskFile:
        with errors_of(path, what):
            number = os.open(path, os.O_RDWR | flags | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(number, path)
        except BaseException:
            os.close(number)
            raise
        return cls(path, number)

    def size(self) -> int:
        """Return its size [byte]."""
        with errors_of(self.path, "read"):
            return os.fstat(self._number).st_size

    def write(self, at: int, data: bytes) -> None:
        """Write at a place [byte]."""
        with errors_of(self.path, "written"):
            os.lseek(self._number, at, os.SEEK_SET)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._number, rest):]

    def truncate(self, size: int) -> None:
        """Cut it off at a size [byte]."""
        with errors_of(self.path, "written"):
            os.ftruncate(self._number, size)

    def sync(self) -> None:
        """Wait until all that was written is on the disk.

        Raises:
            CacheError: it is not, or the file has been deleted or moved away since it was opened.
        """
        with errors_of(self.path, "written"):
            os.fsync(self._number)
            if not os.path.samestat(os.fstat(self._number), os.stat(self.path)):
                raise CacheError(f"{self.path} has been replaced while it was written; give every bake a folder of its "
                                 "own, and bake again")

    def close(self) -> None:
        """Close it, after which it cannot be written. Closing twice does no harm."""
        number, self._number = self._number, -1
        if number >= 0:
            os.close(number)

    def __del__(self) -> None:
        self.close()


def _lock(number: int, path: Path) -> None:
    """Lock an open file until it is closed, or its process ends. Disks without locks are left as they are.

    Raises:
        CacheError: another process has locked it, or this one has it open already.
    """
    try:
        if sys.platform == "win32":
            import msvcrt
            os.lseek(number, LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in LOCK_HELD:
            raise CacheError(f"{path} is being written by another bake; wait for its end, or choose another cache "
                             "folder") from None
