# SPDX-License-Identifier: GPL-3.0-or-later
"""Continue bakes that were interrupted: the take to go on with, and what is kept when a bake ends too early."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import bpy

from ... import core
from ...core.cache.take import Take
from ..bake import backends, found_take, takes
from ..bake import bake as baking
from ..bake.apply_take import apply_take, objects_of
from ..bake.found_take import FoundTake
from ..bake.preparation import Continuation
from ..bake.progress import Progress, StageTimer
from ..properties import baked_record
from ..properties.settings import SceneSettings, scene_settings_of
from ..read.fingerprint import differences, fingerprint
from ..write.report import Report, versions
from .progress_output import say


@dataclass(frozen=True)
class Shot:
    """Scene, objects, frames and output of one bake.

    Attributes:
        scene, objects: cloths of the scene.
        frames: first and last frame, None for the scene's.
        backend: its name, None for the scene's.
        output: the .blend that is saved.
    """

    scene: bpy.types.Scene
    objects: Sequence[bpy.types.Object]
    frames: tuple[int, int] | None
    backend: str | None
    output: Path

    @property
    def settings(self) -> SceneSettings:
        """The settings of the scene."""
        return scene_settings_of(self.scene, self.frames, self.backend)

    def takes(self) -> list[FoundTake]:
        """Return the takes of these cloths, baked together, the latest first."""
        names = sorted(obj.name for obj in self.objects)
        return [take for take in takes.takes_in(takes.cache_folder(self.scene), now=True)
                if sorted(take.cloths) == names]


@dataclass(frozen=True)
class Kept:
    """Frames of a bake that ended too early: where they are, the first simulated and the last."""

    folder: str
    first: int
    last: int


class StoppedError(Exception):
    """A bake ended before it was saved.

    Attributes:
        error: why.
        kept: its frames on disk, None without any.
    """

    def __init__(self, error: BaseException, kept: Kept | None) -> None:
        self.error, self.kept = error, kept
        reason = "interrupted" if isinstance(error, KeyboardInterrupt) else (
            "there is not enough memory; close other programs, or take fewer frames"
            if isinstance(error, MemoryError) else str(error))
        end = ("no frame was solved" if kept is None else
               f"frames {kept.first} to {kept.last} are kept in {kept.folder}: give the same command with --resume to "
               "go on")
        super().__init__(f"{reason}; nothing was saved, {end}")


def resumed(shot: Shot) -> Generator[Progress, None, Report]:
    """Bake with the frames that are on disk, from the start if there are none with the settings of now.

    Frames that were solved by another backend or version are not computed again and compared: the bake goes on from the
    last stored state.
    """
    found, problem = _usable(shot)
    if found is None or found.reached is None:
        say(f"{problem}: baking from the start")
        return (yield from _started(shot, None))
    last = shot.settings.last
    if found.is_complete and found.last == last:
        say(f"all frames are in {found.folder}")
        with baking.frame_kept(shot.scene):
            return (yield from apply_take(shot.scene, baking.view_layer_of(shot.scene, None), Take.open(found.folder),
                                          objects_of(found, shot.scene), StageTimer()))
    stored = Take.open(found.folder).checkpoint_before(min(last, found.reached))
    same = found.reached <= last == found.last and _computes_the_same(found, shot)
    because = f"{found.damage}: " if found.damage else ""
    if not same and stored is None:
        say(f"{because}{found.folder} has no stored state to go on from: baking from the start")
        return (yield from _started(shot, None))
    _claim(found, shot)
    frame = None if same or stored is None else stored.frame
    say(f"{because}going on after frame {found.reached if frame is None else frame} in {found.folder}")
    try:
        return (yield from _started(shot, Continuation(found.folder, frame)))
    except core.ClothError as error:
        if isinstance(error.__cause__, core.CheckpointError):           # a state of another version
            say(f"{error}: baking from the start")
            continuation = None
        elif isinstance(error, core.CacheError) and frame is None and stored is not None:
            say(f"{error}. Going on after frame {stored.frame}")        # another processor rounds otherwise
            continuation = Continuation(found.folder, stored.frame)
        else:
            raise
    return (yield from _started(shot, continuation))


def _started(shot: Shot, continuation: Continuation | None) -> Generator[Progress, None, Report]:
    return baking.bake(shot.scene, shot.objects, shot.frames, backend=shot.backend, resume=continuation)


def _usable(shot: Shot) -> tuple[FoundTake | None, str]:
    """Return the latest take that was baked with the settings of now, or None and why there is none.

    All its frames are read: it ends before the first damaged one.
    """
    settings, problem = shot.settings, "there are no frames of this bake on disk"
    now = {obj.name: fingerprint(shot.scene, obj, shot.frames) for obj in shot.objects}
    for found in shot.takes():
        if found.reached is None:
            problem = _none_is_whole(found) if found.damage else problem
            continue
        if (found.start, found.first) != (settings.start, settings.first):
            changed = {"frame range"}
        else:
            changed = _changes(found, now)
        if not changed:
            whole = found_take.read(found.folder, whole=True)
            if whole is None or whole.reached is None:
                problem = _none_is_whole(whole or found)
                continue
            changed = _changes(whole, now)                          # its later parts may be behind a damaged frame
            found = whole
        if not changed:
            return found, ""
        problem = f"the frames in {found.folder} are of other settings ({', '.join(sorted(changed))})"
    return None, problem


def _none_is_whole(found: FoundTake) -> str:
    return f"{found.damage or f'{found.folder} is damaged'}, and no frame before it is whole"


def _changes(found: FoundTake, now: Mapping[str, dict[str, str]]) -> set[str]:
    """Return the parts of the fingerprints of `now` that differ from those of the last part of a take."""
    before = found.parts[-1]["fingerprints"]
    return {part for name, parts in now.items() for part in differences(before.get(name, {}), parts)} - {"frame range"}


def _computes_the_same(found: FoundTake, shot: Shot) -> bool:
    """Return whether frames that are computed again here may have the bytes of those on disk."""
    here = versions()
    return found.backend == backends.chosen(shot.settings.backend) and all(
        found.versions.get(name) == here[name] for name in ("muslin", "numpy"))


def _claim(found: FoundTake, shot: Shot) -> None:
    """Let a take that belongs to the output of this command belong to the open file, which may go on with it."""
    if found.owner == str(shot.output):
        _set_owner(found, bpy.data.filepath)


def hand_over(shot: Shot) -> None:
    """Let the take of the bake belong to the output, and delete older ones of the output but the latest.

    The open file has no record of it, and would delete it after some bakes.
    """
    used = {record.take_id for obj in bpy.data.objects if (record := baked_record.known(obj)) is not None}
    found = next((take for obj in shot.objects if (take := takes.in_use(obj)) is not None), None)
    if found is not None and found.owner != str(shot.output):
        _set_owner(found, str(shot.output))
    for take in [take for take in shot.takes() if take.owner == str(shot.output) and take.id not in used][1:]:
        with suppress(core.ClothError):
            takes.delete(take)


def _set_owner(found: FoundTake, owner: str) -> None:
    with suppress(core.ClothError), Take.resume(found.folder) as take:
        take.set_owner(owner)
    takes.forget()


def last_frames(shot: Shot) -> dict[str, int | None]:
    """Return the last frame of each take of these cloths, by its id."""
    return {take.id: take.reached for take in shot.takes()}


def kept_frames(shot: Shot, before: dict[str, int | None], *, resumes: bool) -> Kept | None:
    """Return the frames on disk of a bake that has ended.

    Args:
        before: `last_frames` before the bake.
        resumes: whether it may have gone on with a take without adding a frame.
    """
    for take in shot.takes():
        is_new = take.id not in before or take.reached != before[take.id]
        if take.reached is not None and (is_new or resumes):
            return Kept(str(take.folder), take.start, take.reached)
    return None
