# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the core's models from an object's settings, and the settings of the fabric that a model uses."""

from __future__ import annotations

from typing import Any

import bpy

from .body_properties import MAX_POISSON_RATIO
from .enum_items import chosen

OF_AIR = ("air_law", "drag_coefficient", "skin_friction", "slow_drag_speed", "air_drag")
"""Names of the settings of the air on faces."""
ALL_OF_FABRIC = frozenset((
    "areal_density", "stretch_warp", "stretch_weft", "shear", "bend_warp_micro", "bend_weft_micro",
    "damping", "max_elongation", "grain", "spring_damping", "isotropic_damping", "viscous_drag", *OF_AIR))
"""Names of all settings of the fabric."""


def model_options(values: Any, model: str, metres_per_unit: float) -> dict[str, Any]:
    """Return the keyword arguments of `core.Cloth` for `model` from an object's settings; empty for sheets."""
    poisson_ratio = min(float(values.poisson_ratio), MAX_POISSON_RATIO)
    if model == "jelly":
        structure = chosen(values, "jelly_structure")
        is_lattice = structure == "LATTICE"
        return {"structure": structure.lower(), "young_modulus": 1e3 * float(values.young_modulus),
                "poisson_ratio": None if is_lattice else poisson_ratio, "density": float(values.density),
                "cells": int(values.jelly_cells) or None}
    if model == "projective" and values.use_moduli:
        return {"young_modulus": 1e3 * float(values.young_modulus), "poisson_ratio": poisson_ratio,
                "sheet_thickness": 1e-3 * float(values.sheet_thickness)}
    if model == "particles":
        return {"mass": float(values.particle_mass) or None,
                "radius": float(values.neighbour_radius) * metres_per_unit or None,
                "nearest": int(values.neighbour_count), "spring_stiffness": float(values.neighbour_stiffness),
                "spring_damping": float(values.neighbour_damping)}
    return {}


def model_of(obj: bpy.types.Object) -> str:
    """Return the model that an object is simulated with. A mesh without edges is particles, whatever was chosen."""
    chosen: str = obj.muslin.model
    return chosen if obj.type != "MESH" or len(obj.data.edges) else "particles"


def fabric_settings_used(obj: bpy.types.Object) -> frozenset[str]:
    """Return the names of the fabric's settings that have an effect on the object.

    Sheets use all. Particles use those of their mass, and those of their edges and faces where the mesh has any.
    """
    if model_of(obj) != "particles":
        return ALL_OF_FABRIC
    used = {"viscous_drag"}
    if obj.muslin.particle_mass == 0.0:
        used.add("areal_density")
    if len(obj.data.edges):
        used |= {"max_elongation", "spring_damping", "isotropic_damping"}
    if len(obj.data.polygons):
        used |= set(OF_AIR)
    return frozenset(used)
