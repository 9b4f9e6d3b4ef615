# SPDX-License-Identifier: GPL-3.0-or-later
"""The models of cloth, by name.

A model makes element forces from a mesh and a fabric. To add one, write a file with a `build` function, add it to
MODELS, and its name and options to `MODEL_OPTIONS` in `core/description/models.py`. `Cloth(model=...)` then accepts
its name, and the panel's menu shows it.
"""

from __future__ import annotations

from collections.abc import Callable

from ..did_you_mean import perhaps
from ..errors import ClothError
from .models import (
    baraff_witkin,
    immediate_buckling,
    jelly,
    mass_spring,
    particles,
    projective_sheet,
    rope,
    thread_cloth,
)
from .models.built_model import BuiltModel
from .stencil import ElementForce

Builder = Callable[..., list[ElementForce] | BuiltModel]
"""(mesh, material, **options) -> element forces on the vertices of that mesh, or a `BuiltModel` with further nodes."""

MODELS: dict[str, Builder] = {
    "baraff_witkin": baraff_witkin.build,
    "projective": projective_sheet.build,
    "jelly": jelly.build,
    "particles": particles.build,
    "mass_spring": mass_spring.build,
    "immediate_buckling": immediate_buckling.build,
    "thread_cloth": thread_cloth.build,
    "rope": rope.build,
}


def models() -> tuple[str, ...]:
    """Return the names that `Cloth(model=...)` takes."""
    return tuple(MODELS)


def find(name: str, *, object_name: str | None = None) -> Builder:
    """Return the builder of a model; raise a ClothError that lists the models if there is none of that name."""
    if not isinstance(name, str) or name not in MODELS:
        raise ClothError(f"no model '{name}'; there are: {', '.join(MODELS)}{perhaps(name, MODELS)}",
                         object_name=object_name)
    return MODELS[name]
