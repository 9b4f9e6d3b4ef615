# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes that are cut at any byte or damaged in any way are read as far as they are whole, or refused in words."""

import shutil

from core import CacheError
from core.cache.take import LOG_NAME, Take
from tests.core.cache.faults import faults
from tests.core.cache.takes import FIRST, baked
from tests.long import fuzz

CASES = 500
"""Number of damaged takes; `make test-long` has 20 times as many."""


def test_a_log_that_is_cut_at_any_byte_has_the_frames_before(tmp_path):
    take = baked(tmp_path / "t", FIRST + 2)
    path, ends = take.folder / LOG_NAME, [entry.record.end for entry in take._frames]
    data, start = path.read_bytes(), take._entries[0].record.end
    for size in range(0, len(data), 7):
        path.write_bytes(data[:size])
        if size < start:
            try:
                Take.open(take.folder)
            except CacheError:
                continue
            raise AssertionError(f"{size} bytes are no take")
        last = FIRST + sum(end <= size for end in ends) - 1
        assert Take.open(take.folder).last == (last if last >= FIRST else None)


def test_positions_that_are_cut_at_any_byte_have_the_frames_before(tmp_path):
    folder = baked(tmp_path / "t", FIRST + 2).folder
    path = folder / "sheet.pc2"
    data = path.read_bytes()
    for size in range(32, len(data), 5):
        path.write_bytes(data[:size])
        whole = (size - 32) // 108
        assert Take.open(folder).last == (FIRST + whole - 1 if whole else None)
    shutil.copytree(folder, tmp_path / "again")
    with Take.resume(tmp_path / "again") as take:
        assert take.last == FIRST + 1 and faults(take) == []


def test_damaged_takes_are_read_as_far_as_they_are_whole_or_refused():
    found = {seed: fuzz.attempt(fuzz.FUZZERS["cache"], seed) for seed in range(CASES)}
    assert not {seed: fault for seed, fault in found.items() if fault}
