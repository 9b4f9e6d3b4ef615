# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set side by side, and which fabric each system gets.

    modifier-factory  Blender's Cloth modifier, nothing set but pins, collider, wind
    modifier-tuned    as an informed user sets it for a soft sheet of 0.3 kg/m^2, see blender_units
    modifier-cotton   the same for the cotton preset
    node              the Cloth Dynamics node of Blender 5.2 with the substeps that reach modifier-tuned's stretch
    muslin-factory, muslin-tuned   the fabric that the modifier of the same name stands for in SI; where Muslin's p99
                      stretch with it is above that row's, the same made stiffer, or where that does not help
                      softer, until it is not
    muslin-node       as muslin-tuned, held against the node's p99 stretch
    muslin-cotton     the measured preset
    numpy-factory, numpy-tuned     the same on NumPy alone
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import core
from benchmarks.blender_units import factory_fabric
from benchmarks.scenes import setting

AIR_DRAG = 0.7
"""Of the soft sheets in the wind [kg/(m^2 s)], as the presets have it."""
SOFT = core.Material(areal_density=0.3, stretch=1000.0, shear=200.0, bend=1e-5, damping=0.0, friction=0.35,
                     viscous_drag=0.05, name="soft")
SYSTEMS = ("modifier-factory", "muslin-factory", "numpy-factory", "modifier-tuned", "muslin-tuned", "numpy-tuned",
           "node", "muslin-node", "modifier-cotton", "muslin-cotton")
USUAL = tuple(name for name in SYSTEMS if name != "modifier-cotton")
LARGEST_FOR_NUMPY = 100
"""Vertices along a side up to which NumPy alone is run, unless it is asked for."""
LACKS_IN_NODE = {"flag": "wind", "drape": "self-collision"}


def kind_of(system: str) -> str:
    """"modifier", "muslin", "numpy" or "node"."""
    return system.partition("-")[0]


def fabric_of(system: str) -> str:
    """"factory", "tuned" or "cotton"."""
    return system.partition("-")[2].replace("node", "tuned") or "tuned"


def start_fabric(name: str, scene: str, size: int) -> core.Material:
    """What the Blender row of this fabric stands for in SI."""
    wind = AIR_DRAG if scene == "flag" else 0.0
    if name == "factory":
        return factory_fabric(setting(scene, size), wind)
    return core.Material.preset("cotton") if name == "cotton" else replace(SOFT, air_drag=wind)


def held_against(system: str) -> str | None:
    """The row whose stretch this one may not exceed."""
    if system == "muslin-node":
        return "node"
    return None if kind_of(system) == "modifier" or fabric_of(system) == "cotton" else f"modifier-{fabric_of(system)}"


def cast(asked: Sequence[str] | None, scene: str, size: int) -> tuple[str, ...]:
    """The systems of one scene at one size, in the order of SYSTEMS: what was asked for, what that is held against,
    and without the node where it lacks what the scene is about."""
    wanted: Iterable[str] = asked or (s for s in USUAL if size <= LARGEST_FOR_NUMPY or kind_of(s) != "numpy")
    chosen: set[str] = set()
    for system in wanted:
        chain = [system]
        while (other := held_against(chain[-1])) is not None:
            chain.append(other)
        if not ("node" in chain and scene in LACKS_IN_NODE):
            chosen |= set(chain)
    return tuple(s for s in SYSTEMS if s in chosen)
