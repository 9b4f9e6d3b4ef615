# SPDX-License-Identifier: GPL-3.0-or-later
"""State of the bake of a cloth, which decides on the buttons of the Bake panel."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ... import core
from ...core.cache.solver_process import SolverProcess
from ..bake import takes
from ..bake.takes import FoundTake
from ..properties import baked_record
from ..properties.baked_record import BakedRecord
from ..properties.settings import scene_settings_of


@dataclass(frozen=True)
class BakeState:
    """The bake of one cloth, while none is running.

    Attributes:
        record: of the bake in use, None without one.
        used: the take of that bake, None if it has none or it is gone.
        waiting: a later take, complete or not, that is not in use.
        last: last frame of the scene's range.
    """

    record: BakedRecord | None
    used: FoundTake | None
    waiting: FoundTake | None
    last: int

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

    def can_go_on_from(self, frame: int) -> bool:
        """Return whether a bake can go on from the frame after `frame`."""
        take = self.source
        return take is not None and take.reached is not None and take.start <= frame <= take.reached

    def text(self, changed: bool) -> str:
        """Return the state for the user: Up to date, Changed since the bake, or how far a stopped bake has come."""
        if self.source is not None and self.is_partial:
            take = self.source
            if not take.has_frames:
                return f"Stopped at frame {take.reached}, before frame {take.first + 1}"
            return f"Partial: {take.first} to {take.reached} of {take.last}"
        if self.waiting is not None:
            return f"A bake of frames {self.waiting.first} to {self.waiting.reached} is ready"
        if self.record is None:
            return ""
        return "Changed since the bake" if changed else "Up to date"


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
        last = scene_settings_of(scene).last
    except core.ClothError:                                         # a stored setting that is no choice here
        last = 0
    return BakeState(baked_record.known(obj), takes.in_use(obj), takes.unused(scene, obj), last)
