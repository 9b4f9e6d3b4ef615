# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact gives the same bytes in every run, and on one and on two threads, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.kernels import backend

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import hashlib, sys
import numpy as np
from core.stepping.simulate import simulate
from core.description.settings import Solver
from tests.scenes import scenes_of_colliders, scenes_of_folds, scenes_of_layers
from tests.scenes.staging import AS_IN_BLENDER

if sys.argv[1] == "numba":
    from core.kernels.numba import thread_count
    thread_count._free_threads = lambda: int(sys.argv[2])                     # also where another program has a core
staged = [scenes_of_folds.drape(33, frames=14), scenes_of_layers.falling_sheets(6, count=5, frames=10),
          scenes_of_colliders.walking_leg(10, frames=8)]
for scene in staged:
    seen = hashlib.sha256()
    for frame in simulate(scene.scene, Solver(**AS_IN_BLENDER, backend=sys.argv[1]), range(1, scene.frames + 1)):
        for x, v in zip(frame.positions, frame.velocities):
            seen.update(x.tobytes() + v.tobytes())
    print(seen.hexdigest())
"""


def hashes(name, threads):
    """Return the hashes of all frames of the scenes, from a new process."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SCRIPT, name, str(threads)], cwd=ROOT, env=environment, text=True,
                          capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_one_thread_and_two_threads_give_the_same_bytes():
    if backend.why_not("numba"):
        pytest.skip(backend.why_not("numba"))
    one = hashes("numba", 1)
    assert len(one) == 3
    assert hashes("numba", 2) == one


@pytest.mark.slow
def test_without_numba_another_run_gives_the_same_bytes():
    assert hashes("numpy", 1) == hashes("numpy", 1)
