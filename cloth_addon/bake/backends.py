# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs the inner loops, NumPy or Numba, as Blender's user meets it: the choice, the first bake, the why not.

Numba takes seconds to import, so it is asked for by a bake, in its thread. Drawing a panel only looks at what is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ...core.kernels import backend as kernels

ITEMS = [
    ("AUTOMATIC", "Automatic", "The quickest that runs here", 0),
    ("NUMPY", "NumPy", "Runs everywhere", 1),
    ("NUMBA", "Numba", "Compiled, several times quicker; needs an extension that was built with Numba", 2),
]
TITLES = {"numpy": "NumPy", "numba": "Numba"}
COMPILING = "Compiling kernels, once on this machine"
LOADING = "Loading kernels, compiling those that are new"


def backend_of(choice: str) -> str | None:
    """The core's name of an item: None where it is to choose."""
    return None if choice == "AUTOMATIC" else choice.lower()


def keep_compiled() -> None:
    """Compiled kernels go into the extension's own folder, which Blender removes with it."""
    if kernels.is_known("numba"):
        return                                          # this session keeps them somewhere already
    try:
        folder = bpy.utils.extension_path_user(__package__.partition(".cloth_addon")[0], path="kernels", create=True)
    except (ValueError, OSError):                       # no extension, or a folder that cannot be written
        return
    kernels.keep_compiled_in(Path(folder))


def prepare(solver: core.Solver, models: Sequence[str]) -> Iterator[str]:
    """Imports and compiles what a bake needs, which may be done in any thread; yields what is being done.

    Up to the first yield this is quick. Nothing is yielded where there is nothing to do.
    """
    if solver.backend == "numpy" or not (is_installed() or kernels.is_known("numba")):
        return
    if kernels.is_known("numba") and (kernels.why_not("numba") or core.is_warm(solver, models)):
        return
    text = LOADING if kernels.are_kept() else COMPILING
    for _ in core.warm_up(solver, models):
        yield text


def at_hand(choice: str, models: Sequence[str], newton_iterations: Any) -> str:
    """What runs at once, without importing or compiling anything: "numba" once a bake has made it ready."""
    solver = core.Solver(backend="numba", newton_iterations=newton_iterations)
    ready = (choice != "NUMPY" and kernels.is_known("numba") and not kernels.why_not("numba")
             and core.is_warm(solver, models))
    return "numba" if ready else "numpy"


@cache
def is_installed() -> bool:
    """Whether there is a Numba to import. It may still turn out not to run."""
    return find_spec("numba") is not None


def broken() -> str:
    """Why the Numba that is installed does not run; empty where it does, is not there, or was not asked for yet."""
    return (kernels.why_not("numba") or "") if kernels.is_known("numba") and is_installed() else ""


def remark(choice: str) -> str:
    """What the panel says of a choice."""
    if choice == "NUMPY":
        return ""
    instead = "NumPy runs instead" if choice == "AUTOMATIC" else "choose another"
    if broken():
        return f"Numba does not run here: {broken()}. {instead[0].upper()}{instead[1:]}"
    if kernels.is_known("numba") and not kernels.why_not("numba"):
        return "Numba runs"
    if is_installed():
        return "Numba is here; whether it runs is known after the first bake"
    return f"This Blender has no Numba: {instead}"
