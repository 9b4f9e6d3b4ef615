# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake beside the window that a test steps, on a small scene with a moving collider."""

from __future__ import annotations

import time

from tests.addon import builders

LAST = 6


def moving_scene(result="SHAPE_KEYS", n=5):
    """Add a sheet of n x n vertices, pinned at a corner, and a box that moves through it; return the sheet."""
    sheet = builders.sheet(n, height=0.1)
    builders.pin(sheet, {0: 1.0})
    sheet.muslin.result = result
    builders.animate(builders.box(size=0.2), "location", {1: (0.0, 0.0, -0.1), LAST: (0.1, 0.0, 0.1)})
    return sheet


class Driven:
    """A bake beside the window that a test steps."""

    def __init__(self, extension, scene, objects, resume=None):
        self.bake = extension.window_bake.WindowBake(scene, objects, resume)
        self.steps, self.report, self.progress = self.bake.steps(), None, None

    def until(self, condition=lambda bake: False, seconds=60.0):
        """Step until the condition holds or the bake ends. Return whether it runs still."""
        end = time.monotonic() + seconds
        while not condition(self.bake):
            assert time.monotonic() < end, "the bake does not end"
            try:
                self.progress = next(self.steps)
            except StopIteration as stop:
                self.report = stop.value
                return False
            assert 0.0 <= self.progress.fraction <= 1.0
            if self.progress.waits:
                time.sleep(0.01)
        return True

    def solving(self, frames=1):
        """Step until the scene is read and so many frames are there."""
        assert self.until(lambda bake: not bake.reads and len(bake.certificates) >= frames)

    def close(self):
        """Cancel the bake, and wait for the end of the solver."""
        self.steps.close()
        assert self.bake._process.wait(30.0)


def stored(extension, obj):
    """Return the bytes of each frame of the take that the bake of `obj` is of."""
    extension.takes.forget()
    take = extension.apply_take.Take.open(extension.takes.in_use(obj).folder)
    return [take.positions(0, n).tobytes() + take.velocities(0, n).tobytes()
            for n in range(take.header.start, take.last + 1)]


def latest(extension, scene, obj):
    """Return the latest take of `obj`."""
    extension.takes.forget()
    return extension.takes.of_object(scene, obj, now=True)[0]


def long_bake(extension, scene, frames=40):
    """Begin a bake that takes some seconds, and return it while it is solved."""
    sheet = moving_scene(n=14)
    scene.frame_end = frames
    bake = Driven(extension, scene, [sheet])
    bake.solving(2)
    return sheet, bake
