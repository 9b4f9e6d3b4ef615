# SPDX-License-Identifier: GPL-3.0-or-later
"""The Blender side of Muslin: the only code that imports bpy."""

from __future__ import annotations

import bpy

from . import command_line
from .bake import bake_job
from .compare import compare_operators
from .properties import object_properties
from .ui import add_particles, crossings_overlay, fabric_menu, operators, panels

register_classes, unregister_classes = bpy.utils.register_classes_factory(
    (*object_properties.classes, *fabric_menu.classes, *operators.classes, *panels.classes,
     *compare_operators.classes, *add_particles.classes)
)

_commands: list[object] = []    # what Blender gave for the `--command`s, to hand back


def register() -> None:
    register_classes()
    object_properties.attach()
    crossings_overlay.attach()
    add_particles.attach()
    _commands.append(bpy.utils.register_cli_command("muslin", command_line.main))


def unregister() -> None:
    bake_job.abort("the Muslin extension was disabled")
    bake_job.end()
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    add_particles.detach()
    crossings_overlay.detach()
    object_properties.detach()
    unregister_classes()
