# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene from a file simulates the same bytes, and a damaged file is refused."""

import tracemalloc

import numpy as np
import pytest

import core
from core.array_file import packed
from core.cache import scene_file
from core.cache.scene_file import load_scene, save_scene
from tests.core.cache.moving_scenes import FIRST, described, simulated, windowed
from tests.core.simple_scenes import FABRIC, floor, hanging, sheet
from tests.scenes.repeatability_scenes import SCENES


def window_of(**values):
    return core.MotionWindow(1, 24.0, {name: np.array(value, dtype=float) for name, value in values.items()})


@pytest.mark.parametrize("name", SCENES)
def test_a_stored_scene_simulates_the_same_bytes(name, tmp_path):
    """All models and integrators, with pins, attachments, seams, buttons, maps, births, moving solids and wind."""
    for act in SCENES[name]():
        solver = core.Solver(**act.settings)
        scene, window, motion = windowed(act.scene, solver.frame_rate)
        save_scene(tmp_path / "scene", scene, solver, window)
        loaded, settings, moved = load_scene(tmp_path / "scene")
        assert described(loaded) == described(scene) and settings == solver
        assert (moved.first, moved.frame_rate, moved.frame) == (FIRST, solver.frame_rate, FIRST)
        assert described(dict(moved.start)) == described(dict(window.start))
        count = min(act.frames, 2)
        assert simulated(loaded, settings, moved, motion, count) == simulated(scene, solver, window, motion, count)


def test_arguments_are_kept_as_they_were_given(tmp_path):
    positions, triangles = sheet().positions.copy(), sheet().triangles.tolist()
    pins = np.linspace(0.0, 1.0, len(positions)).astype(np.float32)
    cloth = core.Cloth(core.ClothMesh(positions, faces=iter(triangles)), FABRIC, pins=pins)
    before = described(cloth)
    positions[:], pins[:] = 0.0, 0.0
    triangles[0][0] = 99
    assert described(cloth) == before
    save_scene(tmp_path / "scene", core.Scene([cloth]), core.Solver(), window_of())
    loaded, _, _ = load_scene(tmp_path / "scene")
    assert described(loaded.cloths[0]) == before
    assert (loaded.cloths[0].mesh.triangles == cloth.mesh.triangles).all()


def test_what_a_cloth_collides_with_is_stored(tmp_path):
    marks = np.arange(len(sheet().positions)) % 3 == 0
    contact = core.ClothContact(self_collision=False, colliders=["other"], not_self=marks, not_objects=~marks,
                                self_friction=0.2, self_distance=0.03, layer=-2)
    cloths = [core.Cloth(sheet(), FABRIC, contact=contact), core.Cloth(sheet(shift=2.0), FABRIC, name="other")]
    save_scene(tmp_path / "scene", core.Scene(cloths), core.Solver(), window_of())
    loaded, other = (cloth.contact for cloth in load_scene(tmp_path / "scene")[0].cloths)
    for name, value in vars(contact).items():
        assert np.array_equal(getattr(loaded, name), value), name
    assert vars(other) == vars(core.ClothContact())


def test_a_mesh_that_was_scaled_curved_and_cut_is_stored_with_its_changes(tmp_path):
    mesh = sheet()
    count = len(mesh.positions)
    mesh = core.ClothMesh(np.concatenate([mesh.positions, [[0.0, 0.0, 3.0]]]), mesh.triangles, edges=[(0, count)],
                          points=True)
    mesh = mesh.scaled(np.linspace(0.5, 1.5, count + 1)).curved(curvature=np.full(count + 1, 3.0), angle=0.2)
    mesh = mesh.without_loose(np.array([(0, count)]))
    save_scene(tmp_path / "scene", core.Scene([core.Cloth(mesh, FABRIC)]), core.Solver(), window_of())
    loaded = load_scene(tmp_path / "scene")[0].cloths[0].mesh
    for name in ("positions", "edges", "uv", "scale", "curvature", "rest_lengths", "areas", "loose_edges"):
        assert getattr(loaded, name).tobytes() == getattr(mesh, name).tobytes(), name


@pytest.mark.parametrize(("change", "words"), [
    ({"pins": {3: lambda t: (0.0, 0.0, t)}}, r"Cloth 'sheet': pins\[3\] is a function, which cannot be stored"),
    ({"pins": {3: window_of(a=[0.0] * 3).trajectory("a")}}, "is the trajectory 'a' of another MotionWindow"),
    ({"attachments": [core.Attachment(1, target=lambda t: (0.0, 0.0, t))]}, "target is a function"),
])
def test_functions_other_than_trajectories_are_refused_by_name(change, words, tmp_path):
    cloth = core.Cloth(sheet(), FABRIC, **change)
    with pytest.raises(core.CacheError, match=words):
        save_scene(tmp_path / "scene", core.Scene([cloth]), core.Solver(), window_of())
    for wind, words in ((lambda t: (t, 0.0, 0.0), "scene: wind is a function"), (lambda t, x: x, "wind is a function")):
        with pytest.raises(core.CacheError, match=words):
            save_scene(tmp_path / "scene", core.Scene([hanging()], wind=wind), core.Solver(), window_of())
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("scene") / "scene"
    window = window_of(a=np.zeros((4, 3)), fan=core.field_values(strength=1.0))
    field = core.ForceField("force", window.trajectory("fan"), vertices=np.eye(3))
    cloth = hanging(sewing_time=2.0, field_weights=core.FieldWeights(fields=["field"]))
    scene = core.Scene([cloth], [floor()], fields=[field])
    save_scene(path, scene, core.Solver(), window)
    return path.read_bytes()


def test_a_damaged_file_is_refused_without_large_allocations(stored, tmp_path):
    path, rng = tmp_path / "scene", np.random.default_rng(7)
    path.write_bytes(stored)
    load_scene(path)
    tracemalloc.start()
    try:
        for number in range(300):
            data = bytearray(stored)
            if number % 3 == 0:
                data = data[:int(rng.integers(len(data)))]
            elif number % 3 == 1:
                data[int(rng.integers(len(data) if number % 2 else 100))] ^= int(rng.integers(1, 256))
            else:
                data += bytes(int(rng.integers(1, 99)))
            path.write_bytes(data)
            del data
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            with pytest.raises(core.CacheError, match="scene"):
                load_scene(path)
            assert tracemalloc.get_traced_memory()[1] - before < 2 * len(stored) + 20_000
    finally:
        tracemalloc.stop()


def test_wrong_values_with_a_right_checksum_are_refused(stored, tmp_path):
    """Every place of the JSON is replaced by some values of other types."""
    values, arrays = scene_file.unpacked(stored, scene_file.SCENE_MAGIC, scene_file.SCENE_VERSION, "scene",
                                         scene_file.SCENE_DTYPES)
    path, refused = tmp_path / "scene", 0
    wrongs = ({}, [], "x", -1, None, {"array": "99"}, {"made": "Path", "arguments": {}, "changes": []},
              {"made": "Cloth", "arguments": {"oops": 1}, "changes": [["copy", {}]]}, {"motion": "none"},
              {"rows": "0", "sizes": "1"}, {"numbers": "0", "tuple": 0}, {"keys": 3, "values": 4})
    for number, place in enumerate(places(values)):
        for wrong in (wrongs[(5 * number + k) % len(wrongs)] for k in range(4)):
            path.write_bytes(packed(scene_file.SCENE_MAGIC, scene_file.SCENE_VERSION,
                                    replaced(values, place, wrong), arrays))
            try:
                load_scene(path)
            except core.CacheError:
                refused += 1
    assert refused > 200


def places(value, before=()):
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*before, key)
        yield from places(item, (*before, key))


def replaced(value, place, wrong):
    if not place:
        return wrong
    copy = value.copy()
    copy[place[0]] = replaced(value[place[0]], place[1:], wrong)
    return copy


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(core.CacheError, match="none cannot be read"):
        load_scene(tmp_path / "none")
    with pytest.raises(core.CacheError, match="cannot be written"):
        save_scene(tmp_path / "no folder" / "scene", core.Scene([hanging()]), core.Solver(), window_of())
