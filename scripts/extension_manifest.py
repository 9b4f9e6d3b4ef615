# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and check blender_manifest.toml, with any Python from 3.9 on and nothing else. Used by build_extension.py.

Python reads TOML itself only from 3.11 on. The project's files need little of it: strings, numbers, true, false and
arrays of strings, which are written as in Python, and tables.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = ("schema_version", "id", "version", "name", "tagline", "maintainer", "type", "blender_version_min",
            "license")
OPTIONAL = ("blender_version_max", "website", "copyright", "permissions", "tags", "platforms", "wheels", "build")
LISTS = ("license", "copyright", "tags", "platforms", "wheels")
PERMISSIONS = ("files", "network", "clipboard", "camera", "microphone")
LONGEST_LINE = 64
"""Largest number of letters of the tagline and of a permission's reason [-]."""


def read_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML file, tables as dictionaries.

    Raises:
        ValueError: a line is not of the part of TOML that is read here.
    """
    values: dict[str, Any] = {}
    table, waiting = values, ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not waiting and (not stripped or stripped.startswith("#")):
            continue
        header = re.fullmatch(r"\[([\w.-]+)\]\s*(#.*)?", stripped)
        if header and not waiting:
            table = values
            for name in header[1].split("."):
                table = table.setdefault(name, {})
            continue
        waiting += line + "\n"
        key, _, value = waiting.partition("=")
        try:
            read = ast.literal_eval({"true": "True", "false": "False"}.get(value.strip(), value.strip()))
        except SyntaxError:
            if value.lstrip().startswith("["):                  # an array of several lines
                continue
            raise ValueError(f"line {number} cannot be read: {line}") from None
        except ValueError:
            raise ValueError(f"line {number} cannot be read: {line}") from None
        table[key.strip()], waiting = read, ""
    if waiting:
        raise ValueError(f"the file ends within {waiting.splitlines()[0]}")
    return values


def read_manifest(folder: Path = ROOT) -> dict[str, Any]:
    """Return the manifest of the extension in a folder."""
    return read_toml((folder / "blender_manifest.toml").read_text(encoding="utf-8"))


def faults(manifest: dict[str, Any], files: list[str]) -> list[str]:
    """Return what Blender would refuse in a manifest, or in the list of files of an extension."""
    found = [f"{key} is missing" for key in REQUIRED if not manifest.get(key)]
    found += [f"{key} is unknown" for key in manifest if key not in REQUIRED + OPTIONAL]
    found += [f"{key} is no list of texts" for key in LISTS if key in manifest and not _are_texts(manifest[key])]
    found += [f"{key} is no text" for key in REQUIRED
              if key not in LISTS and not isinstance(manifest.get(key, ""), str)]
    if found:
        return found
    for key, pattern in (("id", r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*"), ("schema_version", r"\d+\.\d+\.\d+"),
                         ("version", r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?"), ("blender_version_min", r"\d+\.\d+\.\d+"),
                         ("type", r"add-on"), ("tagline", rf".{{0,{LONGEST_LINE - 1}}}[\w)\]}}]")):
        if not re.fullmatch(pattern, manifest[key]):
            found.append(f"{key} is {manifest[key]!r}")
    found += [f"license {text!r} does not begin with SPDX:" for text in manifest["license"]
              if not text.startswith("SPDX:")]
    for name, reason in manifest.get("permissions", {}).items():
        if name not in PERMISSIONS or not re.fullmatch(rf".{{0,{LONGEST_LINE - 1}}}[\w)\]}}]", str(reason)):
            found.append(f"permission {name} is {reason!r}")
    found += [f"{name} is not in the zip" for name in ("__init__.py", "blender_manifest.toml") if name not in files]
    wheels = [path[2:] for path in manifest.get("wheels", []) if path.startswith("./")]
    packed = [name for name in files if name.endswith(".whl")]
    if len(wheels) != len(manifest.get("wheels", [])) or sorted(wheels) != sorted(packed):
        found.append(f"wheels are {wheels}, in the zip are {packed}")
    return found


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) and text for text in value)
