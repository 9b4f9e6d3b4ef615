# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that force fields take in a frame: ten fields of all kinds on a sheet of 10,000 vertices.

    python benchmarks/force_fields.py [--side 100] [--backends numpy numba] [--threads 2] [--rounds 30]

Prints a Markdown table: one row for each field by itself, and three for all ten: alone, with a wind factor, and in the
step's matrix too. A step evaluates the fields once, and a frame has one step unless cloth moves fast. The shortest of
the rounds counts, because other programs use the same cores.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import core  # noqa: E402
from core import ForceField, field_values  # noqa: E402
from core.kernels.backend import using, why_not  # noqa: E402
from core.model.field_forces import Step  # noqa: E402
from core.model.particle_system import ParticleSystem  # noqa: E402

FABRIC = core.Material(areal_density=0.15, stretch=(1000.0, 800.0), shear=50.0, bend=(1e-5, 1e-5), air_drag=1.0)
H = 1.0 / 24.0
"""Step [s]."""


def ten_fields(wind_factor: float = 0.0) -> list[ForceField]:
    """Return one field of each kind, and a second vortex."""
    rng, at = np.random.default_rng(1), {"x": 0.3, "y": 0.4, "z": 0.5, "wind_factor": wind_factor}
    lattice_map = np.column_stack([20.0 * np.eye(3), np.zeros(3)])
    return [
        ForceField("force", field_values(strength=-2.0, power=2.0, **at), gravitation=True),
        ForceField("wind", field_values(strength=3.0, power=1.0, **at), "plane", "tube"),
        ForceField("vortex", field_values(strength=1.0, power=1.5, **at)),
        ForceField("vortex", field_values(strength=1.0, **at), "line", name="whirl"),
        ForceField("magnetic", field_values(strength=1.0, **at)),
        ForceField("harmonic", field_values(strength=2.0, rest_length=0.3, damping=0.1, **at)),
        ForceField("turbulence", field_values(strength=2.0, size=0.2, flow=0.1, **at)),
        ForceField("drag", field_values(linear_drag=0.3, quadratic_drag=0.2, **at), falloff="cone"),
        ForceField("texture", field_values(strength=1.0, **at), lattice=rng.normal(size=(20, 20, 20, 3)),
                   lattice_map=lattice_map),
        ForceField("fluid_flow", field_values(strength=1.0, flow=0.2, **at), lattice=rng.normal(size=(20, 20, 20, 4)),
                   lattice_map=lattice_map)]


def sheet(side: int) -> core.Cloth:
    """Return a sheet of `side` x `side` vertices."""
    u, v = np.meshgrid(np.linspace(0.0, 1.0, side), np.linspace(0.0, 1.0, side), indexing="ij")
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    quads = np.stack([corner, corner + side, corner + side + 1, corner + 1], axis=1)
    return core.Cloth(core.ClothMesh(np.stack([u, v, 0.0 * u], axis=-1).reshape(-1, 3), faces=quads), FABRIC)


def best(run: Callable[[], object], rounds: int) -> float:
    """Return the time of the fastest of several calls [ms]."""
    run()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return 1e3 * min(taken)


def measured(cloth: core.Cloth, fields: Sequence[ForceField], rounds: int, *, matrix: bool = False) -> float:
    """Return the time that the fields add to the forces of a step, and to its matrix too if wanted [ms]."""
    taken = []
    for acting in ((), fields):
        system = ParticleSystem(core.Scene([cloth], fields=acting))
        x = system.initial_state().x
        v = np.random.default_rng(2).normal(size=x.shape)
        step = Step(H, x - H * v, v)

        def run(system: ParticleSystem = system, x: np.ndarray = x, v: np.ndarray = v, step: Step = step) -> None:
            rate = system.rate_force(x, v, H, step)
            if matrix:
                system.elastic(H).stiffness(x, H ** 2, room=system.workspace, rate=rate, rate_factor=H)

        taken.append(best(run, rounds))
    return taken[1] - taken[0]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=100)
    parser.add_argument("--backends", nargs="+", default=["numpy", "numba"])
    parser.add_argument("--threads", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    cloth, backends = sheet(given.side), [name for name in given.backends if not why_not(name)]
    rows = [(field.name if field.name != "field" else field.kind, [field], False) for field in ten_fields()]
    rows += [("all ten", ten_fields(), False), ("all ten, wind factor 0.5", ten_fields(0.5), False),
             ("all ten, and the matrix", ten_fields(), True)]
    print(f"{given.side ** 2} vertices, {given.threads} thread(s), milliseconds per step\n")
    print("| fields | " + " | ".join(backends) + " |\n| --- |" + " --- |" * len(backends))
    if "numba" in backends:
        from core.kernels.numba.thread_pool import thread_limit
        thread_limit.set(given.threads)
    for name, fields, matrix in rows:
        cells = []
        for backend in backends:
            with using(backend):
                cells.append(f"{measured(cloth, fields, given.rounds, matrix=matrix):.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
