# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels are compiled by a process of their own, which ends with its parent."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import core
from core.cache import kernel_process
from core.cache.kernel_process import KernelProcess
from core.kernels import backend

ROOT = Path(__file__).resolve().parents[3]
LONGEST_WAIT = 300.0
"""Longest time of a process [s], without that in which it waits for a processor: it has the lowest priority."""

needs_numba = pytest.mark.skipif(bool(backend.why_not("numba")), reason="no Numba")


def wait(process):
    spent, now, used = 0.0, time.monotonic(), None
    while process.is_alive():
        assert spent < LONGEST_WAIT
        time.sleep(0.02)
        before, now, last, used = now, time.monotonic(), used, processor_time(process._process.pid)
        spent += 0.0 if used is not None and used == last else now - before


def processor_time(pid):
    """Return the processor time of a process in clock ticks; None if it sleeps or does not exist."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[11]) + int(fields[12]) if fields[0] == "R" else None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux has them")
def test_only_a_process_that_can_run_has_processor_time():
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as asleep:
        while processor_time(asleep.pid) is not None:
            time.sleep(0.02)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        while not (processor_time(busy.pid) or 0) > 0:
            time.sleep(0.02)
        busy.kill()


@needs_numba
def test_a_process_compiles_kernels_and_leaves_a_note(monkeypatch, tmp_path):
    kept = backend.cache_folder()
    if kept.exists():                                                            # so that it has little to do
        shutil.copytree(kept, tmp_path / kept.name, ignore=shutil.ignore_patterns("*.complete", "*.tmp"))
    monkeypatch.setattr(backend, "_cache_parent", tmp_path)
    solver = core.Solver(integrator="bdf2")
    assert not core.is_kept(solver)
    process = KernelProcess(solver, ["baraff_witkin"])
    wait(process)
    assert process.problem() == "" and core.is_kept(solver)
    assert core.is_kept(core.Solver(integrator="bdf2", tolerance=1e-6))          # of the same kernels
    for other in (core.Solver(integrator="bdf2", newton_iterations=3), core.Solver(integrator="verlet")):
        assert not core.is_kept(other)
    assert not core.is_kept(solver, ["baraff_witkin", "springs"])


def test_a_process_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(kernel_process, "command_of", lambda *given: [
        sys.executable, "-c", "print('so far so good'); raise ImportError('no such Numba')"])
    process = KernelProcess(core.Solver(), ["baraff_witkin"])
    wait(process)
    assert process.problem() == "ImportError: no such Numba"


def test_a_process_that_cannot_start_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_process, "command_of", lambda *given: [str(tmp_path / "no python")])
    with pytest.raises(core.CacheError, match="compiled by the first simulation"):
        KernelProcess(core.Solver(), ["baraff_witkin"])


def test_a_process_is_stopped_and_that_is_no_problem(monkeypatch):
    monkeypatch.setattr(kernel_process, "command_of", lambda *given: [
        sys.executable, "-c", "import sys; sys.stdin.read()"])
    process = KernelProcess(core.Solver(), ["baraff_witkin"])
    assert process.is_alive()
    process.stop()
    assert not process.is_alive() and process.problem() == ""


@needs_numba
@pytest.mark.skipif(os.name != "posix", reason="looks at processes as POSIX has them")
def test_a_process_has_the_lowest_priority_and_ends_with_its_parent(tmp_path):
    """The parent is killed while the child compiles: in a cache folder of its own, there is enough to do."""
    code = ("import core, time\nfrom core.cache.kernel_process import KernelProcess\n"
            "process = KernelProcess(core.Solver(), ['baraff_witkin'])\n"
            "print(process._process.pid, flush=True)\ntime.sleep(600)\n")
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    child = int(parent.stdout.readline())
    end = time.monotonic() + LONGEST_WAIT
    while os.getpriority(os.PRIO_PROCESS, child) < 19:
        assert time.monotonic() < end
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    while is_running(child):
        assert time.monotonic() < end
        time.sleep(0.01)


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
