# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene keeps for Muslin: frames, steps, solver, wind, and what Compare is to run. No running state.

The wind is a velocity in Blender units, which the interface shows in the scene's units.
"""

from __future__ import annotations

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ... import core
from ..bake import backends
from ..ui import crossings_overlay, fabric_menu, integrator_menu
from .enum_numbers import number_of


def _flags(names: tuple[str, ...], what: str) -> list[tuple[str, str, str, int]]:
    """Of which a file can remember any number at once, a bit each."""
    return [(name, integrator_menu.TITLES.get(name, fabric_menu.title(name)), f"Compare this {what}", 1 << i)
            for i, name in enumerate(names)]


def _colliders_changed(settings: MuslinScene, context: bpy.types.Context) -> None:
    crossings_overlay.forget()


class MuslinScene(bpy.types.PropertyGroup):
    __slots__ = ()

    use_custom_range: BoolProperty(
        name="Custom Range", description="Bake other frames than those of the scene", default=False, options=set(),
    )
    frame_start: IntProperty(
        name="Start", description="First frame of the bake: the cloth starts here from its shape at rest",
        default=1, min=-1048574, max=1048574, options=set(),
    )
    frame_end: IntProperty(
        name="End", description="Last frame of the bake", default=250, min=-1048574, max=1048574, options=set(),
    )
    steps_per_frame: IntProperty(
        name="Steps per Frame",
        description="Time steps in a frame, at least. More follow fast motion better and damp less",
        default=1, min=1, max=1000, soft_max=20, options=set(),
    )
    use_self_collision: BoolProperty(
        name="Self Collision", description="Keep cloth from passing through itself and other cloth", default=True,
        options=set(),
    )
    collider_collection: PointerProperty(
        type=bpy.types.Collection, name="Collider Collection",
        description="All meshes of this collection that are no cloth are colliders, besides those that were made one",
        update=_colliders_changed,
    )
    integrator: EnumProperty(
        name="Integrator", description="The formula that takes the cloth from one time to the next",
        items=integrator_menu.items(number_of),
        default="BDF2", options=set(),
    )
    solid_contact: EnumProperty(
        name="On Solids", description="What keeps the cloth's vertices off the faces of colliders",
        items=[("CONSTRAINTS", "Constraints", "Exact, with friction that sticks without creeping, as published by "
                "Baraff and Witkin", 0),
               ("SPRINGS", "Springs", "As between cloth and cloth: yields where solids squeeze it, but creeps", 1)],
        default="CONSTRAINTS", options=set(),
    )
    newton_iterations: IntProperty(
        name="Newton Iterations",
        description="Times that each step's equations are linearised: 1 is quick, more is exact in strong motion",
        default=1, min=1, max=1000, soft_max=10, options=set(),
    )
    projective_iterations: IntProperty(
        name="Outer Iterations",
        description="Of projective dynamics in each step. 0 means: until the motion is close to exact, 150 at most. "
                    "With few, stiff cloth sinks as in honey",
        default=0, min=0, max=10000, soft_max=150, options=set(),
    )
    projective_solve: EnumProperty(
        name="Solve", description="How projective dynamics solves with its constant matrix",
        items=[("FACTOR", "Factor", "By a factor that is made once", 0),
               ("CG", "Conjugate Gradients", "As published, without preconditioner: for comparisons", 1)],
        default="FACTOR", options=set(),
    )
    verlet_kd: FloatProperty(
        name="Kept Motion",
        description="Part of its motion that the cloth keeps from step to step: 1 damps nothing, 0 everything. The "
                    "more steps in a frame, the more a value below 1 damps",
        default=1.0, min=0.0, max=1.0, step=0.01, precision=5, options=set(),
    )
    tolerance: FloatProperty(
        name="Tolerance", description="How exactly each linear system is solved: the residual relative to the start",
        default=1e-2, min=1e-6, max=0.1, step=0.01, precision=6, options=set(),
    )
    backend: EnumProperty(
        name="Computed By", description="What runs the inner loops. Both solve the same equations; where cloth "
        "crumples, rounding makes their results drift apart",
        items=backends.ITEMS, default="AUTOMATIC", options=set(),
    )
    wind: FloatVectorProperty(
        name="Wind", description="Velocity of the air", default=(0.0, 0.0, 0.0), size=3, step=10, precision=2,
        subtype="VELOCITY", unit="VELOCITY", options=set(),
    )
    compare_models: EnumProperty(
        name="Models", description="Simulate the object as each of these; none: as the model it has",
        items=_flags(core.models(), "model"), options={"ENUM_FLAG"},
    )
    compare_integrators: EnumProperty(
        name="Integrators", description="Simulate with each of these; none: with the one of the scene",
        items=_flags(core.integrators(), "integrator"), options={"ENUM_FLAG"},
    )
    compare_folder: StringProperty(
        name="Folder", description="Where the sheet, its pictures and its figures go", default="//compare",
        subtype="DIR_PATH", options={"OUTPUT_PATH", "PATH_SUPPORTS_BLEND_RELATIVE"},        # red without
    )
