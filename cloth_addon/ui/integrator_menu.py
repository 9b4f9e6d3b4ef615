# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of integrators: every one that the core has, with what a user should know of it."""

from __future__ import annotations

from collections.abc import Callable

from ... import core
from . import fabric_menu

DEFAULT = "bdf2"
SAVED = {"bdf2": 0, "implicit_euler": 1}
"""Numbers under which files remember the first two; all others go by their names."""
TITLES = {"bdf2": "BDF2"}
ABOUT = {
    "bdf2": "Of second order: keeps the swing of the cloth",
    "implicit_euler": "Of first order, as published by Baraff and Witkin: damps motion",
    "projective_dynamics": "Implicit Euler by a matrix that never changes. Newton Iterations are its outer iterations: "
                           "with few of them stiff cloth sinks as in honey",
    "explicit_euler": "For study: needs very short steps and much damping, or the cloth vibrates without bound",
    "symplectic_euler": "For study: keeps energy, but needs very short steps on stiff cloth or fine meshes",
    "verlet": "For study: of second order and keeps energy, but needs very short steps on stiff cloth or fine meshes",
}


def items(number: Callable[[str], int]) -> list[tuple[str, str, str, int]]:
    """What an enum lists, the default first; `number` gives that of a name that has none yet."""
    names = sorted(core.integrators(), key=lambda name: name != DEFAULT)
    return [(name.upper(), TITLES.get(name, fabric_menu.title(name)), ABOUT.get(name, ""),
             SAVED.get(name, number(name))) for name in names]
