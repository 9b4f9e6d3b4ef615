# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin beside Blender's own cloth, in one session on one bpy, each run in a process of its own.

    /path/to/python-with-bpy benchmarks/against_blender.py --scenes hang --sizes 50 100 --repeats 3

Systems (--systems):
    modifier-factory  Blender's Cloth modifier, nothing set but pins, collider, wind
    modifier-tuned    as an informed user sets it for a soft sheet of 0.3 kg/m^2, see blender_units
    modifier-cotton   the same for the cotton preset
    node              the Cloth Dynamics node of Blender 5.2 with the substeps that reach modifier-tuned's stretch
    muslin-factory, muslin-tuned   a fabric of the same areal mass whose p99 stretch is at most that row's
    muslin-cotton     the measured preset

A row's distance is from the converged motion of its own fabric; a Blender row's fabric is that of the Muslin row of the
same name. Runs take turns, `--repeats` times; ratios are medians over the turns. See `prepared` for what is searched
and kept on disk before. Everything is written to --out: results.json, results.md, results.png.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:                                              # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import core
from benchmarks.blender_units import factory_fabric
from benchmarks.chart import draw
from benchmarks.prepared import Prepared, as_job, distance_between
from benchmarks.report import write
from benchmarks.scenes import SCENES, setting
from benchmarks.worker import ROOT, Job, Run

AIR_DRAG = 0.7
"""Of the soft sheets in the wind [kg/(m^2 s)], as the presets have it."""
SOFT = core.Material(areal_density=0.3, stretch=1000.0, shear=200.0, bend=1e-5, damping=0.0, friction=0.35,
                     viscous_drag=0.05, name="soft")
SYSTEMS = ("modifier-factory", "muslin-factory", "modifier-tuned", "muslin-tuned", "node", "modifier-cotton",
           "muslin-cotton")
USUAL = tuple(name for name in SYSTEMS if name != "modifier-cotton")
TWIN = {"node": "tuned"}
NOT_FOR_NODE = {"flag": "wind", "drape": "self-collision"}


@dataclass(frozen=True)
class Plan:
    """A row that is going to be timed: its job, and the reference it is held against."""

    system: str
    job: Job
    reference: Any


def start_fabric(name: str, scene: str, size: int) -> core.Material:
    """What the Blender row of this name stands for in SI."""
    wind = AIR_DRAG if scene == "flag" else 0.0
    if name == "factory":
        return factory_fabric(setting(scene, size), wind)
    return core.Material.preset("cotton") if name == "cotton" else replace(SOFT, air_drag=wind)


def plans(scene: str, size: int, systems: Sequence[str], known: Prepared, options: argparse.Namespace) -> list[Plan]:
    """Rows of one scene at one size, with all that must be searched for them."""
    frames = known.frames
    settings: dict[str, Any] = {} if options.backend is None else {"backend": options.backend}
    settings.update(steps_per_frame=options.steps, integrator=options.integrator, tolerance=options.tolerance,
                    self_collision=setting(scene, size).self_collision)
    names = {system.partition("-")[2] or TWIN[system] for system in systems}
    fabrics, given, motions, own = {}, {}, {}, {}
    for name in sorted(names):
        given[name] = start_fabric(name, scene, size)
        blender = Job("modifier", scene, size, frames, as_job(given[name]), {"tuned": name != "factory"})
        fabrics[name] = given[name]
        if name != "cotton":
            job = Job("muslin", scene, size, frames, as_job(given[name]), settings)
            fabrics[name] = known.fabric(known.stretch(blender), given[name], job)
        motions[name] = known.reference(scene, size, fabrics[name], options.reference_steps, 1e-6)
        if options.check_reference:
            coarser = known.reference(scene, size, fabrics[name], options.reference_steps // 2, 1e-6)
            own[name] = distance_between(coarser, motions[name])
            print(f"    {scene} {size} {name}: reference moves by {1e3 * own[name]:.1f} mm when its steps double")
    rows = []
    for system in systems:
        kind, _, name = system.partition("-")
        name = name or TWIN[system]
        job = Job(kind, scene, size, frames, as_job(fabrics[name] if kind == "muslin" else given[name]), settings)
        if kind == "modifier":
            job = replace(job, options={"tuned": name != "factory"})
        elif kind == "node":
            target = known.stretch(Job("modifier", scene, size, frames, as_job(given[name]), {"tuned": True}))
            job = replace(job, options={"substeps": known.substeps(target, replace(job, options={}))})
        rows.append(Plan(system, job, {"motion": motions[name], "own_error": own.get(name)}))
    return rows


def record(plan: Plan, runs: Sequence[Run]) -> dict[str, Any]:
    """A row's numbers: of its first run, and times of all of them."""
    measured = [run.measures() for run in runs]
    times = [m["ms_median"] for m in measured]
    return {**measured[0], "system": plan.system, "scene": plan.job.scene, "size": plan.job.size,
            "frames": plan.job.frames, "fabric": plan.job.fabric, "options": plan.job.options, "ms_turns": times,
            "ms_median": float(np.median(times)), "ms_worst": float(np.median([m["ms_worst"] for m in measured])),
            "distance": runs[0].distance(plan.reference["motion"]), "reference_error": plan.reference["own_error"]}


def main() -> None:
    """Prepare, run in turns, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=SCENES)
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 100, 200], help="vertices along a side")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--systems", nargs="+", default=list(USUAL), choices=SYSTEMS)
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    parser.add_argument("--backend", help="of Muslin: numpy or numba, the best there is if not given")
    parser.add_argument("--integrator", default="bdf2", help="Muslin's integrator; the default is Blender's panel's")
    parser.add_argument("--tolerance", type=float, default=1e-2, help="Muslin's tolerance; the default is the panel's")
    parser.add_argument("--steps", type=int, default=1, help="Muslin's steps per frame; the default is the panel's")
    parser.add_argument("--reference-steps", type=int, default=16, help="steps per frame of the references")
    parser.add_argument("--check-reference", action="store_true", help="compare references with half as many steps")
    parser.add_argument("--fresh", action="store_true", help="search again what is kept on disk")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks")
    options = parser.parse_args()
    known = Prepared(ROOT / "build" / "benchmarks" / "kept", options.frames, options.fresh)
    rows = []
    for scene in options.scenes:
        for size in options.sizes:
            if scene in NOT_FOR_NODE and "node" in options.systems:
                print(f"    {scene}: left out for the node, which has no {NOT_FOR_NODE[scene]}")
            systems = [s for s in options.systems if not (scene in NOT_FOR_NODE and s == "node")]
            todo = plans(scene, size, systems, known, options)
            turns: dict[str, list[Run]] = {plan.system: [] for plan in todo}
            for _ in range(options.repeats):
                for plan in todo:
                    turns[plan.system].append(plan.job.run())
            for plan in todo:
                rows.append(record(plan, turns[plan.system]))
                row = rows[-1]
                print(f"{scene} {size} {plan.system:16} {row['ms_median']:8.1f} ms  p99 {row['p99_worst']:.2%}  "
                      f"distance {1e3 * row['distance']:.0f} mm  {row['iterations']:.0f} iterations", flush=True)
            machine = {"cores": str(os.cpu_count()), "system": platform.platform(), "python": sys.version.split()[0],
                       "numpy": np.__version__}
            write(options.out, rows, machine, options.reference_steps)    # after every scene: a long run may be stopped
    try:
        draw(rows, options.out / "results.png")
    except ImportError:
        print("no chart: matplotlib is not installed")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
