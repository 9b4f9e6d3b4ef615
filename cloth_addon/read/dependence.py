# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the objects whose shapes place or deform an object, by parents, constraints and modifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


def geometry_sources(obj: bpy.types.Object) -> set[bpy.types.Object]:
    """Return the objects whose vertices place or deform `obj`, directly or by way of other objects."""
    found: set[bpy.types.Object] = set()
    seen, left = {obj}, [obj]
    while left:
        for other, by_shape in _direct(left.pop()):
            if by_shape:
                found.add(other)
            if other not in seen:
                seen.add(other)
                left.append(other)
    return found


def _direct(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, bool]]:
    """Yield the objects that `obj` depends on directly, and whether on their vertices."""
    if obj.parent is not None:
        yield obj.parent, obj.parent_type in ("VERTEX", "VERTEX_3")
    owners: list[Any] = [obj, *(obj.pose.bones if obj.pose is not None else ())]
    for owner in owners:
        for constraint in owner.constraints:
            if constraint.enabled and not constraint.mute:
                for target in _targets(constraint):
                    if target.target is not None:
                        yield target.target, constraint.type == "SHRINKWRAP" or (
                            target.target.type == "MESH" and bool(getattr(target, "subtarget", "")))
    for modifier in obj.modifiers:
        if modifier.show_viewport:
            for other in _pointers(modifier):
                yield other, True


def _targets(constraint: Any) -> list[Any]:
    """Return what a constraint follows: itself, or its targets of an Armature constraint."""
    return list(constraint.targets) if hasattr(constraint, "targets") else [constraint] * hasattr(constraint, "target")


def _pointers(modifier: Any) -> Iterator[bpy.types.Object]:
    """Yield the mesh objects that a modifier points to, inputs of geometry nodes included."""
    values = [getattr(modifier, prop.identifier) for prop in modifier.bl_rna.properties if prop.type == "POINTER"]
    if modifier.type == "NODES":
        values += _inputs(modifier)
    for value in values:
        if isinstance(value, bpy.types.Object) and value.type == "MESH":
            yield value


def _inputs(modifier: Any) -> list[Any]:
    """Return the values of the inputs of geometry nodes: properties in newer versions of Blender, items in older."""
    inputs = getattr(getattr(modifier, "properties", None), "inputs", None)
    if inputs is None:
        return list(dict(modifier).values())
    return [getattr(getattr(inputs, prop.identifier), "value", None) for prop in inputs.bl_rna.properties
            if prop.type == "POINTER" and prop.identifier != "rna_type"]
