# SPDX-License-Identifier: GPL-3.0-or-later
"""The models of cloth by name, each with its options and their default values.

`stencils/registry.py` has the function that builds each of them. A test holds names, options and defaults equal to
those of the builders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..did_you_mean import perhaps
from ..errors import ClothError

MODEL_OPTIONS: dict[str, dict[str, Any]] = {
    "baraff_witkin": {"bending": "patch", "flat": False, "rest_stretch": (1.0, 1.0), "buckling": False},
    "projective": {"young_modulus": None, "poisson_ratio": None, "sheet_thickness": None, "bending": "patch",
                   "flat": False},
    "jelly": {"structure": "tetrahedra", "young_modulus": 2e4, "poisson_ratio": None, "density": 1000.0, "cells": None},
    "particles": {"mass": None, "radius": None, "nearest": 0, "spring_stiffness": 10.0, "spring_damping": 0.0},
    "mass_spring": {"flat": False},
    "immediate_buckling": {"flat": False, "hold": 1.0},
    "thread_cloth": {"area_stiffness": None},
    "rope": {"bending": True},
}


def model_options(model: str, given: Mapping[str, Any], other_arguments: Sequence[str], name: str) -> dict[str, Any]:
    """Return all options of a model: those that are `given`, and the default values of the others.

    Args:
        model: name of the model.
        given: options by name. Their values are checked when the model is built.
        other_arguments: names that `Cloth` takes besides, for hints in messages.
        name: of the cloth, for messages.

    Raises:
        ClothError: the model or an option is unknown.
    """
    if not isinstance(model, str) or model not in MODEL_OPTIONS:
        raise ClothError(f"no model '{model}'; there are: {', '.join(MODEL_OPTIONS)}{perhaps(model, MODEL_OPTIONS)}",
                         object_name=name)
    known = MODEL_OPTIONS[model]
    unknown = [option for option in given if option not in known]
    if unknown:
        near = (perhaps(option, [*other_arguments, *known]) for option in unknown)
        raise ClothError(f"model '{model}': got an unexpected keyword argument '{unknown[0]}'"
                         f"{next(filter(None, near), '')}; its options are: {', '.join(known) or 'none'}",
                         object_name=name)
    return {**known, **given}
