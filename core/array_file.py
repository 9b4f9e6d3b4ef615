# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of arrays beside a JSON value, with a checksum: never code.

    magic (8 bytes), version (uint32), header length (uint32), data length (uint64), SHA-256 (32 bytes)
    header: JSON, {"values": ..., "arrays": [[name, dtype, shape], ...]}
    data: all arrays, C order, little endian

The checksum is of header and data. All lengths are checked against the size of the file before anything is allocated.
Header and data without the first line are a *parcel*, for files that have a checksum of their own.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import AnyArray

ARRAY_FILE_HEAD = struct.Struct("<8sIIQ32s")
PARCEL_HEAD = struct.Struct("<I")

Arrays = dict[str, AnyArray]
Parser = Callable[[str], Any]
"""Turns the text of a header into its value, or raises ValueError."""


class ArrayFileError(ValueError):
    """The bytes are no such file. The message is the end of a sentence that begins with its path."""


def packed(magic: bytes, version: int, values: Any, arrays: Mapping[str, AnyArray]) -> bytes:
    """Return the contents of a file."""
    header, data = _parts(values, arrays)
    body = header + data
    digest = hashlib.sha256(body).digest()
    return ARRAY_FILE_HEAD.pack(magic, version, len(header), len(data), digest) + body


def unpacked(contents: bytes, magic: bytes, version: int, kind: str, dtypes: tuple[str, ...],
             parse: Parser = json.loads) -> tuple[Any, Arrays]:
    """Return the values and arrays of a file.

    Args:
        contents: of the file.
        magic, version: that it must have. kind: of the file, in messages.
        dtypes: types of arrays that may be in it.
        parse: of the header.

    Raises:
        ArrayFileError: it has another magic or version, or is damaged.
    """
    if len(contents) < ARRAY_FILE_HEAD.size or contents[:len(magic)] != magic:
        raise ArrayFileError(f"this is no {kind} of Muslin")
    _, found, header_size, data_size, digest = ARRAY_FILE_HEAD.unpack_from(contents)
    if found != version:
        raise ArrayFileError(f"version {found} is not known here, only {version}; "
                             "open it with the version of Muslin that wrote it")
    body = memoryview(contents)[ARRAY_FILE_HEAD.size:]
    if header_size + data_size != len(body):
        raise ArrayFileError(f"the file has {len(contents)} bytes where its header says "
                             f"{ARRAY_FILE_HEAD.size + header_size + data_size}: it is cut off or damaged")
    if hashlib.sha256(body).digest() != digest:
        raise ArrayFileError("the checksum is wrong: the file is damaged")
    return _opened(body, header_size, dtypes, parse)


def parcel(values: Any, arrays: Mapping[str, AnyArray]) -> bytes:
    """Return values and arrays as bytes without magic, version and checksum."""
    header, data = _parts(values, arrays)
    return PARCEL_HEAD.pack(len(header)) + header + data


def opened_parcel(contents: bytes, dtypes: tuple[str, ...], parse: Parser = json.loads) -> tuple[Any, Arrays]:
    """Return the values and arrays of a parcel.

    Raises:
        ArrayFileError: it is damaged.
    """
    if len(contents) < PARCEL_HEAD.size:
        raise ArrayFileError("it is cut off or damaged")
    return _opened(memoryview(contents)[PARCEL_HEAD.size:], PARCEL_HEAD.unpack_from(contents)[0], dtypes, parse)


def write_whole(path: Path, contents: bytes) -> None:
    """Write a file; it is there as a whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _parts(values: Any, arrays: Mapping[str, AnyArray]) -> tuple[bytes, bytes]:
    entries, blocks = [], []
    for name, given in arrays.items():
        array = np.asarray(given, dtype=given.dtype.newbyteorder("<"), order="C")
        entries.append([name, array.dtype.str, list(array.shape)])
        blocks.append(array.tobytes())
    return json.dumps({"values": values, "arrays": entries}).encode(), b"".join(blocks)


def _opened(body: memoryview, header_size: int, dtypes: tuple[str, ...], parse: Parser) -> tuple[Any, Arrays]:
    try:
        header = parse(str(body[:header_size], "utf-8"))
        values, at = header["values"], header_size
        arrays: Arrays = {}
        for name, dtype, shape in header["arrays"]:
            size = _bytes(dtype, shape, dtypes)
            if at + size > len(body):
                raise ValueError(f"an array of shape {shape} is longer than the file")
            there = np.frombuffer(body[at:at + size], dtype=dtype).reshape(shape)
            arrays[str(name)] = there.astype(np.dtype(dtype).newbyteorder("="))
            at += size
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ArrayFileError(f"the header is damaged: {error}") from None
    if at != len(body):
        raise ArrayFileError("the arrays do not fill the file: it is damaged")
    return values, arrays


def _bytes(dtype: Any, shape: Any, dtypes: tuple[str, ...]) -> int:
    if dtype not in dtypes or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError(f"no array is of type {dtype!r} and shape {shape!r}")
    return np.dtype(dtype).itemsize * prod(shape)
