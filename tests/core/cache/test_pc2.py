# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 files are what Blender reads, and tell when they are cut off."""

import struct

import numpy as np
import pytest

from core import CacheError
from core.cache.pc2 import Pc2File

SAMPLES = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)


@pytest.fixture
def path(tmp_path):
    file = Pc2File.create(tmp_path / "a.pc2", 5, -2.0)
    for sample in SAMPLES:
        file.append(sample)
    file.close()
    return file.path


def test_the_file_is_the_published_format(path):
    data = path.read_bytes()
    assert struct.unpack("<12siiffi", data[:32]) == (b"POINTCACHE2\0", 1, 5, -2.0, 1.0, 4)
    assert data[32:] == SAMPLES.astype("<f4").tobytes()


def test_samples_come_back_and_those_that_are_not_there_are_named(path):
    file = Pc2File.open(path)
    assert all(np.array_equal(file.read(i), SAMPLES[i]) for i in range(4))
    for index in (-1, 4):
        with pytest.raises(CacheError, match=f"no sample {index}, only 4"):
            file.read(index)


def test_the_header_counts_whole_samples_at_any_time(path):
    file = Pc2File.open(path, write=True)
    file.append(SAMPLES[0])
    assert Pc2File.open(path).count == 5
    file.truncate(2)
    assert path.stat().st_size == 32 + 2 * 60 and Pc2File.open(path).count == 2
    path.write_bytes(path.read_bytes() + bytes(59))
    assert Pc2File.open(path).count == 2
    assert Pc2File.open(path, whole=False).count == 2


def test_a_cut_file_is_refused_or_read_as_far_as_it_is_whole(path):
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(CacheError, match="take another, or bake again"):
            Pc2File.open(path)
        if size >= 32:
            assert Pc2File.open(path, whole=False).count == (size - 32) // 60


def test_a_header_that_cannot_be_is_refused(path):
    data = path.read_bytes()[32:]
    for values in ((b"POINTCACHE3\0", 1, 5, 0.0, 1.0, 4), (b"POINTCACHE2\0", 2, 5, 0.0, 1.0, 4),
                   (b"POINTCACHE2\0", 1, 0, 0.0, 1.0, 4), (b"POINTCACHE2\0", 1, -5, 0.0, 1.0, 4),
                   (b"POINTCACHE2\0", 1, 2 ** 31 - 1, 0.0, 1.0, 2 ** 31 - 1),
                   (b"POINTCACHE2\0", 1, 5, float("nan"), 1.0, 4), (b"POINTCACHE2\0", 1, 5, 0.0, 1.0, -1)):
        path.write_bytes(struct.pack("<12siiffi", *values) + data)
        with pytest.raises(CacheError, match=r"take another|must be"):
            Pc2File.open(path)


def test_a_sample_of_another_shape_is_refused(path):
    with pytest.raises(CacheError, match="shape"):
        Pc2File.open(path, write=True).append(SAMPLES[0][:4])
    with pytest.raises(CacheError, match="0 vertices"):
        Pc2File.create(path.with_name("b.pc2"), 0, 0.0)
