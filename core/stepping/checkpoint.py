# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints: the full state of a simulation at a frame, in memory and as a file.

A simulation that continues from a checkpoint gives the same bytes as one that was never stopped, in another process
too, as long as scene, settings and backend are the same.

The file is one header and the arrays one after the other. It holds numbers and arrays only, never code:

    magic (8 bytes), version (uint32), header length (uint32), data length (uint64), SHA-256 (32 bytes)
    header: JSON, {"values": {name: number or null}, "arrays": [[name, dtype, shape], ...]}
    data: all arrays, C order, little endian

The checksum is of header and data. All lengths are checked against the file's size before anything is allocated.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import AnyArray
from ..errors import CheckpointError
from ..state import State
from .records import Flat, flatten, restore

MAGIC = b"MUSLINCP"
VERSION = 1
HEAD = struct.Struct("<8sIIQ32s")
START_ANEW = "start anew"
DTYPES = ("<f8", "<i8", "|b1")
"""Types of the arrays in a file."""


@dataclass(frozen=True)
class Checkpoint:
    """A simulation at a frame, made by `Frame.checkpoint()`.

    Attributes:
        frame: its number.
        first: number of the frame at time 0.
        vertices: vertex count of each cloth.
        meshes: digest of edges, triangles and rest lengths of all cloths, for which alone the state is good.
        colliders: vertex count of each collider.
        frame_rate: of the solver [1/s].
        steps_per_frame: of the solver. halvings: of the longest step. The step size is stored in units of these.
        state: everything that moves.
    """

    frame: int
    first: int
    vertices: tuple[int, ...]
    meshes: tuple[int, ...]
    colliders: tuple[int, ...]
    frame_rate: float
    steps_per_frame: int
    halvings: int
    state: State

    def save(self, path: str | Path) -> None:
        """Write a file; it is there as a whole or not at all.

        Raises:
            CheckpointError: it cannot be written.
        """
        path = Path(path)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            with open(part, "wb") as file:
                file.write(_packed(flatten(self)))
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise CheckpointError(f"{path} cannot be written: {error.strerror or error}; take another folder") from None

    @staticmethod
    def load(path: str | Path) -> Checkpoint:
        """Read a file.

        Raises:
            CheckpointError: there is none, it is no checkpoint, of another version, or damaged.
        """
        try:
            data = Path(path).read_bytes()
        except (OSError, ValueError) as error:                      # ValueError: a name that no file can have
            reason = getattr(error, "strerror", None) or error
            raise CheckpointError(f"{path} cannot be read: {reason}; check the path, or start anew") from None
        try:
            return restore(Checkpoint, _unpacked(data))
        except CheckpointError as error:
            way_out = "" if START_ANEW in str(error) else f"; take another file, or {START_ANEW}"
            raise CheckpointError(f"{path}: {error}{way_out}") from None

    def __post_init__(self) -> None:
        state, count = self.state, len(self.state.x)
        of_vertices = [("x", state.x, 2), ("v", state.v, 2), ("touch.mode", state.touch.mode, 1),
                       ("touch.pressing", state.touch.pressing, 1), ("touch.held", state.touch.held, 2)]
        if state.before is not None:
            of_vertices += [("before.x", state.before.x, 2), ("before.v", state.before.v, 2)]
        if state.contact is not None:
            of_vertices += [("contact.missed", state.contact.missed, 1),
                            ("contact.missed_solid", state.contact.missed_solid, 1)]
            gain = state.contact.warm_start.gain
            of_vertices += [] if gain is None else [("contact.warm_start.gain", gain, 2)]
        for name, array, dimensions in of_vertices:
            shape = (count, 3)[:dimensions]
            if array.shape != shape:
                raise CheckpointError(f"'{name}' has the shape {array.shape}, it must be {shape}")
            if not np.isfinite(array).all():
                raise CheckpointError(f"'{name}' holds values that are not numbers; {START_ANEW}")
        if sum(self.vertices) > count:
            raise CheckpointError(f"the cloths have {sum(self.vertices)} vertices, the state only {count}")


def _packed(flat: Flat) -> bytes:
    values, arrays = {}, []
    blocks: list[bytes] = []
    for name, value in flat.items():
        if isinstance(value, np.ndarray):
            array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
            arrays.append([name, array.dtype.str, list(array.shape)])
            blocks.append(array.tobytes())
        else:
            values[name] = value
    header = json.dumps({"values": values, "arrays": arrays}).encode()
    body = header + b"".join(blocks)
    digest = hashlib.sha256(body).digest()
    return HEAD.pack(MAGIC, VERSION, len(header), len(body) - len(header), digest) + body


def _unpacked(data: bytes) -> Flat:
    if len(data) < HEAD.size or data[:len(MAGIC)] != MAGIC:
        raise CheckpointError("this is no checkpoint of Muslin")
    _, version, header_size, data_size, digest = HEAD.unpack_from(data)
    if version != VERSION:
        raise CheckpointError(f"version {version} is not known here, only {VERSION}; "
                              "open it with the version of Muslin that wrote it")
    body = memoryview(data)[HEAD.size:]
    if header_size + data_size != len(body):
        raise CheckpointError(f"the file has {len(data)} bytes where its header says "
                              f"{HEAD.size + header_size + data_size}: it is cut off or damaged")
    if hashlib.sha256(body).digest() != digest:
        raise CheckpointError("the checksum is wrong: the file is damaged")
    try:
        header = json.loads(bytes(body[:header_size]))
        flat: dict[str, Any] = dict(header["values"])
        at = header_size
        for name, dtype, shape in header["arrays"]:
            flat[name], at = _array(body, at, dtype, shape), at + _bytes(dtype, shape)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"the header is damaged: {error}") from None
    if at != len(body):
        raise CheckpointError("the arrays do not fill the file: it is damaged")
    return flat


def _bytes(dtype: str, shape: list[int]) -> int:
    if dtype not in DTYPES or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError(f"no array is of type {dtype!r} and shape {shape!r}")
    return int(dtype[-1]) * prod(shape)


def _array(body: memoryview, at: int, dtype: str, shape: list[int]) -> AnyArray:
    end = at + _bytes(dtype, shape)
    if end > len(body):
        raise ValueError(f"an array of shape {shape} is longer than the file")
    return np.frombuffer(body[at:end], dtype=dtype).reshape(shape).astype(np.dtype(dtype).newbyteorder("="))
