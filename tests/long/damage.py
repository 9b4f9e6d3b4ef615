# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage for fuzzers: to bytes, to plain values of JSON, and to arguments."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from typing import Any

import numpy as np

from core.array_file import ARRAY_FILE_HEAD

STRANGE: list[Any] = [None, True, False, 0, -1, 1, 2 ** 31, 2 ** 63, 10 ** 400, 0.0, -0.0, 1e308, -1e-308, math.nan,
                      math.inf, -math.inf, "", "a", "cotton", "Baraff-Witkin", "\0", "x" * 5000, "\ud800", b"bytes", [],
                      {}, [[]], [None], [1, 2, 3], [[1.0, 2.0], [3.0]], {"a": 1}, (), (0.0, 0.0, 0.0), (1, "a", None),
                      1j, range(3), set(), object(), abs, lambda: 0, lambda t: t, lambda t: None, lambda *a: a]
"""Values that an argument may be given by mistake."""


def strange(rng: np.random.Generator) -> Any:
    """Return a value that does not belong."""
    if rng.random() < 0.3:
        shape = tuple(rng.integers(0, 4, int(rng.integers(0, 4))))
        kind = rng.choice(["f", "i", "b", "U", "O"])
        values = rng.normal(size=shape) * 10.0 ** rng.uniform(-300, 300)
        if kind == "f":
            values = np.where(rng.random(shape) < 0.1, np.nan, values)
        with np.errstate(all="ignore"):
            return values if kind == "f" else np.nan_to_num(values % 100).astype(int) if kind == "i" \
                else values.astype(str) if kind == "U" else values > 0 if kind == "b" else values.astype(object)
    return STRANGE[int(rng.integers(len(STRANGE)))]


DEEP = "nested too deeply"
"""Stands for lists in lists, which `as_json` writes."""


def as_json(value: Any) -> bytes:
    """Return plain values as JSON, with lists nested deeper than a reader may follow for `DEEP`."""
    text = json.dumps(value).replace(json.dumps(DEEP), "[" * 50_000 + "]" * 50_000)
    return text.encode("utf-8", "surrogatepass")


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with some of them changed, left out, doubled or added."""
    found = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 2, 5, 20]))):
        at = int(rng.integers(len(found) + 1))
        how = rng.random()
        if how < 0.4 and at < len(found):
            found[at] ^= 1 << int(rng.integers(8))
        elif how < 0.55:
            del found[at:]
        elif how < 0.7:
            del found[at:at + int(rng.integers(1, 50))]
        elif how < 0.85:
            found[at:at] = rng.bytes(int(rng.integers(1, 50)))
        else:
            found[at:at] = found[at // 2:at]
    return bytes(found)


def altered(value: Any, rng: np.random.Generator, depth: int = 0) -> Any:
    """Return plain values of JSON with one of them replaced, left out, added, or nested deeply."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = str(rng.choice(list(value)))
        how = rng.random()
        if how < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if how < 0.2:
            return {**value, str(rng.choice(["", "version", "a", key + "x"])): plain(rng)}
        return {**value, key: altered(value[key], rng, depth + 1)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = int(rng.integers(len(value)))
        how = rng.random()
        if how < 0.1:
            return value[:at] + value[at + 1:]
        if how < 0.2:
            return value[:at] + [value[at]] + value[at:]
        return [*value[:at], altered(value[at], rng, depth + 1), *value[at + 1:]]
    if isinstance(value, (int, float)) and rng.random() < 0.5:
        return value + int(rng.choice([-1, 1, 1000, -1000])) if rng.random() < 0.7 else -value
    return plain(rng)


def plain(rng: np.random.Generator) -> Any:
    """Return a value that JSON can hold."""
    if rng.random() < 0.05:
        return DEEP
    values = [None, True, False, 0, -1, 2 ** 70, 1.5, -1e308, math.nan, math.inf, "", "a", "<f8", "|O", "é" * 100, [],
              {}, [1, 2], {"a": {"b": 1}}, [[0.0]], "../../x"]
    return values[int(rng.integers(len(values)))]


def repacked(data: bytes, rng: np.random.Generator) -> bytes:
    """Return an array file with values of its header or its arrays altered, and the checksum set right."""
    magic, version, header_size, _, _ = ARRAY_FILE_HEAD.unpack_from(data)
    body = data[ARRAY_FILE_HEAD.size:]
    header, arrays = body[:header_size], bytearray(body[header_size:])
    if rng.random() < 0.7:
        header = as_json(altered(json.loads(header), rng))
    else:
        for _ in range(int(rng.integers(1, 4))):
            at = 8 * int(rng.integers(len(arrays) // 8))
            number = rng.choice([math.nan, math.inf, -1.0, 1e300, 0.0, rng.normal()])
            arrays[at:at + 8] = struct.pack("<d", number) if rng.random() < 0.6 else struct.pack(
                "<q", int(rng.choice([-1, 0, 1, 2 ** 40, -2 ** 62])))
    if rng.random() < 0.1:
        version = int(rng.choice([0, 2, 2 ** 32 - 1]))
    digest = hashlib.sha256(header + bytes(arrays)).digest()
    return ARRAY_FILE_HEAD.pack(magic, version, len(header), len(arrays), digest) + header + bytes(arrays)
