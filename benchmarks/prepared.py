# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be known before systems can be compared, found once and kept in build/benchmarks:

    stretch       p99 of Blender's rows, worst over the frames: what Muslin's fabric must not exceed
    fabric        the stiffness at which Muslin's p99 is that of the Blender row, or up to 15 % less
    substeps      of the Cloth Dynamics node: the first of 5, 10, 20, ... at which its p99 is at most modifier-tuned's
    reference     the motion of a fabric with many small steps of bdf2 and a tight tolerance, on the same mesh

The rule for the fabric: start from the stiffness that Blender's settings stand for in SI; as long as p99 is not in
the range, multiply stretch and shear by p99 over its middle (stretch goes roughly with load over stiffness).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import core
from benchmarks.scenes import setting
from benchmarks.worker import Job
from core.arrays import FloatArray

LEAST, AIM = 0.85, 0.94
"""Of Blender's p99: the range's lower end, and what the search aims at."""
MOST_TRIES = 6
SUBSTEPS = (5, 10, 20, 40, 80)


class Prepared:
    """Finds and keeps."""

    def __init__(self, folder: Path, frames: int, fresh: bool = False, say: Callable[[str], None] = print) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.frames, self.fresh, self.say = folder, frames, fresh, say
        self._made: set[Path] = set()

    def stretch(self, job: Job) -> float:
        """p99 of a row, worst over the frames [-]."""
        return self._kept("stretch", job, lambda: {"p99": job.run().measures()["p99_worst"]})["p99"]

    def fabric(self, target: float, start: core.Material, job: Job) -> core.Material:
        """`start` with the stiffness at which p99 of Muslin's row is at most `target`, and not much below."""
        found = self._kept("fabric", job, lambda: self._search(target, start, job), round(target, 5))
        self.say(f"    {job.scene} {job.size}: {start.name} {found['stretch'][0]:.0f} N/m, p99 {found['p99']:.2%} "
                 f"for {target:.2%}, {found['tries']} tries")
        return replace(start, stretch=tuple(found["stretch"]), shear=found["shear"])

    def _search(self, target: float, start: core.Material, job: Job) -> dict[str, Any]:
        fabric, best = start, None
        for tries in range(1, MOST_TRIES + 1):
            p99 = replace(job, fabric=as_job(fabric)).run().measures()["p99_worst"]
            found = {"stretch": fabric.stretch, "shear": fabric.shear, "p99": p99, "tries": tries}
            if p99 <= target and (best is None or fabric.stretch[0] < best["stretch"][0]):
                best = found
            if LEAST * target <= p99 <= target:
                break
            factor = float(np.clip(p99 / (AIM * target), 0.2, 5.0))
            fabric = replace(fabric, stretch=tuple(k * factor for k in fabric.stretch), shear=fabric.shear * factor)
        return {**(best or found), "tries": tries}

    def substeps(self, target: float, job: Job) -> int:
        """Substeps of the node at which its p99 is at most `target`, or the most that are tried."""
        def look() -> dict[str, Any]:
            for count in SUBSTEPS:
                p99 = replace(job, options={"substeps": count}).run().measures()["p99_worst"]
                if p99 <= target:
                    break
            return {"substeps": count, "p99": p99}

        found = self._kept("substeps", job, look, round(target, 5))
        self.say(f"    {job.scene} {job.size}: node {found['substeps']} substeps, p99 {found['p99']:.2%} "
                 f"for {target:.2%}")
        return int(found["substeps"])

    def reference(self, scene: str, size: int, fabric: core.Material, steps: int, tolerance: float) -> FloatArray:
        """Motion (F, V, 3) [m] with `steps` steps per frame."""
        options = {"integrator": "bdf2", "steps_per_frame": steps, "tolerance": tolerance,
                   "max_linear_iterations": 20000, "self_collision": setting(scene, size).self_collision}
        job = Job("muslin", scene, size, self.frames, as_job(fabric), options)
        path = self.folder / f"reference-{_digest(asdict(job))}.npz"
        if not self._is_there(path):
            self.say(f"    {scene} {size}: reference of {fabric.name} with {steps} steps per frame ...")
            run = job.run()
            self._made.add(path)
            np.savez(path, x=run.x, job=json.dumps(asdict(job)), converged=run.notes["converged"])
        with np.load(path) as kept:
            return kept["x"].astype(float)

    def _is_there(self, path: Path) -> bool:
        return path.exists() and (not self.fresh or path in self._made)

    def _kept(self, what: str, job: Job, make: Callable[[], dict[str, Any]], *more: Any) -> dict[str, Any]:
        path = self.folder / f"{what}-{_digest([asdict(job), *more])}.json"
        if not self._is_there(path):
            self._made.add(path)
            path.write_text(json.dumps({**make(), "job": asdict(job)}), encoding="utf-8")
        return json.loads(path.read_text(encoding="utf-8"))


def as_job(fabric: core.Material) -> dict[str, Any]:
    """The fabric's constants for a job."""
    return asdict(fabric)


def distance_between(one: FloatArray, other: FloatArray) -> float:
    """Root mean square distance of two motions (F, V, 3) [m]."""
    return float(np.sqrt(np.mean(np.sum((one - other) ** 2, axis=-1))))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


