# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object's garment: seams, buttons, pattern, and painted maps over the surface."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty


class GarmentProperties:
    """Settings of an object's seams and pattern; a base class of `MuslinObject`."""

    __slots__ = ()

    use_sewing: BoolProperty(
        name="Sewing", description="Use loose edges between faces as seams, which are pulled shut", default=False,
        options=set(),
    )
    sewing_force: FloatProperty(
        name="Max Sewing Force",
        description="Largest force of a seam, in newtons per metre of its length. 0 means: no limit",
        default=0.0, min=0.0, soft_max=1000.0, step=100, precision=1, options=set(),
    )
    sewing_time: FloatProperty(
        name="Closing Time", description="Time from the first frame until seams and buttons are closed and the fabric "
        "has shrunk",
        default=1.0, min=0.0, soft_max=10.0, step=10, precision=2, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
        options=set(),
    )
    closing_gravity: BoolProperty(
        name="Gravity While Closing", description="Let gravity act until seams and buttons are closed. Off: panels "
        "stay around the body while they are sewn",
        default=True, options=set(),
    )
    button_group: StringProperty(
        name="Buttons",
        description="Vertex group. Loose edges with both ends in it are buttons, which hold two points together",
        options=set(),
    )
    rest_shape: EnumProperty(
        name="Rest Shape", description="The shape in which the fabric is not stretched or bent",
        items=[
            ("MODELLED", "As Modelled", "The mesh at the first frame"),
            ("UV", "UV Map", "The flat pattern in a UV map; the grain runs along U"),
        ],
        default="MODELLED", options=set(),
    )
    pattern_size: FloatProperty(
        name="UV Square",
        description="Length of a side of the UV square in the pattern. 0 means: chosen so that the pattern has the "
        "area of the mesh",
        default=0.0, min=0.0, soft_max=10.0, step=1, precision=3, subtype="DISTANCE", unit="LENGTH", options=set(),
    )


class MapProperties:
    """Painted maps: the name of a vertex group or attribute, and its effect at weight 1; a base class of
    `MuslinObject`."""

    __slots__ = ()

    shrink_group: StringProperty(
        name="Shrink Group", description="Vertex group or float attribute: where the fabric shrinks and gathers",
        options=set(),
    )
    shrink_min: FloatProperty(
        name="Shrinking Factor",
        description="Fraction of its length by which the fabric shrinks where the weight is 0. Negative values "
        "lengthen it",
        default=0.0, min=-10.0, soft_min=-1.0, max=0.99, step=1, precision=3,
    )
    shrink_max: FloatProperty(
        name="Max Shrink", description="Fraction of its length by which the fabric shrinks where the weight is 1",
        default=0.3, min=-10.0, soft_min=-1.0, max=0.99, step=1, precision=3,
    )
    wrinkle_group: StringProperty(
        name="Wrinkle Group",
        description="Vertex group or float attribute: where the fabric is curved at rest. Negative values curve it to "
        "the back of the faces",
        options=set(),
    )
    wrinkle_curvature: FloatProperty(
        name="Curvature", description="Curvature at rest where the weight is 1, in 1/m: one over the radius",
        default=20.0, min=-1e5, max=1e5, soft_min=-200.0, soft_max=200.0, step=100, precision=1, options=set(),
    )
    wrinkle_direction: EnumProperty(
        name="Curved Along", description="The threads that are curved. Folds run across them",
        items=[("WARP", "Warp", "Along the grain", 0), ("WEFT", "Weft", "Across the grain", 1)],
        default="WARP", options=set(),
    )
    stretch_group: StringProperty(
        name="Stretch Group",
        description="Vertex group or float attribute: where the resistance to stretching differs",
        options=set(),
    )
    stretch_factor: FloatProperty(
        name="Factor", description="Stiffness multiplier at weight 1, against stretching",
        default=10.0, min=0.0, max=1e6, soft_max=100.0, step=10, precision=2, options=set(),
    )
    shear_group: StringProperty(
        name="Shear Group",
        description="Vertex group or float attribute: where the resistance to shearing differs",
        options=set(),
    )
    shear_factor: FloatProperty(
        name="Factor", description="Stiffness multiplier at weight 1, against shearing",
        default=10.0, min=0.0, max=1e6, soft_max=100.0, step=10, precision=2, options=set(),
    )
    bend_group: StringProperty(
        name="Bending Group",
        description="Vertex group or float attribute: where the resistance to folding differs",
        options=set(),
    )
    bend_factor: FloatProperty(
        name="Factor", description="Stiffness multiplier at weight 1, against folding",
        default=10.0, min=0.0, max=1e6, soft_max=100.0, step=10, precision=2, options=set(),
    )
