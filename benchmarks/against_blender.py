# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin beside Blender's own cloth, in one session on one bpy, each run in a process of its own.

    /path/to/python-with-bpy benchmarks/against_blender.py --scenes hang --sizes 50 100 --repeats 3
    ... --resume        goes on after what a run that was stopped has left
    ... --scenes drape --sizes 100 129        with self-collision, which the node has not

Which systems there are, and which fabric each gets, is said in `systems`. In the first turn a Muslin row that
stretches more than the Blender row of its name gets another stiffness, and the node more substeps, until neither
does (`stretch_search`); where the last comparison's choice still does, nothing is searched. The runs of all systems
take turns, `--repeats` times; ratios are medians over the turns. A row's distance is from the converged motion of its
own fabric. After every run everything is written to --out: results.json, results.md, results.svg, the runs in turns/.
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
from benchmarks.kept import Kept, Turns, distance_between
from benchmarks.report import row_line, write
from benchmarks.scenes import SCENES, setting
from benchmarks.stretch_search import Found, stiffness_factor, substeps
from benchmarks.systems import LACKS_IN_NODE, SYSTEMS, cast, fabric_of, held_against, kind_of, start_fabric
from benchmarks.worker import ROOT, Job, Run

Row = dict[str, Any]
COARSER, COARSEST = 3, 20
"""A search asks a mesh of a third of the vertices a side, of no fewer than these, how stretch goes with stiffness."""


class Place:
    """One scene at one size: its rows, as they come."""

    def __init__(self, scene: str, size: int, options: argparse.Namespace, kept: Kept, turns: Turns,
                 write_down: Callable[[], None]) -> None:
        self.scene, self.size, self.options, self.kept, self.turns = scene, size, options, kept, turns
        self.write_down = write_down
        self.systems = cast(options.systems, scene, size)
        self.jobs: dict[str, Job] = {}
        self.rows: dict[str, Row] = {}

    def run(self) -> None:
        """All turns, then the distances."""
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
            self.write_down()

    def _add(self, system: str, run: Run) -> None:
        """A turn's numbers to the row: of its first run, and times of all of them."""
        measured = run.measures()
        row = self.rows.setdefault(system, {
            **measured, "system": system, "scene": self.scene, "size": self.size, "frames": self.options.frames,
            "fabric": run.job.fabric, "options": run.job.options, "distance": None, "reference_error": None,
            "turns": {key: [] for key in ("ms_median", "ms_worst", "cpu_ms", "others")}})
        for key, values in row["turns"].items():
            values.append(measured[key])
            row[key] = None if values[-1] is None else float(np.median(values))
        print(row_line(row), flush=True)
        self.write_down()

    def _choose(self, system: str) -> None:
        """The job of a system; where it may not stretch more than another row, found by trying."""
        job = self._job(system, start_fabric(fabric_of(system), self.scene, self.size))
        against = held_against(system)
        if against is None:
            self.jobs[system] = job
            return
        target, node = self.rows[against]["p99_worst"], kind_of(system) == "node"
        what, variant = ("substeps", with_substeps) if node else (f"stiffness-{against}", stiffer)
        kept_as = replace(job, options={})                       # NumPy alone starts where Numba ended
        before = self.kept.setting(what, kept_as)

        def tried(value: float) -> float:
            self.kept.keep(what, kept_as, value)                 # a search that is stopped goes on from here
            return float(self.turns.run(system, 0, variant(job, value)).measures()["p99_worst"])

        found = substeps(tried, target, None if before is None else round(before)) if node else \
            stiffness_factor(tried, target, before or 1.0, self._coarse(job))
        self.kept.keep(what, kept_as, found.value)
        self.jobs[system] = variant(job, found.value)
        self._say_found(system, what, found, target)

    def _say_found(self, system: str, what: str, found: Found, target: float) -> None:
        if found.tries == 1 and found.enough:
            return
        often = "substeps" if what == "substeps" else "times the stiffness"
        print(f"    {self.scene} {self.size} {system}: {found.value:.3g} {often}, p99 {found.p99:.2%} "
              f"{'for' if found.enough else 'is NOT yet at most'} {target:.2%}, {found.tries} tries", flush=True)

    def _coarse(self, job: Job) -> Callable[[float], float] | None:
        """p99 at a factor on a coarse mesh; None where this one is."""
        if self.size <= COARSEST:
            return None
        coarse = replace(job, size=max(COARSEST, self.size // COARSER))
        return lambda value: float(stiffer(coarse, value).run().measures()["p99_worst"])

    def _job(self, system: str, fabric: core.Material) -> Job:
        kind, given = kind_of(system), self.options
        job = Job(kind, self.scene, self.size, given.frames, asdict(fabric), {})
        if kind == "modifier":
            return replace(job, options={"tuned": fabric_of(system) != "factory"})
        if kind == "node":
            return job
        solver = {"steps_per_frame": given.steps, "integrator": given.integrator, "tolerance": given.tolerance,
                  "self_collision": setting(self.scene, self.size).self_collision}
        backend = "numpy" if kind == "numpy" else given.backend
        return replace(job, kind="muslin", options=solver if backend is None else {**solver, "backend": backend})

    def _reference(self, system: str, steps: int) -> Any:
        fabric = core.Material(**self.jobs[system].fabric)
        return self.kept.reference(self.scene, self.size, self.options.frames, fabric, steps)


def stiffer(job: Job, factor: float) -> Job:
    """With stretch and shear of its fabric times `factor`."""
    stretch = [k * factor for k in job.fabric["stretch"]]
    return replace(job, fabric={**job.fabric, "stretch": stretch, "shear": job.fabric["shear"] * factor})


def with_substeps(job: Job, count: float) -> Job:
    """Of the Cloth Dynamics node."""
    return replace(job, options={"substeps": round(count)})


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=[s for s in SCENES if s != "drape"], choices=SCENES)
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 100, 200], help="vertices along a side")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, help="default: all but modifier-cotton; what these "
                        "are held against is run, too")
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    parser.add_argument("--backend", help="of Muslin's rows: numpy or numba, the best there is if not given")
    parser.add_argument("--integrator", default="bdf2", help="Muslin's integrator; the default is Blender's panel's")
    parser.add_argument("--tolerance", type=float, default=1e-2, help="Muslin's tolerance; the default is the panel's")
    parser.add_argument("--steps", type=int, default=1, help="Muslin's steps per frame; the default is the panel's")
    parser.add_argument("--reference-steps", type=int, default=16, help="steps per frame of the references")
    parser.add_argument("--check-reference", action="store_true", help="compare references with half as many steps")
    parser.add_argument("--resume", action="store_true", help="keep the runs of the same sources that are in --out")
    parser.add_argument("--fresh", action="store_true", help="search and make again what is kept of earlier sessions")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> None:
    """Run in turns, and write what there is after every run."""
    options = arguments(given)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = Kept(ROOT / "build" / "benchmarks" / "kept", options.fresh)
    turns = Turns(options.out / "turns", options.resume)
    machine = {"cores": str(os.cpu_count()), "system": platform.platform(), "python": sys.version.split()[0],
               "numpy": np.__version__}
    places: list[Place] = []

    def write_down() -> None:
        rows = [row for place in places for row in place.rows.values()]
        write(options.out, rows, machine, options.reference_steps)
        draw(rows, options.out / "results.svg")

    for scene in options.scenes:
        if scene in LACKS_IN_NODE and "node" in (options.systems or SYSTEMS):
            print(f"    {scene}: without the node, which has no {LACKS_IN_NODE[scene]}")
        for size in options.sizes:
            places.append(Place(scene, size, options, kept, turns, write_down))
            places[-1].run()
    print((options.out / "results.md").read_text(encoding="utf-8"))
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
