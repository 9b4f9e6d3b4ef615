# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide's table of Blender's cloth settings is complete, and what it names exists and is read."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "blender-settings.md").read_text(encoding="utf-8")
GROUPS = ("ClothModifier", "ClothSettings", "ClothCollisionSettings", "CollisionSettings", "EffectorWeights",
          "FieldSettings", "PointCache", "ClothSolverResult")
NEWER = {"PointCache.compression"}
"""Settings that only one of the tested versions of Blender has."""


def table():
    """Return the rows of the page: setting -> (names in Muslin, remark)."""
    rows, group = {}, None
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[1] == "Muslin":
            group = cells[0].strip("`")
        elif len(cells) == 3 and cells[0].startswith("`"):
            rows[f"{group}.{cells[0].strip('`')}"] = (re.findall(r"`([\w.]+)`", cells[1]), cells[2])
    return rows


def settings_of_blender():
    """Return the settings of each group that its base class does not have."""
    found = set()
    for group in GROUPS:
        kind = getattr(bpy.types, group).bl_rna
        inherited = {prop.identifier for prop in kind.base.properties} if kind.base else set()
        found |= {f"{group}.{prop.identifier}" for prop in kind.properties
                  if prop.identifier not in inherited | {"rna_type"}}
    return found


def is_read(name, trees):
    """Return whether the add-on reads the property outside of its panels: as an attribute, by its name, or by a name
    that is put together, as in f"{what}_group"."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == name:
                return True
            if isinstance(node, ast.Constant) and node.value == name:
                return True
            if isinstance(node, ast.JoinedStr):
                parts = [re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"[a-z_]+"
                         for part in node.values]
                if len(parts) > 1 and re.fullmatch("".join(parts), name) \
                        and any("_" in part and part != r"[a-z_]+" for part in parts):
                    return True
    return False


def test_every_setting_of_blender_has_its_row(extension):
    assert settings_of_blender() - set(table()) == set()
    assert set(table()) - settings_of_blender() - NEWER == set()


def test_every_row_has_an_equivalent_or_a_reason(extension):
    for setting, (names, remark) in table().items():
        assert names or len(remark) > 5, setting


def test_the_page_names_tearing_which_blender_has_not(extension):
    known = bpy.types.Object.bl_rna.properties["muslin"].fixed_type.properties.keys()
    assert [name for name in settings_of_blender() if "tear" in name.lower()] == []
    assert {name for name in known if "tear" in name} == set(re.findall(r"`object\.muslin\.(\w*tear\w*)`", PAGE))


@pytest.mark.parametrize("owner", ["object.muslin", "scene.muslin", "object.field"])
def test_every_equivalent_exists_and_is_read(extension, owner):
    kind, group = owner.split(".")
    holder = getattr(bpy.types, kind.title()).bl_rna.properties[group].fixed_type
    known = {prop.identifier for prop in holder.properties}
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "cloth_addon").rglob("*.py")
             if path.parent.name != "ui"]
    listed = {name.rpartition(".")[2] for names, _ in table().values() for name in names if name.startswith(owner)}
    assert listed and listed - known == set()
    assert [name for name in sorted(listed) if not is_read(name, trees)] == []
