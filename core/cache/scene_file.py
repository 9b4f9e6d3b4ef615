# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene, its solver settings and its motion as a file, from which another process simulates the same bytes.

The file holds the arguments of the constructors, as they were given. They are JSON, with these tables for what JSON
lacks; an array is named by its place in the file (core/array_file.py):

    {"array": name}                                             an array
    {"number": "inf"}                                           a float that JSON lacks
    {"list": [...]}, {"tuple": [...]}                           values of any kind
    {"numbers": name, "tuple": flag}                            whole numbers, or floats
    {"rows": name, "sizes": name}                               lists of whole numbers, as of faces
    {"keys": ..., "values": [[place, value], ...]}              a table; values that are left out are null
    {"motion": name}                                            a Trajectory of the window
    {"clock": true}                                             the clock of the window
    {"made": class, "arguments": {...}, "changes": [...]}       an object, and the methods that changed a copy of it

A function of time is stored only if it is a `Trajectory` of the window, whose later values another process reads from
a feed. All else of a file is checked: its lengths, its checksum, and its values, by the constructors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..array_file import ArrayFileError, Arrays, packed, unpacked, write_whole
from ..arrays import AnyArray
from ..description.arguments import arguments_of, changes_of
from ..description.cloth import Cloth
from ..description.cloth_contact import ClothContact
from ..description.collider import Collider
from ..description.force_fields import FieldWeights, ForceField
from ..description.frame_clock import FrameClock
from ..description.internal_springs import InternalSprings
from ..description.keyed import Keyed
from ..description.keyed_material import KeyedMaterial
from ..description.material import Material
from ..description.mesh import ClothMesh
from ..description.motion import MotionWindow, Trajectory
from ..description.pins import Attachment
from ..description.plasticity import Plasticity
from ..description.pressure import Pressure
from ..description.scene import Scene
from ..description.settings import Solver
from ..description.tearing import Tearing
from ..errors import CacheError, ClothError
from ..parsed import Anything, Fields, Kind, ListOf, Number, TableOf, Text, from_json

SCENE_NAME = "scene.muslin"
SCENE_MAGIC = b"MUSLINSC"
SCENE_VERSION = 1
SCENE_DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
"""Types of arrays in a file."""
LONGEST_TEXT, DEEPEST = 1 << 24, 60
"""Largest number of characters and of levels of the JSON in a file."""
MANY = 1 << 20
"""Largest number of objects, arrays or motions in a file."""
LARGEST_INTEGER = 2 ** 63
CLASSES: Mapping[str, type] = {made.__name__: made for made in (
    Attachment, Cloth, ClothContact, ClothMesh, Collider, FieldWeights, ForceField, InternalSprings, Keyed,
    KeyedMaterial, Material, Plasticity, Pressure, Scene, Solver, Tearing)}
"""Classes whose objects can be in a file, by name."""
CHANGES = frozenset(("without_loose", "scaled", "curved"))
"""Methods of `ClothMesh` that return a changed copy."""
NUMBERS_JSON_LACKS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
ARRAYS: Kind = ListOf(Anything(), MANY)
WINDOW: Kind = Fields({"first": Number(whole=True), "frame_rate": Number(0.0), "start": TableOf(Text(64), MANY)},
                      {"speed": Text(1024)})
HEADER: Kind = Fields({"values": Fields({"scene": Anything(), "solver": Anything(), "window": WINDOW}, {}),
                       "arrays": ARRAYS}, {})


def save_scene(path: str | Path, scene: Scene, solver: Solver, window: MotionWindow) -> None:
    """Write a scene, its solver settings and its window, with the values at the first frame.

    Raises:
        CacheError: it holds a function other than a trajectory of the window, or another value that cannot be stored;
            or the file cannot be written.
    """
    writer = _Writer(window)
    values = {"scene": writer.encoded(scene, "scene"), "solver": writer.encoded(solver, "solver"),
              "window": {"first": int(window.first), "frame_rate": float(window.frame_rate),
                         "start": {name: writer.stored(array) for name, array in window.start.items()},
                         **({} if window.speed is None else {"speed": window.speed})}}
    contents = packed(SCENE_MAGIC, SCENE_VERSION, values, writer.arrays)
    try:
        write_whole(Path(path), contents)
    except (OSError, ValueError) as error:
        raise CacheError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}; choose another cache "
                         "folder, or free some space") from None


def load_scene(path: str | Path) -> tuple[Scene, Solver, MotionWindow]:
    """Return the scene, solver and window of a file; the window is at the first frame.

    Raises:
        CacheError: there is no file, it is of another version, or damaged.
    """
    try:
        contents = Path(path).read_bytes()
        values, arrays = unpacked(contents, SCENE_MAGIC, SCENE_VERSION, "scene", SCENE_DTYPES, lambda text: from_json(
            text, HEADER, longest=LONGEST_TEXT, deepest=DEEPEST))
        del contents
        given = values["window"]
        window = MotionWindow(given["first"], float(given["frame_rate"]),
                              {name: arrays[place] for name, place in given["start"].items()}, given.get("speed"))
        reader = _Reader(window, arrays)
        scene, solver = reader.decoded(values["scene"]), reader.decoded(values["solver"])
        if not (isinstance(scene, Scene) and isinstance(solver, Solver)):
            raise ArrayFileError("it has no scene or no solver: it is damaged")
        return scene, solver, window
    except OSError as error:
        raise CacheError(f"{path} cannot be read: {error.strerror or error}; bake again") from None
    except ClothError as error:
        raise CacheError(f"{path} describes a scene that is refused here: {error}; bake again") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError) as error:
        raise CacheError(f"{path}: {error}; bake again") from None


class _Writer:
    """Turns objects into JSON and arrays.

    Attributes:
        arrays: the arrays so far, by name.
    """

    def __init__(self, window: MotionWindow) -> None:
        self._window = window
        self.arrays: Arrays = {}

    def stored(self, array: AnyArray) -> str:
        """Keep an array, and return its name."""
        name = str(len(self.arrays))
        self.arrays[name] = array
        return name

    def encoded(self, value: Any, where: str) -> Any:
        """Return a value as JSON. `where` is its place in the scene, for messages."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int) and abs(value) < LARGEST_INTEGER:
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"number": repr(float(value))}
        if isinstance(value, np.ndarray) and value.dtype.newbyteorder("<").str in SCENE_DTYPES:
            return {"array": self.stored(value)}
        if isinstance(value, (list, tuple, range)):
            return self._sequence(value, where)
        if isinstance(value, Mapping):
            return {"keys": self._sequence(list(value), f"{where}: keys"), "values": [
                [place, self.encoded(item, f"{where}[{key!r}]")]
                for place, (key, item) in enumerate(value.items()) if item is not None]}
        if isinstance(value, Trajectory):
            return self._motion(value, where)
        if isinstance(value, FrameClock) and value is self._window.clock:
            return {"clock": True}
        if CLASSES.get(type(value).__name__) is type(value):
            return self._object(value, where)
        what = "a function" if callable(value) else f"of the type {type(value).__name__}"
        raise CacheError(f"{where} is {what}, which cannot be stored for another process: give numbers or arrays, and "
                         "for motion a core.Trajectory of the MotionWindow, as of the values of a core.ForceField")

    def _motion(self, value: Trajectory, where: str) -> Any:
        if value.window is not self._window or value.name not in self._window.start:
            raise CacheError(f"{where} is the trajectory '{value.name}' of another MotionWindow; take "
                             "window.trajectory(name) of the window that is stored with the scene, and a name in it")
        return {"motion": value.name}

    def _object(self, value: Any, where: str) -> Any:
        name = getattr(value, "name", "")
        where = f"{type(value).__name__} '{name}'" if name else where
        if is_dataclass(value):
            given: Mapping[str, Any] = {field.name: getattr(value, field.name) for field in fields(value)}
        else:
            given = arguments_of(value)
        changes = changes_of(value) if isinstance(value, ClothMesh) else ()
        return {"made": type(value).__name__, "arguments": self._arguments(given, where),
                "changes": [[method, self._arguments(more, where)] for method, more in changes]}

    def _arguments(self, given: Mapping[str, Any], where: str) -> Any:
        return {name: self.encoded(value, f"{where}: {name}") for name, value in given.items()}

    def _sequence(self, value: list[Any] | tuple[Any, ...] | range, where: str) -> Any:
        is_tuple = isinstance(value, tuple)
        kinds = set(map(type, value))
        if kinds == {int} and all(abs(item) < LARGEST_INTEGER for item in value) or kinds == {float}:
            return {"numbers": self.stored(np.array(value, dtype=np.int64 if kinds == {int} else np.float64)),
                    "tuple": is_tuple}
        if kinds == {list} and not is_tuple:
            rows: Any = value
            flat = [item for row in rows for item in row]
            if set(map(type, flat)) == {int} and all(abs(item) < LARGEST_INTEGER for item in flat):
                return {"rows": self.stored(np.array(flat, dtype=np.int64)),
                        "sizes": self.stored(np.array([len(row) for row in rows], dtype=np.int64))}
        return {"tuple" if is_tuple else "list": [self.encoded(item, f"{where}[{number}]")
                                                  for number, item in enumerate(value)]}


class _Reader:
    """Turns JSON and arrays back into objects. Raises ValueError, TypeError or KeyError where they do not fit."""

    def __init__(self, window: MotionWindow, arrays: Arrays) -> None:
        self._window, self._arrays = window, arrays

    def decoded(self, given: Any) -> Any:
        """Return the value that JSON describes."""
        if not isinstance(given, dict):
            return given
        if "array" in given:
            return self._arrays[given["array"]]
        if "number" in given:
            return NUMBERS_JSON_LACKS[given["number"]]
        if "numbers" in given:
            numbers = self._arrays[given["numbers"]].ravel().tolist()
            return tuple(numbers) if given["tuple"] else numbers
        if "rows" in given:
            return self._rows(self._arrays[given["rows"]], self._arrays[given["sizes"]])
        if "list" in given:
            return [self.decoded(item) for item in given["list"]]
        if "tuple" in given:
            return tuple(self.decoded(item) for item in given["tuple"])
        if "keys" in given:
            keys = self.decoded(given["keys"])
            table = dict.fromkeys(keys)
            for place, item in given["values"]:
                table[keys[place]] = self.decoded(item)
            return table
        if "motion" in given:
            if given["motion"] not in self._window.start:
                raise ArrayFileError(f"there is no motion '{given['motion']}': it is damaged")
            return self._window.trajectory(given["motion"])
        if "clock" in given:
            return self._window.clock
        return self._made(given)

    def _made(self, given: dict[str, Any]) -> Any:
        if given["made"] not in CLASSES:
            raise ArrayFileError(f"it holds a {given['made']}, which is not known here")
        made = CLASSES[given["made"]](**self._arguments_of(given["arguments"]))
        for method, arguments in given["changes"]:
            if method not in CHANGES or not isinstance(made, ClothMesh):
                raise ArrayFileError(f"it changes a {given['made']} by '{method}', which is not known here")
            made = getattr(made, method)(**self._arguments_of(arguments))
        return made

    def _arguments_of(self, given: dict[str, Any]) -> dict[str, Any]:
        return {name: self.decoded(value) for name, value in given.items()}

    @staticmethod
    def _rows(flat: AnyArray, sizes: AnyArray) -> list[list[int]]:
        if sizes.ndim != 1 or flat.ndim != 1 or (sizes < 0).any() or sizes.sum() != len(flat):
            raise ArrayFileError("its rows do not fit: it is damaged")
        ends = np.cumsum(sizes).tolist()
        numbers = flat.tolist()
        return [numbers[end - size:end] for end, size in zip(ends, sizes.tolist(), strict=True)]
