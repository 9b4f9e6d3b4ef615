# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of everything that a bake depends on, to notice changes: during a bake, and since one.

A fingerprint has one digest for each part of the scene, by a name for the user: "frame range", "gravity", "mesh",
"collider 'Box'". It is the same at every frame of the scene, with and without a bake, and after saving and loading.
Objects that move the cloth or a collider are parts, too: parents, armatures, targets of modifiers and constraints,
geometry nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import bpy

from ..properties.settings import SceneSettings, collider_settings_of, kind_of, scene_settings_of, settings_of
from . import mesh_data
from .authored_values import Digest, Identity

ATTRIBUTES = ("velocity", "birth")
"""Names of the mesh's attributes that the cloth uses beside its groups, see read_cloth.py."""
UNITS = frozenset(("unit scale", "frame rate"))
"""Parts that change the values of other parts."""
Parts = dict[Any, tuple[str, str]]
"""By key, the name of a part for the user and its digest."""


def fingerprint(scene: bpy.types.Scene, cloth: bpy.types.Object, frames: tuple[int, int] | None = None
                ) -> dict[str, str]:
    """Return the digests of all that the bake of `cloth` depends on, by the names of the parts.

    It takes about a millisecond for each 10,000 vertices, and more with vertex groups: compute it when the scene has
    changed, not at every drawing of a panel. `frames` (first, last) replaces the scene's frame range.
    """
    parts = scene_parts(scene, [cloth], lambda item: item.name_full, scene_settings_of(scene, frames))
    return dict(sorted(parts.values()))


def differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return the names of the parts that differ between two fingerprints of the same cloth, those of `now` first.

    What differs only because of another unit or frame rate is left out.
    """
    changed = [name for name in now if before.get(name) != now[name]] + [name for name in before if name not in now]
    return [name for name in changed if name in UNITS] or changed


def session_identity(item: bpy.types.ID) -> int:
    """Return a number that stays the same while Blender runs, also if the data-block is renamed."""
    return int(item.session_uid)


def scene_parts(scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object], identity: Identity,
                settings: SceneSettings) -> Parts:
    """Return the parts of all that a bake of `cloths` depends on. `identity` tells data-blocks apart."""
    parts: Parts = {}
    for label, value in _scene_values(settings).items():
        parts[label] = label, _digest_of(identity, value)
    curves = Digest(identity)
    if curves.add_curves(scene, ("gravity", "use_gravity")):        # then its value differs from frame to frame
        parts["gravity"] = "gravity", curves.text()
    queue: list[bpy.types.ID] = []
    single = len(cloths) == 1
    for cloth in cloths:
        prefix = "" if single else f"'{cloth.name_full}': "
        settings_here = settings_of(cloth, scene)
        parts[identity(cloth), "settings"] = f"{prefix}settings", _digest_of(identity, (
            kind_of(cloth, scene), asdict(settings_here)))
        _add_object(parts, queue, cloth, identity, f"{prefix}mesh", f"{prefix}object and modifiers",
                    f"{prefix}shape keys")
        surface = Digest(identity)
        _add_maps(surface, cloth, settings_here)
        parts[identity(cloth), "maps"] = f"{prefix}vertex groups, attributes and UV map", surface.text()
    for obj in sorted(scene.objects, key=lambda obj: obj.name_full):
        if kind_of(obj, scene) == "COLLIDER":
            label = f"collider '{obj.name_full}'"
            values = asdict(collider_settings_of(obj, scene))
        elif obj.field is not None and obj.field.type == "WIND":
            label, values = f"wind field '{obj.name_full}'", {}
        else:
            continue
        parts[identity(obj), "role"] = f"{label} (its settings)", _digest_of(identity, values)
        _add_object(parts, queue, obj, identity, f"{label} (its mesh)", label, f"{label} (its shape keys)")
    while queue:
        item = queue.pop(0)
        kind = item.bl_rna.name.lower()
        label = f"{kind} '{item.name_full}'"
        if isinstance(item, bpy.types.Object):
            _add_object(parts, queue, item, identity, "", label, f"{label} (its shape keys)")
        else:
            _add_data(parts, queue, item, identity, label)
    return parts


def _scene_values(settings: SceneSettings) -> dict[str, Any]:
    """Return the settings of the scene by part. The backend is left out: it does not change what is simulated."""
    values = asdict(settings)
    values.pop("backend")
    parts: dict[str, Any] = {
        "frame range": (values.pop("first"), values.pop("last")),
        "frame rate": (values.pop("frame_rate"), values.pop("time_ratio")),
        "unit scale": values.pop("metres_per_unit"), "gravity": values.pop("gravity"), "wind": values.pop("wind")}
    return {**parts, "solver settings": values}


def _digest_of(identity: Identity, value: Any) -> str:
    digest = Digest(identity)
    digest.add(value)
    return digest.text()


def _add_object(parts: Parts, queue: list[bpy.types.ID], obj: Any, identity: Identity, data_label: str, label: str,
                keys_label: str) -> None:
    """Add an object, its shape keys, and, if `data_label` names it, its data, unless they are parts already."""
    key = identity(obj), "object"
    if key in parts:
        return
    parts[key] = label, ""                                          # first, because objects may refer to each other
    digest = Digest(identity)
    digest.add_data_block(obj)
    parts[key] = label, digest.text()
    queue += digest.references
    keys = Digest(identity)
    keys.add_shape_keys(obj)
    parts[identity(obj), "keys"] = keys_label, keys.text()
    queue += keys.references
    if data_label and obj.data is not None:
        _add_data(parts, queue, obj.data, identity, data_label)


def _add_data(parts: Parts, queue: list[bpy.types.ID], item: Any, identity: Identity, label: str) -> None:
    key = identity(item), type(item).__name__
    if key not in parts:
        digest = Digest(identity)
        digest.add_data_block(item)
        parts[key] = label, digest.text()
        queue += digest.references


def _add_maps(digest: Digest, cloth: Any, settings: Any) -> None:
    """Add the weights, attributes and UV map that the cloth's settings name."""
    mesh, garment = cloth.data, settings.garment
    if cloth.type != "MESH" or mesh.is_editmode:
        return
    names = {settings.pin_group, garment.buttons, garment.shrink_group, garment.wrinkle_group,
             *(group for group, _ in garment.stiffness.values())} - {""}
    for name in sorted(names):
        group = cloth.vertex_groups.get(name)
        if group is not None:
            digest.add(name, mesh_data.group_weights(mesh, group.index))
    for name, values in _attributes(mesh, sorted(names | set(ATTRIBUTES))):
        digest.add(name, values)
    if settings.grain == "UV" or garment.pattern:
        layer = mesh.uv_layers.get(settings.uv_map) if settings.uv_map else mesh.uv_layers.active
        if layer is not None:
            digest.add(layer.name, mesh_data.uv(mesh, layer.name))


def _attributes(mesh: Any, names: Iterable[str]) -> Iterable[tuple[str, Any]]:
    for name in names:
        for kind in ("FLOAT", "FLOAT_VECTOR"):
            values = mesh_data.point_values(mesh, name, kind)
            if values is not None:
                yield name, values
