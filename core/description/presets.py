# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets: the files presets/fabrics/NAME.toml, whose constants have a value, a unit and a source each."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..did_you_mean import perhaps
from ..errors import PresetError

Fabric = TypeVar("Fabric")

PRESETS_IN_PACKAGE = Path(__file__).resolve().parents[1] / "presets" / "fabrics"
PRESET_FOLDER = PRESETS_IN_PACKAGE if PRESETS_IN_PACKAGE.is_dir() else PRESETS_IN_PACKAGE.parents[2] / "presets/fabrics"
"""Folder of the presets: inside the package that pip installs, beside it in the source tree and in the extension."""


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
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        values = {key: entry["value"] for key, entry in table.items() if isinstance(entry, dict)}
        return make(name=name, **values)
    except (OSError, ValueError, KeyError, TypeError) as error:    # ValueError: syntax, encoding, range
        raise PresetError(f"preset '{name}' ({path.name}) cannot be read: {error!r}") from error
