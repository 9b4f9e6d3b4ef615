# SPDX-License-Identifier: GPL-3.0-or-later
"""What the log of a take says in JSON: the header of the take, and the heads of its other records."""

from __future__ import annotations

import json
import math
import platform
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import CacheError
from ..parsed import Anything, Fields, ListOf, Number, ParsedError, TableOf, Text, from_json
from ..version import __version__

TAKE_FORMAT = 1
DEEPEST_HEAD = 32
"""Largest depth of the JSON in a head [levels]."""
LONGEST_JSON = 1 << 22
"""Largest JSON in a head [characters]."""
MOST_CLOTHS = 4096
LONGEST_NAME = 48
"""Largest file name made of a cloth's name, without ending [characters]."""
NO_FILE_NAMES = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))}
"""File names that Windows keeps for devices."""
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\.pc2")

WHOLE = Number(-2 ** 31, 2 ** 31 - 1, whole=True)
CHECKSUM = Number(0, 2 ** 32 - 1, whole=True)
ABOVE_ZERO = Number(5e-324)
FREE = TableOf(Anything(), 65536)
FINGERPRINTS = TableOf(TableOf(Text(1024), 1 << 20), MOST_CLOTHS)
NONE_OR_WHOLE = Number(WHOLE.low, WHOLE.high, whole=True, or_none=True)
SCHEMAS: dict[str, Fields] = {
    "header": Fields({
        "format": Number(TAKE_FORMAT, TAKE_FORMAT, whole=True), "take": Text(32), "start": WHOLE, "first": WHOLE,
        "last": WHOLE, "frame_rate": ABOVE_ZERO,
        "cloths": ListOf(Fields({"name": Text(1024), "vertices": Number(1, 2 ** 31 - 1, whole=True), "file": Text(80)},
                                {}), MOST_CLOTHS, 1),
    }, {"metres_per_unit": ABOVE_ZERO, "time_ratio": ABOVE_ZERO, "versions": TableOf(Text(1024), 64),
        "byte_order": Text(16), "settings": FREE, "fingerprints": FINGERPRINTS, "owner": Text(65536), "report": FREE}),
    "frame": Fields({"frame": WHOLE, "certificate": TableOf(Anything(), 256), "seconds": Number(0.0),
                     "samples": ListOf(CHECKSUM, MOST_CLOTHS)}, {}),
    "segment": Fields({"from_frame": WHOLE, "settings": FREE, "fingerprints": FINGERPRINTS, "report": FREE,
                       "last": NONE_OR_WHOLE}, {}),
    "checkpoint": Fields({"frame": WHOLE, "digest": Text(64)}, {}),
    "owner": Fields({"owner": Text(65536)}, {}),
}
"""Kinds of records, and what their heads must say."""


@dataclass(frozen=True)
class TakeCloth:
    """A cloth of a take: its name, number of vertices, and PC2 file (made of the name by `Take.create`)."""

    name: str
    vertices: int
    file: str = ""


@dataclass(frozen=True)
class TakeHeader:
    """What was baked, written once at the start of a take.

    Attributes:
        cloths: in the order of the scene.
        start: first simulated frame. first: first frame of the result. last: last one.
        frame_rate: frames per second [1/s], at speed 1 if the speed of frames changes.
        metres_per_unit: length of a Blender unit [m].
        time_ratio: frames of the scene per simulated frame [-].
        settings: free JSON. fingerprints: {cloth: {part: digest}}.
        owner: path of the .blend, empty if it was not saved.
        report: free JSON, such as notes and colliders.
        take: identity, 32 hexadecimal digits; made by `Take.create`, as are the next two.
        versions: of Muslin, NumPy and Python. byte_order: of all arrays.
    """

    cloths: Sequence[TakeCloth]
    start: int
    first: int
    last: int
    frame_rate: float
    metres_per_unit: float = 1.0
    time_ratio: float = 1.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    fingerprints: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    owner: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)
    take: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    byte_order: str = "little"

    def completed(self) -> TakeHeader:
        """Return the header with file names, versions and an identity of its own."""
        names = file_names([cloth.name for cloth in self.cloths])
        cloths = tuple(replace(cloth, file=name) for cloth, name in zip(self.cloths, names, strict=True))
        return replace(self, cloths=cloths, take=secrets.token_hex(16), byte_order="little",
                       versions=versions_of_takes())

    def as_head(self) -> bytes:
        """Return the head of the first record.

        Raises:
            ParsedError: a value does not fit.
        """
        return head_of("header", format=TAKE_FORMAT, **asdict(self))

    @staticmethod
    def of(values: Mapping[str, Any]) -> TakeHeader:
        """Return the header that the head of the first record says.

        Raises:
            ParsedError: a value does not fit.
        """
        known = {name: values[name] for name in TakeHeader.__dataclass_fields__ if name in values}
        cloths = tuple(TakeCloth(c["name"], c["vertices"], c["file"]) for c in values["cloths"])
        header = TakeHeader(**{**known, "cloths": cloths})
        if not header.start <= header.first <= header.last:
            raise ParsedError(f"the frames are {header.start}, {header.first} and {header.last}, not ascending")
        if header.byte_order != "little" or not re.fullmatch("[0-9a-f]{32}", header.take):
            raise ParsedError(f"byte_order is {header.byte_order!r} and take {header.take!r}")
        files = [cloth.file for cloth in cloths]
        if not all(map(FILE_NAME.fullmatch, files)) or len({file.lower() for file in files}) < len(files):
            raise ParsedError(f"the files of the cloths are {files[:8]}, not names of their own that end in .pc2")
        return header


def versions_of_takes() -> dict[str, str]:
    """Return the versions on which the bytes of a bake may depend, as a header has them."""
    return {"muslin": __version__, "numpy": np.__version__, "python": platform.python_version()}


def head_of(kind: str, **values: Any) -> bytes:
    """Return the head of a record.

    Raises:
        ParsedError: a value does not fit its kind.
    """
    try:
        text = json.dumps(plain({"kind": kind, **values}), allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise ParsedError(f"it is no JSON: {error}") from None
    from_json(text, SCHEMAS[kind], longest=LONGEST_JSON, deepest=DEEPEST_HEAD)
    return text.encode("ascii")


def values_of(head: bytes) -> tuple[str, dict[str, Any]]:
    """Return kind and values of a head.

    Raises:
        ParsedError: it is no such head.
    """
    try:
        text = head.decode("ascii")
    except UnicodeDecodeError as error:
        raise ParsedError(f"it is no text: {error}") from None
    kinds = {"kind": Text(32)}
    values = from_json(text, Fields(kinds, {}), longest=LONGEST_JSON, deepest=DEEPEST_HEAD)
    kind = values.pop("kind")
    if kind not in SCHEMAS:
        raise ParsedError(f"its kind is {kind!r}, not {', '.join(SCHEMAS)}")
    SCHEMAS[kind].check(values, "")
    return kind, values


def plain(value: Any) -> Any:
    """Return a value for JSON: numbers that are not finite become None, NumPy's numbers Python's, tuples lists."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def file_names(names: Sequence[str]) -> list[str]:
    """Return a file name for each cloth: of letters, digits, `_`, `-` and `.`, different also without capitals."""
    found: list[str] = []
    for name in names:
        base = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")[:LONGEST_NAME] or "cloth"
        if base.split(".")[0].lower() in NO_FILE_NAMES:
            base = f"cloth_{base}"
        taken, number, unique = {other.lower() for other in found}, 1, base
        while f"{unique}.pc2".lower() in taken:
            number += 1
            unique = f"{base}-{number}"
        found.append(f"{unique}.pc2")
    return found


def checked_header(header: TakeHeader) -> TakeHeader:
    """Return the header completed for a new take.

    Raises:
        CacheError: a value does not fit.
    """
    try:
        whole = header.completed()
        TakeHeader.of(values_of(whole.as_head())[1])
    except ParsedError as error:
        raise CacheError(f"the header of a take does not fit: {error}; give another value") from None
    return whole
