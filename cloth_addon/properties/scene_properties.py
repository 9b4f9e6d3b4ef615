# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that a .blend file stores for each scene: frames, steps, solver, wind, and Compare. No running state.

The wind is stored in Blender units, and the interface shows it in the scene's units.
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
from . import change_listeners
from .air_settings import AIR_DENSITY
from .enum_items import BACKEND_ITEMS, flag_items, integrator_items


class MuslinScene(bpy.types.PropertyGroup):
    """Settings of a scene: `scene.muslin`."""

    __slots__ = ()

    use_custom_range: BoolProperty(
        name="Custom Range", description="Bake other frames than those of the scene", default=False, options=set(),
    )
    frame_start: IntProperty(
        name="Start", description="First frame of the bake, at which the cloth starts from its rest shape",
        default=1, min=-1048574, max=1048574, options=set(),
    )
    frame_end: IntProperty(
        name="End", description="Last frame of the bake", default=250, min=-1048574, max=1048574, options=set(),
    )
    preroll: IntProperty(
        name="Pre-Roll",
        description="Number of frames that are simulated before the first one and not kept, in which the cloth settles",
        default=0, min=0, max=1000000, soft_max=100, options=set(),
    )
    preroll_from_rest: BoolProperty(
        name="From Rest Pose",
        description="Start the pre-roll with armatures in their rest pose. They move to their pose at the first frame, "
        "and everything else stays as it is there. Off: the animation before the first frame is used",
        default=False, options=set(),
    )
    coarse_frames: IntProperty(
        name="Coarse Frames",
        description="Number of first frames of the pre-roll in which cloth of 10,000 vertices or more moves on a "
        "coarser mesh, so that it settles several times as fast. The others settle the full mesh. Cloth with "
        "sewing, buttons, a UV pattern, pressure, tearing or plasticity keeps its own mesh",
        default=0, min=0, max=1000000, soft_max=100, options=set(),
    )
    motion_samples: IntProperty(
        name="Motion Samples",
        description="Number of times per frame at which moving colliders, pins and force fields are read. More samples "
        "follow fast turns more closely. 0: as many as each frame needs",
        default=0, min=0, max=16, options=set(),
    )
    speed: FloatProperty(
        name="Speed Multiplier",
        description="Speed of all cloth: 2 lets twice as much time go by in a frame, so that cloth falls and swings "
        "twice as fast. Colliders, pins and force fields keep to their frames. Keyframes count at every frame",
        default=1.0, min=0.001, soft_min=0.1, max=1000.0, soft_max=10.0, step=10, precision=3,
    )
    steps_per_frame: IntProperty(
        name="Steps per Frame",
        description="Smallest number of time steps in a frame. More steps follow fast motion better and damp less",
        default=1, min=1, max=1000, soft_max=20, options=set(),
    )
    use_self_collision: BoolProperty(
        name="Self Collision of the Scene", description="Keep cloth from passing through itself and other cloth. Off: "
        "for all cloth of the scene, whatever its own settings",
        default=True, options=set(), update=change_listeners.notify,
    )
    resolve_start: BoolProperty(
        name="Resolve Start", description="Move cloth that starts crossed out of colliders and of cloth before the "
        "first frame, for all cloth of the scene. Off: it comes apart in the simulation",
        default=True, options=set(), update=change_listeners.notify,
    )
    collider_collection: PointerProperty(
        type=bpy.types.Collection, name="Collider Collection",
        description="All meshes of this collection that are not cloth are colliders, in addition to the objects that "
        "have this type",
        update=change_listeners.notify,
    )
    integrator: EnumProperty(
        name="Integrator", description="Time integration method",
        items=integrator_items(),
        default="BDF2", options=set(),
    )
    solid_contact: EnumProperty(
        name="On Solids", description="Contact of the cloth's vertices with the faces of colliders",
        items=[("CONSTRAINTS", "Constraints", "Exact, as published by Baraff and Witkin; takes longer", 0),
               ("SPRINGS", "Springs", "As between cloth and cloth: yields where colliders squeeze the cloth", 1)],
        default="SPRINGS", options=set(),
    )
    newton_iterations: IntProperty(
        name="Newton Iterations",
        description="How often the equations of each step are linearised: 1 is fast, more is exact in strong motion",
        default=1, min=1, max=1000, soft_max=10, options=set(),
    )
    projective_iterations: IntProperty(
        name="Outer Iterations",
        description="Iterations of projective dynamics in each step. 0 means: until the motion is close to exact, 150 "
                    "at most. With few iterations stiff cloth sinks slowly, as in honey",
        default=0, min=0, max=10000, soft_max=150, options=set(),
    )
    projective_solve: EnumProperty(
        name="Solve", description="Solver for the constant matrix of projective dynamics",
        items=[("FACTOR", "Factor", "Factorisation, computed once", 0),
               ("CG", "Conjugate Gradients", "As published, without preconditioner: for comparisons", 1)],
        default="FACTOR", options=set(),
    )
    verlet_kd: FloatProperty(
        name="Kept Motion",
        description="Fraction of its velocity that the cloth keeps from step to step: 1 does not damp, 0 stops all "
                    "motion. The more steps in a frame, the more a value below 1 damps",
        default=1.0, min=0.0, max=1.0, step=0.01, precision=5, options=set(),
    )
    tolerance: FloatProperty(
        name="Tolerance", description="Residual at which the solution of each linear system ends, over the initial one",
        default=1e-2, min=1e-6, max=0.1, step=0.01, precision=6, options=set(),
    )
    backend: EnumProperty(
        name="Computed By", description="Implementation of the inner loops. Both solve the same equations; where "
        "cloth crumples, rounding makes their results drift apart",
        items=BACKEND_ITEMS, default="AUTOMATIC", options=set(),
    )
    cache_folder: StringProperty(
        name="Cache Folder", description="Folder for the caches of bakes: every frame is written to disk as soon as it "
        "is solved. // is the folder of the .blend. Files that were never saved have a temporary one", options={
            "OUTPUT_PATH", "PATH_SUPPORTS_BLEND_RELATIVE"},
        default="//muslin_cache", subtype="DIR_PATH",
    )
    wind: FloatVectorProperty(
        name="Wind", description="Velocity of the air", default=(0.0, 0.0, 0.0), size=3, step=10, precision=2,
        subtype="VELOCITY", unit="VELOCITY",
    )
    air_density: FloatProperty(
        name="Air Density", description="Density of the air, in kg/m³: 1.2 at sea level, 0.7 at 5000 m, 0 for a "
        "vacuum without drag", default=AIR_DENSITY, min=0.0, max=1e4, soft_max=2.0, step=1, precision=3, options=set(),
    )
    compare_models: EnumProperty(
        name="Models", description="Simulate the object with each of these. None chosen: with the object's own model",
        items=flag_items(core.models(), "model"), options={"ENUM_FLAG"},
    )
    compare_integrators: EnumProperty(
        name="Integrators", description="Simulate with each of these. None chosen: with the scene's integrator",
        items=flag_items(core.integrators(), "integrator"), options={"ENUM_FLAG"},
    )
    compare_folder: StringProperty(
        name="Folder", description="Folder for the sheet, its pictures and its figures", default="//compare",
        subtype="DIR_PATH", options={"OUTPUT_PATH", "PATH_SUPPORTS_BLEND_RELATIVE"},        # red without
    )
