# SPDX-License-Identifier: GPL-3.0-or-later
"""Titles of the settings that differ between two bakes, or between a bake and now, as the panels write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .enum_items import title
from .field_weights_settings import FIELD_WEIGHTS

TITLES = {"areal_density": "Weight", "bend": "Bending", "max_elongation": "Limit Stretch", "uv_map": "UV Map",
          "drag_coefficient": "Drag", "slow_drag_speed": "Linear Below",
          "verlet_kd": "Kept Motion", "solid_contact": "On Solids", "projective_solve": "Solve",
          "steps_per_frame": "Steps per Frame", "thickness": "Distance",
          "self_collision": "Self Collision of the Scene",
          "preroll": "Pre-Roll", "preroll_from_rest": "From Rest Pose", "isotropic_damping": "Edge Motion",
          "spring_damping": "Edge Length", "keyed": "Keyframes and Drivers",
          "contact.members": "Collision Collection",
          "garment.buttons": "Buttons", "garment.pattern": "Rest Shape", "garment.pattern_size": "UV Square",
          "garment.sewing_force": "Max Sewing Force", "garment.sewing_time": "Closing Time",
          "closing_gravity": "Gravity While Closing",
          "garment.shrink": "Shrinking Factor or Max Shrink", "garment.wrinkle_curvature": "Curvature of Wrinkle Group",
          "garment.wrinkle_angle": "Curved Along", "stiffness.stretch": "Stretch Group or its Factor",
          "stiffness.shear": "Shear Group or its Factor", "stiffness.bend": "Bending Group or its Factor",
          "rest.shape_key": "Rest Shape Key", "rest.dynamic": "Dynamic Mesh",
          **{f"compression.{name}_damping": f"{label} of Separate Damping" for name, label in (
              ("compression", "Compression"), ("shear", "Shear"), ("bend", "Bending"))},
          "internal_springs.used": "Internal Springs",
          **{f"internal_springs.{name}": f"{label} of Internal Springs" for name, label in (
              ("max_length", "Max Length"), ("max_diversion", "Max Diversion"), ("tension", "Tension"),
              ("check_normals", "Check Surface Normals"), ("compression", "Compression"), ("group", "Vertex Group"),
              ("factor", "Factor"))},
          "plasticity.stretch_yield": "Stretch Yield of Plasticity", "plasticity.hardening": "Hardening of Plasticity",
          "plasticity.bend_yield": "Bending Yield of Plasticity", "plasticity.time": "Flow Time of Plasticity",
          "tearing.used": "Tearing", "tearing.strength": "Strength of Tearing",
          "tearing.group": "Vertex Group of Tearing",
          "pressure.used": "Pressure", "pressure.uniform": "Pressure", "pressure.scale": "Pressure Scale",
          "pressure.group": "Vertex Group of Pressure",
          "pins.target": "Pin Target", "pins.stiffness": "Stiffness of Pins",
          "model_options.spring_damping": "Spring Damping",
          "model_options.young_modulus": "Young's Modulus", "model_options.poisson_ratio": "Poisson's Ratio",
          "model_options.radius": "Spring Radius", "model_options.nearest": "Spring Neighbours",
          "field_weights.effectors": "Fields of the Effector Collection",
          **{f"weights.weight_{name}": f"{title(name)} in Field Weights" for name in FIELD_WEIGHTS}}
"""Titles of settings by name, or by the name of their group and their own, where it is not their name in words."""
SHOWN_ELSEWHERE = {"first", "last", "frame_rate", "time_ratio", "metres_per_unit", "gravity", "wind", "backend"}
"""Settings of the scene that are parts of their own, or change nothing."""
REPEATED = {"internal_springs.damping", "pressure.unit_volume"}
"""Settings of a group that repeat others."""


def changed_settings(before: Any, now: Mapping[str, Any], group: str = "") -> list[str]:
    """Return the titles of the settings that differ between two tables of JSON values. Unknown ones are left out.

    `group` is the name of the group of settings that the tables are.
    """
    if not isinstance(before, dict):
        return []
    found = []
    for name, value in now.items():
        earlier = before.get(name)
        if isinstance(value, dict) and isinstance(earlier, dict):
            found += changed_settings(earlier, value, name)
        elif (value is False or value == []) and name not in before:
            continue                                                # the bake is of a version without this setting
        elif earlier != value and name not in SHOWN_ELSEWHERE and f"{group}.{name}" not in REPEATED:
            found.append(TITLES.get(f"{group}.{name}") or TITLES.get(name) or title(name))
    return list(dict.fromkeys(found))
