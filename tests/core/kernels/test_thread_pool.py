# SPDX-License-Identifier: GPL-3.0-or-later
"""Loops shared out to threads: every part is done once, on any thread, without the interpreter."""

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

from core.kernels.numba import atomics, thread_pool
from core.kernels.numba.kernel_cache import njit
from core.kernels.numba.options import KERNEL
from core.kernels.numba.parallel_loop import AT, share_parts
from core.kernels.numba.thread_pool import share, share_singly, thread_limit

ROOT = Path(__file__).resolve().parents[3]
HERE = {**KERNEL, "cache": False}
PATIENCE = 400_000
"""Looks at a number until a part no longer waits for others [-]: some seconds and more."""


@njit(**HERE)
def add(begin, end, step, done):
    for k in range(begin, end):
        done[k] += step


@njit(**HERE)
def note(begin, end, lengths):
    lengths[begin] = end - begin


@njit(**HERE)
def meet(begin, end, wanted, seen):
    """Wait until so many parts have begun, and count those that saw the others."""
    atomics.add(seen, 0, 1)
    for _ in range(PATIENCE):
        if atomics.load(seen, 0) >= wanted:
            atomics.add(seen, 16, 1)
            break
        atomics.call_without_arguments(seen[8])


@njit(**HERE)
def fail_at(begin, end, bad, done):
    for k in range(begin, end):
        if k == bad:
            raise ZeroDivisionError("in a part")
        done[k] = 1


@njit(**HERE)
def inner(team, done):
    share_parts(team, 3, 4, len(done), add, (1, done))


@njit(**HERE)
def outer(begin, end, team, done):
    for k in range(begin, end):
        inner(team, done[k])


@njit(**HERE)
def wait_for_release(begin, end, gate):
    atomics.add(gate, 16, 1)
    while not atomics.load(gate, 0):
        atomics.pause()


@pytest.fixture(autouse=True)
def three():
    token = thread_limit.set(3)
    yield
    thread_limit.reset(token)


def meeting(count):
    """Return how many of `count` parts saw all others begin."""
    share_singly(meet, 1, 1, places())                               # compiled
    seen = places()
    share_singly(meet, count, count, seen)
    return seen[16]


def places():
    """Return numbers for `meet`."""
    seen = np.zeros(32, dtype=np.int64)
    seen[8] = thread_pool.yield_address()
    return seen


def test_every_item_is_done_once():
    for threads in (1, 2, 3, 8):
        thread_limit.set(threads)
        for count in (0, 1, 2, 3, 10, 1000):
            done = np.zeros(count, dtype=int)
            share(add, count, 1, 5, done)
            assert (done == 5).all(), (threads, count)


def test_no_part_is_shorter_than_what_is_worth_a_thread():
    lengths = np.zeros(100, dtype=int)
    share(note, 100, 30, lengths)
    assert lengths.sum() == 100 and np.count_nonzero(lengths) == 3 and lengths[lengths > 0].min() >= 30
    lengths[:] = 0
    share(note, 59, 30, lengths)
    assert lengths[0] == 59 and np.count_nonzero(lengths) == 1


def test_parts_run_side_by_side_and_the_caller_takes_one():
    assert meeting(3) == 3


def test_threads_that_are_awake_and_threads_that_sleep_do_their_part():
    for sleep in (0.0, 0.0, 3.0 * thread_pool.LONGEST_SPIN, 0.0, 100.0 * thread_pool.LONGEST_SPIN):
        time.sleep(sleep)
        assert meeting(3) == 3, sleep


def test_threads_that_have_nothing_to_do_sleep():
    meeting(3)
    deadline = time.monotonic() + 20.0
    while len(thread_pool.team().sleeping) < len(thread_pool.team().workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(thread_pool.team().sleeping) == len(thread_pool.team().workers) >= 2


def test_parts_need_no_interpreter():
    """The caller holds the interpreter's lock here as long as the loop runs, and three parts wait for each other."""
    held = njit(**{**HERE, "nogil": False})(lambda team, seen: share_parts(team, 3, 3, 3, meet, (3, seen)))
    held(thread_pool.team().shared, np.full(32, 3, dtype=np.int64))           # compiled
    for _ in range(20):                                              # threads may fall asleep before they are needed
        assert meeting(3) == 3
        seen = places()
        held(thread_pool.team().shared, seen)
        if seen[16] == 3:
            return
    raise AssertionError("no part ran beside the caller")


def test_what_a_loop_raises_reaches_the_caller_after_all_parts():
    for bad in (0, 7, 199):
        done = np.zeros(200, dtype=int)
        with pytest.raises(ZeroDivisionError, match="in a part"):
            share_singly(fail_at, 200, bad, done)
        assert done.sum() == 199 and not done[bad]
    share_singly(fail_at, 200, -1, done)                             # the threads live on
    assert done.all() and meeting(3) == 3


def test_a_loop_within_a_part_runs_on_the_thread_of_the_part():
    done = np.zeros((40, 50), dtype=int)
    inner(thread_pool.team().shared, done[0])                         # compiled
    done[:] = 0
    share_singly(outer, 40, thread_pool.team().shared, done)
    assert (done == 1).all()


def test_a_second_caller_does_its_loop_alone():
    gate, running = np.zeros(32, dtype=np.int64), threading.Thread(
        target=lambda: (thread_limit.set(3), share_singly(wait_for_release, 3, gate)))
    share_singly(wait_for_release, 1, np.ones(32, dtype=np.int64))           # compiled
    running.start()                                                  # all threads of the pool are in there
    while gate[16] == 0:
        time.sleep(0.01)
    done = np.zeros(90, dtype=int)
    share(add, 90, 1, 1, done)
    assert running.is_alive() and (done == 1).all()
    gate[0] = 1
    running.join()


def test_many_loops_from_several_threads_of_python():
    """Loops of other lengths and arguments, from three callers at once, some after a sleep."""
    wrong = []

    def call(seed):
        thread_limit.set(1 + seed % 4)
        random = np.random.default_rng(seed)
        for turn in range(1500):
            done, step = np.zeros(random.integers(1, 60), dtype=int), int(random.integers(1, 100))
            share(add, len(done), 1, step, done)
            if (done != step).any():
                wrong.append((seed, turn, done, step))
            if turn % 500 == 0:
                time.sleep(0.002)

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(1, 4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def test_threads_end_and_others_take_their_place():
    assert meeting(3) == 3
    before = thread_pool.team()
    backend.end_threads()
    assert before.shared[AT.stopped] and not any(worker.is_alive() for worker in before.workers)
    assert meeting(3) == 3 and thread_pool.team() is not before


def test_more_threads_than_a_loop_may_use_leave_its_parts_alone():
    thread_limit.set(8)
    assert meeting(8) in range(9)                                    # eight threads exist now
    thread_limit.set(2)
    assert meeting(2) == 2 and thread_pool.team().shared[AT.helpers] == 1


def test_the_number_of_threads_follows_the_cores():
    from core.kernels.numba.thread_count import _cores, _default
    assert [_default(processors, cores) for processors, cores in
            ((1, 1), (2, 1), (2, 2), (4, 2), (8, 4), (12, 6), (16, 8), (16, 16), (64, 32))] == [
                1, 2, 2, 4, 4, 6, 8, 8, 8]
    assert 0 <= _cores() <= os.cpu_count()


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


START = """
import os, time
import numpy as np
from tests.core.kernels.test_thread_pool import meeting, thread_limit
thread_limit.set(3)
print(meeting(3), flush=True)
"""


def test_waiting_threads_do_not_keep_a_process_alive():
    assert python(START) == "3\n"
    assert python(START + "os._exit(0)") == "3\n"
    assert python(START + "time.sleep(0.1)") == "3\n"                # they sleep


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_was_forked_makes_threads_of_its_own():
    assert python(START + """
child = os.fork()
if child == 0:
    print(meeting(3), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(meeting(3))
""") == "3\n" * 3


def test_a_shared_loop_comes_back_from_disk(tmp_path):
    code = f"""
from pathlib import Path
from core.kernels import backend
backend.keep_compiled_in(Path({str(tmp_path)!r}))
assert backend.why_not("numba") is None
import numpy as np
from core.kernels.numba import gradients, thread_pool
thread_pool.thread_limit.set(3)
a = np.random.default_rng(1).normal(size=(400_000, 3))
print(gradients.dot(a, a), thread_pool._shared_out(gradients.dot_in_parts)._cache_hits.total())
"""
    first, hits = python(code).split()
    assert hits == "0" and python(code).split() == [first, "1"]


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
    for count in (1, 2, 3, 8):
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
    assert cut >= {"assembly", "block_matrix", "element_families", "self_pairs", "surface_contacts",
                   "surface_pairs", "trees"}
