# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the scene of a recipe. It may raise a `core.ClothError` at once: some recipes have no scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import core
from tests.core.shapes import ball, block
from tests.long import hostile_meshes as meshes
from tests.long.recipes import Recipe

STRANGE: dict[str, Any] = {"nan": float("nan"), "inf": float("inf"), "negative": -1.0, "text": "wide", "none": None,
                           "huge": 1e300, "zero": 0.0}
"""Values of `broken`, by name."""
FLOOR = np.array([[-5.0, -5.0, 0.0], [5.0, -5.0, 0.0], [5.0, 5.0, 0.0], [-5.0, 5.0, 0.0]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]])


@dataclass(frozen=True)
class Staged:
    """A scene that is ready to run: its settings and its frames."""

    scene: core.Scene
    solver: core.Solver
    frames: range


def build(recipe: Recipe) -> Staged:
    """Return the scene of a recipe.

    Raises:
        ClothError: the recipe has none.
    """
    size, origin = recipe["size"], recipe["size"] * np.array(recipe["origin"])
    settings = dict(recipe["solver"])
    broken = recipe.get("broken") or {}
    rng = np.random.default_rng(broken.get("seed", 0))
    value = STRANGE.get(broken.get("value", ""))
    what = broken.get("what")
    world: dict[str, Any] = {"gravity": recipe["gravity"], "wind": wind(recipe["wind"], size)}
    frames: Any = range(1, recipe["frames"] + 1)
    if what == "solver":
        settings[str(rng.choice([*settings, "frame_rate", "tolerance", "steps_per_frame", "max_halvings"]))] = value
    elif what in ("gravity", "wind"):
        world[what] = lambda t: (0.0, value, 0.0) if what == "wind" and t > 0.05 else (0.0, 0.0, value)
        world[what] = world[what] if what == "wind" and rng.random() < 0.5 else (0.0, 0.0, value)
    elif what == "frames":
        frames = [range(0), [1, 3], value, [value], [1, 1], "ab"][int(rng.integers(6))]
    rate = settings.get("frame_rate", 24.0)
    rate = rate if isinstance(rate, (int, float)) and 0.0 < rate < np.inf else 24.0
    cloths = [_cloth(recipe, number, size, origin, rate, broken, rng) for number in range(len(recipe["cloths"]))]
    solids = [_collider(given, number, size, origin, rate, broken) for number, given in enumerate(recipe["colliders"])]
    return Staged(core.Scene(cloths, solids, **world), core.Solver(**settings), frames)


def wind(given: Recipe | None, size: float) -> Any:
    """Return the wind of a recipe: a velocity, a function of time, or a field."""
    if given is None:
        return (0.0, 0.0, 0.0)
    speed = given["speed"]
    return {"steady": (speed, 0.0, 0.0), "gust": lambda t: (speed * np.sin(40.0 * t), speed, 0.0),
            "field": lambda t, x: speed * np.sin(x / size)}[given["kind"]]


def _cloth(recipe: Recipe, number: int, size: float, origin: np.ndarray, rate: float, broken: Recipe, rng
           ) -> core.Cloth:
    given = recipe["cloths"][number]
    spec, name, value = given["mesh"], f"Cloth {number}", STRANGE.get(broken.get("value", ""))
    what = broken.get("what") if number == 0 else None
    own = np.random.default_rng(spec["seed"])
    made = meshes.KINDS[spec["kind"]](own, spec["count"])
    if spec.get("defect"):
        made = meshes.broken(spec["defect"], made, own)
    x, triangles, edges = made
    if given.get("jitter"):
        x = x + given["jitter"] * own.normal(size=x.shape) * (1.0, 1.0, 0.3)
    x = placed(x, given)
    mesh = core.ClothMesh(size * x + origin, triangles, edges, points=spec["kind"] == "points", name=name)
    fabric = dict(given["fabric"])
    options: dict[str, Any] = dict(given["options"])
    if what == "fabric":
        fabric[str(rng.choice(["areal_density", "stretch", "shear", "bend", "damping", "friction", "air_drag",
                               "thread_width", "preset"]))] = value
    elif what == "option" and options:
        options[str(rng.choice(list(options)))] = value
    elif what == "option":
        options["no_such_option"] = value
    more: dict[str, Any] = dict(given.get("sewing") or {})
    if "thickness" in given:
        more["thickness"] = given["thickness"] * size
    for option in ("max_elongation", "rest_scale"):
        if option in given:
            more[option] = given[option]
    if "rest_curvature" in given:
        more["rest_curvature"] = given["rest_curvature"] / size
    count = len(mesh.positions)
    start = mesh.positions
    if given.get("crumple"):
        start = start + size * given["crumple"] * own.normal(size=start.shape)
        more["positions"] = start
    if given.get("velocity"):
        thrown = given["velocity"]
        more["velocities"] = size * (np.array(thrown["common"]) + thrown["random"] * own.normal(size=(count, 3)))
    for option, most in (given.get("maps") or {}).items():
        more[option] = most ** own.uniform(-1.0, 1.0, count)
    if given.get("buttons"):
        more["buttons"] = [(0, count - 1), (1, (len(triangles) - 1, (0.5, 0.25, 0.25)))]
    if given.get("births"):
        more["births"] = given["births"] * own.random(count)
    if given.get("pins"):
        more |= pins(given["pins"], start, size, rate, own, value)
    if what == "cloth":
        more[str(rng.choice(["thickness", "max_elongation", "sewing_time", "rest_scale", "velocities", "positions",
                             "pins", "births", "stretch_scale", "model", "nonsense"]))] = value
    model = more.pop("model", given["model"])
    return core.Cloth(mesh, core.Material.preset(fabric.pop("preset"), **fabric), model, name=name, **more, **options)


def placed(x: np.ndarray, given: Recipe) -> np.ndarray:
    """Return points (V, 3) turned and moved as a cloth or a collider says."""
    if given.get("turn"):
        w, a, b, c = np.array(given["turn"]) / np.linalg.norm(given["turn"])
        x = x @ np.array([[1 - 2 * (b * b + c * c), 2 * (a * b - c * w), 2 * (a * c + b * w)],
                          [2 * (a * b + c * w), 1 - 2 * (a * a + c * c), 2 * (b * c - a * w)],
                          [2 * (a * c - b * w), 2 * (b * c + a * w), 1 - 2 * (a * a + b * b)]]).T
    return x + np.array(given["place"])


# ---------------------------------------------------------------------- pins and motions


def pins(given: Recipe, start: np.ndarray, size: float, rate: float, rng, value: Any) -> dict[str, Any]:
    """Return the arguments of a cloth that pin it, from positions (V, 3) [m] at the start."""
    count, which = len(start), given["which"]
    order = np.argsort(start[:, 0], kind="stable")
    if which in ("ends", "attached"):
        few = max(1, count // 6)
        held = np.unique(np.concatenate([order[:few], order[-few:]]))
    elif which == "some":
        held = np.flatnonzero(rng.random(count) < 0.4)
    else:
        held = {"two": order[[0, -1]], "one": order[:1], "all": order, "weights": order}[which]
    motion = given["motion"]
    if motion and motion["kind"] == "strange":
        late = motion["frame"] / rate
        bad: Any = value if not isinstance(value, float) else (value, 0.0, 0.0)
        return {"pins": {int(v): (lambda t, p=start[v]: bad if t >= late else p) for v in held}}
    middle = start.mean(axis=0)

    def way(t: float) -> np.ndarray:
        return middle + size * moved(motion, (start - middle) / size, t * rate)

    if which == "attached":
        return {"attachments": [core.Attachment(int(v), np.eye(3)[:1 + int(v) % 3],
                                                (lambda t, v=int(v): way(t)[v]) if motion else None) for v in held]}
    weights = np.zeros(count)
    weights[held] = rng.random(len(held)) if which == "weights" else 1.0
    return {"pins": weights, **({"pin_targets": way} if motion else {})}


def moved(motion: Recipe | None, x: np.ndarray, time: float) -> np.ndarray:
    """Return points (V, 3) around the origin, moved as it is at a time [frames], all lengths in units of the size."""
    if motion is None:
        return x
    kind, by, since = motion["kind"], motion["by"], time - motion["frame"]
    part = float(np.clip(since / motion["frames"], 0.0, 1.0)) if motion.get("frames") else float(since > 0.0)
    if kind == "jump":
        return x + part * by * np.array([0.6, 0.0, 0.8])
    if kind == "swap":
        return x * (1.0 - 2.0 * part, 1.0, 1.0)
    if kind in ("half_turn", "spin"):
        angle = np.pi * part if kind == "half_turn" else max(since, 0.0) * by
        c, s = np.cos(angle), np.sin(angle)
        return x @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    if kind == "teleport":
        return x + by * (part > 0.0) * np.random.default_rng(int(max(since, 0.0))).normal(size=3)
    if kind == "shake":
        return x + part * by * np.array([0.0, 0.0, np.sin(2.2 * since)])
    if kind == "crush":
        return x * (1.0 - part, 1.0, 1.0)
    if kind == "press":
        return x + [0.0, 0.0, part * by]
    return x + max(since, 0.0) * by * np.array([0.3, 0.1, -0.2])        # drift


# ---------------------------------------------------------------------- colliders


SHAPES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "floor": lambda: (FLOOR, HALVES),
    "ball": lambda: ball(0.4, 1),
    "box": lambda: _box(),
    "inverted": lambda: (ball(0.4, 1)[0], ball(0.4, 1)[1][:, ::-1]),
    "open": lambda: (ball(0.4, 1)[0], ball(0.4, 1)[1][:50]),
    "spike": lambda: (np.array([[-0.01, -0.01, -1.0], [0.01, -0.01, -1.0], [0.0, 0.01, -1.0], [0.0, 0.0, 0.5]]),
                      np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])),
    "tangle": lambda: _tangle(),
    "flat": lambda: (_box()[0] * (1.0, 1.0, 0.0), _box()[1]),
    "room": lambda: (4.0 * _box()[0], _box()[1][:, ::-1]),
    "degenerate": lambda: (np.concatenate([FLOOR, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]),
                           np.concatenate([HALVES, [[0, 4, 5], [1, 2, 4]]])),
    "speck": lambda: (1e-3 * _box()[0], _box()[1]),
}
"""Colliders by name: positions (V, 3) [-] and triangles (T, 3)."""


def _box() -> tuple[np.ndarray, np.ndarray]:
    x, faces = block((0.8, 0.8, 0.8), (1, 1, 1))
    return x - 0.4, np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])


def _tangle() -> tuple[np.ndarray, np.ndarray]:
    """Return two boxes that intersect each other, as one collider."""
    x, triangles = _box()
    return np.concatenate([x, x + 0.3]), np.concatenate([triangles, triangles + len(x)])


def _collider(given: Recipe, number: int, size: float, origin: np.ndarray, rate: float, broken: Recipe
              ) -> core.Collider:
    x, triangles = SHAPES[given["shape"]]()
    x = placed(given.get("size", 1.0) * x, {**given, "place": [0.0, 0.0, 0.0]})
    place, motion, value = np.array(given["place"]), given["motion"], STRANGE.get(broken.get("value", ""))
    more = {"thickness": given["thickness"] * size} if "thickness" in given else {}
    more |= {"friction": given["friction"]} if "friction" in given else {}

    def at(t: float) -> Any:
        if motion["kind"] in ("strange", "other_count"):
            if t * rate < motion["frame"]:
                return size * (x + place) + origin
            if motion["kind"] == "other_count":
                return size * (x[:-1] + place) + origin
            bad = [list(row) for row in size * (x + place) + origin]
            bad[len(bad) // 2][1] = value                                                # type: ignore[call-overload]
            return bad
        return size * (moved(motion, x, t * rate) + place) + origin

    positions = at if motion else size * (x + place) + origin
    return core.Collider(positions, triangles, name=f"Solid {number}", **more)
