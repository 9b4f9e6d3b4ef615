# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the convergence of projective dynamics within a step, beside Newton's method on the same equations.

    python benchmarks/projective_convergence.py [--picture docs/pictures/projective_convergence.png]

A 1 x 1 m sheet of 21 x 21 vertices hangs from two corners and has swung for 0.2 s. From there one step of 1/48 s is
solved with more and more iterations. The error is the largest distance of a vertex from the converged solution of
Newton's method. Prints the tables; --picture needs matplotlib.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import core
from core.arrays import FloatArray

H = 1.0 / 48.0
"""Step [s]."""
SIDE = 21
"""Number of vertices along a side."""
ITERATIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
FABRICS = {
    "soft: 50 N/m": core.Material(areal_density=0.2, stretch=50.0, shear=20.0, bend=1e-5),
    "cotton": core.Material.preset("cotton", damping=0.0),
}
METHODS = {
    "Newton": {"integrator": "implicit_euler", "tolerance": 1e-8},
    "projective dynamics, extrapolated": {"integrator": "projective_dynamics", "tolerance": 1e-8},
    "as published, factor": {"integrator": "projective_dynamics", "tolerance": 1e-8, "projective_window": 0},
    "as published, CG to 1e-3": {"integrator": "projective_dynamics", "projective_solve": "cg",
                                 "projective_window": 0},
}
"""Settings of the solver by method; published by Bouaziz et al. 2014."""
Rows = list[tuple[int, float, int, float]]
"""Iterations, error over the side of the sheet [-], linear iterations, time [s]."""


def sheet() -> core.ClothMesh:
    """Return the mesh of the sheet."""
    u, v = np.meshgrid(*[np.linspace(0.0, 1.0, SIDE)] * 2, indexing="ij")
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    quads = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 4)
    return core.ClothMesh(np.stack([u, v, 0.0 * u], axis=-1).reshape(-1, 3), faces=quads)


def cloth(fabric: core.Material, **start: FloatArray) -> core.Cloth:
    """Return the sheet pinned at two corners; `start`: initial positions and velocities."""
    return core.Cloth(sheet(), fabric, model="projective", pins={0: None, SIDE - 1: None}, **start)


def step(swung: core.Frame, fabric: core.Material, **settings: object) -> tuple[core.Frame, float]:
    """Solve one step from the frame `swung`, and return the next frame and the time [s]."""
    scene = core.Scene([cloth(fabric, positions=swung.positions[0], velocities=swung.velocities[0])])
    solver = core.Solver(frame_rate=1.0 / H, steps_per_frame=1, self_collision=False, adaptive=False,
                         **settings)  # type: ignore[arg-type]
    frames = core.simulate(scene, solver, range(2))
    next(frames)
    start = time.perf_counter()
    return next(frames), time.perf_counter() - start


def study(fabric: core.Material) -> dict[str, Rows]:
    """Return the rows of each method."""
    solver = core.Solver(integrator="bdf2", frame_rate=60.0, steps_per_frame=2, self_collision=False)
    *_, swung = core.simulate(core.Scene([cloth(fabric)]), solver, range(13))
    exact = step(swung, fabric, newton_iterations="converge", tolerance=1e-11, max_newton_iterations=200)[0]
    table: dict[str, Rows] = {}
    for name, settings in METHODS.items():
        table[name] = []
        for k in ITERATIONS:
            frame, seconds = step(swung, fabric, newton_iterations=k, **settings)
            error = float(np.abs(frame.positions[0] - exact.positions[0]).max())
            table[name].append((k, error, frame.certificate.iterations, seconds))
            if error < 1e-9:
                break
    return table


def draw(tables: dict[str, dict[str, Rows]], path: Path) -> None:
    """Draw the error over the iterations, a panel for each fabric."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(tables), figsize=(5.0 * len(tables), 3.8), sharey=True, squeeze=False)
    for panel, (title, table) in zip(panels[0], tables.items(), strict=True):
        for (name, rows), style in zip(table.items(), ("o-", "d-", "s-", "x--"), strict=True):
            panel.plot([row[0] for row in rows], [row[1] for row in rows], style, label=name, markersize=4)
        panel.set(title=title, xscale="log", yscale="log", xlabel="iterations in a step")
        panel.grid(True, which="both", alpha=0.2)
    panels[0][0].set_ylabel("error / side of the sheet")
    panels[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and draw the chart if --picture is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="file for the chart")
    picture = parser.parse_args(arguments).picture
    tables = {title: study(fabric) for title, fabric in FABRICS.items()}
    for title, table in tables.items():
        for name, rows in table.items():
            print(f"\n{title}, {name}\n  iterations       error  linear   ms")
            for k, error, linear, seconds in rows:
                print(f"  {k:10d}  {error:10.2e}  {linear:6d}  {1e3 * seconds:5.0f}")
    if picture:
        draw(tables, picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
