# SPDX-License-Identifier: GPL-3.0-or-later
"""Every prefix of a log is valid, whatever is behind it, and a reader never sees a part of a record."""

import errno
import os

import pytest

from core import CacheError
from core.cache.record_log import LOG_HEAD, RECORD_HEAD, RecordLog

BODIES = [b"first", b"", b"x" * 300, b"last"]


def bodies(log, after=None):
    """Return the bodies of the valid records of a log, all or those after a record."""
    return [log.body(record) for record in log.scan(after, bodies=True)]


@pytest.fixture
def path(tmp_path):
    log = RecordLog.create(tmp_path / "a.log")
    for number, body in enumerate(BODIES):
        log.append(body, b"%d" % number)
    log.close()
    return log.path


def test_records_come_back_in_order(path):
    assert bodies(RecordLog.reader(path)) == BODIES
    assert [record.head for record in RecordLog.reader(path).scan()] == [b"0", b"1", b"2", b"3"]


def test_cut_at_every_byte_leaves_the_records_before_it_and_more_can_be_added(path):
    data, ends = path.read_bytes(), [record.end for record in RecordLog.reader(path).scan()]
    for size in range(LOG_HEAD.size, len(data)):
        path.write_bytes(data[:size])
        whole = BODIES[:sum(end <= size for end in ends)]
        assert bodies(RecordLog.reader(path)) == whole
        if size % 17 == 0:
            log = RecordLog.open(path)
            log.append(b"more")
            log.close()
            assert bodies(RecordLog.reader(path)) == [*whole, b"more"]


def test_any_flipped_bit_ends_the_valid_records_at_its_record(path):
    data, ends = path.read_bytes(), [record.end for record in RecordLog.reader(path).scan()]
    for at in range(LOG_HEAD.size, len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1:])
        assert bodies(RecordLog.reader(path)) == BODIES[:sum(end <= at for end in ends)]


def test_a_file_that_is_no_log_is_refused_in_words(path, tmp_path):
    for data in (b"", b"MUSLIN", b"x" * 100, b"MUSLINRL\2\0\0\0\0\0\0\0"):
        path.write_bytes(data)
        with pytest.raises(CacheError, match="bake again"):
            bodies(RecordLog.reader(path))
        with pytest.raises(CacheError, match="bake again"):
            RecordLog.open(path)
    with pytest.raises(CacheError, match="not there"):
        bodies(RecordLog.reader(tmp_path / "no.log"))


def test_a_record_behind_other_records_than_its_own_is_not_valid(path):
    data = path.read_bytes()
    first, second, *_ = RecordLog.reader(path).scan()
    path.write_bytes(data[:LOG_HEAD.size] + data[second.at:second.end] + data[first.at:first.end])
    assert bodies(RecordLog.reader(path)) == []


def test_a_length_beyond_the_end_is_not_believed(path):
    head = RECORD_HEAD.pack(b"MREC", 2 ** 24, 2 ** 62, 0, 0)
    path.write_bytes(path.read_bytes() + head)
    assert bodies(RecordLog.reader(path)) == BODIES


def test_a_reader_goes_on_after_a_record_and_sees_each_one_when_it_is_whole(tmp_path):
    log = RecordLog.create(tmp_path / "a.log")
    reader = RecordLog.reader(log.path)
    assert bodies(reader) == []
    log.append(b"one")
    log.append(b"two")
    assert bodies(reader) == [b"one", b"two"]
    *_, last = reader.scan()
    whole = log.path.read_bytes()
    log.append(b"three")
    data = log.path.read_bytes()
    for size in range(len(whole), len(data)):
        log.path.write_bytes(data[:size])
        assert bodies(reader, last) == [] and reader.has(last)
        assert log.path.stat().st_size == size
    log.path.write_bytes(data)
    assert bodies(reader, last) == [b"three"]
    log.path.write_bytes(data[:last.end - 1])
    assert not reader.has(last)


def test_only_one_can_write(path):
    log = RecordLog.open(path)
    with pytest.raises(CacheError, match="another bake"):
        RecordLog.open(path)
    log.close()
    RecordLog.open(path).close()
    with pytest.raises(CacheError, match="reading only"):
        RecordLog.reader(path).append(b"")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_record_that_cannot_be_written_leaves_those_before_it(path, monkeypatch, number, call):
    log, real = RecordLog.open(path), getattr(os, call)

    def fails(descriptor, *data):
        if data:
            real(descriptor, data[0][:10])
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fails)
        with pytest.raises(CacheError, match="cannot be written: .*(free|choose|check)"):
            log.append(b"lost")
    assert bodies(RecordLog.reader(path)) == BODIES
    log.append(b"more")
    assert bodies(RecordLog.reader(path)) == [*BODIES, b"more"]


def test_a_file_that_is_deleted_or_replaced_while_it_is_written_is_an_error(path):
    log = RecordLog.open(path)
    path.rename(path.with_name("moved"))
    with pytest.raises(CacheError, match="not there"):
        log.append(b"lost")
    path.write_bytes(b"other")
    with pytest.raises(CacheError, match="has been replaced"):
        log.append(b"lost")
