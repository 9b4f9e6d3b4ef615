# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion between a fabric in SI and the settings of Blender's cloth modifier.

The modifier's unit of time is tau = sqrt(0.001) s, because it scales gravity by 0.001. At speed multiplier 1 a frame
lasts one unit whatever the frame rate: at 24 frames per second, gravity looks like 5.65 m/s^2. With L the edge length
of a grid of square quads and a the area per vertex:

    mass per vertex       sigma a                                                              [kg]
    spring along an edge  k_s = 1000 tension / L [N/m], pushed k_c = 1000 compression / L
    spring across a quad  k_d = 1000 shear / L [N/m], which only pulls
    membrane              stretch = k_s + k_d k_c / (k_d + k_c), shear = k_d / 2 [N/m]: one diagonal of each quad is
                          slack, unless the sheet is stretched in both directions
    hinge                 bending stiffness of a sheet of square quads 50 bending L^2          [N m]
    damping of a spring   c = tension_damping / tau [kg/s]; as a ratio to k_s [s]
    damping of a hinge    as a ratio to its stiffness bending_damping L / (2 tau bend)         [s]
    air                   0.01 air_damping / tau per vertex [kg/s]
    wind                  pressure 20 (strength / frame rate - flow tau v) along the normal    [Pa]
    friction              0.01 times the collider's

Sources: SIM_mass_spring.cc, implicit_blender.cc, effect.cc and collision.cc of Blender 5. Gravity, membrane, bending,
air and wind were measured, and tests/addon/test_blender_units.py measures them again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import core
from benchmarks.scenes import BALL_FRICTION, FRAME_RATE, SceneLayout
from core.description.scene import AIR_DENSITY

TAU = float(np.sqrt(1e-3))
"""The modifier's unit of time [s]."""
FACTORY = {"mass": 0.3, "tension": 15.0, "shear": 5.0, "bending": 0.5, "damping": 5.0, "air": 1.0}
"""The modifier's factory settings, in its units."""
SMALLEST_DISTANCE = 0.001
"""Smallest collision distance that the modifier accepts [m]."""
LARGEST_SELF_DISTANCE = 0.1
"""Largest distance of self-collision that the modifier accepts [m]."""


def factory_fabric(layout: SceneLayout, air_drag: float) -> core.Material:
    """Return the fabric in SI that the factory settings stand for on this mesh.

    `air_drag` [kg/(m^2 s)] is that of a fabric of 0.3 kg/m^2. It is scaled with the mass, so that wind accelerates both
    alike.
    """
    edge, area = layout.edge_length, layout.vertex_area
    spring, across = (1000.0 * FACTORY[name] / edge for name in ("tension", "shear"))
    density, bend = FACTORY["mass"] / area, 50.0 * FACTORY["bending"] * edge ** 2
    return core.Material(
        areal_density=density, stretch=(spring + across * spring / (across + spring),) * 2, shear=0.5 * across,
        bend=(bend, bend), damping=FACTORY["damping"] / TAU / spring, friction=0.35,
        air_drag=air_drag * density / 0.3, viscous_drag=0.01 * FACTORY["air"] / TAU / area, name="factory")


def tuned_settings(layout: SceneLayout, fabric: core.Material) -> dict[str, dict[str, Any]]:
    """Return the settings for this fabric: attributes of the modifier's `settings` and `collision_settings`, and of the
    collider's `collision`."""
    edge, area = layout.edge_length, layout.vertex_area
    across, stretch, bend = 2.0 * fabric.shear, float(np.mean(fabric.stretch)), float(np.mean(fabric.bend))
    excess = stretch - 2.0 * across
    spring = 0.5 * (excess + float(np.hypot(excess, 2.0 * np.sqrt(stretch * across))))    # as stiff when pushed
    distance = max(0.2 * edge, SMALLEST_DISTANCE)
    settings = {
        "time_scale": 1.0 / (FRAME_RATE * TAU), "mass": fabric.areal_density * area,
        "tension_stiffness": spring * edge / 1000.0, "compression_stiffness": spring * edge / 1000.0,
        "shear_stiffness": across * edge / 1000.0, "bending_stiffness": bend / (50.0 * edge ** 2),
        "tension_damping": fabric.damping * spring * TAU, "compression_damping": fabric.damping * spring * TAU,
        "shear_damping": fabric.damping * across * TAU, "bending_damping": fabric.damping * bend * 2.0 * TAU / edge,
        "air_damping": fabric.viscous_drag * area * TAU / 0.01}
    own_distance = min(0.25 * edge, LARGEST_SELF_DISTANCE)
    friction = 100.0 * float(np.sqrt(fabric.friction * BALL_FRICTION))
    return {"settings": settings, "collision_settings": {"distance_min": distance, "self_distance_min": own_distance},
            "collider": {"thickness_outer": distance, "cloth_friction": min(friction, 80.0)}}


def wind_field(fabric: core.Material, speed: float) -> dict[str, float]:
    """Return strength and flow of a wind force field with the pressure k_d n.(wind - v).

    Blender's wind is linear. Where the fabric's drag is quadratic, k_d gives the pressure of wind across it.
    """
    k_d = fabric.air_drag
    if k_d is None:
        k_d = 0.5 * AIR_DENSITY * fabric.drag_coefficient * speed
    return {"strength": k_d * speed * FRAME_RATE / 20.0, "flow": k_d / (20.0 * TAU)}
