# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzz the files of a take: what is read is a prefix of what was written, or the error says what to do.

Files are damaged by bytes, or their records are altered, left out, doubled, exchanged or taken from another take, with
checksums set right or not.
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
import tracemalloc
import zlib
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import core
from core.cache import record_log
from core.cache.take import LOG_NAME, Take
from tests.core.cache.faults import faults
from tests.core.cache.takes import baked
from tests.long.damage import altered, as_json, damaged

MOST_ABOVE = 1 << 20
"""Memory that a reader may use besides twice the size of the files [byte]."""

Files = dict[str, bytes]
Part = tuple[bytes, bytes]
"""Head and body of a record."""


@functools.cache
def takes() -> tuple[Files, Files]:
    """Return the files of two takes."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a", "b"):
            baked(Path(folder) / name)
        first, second = ({path.name: path.read_bytes() for path in sorted((Path(folder) / name).iterdir())}
                         for name in ("a", "b"))
    return first, second


@functools.cache
def frames() -> dict[tuple[int, int], bytes]:
    """Return positions and velocities of each cloth and frame."""
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), takes()[0])
        take = Take.open(folder)
        numbers = range(take.header.start, take.header.last + 1)
        return {(index, frame): _frame(take, index, frame) for index in range(2) for frame in numbers}


def cache(rng: np.random.Generator) -> None:
    """Read, follow and resume a damaged take."""
    original, _ = takes()
    files, wanted = dict(original), frames()
    how = rng.random()
    if how < 0.5:
        name = LOG_NAME if rng.random() < 0.5 else str(rng.choice(sorted(files)))
        files[name] = damaged(files[name], rng)
        if rng.random() < 0.05:
            del files[name]
    else:
        files[LOG_NAME] = _rebuilt(rng)
    genuine = how < 0.5
    size = sum(map(len, files.values()))
    measured = rng.random() < 0.1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, files)
        if measured:
            tracemalloc.start()
        try:
            _read(folder, wanted if genuine else None)
        finally:
            peak = tracemalloc.get_traced_memory()[1] if measured else 0
            tracemalloc.stop()
            if peak > 2 * size + MOST_ABOVE:
                raise AssertionError(f"{peak} bytes were allocated to read {size}")
        if {path.name: path.read_bytes() for path in folder.iterdir()} != files:
            raise AssertionError("a reader has changed a file")
        with mock.patch.object(os, "fsync", lambda number: None):               # for its time alone
            _resume(folder, wanted if genuine else None)


def _read(folder: Path, wanted: dict[tuple[int, int], bytes] | None) -> None:
    """Read all of a take; raise AssertionError if a frame is not the one `wanted`."""
    take = Take.open(folder)
    take.certificates(), take.segments, take.owner, take.is_complete, take.bytes_on_disk()
    faults(take)
    if take.poll():
        raise AssertionError("poll returns frames of a file that nothing writes")
    numbers = range(take.header.start, take.header.start if take.last is None else take.last + 1)
    for index in range(len(take.header.cloths)):
        for frame in numbers:
            try:
                found = _frame(take, index, frame)
            except core.CacheError:
                continue
            if wanted is not None and found != wanted[index, frame]:
                raise AssertionError(f"frame {frame} of cloth {index} differs from the one that was written")
    for frame in numbers:
        try:
            take.checkpoint_before(frame)
        except core.CacheError:
            continue


def _resume(folder: Path, wanted: dict[tuple[int, int], bytes] | None) -> None:
    """Resume a take, after which it must be sound."""
    with Take.resume(folder) as take:
        found = [text for text in faults(take) if "checkpoint" not in text]
    if found:
        raise AssertionError(f"after a resume: {found[0]}")
    again = Take.open(folder)
    if (again.last, faults(again)) != (take.last, faults(take)):
        raise AssertionError("what was resumed is read otherwise")
    _read(folder, wanted)


def _frame(take: Take, index: int, frame: int) -> bytes:
    return take.positions(index, frame).tobytes() + take.velocities(index, frame).tobytes()


def _write(folder: Path, files: Files) -> None:
    for name, data in files.items():
        (folder / name).write_bytes(data)


def records_of(data: bytes) -> list[Part]:
    """Return the records of a log."""
    found, at = [], record_log.LOG_HEAD.size
    while at < len(data):
        _, head_length, body_length, _, _ = record_log.RECORD_HEAD.unpack_from(data, at)
        at += record_log.RECORD_HEAD.size
        found.append((data[at:at + head_length], data[at + head_length:at + head_length + body_length]))
        at += head_length + body_length
    return found


def _rebuilt(rng: np.random.Generator) -> bytes:
    """Return a log with its records altered, left out, doubled, exchanged, or taken from another take."""
    original, other = takes()
    parts = records_of(original[LOG_NAME])
    at, how = int(rng.integers(len(parts))), rng.random()
    head, body = parts[at]
    if how < 0.6:
        values: Any = json.loads(head)
        for _ in range(int(rng.choice([1, 1, 3]))):
            values = altered(values, rng)
        parts[at] = (as_json(values), body)
    elif how < 0.7:
        parts[at] = (head, damaged(body, rng))
    elif how < 0.8:
        del parts[at]
    elif how < 0.9:
        parts.insert(int(rng.integers(len(parts) + 1)), (head, body))
    else:
        foreign = records_of(other[LOG_NAME])
        parts[at] = foreign[at]
    start = bytearray(original[LOG_NAME][:record_log.LOG_HEAD.size])
    crc, blocks = zlib.crc32(start), [bytes(start)]
    wrong = int(rng.integers(len(parts))) if rng.random() < 0.2 else -1
    for number, (head, body) in enumerate(parts):
        body_crc = zlib.crc32(body)
        lengths = [len(head), len(body)]
        if number == wrong:
            lengths[int(rng.integers(2))] = int(rng.choice([0, 1, 2 ** 31, 2 ** 32 - 1]))
        crc = zlib.crc32(head, zlib.crc32(record_log.LENGTHS.pack(*lengths, body_crc), crc))
        blocks.append(record_log.RECORD_HEAD.pack(record_log.RECORD_MAGIC, *lengths, body_crc, crc) + head + body)
    return b"".join(blocks)
