# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate into a take, frame by frame.

A thread writes a frame while the next one is solved. A frame is yielded once it is on the disk, so that it comes one
frame after it was solved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..description.motion import MotionWindow
from ..description.scene import Scene
from ..description.settings import Solver
from ..errors import CacheError, ClothError, SceneError
from ..stepping.checkpoint import Checkpoint
from ..stepping.simulate import Frame, simulate
from .take import Take
from .take_checkpoints import CHECKPOINT_FRAMES

CHECKPOINT_SECONDS = 30.0
"""Largest time from one checkpoint to the next, unless one frame takes longer [s]."""


def bake_frames(take: Take, scene: Scene, solver: Solver, window: MotionWindow | None = None,
                next_frame: Callable[[int], None] | None = None, start: Checkpoint | None = None,
                clock: Callable[[], float] = time.perf_counter) -> Iterator[Frame]:
    """Simulate the frames that a take lacks, commit them, and yield each once it is on the disk.

    The bake continues from `start`, which is `take.checkpoint_before(take.last)` or an earlier one, or from the first
    frame if it is None. Frames that the take has already are computed again and compared, and not written. A checkpoint
    is written every `CHECKPOINT_FRAMES` frames, at the end, and when the generator is closed or fails.

    Args:
        take: open for writing. Closing it is left to the caller.
        scene: with the cloths of the take.
        solver: of the simulation.
        window: values called "matrix NAME" for each cloth: (4, 4), from the space of its object [Blender units] to the
            world [m]. Without a window or such values that space is the world's, scaled by `metres_per_unit`. Its clock
            is that of the simulation.
        next_frame: called with n before frame n is solved; moves the window from frame n - 1 to n. It is not called for
            the first frame of all. With `start` the window must be at its frame (`MotionWindow.jump`).
        start: state to continue from.
        clock: returns the time [s] that the time of a frame is measured with. One that stands still in pauses leaves
            them out.

    Raises:
        CacheError: the take is of other cloths, or `start` is of another take; nothing is computed then. A frame cannot
            be written; or one that was computed again differs from the one in the take.
        CheckpointError: `start` does not fit the scene; nothing is computed then.
        SolverError, ColliderError, PinError: as `simulate`. The frames before are on the disk and have been yielded.
    """
    _check(take, scene, start)
    if take.is_complete:
        return iter(())
    first = take.header.start if start is None else start.frame + 1
    frames = simulate(scene, solver, range(first, take.end + 1), start=start,
                      clock=None if window is None else window.clock)
    return _baked(take, scene, window, next_frame, frames, range(first, take.end + 1), clock)


def _baked(take: Take, scene: Scene, window: MotionWindow | None, next_frame: Callable[[int], None] | None,
           frames: Iterator[Frame], numbers: range, clock: Callable[[], float]) -> Iterator[Frame]:
    """Commit and yield `frames`, which have these numbers."""
    known = take.last
    writer = _Writer(take)
    waiting: Frame | None = None                # handed to the writer, not yielded yet
    failure: ClothError | None = None
    try:
        for number in numbers:
            try:
                if next_frame is not None and number > take.header.start:
                    next_frame(number)
                began = clock()                                         # reading is no part of solving
                frame = next(frames)
                local = None if known is not None and number <= known else _local(take, scene, window, frame)
            except ClothError as error:
                failure = error
                break
            if local is None:
                _compare(take, frame)
                continue
            writer.wait()
            writer.commit(frame, local, clock() - began, last=number == numbers[-1])
            if waiting is not None:
                yield waiting
            waiting = frame
        writer.wait()
        if waiting is not None:
            yield waiting
        if failure is not None:
            raise failure
    finally:
        writer.close()


@dataclass
class _Writer:
    """Commits frames in a thread of its own, one at a time.

    Attributes:
        take: that is written.
    """

    take: Take

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "muslin-cache")
        self._pending: Future[None] | None = None
        self._latest: Frame | None = None               # committed, without a checkpoint yet
        self._failed = False
        self._frames, self._since = 0, time.perf_counter()

    def commit(self, frame: Frame, local: list[FloatArray], seconds: float, *, last: bool) -> None:
        """Begin to commit a frame, and its checkpoint if one is due or it is the `last` one."""
        self._pending = self._pool.submit(self._commit, frame, local, seconds, last)

    def wait(self) -> None:
        """Wait until the frame is on the disk.

        Raises:
            CacheError: it is not.
        """
        pending = self._pending
        if pending is not None:
            try:
                pending.result()
            finally:
                if pending.done():                      # not so after Ctrl-C: `close` waits again
                    self._pending = None

    def close(self) -> None:
        """Wait for the frame, and write the checkpoint of the last one if it has none."""
        try:
            self.wait()
            if self._latest is not None and not self._failed:
                self._checkpoint(self._latest)
        finally:
            self._pool.shutdown()

    def _commit(self, frame: Frame, local: list[FloatArray], seconds: float, last: bool) -> None:
        try:
            self.take.append(frame, local, seconds)
            self._latest = frame
            self._frames += 1
            if last or self._frames >= CHECKPOINT_FRAMES or time.perf_counter() - self._since > CHECKPOINT_SECONDS:
                self._checkpoint(frame)
        except BaseException:
            self._failed = True
            raise

    def _checkpoint(self, frame: Frame) -> None:
        self.take.checkpoint(frame)
        self._latest, self._frames, self._since = None, 0, time.perf_counter()


def _check(take: Take, scene: Scene, start: Checkpoint | None) -> None:
    counts = [len(cloth.positions) for cloth in scene.cloths]
    wanted = [cloth.vertices for cloth in take.header.cloths]
    if counts != wanted:
        raise CacheError(f"{take.folder} is of cloths with {wanted} vertices, those of the scene have {counts}; bake "
                         "again, into a take of its own")
    if start is None:
        return
    if start.first != take.header.start:
        raise CacheError(f"{take.folder} begins at frame {take.header.start}, the checkpoint is of a bake from frame "
                         f"{start.first} on; take a checkpoint of this take")
    if take.last is None or start.frame > take.last:
        raise CacheError(f"{take.folder} has frames up to {take.last}, the checkpoint is of frame {start.frame}; take "
                         "an earlier one")


def _local(take: Take, scene: Scene, window: MotionWindow | None, frame: Frame) -> list[FloatArray]:
    """Return the positions (V, 3) of each cloth in the space of its object [Blender units]."""
    found = []
    for cloth, x in zip(scene.cloths, frame.positions, strict=True):
        try:
            matrix = None if window is None else window.at(f"matrix {cloth.name}", frame.time)
        except KeyError:
            matrix = None
        try:
            back = np.eye(4) / take.header.metres_per_unit if matrix is None else np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            raise CacheError(f"the object has no size in one direction at frame {frame.index}, so that nothing can be "
                             "stored in its space; give it a scale other than 0", object_name=cloth.name) from None
        local = x @ back[:3, :3].T + back[:3, 3]
        wrong = ~(np.abs(local) <= np.finfo(np.float32).max).all(axis=1)        # nan, too
        if wrong.any():
            vertex = int(np.argmax(wrong))
            raise SceneError(f"vertex {vertex} would be at {x[vertex].tolist()} m at frame {frame.index}, which no "
                             "file and no mesh can hold; raise Steps per Frame, or give the object a scale nearer to 1",
                             object_name=cloth.name)
        found.append(local)
    return found


def _compare(take: Take, frame: Frame) -> None:
    """Raise CacheError if a frame that was computed again differs from the one in the take."""
    for index, v in enumerate(frame.velocities):
        if not np.array_equal(take.velocities(index, frame.index), v.astype(np.float32)):
            raise CacheError(f"{take.folder}: frame {frame.index}, computed again, differs from the one in the cache, "
                             "because settings, backend or version have changed since; resume from an earlier frame "
                             "that has a checkpoint, or bake again")
