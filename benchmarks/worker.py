# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulation in a process of its own, so that its memory can be told from the others'.

    python -m benchmarks.worker job.json result.npz
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import core
from benchmarks.scenes import lengths, setting
from core.arrays import FloatArray

ROOT = Path(__file__).resolve().parent.parent
FIRST = 2
"""Frames are timed from this one on: the first is the initial state."""


@dataclass(frozen=True)
class Job:
    """What to simulate: kind is "muslin", "modifier" or "node"; options are the solver's, {"tuned": bool} or
    {"substeps": int}."""

    kind: str
    scene: str
    size: int
    frames: int
    fabric: dict[str, Any]
    options: dict[str, Any]

    def run(self, python: str = sys.executable) -> Run:
        """Simulate in a new process."""
        with tempfile.TemporaryDirectory() as folder:
            order, result = Path(folder, "job.json"), Path(folder, "result.npz")
            order.write_text(json.dumps(asdict(self)), encoding="utf-8")
            done = subprocess.run([python, "-m", "benchmarks.worker", str(order), str(result)], cwd=ROOT,
                                  capture_output=True, text=True, check=False)
            if not result.exists():
                raise RuntimeError(f"{self.kind} on {self.scene} {self.size} failed:\n{done.stderr[-3000:]}")
            with np.load(result) as got:
                return Run(self, got["x"], got["ms"], got["iterations"], json.loads(str(got["notes"])))


@dataclass(frozen=True)
class Run:
    """What came of it: x (F, V, 3) [m], ms (F,), iterations (F,), notes (memory_mb, growth_mb, compile_s, others, ...).

    `others`: how many of the machine's cores other programs had while it ran; None where the system does not tell.
    """

    job: Job
    x: FloatArray
    ms: FloatArray
    iterations: FloatArray
    notes: dict[str, Any]

    def stretch(self) -> tuple[FloatArray, FloatArray]:
        """Per frame 99th percentile and maximum of the edges' stretch, length over rest length less 1 [-]."""
        place = setting(self.job.scene, self.job.size)
        edges = place.edges
        rest = lengths(place.positions, edges)
        ratios = [lengths(x.astype(float), edges) / rest - 1.0 for x in self.x]
        return np.array([np.percentile(r, 99.0) for r in ratios]), np.array([r.max() for r in ratios])

    def measures(self) -> dict[str, Any]:
        """The row's numbers, without those that need a reference."""
        p99, most = self.stretch()
        timed = self.ms[FIRST - 1:]
        return {"ms_median": float(np.median(timed)), "ms_worst": float(timed.max()), "ms_first": float(self.ms[0]),
                "p99_worst": float(p99.max()), "p99_settled": float(np.median(p99[-max(1, len(p99) // 4):])),
                "stretch_max": float(most.max()), "iterations": float(np.mean(self.iterations[FIRST - 1:])),
                **self.notes}

    def distance(self, reference: FloatArray) -> float:
        """Root mean square over frames and vertices of the distance from a reference motion [m]."""
        apart = self.x.astype(float) - reference
        return float(np.sqrt(np.mean(np.sum(apart * apart, axis=-1))))


def _frames(job: Job, notes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    place, fabric = setting(job.scene, job.size), core.Material(**job.fabric)
    if job.kind == "muslin":
        from benchmarks.muslin_cloth import compile_kernels, muslin_frames

        solver = core.Solver(**job.options)
        notes["compile_s"] = compile_kernels(solver)
        notes["before_mb"] = _memory_before()
        return muslin_frames(place, fabric, solver, job.frames)
    from benchmarks import blender_cloth

    notes["before_mb"] = _memory_before()
    notes["version"] = blender_cloth.bpy.app.version_string
    if job.kind == "modifier":
        return blender_cloth.modifier_frames(place, fabric, job.options["tuned"], job.frames)
    return blender_cloth.node_frames(place, fabric, job.options["substeps"], job.frames)


def _memory_before() -> float:
    """Memory now [MB]; the peak starts anew, where the system can do that, so that compiling is not in it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def _memory(field: str) -> float:
    """VmRSS or VmHWM of this process [MB]; its peak where the system does not tell them."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _use_of_cores() -> tuple[float, float, float] | None:
    """Seconds: by the clock, of all cores' work, of this process's; None where the system does not tell."""
    table = Path("/proc/stat")
    if not table.exists():
        return None
    user, nice, system, _, _, *rest = (int(n) for n in table.read_text(encoding="ascii").split("\n")[0].split()[1:9])
    return time.perf_counter(), (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK"), time.process_time()


def _others(before: tuple[float, float, float] | None, after: tuple[float, float, float] | None) -> float | None:
    """Cores that were at work between the two for anyone else."""
    if before is None or after is None:
        return None
    clock, work, own = (b - a for a, b in zip(before, after, strict=True))
    return max(0.0, work - own) / max(clock, 1e-3)


def main() -> None:
    """Run one job."""
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    notes: dict[str, Any] = {}
    coming = _frames(job, notes)
    before = _use_of_cores()
    taken = list(coming)
    notes["others"] = _others(before, _use_of_cores())
    peak = _memory("VmHWM")
    notes["memory_mb"], notes["growth_mb"] = peak, max(0.0, peak - notes.pop("before_mb"))
    notes["cpu_ms"] = float(np.median([frame["cpu_ms"] for frame in taken[FIRST - 1:]]))
    certificates = [frame["certificate"] for frame in taken if "certificate" in frame]
    if certificates:
        notes["backend"] = certificates[-1]["backend"]
        notes["converged"] = all(c["converged"] for c in certificates)
        notes["rejected"] = sum(c["rejected"] for c in certificates)
        spent = [c["seconds"] for c in certificates[1:]]
        notes["stages_ms"] = {stage: 1e3 * float(np.median([s.get(stage, 0.0) for s in spent]))
                              for stage in sorted(set().union(*spent))}
    np.savez(sys.argv[2], x=np.array([frame["x"] for frame in taken]), ms=np.array([frame["ms"] for frame in taken]),
             iterations=np.array([frame["iterations"] for frame in taken], dtype=float), notes=json.dumps(notes))


if __name__ == "__main__":
    main()
