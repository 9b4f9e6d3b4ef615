# SPDX-License-Identifier: GPL-3.0-or-later
"""Titles of the settings that differ between two bakes, or between a bake and now, as the panels write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .enum_items import title
from .field_weights_settings import FIELD_WEIGHTS

TITLES = {"areal_density": "Weight", "bend": "Bending", "max_elongation": "Limit Stretch", "buttons": "Buttons",
          "pattern": "Rest Shape", "sewing_time": "Closing Time", "self_collision": "Self Collision of the Scene",
          "solid_contact": "On Solids", "verlet_kd": "Kept Motion", "isotropic_damping": "Edge Motion",
          "spring_damping": "Edge Length", "steps_per_frame": "Steps per Frame",
          "pattern_size": "UV Square", "projective_solve": "Solve", "thickness": "Distance",
          "members": "Collision Collection", "self_friction": "Self Friction", "self_distance": "Self Distance",
          "drag_coefficient": "Drag", "effectors": "Fields of the Effector Collection",
          **{f"weight_{name}": f"{title(name)} in Field Weights" for name in FIELD_WEIGHTS}}
"""Titles in the panel of settings whose name is another."""
SHOWN_ELSEWHERE = {"first", "last", "frame_rate", "time_ratio", "metres_per_unit", "gravity", "wind", "backend"}
"""Settings of the scene that are parts of their own, or change nothing."""


def changed_settings(before: Any, now: Mapping[str, Any]) -> list[str]:
    """Return the titles of the settings that differ between two tables of JSON values. Unknown ones are left out."""
    if not isinstance(before, dict):
        return []
    found = []
    for name, value in now.items():
        earlier = before.get(name)
        if isinstance(value, dict) and isinstance(earlier, dict):
            found += changed_settings(earlier, value)
        elif earlier != value and name not in SHOWN_ELSEWHERE:
            found.append(TITLES.get(name, title(name)))
    return found
