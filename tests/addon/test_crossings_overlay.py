# SPDX-License-Identifier: GPL-3.0-or-later
"""Show Crossings: the crossings at the current frame after all changes of the scene. tests/ui tests the drawing."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.addon import builders

HANDLERS = ("depsgraph_update_post", "frame_change_post", "undo_post", "redo_post", "load_pre")


@pytest.fixture
def overlay(extension, scene):
    """Return functions that switch the overlay and return its result; switch it off after the test."""
    modules = {name: getattr(extension, name) for name in ("crossings_overlay", "crossings", "bake_job", "panels")}
    module = modules["crossings_overlay"]

    def show(on: bool) -> None:
        bpy.context.window_manager.muslin_show_crossings = on

    def found():
        bpy.context.view_layer.update()
        return module._overlay[0].found(bpy.context.scene, bpy.context.view_layer)

    def lines():
        bpy.context.view_layer.update()
        return module.lines(bpy.context.scene, bpy.context.view_layer)

    yield SimpleNamespace(show=show, found=found, lines=lines, registered=registered, **modules)
    show(False)


def registered():
    return [name for name in HANDLERS for handler in getattr(bpy.app.handlers, name)
            if handler.__module__.endswith("crossings_overlay")]


def sheets(angle: float = 1.2):
    """Add two sheets of 6 x 6 vertices, of which the second is rotated about x through the first."""
    flat, turned = builders.sheet(6, "Flat"), builders.sheet(6, "Turned")
    turned.location, turned.rotation_euler = (0.03, 0.02, 0.01), (angle, 0.1, 0.2)
    bpy.context.view_layer.update()
    return flat, turned


def pairs_of(found):
    return {(pair.first, pair.second): pair.crossings for pair in found.pairs}


def test_the_overlay_is_off_by_default_and_registers_no_handler(overlay):
    manager = bpy.context.window_manager
    assert manager.muslin_show_crossings is False and registered() == []
    manager.muslin_show_crossings = True
    assert manager.muslin_show_crossings is True and registered() == list(HANDLERS)
    manager.muslin_show_crossings = True
    assert registered() == list(HANDLERS)
    manager.muslin_show_crossings = False
    assert manager.muslin_show_crossings is False and registered() == [] and overlay.lines() == []


def test_crossings_of_unbaked_cloth_are_found_at_the_objects_positions(extension, overlay):
    flat, turned = sheets()
    overlay.show(True)
    found = overlay.found()
    positions = [builders.displayed_now(obj) for obj in (flat, turned)]
    meshes = [extension.core.ClothMesh(x, faces=extension.mesh_data.faces(obj.data))
              for x, obj in zip(positions, (flat, turned), strict=True)]
    expected = extension.core.audit([(x, mesh.triangles) for x, mesh in zip(positions, meshes, strict=True)])
    assert found.count == expected.crossings > 4
    assert pairs_of(found) == {("Flat", "Turned"): found.count}
    assert overlay.lines() == [f"At this frame: {found.count} edges cross"]
    turned.location.z = 3.0
    assert overlay.found().count == 0 and overlay.lines() == ["At this frame: nothing crosses"]
    turned.location.z = 0.01
    assert overlay.found().count == expected.crossings


def test_drawn_triangles_and_edges_are_those_that_cross(overlay):
    flat, turned = sheets()
    overlay.show(True)
    found = overlay.found()
    assert found.edges.shape == (found.count, 2, 3) and found.triangles.dtype == found.edges.dtype == np.float32
    corners = np.concatenate([builders.displayed_now(flat), builders.displayed_now(turned)])
    for drawn in (found.edges.reshape(-1, 3), found.triangles.reshape(-1, 3)):
        assert np.linalg.norm(drawn[:, None] - corners, axis=2).min(axis=1).max() < 1e-6
    assert len(found.triangles) == 2 * sum(map(len, found.faces.values()))      # whole quads
    assert {0, 24}.isdisjoint(found.faces["Flat"].tolist()), "the corners are far from the other sheet"


def test_crossings_between_two_colliders_do_not_count(overlay):
    flat = builders.sheet(6, "Flat")
    for name, at in (("Box", (0.03, 0.02, 0.01)), ("Other", (0.1, 0.05, 0.02))):
        builders.box(name, 0.4).location = at
    overlay.show(True)
    assert set(pairs_of(overlay.found())) == {("Flat", "Box"), ("Flat", "Other")}
    assert set(overlay.found().faces) == {"Flat"}
    flat.muslin.kind = "COLLIDER"
    assert overlay.found().count == 0


def test_faces_with_a_piercing_edge_count(overlay):
    builders.sheet(6, "Flat")
    wall = builders.mesh_object("Wall", [(0.03, -9, -8), (0.03, 9, -8), (0.05, 0, 9)], [(0, 1, 2)], kind="COLLIDER")
    overlay.show(True)
    assert overlay.found().faces["Flat"].tolist() == [2, 7, 12, 17, 22], "the column of quads that the wall stands in"
    wall.location.x = 5.0
    assert len(overlay.found().faces["Flat"]) == 0


def test_cloth_that_crosses_itself_is_found(overlay):
    folded = builders.sheet(7, "Folded")
    for vertex in folded.data.vertices:
        x, y, _ = vertex.co
        vertex.co = (abs(x), y, 0.35 * (0.23 - abs(x)) * np.sign(x) + 0.01 * y)
    folded.data.update()
    overlay.show(True)
    assert set(pairs_of(overlay.found())) == {("Folded", "Folded")}


def test_the_count_at_each_frame_of_a_bake_is_that_of_the_certificate(extension, overlay, scene):
    flat, turned = sheets()
    builders.pin(flat, {0: 1.0, 5: 1.0})
    scene.muslin.use_self_collision, scene.muslin.backend = False, "NUMPY"
    report = builders.finish(extension.bake.bake(scene))
    overlay.show(True)
    for frame, certificate in enumerate(report.as_dict()["certificates"], start=1):
        scene.frame_set(frame)
        found = overlay.found()
        assert found.count == certificate["crossings"]
        assert [vars(pair) for pair in found.pairs] == certificate["crossing_pairs"]
    assert report.summary()["frames_with_crossings"] == 4


def test_quads_are_triangulated_as_in_a_bake_whatever_shape_is_displayed(overlay):
    kite = builders.mesh_object("Kite", [(0, 0, 0), (1, 0, 0), (1.3, 1.3, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    kite.shape_key_add(name="Basis")
    pushed = kite.shape_key_add(name="Pushed", from_mix=False)
    pushed.points[2].co, pushed.value = (0.6, 0.6, 0.0), 1.0        # makes the other diagonal the shorter one
    wall = builders.mesh_object("Wall", [(0.3, 0.32, -1), (0.3, 0.32, 1), (0.2, 0.22, 1)], [(0, 1, 2)], kind="COLLIDER")
    overlay.show(True)
    assert overlay.found().count > 0 and builders.displayed_now(kite)[2, 0] < 1
    corners = {tuple(np.round(corner, 4)) for corner in overlay.found().triangles[0].tolist()}
    assert corners == {(0, 0, 0), (1, 0, 0), (0, 1, 0)}
    assert wall.name in overlay.found().pairs[0].second
    kite.shape_key_clear()
    kite.data.vertices[2].co = (0.6, 0.6, 0.0)
    kite.data.update()
    assert (0.6, 0.6, 0) in {tuple(np.round(corner, 4)) for corner in overlay.found().triangles[0].tolist()}


def test_hidden_deleted_and_edited_objects_are_followed(overlay):
    flat, turned = sheets()
    overlay.show(True)
    count = overlay.found().count
    turned.hide_set(True)
    assert overlay.found().count == 0
    turned.hide_set(False)
    assert overlay.found().count == count
    bpy.context.view_layer.objects.active = flat
    bpy.ops.object.mode_set(mode="EDIT")
    assert overlay.found().count == count
    bpy.ops.object.mode_set(mode="OBJECT")
    turned.modifiers.new("Finer", "SUBSURF")
    assert overlay.found().count > count
    turned.data.polygons[0].select = True
    bpy.data.objects.remove(turned)
    assert overlay.found().count == 0


def test_a_vertex_at_infinity_is_reported(overlay):
    flat, _ = sheets()
    flat.data.vertices[3].co.x = float("nan")
    flat.data.update()
    overlay.show(True)
    assert overlay.lines()[0].startswith("Not known: ")
    flat.data.vertices[3].co.x = 0.1
    flat.data.update()
    assert overlay.found().count > 0


def test_crossings_are_searched_only_after_a_displayed_object_has_moved(overlay, monkeypatch):
    flat, _ = sheets()
    lamp = bpy.data.objects.new("Lamp", None)
    bpy.context.scene.collection.objects.link(lamp)
    overlay.show(True)
    before = overlay.found()
    lamp.location.x = 3.0
    flat.select_set(True)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(3)
    assert overlay.found() is before
    auditor = overlay.crossings_overlay._overlay[0]._finders["Scene", "ViewLayer"]._auditor
    flat.location.z = 0.004
    assert overlay.found() is not before
    assert overlay.crossings_overlay._overlay[0]._finders["Scene", "ViewLayer"]._auditor is auditor


def test_the_overlay_is_idle_while_a_bake_runs(extension, overlay, scene, monkeypatch):
    sheets()
    scene.muslin.backend, scene.muslin.resolve_start = "NUMPY", False
    overlay.show(True)
    assert overlay.found().count
    updates = []
    update = overlay.crossings.CrossingsFinder.update
    monkeypatch.setattr(overlay.crossings.CrossingsFinder, "update",
                        lambda *arguments: updates.append(1) or update(*arguments))
    bpy.context.view_layer.objects.active = bpy.data.objects["Flat"]
    assert bpy.ops.muslin.bake_all() == {"FINISHED"}
    assert len(updates) <= 1, "one, when the bake is over"
    scene.frame_set(1)
    before = len(updates)
    assert overlay.bake_job.current() is None and overlay.found().count
    overlay.bake_job.begin(extension.bake.bake(scene))
    try:
        assert overlay.lines() == ["Waits for the solver"] and overlay.found() is None
        scene.frame_set(2)
        assert len(updates) == before
    finally:
        overlay.bake_job.abort("the test is over")
        overlay.bake_job.end()
    scene.frame_set(3)
    assert overlay.found().count


def test_opening_a_file_switches_the_overlay_off_and_other_handlers_still_run(overlay):
    sheets()
    overlay.show(True)
    ran = []
    bpy.app.handlers.load_pre.append(lambda *_: ran.append(1))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert ran and bpy.context.window_manager.muslin_show_crossings is False and registered() == []
    overlay.show(True)
    assert registered() == list(HANDLERS) and overlay.found().count == 0


def test_undo_and_redo_update_the_crossings(overlay):
    flat, turned = sheets()
    bpy.ops.ed.undo_push(message="Sheets")
    overlay.show(True)
    count = overlay.found().count
    turned.location.z = 3.0
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Moved")
    assert overlay.found().count == 0
    bpy.ops.ed.undo()
    assert overlay.found().count == count
    bpy.ops.ed.redo()
    assert overlay.found().count == 0


def test_a_slow_search_waits_for_a_pause_in_a_window(overlay, monkeypatch):
    _, turned = sheets()
    overlay.show(True)
    count = overlay.found().count
    module = overlay.crossings_overlay
    monkeypatch.setattr(module, "bpy", SimpleNamespace(
        app=SimpleNamespace(background=False, timers=bpy.app.timers, handlers=bpy.app.handlers), types=bpy.types,
        context=bpy.context))
    monkeypatch.setattr(module, "FAST_SEARCH", -1.0)
    turned.select_set(True)
    assert overlay.found().count == count, "nothing shown has moved"
    turned.location.z = 3.0
    assert overlay.found() is None and overlay.lines() == ["At this frame: not known yet"]
    assert bpy.app.timers.is_registered(module._delayed_searches)
    assert 0.0 < module._delayed_searches() <= module.PAUSE, "the pause is not over"
    module._overlay[0]._due = 0.0
    assert module._delayed_searches() is None and overlay.found().count == 0 != count


def test_disabling_the_extension_removes_the_overlay(extension, overlay):
    sheets()
    overlay.show(True)
    module = extension.core.__name__.rpartition(".")[0]
    bpy.ops.preferences.addon_disable(module=module)
    try:
        assert registered() == [] and not hasattr(bpy.types.WindowManager, "muslin_show_crossings")
    finally:
        bpy.ops.preferences.addon_enable(module=module)


def test_the_panel_shows_the_certificate_of_the_current_frame(extension, overlay, scene):
    sheets()
    scene.muslin.backend, scene.muslin.resolve_start = "NUMPY", False
    report = builders.finish(extension.bake.bake(scene)).as_dict()
    text = extension.certificate_text
    here = dict(text.frame_facts(report, 2))
    assert here["Crossings"] == here["Flat, Turned"] == str(report["certificates"][1]["crossings"])
    assert here["Smallest Gap"] == here["Deepest Penetration"] == "None"
    assert text.frame_facts(report, 0) == text.frame_facts(report, 5) == []
    report["certificates"][1].pop("crossing_pairs")                         # a bake of an older version
    assert "Crossings" in dict(text.frame_facts(report, 2))
    assert dict(text.facts(report))["Frames with Crossings"] == "4 of 4"


def selected(obj):
    bpy.ops.object.mode_set(mode="OBJECT")
    return {face.index for face in obj.data.polygons if face.select}


def test_crossing_faces_are_selected_and_nothing_else_changes(extension, overlay, scene):
    flat, turned = sheets()
    scene.muslin.backend, scene.muslin.resolve_start = "NUMPY", False
    bpy.context.view_layer.objects.active = flat
    flat.select_set(True)
    turned.select_set(True)
    overlay.show(True)
    wanted = set(overlay.found().faces["Flat"].tolist())
    assert bpy.ops.muslin.crossings_select() == {"FINISHED"} and (flat.mode, turned.mode) == ("EDIT", "OBJECT")
    assert bpy.context.tool_settings.mesh_select_mode[:] == (False, False, True)
    assert selected(flat) == wanted and 0 < len(wanted) < len(flat.data.polygons)
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(3)
    before = builders.state(flat)
    wanted = set(overlay.found().faces["Flat"].tolist())
    assert bpy.ops.muslin.crossings_select() == {"FINISHED"}
    assert selected(flat) == wanted and builders.state(flat) == before, "the bake's shape keys are as they were"


def test_no_faces_are_selected_without_crossings_or_if_a_modifier_changes_faces(overlay):
    flat, turned = sheets()
    bpy.context.view_layer.objects.active = turned
    flat.location.z = 4.0
    assert bpy.ops.muslin.crossings_select() == {"CANCELLED"} and turned.mode == "OBJECT"
    turned.modifiers.new("Thick", "SOLIDIFY")
    with pytest.raises(RuntimeError, match="modifier of 'Turned'"):
        bpy.ops.muslin.crossings_select()
    turned.hide_set(True)
    assert not bpy.ops.muslin.crossings_select.poll()
