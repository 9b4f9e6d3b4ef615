# SPDX-License-Identifier: GPL-3.0-or-later
"""Kill headless bakes at random moments: `python -m tests.long.headless_kills COUNT`, in a Python that has bpy.

`muslin bake --resume` is killed by SIGKILL or ended by SIGTERM, again and again, until it ends by itself. No frame that
was reported may be solved again, and the saved shape keys must have the bytes of a bake without interruption. The last
line is the record, as JSON.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from tests.long.in_blender import registered

ROOT = Path(__file__).resolve().parents[2]
LAST = 24
PER_BAKE = 4
"""Most kills of one bake."""
LONGEST = 600.0
"""Longest time of a command [s]."""


def run(blend: Path, output: Path, cache: Path, moment: float | None = None, number: int = signal.SIGKILL
        ) -> tuple[int, list[int], str]:
    """Bake, ended by a signal `moment` seconds after the start; return the exit code, frames reported and errors."""
    line = [sys.executable, ROOT, blend, "bake", "--resume", "--progress", "json", "--output", output, "--cache", cache]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        timer = threading.Timer(LONGEST if moment is None else moment, process.send_signal, [number])
        timer.start()
        out, errors = process.communicate()
        timer.cancel()
    lines = [text for text in out.splitlines() if text.startswith("{") and text.endswith("}")]
    return process.returncode, [line["frame"] for line in map(json.loads, lines) if line["event"] == "frame"], errors


def keys(path: Path) -> list[bytes]:
    """Return the coordinates of the shape keys in a baked .blend."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = []
    for block in bpy.data.objects["Sheet"].data.shape_keys.key_blocks:
        x = np.empty(3 * len(block.data), np.float32)
        block.data.foreach_get("co", x)
        found.append(x.tobytes())
    return found


def main(count: int) -> dict[str, object]:
    """Run the bakes and return their record."""
    registered()
    import bpy

    from tests.addon import builders

    rng, failures, kills, slowest, worst = np.random.default_rng(7), [], 0, 0.0, ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        builders.pin(builders.sheet(16, name="Sheet", height=0.4), {0: 1.0})
        builders.box(size=0.5)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end, scene.muslin.backend = 1, LAST, "NUMPY"
        blend = folder / "shot.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        began = time.monotonic()
        code, _, errors = run(blend, folder / "whole.blend", folder / "whole")
        lasts = time.monotonic() - began
        if code:
            return {"cases": 0, "failures": [f"the bake without interruption: {errors}"], "slowest": 0.0, "worst": ""}
        whole, bake = keys(folder / "whole.blend"), 0
        while kills < count:
            bake += 1
            output, cache, reported, code = folder / f"{bake}.blend", folder / f"cache {bake}", 0, -1
            for attempt in range(PER_BAKE + 1):
                number = int(rng.choice([signal.SIGKILL, signal.SIGTERM]))
                moment = float(rng.uniform(0.2, lasts)) if attempt < PER_BAKE and kills < count else None
                began = time.monotonic()
                code, frames, errors = run(blend, output, cache, moment, number)
                if time.monotonic() - began > slowest:
                    slowest, worst = time.monotonic() - began, f"bake {bake}"
                if frames and frames[0] <= reported:
                    failures.append(f"bake {bake}: frame {frames[0]} was solved again, {reported} was reported")
                reported = max([reported, *frames])
                if code == 0:
                    break
                kills += moment is not None
                if code not in (1, -signal.SIGKILL, -signal.SIGTERM) or "Traceback" in errors and code == 1:
                    failures.append(f"bake {bake} ended with {code}: {errors[-300:]}")
            if code or keys(output) != whole:
                failures.append(f"bake {bake}: code {code}, or its keys differ from a bake without interruption")
                break
    return {"cases": kills, "failures": failures, "slowest": slowest, "worst": worst}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
