# SPDX-License-Identifier: GPL-3.0-or-later
"""The Blender side of Muslin: the only code that imports bpy."""

from __future__ import annotations

import bpy

from . import (
    command_line,
    compare_operators,
    crossings_overlay,
    emitters,
    fabric_menu,
    job,
    operators,
    panels,
    properties,
)

register_classes, unregister_classes = bpy.utils.register_classes_factory(
    (*properties.classes, *fabric_menu.classes, *operators.classes, *panels.classes,
     *compare_operators.classes, *emitters.classes)
)

_commands: list[object] = []    # what Blender gave for the `--command`s, to hand back


def register() -> None:
    register_classes()
    properties.attach()
    crossings_overlay.attach()
    emitters.attach()
    _commands.append(bpy.utils.register_cli_command("muslin", command_line.main))


def unregister() -> None:
    job.abort("the Muslin extension was disabled")
    job.end()
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    emitters.detach()
    crossings_overlay.detach()
    properties.detach()
    unregister_classes()
