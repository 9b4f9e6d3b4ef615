# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of what a cloth collides with, and of cloth on cloth."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from . import change_listeners


class ContactProperties:
    """Collision settings of a cloth beside its friction and thickness; a base class of `MuslinObject`."""

    __slots__ = ()

    use_collision: BoolProperty(
        name="Object Collisions", description="Collide with colliders and with other cloth. Off: the cloth passes "
        "through them, and other cloth through it. Self Collisions still keep it from passing through itself",
        default=True, options=set(), update=change_listeners.notify,
    )
    collision_collection: PointerProperty(
        type=bpy.types.Collection, name="Collision Collection",
        description="Limit collisions to the colliders and the cloth in this collection. Two cloths collide if neither "
        "leaves the other out. Empty: all",
        update=change_listeners.notify,
    )
    object_collision_group: StringProperty(
        name="Object Collision Group",
        description="Vertex group. Triangles with all vertices in this group are not used in object collisions: they "
        "pass through colliders and other cloth",
        options=set(), update=change_listeners.notify,
    )
    use_self_collision: BoolProperty(
        name="Self Collisions", description="Keep the cloth from passing through itself. Off is faster, for cloth "
        "without deep folds; other cloth and colliders still stop it",
        default=True, options=set(), update=change_listeners.notify,
    )
    self_collision_group: StringProperty(
        name="Self Collision Group",
        description="Vertex group. Triangles with all vertices in this group are not used in self collisions: they "
        "pass through the cloth",
        options=set(), update=change_listeners.notify,
    )
    use_self_friction: BoolProperty(
        name="Own Friction", description="Give friction of cloth on cloth a value of its own. Off: the Friction "
        "of Object Collisions",
        default=False, options=set(), update=change_listeners.notify,
    )
    self_friction: FloatProperty(
        name="Self Friction", description="Friction of cloth on cloth, on itself and on other cloth: 0 slides freely, "
        "more makes layers cling to each other. Between two cloths, the geometric mean of both",
        default=0.3, min=0.0, soft_max=1.0, step=1, precision=3, update=change_listeners.notify,
    )
    self_distance: FloatProperty(
        name="Self Distance", description="Distance that layers of this cloth keep from each other; between two "
        "cloths, the mean of both. More makes folds rounder and stacks higher. 0 means: twice that from colliders",
        default=0.0, min=0.0, soft_max=0.1, step=0.1, precision=4, subtype="DISTANCE", unit="LENGTH", options=set(),
        update=change_listeners.notify,
    )
    left_out_group: StringProperty(
        name="Left Out Group",
        description="Vertex group of a collider. Faces with all vertices in this group are left out of collisions, "
        "such as hands that pass through the body",
        options=set(), update=change_listeners.notify,
    )
    layer: IntProperty(
        name="Layer", description="Order of several cloths: where two cross, the one of the higher layer is pulled out "
        "to the side to which the faces of the other point. It does not change how cloths lie that do not cross",
        default=0, min=-1000, max=1000, soft_min=0, soft_max=10, options=set(), update=change_listeners.notify,
    )
