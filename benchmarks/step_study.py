# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure error and cost of steps per frame and tolerances of the implicit integrators.

    python -m benchmarks.step_study [vertices along a side] [frames]

A 2 x 2 m sheet pinned at two corners, soft (stretch of some percent) and of cotton. The error is the root mean square
distance over vertices and frames [mm] from a run with 16 steps of bdf2 per frame, solved to 1e-5. The cost is the
median time of a frame, and the linear iterations of all frames.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import core

SOFT = core.Material(areal_density=0.3, stretch=600.0, shear=120.0, bend=1e-5, damping=0.005)
FABRICS = {"soft": SOFT, "cotton": core.Material.preset("cotton")}
FINE = core.Solver(integrator="bdf2", steps_per_frame=16, tolerance=1e-5)
TRIED = [(integrator, steps, tolerance) for integrator in ("implicit_euler", "bdf2")
         for steps, tolerance in ((1, 1e-3), (2, 1e-2), (2, 1e-3), (2, 1e-4), (4, 1e-3))]


def sheet(n: int, material: core.Material) -> core.Scene:
    """Return a sheet of n x n vertices, 2 x 2 m, pinned at the two ends of one edge."""
    along = np.linspace(0.0, 2.0, n)
    x, y = np.meshgrid(along, along, indexing="ij")
    i = np.arange(n * n).reshape(n, n)
    a, b, c, d = (corner.ravel() for corner in (i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    mesh = core.ClothMesh(np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1), triangles)
    return core.Scene([core.Cloth(mesh, material, pins={0: None, n * (n - 1): None})])


def run(scene: core.Scene, solver: core.Solver, frames: int) -> tuple[np.ndarray, float, int, float]:
    """Return positions (F, V, 3) [m], median time of a frame [s], iterations, and the largest p99 stretch [-]."""
    positions, seconds, iterations, stretch, start = [], [], 0, 0.0, time.perf_counter()
    for frame in core.simulate(scene, solver, range(1, frames + 1)):
        seconds.append(time.perf_counter() - start)
        positions.append(frame.positions[0])
        iterations += frame.certificate.iterations
        stretch = max(stretch, frame.certificate.stretch_p99)
        start = time.perf_counter()
    return np.array(positions), float(np.median(seconds[2:])), iterations, stretch


def main(n: int, frames: int) -> None:
    """Print the table."""
    print("| fabric | integrator | steps | tolerance | error [mm] | p99 stretch | ms a frame | iterations |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, material in FABRICS.items():
        fine = run(sheet(n, material), FINE, frames)[0]
        for integrator, steps, tolerance in TRIED:
            found, seconds, iterations, stretch = run(
                sheet(n, material), core.Solver(integrator=integrator, steps_per_frame=steps, tolerance=tolerance),
                frames)
            error = 1e3 * float(np.sqrt(((found - fine) ** 2).sum(axis=2).mean()))
            print(f"| {name} | {integrator} | {steps} | {tolerance:g} | {error:.1f} | {100 * (stretch - 1):.2f} % | "
                  f"{1e3 * seconds:.0f} | {iterations} |", flush=True)


if __name__ == "__main__":
    main(*([int(a) for a in sys.argv[1:]] or [50, 60]))
