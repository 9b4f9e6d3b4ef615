# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks of output files: of two processes that would write the same file or folder, the second is told.

A lock is a hidden file beside the output that the operating system locks for the process. It ends with the process,
also if that is killed; a file that is left behind blocks no other process and is removed by the next run.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import output_paths

HELD = frozenset((errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK))
"""Numbers of the errors for a file that another process has locked. Others mean that the folder has no locks."""
ATTEMPTS = 20
"""Number of attempts to lock a file that other processes remove at the same time."""


class OutputInUseError(OSError):
    """Another process writes this output."""


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Lock the output `target`, a file or folder that need not exist, for this process during the block.

    Without access to the folder, or where the file system has no locks, there is no lock.

    Raises:
        OutputInUseError: another process has locked it. The message names the process.
    """
    path = _lock_path(target)
    descriptor = _lock(path, target)
    try:
        if descriptor is not None:
            output_paths.remove_partial_files(target)
        yield
    finally:
        if descriptor is not None:
            _unlock(descriptor, path)


def _lock_path(target: Path) -> Path:
    return output_paths.nearest_folder(target.parent) / f".{target.name[:200]}.muslin-lock"


def _lock(path: Path, target: Path) -> int | None:
    """Return the descriptor of the locked file at `path`; None where there can be no lock."""
    for _ in range(ATTEMPTS):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except (OSError, ValueError):
            return None
        try:
            _lock_descriptor(descriptor)
        except OSError as error:
            holder = _process_in(descriptor)
            os.close(descriptor)
            if error.errno not in HELD:
                return None
            raise OutputInUseError(f"another Muslin{holder} is writing {target}; wait until it has ended, or name "
                                   "another output") from None
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):       # else another process has removed it
                os.ftruncate(descriptor, 0)
                os.write(descriptor, str(os.getpid()).encode())
                return descriptor
        os.close(descriptor)
    return None


def _process_in(descriptor: int) -> str:
    """Return the number of the process in a lock file, for a message; empty if it has none."""
    with suppress(OSError):
        text = os.read(descriptor, 32).strip(b"\0 \n")
        if text.isdigit():
            return f" (process {text.decode()})"
    return ""


if sys.platform == "win32":
    import msvcrt

    def _lock_descriptor(descriptor: int) -> None:
        """Lock the first byte of the file. Raise OSError if another process has locked it."""
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int, path: Path) -> None:
        """Unlock and remove the file; on Windows that needs a closed file."""
        with suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)
        with suppress(OSError):
            path.unlink()
else:
    import fcntl

    def _lock_descriptor(descriptor: int) -> None:
        """Lock the file. Raise OSError if another process has locked it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int, path: Path) -> None:
        """Remove the file while it is locked, so that no other process locks one that is about to be removed."""
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)
