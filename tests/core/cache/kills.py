# SPDX-License-Identifier: GPL-3.0-or-later
"""Kill bakes and continue them: `python -m tests.core.cache.kills KILLS [--every N]`.

Each case is a child process that bakes and dies: at a random moment by SIGKILL, or at a call by which it writes, before
the call, in the middle of its data, or by a power failure that loses some of what was written since the last fsync.
Then all frames that it has reported must be there, and the bake continues to the same bytes as one that was never
interrupted. Two kinds of bakes: a new one, and one that continues from an earlier frame with another fabric.

The last line is JSON: {"cases", "failures", "slowest", "worst"}.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

import core
from core.cache import bake
from core.cache.take import Take
from tests.core.cache.takes import FIRST, SOLVER, contents, header, scene, state_at

HOWS = ("before", "half", "power")
CALLS = ("write", "fsync", "ftruncate", "replace", "unlink")
AGAIN = 2
"""Frame after which the second kind of bake continues with another fabric."""
OTHER = {"fabric": "heavy"}


class Calls:
    """Counts the calls that write to files, and ends the process at one of them.

    Args:
        at: number of that call. how: see above. seed: of the power failure.
    """

    def __init__(self, at, how, seed=0):
        self.count, self.at, self.how, self.rng = 0, at, how, np.random.default_rng(seed)
        self.real = {name: getattr(os, name) for name in (*CALLS, "open")}
        self.paths, self.synced, self.later = {}, {}, {}
        for name in CALLS:
            setattr(os, name, lambda *given, name=name: self.call(name, given))
        os.open = self.open

    def open(self, path, *given):
        number = self.real["open"](path, *given)
        self.paths[number] = Path(path)
        if self.how == "power" and Path(path).is_file():
            self.synced[number], self.later[number] = Path(path).read_bytes(), []
        return number

    def call(self, name, given):
        self.count += 1
        if self.count == self.at:
            if self.how == "half" and name == "write":
                self.real["write"](given[0], bytes(given[1])[:len(given[1]) // 2])
            if self.how == "power":
                self.lose()
            os._exit(9)
        number = given[0]
        at = os.lseek(number, 0, os.SEEK_CUR) if name == "write" else 0
        result = self.real[name](*given)
        if number in self.later and name == "write":
            self.later[number].append((at, bytes(given[1])))
        if number in self.later and name == "ftruncate":
            self.later[number].append((given[1], None))
        if number in self.later and name == "fsync":
            self.synced[number], self.later[number] = self.paths[number].read_bytes(), []
        return result

    def lose(self):
        """Put on the disk what was synced, and a random part of what was written since."""
        for number, calls in self.later.items():
            if not self.paths[number].is_file():
                continue
            data = bytearray(self.synced[number])
            for at, block in calls:
                if self.rng.random() < 0.5:
                    continue
                if block is None:
                    data[at:] = b"\0" * max(at - len(data), 0)
                    continue
                block = block[:int(self.rng.integers(len(block) + 1))] if self.rng.random() < 0.5 else block
                data += b"\0" * max(at - len(data), 0)
                data[at:at + len(block)] = block
            self.paths[number].write_bytes(data)


def new(folder, report):
    """Bake a new take, or continue it."""
    try:
        take = Take.resume(folder)
    except core.CacheError:
        take = Take.create(folder, header())
    with take:
        start = None if take.last is None else take.checkpoint_before(take.last)
        for frame in bake.bake_frames(take, scene(), SOLVER, start=start):
            report(frame.index)


def again(folder, report):
    """Bake a finished take again from a frame on, with another fabric; or continue that."""
    begun = Take.open(folder).segments[-1]["settings"] == OTHER
    state = None
    if not begun:
        state = state_at(AGAIN)
    with Take.resume(folder, None if begun else AGAIN) as take:
        if not begun:
            take.begin_segment(OTHER, {}, state=state)
            report(AGAIN)
        start = take.checkpoint_before(take.last)
        for frame in bake.bake_frames(take, scene(0.5), SOLVER, start=start):
            report(frame.index)


def child(job, folder, prepare):
    """Run a job in a child process, and return its number and the end of a pipe that says what it has reported."""
    source, target = os.pipe()
    number = os.fork()
    if number:
        os.close(target)
        return number, source
    os.close(source)
    try:
        write = os.write
        prepare()
        job(folder, lambda frame: write(target, bytes([frame - FIRST + 1])))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def dies(job, folder, prepare=lambda: None, after=None):
    """Run a job until it dies, `after` seconds at the latest; return its exit status and the last frame reported."""
    number, source = child(job, folder, prepare)
    if after is not None:
        time.sleep(after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    reported = os.read(source, 1000)
    os.close(source)
    return status, reported[-1] + FIRST - 1 if reported else None


def judged(job, folder, status, reported, wanted):
    """Continue the bake of a process that died, and return what is wrong, or None."""
    if status == 1:
        return "the bake failed"
    if reported is not None:
        last = Take.open(folder).last
        if last is None or last < reported:
            return f"frame {reported} was reported, {last} is the last one there"
    job(folder, lambda frame: None)
    found = contents(folder)
    differing = [name for name in wanted if found.get(name) != wanted[name]]
    if differing or set(found) != set(wanted):
        return f"{differing[:3]} of {len(wanted)} differ from the uninterrupted bake"
    leftovers = [path.name for path in Path(folder).iterdir() if path.name.endswith(".part")]
    return f"left over: {leftovers}" if leftovers else None


def cases(kills, every, folder):
    """Yield the name, job, base folder, preparation and time of each case."""
    rng = np.random.default_rng(kills)
    for job, base in ((new, None), (again, folder / "finished")):
        began = time.perf_counter()
        counted = folder / f"counted-{job.__name__}"
        if base is not None:
            shutil.copytree(base, counted)
        source, target = os.pipe()
        number = os.fork()
        if not number:
            calls = Calls(0, "before")
            job(counted, lambda frame: None)
            calls.real["write"](target, str(calls.count).encode())
            os._exit(0)
        os.waitpid(number, 0)
        took = time.perf_counter() - began
        points = int(os.read(source, 100))
        os.close(source), os.close(target)
        for point in range(1, points + 1):
            for which, how in enumerate(HOWS):
                if (point + which) % every == 0:
                    yield f"{job.__name__}, {how} {point}", job, base, (point, how), None
        for kill in range(kills // 2):
            yield f"{job.__name__}, kill {kill}", job, base, None, float(rng.uniform(0.0, 1.2 * took))


def main(kills, every):
    """Run the cases, print failures, and return the record."""
    bake.CHECKPOINT_FRAMES = 2
    failures, slowest, worst, count = [], 0.0, "", 0
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        new(root / "finished", lambda frame: None)
        shutil.copytree(root / "finished", root / "changed")
        again(root / "changed", lambda frame: None)
        wanted = {new: contents(root / "finished"), again: contents(root / "changed")}
        assert wanted[new]["complete"] and wanted[again]["complete"] and wanted[new] != wanted[again]
        for case, job, base, point, after in cases(kills, every, root):
            began, folder = time.perf_counter(), root / "case"
            shutil.rmtree(folder, ignore_errors=True)
            if base is not None:
                shutil.copytree(base, folder)
            prepare = (lambda point=point: Calls(*point, seed=point[0])) if point else lambda: None
            try:
                status, reported = dies(job, folder, prepare, after)
                fault = judged(job, folder, status, reported, wanted[job])
            except core.ClothError as error:
                fault = f"{type(error).__name__}: {error}"
            count, took = count + 1, time.perf_counter() - began
            if fault:
                failures.append(f"{case}: {fault}")
            if took > slowest:
                slowest, worst = took, case
    return {"cases": count, "failures": failures, "slowest": slowest, "worst": worst}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, help="number of random kills")
    parser.add_argument("--every", type=int, default=1, help="take every so many of the points and ways to die")
    given = parser.parse_args()
    record = main(given.kills, given.every)
    print(json.dumps(record))
    sys.exit(bool(record["failures"]))
