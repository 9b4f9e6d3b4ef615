# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of tearing of an object."""

from __future__ import annotations

from bpy.props import BoolProperty, FloatProperty, StringProperty


class TearingProperties:
    """Settings of tearing; a base class of `MuslinObject`."""

    __slots__ = ()

    use_tearing: BoolProperty(
        name="Tearing", description="Let the cloth tear where it is pulled harder than its strength. A bake adds no "
        "vertices: split the mesh along its possible tears first",
        default=False, options=set(),
    )
    tear_strength: FloatProperty(
        name="Strength", description="Pull at which the cloth tears, in N per metre of edge. Less tears earlier",
        default=500.0, min=0.0, max=1e9, soft_max=1e4, step=1000, precision=1,
    )
    tear_group: StringProperty(
        name="Vertex Group", description="Vertex group or attribute of the places that may tear: weight 1 has the full "
        "strength, weight 0 tears at once, and vertices outside of the group never tear. Empty: all may tear",
        options=set(),
    )
