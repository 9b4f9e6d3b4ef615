# SPDX-License-Identifier: GPL-3.0-or-later
"""Preparation of the backend, NumPy or Numba, and messages on which one runs.

Importing Numba takes seconds. A bake does it in its thread; drawing a panel only reads what is known already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import bpy

from ... import core
from ...core.kernels import backend as kernels
from ..properties.settings import scene_settings_of

NAMES = kernels.BACKENDS
COMPILING = "Compiling kernels (once)"
NOT_KEPT = "Compiling kernels, in every session: {reason}"
LOADING = "Loading kernels"
NOT_TRIED = "Numba is installed; whether it runs is known after the first bake"


def keep_compiled() -> None:
    """Store compiled kernels in the extension's own folder, which Blender removes with the extension.

    If other users may write to it, they are stored in the user's own cache.
    """
    if kernels.is_known("numba"):
        return                                          # the folder of this process is already chosen
    try:
        folder = bpy.utils.extension_path_user(__package__.partition(".cloth_addon")[0], path="kernels", create=True)
    except (ValueError, OSError):                       # not installed as an extension, or a folder without access
        return
    kernels.keep_compiled_in(Path(folder))


def keeps() -> bool:
    """Return whether compiled kernels are kept for later processes."""
    return not kernels.why_not_kept()


def check(name: str) -> None:
    """Import the backend `name`.

    Raises:
        core.SolverError: it does not run here.
    """
    keep_compiled()                                     # before Numba is imported
    kernels.choose(name)


def chosen(name: str | None) -> str:
    """Import and return the backend that runs for this choice, None for the fastest.

    Raises:
        core.SolverError: it does not run here.
    """
    keep_compiled()
    return kernels.choose(name)


def end_threads() -> None:
    """End the threads of compiled kernels, which run this extension's code."""
    kernels.end_threads()


def prepare(solver: core.Solver, models: Sequence[str]) -> Iterator[str]:
    """Import and compile the kernels of a bake, in any thread; yield a text for the user before each part.

    The work before the first yield is short. Nothing is yielded if there is nothing to do.
    """
    if solver.backend == "numpy" or not (is_installed() or kernels.is_known("numba")):
        return
    if kernels.is_known("numba") and (kernels.why_not("numba") or core.is_warm(solver, models)):
        return
    text = preparing_text(solver, models)
    for _ in core.warm_up(solver, models):
        yield text


def preparing_text(solver: core.Solver, models: Sequence[str]) -> str:
    """Return the text for the user on kernels that are about to be loaded or compiled."""
    reason = kernels.why_not_kept()
    return NOT_KEPT.format(reason=reason) if reason else LOADING if core.is_kept(solver, models) else COMPILING


def ready_backend(scene: bpy.types.Scene, models: Sequence[str]) -> str:
    """Return the backend that runs at once, without importing or compiling: "numba" after a bake has prepared it."""
    try:
        linearisations = scene_settings_of(scene).solver().linearisations
    except core.ClothError:                             # a bake says what is wrong
        return "numpy"
    solver = core.Solver(backend="numba", newton_iterations=linearisations)
    is_ready = (scene.muslin.backend != "NUMPY" and kernels.is_known("numba") and not kernels.why_not("numba")
                and core.is_warm(solver, models))
    return "numba" if is_ready else "numpy"


@cache
def is_installed() -> bool:
    """Return whether a package Numba is there. It may still fail to import."""
    return find_spec("numba") is not None


def why_broken() -> str:
    """Return why the installed Numba does not run; empty if it runs, is not installed, or was not imported yet."""
    return (kernels.why_not("numba") or "") if kernels.is_known("numba") and is_installed() else ""


def remark(choice: str) -> str:
    """Return the panel's remark on an item of `scene.muslin.backend`; empty if there is none."""
    if choice == "NUMPY":
        return ""
    instead = "NumPy runs instead" if choice == "AUTOMATIC" else "choose another"
    if why_broken():
        return f"Numba does not run here: {why_broken()}. {instead[0].upper()}{instead[1:]}"
    if kernels.is_known("numba") and not kernels.why_not("numba"):
        return "Numba runs"
    if is_installed():
        return NOT_TRIED
    return f"This Blender has no Numba: {instead}"
