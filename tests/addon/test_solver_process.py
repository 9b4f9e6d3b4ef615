# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that was read from Blender is solved by a process without Blender, to the bytes of one with it."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.addon import blender_fields, builders

LAST = 6


@pytest.mark.parametrize("keyed", [False, True])
def test_a_scene_of_blender_is_solved_by_a_process_of_its_own(extension, scene, tmp_path, keyed):
    def part(name):
        return importlib.import_module(f"{extension.core.__name__}.cache.{name}")

    sheet = builders.sheet(6, height=0.6)
    builders.pin(sheet, {0: 1.0, 5: 1.0, 30: 0.5})
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), LAST: (0.1, 0.0, 0.1)})
    box = builders.box(size=0.8)
    builders.animate(box, "rotation_euler", {1: (0.0, 0.0, 0.0), LAST: (0.3, 0.2, 1.0)})
    if keyed:
        for owner, name, values in (
                (sheet, "bend_warp", (1e-5, 3e-4)), (sheet, "shear", (100.0, 900.0)), (sheet, "friction", (0.1, 0.9)),
                (sheet, "shrink_min", (0.0, 0.2)), (sheet, "pin_stiffness", (1.0, 5.0)), (box, "friction", (0.9, 0.1))):
            builders.animate(owner.muslin, name, dict(zip((1, LAST), values, strict=True)))
        release = sheet.modifiers.new("Release", "VERTEX_WEIGHT_MIX")
        release.vertex_group_a, release.mix_mode, release.mix_set = "Pins", "MUL", "A"
        builders.animate(release, "default_weight_b", {1: 1.0, LAST: 0.0})
        sheet.muslin.pin_target = box
        builders.animate(scene, "gravity", {1: (0.0, 0.0, -9.81), LAST: (3.0, 0.0, 0.0)})
        builders.animate(scene.muslin, "wind", {1: (0.0, 0.0, 0.0), LAST: (0.0, 9.0, 0.0)})
    _add_fields(keyed, sheet)
    scene.frame_end = LAST

    def read():
        settings = extension.settings.scene_settings_of(scene)
        found = extension.read_scene.read_scene(scene, settings, None, scene.view_layers[0])
        return found, extension.core.Solver(backend="numpy", frame_rate=settings.frame_rate)

    found, solver = read()
    wanted, steps = [], extension.core.simulate(found.scene, solver, range(1, LAST + 1))
    for frame in range(1, LAST + 1):
        if frame > 1:
            found.window.read(frame)
        solved = next(steps)
        wanted.append(solved.velocities[0].astype(np.float32))
        if frame == 3:
            checkpoint = solved.checkpoint()

    found, solver = read()                                            # as Bake from Here and --resume continue
    found.window.read(3)
    steps = extension.core.simulate(found.scene, solver, range(4, LAST + 1), start=checkpoint)
    for frame in range(4, LAST + 1):
        found.window.read(frame)
        assert next(steps).velocities[0].astype(np.float32).tobytes() == wanted[frame - 1].tobytes()

    found, solver = read()
    header, folder = part("take_header"), tmp_path / "take"
    cloth = header.TakeCloth("Sheet", 36)
    part("take").Take.create(folder, header.TakeHeader([cloth], 1, 1, LAST, solver.frame_rate)).close()
    part("scene_file").save_scene(folder / "scene.muslin", found.scene, solver, found.window.motion)
    process = part("solver_process").SolverProcess(folder)
    with part("feed").FeedWriter.create(folder / "feed.muslin", found.window.motion) as feed:
        process.start()
        for frame in range(2, LAST + 1):
            feed.append(frame, found.window.read(frame))
        feed.finish()
    assert process.wait(60.0)
    process.error()
    take = part("take").Take.open(folder)
    assert take.is_complete
    assert [take.velocities(0, frame).tobytes() for frame in range(1, LAST + 1)] == [v.tobytes() for v in wanted]


def _add_fields(keyed, sheet):
    """Add a field of each kind that has arrays of its own."""
    import bpy

    rng = np.random.default_rng(1)
    blender_fields.add_field("WIND", blender_fields.placed(rng), strength=4.0, use_absorption=True)
    if not keyed:
        return
    whirl = blender_fields.add_field("TURBULENCE", blender_fields.placed(rng), name="Whirl", noise=0.5, size=0.3)
    builders.animate(whirl, "location", {1: (0.0, 0.0, 0.0), LAST: (1.0, 0.0, 1.0)})
    for kind, shape in (("FORCE", "SURFACE"), ("HARMONIC", "POINTS")):
        blender_fields.add_field(kind, blender_fields.placed(rng), blender_fields.bumpy_mesh(rng), name=shape,
                                 shape=shape)
    texture = bpy.data.textures.new("Texture", "MAGIC")
    clouds = blender_fields.add_field("TEXTURE", name="Clouds", texture=texture)
    builders.animate(clouds, "rotation_euler", {1: (0.0, 0.0, 0.0), LAST: (0.0, 0.5, 0.0)})
    builders.animate(bpy.data.objects["Box"].muslin, "absorption", {1: 0.0, LAST: 1.0})
    builders.animate(sheet.muslin, "weight_all", {1: 0.0, LAST: 1.0})
