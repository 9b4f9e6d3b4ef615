# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a step has room to be taken as if nothing but pins were there.

Integrators of their own kind, which look back or forth, take such steps; where anything is touched or may be, they take
a step that knows contacts instead.
"""

from __future__ import annotations

from ..arrays import FloatArray
from ..contact.surroundings import Surroundings
from ..state import State
from .step_context import StepContext


class Clearance:
    """The room around the cloth in one step; arguments as of the step."""

    def __init__(self, state: State, h: float, context: StepContext) -> None:
        surfaces = context.surfaces
        self._state, self._h, self._watch = state, h, context.watch
        self._itself = context.settings.self_collision
        self._own = own = context.contact if self._itself or surfaces is not None else None
        self._motion = None if own is None else own.motion(surfaces)

    def _look(self, x1: FloatArray) -> Surroundings | None:
        if self._own is None:
            return None
        return self._own.look(self._state.x, x1, self._motion, itself=self._itself)

    def may_touch(self) -> bool:
        """Whether anything is touched, or would be in the step if it went on as it does."""
        state, h = self._state, self._h
        if state.touch.mode.any() or self._crossed_before():
            return True
        if self._own is None:
            return False
        with self._watch.stage("contact"):
            then = self._own.ahead(state.x, state.v, h)
            around = self._look(then)
            inside = self._motion is not None and self._own.history.stuck
            return around is not None and (inside or around.touches(then))

    def _crossed_before(self) -> bool:
        """Return whether vertices are astray (see `contact.homes`), or are let through colliders."""
        last = self._state.contact
        if last is None or last.homes is None:
            return last is not None and last.through is not None
        return last.through is not None or bool(last.homes.astray.any())

    def meets(self, x1: FloatArray, v1: FloatArray) -> bool:
        """Whether a step that ended at x1 (V, 3) [m] with v1 (V, 3) [m/s] met something after all; learns from it if
        not."""
        if self._own is None:
            return False
        with self._watch.stage("contact"):
            around = self._look(x1)
            if around is not None and len(around.meeting(x1)[0]):
                return True
            self._own.learn(x1, (v1 - self._state.v) / self._h)
            return False
