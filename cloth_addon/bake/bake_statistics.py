# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics of a bake: the figures of every frame as arrays, and its time, memory and disk space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ...core.cache.take import Take
from ..properties import baked_record
from ..write.shape_key_size import shape_key_bytes
from . import session, takes
from .found_take import FoundTake

FloatArray = NDArray[np.float64]
LARGEST = 1e100
"""Largest value of a figure, whatever its unit. Larger ones, which only a damaged record has, count as missing."""
MOST_KEPT = 4
"""Largest number of bakes whose statistics are kept [-]."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """Figures of the frames of a finished or growing bake. It does not change; a bake that has grown has another one.

    Attributes:
        first: frame of the first certificate.
        certificates: the certificate of each frame, in order, as a dict. Values of any type are accepted.
        total_seconds: time of the whole bake [s], None if it is not known.
        memory: size of the result in Blender and in the .blend [bytes], None if it is not known.
        disk: size of the files of the bake [bytes], None without files.
    """

    first: int
    certificates: Sequence[dict[str, Any]]
    total_seconds: float | None = None
    memory: int | None = None
    disk: int | None = None
    _arrays: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    @property
    def last(self) -> int:
        """Frame of the last certificate."""
        return self.first + len(self.certificates) - 1

    def values(self, name: str) -> FloatArray:
        """Return a figure of all frames (F,). A value that is missing or no number is nan.

        "seconds" is the sum over the stages of a frame [s], without pauses.
        """
        if name not in self._arrays:
            self._arrays[name] = np.array([_seconds(certificate) if name == "seconds" else _number(
                certificate.get(name)) for certificate in self.certificates], float)
        return self._arrays[name]

    def worst(self, name: str) -> tuple[int, float] | None:
        """Return the frame with the largest value of a figure, and the value; None if no frame has one."""
        values = self.values(name)
        if not np.isfinite(values).any():
            return None
        place = int(np.nanargmax(values))
        return self.first + place, float(values[place])


def statistics_of(obj: bpy.types.Object) -> Statistics | None:
    """Return the statistics of the running bake of `obj`, else of the bake in use, else of one that was stopped.

    None without any, or if its record is damaged. Fast enough for drawing a panel: the same bake has the same object.
    """
    bake = session.running() if session.is_of(obj) else None
    if bake is not None and bake.certificates:
        certificates = bake.certificates
        return _kept_or_made((bake, len(certificates)), lambda: _from_take(certificates, bake.first, None))
    record = baked_record.known(obj)
    if record is not None:
        used, report = takes.in_use(obj), record.report
        size = shape_key_bytes(len(obj.data.vertices), len(record.keys)) if record.keys else None
        disk = None if used is None else used.size
        return _kept_or_made((report, size, disk), lambda: Statistics(
            report["first"], report["certificates"], _total(report), size, disk))
    stopped = None if baked_record.has_bake(obj) else takes.unused(bpy.context.scene, obj)
    return None if stopped is None else _kept_or_made((stopped,), lambda: _of_stopped(stopped))


def is_of_previous(obj: bpy.types.Object) -> bool:
    """Return whether `statistics_of` is of the bake in use although another one runs, which has no frame yet."""
    bake = session.running()
    return bake is not None and session.is_of(obj) and not bake.certificates


def _of_stopped(found: FoundTake) -> Statistics | None:
    """Return the statistics of a take that is not in use, None if it cannot be read any more."""
    try:
        return _from_take(Take.open(found.folder).certificates(), found.first, found.size)
    except core.ClothError:
        return None


def _from_take(certificates: Sequence[dict[str, Any]], first: int, disk: int | None) -> Statistics | None:
    """Return the statistics of the certificates of a take from the frame `first` on, without its pre-roll."""
    wanted = [certificate for certificate in certificates if certificate["frame"] >= first]
    return Statistics(wanted[0]["frame"], wanted, disk=disk) if wanted else None


def _kept_or_made(key: tuple[Any, ...], make: Callable[[], Statistics | None]) -> Statistics | None:
    """Return what was made for the same key, or make it. Parts of a key that are no numbers are compared by identity.
    """
    for known, found in _kept:
        if len(known) == len(key) and all(a is b or (isinstance(a, int) and a == b)
                                          for a, b in zip(known, key, strict=True)):
            return found
    found = make()
    _kept.insert(0, (key, found))
    del _kept[MOST_KEPT:]
    return found


_kept: list[tuple[tuple[Any, ...], Statistics | None]] = []     # statistics of the last bakes


def _total(report: dict[str, Any]) -> float | None:
    seconds = _number(report["seconds"].get("total"))
    return seconds if math.isfinite(seconds) else None


def _seconds(certificate: dict[str, Any]) -> float:
    """Return the time of a frame [s], from a number or from a dict of the time of each stage; else nan.

    A pause counts in a stage, and not in `frame_seconds`.
    """
    value = certificate.get("seconds")
    found = float(np.sum([_number(part) for part in value.values()])) if isinstance(value, dict) else _number(value)
    return float(np.fmin(found, _number(certificate.get("frame_seconds")))) if math.isfinite(found) else found


def _number(value: Any) -> float:
    """Return a number of at most LARGEST, else nan."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST
    return float(value) if known else math.nan
