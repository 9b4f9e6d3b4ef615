# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object for jelly, particles and projective sheets."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

MAX_POISSON_RATIO = 0.49
"""Largest Poisson's ratio of a jelly [-]. The property is in single precision, where it reads slightly larger."""


class BodyProperties:
    """Settings of an object that only some models use; a base class of `MuslinObject`."""

    __slots__ = ()

    jelly_structure: EnumProperty(
        name="Structure", description="What the inside of the jelly is made of",
        items=[("TETRAHEDRA", "Tetrahedra", "An elastic solid of any Poisson's ratio", 0),
               ("LATTICE", "Spring Lattice", "Springs along the edges and diagonals of cubes: fast, but may stay "
                "folded after it was crushed", 1)],
        default="TETRAHEDRA", options=set(),
    )
    young_modulus: FloatProperty(
        name="Young's Modulus",
        description="Stiffness of the material, in kPa: about 10 for pudding, 100 for soft rubber, 1000 for rubber. "
        "More makes it keep its shape",
        default=20.0, min=0.001, max=1e7, soft_max=1e4, step=100, precision=2, options=set(),
    )
    poisson_ratio: FloatProperty(
        name="Poisson's Ratio", description="How much the material narrows when it is stretched: 0 for cork, near 0.5 "
        "for rubber, which keeps its volume",
        default=0.3, min=0.0, max=MAX_POISSON_RATIO, step=1, precision=3, options=set(),
    )
    use_moduli: BoolProperty(
        name="By Moduli", description="Use Young's modulus, Poisson's ratio and the sheet thickness for the stiffness "
        "of the sheet, instead of the fabric's stretch", default=False, options=set(),
    )
    sheet_thickness: FloatProperty(
        name="Sheet Thickness", description="Thickness of the material, in mm. It does not change the distance kept "
        "from other surfaces",
        default=0.5, min=1e-4, max=1e3, soft_max=10.0, step=1, precision=3, options=set(),
    )
    density: FloatProperty(
        name="Density", description="Mass per volume, in kg/m³: 1000 is water. More makes it sag and press harder",
        default=1000.0, min=0.001, max=1e5, soft_max=1e4, step=1000, precision=1, options=set(),
    )
    jelly_cells: IntProperty(
        name="Cells", description="Number of cells along the longest side. 0 means: from the length of the mesh's "
        "edges",
        default=0, min=0, max=64, soft_max=24, options=set(),
    )
    particle_mass: FloatProperty(
        name="Mass", description="Mass of each particle, in kg. 0 means: the mass of a square of the fabric, one "
        "thread wide",
        default=0.0, min=0.0, max=1e6, step=0.1, precision=6, options=set(),
    )
    neighbour_radius: FloatProperty(
        name="Spring Radius", description="Particles that start closer to each other than this are joined by springs",
        default=0.0, min=0.0, soft_max=1.0, step=1, precision=4, subtype="DISTANCE", unit="LENGTH", options=set(),
    )
    neighbour_count: IntProperty(
        name="Spring Neighbours", description="Number of nearest particles that each particle is joined to by springs",
        default=0, min=0, max=64, options=set(),
    )
    neighbour_stiffness: FloatProperty(
        name="Spring Stiffness", description="Stiffness of each spring, in N/m. More makes the body keep its shape",
        default=10.0, min=1e-6, max=1e9, soft_max=1e4, step=100, precision=2, options=set(),
    )
    neighbour_damping: FloatProperty(
        name="Spring Damping", description="Damping along each spring, in N s/m. More makes wobble die away sooner",
        default=0.0, min=0.0, max=1e6, soft_max=10.0, step=1, precision=4, options=set(),
    )
