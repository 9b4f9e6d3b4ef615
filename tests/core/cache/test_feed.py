# SPDX-License-Identifier: GPL-3.0-or-later
"""A feed moves the window as the samples themselves do, while it is written and after; every prefix of it is valid."""

import threading
import time
import tracemalloc

import numpy as np
import pytest

import core
from core.cache.feed import FeedLostError, FeedReader, FeedWriter
from tests.core.cache.solver_takes import FIRST, samples, values

LAST = FIRST + 6


def window(**other):
    return core.MotionWindow(FIRST, 24.0, {**values(FIRST), **other})


def written(path, last=LAST, finish=True):
    with FeedWriter.create(path, window()) as feed:
        for frame in range(FIRST + 1, last + 1):
            feed.append(frame, samples(frame))
        if finish:
            feed.finish()
    return path


def seen(moved, frame):
    """Return all values of a window at some times within a frame."""
    times = (frame - FIRST - np.array([1.0, 0.8, 0.75, 0.4, 0.1, 0.0])) / 24.0
    return [moved.at(name, time).tobytes() for name in values(FIRST) for time in times]


def test_a_window_moves_by_a_feed_as_by_its_samples(tmp_path):
    path, moved, wanted = written(tmp_path / "feed"), window(), window()
    reader = FeedReader(path, moved)
    for frame in range(FIRST + 1, LAST + 1):
        wanted.advance(samples(frame))
        reader.read_to(frame)
        assert moved.frame == frame and seen(moved, frame) == seen(wanted, frame)
    with pytest.raises(core.CacheError, match=f"ends at frame {LAST}, frame {LAST + 1} is needed"):
        reader.read_to(LAST + 1)
    assert reader.is_complete


def test_a_window_jumps_to_a_later_frame_and_goes_on(tmp_path):
    path, moved, wanted = written(tmp_path / "feed"), window(), window()
    reader = FeedReader(path, moved)
    reader.read_to(FIRST)
    reader.read_to(FIRST + 4)
    assert moved.frame == FIRST + 4
    for name in values(FIRST):
        assert (moved.at(name, 4 / 24.0) == values(FIRST + 4)[name]).all()
        assert (moved.at(name, 0.0) == values(FIRST)[name]).all()
    for frame in range(FIRST + 1, FIRST + 6):
        wanted.advance(samples(frame))
    reader.read_to(FIRST + 5)
    assert seen(moved, FIRST + 5) == seen(wanted, FIRST + 5)
    with pytest.raises(core.CacheError, match="read already"):
        reader.read_to(FIRST + 1)


def test_arrays_that_do_not_change_are_stored_once(tmp_path):
    large = np.zeros((5000, 3))
    still = core.MotionWindow(0, 24.0, {"a": large, "b": np.zeros((2, 3))})
    with FeedWriter.create(tmp_path / "feed", still) as feed:
        for frame in range(1, 40):
            feed.append(frame, [(float(frame), {"a": large.copy() + (frame > 20), "b": np.full((2, 3), float(frame))})])
    assert (tmp_path / "feed").stat().st_size < 1.2 * large.nbytes


def test_a_reader_waits_for_the_writer(tmp_path):
    moved, waits = window(), []
    with FeedWriter.create(tmp_path / "feed", window()) as feed:
        thread = threading.Thread(target=lambda: (time.sleep(0.2), feed.append(FIRST + 1, samples(FIRST + 1))))
        thread.start()
        FeedReader(tmp_path / "feed", moved).read_to(FIRST + 1, lambda: waits.append(1))
        thread.join()
    assert moved.frame == FIRST + 1 and waits


def test_a_feed_whose_writer_has_ended_early_is_lost_and_can_be_continued(tmp_path):
    path, moved = written(tmp_path / "feed", FIRST + 2, finish=False), window()
    reader = FeedReader(path, moved)
    reader.read_to(FIRST + 2)
    with pytest.raises(FeedLostError, match=f"ends at frame {FIRST + 2}.*open the file and resume"):
        reader.read_to(FIRST + 3)
    with FeedWriter.open(path, window()) as feed:
        assert (feed.frame, feed.is_complete) == (FIRST + 2, False)
        for frame in range(FIRST + 3, LAST + 1):
            feed.append(frame, samples(frame))
        feed.finish()
    reader.read_to(FIRST + 3)
    assert path.read_bytes() == written(tmp_path / "other").read_bytes()


def test_a_feed_is_continued_from_the_state_of_the_scene_that_it_was_read_from_alone(tmp_path):
    path = tmp_path / "feed"
    with FeedWriter.create(path, window(), "a") as feed:
        feed.append(FIRST + 1, samples(FIRST + 1))
    before = path.read_bytes()
    for source in ("", "b"):
        with pytest.raises(core.CacheError, match="another state of the scene; bake again"):
            FeedWriter.open(path, window(), source)
    assert path.read_bytes() == before
    with FeedWriter.open(path, window(), "a") as feed:
        assert feed.frame == FIRST + 1
        assert all(np.array_equal(feed.values[name], array) for name, array in values(FIRST + 1).items())
    FeedReader(path, window()).read_to(FIRST + 1)


def test_a_new_feed_takes_the_place_of_a_damaged_one(tmp_path):
    for start in (b"", b"no feed" * 100):
        (tmp_path / "feed").write_bytes(start)
        FeedWriter.create(tmp_path / "feed", window()).close()
        assert FeedReader(tmp_path / "feed", window()).last == FIRST


def test_what_does_not_fit_is_refused(tmp_path):
    with FeedWriter.create(tmp_path / "feed", window()) as feed:
        with pytest.raises(core.CacheError, match=f"the next one must be {FIRST + 1}"):
            feed.append(FIRST + 2, samples(FIRST + 2))
        with pytest.raises(core.CacheError, match="'still' is not in all samples"):
            feed.append(FIRST + 1, [(FIRST + 1.0, {k: v for k, v in values(FIRST).items() if k != "still"})])
        with pytest.raises(core.CacheError, match="the last sample must be at frame"):
            feed.append(FIRST + 1, [(FIRST + 0.5, values(FIRST))])
        with pytest.raises(core.CacheError, match="being written"):
            FeedWriter.create(tmp_path / "feed", window())
        feed.finish()
        with pytest.raises(core.CacheError, match="the feed is complete"):
            feed.append(FIRST + 1, samples(FIRST + 1))
    with pytest.raises(core.CacheError, match="of another scene"):
        FeedReader(tmp_path / "feed", window(still=np.zeros((3, 3)))).read_to(FIRST + 1)


def test_a_damaged_feed_gives_its_valid_prefix_or_an_error(tmp_path):
    path, rng = written(tmp_path / "feed"), np.random.default_rng(3)
    whole = path.read_bytes()
    wanted = list(FeedReader(path, window()).frames())
    tracemalloc.start()
    try:
        for number in range(150):
            data = bytearray(whole[:int(rng.integers(len(whole)))] if number % 2 else whole)
            if number % 2 == 0:
                data[int(rng.integers(len(data)))] ^= int(rng.integers(1, 256))
            path.write_bytes(data)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                for found, frame in zip(FeedReader(path, window()).frames(), wanted, strict=False):
                    assert all(a[0] == b[0] and all((a[1][name] == b[1][name]).all() for name in a[1])
                               for a, b in zip(found, frame, strict=True))
            except core.CacheError as error:
                assert "bake again" in str(error) or "version" in str(error)
            assert tracemalloc.get_traced_memory()[1] - before < 2 * len(whole) + 50_000
    finally:
        tracemalloc.stop()
