# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints: the full state of a simulation at a frame, in memory and as a file.

A simulation that continues from a checkpoint gives the same bytes as one that was never stopped, in another process
too, as long as scene, settings and backend are the same.

The file holds numbers and arrays only, never code: core/array_file.py has its format. Its values are a table of numbers
and null.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..array_file import ArrayFileError, packed, unpacked, write_whole
from ..errors import CheckpointError
from ..state import State
from .records import flatten, restore

MAGIC = b"MUSLINCP"
VERSION = 1
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
        flat = flatten(self)
        arrays = {name: value for name, value in flat.items() if isinstance(value, np.ndarray)}
        values = {name: value for name, value in flat.items() if name not in arrays}
        try:
            write_whole(Path(path), packed(MAGIC, VERSION, values, arrays))
        except OSError as error:
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
            values, arrays = unpacked(data, MAGIC, VERSION, "checkpoint", DTYPES)
            if not isinstance(values, dict):
                raise CheckpointError("the header is damaged")
            return restore(Checkpoint, {**values, **arrays})
        except (ArrayFileError, CheckpointError) as error:
            way_out = "" if START_ANEW in str(error) else f"; take another file, or {START_ANEW}"
            raise CheckpointError(f"{path}: {error}{way_out}") from None

    def __post_init__(self) -> None:
        state, count = self.state, len(self.state.x)
        of_vertices = [("x", state.x, 2), ("v", state.v, 2), ("touch.mode", state.touch.mode, 1),
                       ("touch.pressing", state.touch.pressing, 1)]
        if state.before is not None:
            of_vertices += [("before.x", state.before.x, 2), ("before.v", state.before.v, 2)]
            earlier = (("before.x_earlier", state.before.x_earlier), ("before.v_earlier", state.before.v_earlier))
            of_vertices += [(name, array, 2) for name, array in earlier if array is not None]
            of_vertices += [] if state.before.mode is None else [("before.mode", state.before.mode, 1)]
        if state.contact is not None:
            of_vertices += [("contact.missed", state.contact.missed, 1),
                            ("contact.missed_solid", state.contact.missed_solid, 1)]
            gain = state.contact.warm_start.gain
            of_vertices += [] if gain is None else [("contact.warm_start.gain", gain, 2)]
        if state.plastic is not None and not (state.plastic.ndim == 1 and np.isfinite(state.plastic).all()):
            raise CheckpointError(f"'plastic' is not a row of numbers; {START_ANEW}")
        for name, array, dimensions in of_vertices:
            shape = (count, 3)[:dimensions]
            if array.shape != shape:
                raise CheckpointError(f"'{name}' has the shape {array.shape}, it must be {shape}")
            if not np.isfinite(array).all():
                raise CheckpointError(f"'{name}' holds values that are not numbers; {START_ANEW}")
        if state.torn is None and sum(self.vertices) > count:            # joined vertices are one particle
            raise CheckpointError(f"the cloths have {sum(self.vertices)} vertices, the state only {count}")
