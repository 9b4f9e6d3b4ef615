# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object's internal springs, in Blender's own words and order."""

from __future__ import annotations

import math

from bpy.props import BoolProperty, FloatProperty, StringProperty


class InternalSpringsProperties:
    """Settings of springs through the inside of a mesh; a base class of `MuslinObject`."""

    __slots__ = ()

    use_internal_springs: BoolProperty(
        name="Internal Springs", description="Hold the two sides of a closed mesh apart by springs through its inside, "
        "as the filling of a cushion does",
        default=False, options=set(),
    )
    internal_spring_max_length: FloatProperty(
        name="Max Spring Creation Length", description="Longest internal spring. 0 means: no limit",
        default=0.0, min=0.0, soft_max=10.0, step=1, precision=3, subtype="DISTANCE", unit="LENGTH", options=set(),
    )
    internal_spring_max_diversion: FloatProperty(
        name="Max Creation Diversion", description="Largest angle between an internal spring and the normal of its "
        "vertex",
        default=0.25 * math.pi, min=0.0, max=0.5 * math.pi, subtype="ANGLE", options=set(),
    )
    internal_spring_normal_check: BoolProperty(
        name="Check Surface Normals", description="Let internal springs end only where the surface faces away from "
        "their vertex",
        default=True, options=set(),
    )
    internal_tension: FloatProperty(
        name="Tension", description="Resistance of the filling to being pulled apart, as Young's modulus in kPa. "
        "More keeps the sides from moving apart",
        default=5.0, min=0.0, max=1e6, soft_max=1000.0, step=10, precision=2,
    )
    internal_compression: FloatProperty(
        name="Compression", description="Resistance of the filling to being pushed together, as Young's modulus in "
        "kPa: about 1 for soft foam, 10 for a firm cushion, 100 for rubber foam. More makes it keep its "
        "thickness",
        default=5.0, min=0.0, max=1e6, soft_max=1000.0, step=10, precision=2,
    )
    internal_group: StringProperty(
        name="Vertex Group", description="Vertex group or float attribute: where the filling is stiffer or softer",
        options=set(),
    )
    internal_factor: FloatProperty(
        name="Factor", description="Stiffness multiplier at weight 1, of the filling",
        default=10.0, min=0.0, max=1e6, soft_max=100.0, step=10, precision=2, options=set(),
    )
