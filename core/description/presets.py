# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets: the files presets/fabrics/NAME.toml, whose constants have a value, a unit and a source each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..did_you_mean import perhaps
from ..errors import PresetError
from ..parsed import Either, Fields, ListOf, Number, Text, from_toml

Fabric = TypeVar("Fabric")

PRESETS_IN_PACKAGE = Path(__file__).resolve().parents[1] / "presets" / "fabrics"
PRESET_FOLDER = PRESETS_IN_PACKAGE if PRESETS_IN_PACKAGE.is_dir() else PRESETS_IN_PACKAGE.parents[2] / "presets/fabrics"
"""Folder of the presets: inside the package that pip installs, beside it in the source tree and in the extension."""

_CONSTANT = Fields({"value": Either(Number(0.0), ListOf(Number(0.0), 2, 2))},
                   {"unit": Text(100), "source": Text(1000)})
PRESET = Fields(dict.fromkeys(("areal_density", "stretch", "shear"), _CONSTANT), {
    "name": Text(100), "description": Text(1000),
    **dict.fromkeys(("bend", "damping", "isotropic_damping", "spring_damping", "friction", "air_drag", "viscous_drag",
                     "thread_width",
                     "compression", "compression_damping", "shear_damping", "bend_damping"), _CONSTANT)})
"""Schema of a preset's file."""


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
    path = PRESET_FOLDER / f"{name}.toml"
    try:
        table = from_toml(path, PRESET)
        return make(name=name, **{key: entry["value"] for key, entry in table.items() if isinstance(entry, dict)})
    except (OSError, ValueError, KeyError, TypeError) as error:    # ValueError: syntax, encoding, range
        raise PresetError(f"preset '{name}' ({path.name}) cannot be read: {error}; restore the file, or install Muslin "
                          "again") from error
