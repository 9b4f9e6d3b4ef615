# SPDX-License-Identifier: GPL-3.0-or-later
"""Kill, stop and pause solver processes at random moments: `python -m tests.core.cache.process_kills KILLS`.

Ten processes for one take are killed by SIGKILL, or paused and stopped. After each, all frames that it has reported
must be there. The next one finishes the take, which must have the bytes of a take that was never interrupted.

The last line is JSON: {"cases", "failures", "slowest", "worst"}.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import core
from core.cache.solver_process import SolverProcess
from core.cache.take import Take
from tests.core.cache.solver_takes import FIRST, contents, in_process, prepared

PER_TAKE = 10
MOMENTS = (0.1, 1.0)
"""Earliest and latest moment of a kill after the start [s]."""
LONGEST = 120.0
"""Longest wait for a process [s]."""


def interrupted(process, rng, reported, stops):
    """Start a process and end it, and return the last frame that was reported by now and what is wrong, or None."""
    process.start()
    number, end = process._process.pid, time.monotonic() + float(rng.uniform(*MOMENTS))
    while time.monotonic() < end and process.state() != "finished":
        reported = max(reported, process.frame() or reported)
        time.sleep(0.005)
    if stops:
        process.pause()
        time.sleep(float(rng.uniform(0.0, 0.2)))
        process.stop()
    else:
        os.kill(number, signal.SIGKILL)
    if not process.wait(LONGEST):
        return reported, "the process does not end"
    state = process.state()
    if state not in (("stopped", "finished") if stops else ("lost", "finished")):
        return reported, f"the state is '{state}'"
    try:
        process.error()
    except core.CacheError as error:
        if "its frames are kept; resume" not in str(error):
            return reported, str(error)
    last = Take.open(process.folder).last
    if reported >= FIRST and (last is None or last < reported):
        return reported, f"frame {reported} was reported, {last} is the last one there"
    return reported, None


def main(kills, seed=0):
    """Run the cases, print failures, and return the record."""
    rng, failures, slowest, worst = np.random.default_rng(seed), [], 0.0, ""
    with tempfile.TemporaryDirectory() as name:
        wanted = contents(in_process(Path(name) / "wanted"))
        for kill in range(kills):
            if kill % PER_TAKE == 0:
                process, reported = SolverProcess(prepared(Path(name) / f"take {kill}")), FIRST - 1
            began, fault = time.perf_counter(), None
            try:
                reported, fault = interrupted(process, rng, reported, stops=kill % 3 == 2)
                if kill % PER_TAKE == PER_TAKE - 1 or kill == kills - 1:
                    process.start()
                    process.wait(LONGEST)
                    process.error()
                    if process.state() != "finished" or contents(process.folder) != wanted:
                        fault = f"'{process.state()}', the take differs from the uninterrupted one"
                    elif [path for path in process.folder.iterdir() if path.name.endswith((".part", "lock"))]:
                        fault = "files are left over"
            except core.ClothError as error:
                fault = f"{type(error).__name__}: {error}"
            if fault:
                failures.append(f"kill {kill}: {fault}")
                print(failures[-1])
            took = time.perf_counter() - began
            if took > slowest:
                slowest, worst = took, f"kill {kill}"
    return {"cases": kills, "failures": failures, "slowest": slowest, "worst": worst}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, help="number of processes that are ended at a random moment")
    record = main(parser.parse_args().kills)
    print(json.dumps(record))
    sys.exit(bool(record["failures"]))
