# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object's fabric: preset, weight, stiffness, damping, friction and drag, in SI."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .enum_items import Item
from .fabric_presets import default_values, load_preset, preset_items, preset_of

DEFAULT_FABRIC = default_values()
MICRO = 1e-6


def _fabric_items(_settings: Any, _context: Any) -> list[Item]:
    return preset_items()


def _fabric_number(settings: Any) -> int:
    name = preset_of(settings)
    return next(number for identifier, _, _, number in preset_items() if identifier == name)


def _set_fabric(settings: Any, number: int) -> None:
    load_preset(settings, next(item[0] for item in preset_items() if item[3] == number))


def _in_micro(prop: str) -> dict[str, Any]:
    """Return getter and setter that show `prop` in millionths of its SI unit, because Blender shows six decimals."""
    def set_micro(settings: Any, value: float) -> None:
        setattr(settings, prop, value * MICRO)

    return {"get": lambda settings: getattr(settings, prop) / MICRO, "set": set_micro}


def _fabric(prop: str, name: str, description: str, **options: Any) -> Any:
    """Return a property that may be keyed, as all constants of a fabric may but its mass."""
    return FloatProperty(name=name, description=description, default=DEFAULT_FABRIC[prop], **options)


def _choose_linear_air(settings: Any, _context: Any) -> None:
    """Choose the linear law of the air, the only one that uses its drag: scripts that set it need not know the law."""
    if settings.air_law != "LINEAR":
        settings.air_law = "LINEAR"


class FabricProperties:
    """Settings of an object's fabric; a base class of `MuslinObject`."""

    __slots__ = ()

    fabric: EnumProperty(
        name="Fabric", description="The preset that the values below belong to",
        items=_fabric_items, get=_fabric_number, set=_set_fabric, options=set(),
    )
    areal_density: _fabric(
        "areal_density", "Weight", "Mass per area of the fabric, in kg/m², whatever the resolution of the mesh. More "
        "makes it hang straighter and swing with more force",
        min=1e-4, soft_min=0.01, max=1e4, soft_max=2.0, step=1, precision=4, options=set(),
    )
    stretch_warp: _fabric(
        "stretch_warp", "Stretch Warp",
        "Resistance to stretching along the grain, in N/m: the force that would double the length of a strip one "
        "metre wide. More makes it keep its length, less makes it sag and bounce like rubber",
        min=0.0, max=1e9, soft_max=1e5, step=10000, precision=0,
    )
    stretch_weft: _fabric(
        "stretch_weft", "Weft",
        "Resistance to stretching across the grain, in N/m: the force that would double the length of a strip one "
        "metre wide. More makes it keep its width, less makes it sag and bounce like rubber",
        min=0.0, max=1e9, soft_max=1e5, step=10000, precision=0,
    )
    shear: _fabric(
        "shear", "Shear", "Resistance to pulling the grain out of square, in N/m. More makes it drape like paper, less "
        "makes it cling to round shapes",
        min=0.0, max=1e9, soft_max=1e5, step=10000, precision=0,
    )
    bend_warp: _fabric(
        "bend_warp", "Bending Warp", "Bending stiffness along the grain, in N m. More makes folds wider",
        min=0.0, max=1e3, precision=6,
    )
    bend_weft: _fabric(
        "bend_weft", "Bending Weft", "Bending stiffness across the grain, in N m. More makes folds wider",
        min=0.0, max=1e3, precision=6,
    )
    bend_warp_micro: FloatProperty(
        name="Bending Warp",
        description="Resistance to folding along the grain, in µN m: about 2 for silk, 10 for cotton, 50 for denim. "
        "More makes folds wider and fewer, less makes them fine and many",
        min=0.0, max=1e9, soft_max=1e4, step=100, precision=2, **_in_micro("bend_warp"),
    )
    bend_weft_micro: FloatProperty(
        name="Weft",
        description="Resistance to folding across the grain, in µN m: about 2 for silk, 10 for cotton, 50 for denim. "
        "More makes folds wider and fewer, less makes them fine and many",
        min=0.0, max=1e9, soft_max=1e4, step=100, precision=2, **_in_micro("bend_weft"),
    )
    damping: _fabric(
        "damping", "Damping", "Time by which stretching and folding motions are damped; falling and swinging are not "
        "slowed. More makes wobble and ripples die away sooner",
        min=0.0, max=10.0, soft_max=0.1, step=0.1, precision=4, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
    )
    friction: _fabric(
        "friction", "Friction", "Coefficient of friction of the surface: 0 slides freely, 1 sticks on a slope of 45 "
        "degrees. More makes cloth stay where it lies and gather in folds",
        min=0.0, max=10.0, soft_max=1.0, step=1, precision=3,
    )
    air_law: EnumProperty(
        name="Air", description="How the air resists the cloth, and the wind drives it",
        default=DEFAULT_FABRIC["air_law"],
        items=[("QUADRATIC", "Quadratic", "Pressure on the surface and friction along it grow with the square of the "
                "speed, as in real air: gentle motion is slowed little, and strong wind makes flags flutter", 0),
               ("LINEAR", "Linear", "Pressure grows with the speed, as in published cloth simulations and Blender's "
                "Air Viscosity: it slows gentle motion more, and strong wind drives less", 1)],
        options=set(),
    )
    drag_coefficient: _fabric(
        "drag_coefficient", "Drag", "Coefficient of the pressure of the air on the surface: 1.17 for a flat sheet, "
        "less for open weaves, 2 for long narrow ribbons. More makes it float down and flutter more",
        min=0.0, max=100.0, soft_max=3.0, step=1, precision=3,
    )
    skin_friction: _fabric(
        "skin_friction", "Skin Friction", "Coefficient of the friction of the air along both sides: 0.01 for smooth "
        "fabric, more for fur and fringes. More makes wind pull a flag straight",
        min=0.0, max=100.0, soft_max=0.1, step=0.1, precision=4,
    )
    slow_drag_speed: _fabric(
        "slow_drag_speed", "Linear Below", "Speed across the surface, relative to the air, in m/s, below which the "
        "pressure of the air grows linearly. Air resists slow swings more than a steady wind of their speed. More lets "
        "hung cloth come to rest sooner",
        min=0.0, max=100.0, soft_max=2.0, step=1, precision=3,
    )
    air_drag: _fabric(
        "air_drag", "Air Drag", "Resistance of the air, and force of the wind, normal to the surface, in kg/(m² s), "
        "by the linear law, which setting it chooses. More makes it flutter and float down",
        min=0.0, max=1e3, soft_max=5.0, step=1, precision=3, update=_choose_linear_air,
    )
    viscous_drag: _fabric(
        "viscous_drag", "Viscous Drag",
        "Resistance of the air to every motion, in kg/(m² s). More makes cloth sink as in oil",
        min=0.0, max=1e3, soft_max=5.0, step=1, precision=3,
    )
    spring_damping: _fabric(
        "spring_damping", "Edge Length", "Damping of changes in the length of edges, in kg/s. More makes stretch "
        "die away sooner",
        min=0.0, max=1e3, soft_max=1.0, step=1, precision=4,
    )
    isotropic_damping: _fabric(
        "isotropic_damping", "Edge Motion",
        "Damping of every relative motion of an edge's two ends, in kg/s. More makes the cloth stiffer in "
        "motion; it slows turning, too, but not falling",
        min=0.0, max=1e3, soft_max=1.0, step=1, precision=4,
    )
    use_max_elongation: BoolProperty(
        name="Limit Stretch", description="Shorten edges that a step has stretched beyond the limit", default=False,
        options=set(),
    )
    max_elongation: FloatProperty(
        name="Limit Stretch", description="Largest stretch of an edge, over its rest length", default=10.0, min=0.1,
        soft_max=50.0, max=1000.0, step=100, precision=1, subtype="PERCENTAGE",
    )
