# SPDX-License-Identifier: GPL-3.0-or-later
"""Count what of a frame goes through the interpreter: calls of compiled loops, and time outside of compiled code.

    python -m benchmarks.interpreter_share [--scenes hang drape] [--size 100] [--frames 40] [--threads 1 2] [--lines 20]

Calls are exact, and the same in every run. Shares are of samples of the calling thread, taken every millisecond:
`shared` is in loops that any number of threads can work on, `alone` in compiled code on one thread, and `python` is the
interpreter and NumPy. By Amdahl's law a frame on n threads takes at least 1 - shared + shared / n of that on one.
`--lines` prints the lines of Python and NumPy with most samples, the functions of both and of compiled code on one
thread, and the kernels with most calls.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:                                              # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import core
from benchmarks.muslin_cloth import compile_kernels
from benchmarks.scenes import SCENES, core_scene, scene_layout
from benchmarks.systems import start_fabric
from core.kernels import using

FIRST_COUNTED = 5
"""First frame that counts: kernels are loaded before."""
PERIOD = 1e-3
"""Time between samples [s]."""
ROOT = Path(core.__file__).resolve().parent.parent


class CallCounter:
    """Counts the compiled loops that Python hands out, by the names of their kernels."""

    def __init__(self) -> None:
        with using("numba"):
            from core.kernels.numba import thread_pool
        self.calls: Counter[str] = Counter()
        self._pool, self._called = thread_pool, thread_pool._called

    def __enter__(self) -> CallCounter:
        def counted(kernel: Any, *given: Any) -> Any:
            self.calls[kernel.__qualname__] += 1
            return self._called(kernel, *given)

        self._pool._called = counted
        return self

    def __exit__(self, *_: object) -> None:
        self._pool._called = self._called


class Sampler:
    """Samples where the calling thread is, in a thread of its own, while a `with` block runs."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.lines: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._sample, args=(threading.get_ident(),), daemon=True)
        self._ended = False

    def __enter__(self) -> Sampler:
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(PERIOD / 20)                           # otherwise it waits for the next compiled kernel
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._thread.join()
        sys.setswitchinterval(self._interval)

    def _sample(self, caller: int) -> None:
        while not self._ended:
            time.sleep(PERIOD)
            frame = sys._current_frames().get(caller)
            if frame is None:
                continue
            kind = self._kind(frame)
            self.kinds[kind] += 1
            if kind == "alone":
                self.functions[f"{Path(frame.f_code.co_filename).name} {frame.f_code.co_name}, compiled"] += 1
            if kind == "python":
                while frame.f_back is not None and ROOT not in Path(frame.f_code.co_filename).parents:
                    frame = frame.f_back
                place = Path(frame.f_code.co_filename)
                self.lines[f"{place.name}:{frame.f_lineno} {frame.f_code.co_name}"] += 1
                self.functions[f"{place.name} {frame.f_code.co_name}"] += 1

    def _kind(self, frame: Any) -> str:
        if frame.f_code.co_name == "_called":
            return "shared"
        return "alone" if "kernels/numba" in Path(frame.f_code.co_filename).as_posix() else "python"


def frames_of(scene: str, size: int, frames: int) -> Any:
    """Return the frames of a scene with the panel's settings, cotton."""
    layout = scene_layout(scene, size)
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2, backend="numba",
                         self_collision=layout.self_collision)
    return core.simulate(core_scene(layout, start_fabric("cotton", scene, size)), solver, frames=range(1, frames + 1))


def measured(scene: str, size: int, frames: int) -> tuple[CallCounter, Sampler, list[float]]:
    """Return calls, samples, and the processor time of each frame [ms]."""
    coming, times = frames_of(scene, size, frames), []
    for _ in range(FIRST_COUNTED - 1):
        next(coming)
    with CallCounter() as counter, Sampler() as sampler:
        start = time.process_time()
        for _ in coming:
            times.append(1e3 * (time.process_time() - start))
            start = time.process_time()
    return counter, sampler, times


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=["hang", "drape"], choices=SCENES)
    parser.add_argument("--size", type=int, default=100, help="vertices along a side")
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--lines", type=int, default=0)
    options = parser.parse_args()
    compile_kernels(core.Solver(backend="numba"))
    from core.kernels.numba import thread_count
    titles = "scene", "threads", "ms a frame", "calls a frame", "shared", "alone", "python"
    print("| " + " | ".join(titles) + " |\n|" + len(titles) * " --- |")
    for scene in options.scenes:
        for threads in options.threads:
            thread_count._free_threads = lambda threads=threads: threads
            thread_count._count = 0
            counter, sampler, times = measured(scene, options.size, options.frames)
            total, count = sum(sampler.kinds.values()), len(times)
            shares = [f"{sampler.kinds[kind] / total:.0%}" for kind in ("shared", "alone", "python")]
            print(f"| {scene}, {options.size}^2 | {threads} | {np.median(times):.1f} | "
                  f"{sum(counter.calls.values()) / count:.0f} | {' | '.join(shares)} |", flush=True)
            for names in (sampler.lines, sampler.functions):
                for name, found in names.most_common(options.lines):
                    print(f"    {found / total:6.2%} {name}")
            for name, found in counter.calls.most_common(options.lines):
                print(f"    {found / count:6.1f} calls of {name}")


if __name__ == "__main__":
    main()
