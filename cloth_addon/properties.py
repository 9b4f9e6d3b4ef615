# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend file keeps for Muslin: the settings of each object and of the scene. No running state.

Values are SI, except where Blender itself converts: a thickness is a length and the wind a velocity in Blender
units, which the interface shows in the scene's units.
"""

from __future__ import annotations

import zlib
from typing import Any

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

from .. import core
from . import backends, bodies, crossings_overlay, fabric_menu, integrator_menu

DEFAULT_FABRIC = fabric_menu.preset("cotton")
MICRO = 1e-6


def _number(name: str) -> int:
    """The number by which a file remembers an enum's choice: from its name, so that a new one shifts no other."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF


def _models() -> list[tuple[str, str, str, int]]:
    return [(name, fabric_menu.title(name), "", _number(name)) for name in core.models()]


def _fabric_number(settings: Any) -> int:
    name = fabric_menu.name_of(settings)
    return next(number for identifier, _, _, number in fabric_menu.items() if identifier == name)


def _set_fabric(settings: Any, number: int) -> None:
    fabric_menu.fill(settings, next(item[0] for item in fabric_menu.items() if item[3] == number))


def _kind_changed(settings: Any, context: bpy.types.Context) -> None:
    crossings_overlay.forget()


def _in_micro(prop: str) -> dict[str, Any]:
    """Blender shows six decimals: bending stiffness is read and typed in millionths of its SI unit."""
    def set_micro(settings: Any, value: float) -> None:
        setattr(settings, prop, value * MICRO)

    return {"get": lambda settings: getattr(settings, prop) / MICRO, "set": set_micro}


def _fabric(prop: str, name: str, description: str, **options: Any) -> Any:
    return FloatProperty(name=name, description=description, default=DEFAULT_FABRIC[prop], options=set(), **options)


def _flags(names: tuple[str, ...], what: str) -> list[tuple[str, str, str, int]]:
    """Of which a file can remember any number at once, a bit each."""
    return [(name, integrator_menu.TITLES.get(name, fabric_menu.title(name)), f"Compare this {what}", 1 << i)
            for i, name in enumerate(names)]


class MuslinObject(bodies.BodyProperties, bpy.types.PropertyGroup):
    __slots__ = ()                                                # a misspelt name in a script is an error

    kind: EnumProperty(
        name="Type",
        description="What the object is in Muslin's simulation",
        items=[
            ("NONE", "None", "Takes no part"),
            ("CLOTH", "Cloth", "Is simulated as cloth"),
            ("COLLIDER", "Collider", "Cloth rests on it and slides over it"),
        ],
        default="NONE", options=set(), update=_kind_changed,
    )
    fabric: EnumProperty(
        name="Fabric", description="The preset that the values below belong to",
        items=fabric_menu.items(), get=_fabric_number, set=_set_fabric, options=set(),
    )
    areal_density: _fabric(
        "areal_density", "Weight", "Mass per area of the fabric, in kg/m². The mesh's resolution does not matter",
        min=1e-4, soft_min=0.01, max=1e4, soft_max=2.0, step=1, precision=3,
    )
    stretch_warp: _fabric(
        "stretch_warp", "Stretch Warp",
        "Resistance to stretching along the grain, in N/m: the pull that would double a strip one metre wide",
        min=0.0, max=1e9, soft_max=1e5, step=10000, precision=0,
    )
    stretch_weft: _fabric(
        "stretch_weft", "Weft",
        "Resistance to stretching across the grain, in N/m: the pull that would double a strip one metre wide",
        min=0.0, max=1e9, soft_max=1e5, step=10000, precision=0,
    )
    shear: _fabric(
        "shear", "Shear", "Resistance to pulling the grain out of square, in N/m",
        min=0.0, max=1e9, soft_max=1e5, step=10000, precision=0,
    )
    bend_warp: _fabric(
        "bend_warp", "Bending Warp", "Bending stiffness along the grain, in N m", min=0.0, max=1e3, precision=6,
    )
    bend_weft: _fabric(
        "bend_weft", "Bending Weft", "Bending stiffness across the grain, in N m", min=0.0, max=1e3, precision=6,
    )
    bend_warp_micro: FloatProperty(
        name="Bending Warp",
        description="Resistance to folding along the grain, in µN m: about 1 for silk, 10 for cotton, 100 for canvas",
        min=0.0, max=1e9, soft_max=1e4, step=100, precision=2, options=set(), **_in_micro("bend_warp"),
    )
    bend_weft_micro: FloatProperty(
        name="Weft",
        description="Resistance to folding across the grain, in µN m: about 1 for silk, 10 for cotton, 100 for canvas",
        min=0.0, max=1e9, soft_max=1e4, step=100, precision=2, options=set(), **_in_micro("bend_weft"),
    )
    damping: _fabric(
        "damping", "Damping", "How fast stretching and folding motions die away; falling and swinging are not slowed",
        min=0.0, max=10.0, soft_max=0.1, step=0.1, precision=4, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
    )
    friction: _fabric(
        "friction", "Friction", "Friction of the surface: 0 slides freely, 1 holds on a slope of 45 degrees",
        min=0.0, max=10.0, soft_max=1.0, step=1, precision=3,
    )
    air_drag: _fabric(
        "air_drag", "Air Drag", "Resistance of the air, and grip of the wind, across the surface, in kg/(m² s)",
        min=0.0, max=1e3, soft_max=5.0, step=1, precision=3,
    )
    viscous_drag: _fabric(
        "viscous_drag", "Viscous Drag",
        "Resistance of the air against every motion, in kg/(m² s): cloth sinks as in oil",
        min=0.0, max=1e3, soft_max=5.0, step=1, precision=3,
    )
    spring_damping: _fabric(
        "spring_damping", "Edge Length", "Resistance of every edge to getting longer or shorter, in kg/s",
        min=0.0, max=1e3, soft_max=1.0, step=1, precision=4,
    )
    isotropic_damping: _fabric(
        "isotropic_damping", "Edge Motion",
        "Resistance to every relative motion of an edge's ends, in kg/s. Slows turning, too, but not falling",
        min=0.0, max=1e3, soft_max=1.0, step=1, precision=4,
    )
    use_max_elongation: BoolProperty(
        name="Limit Stretch", description="Bring back edges that a step made longer than they may be", default=False,
        options=set(),
    )
    max_elongation: FloatProperty(
        name="Limit Stretch", description="How much longer than at rest an edge may be", default=10.0, min=0.1,
        soft_max=50.0, max=1000.0, step=100, precision=1, subtype="PERCENTAGE", options=set(),
    )
    model: EnumProperty(
        name="Model", description="The law by which the fabric resists stretching and folding",
        items=_models(), options=set(),
    )
    pin_group: StringProperty(
        name="Pin Group",
        description="Vertices that follow the object's own animation: weight 1 exactly, below 1 by a spring",
        options=set(),
    )
    grain: EnumProperty(
        name="Grain", description="Which way the warp threads run",
        items=[
            ("OBJECT_X", "Object X", "Along the object's X axis, laid over the surface"),
            ("UV", "UV Map", "Along U of a UV map"),
        ],
        default="OBJECT_X", options=set(),
    )
    uv_map: StringProperty(
        name="UV Map", description="UV map that gives the grain; empty: the active one", options=set(),
    )
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
    thickness: FloatProperty(
        name="Thickness",
        description="Distance kept from other surfaces. For cloth, 0 means: set from the length of the mesh's edges",
        default=0.0, min=0.0, soft_max=0.1, step=0.1, precision=4, subtype="DISTANCE", unit="LENGTH", options=set(),
    )


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
        update=_kind_changed,
    )
    integrator: EnumProperty(
        name="Integrator", description="The formula that takes the cloth from one time to the next",
        items=integrator_menu.items(_number),
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
        name="Computed By", description="What runs the inner loops. Both give the same cloth, up to rounding",
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


classes = (MuslinObject, MuslinScene)


def attach() -> None:
    about = "Settings of Muslin's simulation"
    bpy.types.Object.muslin = PointerProperty(type=MuslinObject, name="Muslin", description=about)
    bpy.types.Scene.muslin = PointerProperty(type=MuslinScene, name="Muslin", description=about)


def detach() -> None:
    del bpy.types.Scene.muslin
    del bpy.types.Object.muslin
