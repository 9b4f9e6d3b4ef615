# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics of a bake: the figures of every frame as arrays, and its time, memory and disk space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..properties import baked_record
from ..write.shape_key_size import shape_key_bytes

FloatArray = NDArray[np.float64]
LARGEST = 1e100
"""Largest value of a figure, whatever its unit. Larger ones, which only a damaged record has, count as missing."""
MOST_KEPT = 4
"""Largest number of reports whose statistics are kept [-]."""


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

        "seconds" is the sum over the stages of a frame [s].
        """
        if name not in self._arrays:
            number = _seconds if name == "seconds" else _number
            self._arrays[name] = np.array([number(certificate.get(name)) for certificate in self.certificates], float)
        return self._arrays[name]

    def worst(self, name: str) -> tuple[int, float] | None:
        """Return the frame with the largest value of a figure, and the value; None if no frame has one."""
        values = self.values(name)
        if not np.isfinite(values).any():
            return None
        place = int(np.nanargmax(values))
        return self.first + place, float(values[place])


def statistics_of(obj: bpy.types.Object) -> Statistics | None:
    """Return the statistics of the bake of `obj`, None without a bake or if its record is damaged.

    Fast enough for drawing a panel: the same bake has the same object.
    """
    report = baked_record.report_of(obj)
    if report is None:
        return None
    size = shape_key_bytes(len(obj.data.vertices), len(report["certificates"]))
    for known, found in _kept:
        if known is report and found.memory == size:
            return found
    found = Statistics(report["first"], report["certificates"], _total(report), size)
    _kept.insert(0, (report, found))
    del _kept[MOST_KEPT:]
    return found


_kept: list[tuple[dict[str, Any], Statistics]] = []     # statistics of the last reports


def _total(report: dict[str, Any]) -> float | None:
    seconds = _number(report["seconds"].get("total"))
    return seconds if math.isfinite(seconds) else None


def _seconds(value: Any) -> float:
    """Return the time of a frame [s], from a number or from a dict of the time of each stage; else nan."""
    return float(np.sum([_number(part) for part in value.values()])) if isinstance(value, dict) else _number(value)


def _number(value: Any) -> float:
    """Return a number of at most LARGEST, else nan."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST
    return float(value) if known else math.nan
