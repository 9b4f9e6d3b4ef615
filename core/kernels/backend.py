# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernels run: NumPy's, or the ones that Numba compiles. The only file that asks whether Numba is there.

Numba is optional and imported when it is first wanted, never before. What it compiles is kept on disk, so that a
machine compiles once; the folder's name holds a digest of the sources, so that no kernel outlives what it was made of.
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
UNUSED = 30.0 * 86_400.0
"""Kernels on disk that nobody has asked for this long are deleted [s]: another Blender may be running younger ones."""


class Kernels:
    """The kernels of one backend, a module per topic: `kernels.block_matrix`, `kernels.elements`, ..."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, topic: str) -> ModuleType:
        if topic.startswith("__"):                               # what copying and inspecting ask of any object
            raise AttributeError(topic)
        folder = self.name
        if find_spec(f".{folder}.{topic}", __package__) is None:
            folder = "numpy"                           # nothing to gain by compiling these
        module = import_module(f".{folder}.{topic}", __package__)
        setattr(self, topic, module)                             # the next look-up is an ordinary attribute
        return module


_NUMPY = Kernels("numpy")
_current: ContextVar[Kernels] = ContextVar("kernels", default=_NUMPY)
_reasons: dict[str, str | None] = {"numpy": None}                # why not, of those that have been asked for
_cache_parent: Path | None = None


def current() -> Kernels:
    """The kernels of the running simulation; NumPy's outside any."""
    return _current.get()


@contextmanager
def using(name: str) -> Iterator[Kernels]:
    """Run what is inside with this backend's kernels.

    Raises:
        SolverError: there is no such backend here.
    """
    token = _current.set(load(name))
    try:
        yield _current.get()
    finally:
        _current.reset(token)


def check_name(name: object) -> None:
    """Whether `Solver(backend=name)` names a backend; not whether it runs here, because that may take a second.

    Raises:
        SolverError: it does not.
    """
    if name is not None and not (isinstance(name, str) and name in BACKENDS):
        raise SolverError(f"no backend {name!r}; there are: {', '.join(BACKENDS)}, and None for the quickest there is")


def choose(wanted: str | None) -> str:
    """The backend to run: the one wanted, or for None the quickest there is.

    Raises:
        SolverError: there is no such backend here.
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
    """The kernels of a backend."""
    choose(name)
    return _NUMPY if name == "numpy" else Kernels(name)


def why_not(name: str) -> str | None:
    """Why a backend cannot run here, None if it can. Asking for "numba" imports it, which takes a second or two."""
    if name not in _reasons:
        try:
            _import_numba()
            _reasons[name] = None
        except Exception as error:                               # what a broken installation raises is anyone's guess
            rule_out(name, error)
    return _reasons[name]


def rule_out(name: str, error: Exception) -> None:
    """Let a backend count as one that cannot run here, because of `error`."""
    _reasons[name] = f"{type(error).__name__}: {error}".splitlines()[0]


def is_known(name: str) -> bool:
    """Whether `why_not` has its answer already, and imports nothing."""
    return name in _reasons


# ---------------------------------------------------------------------- compiled kernels on disk


def keep_compiled_in(folder: Path) -> None:
    """Keep compiled kernels in `folder`; to be called before Numba is first asked for.

    Raises:
        SolverError: they are already kept elsewhere.
    """
    global _cache_parent
    if is_known("numba") and folder != _parent():
        raise SolverError(f"compiled kernels are kept in {_parent()} already, too late for {folder}")
    _cache_parent = folder


def cache_folder() -> Path:
    """Where the compiled kernels of these very sources are kept: Numba looks at a kernel's own file only."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    compiled = ("stencils/**/*.py", "kernels/numba/*.py", "kernels/formulas/*.py")
    for path in sorted(path for pattern in compiled for path in root.glob(pattern)):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return _parent() / f"numba-{digest.hexdigest()[:16]}"


def are_kept() -> bool:
    """Whether kernels of these sources were compiled and kept before. Imports nothing."""
    return next(cache_folder().rglob("*.nbi"), None) is not None


def _parent() -> Path:
    """The folder given, or the user's own for such things: others may not put code there.

    There one by the name that these modules were imported under, which compiled kernels remember.
    """
    if _cache_parent is not None:
        return _cache_parent
    given = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path.home() / ".cache") / "muslin-kernels" / __package__


def _import_numba() -> None:
    import numba

    numba.config.CACHE_DIR = str(_made(cache_folder()))


def _made(folder: Path) -> Path:
    """The folder, which may have to be made; where it cannot be, one for this run alone."""
    try:
        if not folder.exists():
            for old in folder.parent.glob("numba-*"):            # of sources that are no more, or of another Blender's
                if time.time() - old.stat().st_mtime > UNUSED:
                    shutil.rmtree(old, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="muslin-kernels-"))
