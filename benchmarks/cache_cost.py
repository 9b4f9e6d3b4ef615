# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the part of a bake's time that the cache on disk takes.

    python benchmarks/cache_cost.py [vertices along a side] [frames] [folder]

A sheet that hangs by two corners is baked into a take in the folder, which should be on the disk to be measured. Prints
shares of the bake's time: what the solver waits for the writer, what the conversion takes, and the processor time of
the writer's thread, which runs beside the solver; then time and size of a frame and of a checkpoint, and the time of
opening, resuming and listing the take.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import core  # noqa: E402
from core.cache import bake  # noqa: E402
from core.cache.take import Take, read_header  # noqa: E402
from core.cache.take_header import TakeCloth, TakeHeader  # noqa: E402
from tests.core.shapes import grid  # noqa: E402


class Watch:
    """Adds up the time of functions that it replaces: wall-clock and processor time of their thread [s]."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.own: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)

    def put(self, owner: Any, name: str) -> None:
        """Replace a function by one that is measured."""
        real: Callable[..., Any] = getattr(owner, name)

        def measured(*given: Any, **named: Any) -> Any:
            wall, own = time.perf_counter(), time.thread_time()
            try:
                return real(*given, **named)
            finally:
                self.wall[name] += time.perf_counter() - wall
                self.own[name] += time.thread_time() - own
                self.calls[name] += 1

        setattr(owner, name, measured)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the wall-clock time of a call [s], and its result."""
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def main(side: int, frames: int, folder: Path) -> None:
    """Bake a sheet of `side` x `side` vertices, and print the figures."""
    x, triangles = grid(side - 1, side - 1)
    cloth = core.Cloth(core.ClothMesh(x, triangles), core.Material.preset("cotton"), pins={0: None, side - 1: None})
    scene, solver = core.Scene([cloth]), core.Solver()
    list(core.simulate(scene, solver, range(1, 3)))                             # compiles
    watch = Watch()
    watch.put(bake, "_local")
    watch.put(bake._Writer, "wait")
    watch.put(bake._Writer, "close")
    watch.put(Take, "append")
    watch.put(Take, "checkpoint")
    path = folder / "take"
    with Take.create(path, TakeHeader([TakeCloth("sheet", side * side)], 1, 1, frames, solver.frame_rate)) as take:
        total, _ = timed(lambda: [None for _ in bake.bake_frames(take, scene, solver)])
    wall, calls = watch.wall, watch.calls
    waited = wall["wait"] + wall["close"]
    print(f"{side * side} vertices, {frames} frames, {1e3 * total / frames:.1f} ms a frame")
    print(f"    waiting for the writer  {waited / total:8.2%} of the bake")
    print(f"    conversion              {wall['_local'] / total:8.2%}")
    print(f"    processor, writer       {(watch.own['append'] + watch.own['checkpoint']) / total:8.2%}")
    print(f"    all in one thread       {(wall['append'] + wall['checkpoint'] + wall['_local']) / total:8.2%}")
    print(f"    a frame                 {1e3 * wall['append'] / calls['append']:8.2f} ms, {24 * side * side} bytes")
    size = max(file.stat().st_size for file in path.glob("checkpoint-*"))
    print(f"    a checkpoint            {1e3 * wall['checkpoint'] / calls['checkpoint']:8.2f} ms, {size} bytes, "
          f"{len(list(path.glob('checkpoint-*')))} of {calls['checkpoint']} kept")
    print(f"    the take                {take.bytes_on_disk() / 2 ** 20:8.1f} MiB")
    for name, call in {"header alone": lambda: read_header(path), "open": lambda: Take.open(path),
                       "certificates": Take.open(path).certificates, "resume": lambda: Take.resume(path).close(),
                       "one frame": lambda: Take.open(path).positions(0, frames)}.items():
        print(f"    {name:<23} {1e3 * min(timed(call)[0] for _ in range(3)):8.2f} ms")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    folders = [argument for argument in sys.argv[1:] if not argument.isdigit()]
    with tempfile.TemporaryDirectory(dir=folders[0] if folders else ROOT) as name:
        main(*[*numbers, *(100, 250)[len(numbers):]][:2], folder=Path(name))
