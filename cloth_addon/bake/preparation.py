# SPDX-License-Identifier: GPL-3.0-or-later
"""Preparation of a bake: what is read before its first frame, and the take that the frames go into.

Bakes that run here and bakes of a solver process start in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ...core.cache import take as cache
from ..properties.settings import SceneSettings, scene_settings_of
from ..read import read_cloth
from ..read.fingerprint import fingerprint
from ..read.read_scene import SimulationInput, read_scene
from ..write.report import json_values, versions
from . import report_notes, takes
from .progress import StageTimer
from .watch import Watch


@dataclass(frozen=True)
class Continuation:
    """Where a bake goes on.

    Attributes:
        folder: of the take that it continues.
        frame: last frame of it that is kept; None for all that is there.
    """

    folder: Path
    frame: int | None = None


class Preparation:
    """A bake that is about to start: its input is read, and nothing has changed.

    Attributes:
        settings, inputs, watch, timer: of the bake.
        names: of the cloths.
        frames: (first, last) that were given instead of the scene's, or None.
    """

    def __init__(self, scene: bpy.types.Scene, objects: Sequence[bpy.types.Object] | None,
                 frames: tuple[int, int] | None, view_layer: bpy.types.ViewLayer, backend: str | None,
                 watch: Watch) -> None:
        """Read the scene. It is left at the first frame of the simulation.

        Raises:
            core.ClothError: something cannot be baked.
        """
        self.settings: SceneSettings = scene_settings_of(scene, frames, backend)
        read_cloth.check_frames(self.settings.first, self.settings.last)
        self.frames, self.watch, self.timer = frames, watch, StageTimer()
        self._scene = scene
        view_layer.update()
        with self.timer.stage("read"):
            self.inputs: SimulationInput = read_scene(scene, self.settings, objects, view_layer)
            self.objects = [source.obj for source in self.inputs.sources]
            self.names = tuple(source.name for source in self.inputs.sources)
            watch.start(view_layer, self.objects, self.inputs.collider_objects,
                        lambda: scene_settings_of(scene, frames, backend))
            self.fingerprints = {obj.name: fingerprint(scene, obj, frames) for obj in self.objects}

    @property
    def models(self) -> list[str]:
        """Names of the models that are simulated."""
        return sorted({source.settings.model for source in self.inputs.sources})

    def read(self, frame: int) -> Any:
        """Read the next frame of everything that moves, and return its samples."""
        with self.timer.stage("read"):
            samples = self.inputs.window.read(frame)
            self.watch.set_frame(frame)
        return samples

    def header(self) -> cache.Header:
        """Return the header of a new take."""
        settings, inputs = self.settings, self.inputs
        cloths = [cache.TakeCloth(name, len(cloth.positions)) for name, cloth in
                  zip(self.names, inputs.cloths, strict=True)]
        return cache.Header(
            cloths=cloths, start=settings.start, first=settings.first, last=settings.last,
            frame_rate=settings.frame_rate, metres_per_unit=settings.metres_per_unit, time_ratio=settings.time_ratio,
            owner=bpy.data.filepath, versions=versions(), settings=self.settings_values(),
            fingerprints=self.fingerprints, report=self.report_values())

    def settings_values(self) -> dict[str, Any]:
        """Return the settings of the scene and of each cloth as JSON values."""
        return json_values({"scene": asdict(self.settings)}
                           | {source.name: asdict(source.settings) for source in self.inputs.sources})

    def report_values(self) -> dict[str, Any]:
        """Return what the report of the bake has from its beginning, as JSON values."""
        return json_values({
            "scene": self._scene.name, "colliders": [obj.name for obj in self.inputs.collider_objects],
            "notes": report_notes.gravity_notes(self.settings) + self.inputs.notes,
            "mean_edges": {cloth.name: cloth.mesh.mean_edge for cloth in self.inputs.cloths}})

    def take(self, continuation: Continuation | None) -> tuple[cache.Take, core.Checkpoint | None]:
        """Return the take to write to, and the state to continue from; None to start anew.

        A take is continued in its own folder if no frame of it is given up; else in a new one, which starts with a copy
        of the frames that are kept, so that the earlier frames are there until the new bake is complete.

        Raises:
            core.ClothError: the folder cannot be written to, or the take cannot be continued.
        """
        if continuation is None:
            folder = takes.new_folder(self._scene, self.names)
            takes.forget()
            return cache.Take.create(folder, self.header()), None
        found = takes.read(continuation.folder)
        if found is None or found.reached is None:
            raise core.SceneError(f"the cache {continuation.folder} has no frame to continue from; bake from the start")
        self._check_same(found)
        folder, frame = continuation.folder, found.reached
        if continuation.frame is not None and continuation.frame < frame or not takes.is_mine(found):
            frame = min(continuation.frame if continuation.frame is not None else frame, frame)
            folder = takes.new_folder(self._scene, self.names)
            with cache.Take.open(continuation.folder) as earlier:
                earlier.copy_prefix(folder, frame, owner=bpy.data.filepath)
        takes.forget()
        take = cache.Take.resume(folder, last=self.settings.last)
        take.begin_segment(self.settings_values(), self.fingerprints)
        return take, take.checkpoint_before(frame)

    def _check_same(self, found: takes.FoundTake) -> None:
        """Raise SceneError if a take is of other cloths or starts at another frame."""
        if sorted(found.cloths) != sorted(self.names):
            raise core.SceneError(f"the cache {found.folder} is of {', '.join(found.cloths)}, which were baked together; "
                                  "bake the same cloths, or bake from the start", object_name=self.names[0])
        if found.start != self.settings.start:
            raise core.SceneError(f"the bake to continue starts at frame {found.start}, the scene's range now at "
                                  f"{self.settings.start}; set Start to {found.start}, or bake from the start",
                                  object_name=self.names[0])
