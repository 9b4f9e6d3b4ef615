# SPDX-License-Identifier: GPL-3.0-or-later
"""The systems that are compared with Blender, and their fabrics. Used by against_blender.py.

    modifier-factory  Blender's Cloth modifier with factory settings, and pins, collider and wind
    modifier-tuned    the modifier with settings for a soft sheet of 0.3 kg/m^2, see blender_units.py
    modifier-cotton   the modifier with settings for the cotton preset
    node              the Cloth Dynamics node of Blender 5.2 with the substeps that reach the stretch of modifier-tuned
    muslin-factory, muslin-tuned
                      Muslin with the fabric that the modifier of the same name stands for in SI. If its p99 stretch is
                      larger than that of the modifier, the fabric is made stiffer, or softer if that does not help
    muslin-node       as muslin-tuned, compared with the p99 stretch of the node
    muslin-cotton     Muslin with the measured preset
    numpy-factory, numpy-tuned
                      as muslin-factory and muslin-tuned, with the NumPy backend
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import core
from benchmarks.blender_units import factory_fabric
from benchmarks.scenes import scene_layout

AIR_DRAG = 0.7
"""Air drag of the soft sheets in the wind, that of the presets [kg/(m^2 s)]."""
SOFT = core.Material(areal_density=0.3, stretch=1000.0, shear=200.0, bend=1e-5, damping=0.0, friction=0.35,
                     viscous_drag=0.05, name="soft")
SYSTEMS = ("modifier-factory", "muslin-factory", "numpy-factory", "modifier-tuned", "muslin-tuned", "numpy-tuned",
           "node", "muslin-node", "modifier-cotton", "muslin-cotton")
USUAL = tuple(name for name in SYSTEMS if name != "modifier-cotton")
LARGEST_FOR_NUMPY = 100
"""Largest number of vertices along a side for which the NumPy rows run by default."""
LACKS_IN_NODE = {"flag": "wind", "drape": "self-collision"}
"""Scenes that the node cannot simulate, and what it does not have."""


def kind_of(system: str) -> str:
    """Return "modifier", "muslin", "numpy" or "node"."""
    return system.partition("-")[0]


def fabric_of(system: str) -> str:
    """Return "factory", "tuned" or "cotton"."""
    return system.partition("-")[2].replace("node", "tuned") or "tuned"


def start_fabric(name: str, scene: str, size: int) -> core.Material:
    """Return the fabric in SI that the Blender row of this name stands for."""
    wind = AIR_DRAG if scene == "flag" else 0.0
    if name == "factory":
        return factory_fabric(scene_layout(scene, size), wind)
    return core.Material.preset("cotton") if name == "cotton" else replace(SOFT, air_drag=wind)


def reference_row(system: str) -> str | None:
    """Return the row whose stretch this system may not exceed, None if there is none."""
    if system == "muslin-node":
        return "node"
    return None if kind_of(system) == "modifier" or fabric_of(system) == "cotton" else f"modifier-{fabric_of(system)}"


def select_systems(asked: Sequence[str] | None, scene: str, size: int) -> tuple[str, ...]:
    """Return the systems of one scene at one size, in the order of SYSTEMS.

    These are the systems that were asked for and those they are compared with. The node is left out of scenes that it
    cannot simulate.
    """
    wanted: Iterable[str] = asked or (s for s in USUAL if size <= LARGEST_FOR_NUMPY or kind_of(s) != "numpy")
    chosen: set[str] = set()
    for system in wanted:
        chain = [system]
        while (other := reference_row(chain[-1])) is not None:
            chain.append(other)
        if not ("node" in chain and scene in LACKS_IN_NODE):
            chosen |= set(chain)
    return tuple(s for s in SYSTEMS if s in chosen)
