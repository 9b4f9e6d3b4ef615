# SPDX-License-Identifier: GPL-3.0-or-later
"""Why the Coarse Frames of a pre-roll change nothing for some cloth. Fast enough for drawing a panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ... import core
from ..properties.settings import ClothSettings, settings_of

LEAST_VERTICES = 4 * core.Solver().coarse_vertices
"""Number of vertices of the smallest cloth that can move on a coarser mesh [-]."""
MOST_NAMED = 3
"""Largest number of cloths that are named [-]."""


def text(scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object]) -> str:
    """Return which of the cloths keep their own mesh in Coarse Frames, and why; empty if none does or there are none.
    """
    settings = {}
    for obj in cloths:
        try:
            settings[obj] = settings_of(obj, scene)
        except core.ClothError:                                     # a stored setting that is no choice here
            return ""
    for obj, own in settings.items():
        why = _why_nothing_is_coarse(own)
        if why:
            return f"Coarse Frames change nothing while '{obj.name}' has {why}"
    reasons = {obj.name: why for obj, own in settings.items() if (why := why_not_coarse(obj, own))}
    if not reasons:
        return ""
    named = "; ".join(f"'{name}' {why}" for name, why in list(reasons.items())[:MOST_NAMED])
    more = "; and more" if len(reasons) > MOST_NAMED else ""
    whole = len(reasons) == len(settings)
    return f"{'Coarse Frames change nothing' if whole else 'On its own mesh in Coarse Frames'}: {named}{more}"


def _why_nothing_is_coarse(settings: ClothSettings) -> str:
    """Return what a cloth has that keeps all cloth of the bake on its mesh; empty for nothing."""
    plasticity = settings.plasticity
    return ("Tearing" if settings.tearing.used
            else "Plasticity" if plasticity.stretch_yield is not None or plasticity.bend_yield is not None
            else "the model Jelly" if settings.model == "jelly" else "")


def why_not_coarse(obj: bpy.types.Object, settings: ClothSettings) -> str:
    """Return why a cloth keeps its own mesh, as `Carrier.of` in the core decides; empty if it does not."""
    mesh: Any = obj.data
    if len(mesh.vertices) < LEAST_VERTICES:
        return f"has {len(mesh.vertices):,} vertices, and only cloth of {LEAST_VERTICES:,} or more gets coarser"
    if settings.model != "baraff_witkin":
        return "is of another model than Baraff-Witkin"
    garment = settings.garment
    for has, what in ((garment.sewing, "Sewing"), (bool(garment.buttons), "buttons"),
                      (garment.pattern, "a UV pattern"), (settings.grain == "UV", "its grain along the UV map"),
                      (settings.pressure.used, "Pressure"), (settings.internal_springs.used, "Internal Springs"),
                      (settings.rest.dynamic, "a Dynamic Mesh"), ("birth" in mesh.attributes, "times of birth")):
        if has:
            return f"has {what}"
    loose = np.zeros(len(mesh.edges), dtype=np.bool_)
    mesh.edges.foreach_get("is_loose", loose)
    return "has edges without faces" if loose.any() else ""
