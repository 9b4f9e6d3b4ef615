# SPDX-License-Identifier: GPL-3.0-or-later
"""What a picture of a system is made from: a scene, how it is solved, and from where to look at which frames."""

from dataclasses import dataclass

import core

Point = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Frames are numbered from 1, the start.

    Attributes:
        scene, solver: what `core.simulate` takes. pictured: frames drawn side by side.
        eye, target: where the camera is and what it looks at [m]. lens: its focal length [mm].
        thickness: of what threads and particles are drawn as [m].
    """

    scene: core.Scene
    solver: core.Solver
    pictured: tuple[int, ...]
    eye: Point
    target: Point
    lens: float = 50.0
    thickness: float = 0.01
