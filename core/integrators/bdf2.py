# SPDX-License-Identifier: GPL-3.0-or-later
"""The second backward differentiation formula: implicit Euler's stability, and motion that is not damped by the step.

    x1 = 4/3 x0 - 1/3 x_before + 2/3 h v1,      M (v1 - 4/3 v0 + 1/3 v_before) = 2/3 h f(x1, v1)

(Choi and Ko 2002 use it for cloth). With x* = 4/3 x0 - 1/3 x_before, v* likewise and h* = 2/3 h that is a step of
implicit Euler of h* from (x*, v*), which are where the motion was at the time t0 + h/3 but for terms of second order.
So the equations, the solver, pins and damping are implicit Euler's own. One linearisation leaves a small rest of first
order, which shows at steps below half a millisecond; "converge" is of second order throughout.

Each step is linearised where smooth motion would end, see `velocity_predictor`; pieces with threads or seams where
it starts, and once more where that led. At a bend of a slack thread the direction of what pulls turns by more than can
be foreseen, and a hanging rope would tremble for ever; seams would tear. Links that go slack are such, too.

It needs two steps of one size behind it; `arrival.py` has what is taken for the one before the first, from a trial step
of implicit Euler. A step after the size changed is implicit Euler's, and so is one in which cloth touches something or
may: x* would lie beyond what stops it.
"""

from __future__ import annotations

from dataclasses import replace

from ..model.particle_system import System
from ..state import Before, State
from . import implicit_euler, multistep_start
from .clearance import Clearance
from .post_step import StepResult
from .step_context import StepContext

LINEARISATIONS = 2
"""Of each step, at least, where there are threads or seams."""
SAME = 1e-9
"""Relative difference up to which two steps are of one size [-]."""


def step(system: System, state: State, h: float, context: StepContext) -> StepResult:
    """Advance `state` by h [s]; arguments as in `implicit_euler.step`."""
    expected, spare, settings = system.smoothing(state.v), False, context.settings
    if system.abrupt.any():
        expected[system.abrupt] = 0.0
        if settings.linearisations == 1:
            spare = True                                             # nobody asked for what comes after the first
            context = context.with_linearisations(implicit_euler.OF_SLACK if system.may_go_slack else LINEARISATIONS)
    room = Clearance(state, h, context)
    result: StepResult | None = None
    before, spent = None, 0
    if (state.before is None or abs(state.before.step - h) <= SAME * h) and not room.may_touch():
        before, spent = multistep_start.before(system, state, h, lambda: implicit_euler.step(
            system, state, h, context, expected, unhindered=True, spare=spare))
    if before is not None:
        start = State((4.0 * state.x - before.x) / 3.0, (4.0 * state.v - before.v) / 3.0, state.time + h / 3.0,
                      state.touch, in_vain=state.in_vain)
        span = context.between(start.time, state.time + h)
        result = implicit_euler.step(system, start, 2.0 * h / 3.0, span, expected, unhindered=True, spare=spare)
        if result.finite and room.meets(result.state.x, result.state.v):
            result = None
        if result is None:
            context = context.between(state.time, state.time + h)
    if result is None:
        result = implicit_euler.step(system, state, h, context, expected, spare=spare)
    return replace(result, state=replace(result.state, before=Before(state.x, state.v, h)),
                   iterations=result.iterations + spent)
