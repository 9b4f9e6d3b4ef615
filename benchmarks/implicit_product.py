# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the matrix-free product (Kim 2008) with the assembled one: time and memory, on sheets of threads and a rope.

    python benchmarks/implicit_product.py [--sides 50 100 200] [--backends numpy numba]

Prints a Markdown table for both: memory of the pattern and of the numbers of a step, time to make the matrix, and time
of one product. Both run alternately in one process, and the shortest of several times counts.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import core  # noqa: E402
from core.kernels.backend import using, why_not  # noqa: E402
from core.model.particle_system import ParticleSystem  # noqa: E402

FABRIC = core.Material(areal_density=0.15, stretch=(1000.0, 800.0), shear=50.0, bend=(1e-5, 1e-5))
SPRINGS = core.Material(areal_density=0.15, stretch=(1000.0, 800.0), shear=0.0)
H = 1.0 / 24.0
"""Step [s]."""


def sheet(side: int, fabric: core.Material = FABRIC) -> core.Cloth:
    """Return a sheet of `side` x `side` vertices, pinned at one corner."""
    u, v = np.meshgrid(np.linspace(0.0, 1.0, side), np.linspace(0.0, 1.0, side), indexing="ij")
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    quads = np.stack([corner, corner + side, corner + side + 1, corner + 1], axis=1)
    mesh = core.ClothMesh(np.stack([u, v, 0.0 * u], axis=-1).reshape(-1, 3), faces=quads)
    return core.Cloth(mesh, fabric, model="thread_cloth", pins={0: None})


def rope(count: int, fabric: core.Material = FABRIC) -> core.Cloth:
    """Return a rope of `count` vertices, pinned at one end."""
    s = np.linspace(0.0, 10.0, count)
    edges = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    return core.Cloth(core.ClothMesh(np.stack([s, 0 * s, 0 * s], axis=1), edges=edges), fabric, model="rope",
                      pins={0: None})


def best(run, times: int = 5) -> float:  # type: ignore[no-untyped-def]
    """Return the time of the fastest of several calls [s]."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def row(name: str, cloth: core.Cloth, backend: str) -> str:
    """Return the row of one cloth, after checking that both products are equal."""
    rng = np.random.default_rng(0)
    cells = []
    with using(backend):
        answers = []
        for assembled in (True, False):
            system = ParticleSystem(core.Scene([cloth]), assembled=assembled)
            x = system.initial_state().x + 1e-3 * cloth.mesh.mean_edge * rng.normal(size=(system.vertex_count, 3))
            rng = np.random.default_rng(0)
            made = []

            def make(system: ParticleSystem = system, x: np.ndarray = x, made: list = made) -> None:  # type: ignore[type-arg]
                A = system.elastic(0.0).stiffness(x, H ** 2, room=system.workspace)
                A.add_diagonal(system.mass)
                made[:] = [A]

            v = np.random.default_rng(1).normal(size=x.shape)
            make()
            assembly, product = best(make), best(lambda made=made, v=v: made[0].multiply(v), 20)  # type: ignore[misc]
            A = made[0]
            pattern = A.pattern
            structure = pattern.columns.nbytes + pattern.rows.nbytes + pattern.layout.columns.nbytes
            numbers = A.data.nbytes + sum(part.nbytes for part in getattr(A, "parts", ()))
            answers.append((A.multiply(v), structure + numbers, assembly, product))
        np.testing.assert_allclose(answers[1][0], answers[0][0], atol=1e-9 * np.abs(answers[0][0]).max())
    for _, size, assembly, product in answers:
        cells += [f"{size / 2 ** 20:.1f}", f"{1e3 * assembly:.2f}", f"{1e3 * product:.3f}"]
    (_, size0, make0, product0), (_, size1, make1, product1) = answers
    ratios = f"{size0 / size1:.1f}, {make0 / make1:.1f}, {product0 / product1:.1f}"
    return f"| {name} | {backend} | {' | '.join(cells)} | {ratios} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sides", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--backends", nargs="+", default=["numpy", "numba"])
    arguments = parser.parse_args()
    print("| | backend | assembled: MiB | make [ms] | product [ms] | implicit: MiB | make [ms] | product [ms] "
          "| ratios |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for backend in arguments.backends:
        if why_not(backend):
            continue
        print(row("rope of 10,000, springs", rope(10_000, SPRINGS), backend), flush=True)
        print(row("and bending", rope(10_000), backend), flush=True)
        for side in arguments.sides:
            print(row(f"{side}^2 threads, springs", sheet(side, SPRINGS), backend), flush=True)
            print(row("and area, bending", sheet(side), backend), flush=True)


if __name__ == "__main__":
    main()
