# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that keys or drivers hide in the viewport are simulated as if they were shown, and a note says so."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as

KEYS = {1: False, 2: True, 3: True, 4: False}


@pytest.fixture
def moved(extension, scene, monkeypatch):
    """Return a function that bakes and returns the positions of pin targets and collider in each frame."""
    simulated = []
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x + 0.1 * n, simulated))

    def bake():
        recorded = []
        window = extension.frame_window.FrameWindow
        read = window._values

        def read_and_record(self, frame):
            values = read(self, frame)
            recorded.append({name: array.copy() for name, array in values.items()})
            return values

        with monkeypatch.context() as patch:
            patch.setattr(window, "_values", read_and_record)
            report = builders.finish(extension.bake.bake(scene))
        return report, recorded

    return bake


@pytest.fixture
def moving(scene):
    """Build a pinned cloth, a box and a wind field, which all move."""
    sheet, box = builders.sheet(), builders.box()
    builders.pin(sheet, {0: 1.0})
    bpy.ops.object.effector_add(type="WIND")
    gale = bpy.context.object
    gale.name = "Gale"
    for obj, z in ((sheet, 0.0), (box, -2.0), (gale, 3.0)):
        builders.animate(obj, "location", {1: (0.0, 0.0, z), 4: (1.5, 0.0, z)})
    scene.muslin.backend = "NUMPY"
    scene.frame_set(1)
    return {"Sheet": sheet, "Box": box, "Gale": gale}


def by_keys(obj):
    builders.animate(obj, "hide_viewport", KEYS)


def by_a_driver(obj):
    obj.driver_add("hide_viewport").driver.expression = "frame in (2, 3)"


def by_a_strip(obj):
    by_keys(obj)
    animation = obj.animation_data
    action, slot = animation.action, animation.action_slot
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Strip", 1, action)
    strip.action_slot = slot


def curves_of(obj):
    animation = obj.animation_data
    actions = [animation.action, *(strip.action for track in animation.nla_tracks for strip in track.strips)]
    return [*animation.drivers, *(curve for action in actions if action is not None for layer in action.layers
                                  for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves)]


@pytest.mark.parametrize("stands_at", [1, 2])
@pytest.mark.parametrize("hide", [by_keys, by_a_driver, by_a_strip])
@pytest.mark.parametrize("name", ["Sheet", "Box", "Gale"])
def test_what_keys_hide_moves_and_collides_as_if_shown(extension, scene, moving, moved, name, hide, stands_at):
    _, wanted = moved()
    baked = builders.state(moving["Sheet"])["keys"]
    extension.shape_keys.delete_bake(moving["Sheet"])
    hide(moving[name])
    scene.frame_set(stands_at)
    report, found = moved()
    assert any(f"'{name}' is hidden in the viewport" in note and "at all frames" in note for note in report.notes)
    assert len(found) == len(wanted) > 4                                # also between frames
    for here, there in zip(found, wanted, strict=True):
        assert here.keys() == there.keys() and all(np.array_equal(here[key], there[key]) for key in here)
    assert builders.state(moving["Sheet"])["keys"] == baked
    assert moving[name].hide_viewport == (stands_at == 2)
    assert not any(curve.mute for curve in curves_of(moving[name]))


def test_an_object_without_such_keys_has_no_note(scene, moving, moved):
    report, _ = moved()
    assert not any("hidden" in note for note in report.notes)


@pytest.mark.parametrize("how", ["monitor icon", "check box"])
def test_frames_of_a_cloth_that_is_switched_off_when_they_are_written_are_kept_and_made_later(
        extension, scene, monkeypatch, how):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x + 0.1 * n))
    sheet, layer = builders.sheet(), scene.view_layers[0]
    builders.finish(extension.bake.bake(scene))
    source = extension.takes.in_use(sheet)
    take = extension.apply_take.Take.open(source.folder)

    def made():
        builders.finish(extension.apply_take.apply_take(scene, layer, take, [sheet], extension.progress.StageTimer()))

    if how == "monitor icon":
        sheet.hide_viewport = True
    else:
        bpy.data.collections.new("Apart").objects.link(sheet)
        scene.collection.objects.unlink(sheet)
        scene.collection.children.link(bpy.data.collections["Apart"])
        layer.layer_collection.children["Apart"].exclude = True
    layer.update()
    before = [np.array([v.co[:] for v in key.data]) for key in sheet.data.shape_keys.key_blocks]
    with pytest.raises(extension.core.SceneError, match="Sheet: is switched off.*show it.*are kept: .*press Use"):
        made()
    sheet.hide_viewport = False
    if how == "check box":
        layer.layer_collection.children["Apart"].exclude = False
    layer.update()
    made()
    after = [np.array([v.co[:] for v in key.data]) for key in sheet.data.shape_keys.key_blocks]
    assert np.array_equal(before, after)
