# SPDX-License-Identifier: GPL-3.0-or-later
"""The attribute of start velocities, its earlier name, and what Cycles makes of a bake's motion."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as

WIDTH, PIXELS, SHOWN = 0.5, 128, 8.0
"""Width of the cloth, pixels of the picture, and the length that it shows [m]."""


def velocity(obj, name, vector):
    data = obj.data.attributes.new(name, "FLOAT_VECTOR", "POINT").data
    data.foreach_set("vector", np.tile(np.float32(vector), len(data)))


def names(obj):
    """Return the names of the attributes of the evaluated mesh."""
    return {attribute.name for attribute in obj.evaluated_get(bpy.context.view_layer.depsgraph).data.attributes}


def test_the_earlier_name_counts_where_there_is_no_new_one(read, scene):
    sheet = builders.sheet(3)
    velocity(sheet, "velocity", (0.0, 0.0, 3.0))
    assert np.allclose(read().cloths[0].velocities, (0.0, 0.0, 3.0))
    velocity(sheet, "start_velocity", (1.0, 0.0, 0.0))
    assert np.allclose(read().cloths[0].velocities, (1.0, 0.0, 0.0))


def test_the_earlier_name_is_noted_until_it_is_changed_and_nothing_else_changes(extension, scene, monkeypatch):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))
    sheet, other = builders.sheet(3), builders.sheet(3, "Other", height=1.0)
    velocity(sheet, "velocity", (0.0, 0.0, 3.0))
    velocity(other, "start_velocity", (0.0, 0.0, 3.0))
    velocity(builders.box(), "velocity", (1.0, 0.0, 0.0))                       # no cloth: not Muslin's
    before = {obj: extension.fingerprint.fingerprint(scene, obj) for obj in (sheet, other)}
    noted = [note for note in builders.finish(extension.bake.bake(scene)).notes if "velocity" in note]
    assert len(noted) == 1 and noted[0].startswith("'Sheet' starts with its attribute 'velocity', which Cycles takes")
    bpy.context.view_layer.objects.active = sheet
    assert bpy.ops.muslin.velocity_rename() == {"FINISHED"}
    assert "start_velocity" in sheet.data.attributes and "velocity" not in sheet.data.attributes
    assert "velocity" in bpy.data.objects["Box"].data.attributes
    assert {obj: extension.fingerprint.fingerprint(scene, obj) for obj in before} == before
    assert not any("velocity" in note for note in builders.finish(extension.bake.bake(scene)).notes)
    assert not bpy.ops.muslin.velocity_rename.poll()


def test_another_start_velocity_is_a_change(extension, scene):
    sheet = builders.sheet(3)
    of = extension.fingerprint.fingerprint
    without = of(scene, sheet)
    velocity(sheet, "start_velocity", (0.0, 0.0, 3.0))
    assert extension.fingerprint.differences(without, of(scene, sheet)) == ["vertex groups, attributes and UV map"]


def test_a_bake_has_no_attribute_velocity(extension, scene):
    bpy.ops.muslin.particles_add(kind="explosion", count=5)
    particles = bpy.context.object
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(3)
    assert "start_velocity" in names(particles) and "velocity" not in names(particles)


def drag(extension, monkeypatch):
    """Let cloth move by 1 m along x in each frame."""
    replace_simulation(monkeypatch, extension.core,
                       simulate_as(extension.core, lambda x, n: x + (1.0 * n, 0.0, 0.0)))


def blurred(scene):
    """Return what Cycles draws of the current frame with an open shutter: the extent in x [m]."""
    scene.render.engine, scene.cycles.device, scene.cycles.samples = "CYCLES", "CPU", 128
    scene.cycles.use_denoising = scene.cycles.use_adaptive_sampling = False
    scene.cycles.pixel_filter_type, scene.cycles.filter_width = "BOX", 0.01
    scene.render.resolution_x, scene.render.resolution_y = PIXELS, 4
    scene.render.use_motion_blur, scene.render.motion_blur_shutter, scene.render.film_transparent = True, 1.0, True
    scene.render.image_settings.file_format = "OPEN_EXR"
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale, camera.location.z = "ORTHO", SHOWN, 5.0
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.filepath = bpy.app.tempdir + "blur.exr"
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    opacity = np.array(image.pixels).reshape(4, PIXELS, 4)[1:3, :, 3].mean(axis=0)
    drawn = np.flatnonzero(opacity > 0.02)
    return (drawn[-1] - drawn[0] + 1) * SHOWN / PIXELS


@pytest.mark.parametrize("with_keys", [False, True])
def test_cycles_blurs_a_bake_by_its_motion(extension, scene, monkeypatch, with_keys):
    drag(extension, monkeypatch)
    sheet = builders.sheet(3, size=WIDTH)
    if with_keys:                                               # relative keys instead of absolute ones
        sheet.shape_key_add(name="Basis")
    velocity(sheet, "start_velocity", (0.0, 0.0, 3.0))
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(2)
    assert blurred(scene) == pytest.approx(WIDTH + 1.0, abs=2.5 * SHOWN / PIXELS)


def test_cycles_does_not_see_the_motion_of_a_mesh_with_an_attribute_velocity(extension, scene, monkeypatch):
    drag(extension, monkeypatch)
    velocity(builders.sheet(3, size=WIDTH), "velocity", (0.0, 0.0, 3.0))
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(2)
    assert blurred(scene) == pytest.approx(WIDTH, abs=2.5 * SHOWN / PIXELS)
    bpy.ops.muslin.velocity_rename()
    assert blurred(scene) == pytest.approx(WIDTH + 1.0, abs=2.5 * SHOWN / PIXELS)
