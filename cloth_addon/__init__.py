# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin's Blender add-on: reads Blender's data, bakes, and draws the interface.

The folders from the lowest to the highest, each importing only those before it: properties, read, write, bake, compare,
commands, ui. `command_line` uses all but ui.
"""

from __future__ import annotations

import bpy

from . import command_line
from .bake import backends, bake_job, first_compile, session
from .properties import object_properties
from .ui import (
    add_particles,
    bake_changes,
    bake_operators,
    compare_panel,
    crossings_overlay,
    export,
    fabric_choice,
    fit_operator,
    operators,
    panels,
    quality_panel,
    rename_velocity,
    timeline_bar,
)

register_classes, unregister_classes = bpy.utils.register_classes_factory(
    (*object_properties.classes, *fabric_choice.classes, *operators.classes, *bake_operators.classes, *panels.classes,
     *export.classes, *compare_panel.classes, *add_particles.classes, *rename_velocity.classes,
     *fit_operator.classes)
)

_commands: list[object] = []    # handles of the registered `--command`s


def register() -> None:
    """Register classes, properties, menu entries and the command `muslin`."""
    register_classes()
    object_properties.attach()
    crossings_overlay.attach()
    bake_changes.attach()
    session.attach()
    first_compile.attach()
    add_particles.attach()
    fabric_choice.attach()
    quality_panel.attach()
    timeline_bar.attach()
    _commands.append(bpy.utils.register_cli_command("muslin", command_line.main))


def unregister() -> None:
    """Abort a running bake, and remove everything that `register` has added."""
    first_compile.detach()
    session.detach()
    bake_job.abort("the Muslin extension was disabled")
    bake_job.end()
    backends.end_threads()
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    timeline_bar.detach()
    quality_panel.detach()
    fabric_choice.detach()
    add_particles.detach()
    bake_changes.detach()
    crossings_overlay.detach()
    object_properties.detach()
    unregister_classes()
