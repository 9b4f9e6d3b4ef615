# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the pressure inside an object, in Blender's own words, order and units."""

from __future__ import annotations

from bpy.props import BoolProperty, FloatProperty, StringProperty


class PressureProperties:
    """Settings of the pressure inside a mesh; a base class of `MuslinObject`."""

    __slots__ = ()

    use_pressure: BoolProperty(
        name="Pressure", description="Fill the mesh with air or a fluid: balloons, pillows, air mattresses",
        default=False, options=set(),
    )
    uniform_pressure_force: FloatProperty(
        name="Pressure", description="Pressure that acts whatever the volume, over the Pressure Scale: more of it "
        "blows the cloth up further, below 0 it is sucked together",
        default=0.0, min=-1e4, max=1e4, soft_min=-10.0, soft_max=10.0, step=1, precision=3,
    )
    use_pressure_volume: BoolProperty(
        name="Custom Volume", description="Take the Target Volume instead of the volume that the mesh has at the start",
        default=False, options=set(),
    )
    target_volume: FloatProperty(
        name="Target Volume", description="Volume at which the pressure inside and outside are the same: more of it "
        "blows the cloth up further. 0 means: the volume makes no difference",
        default=0.0, min=0.0, max=1e4, soft_max=10.0, step=1, precision=4, unit="VOLUME",
    )
    pressure_factor: FloatProperty(
        name="Pressure Scale", description="Pressure in kPa at which the air inside is as dense as outside: with more "
        "of it the cloth keeps its volume better. 101 for air that cannot escape",
        default=1.0, min=0.0, max=1e4, soft_max=100.0, step=10, precision=3,
    )
    fluid_density: FloatProperty(
        name="Fluid Density", description="Density in kg/l of the fluid inside, which presses down and makes the cloth "
        "heavy: 1 for water. Below 0: of a fluid around it, in which the cloth rises",
        default=0.0, min=-20.0, max=20.0, soft_min=-2.0, soft_max=2.0, step=1, precision=3,
    )
    pressure_group: StringProperty(
        name="Vertex Group", description="Vertex group or float attribute: where the pressure acts, fully at weight 1. "
        "It does not act on faces with a vertex of weight 0",
        options=set(),
    )
