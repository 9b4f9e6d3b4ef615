# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept on disk between runs of the comparison, and what makes a run go on where one was killed.

    settings    the factor on a fabric's stiffness and the node's substeps that did last time: where the next
                search begins. Each is tried in the comparison itself, so an old one costs a search and no truth
    reference   the motion of a fabric with many small steps of bdf2 and a tight tolerance, on the same mesh
    turns       every run of a comparison, written when it ends; one of the same job and the same sources
                need not be run again (`--resume`)
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np

import core
from benchmarks.scenes import setting
from benchmarks.worker import ROOT, Job, Run
from core.arrays import FloatArray

MOTION = ("core", "presets")
"""What a motion depends on."""
TIMES = ("core", "presets", "benchmarks")


class Kept:
    """Settings and references, in `folder`."""

    def __init__(self, folder: Path, fresh: bool = False, say: Callable[[str], None] = print) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.fresh, self.say = folder, fresh, say
        self._made: set[Path] = set()

    def setting(self, what: str, job: Job) -> float | None:
        """The number kept for this job as it is without it."""
        path = self._path(what, job, "json")
        return float(json.loads(path.read_text(encoding="utf-8"))["value"]) if self._is_there(path) else None

    def keep(self, what: str, job: Job, value: float) -> None:
        """For the next run."""
        path = self._path(what, job, "json")
        _write(path, json.dumps({"value": value, "job": asdict(job)}).encode())
        self._made.add(path)

    def reference(self, scene: str, size: int, frames: int, fabric: core.Material, steps: int) -> FloatArray:
        """Motion (F, V, 3) [m] with `steps` steps per frame."""
        options = {"integrator": "bdf2", "steps_per_frame": steps, "tolerance": 1e-6,
                   "max_linear_iterations": 20000, "self_collision": setting(scene, size).self_collision}
        job = Job("muslin", scene, size, frames, asdict(fabric), options)
        path = self._path("reference", job, "npz")
        if not self._is_there(path):
            self.say(f"    {scene} {size}: reference of {fabric.name} with {steps} steps per frame ...")
            run = job.run()
            if not run.notes["converged"]:
                self.say(f"    {scene} {size}: the reference of {fabric.name} did not reach its tolerance everywhere")
            save(path, run, sources(*MOTION))
            self._made.add(path)
        with np.load(path) as there:
            if str(there.get("sources", "")) != sources(*MOTION):
                self.say(f"    {scene} {size}: the reference of {fabric.name} is an earlier version's; --fresh makes "
                         "it again")
            return there["x"].astype(float)

    def _path(self, what: str, job: Job, ending: str) -> Path:
        text = json.dumps(asdict(job), sort_keys=True)
        return self.folder / f"{what}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}"

    def _is_there(self, path: Path) -> bool:
        return path.exists() and (not self.fresh or path in self._made)


class Turns:
    """The runs of a comparison, in `folder`; `resume`: those that are there count."""

    def __init__(self, folder: Path, resume: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.resume = folder, resume
        self._made: set[Path] = set()

    def run(self, system: str, turn: int, job: Job) -> Run:
        """The job's run, from the disk if it is there."""
        path = self._path(system, turn, job)
        there = self._load(path, job) if self.resume or path in self._made else None
        if there is None:
            there = job.run()
            save(path, there, sources(*TIMES))
        self._made.add(path)
        return there

    def _path(self, system: str, turn: int, job: Job) -> Path:
        return self.folder / f"{job.scene}-{job.size}-{system}-{turn}.npz"

    def _load(self, path: Path, job: Job) -> Run | None:
        if not path.exists():
            return None
        with np.load(path) as there:
            same = str(there["sources"]) == sources(*TIMES) and str(there["job"]) == _text(job)
            return Run(job, there["x"], there["ms"], there["iterations"], json.loads(str(there["notes"]))) \
                if same else None


def save(path: Path, run: Run, version: str) -> None:
    """Whole or not at all."""
    half = path.with_suffix(".half")
    with half.open("wb") as file:
        np.savez(file, x=run.x, ms=run.ms, iterations=run.iterations, notes=json.dumps(run.notes),
                 job=_text(run.job), sources=version)
    os.replace(half, path)


@cache
def sources(*folders: str) -> str:
    """A digest of what a run's result depends on here, in these folders of the project."""
    files = sorted(f for folder in folders for f in (ROOT / folder).rglob("*") if f.suffix in (".py", ".toml"))
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:16]


def distance_between(one: FloatArray, other: FloatArray) -> float:
    """Root mean square distance of two motions (F, V, 3) [m]."""
    return float(np.sqrt(np.mean(np.sum((one - other) ** 2, axis=-1))))


def _write(path: Path, data: bytes) -> None:
    half = path.with_suffix(".half")
    half.write_bytes(data)
    os.replace(half, path)


def _text(job: Job) -> str:
    return json.dumps(asdict(job), sort_keys=True)
