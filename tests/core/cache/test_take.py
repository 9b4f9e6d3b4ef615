# SPDX-License-Identifier: GPL-3.0-or-later
"""A take keeps a bake: header, frames, checkpoints; it is read while it grows, resumed, cut, copied and checked."""

import errno
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

import core
from core import CacheError
from core.cache import take_checkpoints
from core.cache.bake import bake_frames
from core.cache.record_log import RecordLog
from core.cache.take import LOG_NAME, Take
from core.cache.take_entries import Entry, delete_take, read_header
from core.cache.take_header import TakeCloth, file_names
from tests.core.cache.faults import faults
from tests.core.cache.takes import FIRST, LAST, SOLVER, baked, contents, header, scene


@pytest.fixture(scope="module")
def frames():
    return list(core.simulate(scene(), SOLVER, range(FIRST, LAST + 1)))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("takes") / "finished"
    baked(folder)
    return folder


@pytest.fixture
def take(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "take")
    return Take.open(tmp_path / "take")


def test_all_of_a_bake_is_there(take, frames):
    assert (take.last, take.end, take.is_complete, faults(take)) == (LAST, LAST, True, [])
    assert [cloth.file for cloth in take.header.cloths] == ["sheet.pc2", "Sheet-2.pc2"]
    assert take.header.settings == {"fabric": "cotton"} and len(take.header.take) == 32
    told = take.certificates()
    for frame, found in zip(frames, told, strict=True):
        for index in range(2):
            assert np.array_equal(take.positions(index, frame.index), frame.positions[index].astype(np.float32))
            assert np.array_equal(take.velocities(index, frame.index), frame.velocities[index].astype(np.float32))
        assert found["frame"] == frame.index and found["frame_seconds"] >= 0.0
        assert found["stretch_max"] == frame.certificate.stretch_max and found["steps"] == frame.certificate.steps
    assert take.bytes_on_disk() == sum(path.stat().st_size for path in take.folder.iterdir())


def test_a_header_is_read_from_a_log_whose_frames_are_damaged(take):
    path = take.folder / LOG_NAME
    first = next(iter(RecordLog.reader(path).scan()))
    path.write_bytes(path.read_bytes()[:first.end] + b"damaged")
    assert read_header(take.folder) == take.header
    assert Take.open(take.folder).last is None


def test_frames_that_are_not_there_are_named(take):
    for frame in (FIRST - 1, LAST + 1):
        for read in (take.positions, take.velocities):
            with pytest.raises(CacheError, match=f"no frame {frame}, only {FIRST} to {LAST}"):
                read(0, frame)
    with pytest.raises(CacheError, match="no frame 99"):
        Take.resume(take.folder, 99)


def test_a_resume_at_a_frame_removes_those_after_it(take):
    with Take.resume(take.folder, 2) as cut:
        assert cut.last == 2
    assert Take.open(take.folder).last == 2 and not Take.open(take.folder).is_complete
    assert [p.stat().st_size for p in sorted(take.folder.glob("*.pc2"))] == [32 + 4 * 108] * 2
    assert not list(take.folder.glob(f"checkpoint-*{LAST}"))


def test_damage_of_a_sample_is_found_and_a_resume_keeps_what_is_before(take):
    path = take.folder / "sheet.pc2"
    data = bytearray(path.read_bytes())
    data[32 + 3 * 108 + 50] ^= 4                                # frame 2
    path.write_bytes(data)
    with pytest.raises(CacheError, match="frame 2 is wrong"):
        take.positions(0, 2)
    assert faults(take) == [f"{path}: frame 2 is damaged"]
    reader = Take.open(take.folder)
    assert reader.last == LAST and reader.damage == ""          # not looked for
    reader.keep_whole(within=-1.0)
    assert reader.last == LAST and reader.damage == ""
    reader.keep_whole()
    assert reader.last == 1 and reader.damage == f"{path}: frame 2 is damaged"
    assert max(reader.checkpoint_frames(), default=FIRST) <= 1
    with Take.resume(take.folder) as cut:
        assert cut.last == 1 and faults(cut) == []


def test_what_ends_a_take_before_its_last_frame_is_named(take):
    path, log = take.folder / "sheet.pc2", take.folder / LOG_NAME
    whole, records = path.read_bytes(), log.read_bytes()
    path.write_bytes(whole[:32 + 3 * 108 + 50])
    reader = Take.open(take.folder)
    assert reader.last == 1 and reader.damage == f"{path}: it is cut off before frame 2"
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    reader = Take.open(take.folder)
    assert reader.last == LAST - 1 and reader.damage == f"{path}: frame {LAST} is damaged"
    path.write_bytes(whole)
    velocities = take._frames[3].record.body_at
    log.write_bytes(records[:velocities] + bytes([records[velocities] ^ 1]) + records[velocities + 1:])
    reader = Take.open(take.folder)
    reader.keep_whole()
    assert reader.last == FIRST + 2 and reader.damage == f"{log}: frame {FIRST + 3} is damaged"


def test_a_missing_or_foreign_file_of_positions_is_an_error_that_removes_nothing(take):
    path, log = take.folder / "sheet.pc2", (take.folder / LOG_NAME).read_bytes()
    data = path.read_bytes()
    for other in (None, data[:12] + b"\1\0\0\0\x08" + data[17:], b"no PC2"):
        path.unlink()
        if other is not None:
            path.write_bytes(other)
        for call in (Take.open, Take.resume):
            with pytest.raises(CacheError, match=r"sheet\.pc2.*(bake again|must be)"):
                call(take.folder)
        assert (take.folder / LOG_NAME).read_bytes() == log
        path.write_bytes(data)


def test_a_folder_in_use_is_not_overwritten(take, tmp_path):
    with pytest.raises(CacheError, match="holds a take already"):
        Take.create(take.folder, header())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "picture.png").write_bytes(b"")
    with pytest.raises(CacheError, match=r"other files, such as picture\.png"):
        Take.create(tmp_path / "other", header())
    with pytest.raises(CacheError, match="choose another|cannot be made"):
        Take.create(tmp_path / "other" / "picture.png", header())


def test_what_a_bake_left_that_was_killed_at_once_is_replaced(tmp_path):
    for name in (LOG_NAME, "sheet.pc2"):
        (tmp_path / name).write_bytes(b"MUSLIN")
    (tmp_path / "scene.muslin").write_bytes(b"kept")
    with pytest.raises(CacheError, match="bake again"):
        Take.open(tmp_path)
    Take.create(tmp_path, header()).close()
    assert Take.open(tmp_path).last is None and (tmp_path / "scene.muslin").read_bytes() == b"kept"


def test_two_bakes_cannot_write_one_take(take):
    with Take.resume(take.folder), pytest.raises(CacheError, match="another bake"):
        Take.resume(take.folder)
    Take.resume(take.folder).close()


def test_a_reader_sees_frames_as_they_are_committed(tmp_path, frames):
    with Take.create(tmp_path / "t", header()) as writer:
        reader, seen = Take.open(tmp_path / "t"), []
        for frame in frames[:4]:
            writer.append(frame, frame.positions)
            seen += reader.poll()
            assert reader.poll() == [] and reader.last == frame.index
            assert np.array_equal(reader.positions(1, frame.index), writer.positions(1, frame.index))
        assert seen == [frame.index for frame in frames[:4]]
    with Take.resume(tmp_path / "t", 0) as writer:
        writer.append(frames[2], [x + 1.0 for x in frames[2].positions])
    assert reader.poll() == [1] and reader.last == 1
    shutil.rmtree(tmp_path / "t")
    with pytest.raises(CacheError, match="not there"):
        reader.poll()


def test_frames_out_of_order_and_of_other_cloths_are_refused(tmp_path, frames):
    with Take.create(tmp_path / "t", header()) as take:
        with pytest.raises(CacheError, match="the next one must be -1"):
            take.append(frames[1], frames[1].positions)
        with pytest.raises(CacheError, match="other cloths"):
            take.append(replace(frames[0], velocities=frames[0].velocities[:1]), frames[0].positions)
        with pytest.raises(CacheError, match="shape"):
            take.append(frames[0], [x[:4] for x in frames[0].positions])
        take.append(frames[0], frames[0].positions)
        with pytest.raises(CacheError, match="no frame 1"):
            take.checkpoint(frames[2])


@pytest.mark.parametrize("at", range(8))
def test_a_full_disk_loses_no_committed_frame_and_the_frame_can_be_tried_again(tmp_path, frames, monkeypatch, at):
    with Take.create(tmp_path / "t", header()) as take:
        take.append(frames[0], frames[0].positions)
        real, calls = {name: getattr(os, name) for name in ("write", "fsync")}, []

        def full(name, descriptor, *data):
            calls.append(name)
            if len(calls) > at:
                if data:
                    real[name](descriptor, bytes(data[0])[:5])
                raise OSError(errno.ENOSPC, "no space")
            return real[name](descriptor, *data)

        with monkeypatch.context() as patch:
            for name in real:
                patch.setattr(os, name, lambda *given, name=name: full(name, *given))
            with pytest.raises(CacheError, match="the disk is full; free some space"):
                take.append(frames[1], frames[1].positions)
        reader = Take.open(tmp_path / "t")
        assert reader.last == take.last == FIRST and faults(reader) == []
        for frame in frames[1:]:
            take.append(frame, frame.positions)
        assert Take.open(tmp_path / "t").is_complete and faults(take) == []


def test_a_folder_that_is_deleted_while_it_is_written_is_an_error(tmp_path, frames):
    with Take.create(tmp_path / "t", header()) as take:
        take.append(frames[0], frames[0].positions)
        shutil.rmtree(tmp_path / "t")
        with pytest.raises(CacheError, match="not there"):
            take.append(frames[1], frames[1].positions)
        with pytest.raises(CacheError, match="take another folder"):
            take.checkpoint(frames[0])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything may be written here")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(CacheError, match="permission"):
        Take.create(tmp_path / "t", header())


def test_a_copy_has_the_frames_up_to_one_and_goes_on_as_the_original_does(take, tmp_path):
    with take.copy_prefix(tmp_path / "copy", 2) as copy:
        assert copy.last == 2 and copy.header.take != take.header.take and faults(copy) == []
        for _ in bake_frames(copy, scene(), SOLVER, start=copy.checkpoint_before(2)):
            pass
    assert contents(tmp_path / "copy") == contents(take.folder)


def test_checkpoints_of_a_long_bake_are_bounded(tmp_path, frames, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda number: None)
    last = 120
    with Take.create(tmp_path / "t", header(last)) as take:
        state = frames[0].checkpoint()
        before = set()
        for number in range(FIRST, last):
            take.append(replace(frames[0], index=number), frames[0].positions)
            take.checkpoint(replace(state, frame=number))
            there = set(take.checkpoint_frames())
            assert there - {number} <= before and {number - 3, number - 2, number - 1} & before <= there
            before = there
    assert len(before) <= last // 10 + 4
    for frame in range(FIRST, last):
        assert any(0 <= frame - state <= 10 for state in before), f"no state to go on from at or before frame {frame}"
    with Take.resume(tmp_path / "t", 90) as take:
        assert 80 <= take.checkpoint_before(90).frame <= 90


@pytest.mark.parametrize("distance", [1, 3, 7, 10])
def test_kept_checkpoints_are_close_over_the_whole_range_and_few(tmp_path, distance):
    """Whatever the distance of those that are written, with one that must stay."""
    written = [*range(FIRST + distance - 1, 1000, distance)]
    entries = [Entry(None, "checkpoint", frame, {"digest": ""}) for frame in written]
    for number, frame in enumerate(written, 1):
        take_checkpoints.path_of(tmp_path, frame).touch()
        take_checkpoints.thin(tmp_path, entries[:number], {written[7]})
    there = sorted(int(path.name.rpartition("-")[2]) for path in tmp_path.iterdir())
    gaps = np.diff([FIRST, *there, 999])
    assert gaps.max() <= 10 and len(there) <= 2 * 100 + 5 and written[7] in there
    assert (np.convolve(gaps[1:-6], [1, 1], "valid") > 10).sum() >= len(gaps) - 12


def test_a_checkpoint_that_is_damaged_or_of_removed_frames_is_not_used(take, frames):
    latest = take.checkpoint_before(LAST)
    assert latest.frame == LAST
    path = take.folder / f"checkpoint-{LAST:06d}"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"\xff")
    assert take.checkpoint_before(LAST) is None and faults(take) == [f"{path} is damaged"]
    path.write_bytes(data)
    replace(latest, state=replace(latest.state, v=latest.state.v + 1.0)).save(path)
    assert take.checkpoint_before(LAST) is None


def test_other_settings_need_a_state_and_are_part_of_the_take(take, frames):
    with Take.resume(take.folder, 2) as cut:
        with pytest.raises(CacheError, match="need the state of frame 2"):
            cut.begin_segment({"fabric": "silk"}, {})
        state = next(frame for frame in frames if frame.index == 2).checkpoint()
        cut.begin_segment({"fabric": "silk"}, {"sheet": {"mesh": "1"}}, last=LAST + 2, state=state)
        cut.set_owner("/a.blend")
    found = Take.open(take.folder)
    assert found.owner == "/a.blend" and found.end == LAST + 2 and found.checkpoint_frames() == [2]
    assert [(s["from_frame"], s["settings"]) for s in found.segments] == [
        (FIRST, {"fabric": "cotton"}), (3, {"fabric": "silk"})]
    with Take.resume(take.folder) as cut:
        for frame in frames[4:6]:
            cut.append(frame, frame.positions)
    (take.folder / "checkpoint-000002").unlink()
    with pytest.raises(CacheError, match="resume from frame 2 or an earlier one"):
        found.checkpoint_before(2 + found.poll()[-1])
    with Take.resume(take.folder, 1) as cut:
        assert cut.segments == Take.open(take.folder).segments and len(cut.segments) == 1


def test_a_take_is_deleted_with_its_files_only_and_not_while_it_is_written(take):
    (take.folder / "notes.txt").write_text("kept")
    with Take.resume(take.folder), pytest.raises(CacheError, match="another bake"):
        delete_take(take.folder)
    assert faults(Take.open(take.folder)) == []
    delete_take(take.folder)
    assert [path.name for path in take.folder.iterdir()] == ["notes.txt"]
    with pytest.raises(CacheError, match="not there"):
        delete_take(take.folder)
    (take.folder / "notes.txt").unlink()
    baked(take.folder)
    for name in ("control", "state.json.123.part", "checkpoint-000003.77.part"):
        (take.folder / name).write_bytes(b"")
    delete_take(take.folder)
    assert not take.folder.exists()


def test_file_names_are_safe_and_different():
    names = ["Cloth", "cloth", "Tuch Ä/ö", "..", "", "con", "COM1.x", "a" * 500, "..\\..\\x", "日本", "a\0b"]
    found = file_names(names)
    assert len({name.lower() for name in found}) == len(names)
    assert found[:7] == ["Cloth.pc2", "cloth-2.pc2", "Tuch.pc2", "cloth-3.pc2", "cloth-4.pc2", "cloth_con.pc2",
                         "cloth_COM1.x.pc2"]
    assert all(len(name) < 64 and "/" not in name and "\\" not in name for name in found)


@pytest.mark.parametrize("wrong", [
    {"frame_rate": 0.0}, {"frame_rate": float("nan")}, {"last": FIRST}, {"first": 2 ** 31}, {"cloths": []},
    {"cloths": [TakeCloth("a", 0)]}, {"settings": {"a": object()}}, {"report": {"a": "x" * (1 << 23)}}])
def test_a_header_that_does_not_fit_is_refused_before_anything_is_written(tmp_path, wrong):
    with pytest.raises(CacheError, match="give another value"):
        Take.create(tmp_path / "t", replace(header(), **wrong))
    assert not (tmp_path / "t").exists()
