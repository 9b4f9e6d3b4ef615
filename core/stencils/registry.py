# SPDX-License-Identifier: GPL-3.0-or-later
"""The models a cloth can be made with, by name.

A model turns a mesh and a fabric into element forces. To add one, write a file with a builder and put it into
MODELS: it then runs through `Cloth(model=...)` and stands in the panel's menu.
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
"""(mesh, material, **options) -> element forces with vertex indices of that mesh; or these with further nodes."""

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
    """Names that `Cloth(model=...)` takes."""
    return tuple(MODELS)


def find(name: str, *, object_name: str | None = None) -> Builder:
    """The builder of a model; ClothError with the names there are if there is none."""
    if not isinstance(name, str) or name not in MODELS:
        raise ClothError(f"no model '{name}'; there are: {', '.join(MODELS)}{perhaps(name, MODELS)}",
                         object_name=object_name)
    return MODELS[name]
