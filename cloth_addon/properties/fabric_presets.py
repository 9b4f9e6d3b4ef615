# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets on an object: load, save and remove a preset, and find the preset that the values belong to.

The preset's name is not stored. An object has the preset `cotton` as long as its values equal those of cotton, and
`CUSTOM` otherwise; keyed values do not count. Presets that the user has saved stand behind Muslin's own.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ... import core
from ...core.description.presets import PRESET_FOLDER, read_fabric
from . import own_fabrics
from .air_settings import air_constants, air_values, unused_air
from .enum_items import Item, title
from .number_text import number_text
from .unkeyed_values import keyed_names

CUSTOM, DEFAULT = "CUSTOM", "cotton"
OWN_PICTURE = "_own"
"""Name of the picture that stands for presets of the user."""

OF_COMPRESSION = ("compression_warp", "compression_weft")
OF_SEPARATE_DAMPING = ("compression_damping", "shear_damping", "bend_damping")
PRESET_PROPERTIES = (
    "areal_density", "stretch_warp", "stretch_weft", "shear", "bend_warp", "bend_weft",
    "damping", "friction", "air_drag", "drag_coefficient", "skin_friction", "slow_drag_speed", "air_law",
    "viscous_drag", "isotropic_damping", "spring_damping",
    "use_compression", *OF_COMPRESSION, "use_separate_damping", *OF_SEPARATE_DAMPING,
)
"""Properties of `MuslinObject` that a preset sets."""
Key = tuple[float | str | None, ...]
"""The values of the properties, numbers in single precision, as Blender stores them; None for those that do not count.
"""


@dataclass(frozen=True)
class FabricPreset:
    """A fabric of Muslin or of the user.

    Attributes:
        name: for scripts; the file's, without its ending.
        title, description: for the user.
        values: by property of `MuslinObject`, in SI.
        path: of the file.
        is_own: whether the user has saved it.
    """

    name: str
    title: str
    description: str
    values: dict[str, Any]
    path: Path
    is_own: bool


@dataclass(frozen=True)
class Found:
    """The presets whose files can be read, and what is wrong with the others. `names` has the preset of each key."""

    presets: tuple[FabricPreset, ...]
    problems: tuple[str, ...]
    names: dict[Key, str]
    items: list[Item]


def preset_values(name: str) -> dict[str, Any]:
    """Return the values of the preset `name` by property of `MuslinObject`, in SI."""
    return preset(name).values


def preset(name: str) -> FabricPreset:
    """Return a preset by its name.

    Raises:
        core.PresetError: there is none of that name.
    """
    for found in presets().presets:
        if found.name == name:
            return found
    raise core.PresetError(f"no fabric preset '{name}'; there are: {', '.join(readable_presets()[0])}")


def presets() -> Found:
    """Return all presets, Muslin's own first. Files of the user that have changed are read again."""
    return _presets_with(own_fabrics.files())


@functools.lru_cache(maxsize=8)                     # Blender uses the items' texts until it has asked again
def _presets_with(own: tuple[tuple[Path, int, int], ...]) -> Found:
    found, problems = list(built_in_presets()[0]), list(built_in_presets()[1])
    taken = {known.name for known in found} | set(core.Material.presets())
    for path, _, _ in own:
        try:
            if path.stem in taken or own_fabrics.RESERVED.fullmatch(path.stem.lower()):
                raise core.PresetError(f"preset '{path.stem}' has a name that is kept for Muslin; rename {path}")
            made = _preset_of_file(path, is_own=True)
            _check_limits(made)
            found.append(made)
        except core.ClothError as error:
            problems.append(str(error))
    names: dict[Key, str] = {}
    for known in found:
        names.setdefault(_key_of(known.values), known.name)
    included = "Fills in all values of the fabric, Friction and drags included"
    items = [(known.name, known.title, f"{known.description or known.title}. {included}", i)
             for i, known in enumerate(found)]
    return Found(tuple(found), tuple(problems), names, [*items, (CUSTOM, "Custom", "Values of your own", len(items))])


@functools.cache
def built_in_presets() -> tuple[tuple[FabricPreset, ...], tuple[str, ...]]:
    """Return the fabrics of Muslin whose files can be read, and what is wrong with the others."""
    found, problems = [], []
    for name in core.Material.presets():
        try:
            found.append(_preset_of_file(PRESET_FOLDER / f"{name}.toml", is_own=False))
        except core.ClothError as error:
            problems.append(str(error))
    return tuple(found), tuple(problems)


def _preset_of_file(path: Path, *, is_own: bool) -> FabricPreset:
    material, about = read_fabric(path, core.Material)
    return FabricPreset(path.stem, about.title.strip() or title(path.stem), about.description, _values_of(material),
                        path, is_own)


def _check_limits(made: FabricPreset) -> None:
    """Raise PresetError if a value is beyond the limits of its property."""
    muslin: Any = bpy.types.Object.bl_rna.properties["muslin"]
    limits = muslin.fixed_type.properties
    for prop, value in made.values.items():
        if limits[prop].type == "FLOAT" and not limits[prop].hard_min <= np.float32(value) <= limits[prop].hard_max:
            raise core.PresetError(
                f"preset '{made.name}' ({made.path.name}) cannot be used: {prop} is {number_text(value)}, not from "
                f"{number_text(limits[prop].hard_min)} to {number_text(limits[prop].hard_max)}; correct the file, or "
                f"delete it: {made.path.parent}")


def _values_of(fabric: core.Material) -> dict[str, Any]:
    compression = fabric.compression or fabric.stretch
    return {
        "areal_density": fabric.areal_density,
        "stretch_warp": fabric.stretch[0], "stretch_weft": fabric.stretch[1], "shear": fabric.shear,
        "bend_warp": fabric.bend[0], "bend_weft": fabric.bend[1],
        "damping": fabric.damping, "friction": fabric.friction, **air_values(fabric),
        "viscous_drag": fabric.viscous_drag, "isotropic_damping": fabric.isotropic_damping,
        "spring_damping": fabric.spring_damping,
        "use_compression": fabric.compression is not None,
        "compression_warp": compression[0], "compression_weft": compression[1],
        "use_separate_damping": any(getattr(fabric, prop) is not None for prop in OF_SEPARATE_DAMPING),
        **{prop: fabric.damping_of(prop.partition("_")[0]) for prop in OF_SEPARATE_DAMPING},
    }


def _unused(values: dict[str, Any]) -> tuple[str, ...]:
    """Return the properties that do not count with these values."""
    return ((() if values["use_compression"] else OF_COMPRESSION)
            + (() if values["use_separate_damping"] else OF_SEPARATE_DAMPING) + unused_air(values))


def _key_of(values: dict[str, Any]) -> Key:
    unused = _unused(values)
    return tuple(None if prop in unused else values[prop] if isinstance(values[prop], str)
                 else float(np.float32(values[prop])) for prop in PRESET_PROPERTIES)


def readable_presets() -> tuple[tuple[str, ...], str]:
    """Return the names of the presets whose files can be read, and what is wrong with the others."""
    found = presets()
    return tuple(known.name for known in found.presets), "; ".join(found.problems)


def default_values() -> dict[str, Any]:
    """Return the values of a new object: those of cotton, or of a plain sheet if its preset cannot be read."""
    for known in built_in_presets()[0]:
        if known.name == DEFAULT:
            return known.values
    return _values_of(core.Material(areal_density=0.15, stretch=(4000.0, 4000.0), shear=300.0))


def preset_items() -> list[Item]:
    """Return the presets as items of an enum, Custom last."""
    return presets().items


def identifiers_of(prop: Any) -> list[str]:
    """Return the items' identifiers of an enum property. Those of the fabric change with the user's presets."""
    return ([item[0] for item in preset_items()] if prop.identifier == "fabric"
            else [item.identifier for item in prop.enum_items])


def load_preset(settings: Any, name: str) -> None:
    """Set the properties of `settings` to the values of the preset `name`; CUSTOM leaves them unchanged."""
    if name != CUSTOM:
        values = preset_values(name)
        unused = _unused(values)
        for prop, value in values.items():
            if prop not in unused:
                setattr(settings, prop, value)


def preset_of(settings: Any) -> str:
    """Return the name of the preset whose values `settings` has, or CUSTOM. Properties are in single precision.

    Keyed settings, whose values change from frame to frame, belong to any preset.
    """
    values = _values_at(settings)
    keyed = keyed_names(settings.id_data).intersection(PRESET_PROPERTIES)
    if not keyed:
        return presets().names.get(_key_of(values), CUSTOM)
    return next((known.name for known in presets().presets if _key_of(known.values) == _key_of(
        values | {prop: known.values[prop] for prop in keyed})), CUSTOM)


def _values_at(settings: Any) -> dict[str, Any]:
    """Return the values of a fabric at the scene's frame, by property."""
    return {prop: getattr(settings, prop) for prop in PRESET_PROPERTIES}


def picture_path(known: FabricPreset) -> Path:
    """Return the file of a preset's picture."""
    return PRESET_FOLDER / f"{OWN_PICTURE if known.is_own else known.name}.png"


def title_of(name: str) -> str:
    """Return the title of a preset, or Custom."""
    return next(item[1] for item in preset_items() if item[0] == name)


def own_preset(named: str) -> FabricPreset | None:
    """Return the user's preset with this title or name; None if there is none."""
    wanted = own_fabrics.identifier_of(named)
    return next((known for known in presets().presets
                 if known.is_own and own_fabrics.identifier_of(known.name) == wanted), None)


def save_preset(settings: Any, named: str, description: str = "", *, overwrite: bool = False) -> FabricPreset:
    """Save the values of `settings` as a preset of the user, and return it.

    Raises:
        core.PresetError: the name is unfit or taken, another preset has these values, or the file cannot be written.
    """
    name = own_fabrics.checked_name(named, core.Material.presets())
    path = own_fabrics.folder(create=True) / f"{name}.toml"
    earlier = own_preset(named)
    path = path if earlier is None else earlier.path
    if path.exists() and not overwrite:
        raise core.PresetError(f"there is a preset '{named.strip()}' already; choose another name, or overwrite it")
    values = _values_at(settings)
    same = presets().names.get(_key_of(values), CUSTOM)
    if same not in (CUSTOM, path.stem):
        raise core.PresetError(f"these are the values of the preset '{title_of(same)}'; change one, then save them")
    material = _material_of(path.stem, {prop: float(str(np.float32(value))) if isinstance(value, float) else value
                                        for prop, value in values.items()})
    material.save(path, title=named.strip(), description=description.strip(), source="saved by a user in Blender")
    _presets_with.cache_clear()                     # a file may change twice within the resolution of its time
    return preset(path.stem)


def _material_of(name: str, values: dict[str, Any]) -> core.Material:
    """Return the fabric of an object's values."""
    same = ("areal_density", "shear", "damping", "friction", "viscous_drag", "isotropic_damping", "spring_damping",
            *(OF_SEPARATE_DAMPING if values["use_separate_damping"] else ()))
    pairs = ("stretch", "bend", *(("compression",) if values["use_compression"] else ()))
    constants: dict[str, Any] = {constant: values[constant] for constant in same} | air_constants(values)
    for constant in pairs:
        constants[constant] = values[f"{constant}_warp"], values[f"{constant}_weft"]
    return core.Material(name=name, **constants)


def remove_preset(named: str) -> None:
    """Remove a preset that the user has saved.

    Raises:
        core.PresetError: there is no such preset, it is Muslin's, or its file cannot be deleted.
    """
    found = own_preset(named)
    if found is None:
        own = [known.name for known in presets().presets if known.is_own]
        raise core.PresetError(f"you have saved no preset '{named}'; there are: {', '.join(own) or 'none'}")
    own_fabrics.remove(found.path)
    _presets_with.cache_clear()
