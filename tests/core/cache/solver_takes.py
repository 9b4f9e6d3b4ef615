# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes with a scene and a feed for tests of solver processes: a sheet under a moving solid, with soft moving pins.

`python -m tests.core.cache.solver_takes FOLDER` starts a process for a folder and ends at once, as a parent that dies.
"""

import sys
from pathlib import Path

import numpy as np

import core
from core.cache.bake import bake_frames
from core.cache.feed import FEED_NAME, FeedWriter
from core.cache.scene_file import SCENE_NAME, save_scene
from core.cache.solver_process import SolverProcess
from core.cache.take import Take
from core.cache.take_header import TakeCloth, TakeHeader
from tests.core.cache.faults import faults
from tests.core.simple_scenes import FABRIC, sheet

FIRST, LAST = 5, 10
CORNERS = np.array([[-0.4, -0.4, 0.0], [1.2, -0.4, 0.0], [-0.4, 1.2, 0.0], [0.3, 0.3, -1.0]])
SOLID = [[0, 1, 2], [1, 0, 3], [2, 1, 3], [0, 2, 3]]


def values(frame):
    """Return positions of solid and pins at a frame, and the matrix of an object that turns."""
    angle = 0.4 * (frame - FIRST)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = 0.5 * turn, (0.1 * angle, 0.0, 1.0)
    return {"solid": CORNERS @ turn.T + [0.0, 0.0, 0.02 * (frame - FIRST) - 0.1],
            "sheet": sheet().positions + [0.0, 0.0, 0.02 * (frame - FIRST)], "still": np.ones((3, 3)),
            "matrix sheet": matrix, "speed": np.array([1.0 + 0.6 * np.sin(2.0 * frame)])}


def samples(frame):
    """Return the samples that lead to a frame."""
    return [(frame - part, values(frame - part)) for part in (0.75, 0.5, 0.25, 0.0)]


def parts(backend="numpy", integrator="bdf2", speed=None):
    """Return scene, solver and window. Frames have other lengths with `speed` "speed"."""
    solver = core.Solver(backend=backend, integrator=integrator)
    window = core.MotionWindow(FIRST, solver.frame_rate, values(FIRST), speed=speed)
    pins = np.zeros(len(sheet().positions))
    pins[:6] = [1.0, 0.5, 0.0, 0.0, 0.5, 1.0]
    cloth = core.Cloth(sheet(), FABRIC, pins=pins, pin_targets=window.trajectory("sheet"))
    gusts = core.field_values(strength=3.0, noise=2.0)
    fields = [] if speed is None else [core.ForceField("wind", gusts, noise_rate=window.clock)]
    return core.Scene([cloth], [core.Collider(window.trajectory("solid"), SOLID)], fields=fields), solver, window


def header(last=LAST):
    return TakeHeader([TakeCloth("sheet", len(sheet().positions))], FIRST, FIRST, last, 24.0)


def in_process(folder, last=LAST, **options):
    """Bake without a process of its own."""
    scene, solver, window = parts(**options)
    with Take.create(folder, header(last)) as take:
        for _ in bake_frames(take, scene, solver, window, lambda frame: window.advance(samples(frame))):
            pass
    return folder


def prepared(folder, last=LAST, fed=True, **options):
    """Make a take with a scene, and with a feed up to the last frame if `fed`."""
    scene, solver, window = parts(**options)
    Take.create(folder, header(last)).close()
    save_scene(folder / SCENE_NAME, scene, solver, window)
    if fed:
        with FeedWriter.create(folder / FEED_NAME, window) as feed:
            for frame in range(FIRST + 1, last + 1):
                feed.append(frame, samples(frame))
            feed.finish()
    return folder


def contents(folder):
    """Return all of a take that must be the same however it was baked."""
    take = Take.open(folder)
    untimed = [{k: v for k, v in c.items() if k not in ("seconds", "frame_seconds")} for c in take.certificates()]
    frames = [] if take.last is None else range(take.header.start, take.last + 1)
    return {"positions": [take.positions(0, frame).tobytes() for frame in frames],
            "velocities": [take.velocities(0, frame).tobytes() for frame in frames],
            "certificates": untimed, "complete": take.is_complete, "faults": faults(take)}


if __name__ == "__main__":
    SolverProcess(Path(sys.argv[1])).start()
