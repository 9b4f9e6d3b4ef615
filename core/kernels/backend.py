# SPDX-License-Identifier: GPL-3.0-or-later
"""Select the backend: kernels in NumPy, or kernels compiled with Numba. Only this file tests whether Numba is there.

Numba is optional and imported when it is first wanted, never before. Compiled kernels are kept on disk, so that a
machine compiles once; the folder's name contains a digest of the sources, so that changed sources are compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from ..errors import SolverError

BACKENDS = ("numpy", "numba")
"""Names that `Solver(backend=...)` takes, besides None for the best there is."""
LONGEST_UNUSED = 30.0 * 86_400.0
"""Age since their last use above which compiled kernels of other sources are deleted [s]: another Blender may use
younger ones."""


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
    _reasons[name] = f"{type(error).__name__}: {error}".splitlines()[0]


def is_known(name: str) -> bool:
    """Return whether the answer of `why_not` is known already, so that it imports nothing."""
    return name in _reasons


# ---------------------------------------------------------------------- compiled kernels on disk


def keep_compiled_in(folder: Path) -> None:
    """Keep compiled kernels in `folder`; to be called before Numba is first wanted.

    Raises:
        SolverError: they are already kept elsewhere.
    """
    global _cache_parent
    if is_known("numba") and folder != _parent():
        raise SolverError(f"compiled kernels are kept in {_parent()} already, too late for {folder}; "
                          "call this earlier, before Numba is first wanted")
    _cache_parent = folder


def cache_folder() -> Path:
    """Return the folder for the compiled kernels of these sources. Numba itself checks a kernel's own file only."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    compiled = ("stencils/**/*.py", "kernels/numba/*.py", "kernels/formulas/*.py")
    for path in sorted(path for pattern in compiled for path in root.glob(pattern)):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return _parent() / f"numba-{digest.hexdigest()[:16]}"


def are_kept() -> bool:
    """Return whether compiled kernels of these sources are kept. Imports nothing."""
    return next(cache_folder().rglob("*.nbi"), None) is not None


def _parent() -> Path:
    """Return the folder that was given, or one in the user's own cache, where other users cannot put code.

    There it has the name under which these modules are imported, because compiled kernels store that name.
    """
    if _cache_parent is not None:
        return _cache_parent
    given = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path.home() / ".cache") / "muslin-kernels" / __package__


def _import_numba() -> None:
    import numba

    numba.config.CACHE_DIR = str(_made(cache_folder()))


def _made(folder: Path) -> Path:
    """Return the folder, made if it does not exist; where that is not possible, one for this run alone."""
    try:
        if not folder.exists():
            for old in folder.parent.glob("numba-*"):            # of earlier sources, or of another Blender
                if time.time() - old.stat().st_mtime > LONGEST_UNUSED:
                    shutil.rmtree(old, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="muslin-kernels-"))
