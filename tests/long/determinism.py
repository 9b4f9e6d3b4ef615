# SPDX-License-Identifier: GPL-3.0-or-later
"""The same bytes over threads, hash seeds and processes: `python -m tests.long.determinism SCENES`.

Each hostile scene is run in processes that differ in PYTHONHASHSEED, in the number of threads and in what ran before.
The last line is the record, as JSON. `python -m tests.long.determinism --digests SEED ...` is one of the processes.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import core
from tests.long import workers
from tests.long.hostile_scenes import build
from tests.long.recipes import Recipe, draw

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 2.0
"""Processor time above which a scene is not run so often [s]."""
WAYS = (
    {"PYTHONHASHSEED": "0", "NUMBA_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "2"},
    {"PYTHONHASHSEED": "4242", "NUMBA_NUM_THREADS": "4", "OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"},
)
"""Environments of the processes. The last one runs the scenes in reverse order."""


def digests(seeds: list[int]) -> dict[str, str]:
    """Return the digest of all frames of each seed, or the message of its refusal."""
    found = {}
    for seed in seeds:
        total = hashlib.sha256()
        try:
            staged = build(draw(seed))
            for frame in core.simulate(staged.scene, staged.solver, staged.frames):
                for x, v in zip(frame.positions, frame.velocities, strict=True):
                    total.update(x.tobytes() + v.tobytes())
            found[str(seed)] = total.hexdigest()
        except core.ClothError as error:
            found[str(seed)] = str(error)
        except Exception as error:                                    # of other parts of the suite
            found[str(seed)] = type(error).__name__
    return found


def quick(count: int) -> list[int]:
    """Return seeds of quick scenes without a failure."""
    seeds = (seed for seed in itertools.count() if _is_of_use(draw(seed)))
    found: list[int] = []
    for seed, record in workers.run("tests.long.hostile", seeds, MOST_SECONDS):
        if "died" not in record and record["refusal"] is None and not record["failures"]:
            found.append(seed)
        if len(found) == count:
            break
    return found


def _is_of_use(recipe: Recipe) -> bool:
    return recipe["theme"] in ("fall", "layers", "pins") and recipe["cloths"][0]["mesh"]["count"] >= 25


def main(count: int) -> dict[str, object]:
    """Run the scenes in all ways and return the record."""
    seeds, results = quick(count), []
    for number, way in enumerate(WAYS):
        order = seeds[::-1] if number == len(WAYS) - 1 else seeds
        run = subprocess.run([sys.executable, "-m", "tests.long.determinism", "--digests", *map(str, order)], cwd=ROOT,
                             env={**os.environ, **way}, text=True, capture_output=True, check=False)
        results.append(json.loads(run.stdout.strip().splitlines()[-1]) if run.returncode == 0 else {})
    failures = [f"seed {seed}: " + ", ".join(sorted({str(r.get(str(seed)))[:16] for r in results}))
                for seed in seeds if len({r.get(str(seed)) for r in results}) > 1 or str(seed) not in results[0]]
    return {"cases": len(seeds) * len(WAYS), "failures": failures, "slowest": 0.0, "worst": "-"}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = sys.argv[1:]
    print(json.dumps(digests([int(s) for s in given[1:]]) if given[0] == "--digests" else main(int(given[0]))))
