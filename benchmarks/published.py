# SPDX-License-Identifier: GPL-3.0-or-later
"""Run scenes of the size of published ones, and print the time per frame beside the published one.

    python benchmarks/published.py                              all scenes, on the fastest backend
    python benchmarks/published.py sheet shirt --frames 20

The published scenes are known from pictures only. These have the same numbers of vertices of cloth and solid, the same
frame rate and a similar motion, but not the same shapes. The times of Baraff and Witkin are those of one R10000
processor of 1998, with the pieces of cloth one after another. The times of Choi and Ko are from their slides of 2005:
"31.5 mins" for 20 s, and "15 hours" for an unknown length. The machines differ so much that a ratio would say little.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import core
from core.arrays import FloatArray, IntArray

COTTON = core.Material.preset("cotton")
SILK = core.Material.preset("silk")


@dataclass(frozen=True)
class Published:
    """A published run, and a scene of its size.

    Attributes:
        vertices, solid: number of vertices of the cloth and of the solid.
        seconds: processor time per frame [s], None if it is not published.
        frame_rate: [1/s].
        frames: number of frames of our run.
        make: function that returns the scene.
    """

    source: str
    vertices: int
    solid: int
    seconds: float | None
    frame_rate: float
    frames: int
    make: Callable[[], core.Scene]


def grid(rows: int, columns: int) -> IntArray:
    """Return the quads (Q, 4) of rows x columns vertices."""
    number = np.arange(rows * columns).reshape(rows, columns)
    return np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 4)


def turned(profile: FloatArray, segments: int) -> tuple[FloatArray, IntArray]:
    """Return the surface of revolution about z of a profile (R, 2) of radius and height [m], closed by two vertices."""
    phi = 2.0 * np.pi * np.arange(segments) / segments
    rings = np.stack([np.outer(profile[:, 0], np.cos(phi)), np.outer(profile[:, 0], np.sin(phi)),
                      np.repeat(profile[:, 1:], segments, axis=1)], axis=-1).reshape(-1, 3)
    x = np.concatenate([rings, [[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]]])
    i, j = np.arange(segments), (np.arange(segments) + 1) % segments
    start = segments * np.arange(len(profile) - 1)[:, None]
    sides = [np.stack([start + i, start + j, start + segments + j], axis=-1).reshape(-1, 3),
             np.stack([start + i, start + segments + j, start + segments + i], axis=-1).reshape(-1, 3)]
    last = segments * (len(profile) - 1)
    caps = [np.stack([np.full(segments, len(x) - 2), j, i], axis=1),
            np.stack([np.full(segments, len(x) - 1), last + i, last + j], axis=1)]
    return x, np.concatenate([*sides, *caps])


def ball(radius: float, rings: int, segments: int) -> tuple[FloatArray, IntArray]:
    """Return a sphere of `rings` circles of `segments` vertices and two poles: positions [m] and triangles."""
    theta = np.pi * (1.0 - np.arange(1, rings + 1) / (rings + 1))
    x, triangles = turned(radius * np.stack([np.sin(theta), np.cos(theta)], axis=1), segments)
    x[-2:] = [[0.0, 0.0, -radius], [0.0, 0.0, radius]]
    return x, triangles


def sheet_on_solid() -> core.Scene:
    """Return a sheet of 51 x 51 vertices that falls onto a ball of 322."""
    n = 51
    u, v = np.meshgrid(np.linspace(-0.75, 0.75, n), np.linspace(-0.75, 0.75, n), indexing="ij")
    mesh = core.ClothMesh(np.stack([u, v, np.full_like(u, 0.5)], axis=-1).reshape(-1, 3), faces=grid(n, n))
    return core.Scene([core.Cloth(mesh, COTTON)], [core.Collider(*ball(0.4, 16, 20), friction=0.3)])


def shirt() -> core.Scene:
    """Return a tube of 86 x 75 = 6,450 vertices on the shoulders of a body of 9,941, which turns to and fro."""
    around, along = 86, 75
    phi, z = 2.0 * np.pi * np.arange(around) / around, np.linspace(0.0, 0.75, along)
    number = np.arange(along * around).reshape(along, around)
    right = np.roll(number, -1, axis=1)
    quads = np.stack([number[:-1], right[:-1], right[1:], number[1:]], axis=-1).reshape(-1, 4)
    r = np.interp(z, [0.0, 0.4, 0.66, 0.75], [0.34, 0.27, 0.22, 0.125])
    x = np.stack([np.outer(r, np.cos(phi)), np.outer(0.75 * r, np.sin(phi)), np.repeat(z[:, None], around, 1)], axis=-1)
    height = np.linspace(-0.25, 0.95, 71)
    radius = np.interp(height, [-0.25, -0.2, 0.1, 0.35, 0.6, 0.7, 0.76, 0.85, 0.93, 0.95],
                       [0.02, 0.17, 0.19, 0.15, 0.17, 0.12, 0.06, 0.09, 0.07, 0.01])
    body, triangles = turned(np.stack([radius, height], axis=1), 140)
    body = np.array(body * [1.0, 0.75, 1.0])

    def turning(time: float) -> FloatArray:
        a = 0.5 * np.sin(np.pi * time)
        return body @ np.array([[np.cos(a), np.sin(a), 0.0], [-np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])

    cloth = core.Cloth(core.ClothMesh(x.reshape(-1, 3), faces=quads), COTTON)
    return core.Scene([cloth], [core.Collider(turning, triangles, friction=0.4)])


def collision_test() -> core.Scene:
    """Return a sheet of 78 x 77 = 6,006 vertices, instead of 6,029, over a turning ball."""
    rows, columns = 78, 77
    u, v = np.meshgrid(np.linspace(-0.9, 0.9, rows), np.linspace(-0.9, 0.9, columns), indexing="ij")
    mesh = core.ClothMesh(np.stack([u, v, np.full_like(u, 0.45)], axis=-1).reshape(-1, 3), faces=grid(rows, columns))
    points, triangles = ball(0.4, 16, 32)

    def turning(time: float) -> FloatArray:
        a = 1.5 * max(0.0, time - 0.5)
        return points @ np.array([[np.cos(a), np.sin(a), 0.0], [-np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])

    return core.Scene([core.Cloth(mesh, COTTON)], [core.Collider(turning, triangles, friction=0.5)])


def ribbon() -> core.Scene:
    """Return a ribbon of silk, 0.1 x 50 m with 7 x 4,001 = 28,007 vertices, which falls in 50 folds onto a floor."""
    across, along, fold, gap = 7, 4001, 1.0, 0.02
    s = np.linspace(0.0, 50.0, along)
    turn = np.pi * gap / 2                                       # length of the half circle that joins two layers
    period = fold + turn
    layer, inside = np.divmod(s, period)
    straight = inside < fold
    angle = np.pi * np.clip((inside - fold) / turn, 0.0, 1.0)
    x = np.where(straight, inside, fold + gap / 2 * np.sin(angle))
    x = np.where(layer % 2 == 0, x, fold - x)
    z = 0.05 + gap * layer + np.where(straight, 0.0, gap / 2 * (1.0 - np.cos(angle)))
    y = np.linspace(-0.05, 0.05, across)
    points = np.stack([np.repeat(x[:, None], across, 1), np.broadcast_to(y, (along, across)),
                       np.repeat(z[:, None], across, 1)], axis=-1).reshape(-1, 3)
    floor = core.Collider([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [9.0, 9.0, 0.0], [-9.0, 9.0, 0.0]],
                          [[0, 1, 2], [0, 2, 3]], friction=0.3)
    return core.Scene([core.Cloth(core.ClothMesh(points, faces=grid(along, across)), SILK)], [floor])


RUNS = {
    "sheet": Published("Baraff and Witkin 1998, figures 1 and 2", 2602, 322, 2.23, 30.0, 75, sheet_on_solid),
    "shirt": Published("Baraff and Witkin 1998, figure 4, shirt", 6450, 9941, 14.5, 30.0, 60, shirt),
    "collision": Published("Choi and Ko 2005, collision test", 6029, 0, 31.5 * 60.0 / 600.0, 30.0, 75, collision_test),
    "ribbon": Published("Choi and Ko 2005, self-collision test", 28007, 0, None, 30.0, 24, ribbon),
}
HEADER = """\
| run | vertices, published | ours | solid, published | ours | s a frame, published | ours: median | worst | steps | \
crossings | stretch p99 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def measure(name: str, frames: int | None, backend: str | None) -> str:
    """Return the row of one run."""
    run, spent, crossings, steps, p99 = RUNS[name], [], 0, 0, 0.0
    scene = run.make()
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, frame_rate=run.frame_rate, tolerance=1e-2,
                         backend=backend)
    list(core.warm_up(solver))
    start = time.perf_counter()
    for frame in core.simulate(scene, solver, range(1, (frames or run.frames) + 1)):
        spent.append(time.perf_counter() - start)
        certificate = frame.certificate
        crossings, steps = max(crossings, certificate.crossings), steps + certificate.steps
        p99 = max(p99, certificate.stretch_p99)
        start = time.perf_counter()
    solid = sum(len(collider.at(0.0)) for collider in scene.colliders)
    published = "unknown" if run.seconds is None else f"{run.seconds:.2f}"
    return (f"| {run.source} | {run.vertices:,} | {len(scene.cloths[0].positions):,} | {run.solid or 'unknown'} | "
            f"{solid:,} | {published} | {median(spent[1:]):.3f} | {max(spent[1:]):.3f} | {steps} in {len(spent) - 1} | "
            f"{crossings} | {p99:.4f} |")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"runs: {', '.join(RUNS)}")
    parser.add_argument("--frames", type=int, help="number of frames, instead of each run's own")
    parser.add_argument("--backend", choices=("numpy", "numba"))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.runs if name not in RUNS]
    if unknown:
        parser.error(f"no run {', '.join(unknown)}; there are: {', '.join(RUNS)}")
    print(HEADER)
    for name in arguments.runs or RUNS:
        print(measure(name, arguments.frames, arguments.backend), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
