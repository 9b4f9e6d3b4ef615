# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzz the files of a scene and its feed: they are read, or the error says what to do."""

from __future__ import annotations

import functools
import json
import tempfile
import tracemalloc
import zlib
from pathlib import Path

import numpy as np

from core.cache import record_log
from core.cache.feed import FEED_NAME, FeedReader, FeedWriter
from core.cache.scene_file import SCENE_NAME, load_scene, save_scene
from tests.core.cache.solver_takes import FIRST, parts, samples
from tests.long.damage import altered, as_json, damaged, repacked
from tests.long.fuzz_cache import records_of

MOST_ABOVE = 1 << 20
"""Memory that a reader may use besides twice the size of the files [byte]."""


@functools.cache
def files() -> tuple[bytes, bytes]:
    """Return the files of a scene and a feed."""
    scene, solver, window = parts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_scene(folder / SCENE_NAME, scene, solver, window)
        with FeedWriter.create(folder / FEED_NAME, window) as feed:
            for frame in range(FIRST + 1, FIRST + 4):
                feed.append(frame, samples(frame))
            feed.finish()
        return (folder / SCENE_NAME).read_bytes(), (folder / FEED_NAME).read_bytes()


def scenes(rng: np.random.Generator) -> None:
    """Read a damaged scene, or a damaged feed."""
    scene, feed = files()
    if rng.random() < 0.5:
        scene = damaged(scene, rng) if rng.random() < 0.4 else repacked(scene, rng)
    else:
        feed = damaged(feed, rng) if rng.random() < 0.4 else altered_log(feed, rng)
    measured = rng.random() < 0.1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / SCENE_NAME).write_bytes(scene)
        (folder / FEED_NAME).write_bytes(feed)
        if measured:
            tracemalloc.start()
        try:
            _, _, window = load_scene(folder / SCENE_NAME)
            reader = FeedReader(folder / FEED_NAME, window)
            for read in reader.frames():
                window.advance(read)
        finally:
            peak = tracemalloc.get_traced_memory()[1] if measured else 0
            tracemalloc.stop()
            if peak > 2 * (len(scene) + len(feed)) + MOST_ABOVE:
                raise AssertionError(f"{peak} bytes were allocated to read {len(scene) + len(feed)}")


def altered_log(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a log of which one record is altered, left out, doubled or exchanged, with the checksums set right."""
    parts = records_of(data)
    at, how = int(rng.integers(len(parts))), rng.random()
    head, body = parts[at]
    if how < 0.5:
        parts[at] = (as_json(altered(json.loads(head), rng)), body)
    elif how < 0.8:
        parts[at] = (head, damaged(body, rng))
    elif how < 0.9:
        del parts[at]
    else:
        parts.insert(int(rng.integers(len(parts) + 1)), (head, body))
    start = data[:record_log.LOG_HEAD.size]
    crc, blocks = zlib.crc32(start), [start]
    for head, body in parts:
        lengths = len(head), len(body), zlib.crc32(body)
        crc = zlib.crc32(head, zlib.crc32(record_log.LENGTHS.pack(*lengths), crc))
        blocks.append(record_log.RECORD_HEAD.pack(record_log.RECORD_MAGIC, *lengths, crc) + head + body)
    return b"".join(blocks)
