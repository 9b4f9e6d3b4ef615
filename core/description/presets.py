# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets: the files presets/fabrics/NAME.toml, whose constants have a value, a unit and a source each.

Files of the same form may stand anywhere: `read_fabric` and `write_fabric` take their paths.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..did_you_mean import perhaps
from ..errors import PresetError
from ..parsed import Either, Fields, ListOf, Number, Text, from_toml

Fabric = TypeVar("Fabric")

PRESETS_IN_PACKAGE = Path(__file__).resolve().parents[1] / "presets" / "fabrics"
PRESET_FOLDER = PRESETS_IN_PACKAGE if PRESETS_IN_PACKAGE.is_dir() else PRESETS_IN_PACKAGE.parents[2] / "presets/fabrics"
"""Folder of the presets: inside the package that pip installs, beside it in the source tree and in the extension."""

UNITS = {
    "areal_density": "kg/m^2", "stretch": "N/m", "shear": "N/m", "bend": "N m", "compression": "N/m", "damping": "s",
    "compression_damping": "s", "shear_damping": "s", "bend_damping": "s", "isotropic_damping": "kg/s",
    "spring_damping": "kg/s", "friction": "-", "drag_coefficient": "-", "skin_friction": "-",
    "slow_drag_speed": "m/s", "air_drag": "kg/(m^2 s)", "viscous_drag": "kg/(m^2 s)", "thread_width": "m"}
"""Unit of each constant that a preset may have."""
_NEEDED = ("areal_density", "stretch", "shear")
_CONSTANT = Fields({"value": Either(Number(0.0), ListOf(Number(0.0), 2, 2))},
                   {"unit": Text(100), "source": Text(1000)})
PRESET = Fields(dict.fromkeys(_NEEDED, _CONSTANT), {
    "name": Text(100), "description": Text(1000),
    **dict.fromkeys((constant for constant in UNITS if constant not in _NEEDED), _CONSTANT)})
"""Schema of a preset's file."""


@dataclass(frozen=True)
class FabricFile:
    """What a preset's file says for users, beside its constants: its title and a description, empty if not given."""

    title: str
    description: str


def preset_names() -> tuple[str, ...]:
    """Return the names of the presets, sorted."""
    return tuple(sorted(path.stem for path in PRESET_FOLDER.glob("*.toml")))


def load_preset(name: str, make: Callable[..., Fabric]) -> Fabric:
    """Return the fabric that `make` makes of the name and the constants of a preset, as keyword arguments.

    Raises:
        PresetError: there is no such preset, its file is damaged, or `make` refuses its constants.
    """
    names = preset_names()
    if not isinstance(name, str) or name not in names:
        raise PresetError(f"no fabric preset '{name}'; there are: {', '.join(names)}" + perhaps(name, names))
    return read_fabric(PRESET_FOLDER / f"{name}.toml", make)[0]


def read_fabric(path: Path, make: Callable[..., Fabric]) -> tuple[Fabric, FabricFile]:
    """Return the fabric that `make` makes of the constants of a preset's file, and what the file says of it.

    Raises:
        PresetError: the file cannot be read or is damaged, or `make` refuses its constants.
    """
    try:
        table = from_toml(path, PRESET)
        fabric = make(name=path.stem, **{key: entry["value"] for key, entry in table.items() if key in UNITS})
        return fabric, FabricFile(table.get("name", ""), table.get("description", ""))
    except (OSError, ValueError, KeyError, TypeError) as error:    # ValueError: syntax, encoding, range
        remedy = ("restore the file, or install Muslin again" if path.parent == PRESET_FOLDER
                  else f"correct the file, or delete it: {path.parent}")
        raise PresetError(f"preset '{path.stem}' ({path.name}) cannot be read: {error}; {remedy}") from error


def write_fabric(path: Path, about: FabricFile, constants: Mapping[str, float | Sequence[float]], source: str) -> None:
    """Write a preset's file, in one step: an earlier one of that path stays complete until the new one is.

    Args:
        path: of the file; its folder exists.
        about: title and description.
        constants: values by the names in `UNITS`; constants that take the value of another one are left out.
        source: where the values come from.

    Raises:
        PresetError: the file cannot be written.
    """
    lines = [f"name = {_quoted(about.title)}", f"description = {_quoted(about.description)}"]
    for constant, value in constants.items():
        number = repr(float(value)) if isinstance(value, (int, float)) else str([float(part) for part in value])
        lines += ["", f"[{constant}]", f"value = {number}", f"unit = {_quoted(UNITS[constant])}",
                  f"source = {_quoted(source)}"]
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        unfinished.write_bytes(("\n".join(lines) + "\n").encode("utf-8"))
        unfinished.replace(path)
    except (OSError, ValueError) as error:                          # ValueError: encoding
        raise PresetError(f"preset '{path.stem}' cannot be written to {path}: {error}; choose another name, or make "
                          "the folder writable") from error


def _quoted(text: str) -> str:
    """Return a string of TOML, which is written as in JSON but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
