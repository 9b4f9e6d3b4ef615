# SPDX-License-Identifier: GPL-3.0-or-later
"""Schemas of Muslin's records: the record of a bake, its report, and compare.json; fields, types, ranges, sizes.

A text is checked completely before any part of it is used.
"""

from __future__ import annotations

from typing import Any

from ...core.parsed import Anything, Fields, Flag, ListOf, Number, TableOf, Text, from_json

LONGEST = 1 << 28
"""Largest size of a record [characters]. A bake of 100,000 frames has less than half."""
DEEPEST = 20
"""Largest number of levels of a record; one that Muslin writes has 8."""
LARGEST_FRAME = 1 << 31
"""Largest number of a frame, forwards and backwards [-]."""
MOST = 1 << 20
"""Largest number of frames or objects in a record [-]."""

_FRAME = Number(-LARGEST_FRAME, LARGEST_FRAME, whole=True)
_COUNT = Number(0, or_none=True)
_MEASURE = Number(or_none=True)
_NAME = Text(1024)
_NAMES = ListOf(_NAME, MOST)
_NOTE = Text(20000)

CERTIFICATE = Fields(
    {"stretch_max": _MEASURE, "smallest_gap": _MEASURE, "deepest_penetration": _MEASURE, "crossings": _COUNT},
    {"stretch_p99": _MEASURE, "stretch_pinned": _MEASURE, "seam_gap": _MEASURE, "backend": _NAME,
     "crossings_pinched": _COUNT, "torn_edges": _COUNT,
     "crossing_pairs": ListOf(Fields({"first": _NAME, "second": _NAME, "crossings": Number(0)}, {}), 1000)})
"""The certificate of a frame, as far as it is displayed."""

REPORT = Fields(
    {"cloths": _NAMES, "first": _FRAME, "last": _FRAME, "certificates": ListOf(CERTIFICATE, MOST, least=1),
     "notes": ListOf(_NOTE, MOST), "seconds": Fields({"total": Number(0.0)}, {}),
     "summary": Fields({"stretch_max": _MEASURE, "stretch_p99": _MEASURE, "smallest_gap": _MEASURE,
                        "deepest_penetration": _MEASURE, "crossings": _COUNT, "not_converged": Number(0)},
                       {"crossings_pinched": _COUNT, "torn_edges": _COUNT})},
    {"scene": _NAME, "colliders": _NAMES, "settings": TableOf(Anything(), MOST), "backend": _NAME,
     "playback_error": TableOf(Number(0.0), MOST), "versions": TableOf(_NAME, 100),
     "fingerprints": TableOf(TableOf(_NAME, MOST), MOST), "scene_cloths": _NAMES,
     "parts": ListOf(Fields({"first": _FRAME, "last": _FRAME, "changed": _NAMES}, {}), MOST)})
"""The report of a bake. Bakes of earlier versions lack some of the optional values."""

ANY_VERSION = Fields({"version": Number(1, LARGEST_FRAME, whole=True)}, {})
"""Fields that the records of all versions have."""

RECORD = Fields(
    {"version": Number(1, LARGEST_FRAME, whole=True), "first": _FRAME, "last": _FRAME, "absolute": Flag(),
     "keys": _NAMES, "report": REPORT},
    {"made_shape_keys": Flag(), "basis": _NAME, "made_animation_data": Flag(), "made_action": Flag(),
     "made_slot": Flag(), "last_slot": _NAME, "curves": _NAMES, "active_index": Number(0, 1 << 15, whole=True),
     "use_relative": Flag(), "eval_time": Number(-1048574.0, 1048574.0), "show_only": Flag(),
     "time_ratio": Number(1e-3, 1e3), "modifier": _NAME, "take": Text(4096), "take_id": Text(64),
     "cloth": _NAME, "key_digests": ListOf(Text(64), MOST)})
"""The record of a bake, see `BakedRecord`."""

COMPARISON = Fields(
    {"runs": ListOf(Fields({"pictures": ListOf(Text(512), 10000)}, {}), 10000)},
    {"version": Number(1, 1, whole=True)})
"""The contents of compare.json, as far as they are read again."""


def parsed(text: Any, kind: Fields) -> Any:
    """Return the value of a record's text, checked against `kind`.

    Raises:
        core.parsed.ParsedError: it is damaged; the message names the place and the value.
    """
    return from_json(text, kind, longest=LONGEST, deepest=DEEPEST)
