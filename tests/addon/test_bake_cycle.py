# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that is cancelled and goes on has the bytes of one that was never interrupted, whatever is in the scene."""

from __future__ import annotations

import gc
import random

import numpy as np
import pytest

from tests.addon import builders
from tests.cases import case_count
from tests.core.cache.faults import faults

LAST = 6


@pytest.fixture(autouse=True)
def cached(scene, tmp_path):
    """Keep the takes of the test in a folder of its own, and compile nothing."""
    scene.muslin.cache_folder = str(tmp_path / "cache")
    scene.muslin.backend = "NUMPY"
    scene.frame_end = LAST


def over_a_moving_box(scene):
    sheet = builders.sheet(5, height=0.12)
    box = builders.box(size=0.2)
    builders.animate(box, "location", {1: (0.0, 0.0, -0.1), LAST: (0.1, 0.0, 0.1)})
    return [sheet]


def pinned_to_a_moving_object(scene):
    sheet = builders.sheet(5)
    builders.pin(sheet, {0: 1.0, 4: 1.0, 12: 0.5})
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), LAST: (0.2, 0.1, 0.3)})
    builders.animate(sheet, "rotation_euler", {1: (0.0, 0.0, 0.0), LAST: (0.5, 0.0, 1.0)})
    return [sheet]


def with_a_preroll(scene):
    scene.muslin.preroll = 3
    return pinned_to_a_moving_object(scene)


def with_a_preroll_from_rest(scene):
    scene.muslin.preroll, scene.muslin.preroll_from_rest = 3, True
    return pinned_to_a_moving_object(scene)


def from_frame_0(scene):
    scene.frame_start, scene.frame_end = 0, LAST - 1
    return over_a_moving_box(scene)


def from_a_negative_frame(scene):
    scene.muslin.use_custom_range = True
    scene.muslin.frame_start, scene.muslin.frame_end = -3, 2
    sheet, = pinned_to_a_moving_object(scene)
    builders.animate(sheet, "scale", {-3: (1.0, 1.0, 1.0), 2: (1.2, 1.0, 1.0)})
    return [sheet]


def with_samples_between_frames(scene):
    scene.muslin.motion_samples = 3
    return pinned_to_a_moving_object(scene) + over_a_moving_box(scene)


def deformed_by_an_armature(scene):
    rig = builders.armature()
    sheet = builders.sheet(5)
    for bone in range(2):
        sheet.vertex_groups.new(name=f"Bone{bone}").add(range(25), 0.5, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = rig
    builders.animate(rig.pose.bones[1], "rotation_euler", {1: (0.0, 0.0, 0.0), LAST: (0.6, 0.0, 0.2)})
    builders.pin(sheet, {0: 1.0, 4: 1.0})
    return [sheet]


def with_own_keys(scene):
    sheet = builders.sheet(5)
    sheet.shape_key_add(name="Basis")
    sheet.shape_key_add(name="Bulge", from_mix=False).data[12].co.z += 0.1
    builders.animate(sheet.data.shape_keys.key_blocks["Bulge"], "value", {1: 0.0, LAST: 1.0})
    builders.pin(sheet, {0: 1.0, 4: 1.0})
    return [sheet]


def two_cloths_and_a_fractional_rate(scene):
    scene.render.fps, scene.render.fps_base = 30, 1.001
    lower, upper = builders.sheet(4, "Lower"), builders.sheet(4, "Upper/ä.", height=0.05)
    builders.pin(lower, {0: 1.0, 3: 1.0, 12: 1.0, 15: 1.0})
    return [lower, upper]


CASES = [over_a_moving_box, pinned_to_a_moving_object, with_a_preroll, with_a_preroll_from_rest, from_frame_0,
         from_a_negative_frame, with_samples_between_frames, deformed_by_an_armature, with_own_keys,
         two_cloths_and_a_fractional_rate]


def continuation(extension, scene, obj, frame=None):
    """Return the point at which the latest take of a cloth goes on."""
    extension.takes.forget()
    found = extension.takes.of_object(scene, obj, now=True)[0]
    return extension.preparation.Continuation(found.folder, frame)


def cancel_at(extension, scene, frames, resume=None):
    """Bake until so many new frames are there, and cancel."""
    steps = extension.bake.bake(scene, resume=resume)
    before = None
    for progress in steps:
        if progress.touches_blender:
            before = progress.done if before is None else before
            if progress.done - before >= frames:
                break
    steps.close()


def stored(extension, scene, obj):
    """Return the positions and velocities of the take in use, as bytes."""
    extension.takes.forget()
    take = extension.apply_take.Take.open(extension.takes.in_use(obj).folder)
    return [(frame, [take.positions(i, frame).tobytes() + take.velocities(i, frame).tobytes()
                     for i in range(len(take.header.cloths))])
            for frame in range(take.header.start, take.last + 1)]


def shown(objects, scene):
    """Return the displayed positions of all frames, as bytes."""
    settings = scene.muslin if scene.muslin.use_custom_range else scene
    return [[builders.displayed(obj, frame).tobytes() for obj in objects]
            for frame in range(settings.frame_start, settings.frame_end + 1)]


@pytest.mark.parametrize("make", CASES, ids=lambda case: case.__name__)
def test_a_bake_that_was_cancelled_at_any_frame_goes_on_to_the_same_bytes(extension, scene, make):
    objects = make(scene)
    start = scene.frame_current
    builders.finish(extension.bake.bake(scene))
    wanted, displayed = stored(extension, scene, objects[0]), shown(objects, scene)
    total = len(wanted)
    for cancelled in sorted(random.Random(total).sample(range(1, total + 1), min(case_count(2), total))):
        extension.shape_keys.delete_bakes(objects)
        scene.frame_set(start)
        cancel_at(extension, scene, cancelled)
        resume = continuation(extension, scene, objects[0])
        assert extension.takes.read(resume.folder).reached >= wanted[0][0] + cancelled - 1
        builders.finish(extension.bake.bake(scene, resume=resume))
        assert stored(extension, scene, objects[0]) == wanted, cancelled
        assert shown(objects, scene) == displayed, cancelled
        assert extension.baked_record.lacks_keys(objects[0]) is False


def test_a_bake_that_is_cancelled_after_every_frame_has_the_same_bytes(extension, scene):
    objects = pinned_to_a_moving_object(scene)
    builders.finish(extension.bake.bake(scene))
    wanted = stored(extension, scene, objects[0])
    extension.shape_keys.delete_bakes(objects)
    cancel_at(extension, scene, 1)
    for _ in range(2, LAST + 1):
        cancel_at(extension, scene, 1, continuation(extension, scene, objects[0]))
    builders.finish(extension.bake.bake(scene, resume=continuation(extension, scene, objects[0])))
    assert stored(extension, scene, objects[0]) == wanted


def test_a_cancelled_bake_leaves_every_file_whole_and_reports_nothing_to_the_console(extension, scene, capfd):
    objects = over_a_moving_box(scene)
    cancel_at(extension, scene, 3)
    gc.collect()
    resume = continuation(extension, scene, objects[0])
    take = extension.apply_take.Take.open(resume.folder)
    assert faults(take) == []
    assert take.last in take.checkpoint_frames()
    take = extension.apply_take.Take.resume(resume.folder)         # the lock is free
    take.close()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("frame", [None, 4, 3, 1])
def test_other_friction_from_a_frame_on_keeps_the_frames_before_it(extension, scene, monkeypatch, frame):
    monkeypatch.setattr(extension.core.cache.bake, "CHECKPOINT_FRAMES", 2)
    sheet, = over_a_moving_box(scene)
    if frame is None:
        cancel_at(extension, scene, 4)
    else:
        builders.finish(extension.bake.bake(scene))
    resume = continuation(extension, scene, sheet, frame)
    old = extension.apply_take.Take.open(resume.folder)
    before = {number: old.positions(0, number) for number in range(1, old.last + 1)}
    kept = old.last if frame is None else old.checkpoint_before(frame).frame if frame > 1 else None
    sheet.muslin.friction = 0.9
    builders.box("New box", size=0.1)
    if kept is None:                                                # nothing to go on from: from the start
        builders.finish(extension.bake.bake(scene, resume=resume))
        assert len(extension.apply_take.Take.open(extension.takes.in_use(sheet).folder).segments) == 1
        assert extension.bake_state.state_of(scene, sheet).text(changed=False) == "Up to date"
        return
    report = builders.finish(extension.bake.bake(scene, resume=resume)).as_dict()
    used = extension.takes.in_use(sheet)
    assert (used.folder == resume.folder) == (frame is None)
    now = extension.apply_take.Take.open(used.folder)
    assert now.is_complete and faults(now) == [] and kept in now.checkpoint_frames()
    for number in range(1, kept + 1):
        assert now.positions(0, number).tobytes() == before[number].tobytes()
        assert np.abs(builders.displayed(sheet, number) - before[number]).max() < 1e-6
    assert report["settings"]["cloths"]["Sheet"]["friction"] == pytest.approx(0.9)
    assert report["colliders"] == ["Box", "New box"]
    assert extension.bake_changes.known_changes(scene, sheet, report) in (None, [], ())
    scene.frame_set(1)
    assert report["fingerprints"]["Sheet"] == extension.fingerprint.fingerprint(scene, sheet)
    extension.takes.forget()
    mixed = f"Frames 1 to {kept} have other settings (collider 'New box', Friction)"
    assert extension.bake_state.state_of(scene, sheet).text(changed=False) == mixed
    del extension.baked_record.report_of(sheet)["parts"]             # as in a file of an earlier version
    assert extension.bake_state.state_of(scene, sheet).text(changed=False) == mixed


def test_a_range_that_was_extended_goes_on_to_its_new_end(extension, scene):
    sheet, = over_a_moving_box(scene)
    builders.finish(extension.bake.bake(scene))
    wanted = stored(extension, scene, sheet)
    scene.frame_end = LAST + 3
    state = extension.bake_state.state_of(scene, sheet)
    assert state.can_resume
    builders.finish(extension.bake.bake(scene, resume=continuation(extension, scene, sheet)))
    now = stored(extension, scene, sheet)
    assert now[:LAST] == wanted and len(now) == LAST + 3
    record = extension.baked_record.load(sheet)
    assert (record.first, record.last) == (1, LAST + 3)
    assert extension.takes.in_use(sheet).is_complete
    assert not extension.bake_state.state_of(scene, sheet).can_resume
    extension.shape_keys.delete_bake(sheet)
    builders.finish(extension.bake.bake(scene))
    assert stored(extension, scene, sheet) == now


def test_a_range_that_was_shortened_gives_up_the_frames_after_its_end(extension, scene, monkeypatch):
    monkeypatch.setattr(extension.core.cache.bake, "CHECKPOINT_FRAMES", 2)
    sheet, = over_a_moving_box(scene)
    builders.finish(extension.bake.bake(scene))
    wanted = stored(extension, scene, sheet)
    scene.frame_end = LAST - 1
    builders.finish(extension.bake.bake(scene, resume=continuation(extension, scene, sheet)))
    assert stored(extension, scene, sheet) == wanted[:LAST - 1]
    used = extension.takes.in_use(sheet)
    assert used.is_complete and used.reached == LAST - 1 and extension.baked_record.load(sheet).last == LAST - 1
    assert extension.bake_state.state_of(scene, sheet).text(changed=False) == "Up to date"


def add_a_face(sheet):
    import bmesh

    mesh = bmesh.new()
    mesh.from_mesh(sheet.data)
    mesh.faces.new([mesh.verts.new((x, 0.0, 1.0)) for x in (0.0, 1.0)] + [mesh.verts.new((0.0, 1.0, 1.0))])
    mesh.to_mesh(sheet.data)
    mesh.free()


def turn_an_edge(sheet):
    import bmesh

    mesh = bmesh.new()
    mesh.from_mesh(sheet.data)
    bmesh.ops.triangulate(mesh, faces=mesh.faces[:1])
    mesh.to_mesh(sheet.data)
    mesh.free()


def start_elsewhere(sheet):
    import bpy

    bpy.context.scene.frame_start = 2


def rename(sheet):
    sheet.name = "Other"


def add_a_cloth(sheet):
    builders.sheet(3, "Second", height=2.0)


@pytest.mark.parametrize(("change", "message"), [
    (add_a_face, r"Sheet: has 28 vertices, and 25 when it was baked; undo"),
    (turn_an_edge, r"Sheet: cannot go on .* Undo that change, or bake from the start"),
    (start_elsewhere, r"starts at frame 1.*; set Start to 1"),
    (add_a_cloth, r"is of Sheet, .*; bake the same cloths")])
def test_a_bake_does_not_go_on_with_another_mesh_range_or_cloth(extension, scene, change, message):
    sheet, = over_a_moving_box(scene)
    cancel_at(extension, scene, 3)
    resume = continuation(extension, scene, sheet)
    files = contents(resume.folder)
    change(sheet)
    with pytest.raises(extension.core.ClothError, match=message):
        builders.finish(extension.bake.bake(scene, resume=resume))
    assert contents(resume.folder) == files
    assert len(list(resume.folder.parent.iterdir())) == 1


def contents(folder):
    """Return the files in a folder and those below it, without lock files."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_cloth_that_was_renamed_goes_on_with_its_own_take(extension, scene):
    sheet, = over_a_moving_box(scene)
    builders.finish(extension.bake.bake(scene))
    wanted = stored(extension, scene, sheet)
    rename(sheet)
    scene.frame_end += 1
    extension.takes.forget()
    source = extension.bake_state.state_of(scene, sheet).source
    assert source is not None and extension.apply_take.objects_of(source, scene) == [sheet]
    builders.finish(extension.bake.bake(scene, resume=extension.preparation.Continuation(source.folder)))
    assert stored(extension, scene, sheet)[:LAST] == wanted
    report = extension.baked_record.report_of(sheet)
    assert report["cloths"] == ["Other"] and "Other" in report["fingerprints"]


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_the_old_result_is_in_use_until_the_new_one_is_complete(extension, scene, result):
    sheet, = over_a_moving_box(scene)
    sheet.muslin.result = result
    builders.finish(extension.bake.bake(scene))
    used, before = extension.takes.in_use(sheet), shown([sheet], scene)
    scene.frame_set(1)
    state = builders.state(sheet)
    sheet.muslin.friction = 0.9
    for count in range(1, LAST):
        cancel_at(extension, scene, count)
        assert builders.state(sheet) == state
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.certificate is not None:
            assert extension.takes.read(used.folder) is not None
    extension.takes.forget()
    now = extension.takes.in_use(sheet)
    assert now.id != used.id and now.is_complete
    assert len(before) == LAST
