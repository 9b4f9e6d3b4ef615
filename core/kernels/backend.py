# SPDX-License-Identifier: GPL-3.0-or-later
"""Select the backend: kernels in NumPy, or kernels compiled with Numba. Only this file tests whether Numba is there.

Numba is optional and imported when it is first wanted, never before. Compiled kernels are kept on disk, so that a
machine compiles once; the folder's name contains a digest of the sources, so that changed sources are compiled anew.
`kernel_folder` has the rules for folder and files, `numba.kernel_cache` writes and reads them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np

from ..errors import SolverError
from . import kernel_folder

BACKENDS = ("numpy", "numba")
"""Names that `Solver(backend=...)` takes, besides None for the best there is."""
NOT_INSTALLED = "Numba is not installed; Muslin's zip with Numba brings it, or `pip install numba`"


class Kernels:
    """The kernels of one backend, a module per topic: `kernels.block_matrix`, `kernels.elements`, ..."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, topic: str) -> ModuleType:
        if topic.startswith("__"):                               # looked up when an object is copied or inspected
            raise AttributeError(topic)
        folder = self.name
        if find_spec(f".{folder}.{topic}", __package__) is None:
            folder = "numpy"                                     # not worth compiling
        module = import_module(f".{folder}.{topic}", __package__)
        setattr(self, topic, module)                             # the next look-up is an ordinary attribute
        return module


_NUMPY = Kernels("numpy")
_current: ContextVar[Kernels] = ContextVar("kernels", default=_NUMPY)
_reasons: dict[str, str | None] = {"numpy": None}                # why it cannot run, for each backend that was tried
_cache_parent: Path | None = None


def current() -> Kernels:
    """Return the kernels of the running simulation; outside any, those in NumPy."""
    return _current.get()


@contextmanager
def using(name: str) -> Iterator[Kernels]:
    """Run the body of a `with` statement with the kernels of this backend.

    Raises:
        SolverError: the backend cannot run here.
    """
    token = _current.set(load(name))
    try:
        yield _current.get()
    finally:
        _current.reset(token)


def check_name(name: object) -> None:
    """Check that `Solver(backend=name)` names a backend; not whether it can run, because that may take a second.

    Raises:
        SolverError: there is no backend of this name.
    """
    if name is not None and not (isinstance(name, str) and name in BACKENDS):
        raise SolverError(f"no backend {name!r}; there are: {', '.join(BACKENDS)}, and None for the quickest there is")


def choose(wanted: str | None) -> str:
    """Return the backend to run: the one that is wanted, or the fastest one available for None.

    Raises:
        SolverError: the backend cannot run here.
    """
    if wanted is None:
        return "numpy" if why_not("numba") else "numba"
    check_name(wanted)
    reason = why_not(wanted)
    if reason:
        raise SolverError(f"the backend '{wanted}' cannot run here: {reason}; take 'numpy'")
    return wanted


@cache
def load(name: str) -> Kernels:
    """Return the kernels of a backend."""
    choose(name)
    return _NUMPY if name == "numpy" else Kernels(name)


def why_not(name: str) -> str | None:
    """Return why a backend cannot run here, None if it can. For "numba" this imports it, which takes a second."""
    if name not in _reasons:
        try:
            _import_numba()
            _reasons[name] = None
        except Exception as error:                               # a broken installation may raise anything
            rule_out(name, error)
    return _reasons[name]


def rule_out(name: str, error: Exception) -> None:
    """Record that a backend cannot run here, because of `error`."""
    is_missing = isinstance(error, ModuleNotFoundError) and error.name == "numba"
    _reasons[name] = NOT_INSTALLED if is_missing else f"{type(error).__name__}: {error}".splitlines()[0]


def is_known(name: str) -> bool:
    """Return whether the answer of `why_not` is known already, so that it imports nothing."""
    return name in _reasons


def end_threads() -> None:
    """End the threads of compiled kernels, if any run; the next simulation starts new ones."""
    pool = sys.modules.get(f"{__package__}.numba.thread_pool")
    if pool is not None:
        pool.stop()


# ---------------------------------------------------------------------- compiled kernels on disk


def keep_compiled_in(folder: Path) -> None:
    """Keep compiled kernels in `folder`, if it is for this user alone; to be called before Numba is first wanted.

    Raises:
        SolverError: they are already kept elsewhere.
    """
    global _cache_parent
    folder = folder.absolute()
    if is_known("numba") and folder != _parents()[0]:
        raise SolverError(f"compiled kernels are kept in {cache_folder().parent} already, too late for {folder}; "
                          "call this earlier, before Numba is first wanted")
    _cache_parent = folder


def cache_folder() -> Path:
    """Return the folder for the compiled kernels of these sources, with this Python, NumPy and Numba. It may not exist.

    It is in the folder that was given, or else in the user's own cache, whichever other users cannot write to. If
    there is none, kernels are not kept, see `why_not_kept`.
    """
    name = _folder_name()
    folders = [parent / name for parent in _parents()]
    return next((folder for folder in folders if not kernel_folder.why_not_private(folder)), folders[0])


def why_not_kept() -> str | None:
    """Return why compiled kernels are not kept on disk, so that each process compiles its own; None if they are."""
    return kernel_folder.why_not_private(cache_folder())


def are_kept() -> bool:
    """Return whether compiled kernels of these sources are kept. Imports nothing."""
    return why_not_kept() is None and next(cache_folder().glob(f"*{kernel_folder.KERNEL_SUFFIX}"), None) is not None


def note_complete(part: str) -> None:
    """Record that all kernels of `part`, a name for some of them, are compiled and kept."""
    folder = kernel_folder.make(cache_folder())
    if folder is not None:
        kernel_folder.write(folder / (part + kernel_folder.COMPLETE_SUFFIX), b"")


def is_complete(part: str) -> bool:
    """Return whether a process has recorded that all kernels of `part` are compiled and kept. Imports nothing."""
    return why_not_kept() is None and (cache_folder() / (part + kernel_folder.COMPLETE_SUFFIX)).is_file()


def source_digest(root: Path) -> str:
    """Return a digest of the sources of laws and kernels below `root`, the folder of core."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in ("stencils", "kernels") for path in (root / folder).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@cache
def _folder_name() -> str:
    """Return the folder's name. It is that of the sources as they were when the first kernels were wanted."""
    try:
        numba = version("numba")
    except PackageNotFoundError:
        numba = ""
    parts = (source_digest(Path(__file__).resolve().parent.parent), sys.version, np.__version__, numba)
    return f"numba-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def _parents() -> list[Path]:
    """Return the folders that may contain the cache folder, best first.

    The user's own cache contains a folder with the name under which these modules are imported, because compiled
    kernels store that name.
    """
    given = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or ""
    cache_home = Path(given) if os.path.isabs(given) else Path(os.path.expanduser("~"), ".cache")
    own = cache_home / "muslin-kernels" / str(__package__)
    return [own] if _cache_parent is None else [_cache_parent, own]


def _import_numba() -> None:
    import numba  # noqa: F401

    folder = kernel_folder.make(cache_folder())
    if folder is not None:
        kernel_folder.tidy(folder)
