# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes a garment of a cloth: seams, buttons, the pattern it was cut to, and maps over its surface."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty


class GarmentProperties:
    """Settings of an object's seams and pattern; a part of `MuslinObject`."""

    __slots__ = ()

    use_sewing: BoolProperty(
        name="Sewing", description="Pull loose edges between faces shut, as the seams of a garment", default=False,
        options=set(),
    )
    sewing_force: FloatProperty(
        name="Max Sewing Force",
        description="Largest pull of a seam, in newtons per metre of it. 0 means: as much as it takes",
        default=0.0, min=0.0, soft_max=1000.0, step=100, precision=1, options=set(),
    )
    sewing_time: FloatProperty(
        name="Closing Time", description="From the first frame until seams and buttons are closed and the fabric has "
        "shrunk",
        default=1.0, min=0.0, soft_max=10.0, step=10, precision=2, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
        options=set(),
    )
    button_group: StringProperty(
        name="Buttons",
        description="Vertex group: loose edges with both ends in it are buttons, which hold two points together",
        options=set(),
    )
    rest_shape: EnumProperty(
        name="Rest Shape", description="The shape that the fabric was cut to",
        items=[
            ("MODELLED", "As Modelled", "The mesh at the first frame"),
            ("UV", "UV Map", "The flat pattern that a UV map shows; the grain runs along its U"),
        ],
        default="MODELLED", options=set(),
    )
    pattern_size: FloatProperty(
        name="UV Square",
        description="What a length of 1 in the UV map is. 0 means: such that the pattern has the area of the mesh",
        default=0.0, min=0.0, soft_max=10.0, step=1, precision=3, subtype="DISTANCE", unit="LENGTH", options=set(),
    )


class MapProperties:
    """Settings that paint the fabric: each a vertex group or an attribute, and what it does; a part of
    `MuslinObject`."""

    __slots__ = ()

    shrink_group: StringProperty(
        name="Shrink Group", description="Vertex group or float attribute: where the fabric gathers, as with rubber",
        options=set(),
    )
    shrink_min: FloatProperty(
        name="Shrinking Factor",
        description="Part of its length by which the fabric is shorter at rest, everywhere; below 0 it is longer",
        default=0.0, min=-10.0, soft_min=-1.0, max=0.99, step=1, precision=3, options=set(),
    )
    shrink_max: FloatProperty(
        name="Max", description="The same where the weight is 1",
        default=0.3, min=-10.0, soft_min=-1.0, max=0.99, step=1, precision=3, options=set(),
    )
    wrinkle_group: StringProperty(
        name="Wrinkle Group",
        description="Vertex group or float attribute: where the fabric wants to be curved. Below 0, to the back",
        options=set(),
    )
    wrinkle_curvature: FloatProperty(
        name="Curvature", description="What it wants where the weight is 1, in 1/m: one over the radius",
        default=20.0, min=-1e5, max=1e5, soft_min=-200.0, soft_max=200.0, step=100, precision=1, options=set(),
    )
    wrinkle_direction: EnumProperty(
        name="Curved Along", description="Which threads are curved; the folds run across them",
        items=[("WARP", "Warp", "Along the grain", 0), ("WEFT", "Weft", "Across the grain", 1)],
        default="WARP", options=set(),
    )
    stretch_group: StringProperty(
        name="Stretch Group",
        description="Vertex group or float attribute: where the fabric resists stretching more or less than elsewhere",
        options=set(),
    )
    stretch_factor: FloatProperty(
        name="Factor", description="Times that stiffness where the weight is 1",
        default=10.0, min=0.0, max=1e6, soft_max=100.0, step=10, precision=2, options=set(),
    )
    shear_group: StringProperty(
        name="Shear Group",
        description="Vertex group or float attribute: where the fabric resists shearing more or less",
        options=set(),
    )
    shear_factor: FloatProperty(
        name="Factor", description="Times that stiffness where the weight is 1",
        default=10.0, min=0.0, max=1e6, soft_max=100.0, step=10, precision=2, options=set(),
    )
    bend_group: StringProperty(
        name="Bending Group",
        description="Vertex group or float attribute: where the fabric resists folding more or less than elsewhere",
        options=set(),
    )
    bend_factor: FloatProperty(
        name="Factor", description="Times that stiffness where the weight is 1",
        default=10.0, min=0.0, max=1e6, soft_max=100.0, step=10, precision=2, options=set(),
    )
