# SPDX-License-Identifier: GPL-3.0-or-later
"""Loops shared out to threads: every part is done once, whoever does it, and nothing else shows."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import core
from core.kernels import backend
from tests.core.shapes import ball, grid

if backend.why_not("numba"):
    pytest.skip("needs Numba", allow_module_level=True)

from core.kernels.numba.thread_pool import in_parts, share, thread_limit
from tests.cases import cases

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def three():
    token = thread_limit.set(3)
    yield
    thread_limit.reset(token)


@cases("threads", [1, 2, 7])
@cases("count", [0, 1, 2, 3, 10, 1000])
def test_every_item_is_done_once(threads, count):
    thread_limit.set(threads)
    done = np.zeros(count, dtype=int)

    def loop(begin, end, step):
        done[begin:end] += step

    share(loop, count, 1, 5)
    assert (done == 5).all()


def test_no_part_is_shorter_than_what_is_worth_a_thread():
    parts = []
    share(lambda begin, end: parts.append(end - begin), 100, 30)
    assert sum(parts) == 100 and len(parts) == 3 and min(parts) >= 30
    parts.clear()
    share(lambda begin, end: parts.append(end - begin), 59, 30)
    assert parts == [59]


def test_parts_run_side_by_side_and_the_caller_takes_one():
    meeting, seen = threading.Barrier(3, timeout=20.0), set()

    def loop(begin, end):
        meeting.wait()
        seen.add(threading.get_ident())

    in_parts(loop, [(0, 1), (1, 2), (2, 3)])
    assert len(seen) == 3 and threading.get_ident() in seen


def test_what_a_loop_raises_reaches_the_caller_after_all_parts():
    done = []

    def loop(begin, end):
        if threading.current_thread() is not threading.main_thread():
            raise ZeroDivisionError("in a thread")
        time.sleep(0.05)                                             # the others have theirs by then
        done.append(begin)

    with pytest.raises(ZeroDivisionError, match="in a thread"):
        in_parts(loop, [(k, k + 1) for k in range(6)])
    count = len(done)
    assert count >= 1
    time.sleep(0.1)
    assert len(done) == count
    share(lambda begin, end: done.clear(), 10, 1)                    # the threads live on
    assert done == []


def test_nobody_waits_for_a_thread_that_comes_late():
    release = threading.Event()

    def wait(begin, end):
        if threading.current_thread() is not main:
            release.wait(20.0)

    main = threading.current_thread()
    held = threading.Thread(target=lambda: (thread_limit.set(3), in_parts(wait, [(k, k + 1) for k in range(3)])))
    held.start()                                                     # all threads of the pool are in there
    time.sleep(0.1)
    done = []
    share(lambda begin, end: done.append(end - begin), 90, 1)
    assert not release.is_set() and sum(done) == 90
    release.set()
    held.join()


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


START = """
import os, threading, time
from core.kernels.numba.thread_pool import in_parts, thread_limit
thread_limit.set(3)
def meet():
    meeting, seen = threading.Barrier(3, timeout=20.0), []
    in_parts(lambda begin, end: (meeting.wait(), seen.append(begin)), [(0, 1), (1, 2), (2, 3)])
    return sorted(seen)
print(meet(), flush=True)
"""


def test_waiting_threads_do_not_keep_a_process_alive():
    start = time.perf_counter()
    assert python(START) == "[0, 1, 2]\n"
    assert time.perf_counter() - start < 30.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_was_forked_makes_threads_of_its_own():
    assert python(START + """
child = os.fork()
if child == 0:
    print(meet(), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(meet())
""") == "[0, 1, 2]\n" * 3


def test_any_number_of_threads_gives_the_same_bytes(monkeypatch):
    """Loops are cut into parts here that are too short to be worth it, at other places for each number of threads."""
    if backend.why_not("numba"):
        pytest.skip(backend.why_not("numba"))
    from core.kernels.numba import thread_count

    def in_short_parts(loop, count, least, *arguments):
        share(loop, count, 1, *arguments)

    fabric = core.Material(areal_density=0.2, stretch=500.0, shear=60.0, bend=1e-4, damping=0.005, air_drag=0.3)
    mesh = core.ClothMesh(*grid(16, 16))
    digests, cut = set(), set()
    for count in (1, 2, 5):
        monkeypatch.setattr(thread_count, "_free_threads", lambda count=count: count)
        monkeypatch.setattr(thread_count, "_count", 0)
        scene = core.Scene([core.Cloth(mesh, fabric, pins={0: None})],
                           [core.Collider(*ball(0.3, 1, centre=(0.5, 0.5, -0.31)))], wind=(0.0, 2.0, 1.0))
        frames = []
        for frame in core.simulate(scene, core.Solver(backend="numba"), range(6)):
            frames.append(hashlib.sha256(frame.positions[0].tobytes()).hexdigest())
            for name, module in list(sys.modules.items()):           # those that the first frame has imported
                if name.startswith("core.kernels.numba.") and hasattr(module, "share") and count > 1:
                    monkeypatch.setattr(module, "share", in_short_parts)
                    cut.add(name.rpartition(".")[2])
        digests.add(frames[-1])
    assert len(digests) == 1
    assert cut >= {"assembly", "block_matrix", "element_families", "front_solve", "self_pairs", "surface_contacts",
                   "surface_pairs", "trees"}
