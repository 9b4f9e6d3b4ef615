# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Bake panel says after a bake: changes, missing shape keys, and shape keys that are left."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all
from tests.addon.scripted import replace_simulation, simulate_as


@pytest.fixture
def sheet(extension, scene, monkeypatch):
    """Return a baked sheet beside a collider and a second baked cloth."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))
    scene.muslin.backend = "NUMPY"
    sheet = builders.sheet()
    builders.sheet(name="Towel", height=3.0)
    builders.box("Ball").location.z = -2.0
    builders.finish(extension.bake.bake(scene))
    return sheet


def found(extension, scene, sheet):
    return extension.bake_changes.changes(scene, sheet, extension.baked_record.report_of(sheet))


def drawn(extension, sheet):
    return " ".join(draw_all(extension, sheet, 3000).texts)


def test_an_object_is_one_entry_whatever_has_changed(extension, scene, sheet):
    import bpy

    ball = bpy.data.objects["Ball"]
    ball.muslin.friction += 0.1
    ball.data.vertices[0].co.x += 0.1
    assert found(extension, scene, sheet) == ["collider 'Ball' (its mesh, its settings)"]
    ball.location.x += 1.0
    assert found(extension, scene, sheet) == ["collider 'Ball' (location, its mesh, its settings)"]
    towel = bpy.data.objects["Towel"]
    towel.muslin.friction += 0.1
    towel.location.x += 0.1
    assert [text for text in found(extension, scene, sheet) if "Towel" in text] == [
        "cloth 'Towel': object and modifiers (location) and settings (Friction)"]
    bpy.data.objects.remove(ball)
    assert "collider 'Ball' is gone" in found(extension, scene, sheet)
    assert sum("Ball" in text for text in found(extension, scene, sheet)) == 1


def turned(sheet):
    sheet.rotation_euler.z = 1.0
    sheet.delta_scale.x = 2.0


def keyed(sheet):
    sheet.keyframe_insert("location", index=0, frame=1)


def given_a_parent(sheet):
    import bpy

    sheet.parent = bpy.data.objects["Ball"]


def with_another_wave(sheet):
    sheet.modifiers["Wave"].height = 0.25
    sheet.modifiers.new("Shell", "CAST")


def without_a_wave(sheet):
    sheet.modifiers.remove(sheet.modifiers["Wave"])


@pytest.mark.parametrize(("change", "named"), [
    (turned, "rotation, scale"), (keyed, "keys"), (given_a_parent, "parent"),
    (with_another_wave, "modifier 'Wave', modifier 'Shell' is new"), (without_a_wave, "modifier 'Wave' is gone"),
    (lambda sheet: sheet.constraints.new("LIMIT_LOCATION"), "constraint 'Limit Location' is new"),
    (lambda sheet: sheet.__setitem__("wind", 2.0), "custom properties")])
def test_what_has_changed_of_an_object_is_named(extension, scene, sheet, change, named):
    sheet.modifiers.new("Wave", "WAVE").height = 0.1
    builders.finish(extension.bake.bake(scene))
    assert found(extension, scene, sheet) == []
    report = extension.baked_record.report_of(sheet)
    change(sheet)
    assert found(extension, scene, sheet) == [f"object and modifiers ({named})"]
    digests = report["fingerprints"]
    for name in digests:                                                         # of an earlier version
        digests[name] = extension.fingerprint.without_details(digests[name])
    assert extension.bake_changes.changes(scene, sheet, report) == ["object and modifiers"]


def wave_with_group(obj):
    obj.modifiers["Wave"].vertex_group = obj.vertex_groups.new(name="Waving").name


def armature_with_group(obj, name):
    import bpy

    rig = bpy.data.objects.get("Rig") or builders.armature(1)
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.vertex_groups.new(name=name)


@pytest.mark.parametrize(("change", "named"), [
    (lambda obj: obj.vertex_groups.new(name="Free"), None),
    (lambda obj: (obj.vertex_groups.new(name="Free"), setattr(obj.modifiers["Wave"], "height", 0.25)),
     "modifier 'Wave'"),
    (wave_with_group, "modifier 'Wave', vertex groups"),
    (lambda obj: armature_with_group(obj, "Free"), "modifier 'Armature' is new"),
    (lambda obj: armature_with_group(obj, "Bone0"), "modifier 'Armature' is new, vertex groups")])
@pytest.mark.parametrize("name", ["Sheet", "Ball"])
def test_only_vertex_groups_that_are_used_are_a_change(extension, scene, sheet, change, named, name):
    import bpy

    obj = bpy.data.objects[name]
    obj.modifiers.new("Wave", "WAVE").height = 0.1
    builders.finish(extension.bake.bake(scene))
    change(obj)
    label = "object and modifiers" if name == "Sheet" else "collider 'Ball'"
    assert [text for text in found(extension, scene, sheet) if text.startswith(label)] == (
        [f"{label} ({named})"] if named else [])


def test_vertex_groups_that_geometry_nodes_may_use_are_a_change(extension, scene, sheet):
    import bpy

    sheet.modifiers.new("Nodes", "NODES").node_group = bpy.data.node_groups.new("Tree", "GeometryNodeTree")
    builders.finish(extension.bake.bake(scene))
    sheet.vertex_groups.new(name="Free")
    assert found(extension, scene, sheet) == ["object and modifiers (vertex groups)"]


def test_a_vertex_group_that_a_shape_key_uses_is_a_change(extension, scene, sheet):
    extension.shape_keys.delete_bake(sheet)
    for name in ("Basis", "Bulge"):
        sheet.shape_key_add(name=name)
    sheet.modifiers.new("Wave", "WAVE").height = 0.1
    sheet.data.shape_keys.key_blocks["Bulge"].vertex_group = sheet.vertex_groups.new(name="Belly").name
    builders.finish(extension.bake.bake(scene))
    sheet.vertex_groups["Belly"].name = "Back"                      # Blender renames it in the key, too
    sheet.data.shape_keys.key_blocks["Bulge"].vertex_group = "Belly"
    assert found(extension, scene, sheet) == ["object and modifiers (vertex groups)"]


def test_changed_field_weights_are_named(extension, scene, sheet):
    import bpy

    sheet.muslin.weight_gravity = 0.5
    assert found(extension, scene, sheet) == ["settings (Gravity in Field Weights)"]
    sheet.muslin.weight_gravity = 1.0
    sheet.muslin.effector_collection = bpy.data.collections.new("Fans")
    assert found(extension, scene, sheet) == ["settings (Effector Collection)"]


@pytest.mark.parametrize("name", ["Ball", "Towel", "Sheet"])
def test_another_name_is_no_change(extension, scene, sheet, name):
    import bpy

    bpy.data.objects[name].name = "Aunt"
    assert found(extension, scene, sheet) == []
    bpy.data.objects["Aunt"].location.x += 1.0
    assert found(extension, scene, sheet)


@pytest.fixture
def window(extension, monkeypatch):
    """Let the panel compute with timers, as in a window; return the clock, the timers and the number of redraws."""
    import bpy

    state = SimpleNamespace(now=100.0, timers=[], redraws=0)
    timers = SimpleNamespace(register=lambda call, first_interval: state.timers.append(call),
                             is_registered=lambda call: call in state.timers)
    module = extension.bake_changes
    monkeypatch.setattr(module, "bpy", SimpleNamespace(
        app=SimpleNamespace(background=False, timers=timers), data=bpy.data))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: state.now))
    monkeypatch.setattr(module, "_redraw", lambda: setattr(state, "redraws", state.redraws + 1))
    monkeypatch.setattr(module, "_known", type(module._known)())
    return state


def test_a_change_that_blender_does_not_report_is_noticed_after_a_moment(extension, scene, sheet, window):
    module, report = extension.bake_changes, extension.baked_record.report_of(sheet)

    def shown():
        return module.known_changes(scene, sheet, report)

    def run():
        for call in window.timers:
            assert any(call() is None for _ in range(1000))            # keys are compared in turns of limited time
        window.timers.clear()

    assert shown() == [] and window.timers
    run()
    assert shown() == [] and not window.timers
    group = sheet.vertex_groups.new(name="Pins")
    group.add([5], 1.0, "REPLACE")
    sheet.muslin.pin_group = "Pins"
    builders.finish(extension.bake.bake(scene))
    report = extension.baked_record.report_of(sheet)
    window.now += 3.0
    shown()
    run()
    group.add([0], 1.0, "REPLACE")
    module._known.current.update([module._key(scene, sheet)])           # as without any report
    assert shown() == [] and not window.timers
    for value, wanted in ((1.0, ["vertex groups, attributes and UV map"]), (0.0, [])):
        group.add([0], value, "REPLACE") if value else group.remove([0])
        window.now += 3.0
        before = window.redraws
        shown()
        assert len(window.timers) == 1
        run()
        assert shown() == wanted and window.redraws == before + 1
        window.now += 3.0
        shown()
        run()
        assert window.redraws == before + 1                             # the same answer


@pytest.mark.parametrize(("change", "wanted"), [
    (lambda scene, sheet: setattr(scene, "frame_end", 9), ["frame range (now 1 to 9)"]),
    (lambda scene, sheet: setattr(scene.render, "frame_map_new", 200), ["frame rate"]),
    (lambda scene, sheet: setattr(scene, "gravity", (0.0, 0.0, -1.0)), ["gravity"]),
    (lambda scene, sheet: setattr(sheet.muslin, "friction", 0.9), ["settings (Friction)"])])
def test_a_changed_setting_is_noticed_at_the_next_drawing_without_any_report(
        extension, scene, sheet, window, change, wanted):
    module, report = extension.bake_changes, extension.baked_record.report_of(sheet)
    module.known_changes(scene, sheet, report)
    while window.timers:
        (call,) = window.timers
        window.timers.clear()
        if call() is not None:
            window.timers.append(call)
    change(scene, sheet)
    module._known.current.update([module._key(scene, sheet)])           # as without any report
    assert module.known_changes(scene, sheet, report) == [] and len(window.timers) == 1
    window.now += 0.31
    window.timers.pop()()
    assert module.known_changes(scene, sheet, report) == wanted


@pytest.mark.parametrize("own_keys", [False, True])
def test_a_baked_key_that_was_removed_is_told(extension, scene, sheet, own_keys):
    if own_keys:
        extension.shape_keys.delete_bake(sheet)
        sheet.shape_key_add(name="Basis")
        builders.finish(extension.bake.bake(scene))
    text = "A baked shape key is missing: bake again"
    sheet.data.shape_keys.key_blocks["Muslin 0003"].name = "Third"
    assert text not in drawn(extension, sheet)
    sheet.shape_key_remove(sheet.data.shape_keys.key_blocks["Muslin 0002"])
    assert text in drawn(extension, sheet)
    builders.finish(extension.bake.bake(scene))
    assert text not in drawn(extension, sheet)


def test_keys_that_are_left_of_a_bake_are_told_with_the_remedy(extension, scene, sheet):
    keys = sheet.data.shape_keys
    keys[extension.baked_record.PROPERTY] = keys[extension.baked_record.PROPERTY][:300]
    text = drawn(extension, sheet)
    assert "it is cut off or was altered" in text and "JSON" not in text and "char " not in text
    extension.baked_record.forget(sheet)
    text = drawn(extension, sheet)
    assert "5 shape keys of an earlier bake are left: remove them in Object Data > Shape Keys" in text
    assert "Not baked" not in text
    with pytest.raises(extension.core.SceneError, match="Sheet: 5 shape keys of an earlier bake are left; remove them "
                                                        "in Object Data > Shape Keys"):
        builders.finish(extension.bake.bake(scene))
    sheet.shape_key_clear()
    text = drawn(extension, sheet)                                   # its frames are on disk: the other cloth uses them
    assert "Use 1 to 4" in text and "earlier bake" not in text


def test_objects_with_blender_s_collision_are_named_once_and_above_the_settings(extension, scene, sheet):
    import bpy

    builders.box("Post", kind="NONE").modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.update()
    texts = draw_all(extension, sheet, 3000).texts
    (place,) = [i for i, text in enumerate(texts) if "Blender's Collision" in text]
    assert place < texts.index("Steps per Frame")


def test_the_panel_says_once_that_something_has_changed(extension, sheet):
    sheet.muslin.friction = 0.9
    texts = " ".join(draw_all(extension, sheet, 600).texts)
    assert texts.count("Changed since the bake") == 1, texts
