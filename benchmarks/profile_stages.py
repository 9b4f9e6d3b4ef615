# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the time of each stage of a frame, and the memory bandwidth of the matrix product.

    python benchmarks/profile_stages.py --scenes hang sphere --sizes 100 --frames 30

The stages are those of the certificate: forces (stresses and tangents of the laws), assembly, solve (the conjugate
gradients, with products and the application of the preconditioner), preconditioner (making it), contact, certificate.
The rest is Python around the stages, with the copying of frames. The bandwidth of the product counts every byte once:
blocks, scalars, columns, and both vectors. The bandwidth of the machine is the larger of NumPy's copy and triad on
arrays far larger than the caches, on one thread, in the same process. A matrix that fits into the caches, or a product
on two threads, can exceed it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

if not __package__:                                              # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import core
from benchmarks.muslin_cloth import compile_kernels
from benchmarks.scenes import SCENES, core_scene, scene_layout
from benchmarks.systems import SOFT
from core.kernels import using
from core.kernels.backend import choose
from core.model.particle_system import ParticleSystem

LARGE = 8_000_000
"""Number of elements of the arrays by which the bandwidth is measured: 64 MB each."""
REST = "not in a stage"


def stages(scene: str, size: int, fabric: core.Material, solver: core.Solver, frames: int) -> dict[str, Any]:
    """Return the median times of a frame [ms]: total, of each stage, and the rest. The first frame does not count."""
    coming = core.simulate(core_scene(scene_layout(scene, size), fabric), solver, frames=range(1, frames + 1))
    start = perf_counter()
    next(coming)
    first, whole, parts = perf_counter() - start, [], []
    for _ in range(frames - 1):
        start = perf_counter()
        frame = next(coming)
        whole.append(perf_counter() - start)
        parts.append({**frame.certificate.seconds, "iterations": frame.certificate.iterations})
    names = sorted({name for part in parts for name in part} - {"iterations"})
    table = {name: 1e3 * float(np.median([part.get(name, 0.0) for part in parts])) for name in names}
    left = [w - sum(part.get(name, 0.0) for name in names) for w, part in zip(whole, parts, strict=True)]
    return {"scene": scene, "size": size, "frame_ms": 1e3 * float(np.median(whole)), "first_ms": 1e3 * first,
            "iterations": float(np.mean([part["iterations"] for part in parts])),
            "stages_ms": {**table, REST: 1e3 * float(np.median(left))}}


def product(size: int, fabric: core.Material, backend: str) -> dict[str, float]:
    """Return time [ms] and bandwidth [bytes/s] of A x on the hanging sheet."""
    with using(backend):
        system = ParticleSystem(core_scene(scene_layout("hang", size), fabric))
        x = system.initial_state().x
        A = system.elastic(0.0).stiffness(x, 1e-4)
        A.add_diagonal(system.mass)
        v = np.random.default_rng(1).normal(size=x.shape)
        seconds = _least(lambda: A.multiply(v), 20)
        blocks, scalars = A.data.nbytes, 0 if A.scalar is None else A.scalar.nbytes
        columns = 4 * (A.data.size // 9 + (0 if A.scalar is None else A.scalar.size))
    touched = blocks + scalars + columns + 2 * v.nbytes
    return {"ms": 1e3 * seconds, "megabytes": touched / 1e6, "bytes_per_second": touched / seconds}


def machine_bandwidth() -> dict[str, float]:
    """Return the bandwidth [bytes/s] of a copy and of a triad a = b + s c in NumPy, on one thread.

    The triad takes two passes over its arrays.
    """
    a, b, c = (np.full(LARGE, value) for value in (0.0, 1.0, 2.0))

    def triad() -> None:
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)

    return {"copy": 2 * a.nbytes / _least(lambda: np.copyto(a, b), 5), "triad": 5 * a.nbytes / _least(triad, 5)}


def _least(work: Any, times: int) -> float:
    """Return the shortest time of `times` calls [s], after one call that does not count."""
    work()
    seconds = []
    for _ in range(times):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Print the tables in Markdown, and write them as JSON to --out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=["hang", "sphere"], choices=SCENES)
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 100, 200], help="vertices along a side")
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--fabric", default="soft", help="soft, or the name of a preset")
    parser.add_argument("--backend", help="numpy or numba; default: the fastest")
    parser.add_argument("--out", type=Path, help="folder for profile.json")
    options = parser.parse_args()
    backend = choose(options.backend)
    fabric = SOFT if options.fabric == "soft" else core.Material.preset(options.fabric)
    solver, rows = core.Solver(backend=backend), []
    print(f"backend {backend}, fabric {options.fabric}; warming up {compile_kernels(solver):.1f} s\n")
    for scene in options.scenes:
        for size in options.sizes:
            rows.append(stages(scene, size, fabric, solver, options.frames))
            parts = rows[-1]["stages_ms"]
            if len(rows) == 1:
                print("| scene | size | frame [ms] | iterations | stage [ms] (share) |\n|" + " --- |" * 5)
            print(f"| {scene} | {size}^2 | {rows[-1]['frame_ms']:.1f} | {rows[-1]['iterations']:.0f} | " + ", ".join(
                f"{name} {ms:.2f} ({ms / rows[-1]['frame_ms']:.0%})" for name, ms in parts.items()) + " |", flush=True)
    machine = machine_bandwidth()
    best = max(machine.values())
    print(f"\nmemory, one thread: copy {machine['copy'] / 1e9:.1f}, triad {machine['triad'] / 1e9:.1f} GB/s\n")
    print("| size | product [ms] | data [MB] | GB/s | of the machine's |\n|" + " --- |" * 5)
    products = {size: product(size, fabric, backend) for size in options.sizes}
    for size, got in products.items():
        print(f"| {size}^2 | {got['ms']:.3f} | {got['megabytes']:.1f} | {got['bytes_per_second'] / 1e9:.1f} | "
              f"{got['bytes_per_second'] / best:.0%} |")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "profile.json").write_text(json.dumps(
            {"backend": backend, "fabric": options.fabric, "profile": rows, "memory": machine, "product": products},
            indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
