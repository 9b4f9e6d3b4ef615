# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Muslin with Blender's own cloth, on one machine with one bpy, each run in a process of its own.

    /path/to/python-with-bpy benchmarks/against_blender.py --scenes hang --sizes 50 100 --repeats 3
    ... --resume                              continues a comparison that was stopped
    ... --scenes drape --sizes 100 129        with self-collision, which Blender's node does not have

systems.py lists the systems and their fabrics. Systems are compared at equal stretch: in the first turn, a Muslin row
that stretches more than the Blender row of its name gets another stiffness, and the node gets more substeps
(stretch_search.py). The search starts at the result of the last comparison. The runs of all systems alternate,
`--repeats` times, and ratios are medians over these turns. The distance of a row is that from the converged motion of
its own fabric. After every run, --out has the current results.json, results.md, results.svg, and all runs in turns/.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:                                              # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import core
from benchmarks.chart import draw
from benchmarks.report import row_line, write
from benchmarks.scenes import SCENES, scene_layout
from benchmarks.stored_results import ResultStore, TurnStore, distance_between
from benchmarks.stretch_search import Found, stiffness_factor, substeps
from benchmarks.systems import LACKS_IN_NODE, SYSTEMS, fabric_of, kind_of, reference_row, select_systems, start_fabric
from benchmarks.worker import ROOT, Job, Run

Row = dict[str, Any]
COARSENING, COARSEST = 3, 20
"""Factor by which the mesh is coarser, on which a search measures how stretch depends on stiffness, and its smallest
number of vertices along a side."""


class SceneRows:
    """The rows of one scene at one size, completed run by run."""

    def __init__(self, scene: str, size: int, options: argparse.Namespace, store: ResultStore, turns: TurnStore,
                 write_results: Callable[[], None]) -> None:
        self.scene, self.size, self.options, self.store, self.turns = scene, size, options, store, turns
        self.write_results = write_results
        self.systems = select_systems(options.systems, scene, size)
        self.jobs: dict[str, Job] = {}
        self.rows: dict[str, Row] = {}

    def run(self) -> None:
        """Run all turns, then compute the distances."""
        for turn in range(self.options.repeats):
            for system in self.systems:
                if turn == 0:
                    self._choose(system)
                self._add(system, self.turns.run(system, turn, self.jobs[system]))
        for system in self.systems:
            row, motion = self.rows[system], self._reference(system, self.options.reference_steps)
            row["distance"] = self.turns.run(system, 0, self.jobs[system]).distance(motion)
            if self.options.check_reference:
                row["reference_error"] = distance_between(
                    motion, self._reference(system, self.options.reference_steps // 2))
            print(row_line(row), flush=True)
            self.write_results()

    def _add(self, system: str, run: Run) -> None:
        """Add a run to the row of its system: all figures of the first run, and the times of every run."""
        measured = run.measures()
        row = self.rows.setdefault(system, {
            **measured, "system": system, "scene": self.scene, "size": self.size, "frames": self.options.frames,
            "fabric": run.job.fabric, "options": run.job.options, "distance": None, "reference_error": None,
            "turns": {key: [] for key in ("ms_median", "ms_worst", "cpu_ms", "others")}})
        for key, values in row["turns"].items():
            values.append(measured[key])
            row[key] = None if values[-1] is None else float(np.median(values))
        print(row_line(row), flush=True)
        self.write_results()

    def _choose(self, system: str) -> None:
        """Set the job of a system. If it may not stretch more than another row, search its stiffness or substeps."""
        job = self._job(system, start_fabric(fabric_of(system), self.scene, self.size))
        against = reference_row(system)
        if against is None:
            self.jobs[system] = job
            return
        target, node = self.rows[against]["p99_worst"], kind_of(system) == "node"
        what, variant = ("substeps", with_substeps) if node else (f"stiffness-{against}", stiffer)
        key = replace(job, options={})                           # without the backend, so that NumPy starts at Numba's
        before = self.store.stored_value(what, key)

        def p99_at(value: float) -> float:
            self.store.keep(what, key, value)                    # an interrupted search continues here
            return float(self.turns.run(system, 0, variant(job, value)).measures()["p99_worst"])

        found = substeps(p99_at, target, None if before is None else round(before)) if node else \
            stiffness_factor(p99_at, target, before or 1.0, self._coarse(job))
        self.store.keep(what, key, found.value)
        self.jobs[system] = variant(job, found.value)
        self._print_found(system, what, found, target)

    def _print_found(self, system: str, what: str, found: Found, target: float) -> None:
        if found.tries == 1 and found.enough:
            return
        unit = "substeps" if what == "substeps" else "times the stiffness"
        print(f"    {self.scene} {self.size} {system}: {found.value:.3g} {unit}, p99 {found.p99:.2%} "
              f"{'for' if found.enough else 'is NOT yet at most'} {target:.2%}, {found.tries} tries", flush=True)

    def _coarse(self, job: Job) -> Callable[[float], float] | None:
        """Return the function stiffness factor -> p99 on a coarse mesh, None if this mesh is coarse."""
        if self.size <= COARSEST:
            return None
        coarse = replace(job, size=max(COARSEST, self.size // COARSENING))
        return lambda value: float(stiffer(coarse, value).run().measures()["p99_worst"])

    def _job(self, system: str, fabric: core.Material) -> Job:
        """Return the job of a system with a fabric."""
        kind, given = kind_of(system), self.options
        job = Job(kind, self.scene, self.size, given.frames, asdict(fabric), {})
        if kind == "modifier":
            return replace(job, options={"tuned": fabric_of(system) != "factory"})
        if kind == "node":
            return job
        solver = {"steps_per_frame": given.steps, "integrator": given.integrator, "tolerance": given.tolerance,
                  "self_collision": scene_layout(self.scene, self.size).self_collision}
        backend = "numpy" if kind == "numpy" else given.backend
        return replace(job, kind="muslin", options=solver if backend is None else {**solver, "backend": backend})

    def _reference(self, system: str, steps: int) -> Any:
        """Return the reference motion (F, V, 3) [m] of the system's fabric with `steps` steps per frame."""
        fabric = core.Material(**self.jobs[system].fabric)
        return self.store.reference(self.scene, self.size, self.options.frames, fabric, steps)


def stiffer(job: Job, factor: float) -> Job:
    """Return the job with the stretch and shear stiffness of its fabric times `factor`."""
    stretch = [k * factor for k in job.fabric["stretch"]]
    return replace(job, fabric={**job.fabric, "stretch": stretch, "shear": job.fabric["shear"] * factor})


def with_substeps(job: Job, count: float) -> Job:
    """Return the job of the Cloth Dynamics node with `count` substeps."""
    return replace(job, options={"substeps": round(count)})


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=[s for s in SCENES if s != "drape"], choices=SCENES)
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 100, 200], help="vertices along a side")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, help="default: all but modifier-cotton; the systems "
                        "they are compared with run, too")
    parser.add_argument("--repeats", type=int, default=3, help="number of turns")
    parser.add_argument("--backend", help="backend of Muslin's rows: numpy or numba; default: the fastest")
    parser.add_argument("--integrator", default="bdf2", help="Muslin's integrator; the default is Blender's panel's")
    parser.add_argument("--tolerance", type=float, default=1e-2, help="Muslin's tolerance; the default is the panel's")
    parser.add_argument("--steps", type=int, default=1, help="Muslin's steps per frame; the default is the panel's")
    parser.add_argument("--reference-steps", type=int, default=16, help="steps per frame of the references")
    parser.add_argument("--check-reference", action="store_true", help="compare the references with half the steps")
    parser.add_argument("--resume", action="store_true", help="reuse the runs of the same sources in --out")
    parser.add_argument("--fresh", action="store_true", help="ignore stored settings and references")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> None:
    """Run all systems in turns, and write the results after every run."""
    options = arguments(given)
    options.out.mkdir(parents=True, exist_ok=True)
    store = ResultStore(ROOT / "build" / "benchmarks" / "kept", options.fresh)
    turns = TurnStore(options.out / "turns", options.resume)
    machine = {"cores": str(os.cpu_count()), "system": platform.platform(), "python": sys.version.split()[0],
               "numpy": np.__version__}
    scenes: list[SceneRows] = []

    def write_results() -> None:
        rows = [row for scene_rows in scenes for row in scene_rows.rows.values()]
        write(options.out, rows, machine, options.reference_steps)
        draw(rows, options.out / "results.svg")

    for scene in options.scenes:
        if scene in LACKS_IN_NODE and "node" in (options.systems or SYSTEMS):
            print(f"    {scene}: without the node, which has no {LACKS_IN_NODE[scene]}")
        for size in options.sizes:
            scenes.append(SceneRows(scene, size, options, store, turns, write_results))
            scenes[-1].run()
    print((options.out / "results.md").read_text(encoding="utf-8"))
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
