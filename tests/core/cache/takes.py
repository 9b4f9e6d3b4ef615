# SPDX-License-Identifier: GPL-3.0-or-later
"""Small takes for tests: two cloths of nine vertices that hang, some frames, and what of a take is compared."""

from pathlib import Path

import core
from core.cache.bake import bake_frames
from core.cache.take import Take
from core.cache.take_header import TakeCloth, TakeHeader
from tests.core.cache.faults import faults
from tests.core.simple_scenes import hanging

FIRST, LAST = -1, 5
SOLVER = core.Solver(backend="numpy", frame_rate=24.0)


def scene(friction=None):
    """Return two cloths; with `friction` of another fabric."""
    cloths = [hanging(2, 0.0, name="sheet"), hanging(2, 2.0, name="Sheet")]
    if friction is not None:
        heavy = core.Material(areal_density=0.4, stretch=300.0, shear=40.0, bend=1e-4, damping=0.0, friction=friction)
        cloths = [core.Cloth(cloth.mesh, heavy, pins={0: None, 2: None}, name=cloth.name) for cloth in cloths]
    return core.Scene(cloths)


def header(last=LAST, **other):
    cloths = [TakeCloth("sheet", 9), TakeCloth("Sheet", 9)]
    return TakeHeader(cloths, FIRST, FIRST + 1, last, 24.0, settings={"fabric": "cotton"}, **other)


def baked(folder, last=LAST):
    """Bake a take, and return it open for reading."""
    with Take.create(folder, header(last)) as take:
        for _ in bake_frames(take, scene(), SOLVER):
            pass
    return Take.open(folder)


def state_at(frame):
    """Return the state at a frame of such a take, computed from its first frame."""
    *_, last = core.simulate(scene(), SOLVER, range(FIRST, frame + 1))
    return last.checkpoint()


def contents(folder):
    """Return all of a take that must be the same however often it was interrupted."""
    take, found = Take.open(folder), {}
    for path in sorted(Path(folder).glob("*.pc2")):
        found[path.name] = path.read_bytes()
    for index in range(2):
        for frame in range(FIRST, take.last + 1):
            found[index, frame] = take.velocities(index, frame).tobytes()
    untimed = [{k: v for k, v in c.items() if k not in ("seconds", "frame_seconds")} for c in take.certificates()]
    return {**found, "certificates": untimed, "complete": take.is_complete, "faults": faults(take)}
