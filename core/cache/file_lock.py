# SPDX-License-Identifier: GPL-3.0-or-later
"""Lock files: of two processes that would write the same thing, the second is told.

The operating system locks the file for a process, and the lock ends with the process, also if that is killed. A file
that is left behind blocks no other process. While it is locked it holds the number of the process.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

LOCK_HELD = frozenset((errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK))
"""Numbers of the errors for a file that another process has locked. Others mean that the folder has no locks."""
LOCK_ATTEMPTS = 20
"""Number of attempts to lock a file that other processes remove at the same time."""


class LockHeldError(OSError):
    """Another process has locked the file.

    Attributes:
        process: its number, None if it is not known.
    """

    def __init__(self, process: int | None) -> None:
        super().__init__(f"locked by process {process}")
        self.process = process


def acquire(path: Path) -> int | None:
    """Make a lock file and lock it for this process; return its descriptor for `release`.

    None where there can be no lock: without access to the folder, or where the file system has no locks.

    Raises:
        LockHeldError: another process has locked it.
    """
    for _ in range(LOCK_ATTEMPTS):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except (OSError, ValueError):
            return None
        try:
            _lock(descriptor)
        except OSError as error:
            holder = _process_in(descriptor)
            os.close(descriptor)
            if error.errno not in LOCK_HELD:
                return None
            raise LockHeldError(holder) from None
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):       # else another process has removed it
                os.ftruncate(descriptor, 0)
                os.write(descriptor, str(os.getpid()).encode())
                return descriptor
        os.close(descriptor)
    return None


def is_locked(path: Path) -> bool:
    """Return whether a process has locked a file. False where there are no locks."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except (OSError, ValueError):
        return False
    try:
        _lock(descriptor)
    except OSError as error:
        return error.errno in LOCK_HELD
    finally:
        os.close(descriptor)
    return False


def _process_in(descriptor: int) -> int | None:
    """Return the number of the process in a lock file."""
    with suppress(OSError):
        text = os.read(descriptor, 32).strip(b"\0 \n")
        if text.isdigit():
            return int(text)
    return None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        """Lock the first byte of the file. Raise OSError if another process has locked it."""
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def release(descriptor: int, path: Path) -> None:
        """Unlock and remove the file; on Windows that needs a closed file."""
        with suppress(OSError):
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)
        with suppress(OSError):
            path.unlink()
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        """Lock the file. Raise OSError if another process has locked it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(descriptor: int, path: Path) -> None:
        """Remove the file while it is locked, so that no other process locks one that is about to be removed."""
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)
