# SPDX-License-Identifier: GPL-3.0-or-later
"""State of the bake of a cloth, which decides on the buttons of the Bake panel."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import bpy

from ... import core
from ...core.cache.solver_process import SolverProcess
from ..bake import takes
from ..bake.found_take import FoundTake
from ..bake.take_parts import GoingOn, going_on, mixed_parts, mixed_text
from ..properties import baked_record
from ..properties.baked_record import BakedRecord
from ..properties.settings import SceneSettings, scene_settings_of

CHANGED = "Changed since the bake"
"""State of a bake that is out of date."""
MOST_CHANGES = 4
"""Largest number of changes that are named in a line [-]."""


@dataclass(frozen=True)
class BakeState:
    """The bake of one cloth, while none is running.

    Attributes:
        record: of the bake in use, None without one.
        used: the take of that bake, None if it has none or it is gone.
        waiting: a later take, complete or not, that is not in use.
        complete: a complete take that is not in use, besides `waiting` or `used`, which was stopped.
        last: last frame of the scene's range.
        settings: of the scene, None if one of them is no choice here.
    """

    record: BakedRecord | None
    used: FoundTake | None
    waiting: FoundTake | None
    last: int
    settings: SceneSettings | None = None
    complete: FoundTake | None = None

    @property
    def source(self) -> FoundTake | None:
        """The take that a bake may go on from."""
        return self.waiting or self.used

    @property
    def can_resume(self) -> bool:
        """Return whether frames of the scene's range are missing at the end of a take."""
        take = self.source
        return take is not None and take.reached is not None and take.reached < self.last

    @property
    def is_partial(self) -> bool:
        """Return whether the take to continue was stopped before its end."""
        return self.source is not None and not self.source.is_complete

    def has_frame(self, frame: int) -> bool:
        """Return whether the take to continue has a frame."""
        take = self.source
        return take is not None and take.reached is not None and take.start <= frame <= take.reached

    def can_go_on_from(self, frame: int, *, changed: bool = False) -> bool:
        """Return whether a bake can keep frames of the take up to `frame` or fewer, instead of starting anew."""
        return self.has_frame(frame) and self.going_on(frame, changed=changed).kept is not None

    def going_on(self, frame: int | None = None, *, changed: bool) -> GoingOn:
        """Return which frames a bake keeps that goes on from `frame`, or from the last one if that is None.

        changed: whether settings or scene differ from those of the take.
        """
        if self.source is None or self.settings is None:
            return GoingOn(None)
        return going_on(self.source, self.settings, frame, changed=changed)

    @property
    def mixed(self) -> list[str]:
        """Return sentences that name the frames whose settings differ from those of the last frames of the bake."""
        return [mixed_text(part) for part in mixed_parts_of(self.record, self.used)]

    def text(self, changed: bool) -> str:
        """Return the state for the user: Up to date, Changed since the bake, which frames have other settings, or how
        far a stopped bake has come.
        """
        if self.source is not None and self.is_partial:
            take = self.source
            if take.damage:
                whole = f"frames {take.start} to {take.reached}" if take.reached is not None else "no frames"
                return f"On disk, {whole} of {take.last} are whole. {take.damage}"
            if not take.has_frames:
                return f"Stopped at frame {take.reached}, before frame {take.first + 1}"
            return f"Partial: {take.first} to {take.reached} of {take.last}"
        if self.waiting is not None:
            return f"A bake of frames {self.waiting.first} to {self.waiting.reached} is ready"
        if self.record is None:
            return ""
        return CHANGED if changed else ". ".join(self.mixed) or "Up to date"


def date_text(take: FoundTake, changes: list[str]) -> str:
    """Return for the user when a take was baked, and what has changed since."""
    when = time.strftime("%d %b %H:%M", time.localtime(take.changed))
    shown = ", ".join(changes[:MOST_CHANGES]) + (" and more" if len(changes) > MOST_CHANGES else "")
    return f"Baked on {when}" + (f", before changes of: {shown}" if changes else "")


def mixed_parts_of(record: BakedRecord | None, used: FoundTake | None) -> list[dict[str, Any]]:
    """Return {first, last, changed} of the frames of a bake that have other settings than its last ones.

    used: the take of the bake, which has them if the record is of an earlier version.
    """
    if record is None:
        return []
    parts = record.report.get("parts")
    if parts is None and used is not None and used.parts:
        parts = mixed_parts(used.parts, record.first, record.last)
    return parts or []


def solvers_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[tuple[FoundTake, SolverProcess]]:
    """Return the takes of `obj` on which a solver works without a bake in this Blender, each with its solver."""
    found = [(take, SolverProcess(take.folder)) for take in takes.of_object(scene, obj)]
    return [(take, solver) for take, solver in found if solver.is_alive()]


def solver_text(take: FoundTake, solver: SolverProcess) -> str:
    """Return what the user has to know of a solver that works on a take without a bake in this Blender."""
    frame = solver.frame()
    where = f"at frame {take.start if frame is None else frame} of {take.last}"
    if solver.has_parent():
        return f"Another Blender bakes this cloth and is {where}. Let it finish, or cancel it there"
    return (f"Blender has ended during a bake. Its solver still runs and is {where}. Let it finish and press Use, or "
            "press Resume to go on with it, or stop it: its frames are kept")


def state_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> BakeState:
    """Return the state of the bake of `obj`. Fast enough for drawing a panel."""
    try:
        settings = scene_settings_of(scene)
    except core.ClothError:                                         # a stored setting that is no choice here
        settings = None
    waiting = takes.unused(scene, obj)
    return BakeState(baked_record.known(obj), takes.in_use(obj), waiting, 0 if settings is None else settings.last,
                     settings, takes.complete_besides(scene, obj, waiting))
