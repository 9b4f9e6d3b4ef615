# SPDX-License-Identifier: GPL-3.0-or-later
"""Items of the enums whose choices come from the core: models, integrators and backends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import core
from .enum_numbers import number_of

Item = tuple[str, str, str, int]
"""Identifier, name, description and stored number, as `bpy.props.EnumProperty` takes them."""

DEFAULT_INTEGRATOR = "bdf2"
STORED_NUMBERS = {"bdf2": 0, "implicit_euler": 1}
"""Numbers of the first two integrators in existing files; every other has the number of its name."""
INTEGRATOR_TITLES = {"bdf2": "BDF2"}
INTEGRATOR_DESCRIPTIONS = {
    "bdf2": "Second order: preserves the swinging of the cloth",
    "implicit_euler": "First order, as published by Baraff and Witkin: damps motion",
    "projective_dynamics": "Implicit Euler with a constant matrix. With few Outer Iterations stiff cloth sinks slowly, "
                           "as in honey",
    "explicit_euler": "For study: needs very short steps and much damping, or vibrations grow without bound",
    "symplectic_euler": "For study: preserves energy, but needs very short steps on stiff cloth or fine meshes",
    "verlet": "For study: second order, preserves energy, but needs very short steps on stiff cloth or fine meshes",
}

MODEL_DESCRIPTIONS = {
    "baraff_witkin": "Woven and knitted fabric: the default for sheets and garments",
    "projective": "Fabric for projective dynamics: fast for soft cloth, less exact",
    "jelly": "Soft solid: fills a closed mesh with elastic material",
    "particles": "Free points: sand, sparks or drops, also joined by springs",
    "mass_spring": "Fabric of springs along edges and diagonals, as in many games: for comparisons",
    "immediate_buckling": "Fabric that buckles at once when it is pressed: many small folds",
    "thread_cloth": "Woven threads: needs a regular grid of faces",
    "rope": "Ropes, chains and nets: a mesh of edges without faces, which bends",
}

BACKEND_ITEMS = [
    ("AUTOMATIC", "Automatic", "The fastest that runs here", 0),
    ("NUMPY", "NumPy", "Runs everywhere", 1),
    ("NUMBA", "Numba", "Compiled, several times faster; needs an extension that was built with Numba", 2),
]
BACKEND_TITLES = {"numpy": "NumPy", "numba": "Numba"}


def chosen(values: Any, prop: str) -> str:
    """Return the item of an enum property of an object's or scene's settings.

    Raises:
        core.SceneError: the file stores a number that is none of the items, as of another version.
    """
    item: str = getattr(values, prop)
    if not item:
        raise core.SceneError(f"its setting {values.bl_rna.properties[prop].name} has a stored value that this version "
                              "of Muslin does not know; choose one in Properties > Physics > Muslin",
                              object_name=values.id_data.name)
    return item


def title(name: str) -> str:
    """Return the label of a model, fabric or emitter: `thread_cloth` becomes `Thread Cloth`."""
    return name.replace("_", " ").title()


def integrator_title(name: str) -> str:
    """Return the label of an integrator."""
    return INTEGRATOR_TITLES.get(name, title(name))


def model_items() -> list[Item]:
    """Return one item for each model of the core."""
    return [(name, title(name), MODEL_DESCRIPTIONS.get(name, ""), number_of(name)) for name in core.models()]


def integrator_items() -> list[Item]:
    """Return one item for each integrator of the core, the default first."""
    names = sorted(core.integrators(), key=lambda name: name != DEFAULT_INTEGRATOR)
    return [(name.upper(), integrator_title(name), INTEGRATOR_DESCRIPTIONS.get(name, ""),
             STORED_NUMBERS.get(name, number_of(name))) for name in names]


def flag_items(names: Sequence[str], what: str) -> list[Item]:
    """Return items of a set of models or integrators for Compare: one bit each, so that a file stores any subset."""
    return [(name, integrator_title(name), f"Compare this {what}", 1 << i) for i, name in enumerate(names)]


def backend_name(item: str) -> str | None:
    """Return the core's name of a backend item, None for Automatic."""
    return None if item == "AUTOMATIC" else item.lower()
