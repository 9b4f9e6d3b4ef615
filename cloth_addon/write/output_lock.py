# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks of output files: of two processes that would write the same file or folder, the second is told.

A lock is a hidden file beside the output that the operating system locks for the process (core/cache/file_lock.py). A
file that is left behind blocks no other process and is removed by the next run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...core.cache import file_lock
from . import output_paths


class OutputInUseError(OSError):
    """Another process writes this output."""


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Lock the output `target`, a file or folder that need not exist, for this process during the block.

    Without access to the folder, or where the file system has no locks, there is no lock.

    Raises:
        OutputInUseError: another process has locked it. The message names the process.
    """
    path = output_paths.nearest_folder(target.parent) / f".{target.name[:200]}.muslin-lock"
    try:
        descriptor = file_lock.acquire(path)
    except file_lock.LockHeldError as error:
        holder = "" if error.process is None else f" (process {error.process})"
        raise OutputInUseError(f"another Muslin{holder} is writing {target}; wait until it has ended, or name "
                               "another output") from None
    try:
        if descriptor is not None:
            output_paths.remove_partial_files(target)
        yield
    finally:
        if descriptor is not None:
            file_lock.release(descriptor, path)
