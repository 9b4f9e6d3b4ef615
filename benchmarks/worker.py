# SPDX-License-Identifier: GPL-3.0-or-later
"""Run one simulation in a process of its own, so that its memory can be measured.

    python -m benchmarks.worker job.json result.npz        called by `Job.run`
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
from benchmarks.scenes import lengths, scene_layout
from core.arrays import FloatArray

ROOT = Path(__file__).resolve().parent.parent
FIRST_TIMED = 2
"""First frame that is timed. Frame 1 is the initial state."""


@dataclass(frozen=True)
class Job:
    """A simulation to run.

    Attributes:
        kind: "muslin", "modifier" or "node".
        scene, size, frames: name of the scene, vertices along a side, number of frames.
        fabric: values of the core's Material.
        options: of the core's Solver, {"tuned": bool} of the modifier, or {"substeps": int} of the node.
    """

    kind: str
    scene: str
    size: int
    frames: int
    fabric: dict[str, Any]
    options: dict[str, Any]

    def run(self, python: str = sys.executable) -> Run:
        """Simulate in a new process, and return the result."""
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
    """The result of a job.

    Attributes:
        x: positions (F, V, 3) [m].
        ms: time of each frame (F,) [ms].
        iterations: iterations of each frame (F,).
        notes: memory_mb, growth_mb, compile_s, others, ... `others` is the number of cores that other programs used,
            None if the system does not report it.
    """

    job: Job
    x: FloatArray
    ms: FloatArray
    iterations: FloatArray
    notes: dict[str, Any]

    def stretch(self) -> tuple[FloatArray, FloatArray]:
        """Return 99th percentile (F,) and maximum (F,) of the edges' stretch, length over rest length less 1 [-]."""
        layout = scene_layout(self.job.scene, self.job.size)
        edges = layout.edges
        rest = lengths(layout.positions, edges)
        ratios = [lengths(x.astype(float), edges) / rest - 1.0 for x in self.x]
        return np.array([np.percentile(r, 99.0) for r in ratios]), np.array([r.max() for r in ratios])

    def measures(self) -> dict[str, Any]:
        """Return the figures of a row that need no reference."""
        p99, largest = self.stretch()
        timed = self.ms[FIRST_TIMED - 1:]
        return {"ms_median": float(np.median(timed)), "ms_worst": float(timed.max()), "ms_first": float(self.ms[0]),
                "p99_worst": float(p99.max()), "p99_settled": float(np.median(p99[-max(1, len(p99) // 4):])),
                "stretch_max": float(largest.max()), "iterations": float(np.mean(self.iterations[FIRST_TIMED - 1:])),
                **self.notes}

    def distance(self, reference: FloatArray) -> float:
        """Return the root mean square distance over frames and vertices from a reference motion (F, V, 3) [m]."""
        offset = self.x.astype(float) - reference
        return float(np.sqrt(np.mean(np.sum(offset * offset, axis=-1))))


def _frames(job: Job, notes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the iterator over the frames of a job, and add to `notes` what was measured before."""
    layout, fabric = scene_layout(job.scene, job.size), core.Material(**job.fabric)
    if job.kind == "muslin":
        from benchmarks.muslin_cloth import compile_kernels, muslin_frames

        solver = core.Solver(**job.options)
        notes["compile_s"] = compile_kernels(solver)
        notes["before_mb"] = _memory_before()
        return muslin_frames(layout, fabric, solver, job.frames)
    from benchmarks import blender_cloth

    notes["before_mb"] = _memory_before()
    notes["version"] = blender_cloth.bpy.app.version_string
    if job.kind == "modifier":
        return blender_cloth.modifier_frames(layout, fabric, job.options["tuned"], job.frames)
    return blender_cloth.node_frames(layout, fabric, job.options["substeps"], job.frames)


def _memory_before() -> float:
    """Return the current memory [MB], and reset the peak if the system can, so that it does not include compiling."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def _memory(field: str) -> float:
    """Return VmRSS or VmHWM of this process [MB]; the peak if the system does not report them."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _use_of_cores() -> tuple[float, float, float] | None:
    """Return wall-clock time, busy time of all cores, and processor time of this process [s]; None if not known."""
    table = Path("/proc/stat")
    if not table.exists():
        return None
    user, nice, system, _, _, *rest = (int(n) for n in table.read_text(encoding="ascii").split("\n")[0].split()[1:9])
    return time.perf_counter(), (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK"), time.process_time()


def _others(before: tuple[float, float, float] | None, after: tuple[float, float, float] | None) -> float | None:
    """Return the number of cores that other programs used between the two measurements."""
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
    notes["cpu_ms"] = float(np.median([frame["cpu_ms"] for frame in taken[FIRST_TIMED - 1:]]))
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
