# SPDX-License-Identifier: GPL-3.0-or-later
"""The scripts in the user guide run, and its tables of names and defaults are correct."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from tests.addon import builders

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "guide").glob("*.md"))
GUIDE = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
SCRIPTS = [script for script in re.findall(r"```python\n(.*?)```", GUIDE, re.S) if "import bpy" in script]
"""Scripts that run in Blender. Those for the core alone name files of the reader's."""


def test_the_script_in_the_user_guide_bakes(extension, scene):
    sheet = builders.sheet(5, "Plane", height=1.0)
    builders.pin(sheet, {0: 1.0, 4: 1.0}, "Pins")
    builders.box("Sphere", size=0.2, kind="NONE")
    scene.frame_start, scene.frame_end = 1, 3
    exec(SCRIPTS[0], {})
    assert [key.name for key in sheet.data.shape_keys.key_blocks][-1].endswith("0003")
    silk = extension.core.Material.preset("silk")
    assert abs(sheet.muslin.areal_density - silk.areal_density) < 1e-6


def test_the_script_for_plain_python_loads_muslin(extension, tmp_path):
    import bpy

    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    os.symlink(ROOT, tmp_path / "muslin", target_is_directory=True)
    assert len(SCRIPTS) == 2
    script = SCRIPTS[1].replace("path/to", str(tmp_path)) + "print(bpy.context.scene.muslin.integrator)\n"
    script += re.findall(r"end with `(.*?)`", GUIDE)[0]
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and ended.stdout.split()[-1] == "BDF2", ended.stdout + ended.stderr


def test_every_choice_is_listed_as_scripts_spell_it(extension):
    import bpy

    rows = re.findall(r"^\| `(\w+\.muslin\.\w+)` \| (.*) \|$", GUIDE, re.M)
    listed = {name: set(re.findall(r"`(\w+)`", row)) for name, row in rows}
    for kind in ("Object", "Scene"):
        for prop in getattr(bpy.types, kind).bl_rna.properties["muslin"].fixed_type.properties:
            if prop.type == "ENUM":
                name = f"{kind.lower()}.muslin.{prop.identifier}"
                assert name in listed, f"the user guide does not list the choices of {name}"
                if prop.identifier != "compare_models":             # which refers to another row
                    assert listed[name] == set(extension.fabric_presets.identifiers_of(prop)), name


def test_every_line_of_the_certificate_is_explained(extension, scene):

    text = extension.certificate_text
    values = dict.fromkeys(("stretch_max", "stretch_p99", "smallest_gap", "deepest_penetration", "crossings",
                            "crossings_pinched", "torn_edges", "not_converged", "seam_gap", "stretch_pinned"), 1.5)
    report = {"summary": values, "certificates": [values], "first": 1, "last": 1, "seconds": {"total": 1.0},
              "backend": "numpy"}
    table = re.findall(r"^\| line \| what it says \|\n.*\n((?:\|.*\n)+)", GUIDE, re.M)[0]
    assert re.findall(r"^\| (.*?) \|", table, re.M) == [name for name, _ in text.facts(report)]
    assert all(f"| {name} |" in table or f"*{name}*" in GUIDE for name, _ in text.frame_facts(report, 1))


def test_every_setting_and_operator_is_listed_with_its_script_name(extension):
    import bpy

    for kind in ("object", "scene"):
        table = re.findall(rf"^\| of .* \| `{kind}\.muslin` \|$\n((?:\|.*\n)+)", GUIDE, re.M)[0]
        listed = {prop: words for words, prop in re.findall(r"\*([^*|]+)\* `(\w+)`", table)}
        group = getattr(bpy.types, kind.title()).bl_rna.properties["muslin"].fixed_type
        assert listed == {prop.identifier: prop.name for prop in group.properties
                          if prop.identifier not in ("rna_type", "name")}
    calls = re.findall(r"^\| .* \| `bpy\.ops\.muslin`.* \|$\n((?:\|.*\n)+)", GUIDE, re.M)[0]
    assert set(re.findall(r"`(\w+)\(", calls)) == set(dir(bpy.ops.muslin))
    exec("bpy.ops.muslin." + re.findall(r"`(particles_add\(.*?\))`", calls)[0], {"bpy": bpy})
    assert len(bpy.context.object.data.vertices) == 500 and bpy.context.object.muslin.model == "particles"


def test_the_defaults_that_differ_from_the_core_s_are_those_in_the_table(extension, scene):
    core = extension.core
    panel, plain = extension.settings.scene_settings_of(scene).solver(), core.Solver()
    listed = dict(re.findall(r"^\| `Solver\.(\w+)` \| (.*) \|$", GUIDE, re.M))
    differ = {name for name, value in asdict(plain).items() if getattr(panel, name) != value} - {"newton_iterations"}
    assert differ == set(listed)
    for name, row in listed.items():
        value = getattr(panel, name)                                # a file keeps single precision
        assert row == f"`{getattr(plain, name)}` | `{value if isinstance(value, str) else format(value, 'g')}`"
    sheet = builders.sheet()
    made = extension.settings.settings_of(sheet, scene)
    assert abs(made.material("x").drag_coefficient - core.Material.preset("cotton").drag_coefficient) < 1e-6
    assert made.model == "baraff_witkin" and made.thickness is None and made.max_elongation is None
    assert f"| `Collider.friction` | `{core.Collider([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).friction:g}` | " \
        f"`{extension.settings.collider_settings_of(sheet, scene).friction:g}`, cotton's |" in GUIDE
