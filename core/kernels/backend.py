# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernels run: NumPy's, or the ones that Numba compiles. The only file that asks whether Numba is there.

Numba is optional and imported when it is first wanted, never before. What it compiles is kept on disk, so that a
machine compiles once; the folder's name holds a digest of the sources, so that no kernel outlives what it was made of.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
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
PACKAGES = {"numpy": "reference", "numba": "compiled"}

_cache_parent = Path(tempfile.gettempdir()) / "muslin-kernels"


class Kernels:
    """The kernels of one backend, a module per topic: `kernels.block_matrix`, `kernels.elements`, ..."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, topic: str) -> ModuleType:
        if topic.startswith("__"):                               # what copying and inspecting ask of any object
            raise AttributeError(topic)
        folder = PACKAGES[self.name]
        if find_spec(f".{folder}.{topic}", __package__) is None:
            folder = PACKAGES["numpy"]                           # nothing to gain by compiling these
        module = import_module(f".{folder}.{topic}", __package__)
        setattr(self, topic, module)                             # the next look-up is an ordinary attribute
        return module


_NUMPY = Kernels("numpy")
_current: ContextVar[Kernels] = ContextVar("kernels", default=_NUMPY)


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
    if name is not None and name not in BACKENDS:
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


@cache
def why_not(name: str) -> str | None:
    """Why a backend cannot run here, None if it can. Asking for "numba" imports it, which takes a second or two."""
    if name == "numpy":
        return None
    try:
        _import_numba()
    except Exception as error:                                   # what a broken installation raises is anyone's guess
        return f"{type(error).__name__}: {error}"
    return None


def keep_compiled_in(folder: Path) -> None:
    """Keep compiled kernels in `folder`; to be called before Numba is first asked for.

    Raises:
        SolverError: they are already kept elsewhere.
    """
    global _cache_parent
    if folder != _cache_parent and "numba" in sys.modules and why_not.cache_info().currsize:
        raise SolverError(f"compiled kernels are kept in {_cache_parent} already, too late for {folder}")
    _cache_parent = folder


def cache_folder() -> Path:
    """Where the compiled kernels of these very sources are kept: Numba looks at a kernel's own file only."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted([*root.glob("stencils/*.py"), *root.glob("kernels/compiled/*.py")]):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return _cache_parent / f"numba-{digest.hexdigest()[:16]}"


def _import_numba() -> None:
    import numba

    folder = cache_folder()
    if not folder.exists():
        for old in _cache_parent.glob("numba-*"):                # of sources that are no more
            shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    numba.config.CACHE_DIR = str(folder)
