# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a system's picture: scene, solver, frames and camera. Each other file here builds one, see draw.py."""

from dataclasses import dataclass

import core

Point = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Run:
    """A scene and its picture.

    Attributes:
        scene, solver: arguments of `core.simulate`.
        pictured: frames that are drawn side by side. Frame 1 is the initial state.
        eye, target: position of the camera and the point it looks at [m].
        lens: focal length [mm].
        thickness: diameter of drawn threads and particles [m].
    """

    scene: core.Scene
    solver: core.Solver
    pictured: tuple[int, ...]
    eye: Point
    target: Point
    lens: float = 50.0
    thickness: float = 0.01
