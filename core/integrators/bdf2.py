# SPDX-License-Identifier: GPL-3.0-or-later
"""BDF2, the second backward differentiation formula: second order, and stable for every step size.

    x1 = 4/3 x0 - 1/3 x_before + 2/3 h v1,      M (v1 - 4/3 v0 + 1/3 v_before) = 2/3 h f(x1, v1)

Choi and Ko 2002 use it for cloth. With x* = 4/3 x0 - 1/3 x_before, v* likewise and h* = 2/3 h, this is a step of
implicit Euler of size h* from (x*, v*), which is the state at the time t0 + h/3 up to terms of second order. So the
equations, the solver, pins and damping are those of implicit Euler. One linearisation leaves a small error of first
order, visible at steps below half a millisecond; "converge" is of second order throughout.

Each step is linearised at the predicted end, see `velocity_predictor`. Pieces with threads, seams or springs that go
slack are linearised at the start, and again at the end of that solve: at the bend of a slack thread the direction of
the pull turns too far for a prediction, so that a hanging rope would never come to rest and seams would tear.

BDF2 needs two steps of the same size behind it; `multistep_start` stands in for the one before the first. After a step
of twice the size the state between is interpolated, to second order; after two of half the size the start of the first
is taken. A step after another change of size is a step of implicit Euler, and so is a step in which cloth is, or may
come, in contact: x* would lie behind the obstacle.

Sizes are compared as parts of their frames. Frames may have other lengths than those before, see `FrameClock`: a step
of h after steps of s h and g h has the coefficients of the derivative, at its end, of the parabola through x1, x0 and
x_before (Grigorieff 1983), and of the cubic through x_earlier too. For s = g = 1 they are those above.
"""

from __future__ import annotations

from dataclasses import replace

from ..arrays import FloatArray
from ..model.particle_system import ParticleSystem
from ..state import Before, State
from . import implicit_euler, multistep_start
from .clearance import Clearance
from .multistep_start import BLEND, ROTATION_EXCESS
from .post_step import StepResult
from .step_context import StepContext

THREAD_LINEARISATIONS = 2
"""Linearisations of each step with threads or seams, unless the settings say otherwise."""
EQUAL_STEPS = 1e-9
"""Relative difference up to which two steps have the same size [-]."""
LARGEST_STEP_RATIO = 2.4
"""Largest size of a step over that of the step before, due to frames of other lengths, for BDF2 [-]: it stays stable up
to 1 + sqrt(2) in each step (Grigorieff 1983)."""
LARGEST_BLENDED_RATIO = 1.9
"""The same for the blend with the third formula [-], of which no root grows there."""


def step(system: ParticleSystem, state: State, h: float, context: StepContext) -> StepResult:
    """Return the result of a step of h [s]; arguments as of `implicit_euler.step`."""
    spare, settings = False, context.settings

    def predicted(gain: FloatArray | None, base: FloatArray, span: float) -> FloatArray:
        """Return the velocities (V, 3) [m/s] that lead in `span` [s] from `base` (V, 3) [m] to the predicted end."""
        rotation = system.predictor.rotation(state.x, state.v, h, ROTATION_EXCESS)
        u = (system.predictor.end(state.x, state.v, gain, h, rotation) - base) / span
        u[system.abrupt] = 0.0
        return u

    if system.abrupt.any() and settings.linearisations == 1:
        spare = True                                             # the settings ask for one only
        count = implicit_euler.SLACK_LINEARISATIONS if system.may_go_slack else THREAD_LINEARISATIONS
        context = context.with_linearisations(count)
    room = Clearance(state, h, context)

    def plain(unhindered: bool) -> StepResult:
        """Return the result of a step of implicit Euler, with paths of second order where cloth slides."""
        expected = predicted(None, state.x, h) if unhindered else system.predictor.averaged(state.v)
        expected[system.abrupt] = 0.0
        fallen = state.v - h * system.gravity.at(state.time)
        paths = (replace(context, retried=False) if unhindered                    # its velocity is used
                 else replace(context, before=state.before or Before(state.x, fallen, h)))
        return implicit_euler.step(system, state, h, paths, expected, unhindered=unhindered, spare=spare)

    result: StepResult | None = None
    before, spent, after = None, 0, Before(
        state.x, state.v, h, mode=state.touch.mode if state.touch.mode.any() else None, frame_length=state.frame_length)
    known = _in_steps_of(state, h)
    if (known is None or _is_alike(known.step * _frame_ratio(state), h) and h <= LARGEST_STEP_RATIO * known.step
            ) and not room.may_touch():
        before, spent = multistep_start.before(system, replace(state, before=known), h, lambda: plain(True))
    if before is not None:
        start, part = _start(state, before, h)
        span = context.between(start.time, state.time + h)
        result = implicit_euler.step(
            system, start, part * h, span, predicted(h / before.step * (state.v - before.v), start.x, part * h),
            unhindered=True, spare=spare, origin=state)
        if result.hopeless or result.finite and room.meets(result.state.x, result.state.v):
            result = None
        if result is None:
            context = context.between(state.time, state.time + h)
        elif state.before is not None:
            after = replace(after, x_earlier=before.x, v_earlier=before.v, step_earlier=before.step)
    if result is None:
        result = plain(False)
    return replace(result, state=replace(result.state, before=after), iterations=result.iterations + spent)


def _is_alike(one: float, other: float) -> bool:
    """Return whether two steps [s] have the same size."""
    return abs(one - other) <= EQUAL_STEPS * other


def _frame_ratio(state: State) -> float:
    """Return the length of the present frame over that of the frame in which the last step was taken [-]."""
    last = state.before
    return state.frame_length / last.frame_length if last is not None and last.frame_length else 1.0


def _in_steps_of(state: State, h: float) -> Before | None:
    """Return the start of the last step, or the state a step of h [s] ago where that step was twice or half as long,
    each as a part of its frame."""
    last = state.before
    if last is None or last.mode is not None:
        return last
    size = last.step * _frame_ratio(state)
    if _is_alike(size, 2.0 * h):
        half = 0.5 * last.step
        return Before(0.5 * (state.x + last.x) - 0.25 * half * (state.v - last.v), 0.5 * (state.v + last.v), half)
    if _is_alike(2.0 * size, h) and last.x_earlier is not None and last.v_earlier is not None:
        return Before(last.x_earlier, last.v_earlier, last.step + (last.step_earlier or last.step))
    return last


def _start(state: State, before: Before, h: float) -> tuple[State, float]:
    """Return the state (x*, v*) from which a step of implicit Euler is a step of BDF2, and its part of the step h [s].
    """
    s = before.step / h
    if before.x_earlier is None or before.v_earlier is None or h > LARGEST_BLENDED_RATIO * before.step:
        square = (1.0 + s) ** 2
        x, v = ((square * now - then) / (square - 1.0) for now, then in ((state.x, before.x), (state.v, before.v)))
        part = (1.0 + s) / (2.0 + s)
    else:
        g = (before.step_earlier or before.step) / h
        part = 1.0 / (1.0 + 1.0 / (1.0 + s) + BLEND / (1.0 + s + g))
        now = part * ((1.0 + s) / s + BLEND * (1.0 + s) / (s * (s + g)))
        then = part * (1.0 / (s * (1.0 + s)) + BLEND / (s * g))
        earlier = part * BLEND * (1.0 + s) / ((1.0 + s + g) * (s + g) * g)
        x = now * state.x - then * before.x + earlier * before.x_earlier
        v = now * state.v - then * before.v + earlier * before.v_earlier
    return replace(state, x=x, v=v, time=state.time + (1.0 - part) * h, before=None), part
