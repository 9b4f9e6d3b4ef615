# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the weights of gravity and force fields on one cloth, and of their absorption by a collider."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty

LIMIT = 200.0
"""Largest weight of a field, as in Blender [-]."""


def _weight(name: str, what: str, least: float = 0.0) -> Any:
    return FloatProperty(name=name, description=f"{what}. 0: none. More than 1 is stronger", default=1.0, min=least,
                         max=LIMIT, soft_min=0.0, soft_max=1.0, step=1, precision=3)


class FieldWeightsProperties:
    """Weights of force fields, and absorption; a base class of `MuslinObject`."""

    __slots__ = ()

    effector_collection: PointerProperty(
        name="Effector Collection", type=bpy.types.Collection, options=set(),
        description="Only force fields of this collection act on the cloth. Empty: all of the scene",
    )
    weight_gravity: _weight("Gravity", "How much gravity pulls this cloth. Below 0 it rises", -LIMIT)
    weight_all: _weight("All", "How much the force fields of all types act on this cloth")
    weight_force: _weight("Force", "How much force fields of type Force act on this cloth")
    weight_wind: _weight("Wind", "How much force fields of type Wind blow this cloth")
    weight_vortex: _weight("Vortex", "How much force fields of type Vortex act on this cloth")
    weight_magnetic: _weight("Magnetic", "How much force fields of type Magnetic act on this cloth")
    weight_harmonic: _weight("Harmonic", "How much force fields of type Harmonic act on this cloth")
    weight_turbulence: _weight("Turbulence", "How much force fields of type Turbulence act on this cloth")
    weight_drag: _weight("Drag", "How much force fields of type Drag slow this cloth")
    weight_texture: _weight("Texture", "How much force fields of type Texture act on this cloth")
    weight_fluid_flow: _weight("Fluid Flow", "How much force fields of type Fluid Flow act on this cloth")
    absorption: FloatProperty(
        name="Field Absorption",
        description="How much of a force field is lost behind this collider, of fields with Absorption",
        default=0.0, min=0.0, max=1.0, step=1, precision=3, subtype="FACTOR",
    )
