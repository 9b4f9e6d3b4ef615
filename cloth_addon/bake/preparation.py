# SPDX-License-Identifier: GPL-3.0-or-later
"""Preparation of a bake: what is read before its first frame, and the take that the frames go into.

Bakes that run here and bakes of a solver process start in the same way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ... import core
from ...core.cache.feed import FEED_NAME, FeedWriter
from ...core.cache.take import Take
from ...core.cache.take_entries import read_header
from ...core.cache.take_header import TakeCloth, TakeHeader, versions_of_takes
from ...core.cache.take_reader import TakeReader
from ...core.stepping.continuation import check_continues
from ..properties.settings import SceneSettings, scene_settings_of
from ..read import read_cloth
from ..read.fingerprint import differences, fingerprint
from ..read.read_scene import SimulationInput, read_scene
from ..write.report import json_values
from ..write.shape_key_size import check_memory
from . import found_take, report_notes, takes
from .found_take import FoundTake
from .progress import StageTimer
from .take_parts import GoingOn, going_on
from .watch import Watch


@dataclass(frozen=True)
class Continuation:
    """The take that a bake continues, and the frame after which it goes on.

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
        read_cloth.check_frames(self.settings.first, self.settings.last, self.settings.start)
        self.frames, self.watch, self.timer = frames, watch, StageTimer()
        self._scene = scene
        view_layer.update()
        with self.timer.stage("read"):
            self.inputs: SimulationInput = read_scene(scene, self.settings, objects, view_layer)
            self.objects = [source.obj for source in self.inputs.sources]
            self.names = tuple(source.name for source in self.inputs.sources)
            check_memory(self.objects, self.settings.last - self.settings.first + 1)
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

    def feed(self, take: Take) -> FeedWriter:
        """Return the feed of a take, open for writing.

        If the scene is as it was for the earlier bake, it is the feed of that bake, which goes on after its last frame.
        That frame is read and compared, because no fingerprint covers the cache of a rigid body simulation.

        Raises:
            core.CacheError: it cannot be written.
        """
        path, motion, source = take.folder / FEED_NAME, self.inputs.window.motion, self._source()
        with suppress(core.CacheError):
            feed = FeedWriter.open(path, motion, source)
            if feed.frame == self.settings.start:
                return feed
            values = self.read(feed.frame)[-1][1]
            if all(np.array_equal(values[name], array) for name, array in feed.values.items()):
                return feed
            feed.close()
            self.read(self.settings.start)
        return FeedWriter.create(path, motion, source)

    def _source(self) -> str:
        """Return a digest of all that the motion of the scene depends on."""
        values = {"fingerprints": self.fingerprints, "blender": bpy.app.version_string, **versions_of_takes()}
        return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=16).hexdigest()

    def header(self) -> TakeHeader:
        """Return the header of a new take."""
        settings, inputs = self.settings, self.inputs
        cloths = [TakeCloth(name, len(cloth.positions)) for name, cloth in
                  zip(self.names, inputs.cloths, strict=True)]
        return TakeHeader(
            cloths=cloths, start=settings.start, first=settings.first, last=settings.last,
            frame_rate=settings.frame_rate, metres_per_unit=settings.metres_per_unit, time_ratio=settings.time_ratio,
            owner=bpy.data.filepath, settings=self.settings_values(),
            fingerprints=self.fingerprints, report=self.report_values())

    def settings_values(self) -> dict[str, Any]:
        """Return the settings of the scene and, by name, of the cloths as JSON values."""
        return json_values({"scene": asdict(self.settings),
                            "cloths": {source.name: asdict(source.settings) for source in self.inputs.sources}})

    def report_values(self) -> dict[str, Any]:
        """Return what the report of the bake has from its beginning, as JSON values."""
        return json_values({
            "scene": self._scene.name, "colliders": [obj.name for obj in self.inputs.collider_objects],
            "scene_cloths": [obj.name for obj in read_cloth.objects_of_kind(self._scene, "CLOTH")],
            "notes": [*report_notes.gravity_notes(self.inputs.scene.gravity, self.settings.metres_per_unit),
                      *self.inputs.notes],
            "mean_edges": {cloth.name: cloth.mesh.mean_edge for cloth in self.inputs.cloths}})

    def take(self, continuation: Continuation | None) -> tuple[Take, core.Checkpoint | None]:
        """Return the take to write to, and the state to continue from; None to start anew.

        A take ends before its first damaged frame. It is continued in its own folder if no frame before is given up;
        else in a new one, which starts with a copy of the frames that are kept, so that the earlier frames are there
        until the new bake is complete. If it has nothing to go on from, because it was stopped too early, the bake
        starts anew.

        Raises:
            core.ClothError: the folder cannot be written to, or the take cannot be continued.
        """
        if continuation is None:
            return self._new_take(), None
        found = found_take.read(continuation.folder, whole=True)
        if found is None:
            raise core.SceneError(f"the cache {continuation.folder} cannot be read; bake from the start")
        self._check_same(found)
        folder, frame = continuation.folder, self._frame_to_keep(found, continuation)
        if frame is None:
            return self._new_take(), None
        assert found.reached is not None
        self._check_mesh(Take.open(folder), frame)
        shared = found.id in takes.ids_in_use(without=self.objects)
        if frame < found.reached or shared or not takes.is_mine(found):
            folder = takes.new_folder(self._scene, self.names)
            take = Take.open(continuation.folder).copy_prefix(folder, frame)
        else:
            take = Take.resume(folder)
        self._note_made(take)
        takes.forget()
        try:
            owner = bpy.data.filepath if folder != continuation.folder else found.owner
            if folder != continuation.folder or take.owner != owner:        # recorded after a frame that was damaged
                take.set_owner(owner)
            start = take.checkpoint_before(frame)
            if self._differs(take, take.segments) or take.end != self.settings.last:
                settings = self.settings_values()
                take.begin_segment({**settings, "cloths": self._named_as_in(take, settings["cloths"])},
                                   self._named_as_in(take, self.fingerprints), self.settings.last,
                                   self.report_values(), state=start)
        except BaseException:
            take.close()
            raise
        return take, start

    def _new_take(self) -> Take:
        """Return a new take without frames."""
        takes.delete_older(self._scene, self.objects, set())
        folder = takes.new_folder(self._scene, self.names)
        takes.forget()
        take = Take.create(folder, self.header())
        self._note_made(take)
        return take

    def _note_made(self, take: TakeReader) -> None:
        takes.note_made(take.header.take, {cloth.name: obj for cloth, obj in
                                           zip(take.header.cloths, self.objects, strict=True)})

    def _differs(self, take: TakeReader, parts: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether settings or input of the last of these parts of a take were others."""
        before = parts[-1]["fingerprints"]
        return any(set(differences(before.get(name, {}), now)) - {"frame range"}
                   for name, now in self._named_as_in(take, self.fingerprints).items())

    def _named_as_in(self, take: TakeReader, values: dict[str, Any]) -> dict[str, Any]:
        """Return values by cloth with the names that the cloths have in a take, which may be earlier ones."""
        names = dict(zip(self.names, (cloth.name for cloth in take.header.cloths), strict=True))
        return {names.get(name, name): value for name, value in values.items()}

    def _frame_to_keep(self, found: FoundTake, continuation: Continuation) -> int | None:
        """Return the last frame of a take that is kept, None if it has no frame to go on from, see `going_on`."""
        take, changed = Take.open(continuation.folder), False
        if found.reached is not None:
            changed = self._differs(take, found.parts)
        while True:
            plan = going_on(found, self.settings, continuation.frame, changed=changed)
            if plan.kept is None or self._goes_on(take, plan):
                return plan.kept
            found = replace(found, states=tuple(state for state in found.states if state < plan.kept))
            changed = True                                          # a state is damaged: go on from one before it

    def _goes_on(self, take: TakeReader, plan: GoingOn) -> bool:
        """Return whether the state that a bake goes on from can be read."""
        assert plan.kept is not None
        try:
            start = take.checkpoint_before(plan.kept)
        except core.CacheError:
            return False
        return plan.is_exact or (start is not None and start.frame == plan.kept)

    def _check_same(self, found: FoundTake) -> None:
        """Raise ClothError if a take is of other cloths or meshes, or of other first frames."""
        names = tuple(takes.cloth_in(found, obj) for obj in self.objects)
        if sorted(found.cloths) != sorted(names):
            raise core.SceneError(f"the cache {found.folder} is of {', '.join(found.cloths)}, baked together; bake "
                                  "the same cloths, or bake from the start", object_name=self.names[0])
        if found.cloths != names:
            raise core.SceneError(f"the cloths of the cache {found.folder} were renamed, so that they come in another "
                                  f"order: {', '.join(names)} instead of {', '.join(found.cloths)}; give them their "
                                  "names back, or bake from the start", object_name=self.names[0])
        if (found.start, found.first) != (self.settings.start, self.settings.first):
            start, now = (found.start, self.settings.start) if found.start != self.settings.start else (
                found.first, self.settings.first)
            preroll = " and Pre-Roll as it was" if found.start != found.first else ""
            raise core.SceneError(f"the bake to continue starts at frame {start}, the scene's range now at {now}; set "
                                  f"Start to {start}{preroll}, or bake from the start", object_name=self.names[0])
        for obj, cloth in zip(self.objects, read_header(found.folder).cloths, strict=True):
            count = len(obj.data.vertices)
            if count != cloth.vertices:
                raise core.MeshError(f"has {count} vertices, and {cloth.vertices} when it was baked; undo the change "
                                     "of the mesh, or bake from the start", object_name=obj.name)

    def _check_mesh(self, take: TakeReader, frame: int) -> None:
        """Raise SceneError if the mesh or the frame rate is not that of the state to continue from."""
        start = take.checkpoint_before(frame)
        if start is None:
            return
        try:
            check_continues(start, self.inputs.scene, self.settings.solver(), start.frame + 1)
        except core.ClothError as error:
            before = take.segments[-1]["fingerprints"]
            changed = [name for name, parts in self._named_as_in(take, self.fingerprints).items()
                       if parts.get("mesh") != before.get(name, {}).get("mesh")]
            raise core.SceneError(f"cannot go on with its bake: {error}. Undo that change, or bake from the start",
                                  object_name=(changed or self.names)[0]) from error
