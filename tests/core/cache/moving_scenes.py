# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes whose functions of time are replaced by trajectories of a window with samples between the frames."""

from dataclasses import fields, is_dataclass, replace

import numpy as np

import core
from core.description.arguments import arguments_of, changes_of

FIRST = 3
"""Frame at time 0."""
FAN = core.field_values(x=0.0, y=-2.0, z=0.5, strength=3.0, power=1.0, minimum=0.5, maximum=9.0, noise=0.5)
SPRING = core.field_values(x=0.3, y=0.2, z=-1.0, strength=2.0, damping=0.5, size=0.5)
"""Numbers of fields."""


class Motion:
    """Functions of time by name, and the window that samples them."""

    def __init__(self, rate):
        self.functions, self.rate = {
            "fan": lambda t: FAN + 0.3 * np.sin(5.0 * t), "spring": lambda t: SPRING * (1.0 + 0.3 * np.sin(5.0 * t)),
            "weight": lambda t: np.array([1.0 + t])}, rate

    def name(self, function):
        """Return the name of a new function."""
        name = f"motion {len(self.functions)}"
        self.functions[name] = function
        return name

    def values(self, frame):
        """Return the values of all functions at a frame."""
        return {name: np.asarray(function((frame - FIRST) / self.rate), dtype=float)
                for name, function in self.functions.items()}

    def samples(self, frame):
        """Return the samples that lead to a frame."""
        return [(frame - part, self.values(frame - part)) for part in (0.5, 0.25, 0.0)]


def windowed(scene, rate):
    """Return the scene made anew with trajectories, their window and its motion."""
    motion, names = Motion(rate), {}

    def find(value):
        if callable(value) and not isinstance(value, type):
            names.setdefault(value, motion.name(value))
        elif isinstance(value, dict):
            any(map(find, value.values()))
        elif isinstance(value, (list, tuple)):
            any(map(find, value))
        elif isinstance(value, core.Attachment):
            find(value.target)
        elif isinstance(value, (core.Cloth, core.Collider)):
            any(map(find, arguments_of(value).values()))

    any(map(find, (list(scene.cloths), list(scene.colliders))))
    window = core.MotionWindow(FIRST, rate, motion.values(FIRST))

    def anew(value):
        if value in names if callable(value) else False:
            return window.trajectory(names[value])
        if isinstance(value, dict):
            return {key: anew(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(anew(item) for item in value)
        if isinstance(value, core.Attachment):
            return replace(value, target=anew(value.target))
        if isinstance(value, (core.Cloth, core.Collider)):
            return type(value)(**{name: anew(item) for name, item in arguments_of(value).items()})
        return value

    given = dict(arguments_of(scene))
    wind = given.get("wind")
    if callable(wind):
        given["wind"] = (0.5, 0.0, 0.1)
        fan, spring = window.trajectory("fan"), window.trajectory("spring")
        given["fields"] = [core.ForceField("wind", fan), core.ForceField("turbulence", spring, name="waves"),
                           core.ForceField("harmonic", spring, "points", vertices=np.eye(3), name="spring")]
        weights = core.FieldWeights(gravity=core.Keyed(window.trajectory("weight"), 0), fields=["field", "spring"])
        given["cloths"] = [core.Cloth(**arguments_of(cloth) | {"field_weights": weights}) for cloth in given["cloths"]]
    return core.Scene(**{name: anew(item) for name, item in given.items()}), window, motion


def simulated(scene, solver, window, motion, count):
    """Return the bytes of the frames, while the window is moved from frame to frame."""
    seen = []
    steps = core.simulate(scene, solver, range(FIRST, FIRST + count))
    for number in range(FIRST, FIRST + count):
        if number > FIRST:
            window.advance(motion.samples(number))
        frame = next(steps)
        seen.append(b"".join(array.tobytes() for array in (*frame.positions, *frame.velocities)))
    return seen


def described(thing):
    """Return nested arguments of an object, with arrays as bytes, to compare two of them."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, (list, tuple)):
        return type(thing).__name__, [described(item) for item in thing]
    if isinstance(thing, dict):
        return {key: described(item) for key, item in thing.items()}
    if isinstance(thing, core.Trajectory):
        return thing.name
    if is_dataclass(thing):
        return {field.name: described(getattr(thing, field.name)) for field in fields(thing)}
    if isinstance(thing, (core.Cloth, core.ClothMesh, core.Collider, core.Scene)):
        changes = described(changes_of(thing)) if isinstance(thing, core.ClothMesh) else ()
        return type(thing).__name__, described(dict(arguments_of(thing))), changes
    return thing
