# SPDX-License-Identifier: GPL-3.0-or-later
"""What jelly, projective sheets and particles are made of: settings, and these as options of the core's models."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

ALL_OF_FABRIC = frozenset((
    "areal_density", "stretch_warp", "stretch_weft", "shear", "bend_warp_micro", "bend_weft_micro", "air_drag",
    "damping", "max_elongation", "grain", "spring_damping", "isotropic_damping", "viscous_drag"))

MOST_POISSON = 0.49
"""The largest Poisson's ratio that a jelly may have [-]. In a file's single precision it is a little more."""


class BodyProperties:
    """Settings of an object that only some models have; a part of `MuslinObject`."""

    __slots__ = ()

    jelly_structure: EnumProperty(
        name="Structure", description="What the inside of the jelly is made of",
        items=[("TETRAHEDRA", "Tetrahedra", "An elastic solid of any Poisson's ratio", 0),
               ("LATTICE", "Spring Lattice", "Springs along the edges and diagonals of cubes: quick, and gives way "
                "when it is crushed", 1)],
        default="TETRAHEDRA", options=set(),
    )
    young_modulus: FloatProperty(
        name="Young's Modulus",
        description="Stiffness of the inside, in kPa: about 10 for pudding, 100 for soft rubber, 1000 for rubber",
        default=20.0, min=0.001, max=1e7, soft_max=1e4, step=100, precision=2, options=set(),
    )
    poisson_ratio: FloatProperty(
        name="Poisson's Ratio", description="How much it narrows when it is pulled: 0 like cork, near 0.5 like rubber, "
        "which keeps its volume",
        default=0.3, min=0.0, max=MOST_POISSON, step=1, precision=3, options=set(),
    )
    use_moduli: BoolProperty(
        name="By Moduli", description="Take the stiffness of the sheet from Young's modulus, Poisson's ratio and the "
        "sheet's thickness, not from the fabric's stretch", default=False, options=set(),
    )
    sheet_thickness: FloatProperty(
        name="Sheet Thickness", description="Of the material, in mm; the distance kept from others is another one",
        default=0.5, min=1e-4, max=1e3, soft_max=10.0, step=1, precision=3, options=set(),
    )
    density: FloatProperty(
        name="Density", description="Mass per volume, in kg/m³: 1000 is water",
        default=1000.0, min=0.001, max=1e5, soft_max=1e4, step=1000, precision=1, options=set(),
    )
    jelly_cells: IntProperty(
        name="Cells", description="Cells of the inside along the longest side. 0 means: set from the mesh's edges",
        default=0, min=0, max=64, soft_max=24, options=set(),
    )
    particle_mass: FloatProperty(
        name="Mass", description="Of each particle, in kg. 0 means: a square of the fabric as wide as a thread",
        default=0.0, min=0.0, max=1e6, step=0.1, precision=6, options=set(),
    )
    neighbour_radius: FloatProperty(
        name="Spring Radius", description="Particles that start nearer to each other than this are joined by springs",
        default=0.0, min=0.0, soft_max=1.0, step=1, precision=4, subtype="DISTANCE", unit="LENGTH", options=set(),
    )
    neighbour_count: IntProperty(
        name="Spring Neighbours", description="Each particle is joined by springs to so many, the nearest",
        default=0, min=0, max=64, options=set(),
    )
    neighbour_stiffness: FloatProperty(
        name="Spring Stiffness", description="Of each spring, in N/m",
        default=10.0, min=1e-6, max=1e9, soft_max=1e4, step=100, precision=2, options=set(),
    )
    neighbour_damping: FloatProperty(
        name="Spring Damping", description="Along each spring, in N s/m",
        default=0.0, min=0.0, max=1e6, soft_max=10.0, step=1, precision=4, options=set(),
    )


def model_options(values: Any, model: str, metres_per_unit: float) -> dict[str, Any]:
    """Keyword arguments of `core.Cloth` for a model, out of an object's settings; none for models of sheets."""
    poisson = min(float(values.poisson_ratio), MOST_POISSON)
    if model == "jelly":
        springs = values.jelly_structure == "LATTICE"
        return {"structure": values.jelly_structure.lower(), "young_modulus": 1e3 * float(values.young_modulus),
                "poisson_ratio": None if springs else poisson, "density": float(values.density),
                "cells": int(values.jelly_cells) or None}
    if model == "projective" and values.use_moduli:
        return {"young_modulus": 1e3 * float(values.young_modulus), "poisson_ratio": poisson,
                "sheet_thickness": 1e-3 * float(values.sheet_thickness)}
    if model == "particles":
        return {"mass": float(values.particle_mass) or None,
                "radius": float(values.neighbour_radius) * metres_per_unit or None,
                "nearest": int(values.neighbour_count), "spring_stiffness": float(values.neighbour_stiffness),
                "spring_damping": float(values.neighbour_damping)}
    return {}


def model_of(obj: bpy.types.Object) -> str:
    """The model that an object is simulated with: vertices without edges are particles, whatever was chosen."""
    chosen: str = obj.muslin.model
    return chosen if obj.type != "MESH" or len(obj.data.edges) else "particles"


def fabric_of(obj: bpy.types.Object) -> frozenset[str]:
    """Names of the settings of the fabric that the object's model makes use of: of particles, those of their mass, of
    their edges and of their faces, so far as they have any."""
    if model_of(obj) != "particles":
        return ALL_OF_FABRIC
    used = {"viscous_drag"}
    if obj.muslin.particle_mass == 0.0:
        used.add("areal_density")
    if len(obj.data.edges):
        used |= {"max_elongation", "spring_damping", "isotropic_damping"}
    if len(obj.data.polygons):
        used.add("air_drag")
    return frozenset(used)
