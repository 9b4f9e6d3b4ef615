# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the zip of the argument into this Blender, and use it. Run by test_extension.py."""

import sys

import bpy

MODULE = "bl_ext.user_default.muslin"
NAMES = ["MUSLIN_PT_muslin", "MUSLIN_OT_bake", "MUSLIN_PT_fabric_presets"]


def classes() -> list[str]:
    """Return the names of registered classes."""
    return [name for name in NAMES if hasattr(bpy.types, name)]


bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
assert MODULE in bpy.context.preferences.addons, "the extension is not enabled"
assert "core" not in sys.modules and f"{MODULE}.core" in sys.modules, "core must be imported inside the extension"
assert classes() == NAMES, classes()

mesh = bpy.data.objects["Cube"]
bpy.context.view_layer.objects.active = mesh
assert bpy.ops.muslin.cloth_add() == {"FINISHED"}
assert (mesh.muslin.kind, mesh.muslin.fabric) == ("CLOTH", "cotton")

# off and on again, as after an update: the second registration must not meet anything left by the first
bpy.ops.preferences.addon_disable(module=MODULE)
assert not hasattr(bpy.types.Object, "muslin") and not classes(), classes()
bpy.ops.preferences.addon_enable(module=MODULE)
assert MODULE in bpy.context.preferences.addons
assert mesh.muslin.kind == "CLOTH", "settings are lost by switching the extension off and on"

assert sys.modules[MODULE].__version__ == sys.modules[f"{MODULE}.core"].__version__ == sys.argv[2]
print("installed and enabled in Blender", bpy.app.version_string)
