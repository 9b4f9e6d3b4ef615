# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that actions, strips and drivers set are read at every frame, wherever the scene stands."""

from __future__ import annotations

import bpy
import pytest

from tests.addon import builders

NAME = "pressed_by_keys"
"""A setting that only this test has."""
SWITCHES = ("use_compression", "use_separate_damping", "use_max_elongation", "use_self_friction", "use_pressure",
            "use_pressure_volume", "use_internal_springs", "use_plasticity", "use_plastic_stretch",
            "use_plastic_bending", "use_tearing")
"""Settings without which others have no effect."""


@pytest.fixture
def pressed(extension):
    """Give every object a setting that may be keyed."""
    group = extension.object_properties.MuslinObject
    bpy.utils.unregister_class(group)
    group.__annotations__[NAME] = bpy.props.FloatProperty(default=7.0)
    bpy.utils.register_class(group)
    extension.object_properties.attach()
    yield
    bpy.utils.unregister_class(group)
    del group.__annotations__[NAME]
    bpy.utils.register_class(group)
    extension.object_properties.attach()


def window_of(extension, scene, obj, first=1):
    return extension.frame_window.FrameWindow(scene, bpy.context.view_layer, {obj: []}, first=first, frame_rate=10.0,
                                              metres_per_unit=1.0)


def key(obj, values):
    for frame, value in values.items():
        setattr(obj.muslin, NAME, value)
        obj.keyframe_insert(f"muslin.{NAME}", frame=frame)
    bag = obj.animation_data.action.layers[0].strips[0].channelbag(obj.animation_data.action_slot)
    for point in bag.fcurves[0].keyframe_points:
        point.interpolation = "LINEAR"


def by_action(obj):
    key(obj, {1: 1.0, 3: 5.0})


def by_strip(obj):
    key(obj, {1: 1.0, 3: 5.0})
    data = obj.animation_data
    strip = data.nla_tracks.new().strips.new("Strip", 1, data.action)
    strip.action_slot = data.action_slot
    data.action = None


def by_driver(obj):
    curve = obj.muslin.driver_add(NAME)
    curve.driver.expression = "2 * frame - 1"


def by_another_object(obj):
    other = builders.box("Other")
    builders.animate(other, "location", {1: (1.0, 0.0, 0.0), 3: (5.0, 0.0, 0.0)})
    bag = other.animation_data.action.layers[0].strips[0].channelbag(other.animation_data.action_slot)
    for point in bag.fcurves[0].keyframe_points:
        point.interpolation = "LINEAR"
    curve = obj.muslin.driver_add(NAME)
    variable = curve.driver.variables.new()
    variable.name, variable.type = "x", "TRANSFORMS"
    variable.targets[0].id = other
    curve.driver.expression = "x"


@pytest.mark.parametrize("animate", [by_action, by_strip, by_driver, by_another_object])
@pytest.mark.parametrize("stands", [1, 3, 40])
def test_an_animated_setting_is_read_at_its_frame(extension, scene, pressed, animate, stands):
    obj = builders.sheet()
    animate(obj)
    scene.frame_set(stands)
    window = window_of(extension, scene, obj)
    setting = window.settings(obj).setting(NAME, 10.0)
    assert isinstance(setting, extension.core.Keyed) and setting(0.0) == pytest.approx(10.0)
    window.read(2)
    window.read(3)
    assert [setting(t) for t in (0.0, 0.1, 0.15, 0.2)] == pytest.approx([10.0, 30.0, 40.0, 50.0])


def test_a_setting_that_nothing_animates_is_a_number(extension, scene, pressed):
    obj = builders.sheet()
    obj.keyframe_insert("location", frame=1)
    window = window_of(extension, scene, obj)
    assert window.settings(obj).setting(NAME, 10.0) == 70.0
    assert set(window.motion.start) == {"Sheet", "matrix Sheet"}


def test_a_muted_curve_animates_nothing(extension, scene, pressed):
    obj = builders.sheet()
    by_action(obj)
    data = obj.animation_data
    data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves[0].mute = True
    obj.muslin[NAME] = 3.0
    assert isinstance(window_of(extension, scene, obj).settings(obj).setting(NAME), float)


def test_settings_read_once_are_the_same_at_every_frame(extension, scene, pressed):
    obj = builders.sheet()
    by_action(obj)
    found = []
    for frame in (1, 2, 3):
        scene.frame_set(frame)
        found.append(getattr(extension.unkeyed_values.unkeyed_values(obj), NAME))
    assert found == [7.0] * 3


def baked_fall(extension, scene, stands):
    """Return the lowest displayed vertex at the last frame of a bake of a free sheet [m]."""
    sheet = builders.sheet(4)
    scene.frame_set(stands)
    builders.finish(extension.bake.bake(scene))
    found = float(builders.displayed(sheet, scene.frame_end)[:, 2].min())
    bpy.data.objects.remove(sheet)
    return found


@pytest.mark.parametrize("what, values", [("gravity", {1: (0.0, 0.0, -9.81), 10: (0.0, 0.0, 0.0)}),
                                          ("use_gravity", {1: True, 5: False})])
def test_keyed_gravity_is_that_of_each_frame_wherever_the_scene_stands(extension, scene, what, values):
    scene.frame_end = 12
    builders.animate(scene, what, values)
    found = [baked_fall(extension, scene, stands) for stands in (1, 30)]
    assert found[0] == found[1]
    assert -0.9 < found[0] < -0.1                   # constant gravity: -1.0, none: 0


def test_keyed_wind_is_that_of_each_frame(extension, scene, read):
    builders.sheet()
    builders.animate(scene.muslin, "wind", {1: (0.0, 0.0, 0.0), 3: (0.0, 4.0, 0.0)})
    scene.frame_set(3)
    simulated = read()
    assert simulated.wind_at(0.0).tolist() == [0.0, 0.0, 0.0]
    assert simulated.wind_at(1e9).tolist() == [0.0, 4.0, 0.0]


def test_gravity_that_is_no_number_at_a_frame_is_refused_with_it(extension, scene):
    builders.sheet()
    builders.animate(scene, "gravity", {1: (0.0, 0.0, -9.81), 3: (0.0, 0.0, -1e7)})
    with pytest.raises(extension.core.SceneError, match=r"gravity is .* at frame [23], .*correct Scene > Gravity"):
        builders.finish(extension.bake.bake(scene))


def keyable(values, groups=()):
    """Return the names of the settings that may be keyed, without those that only show another one."""
    return [prop.identifier for prop in values.bl_rna.properties
            if prop.is_animatable and not prop.is_readonly and prop.type in ("FLOAT", "INT", "BOOLEAN")
            and not prop.identifier.endswith("_micro") and not prop.is_array]


def read_settings(extension, scene, monkeypatch):
    """Return the names of the settings that a bake takes over time, by object."""
    found = {}
    setting = extension.keyed_settings.KeyedSettings.setting

    def noted(self, name, factor=1.0):
        found.setdefault(self._owner.name, set()).add(name)
        return setting(self, name, factor)

    monkeypatch.setattr(extension.keyed_settings.KeyedSettings, "setting", noted)
    extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None, bpy.context.view_layer)
    return found


def test_every_setting_that_may_be_keyed_is_read_over_time(extension, scene, monkeypatch):
    sheet, box = builders.box("Sheet", kind="CLOTH"), builders.box(size=0.1)
    for obj in (sheet, box):
        for prop in obj.muslin.bl_rna.properties:
            if prop.identifier in SWITCHES:
                setattr(obj.muslin, prop.identifier, True)
        for name in keyable(obj.muslin):
            obj.keyframe_insert(f"muslin.{name}", frame=1)
    extension.split_mesh.split(sheet)
    found = read_settings(extension, scene, monkeypatch)
    of_colliders = {"friction", "absorption"}
    assert found["Box"] >= of_colliders
    as_arrays = {"shrink_min", "shrink_max"}
    missing = set(keyable(sheet.muslin)) - found["Sheet"] - (of_colliders - {"friction"}) - as_arrays
    assert missing == {"air_drag"}, f"{sorted(missing)} can be keyed, and a bake reads them once"
    sheet.muslin.air_law = "LINEAR"
    assert "air_drag" in read_settings(extension, scene, monkeypatch)["Sheet"]
    assert {"stretch_warp", "bend_weft", "damping", "friction", "max_elongation", "self_friction"} <= found["Sheet"]


@pytest.mark.parametrize("name", ["bend_warp", "bend_warp_micro"])
def test_a_keyed_fabric_is_that_of_its_frame(extension, scene, name):
    sheet = builders.sheet()
    scale = 1.0 if name == "bend_warp" else 1e6
    builders.animate(sheet.muslin, name, {1: 1e-5 * scale, 3: 3e-5 * scale})
    builders.animate(sheet.muslin, "friction", {1: 0.2, 3: 0.6})
    scene.frame_set(3)
    found = extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                            bpy.context.view_layer)
    fabric = found.cloths[0].keyed_material
    assert found.cloths[0].material.bend[0] == pytest.approx(1e-5)
    found.window.read(2)
    found.window.read(3)
    assert fabric.at(2.0 / 24.0).bend[0] == pytest.approx(3e-5)
    assert fabric.at(2.0 / 24.0).friction == pytest.approx(0.6)


def test_a_keyed_setting_does_not_make_a_bake_look_outdated(extension, scene):
    sheet = builders.sheet()
    builders.animate(sheet.muslin, "friction", {1: 0.2, 4: 0.6})
    digests = []
    for frame in (1, 2, 4):
        scene.frame_set(frame)
        digests.append(extension.fingerprint.fingerprint(scene, sheet))
    assert digests[0] == digests[1] == digests[2]
    curve = sheet.animation_data.action.layers[0].strips[0].channelbag(sheet.animation_data.action_slot).fcurves[0]
    curve.keyframe_points[1].co.y = 0.9
    assert extension.fingerprint.fingerprint(scene, sheet) != digests[0]


@pytest.mark.parametrize("group", ["", "Sleeve"])
def test_keyed_shrinking_is_that_of_its_frame(extension, scene, group):
    sheet = builders.sheet()
    sheet.muslin.sewing_time = 0.0
    if group:
        sheet.vertex_groups.new(name=group).add([0], 0.5, "REPLACE")
        sheet.muslin.shrink_group = group
    builders.animate(sheet.muslin, "shrink_min", {1: 0.1, 2: 0.3})
    sheet.muslin.shrink_max = 0.5
    scene.frame_set(2)
    found = extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                            bpy.context.view_layer)
    found.window.read(2)
    maps = found.cloths[0].maps
    first = 0.5 * (0.9 + 0.5) if group else 0.9
    assert maps.rest_scale[[0, 1]] == pytest.approx([first, 0.9])
    assert maps.rest_scale_at(1.0 / 24.0)[[0, 1]] == pytest.approx([0.5 * (0.7 + 0.5) if group else 0.7, 0.7])
