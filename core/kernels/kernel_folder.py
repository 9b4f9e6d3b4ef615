# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of compiled kernels on disk, in a folder that only this user can write to.

A file is machine code in a pickle, so anyone who can write it can run code as this user. It is therefore read only
from a folder that belongs to the user, below folders that other users cannot change. Each file begins with a seal: the
digest of its name and contents. A file whose seal is broken, which is cut short, or which was made for another name is
deleted before anything in it is unpickled, and the kernel is compiled anew.

The digest finds damage, and has no secret key: whoever can write to a private folder is this user, and could read the
key too.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

KERNEL_SUFFIX = ".kernel"
COMPLETE_SUFFIX = ".complete"
"""Ending of the empty files that record which kernels are all there."""
OF_KERNELS = re.compile(r"numba-[0-9a-f]{16}")
"""Names of the folders that `tidy` may delete."""
KERNEL_MAGIC = b"muslin kernel 1\n"
MOST_FOLDERS = 4
"""Largest number of folders side by side, one for each version of sources, Python, NumPy and Numba [-]."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
"""Bits of a mode by which users other than the owner may write."""


# ---------------------------------------------------------------------- who may write


def why_not_private(folder: Path) -> str | None:
    """Return why a folder is not for this user alone to write to, None if it is. It need not exist yet.

    All folders above count, because whoever can rename one of them can replace what is below. They belong to the user
    or to root, and nobody else may write to them. Sticky ones, such as /tmp, may be written to by all: there only the
    owner can rename a folder. The folder itself belongs to the user. Symbolic links are followed first.

    Windows shows neither owners nor modes: there the folder is below the user's own profile, which is the user's own.
    """
    return _checked(folder)[1]


def find(folder: Path) -> Path | None:
    """Return the real path of a private folder, which need not exist; None if it is not private.

    Files are read and written by this path: a link on the way to `folder` may be another user's.
    """
    real, reason = _checked(folder)
    return None if reason else real


def _checked(folder: Path) -> tuple[Path, str | None]:
    """Return the real path of a folder, and why it is not private."""
    try:
        if not folder.is_absolute():
            return folder, f"{folder} is no absolute path"
        real = Path(os.path.realpath(folder))
        return real, _why_not_own(real)
    except (OSError, ValueError) as error:
        return folder, f"{folder} cannot be read: {error}"


def _why_not_own(real: Path) -> str | None:
    if not hasattr(os, "geteuid"):
        profile = Path(os.path.realpath(os.path.expanduser("~")))
        return None if profile in real.parents else f"{real} is not below {profile}"
    user = os.geteuid()
    above, is_below_own = Path(real.anchor), False
    for place in [*reversed(real.parents), real]:
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            break                                               # `make` makes it
        if not stat.S_ISDIR(status.st_mode):
            return f"{place} is no folder"
        if status.st_uid != user and (place == real or not _is_root(status.st_uid, is_below_own)):
            return f"{place} belongs to another user"
        is_shared = bool(status.st_mode & OTHERS_WRITE) and not _is_private_group(place, status)
        if is_shared and (place == real or not status.st_mode & stat.S_ISVTX):
            return f"others may write to {place}"
        above, is_below_own = place, is_below_own or status.st_uid == user
    return None if os.access(above, os.W_OK | os.X_OK) else f"{above} cannot be written to"


def _is_root(owner: int, is_below_own: bool) -> bool:
    """Return whether an owner is root, or stands for it.

    In a container that maps only this user, as Flatpak's, root shows as the number for all unmapped users. It is taken
    for root above the user's own folders, where /home and / are.
    """
    return owner == 0 or not is_below_own and owner == _stand_in_for_root()


@cache
def _stand_in_for_root() -> int | None:
    """Return the number that root has in a user namespace that does not map it (Linux), else None."""
    try:
        ranges = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
        unmapped = int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return None
    mapped = [range(int(first), int(first) + int(count)) for first, _, count in ranges]
    return None if any(0 in numbers or unmapped in numbers for numbers in mapped) else unmapped


def _is_private_group(place: Path, status: os.stat_result) -> bool:
    """Return whether a folder is open to its group only, which is the group that each user has for himself alone."""
    if status.st_mode & stat.S_IWOTH or status.st_gid == 0:
        return False
    with suppress(OSError, AttributeError):                     # further users may be listed beside the mode
        if "system.posix_acl_access" in os.listxattr(place):
            return False
    return _has_no_other_member(status.st_gid)


@cache
def _has_no_other_member(group: int) -> bool:
    import grp
    import pwd
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
        return (found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
                and all(other.pw_uid == user.pw_uid for other in pwd.getpwall() if other.pw_gid == group))
    except KeyError:
        return False


def make(folder: Path) -> Path | None:
    """Return the real path of a private folder, made if it is missing; None if there can be none.

    What is made has mode 700, whatever the mask of the process.
    """
    real = find(folder)
    if real is None:
        return None
    try:
        for place in [*reversed(real.parents), real]:
            if not place.exists():
                with suppress(FileExistsError):                 # another process made it at this moment
                    place.mkdir(mode=0o700)
                    place.chmod(0o700)
        return None if _why_not_own(real) else real
    except OSError:
        return None


# ---------------------------------------------------------------------- files


def read(path: Path) -> bytes | None:
    """Return the contents of a file; None if it does not exist, or is not as `write` left it: then it is deleted."""
    try:
        flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if _is_own_file(status):
                seal = file.read(len(_seal(path.name, b"")))
                size = int.from_bytes(seal[len(KERNEL_MAGIC):len(KERNEL_MAGIC) + 8], "little")
                if seal.startswith(KERNEL_MAGIC) and size == status.st_size - len(seal):       # not a huge one
                    contents = file.read(size)
                    if _seal(path.name, contents) == seal:
                        return contents
    except FileNotFoundError:
        return None
    except OSError:
        pass                                                    # a link, a folder, a socket, or not to be read
    remove(path)
    return None


def write(path: Path, contents: bytes) -> None:
    """Write a file with its seal, at once for all readers. Does nothing if the disk is full or cannot be written to."""
    unfinished = path.with_name(f"{path.stem}-{os.urandom(8).hex()}.tmp")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(unfinished, flags, 0o600), "wb") as file:
            with suppress(OSError):                             # some network disks have no locks
                _lock(file.fileno())
            file.write(_seal(path.name, contents))
            file.write(contents)
            file.flush()
            if os.name == "posix":
                os.replace(unfinished, path)                    # while it is locked, see `tidy`
        if os.name != "posix":
            os.replace(unfinished, path)                        # Windows renames no open files
    except OSError:
        remove(unfinished)


def remove(path: Path) -> None:
    """Delete a file or what stands in its place, if possible. A symbolic link is deleted, not its target."""
    with suppress(OSError):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def tidy(folder: Path) -> None:
    """Delete files that a killed process left unfinished, and all but the MOST_FOLDERS folders used last."""
    with suppress(OSError):
        os.utime(folder)
        for unfinished in folder.glob("*.tmp"):
            if not _is_locked(unfinished):
                remove(unfinished)
        folders = [place for place in folder.parent.iterdir()
                   if place != folder and OF_KERNELS.fullmatch(place.name)]
        folders.sort(key=lambda place: os.lstat(place).st_mtime, reverse=True)
        for unused in folders[MOST_FOLDERS - 1:]:
            remove(unused)


def _seal(name: str, contents: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\n" + contents).digest()
    return KERNEL_MAGIC + len(contents).to_bytes(8, "little") + digest


def _is_own_file(status: os.stat_result) -> bool:
    """Return whether this is a file that only this user can have written to."""
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        return False
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE


def _lock(descriptor: int) -> None:
    """Lock a file as long as it is open. A process that is killed loses its locks, whatever its number."""
    if os.name == "posix":                                      # Windows deletes no open files
        import fcntl
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_locked(path: Path) -> bool:
    """Return whether the process that writes a file is alive."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))) as file:
            _lock(file.fileno())
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
