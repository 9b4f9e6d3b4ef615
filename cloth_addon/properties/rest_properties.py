# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object's rest shape: a shape key, and a rest shape that moves."""

from __future__ import annotations

from bpy.props import BoolProperty, StringProperty


class RestProperties:
    """Settings of an object's rest shape; a base class of `MuslinObject`."""

    __slots__ = ()

    rest_shape_key: StringProperty(
        name="Rest Shape Key", description="Shape key in which the fabric is not stretched or bent. Empty: the mesh at "
        "the first frame, where it starts in any case",
        options=set(),
    )
    use_dynamic_mesh: BoolProperty(
        name="Dynamic Mesh", description="The rest shape follows the object's animation: what shape keys and modifiers "
        "stretch, shrink or bend in the mesh from frame to frame, they change in the fabric",
        default=False, options=set(),
    )
