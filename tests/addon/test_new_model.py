# SPDX-License-Identifier: GPL-3.0-or-later
"""A new model needs one file, one line in the registry and one with its options; then it is in the panel and bakes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LAW = '''
"""Made up: every edge is a spring that resists by the cube of its elongation, k/4 (|d| - L)^4."""
from ..component_algebra import direction, length, outer, scale
from ..springs.spring import edge_stencil
from ..stencil import ElementForce
import numpy as np

class Quartic:
    name, constant_tangent, linear = "quartic", False, False

    def energy(self, F, p):
        return 0.25 * p[0] * (length(F[0]) - p[1]) ** 4

    def stress(self, F, p):
        return (scale(p[0] * (length(F[0]) - p[1]) ** 3, direction(F[0])),)

    def tangent(self, F, p):
        u = direction(F[0])
        return ((outer(3.0 * p[0] * (length(F[0]) - p[1]) ** 2, u, u),),)

    projected_tangent = tangent

    def conditions(self, F, p):
        return ((p[0], (direction(F[0]),)),)

def build(mesh, material):
    k = np.full(len(mesh.edges), material.stretch[0] / mesh.mean_edge ** 2)
    return [ElementForce(edge_stencil(mesh.edges), Quartic(), (k, mesh.rest_lengths), material.damping)]
'''
BAKE = '''
import os, sys, tempfile
from pathlib import Path
folder = tempfile.mkdtemp()
os.environ["BLENDER_USER_RESOURCES"] = folder
import bpy
sys.path.insert(0, {tests!r})
os.mkdir(os.path.join(folder, "dev"))
os.symlink({checkout!r}, os.path.join(folder, "dev", "muslin"), target_is_directory=True)
bpy.context.preferences.extensions.repos.new(name="dev", module="dev", custom_directory=os.path.join(folder, "dev"))
bpy.ops.preferences.addon_enable(module="bl_ext.dev.muslin")
import builders
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
bpy.context.scene.frame_end = 4
bpy.context.scene.muslin.backend = "NUMPY"
cloth = builders.sheet(4)
builders.pin(cloth, {{0: 1.0}})
names = [item.identifier for item in cloth.muslin.bl_rna.properties["model"].enum_items]
cloth.muslin.model = "made_up"
bpy.context.view_layer.objects.active = cloth
bpy.ops.muslin.bake()
print("MODELS", names)
print("BAKED", len(cloth.data.shape_keys.key_blocks), builders.displayed(cloth, 4)[:, 2].min() < -0.01)
'''


def copy_of_the_checkout(folder):
    """The extension's files, linked one by one so that some can be others."""
    for part in ("core", "cloth_addon", "presets"):
        for path in (ROOT / part).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                there = folder / path.relative_to(ROOT)
                there.parent.mkdir(parents=True, exist_ok=True)
                there.write_bytes(path.read_bytes())
    for name in ("__init__.py", "blender_manifest.toml"):
        (folder / name).write_bytes((ROOT / name).read_bytes())


def test_a_new_model_needs_one_file_and_two_lines_and_then_bakes(tmp_path):
    checkout = tmp_path / "muslin"
    copy_of_the_checkout(checkout)
    (checkout / "core" / "stencils" / "models" / "made_up.py").write_text(textwrap.dedent(LAW))
    registry = checkout / "core" / "stencils" / "registry.py"
    text = registry.read_text()
    line = '    "baraff_witkin": baraff_witkin.build,\n'
    assert text.count(line) == 1
    registry.write_text(text.replace(line, line + '    "made_up": __import__("importlib").import_module('
                                                  '".models.made_up", __package__).build,\n'))
    options = checkout / "core" / "description" / "models.py"
    text = options.read_text()
    line = '    "rope": {"bending": True},\n'
    assert text.count(line) == 1
    options.write_text(text.replace(line, line + '    "made_up": {},\n'))
    code = BAKE.format(tests=str(Path(__file__).resolve().parent), checkout=str(checkout))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert "BAKED 5 True" in done.stdout, done.stdout + done.stderr
    assert "'made_up'" in done.stdout
