# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of the comparison with Blender that are stored on disk, for later comparisons and to resume one.

    settings    stiffness factors and substeps that the last comparison has found: the start of the next search.
                The comparison runs with them, so that an outdated one costs time but changes no result
    reference   the converged motion of a fabric: many steps of bdf2 and a tight tolerance, on the same mesh
    turns       every run of a comparison, written when it ends. A run of the same job and the same sources is
                not repeated (`--resume`)
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
from benchmarks.scenes import scene_layout
from benchmarks.worker import ROOT, Job, Run
from core.arrays import FloatArray

MOTION_SOURCES = ("core", "presets")
TIME_SOURCES = ("core", "presets", "benchmarks")
"""Folders whose files a motion, and the time of a run, depends on."""


class ResultStore:
    """Settings and references in `folder`. With `fresh`, those of earlier processes are ignored."""

    def __init__(self, folder: Path, fresh: bool = False, log: Callable[[str], None] = print) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.fresh, self.log = folder, fresh, log
        self._written: set[Path] = set()

    def stored_value(self, what: str, job: Job) -> float | None:
        """Return the number `what` that is stored for a job, None if there is none."""
        path = self._path(what, job, "json")
        return float(json.loads(path.read_text(encoding="utf-8"))["value"]) if self._is_there(path) else None

    def keep(self, what: str, job: Job, value: float) -> None:
        """Store the number `what` for a job."""
        path = self._path(what, job, "json")
        _write(path, json.dumps({"value": value, "job": asdict(job)}).encode())
        self._written.add(path)

    def reference(self, scene: str, size: int, frames: int, fabric: core.Material, steps: int) -> FloatArray:
        """Return the motion (F, V, 3) [m] with `steps` steps per frame; simulate it if it is not stored."""
        options = {"integrator": "bdf2", "steps_per_frame": steps, "tolerance": 1e-6,
                   "max_linear_iterations": 20000, "self_collision": scene_layout(scene, size).self_collision}
        job = Job("muslin", scene, size, frames, asdict(fabric), options)
        path = self._path("reference", job, "npz")
        if not self._is_there(path):
            self.log(f"    {scene} {size}: reference of {fabric.name} with {steps} steps per frame ...")
            run = job.run()
            if not run.notes["converged"]:
                self.log(f"    {scene} {size}: the reference of {fabric.name} did not reach its tolerance everywhere")
            save(path, run, sources(*MOTION_SOURCES))
            self._written.add(path)
        with np.load(path) as stored:
            if str(stored.get("sources", "")) != sources(*MOTION_SOURCES):
                self.log(f"    {scene} {size}: the reference of {fabric.name} is of an earlier version; --fresh "
                         "simulates it again")
            return stored["x"].astype(float)

    def _path(self, what: str, job: Job, ending: str) -> Path:
        text = json.dumps(asdict(job), sort_keys=True)
        return self.folder / f"{what}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}"

    def _is_there(self, path: Path) -> bool:
        return path.exists() and (not self.fresh or path in self._written)


class TurnStore:
    """The runs of a comparison in `folder`. With `resume`, those of an earlier process are used."""

    def __init__(self, folder: Path, resume: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.resume = folder, resume
        self._written: set[Path] = set()

    def run(self, system: str, turn: int, job: Job) -> Run:
        """Return the stored run of a job; run it if it is not stored."""
        path = self._path(system, turn, job)
        run = self._load(path, job) if self.resume or path in self._written else None
        if run is None:
            run = job.run()
            save(path, run, sources(*TIME_SOURCES))
        self._written.add(path)
        return run

    def _path(self, system: str, turn: int, job: Job) -> Path:
        return self.folder / f"{job.scene}-{job.size}-{system}-{turn}.npz"

    def _load(self, path: Path, job: Job) -> Run | None:
        """Return the run in a file, None if it is of another job or of other sources."""
        if not path.exists():
            return None
        with np.load(path) as stored:
            same = str(stored["sources"]) == sources(*TIME_SOURCES) and str(stored["job"]) == _text(job)
            return Run(job, stored["x"], stored["ms"], stored["iterations"], json.loads(str(stored["notes"]))) \
                if same else None


def save(path: Path, run: Run, version: str) -> None:
    """Write a run with the digest of the sources, completely or not at all."""
    partial = path.with_suffix(".half")
    with partial.open("wb") as file:
        np.savez(file, x=run.x, ms=run.ms, iterations=run.iterations, notes=json.dumps(run.notes),
                 job=_text(run.job), sources=version)
    os.replace(partial, path)


@cache
def sources(*folders: str) -> str:
    """Return a digest of all .py and .toml files in these folders of the project."""
    files = sorted(f for folder in folders for f in (ROOT / folder).rglob("*") if f.suffix in (".py", ".toml"))
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:16]


def distance_between(one: FloatArray, other: FloatArray) -> float:
    """Return the root mean square distance of two motions (F, V, 3) [m]."""
    return float(np.sqrt(np.mean(np.sum((one - other) ** 2, axis=-1))))


def _write(path: Path, data: bytes) -> None:
    partial = path.with_suffix(".half")
    partial.write_bytes(data)
    os.replace(partial, path)


def _text(job: Job) -> str:
    return json.dumps(asdict(job), sort_keys=True)
