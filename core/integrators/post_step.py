# SPDX-License-Identifier: GPL-3.0-or-later
"""How a step ends: what is left beyond a surface or too long is brought back, and what would pass through is cut.

The solves are linear, and contacts that change in them are left to the next step at some point. What they leave is
corrected in positions, and velocities follow: out of solids, to lengths that edges may have (`length_limits.py`), and
last of all the truncation that rules out crossings, which has the final word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..contact.half_spaces import HalfSpaces
from ..linear.constraint_filter import ConstraintFilter
from ..state import State
from .contact_loop import ContactLoop
from .length_limits import LengthLimits
from .step_contacts import StepContacts

LIMITED = 8
"""Times that cloth is brought back to its length where solids are in the way of that."""
LONGER = 4e-3
"""Elongation above the largest one for which a step is done again in two [-]."""
TURNED = 0.05
"""The same above what an edge that turned may have [-]: that much shows, and less is left to the next step."""
GETS_SHORTER = 0.9
"""Part of what was too long before that may be left when it is brought back once more, or it is given up [-]."""


@dataclass(frozen=True)
class StepResult:
    """The new state and how the step went.

    Attributes:
        state: at the end of the step. iterations: linear iterations in all. residual: of the last linear solve, or of
            the nonlinear equations when solved to convergence [-]. converged: all asked-for tolerances met.
        finite: the state is made of numbers.
        failed: the matrix was indefinite, or Newton's method got nowhere; a smaller step is likely to do better.
        crosses: cloth begins to pass through cloth or a solid; a smaller step may keep it.
        presses: cloth presses on cloth, and may come to rest. piled: so that it only will in a step that is short
            enough.
        unsettled: the last solution asks for other contacts than it was solved with.
        overlong: an edge is longer than *Limit Stretch* lets it be; likewise.
        spiky: a few edges grew by much more than the others, or turned and could not be brought back; likewise.
        torn: by how much the solve let most edges grow that were then brought back, over their lengths [-].
        made: energy that the step makes out of nothing, over that of its motion [-].
    """

    state: State
    iterations: int
    residual: float
    converged: bool
    finite: bool
    failed: bool
    crosses: bool = False
    presses: bool = False
    piled: bool = False
    unsettled: bool = False
    overlong: bool = False
    spiky: bool = False
    torn: float = 0.0
    made: float = 0.0


def ended(loop: ContactLoop, u: FloatArray, residual: float, converged: bool, failed: bool,
          linearised: FloatArray | None = None) -> StepResult:
    """The result of a step whose `loop` found velocities u (V, 3) [m/s]; `linearised` as in `LengthLimits.of_step`."""
    contacts = loop.contacts
    x, v, h = contacts.reached(u), u, contacts.h
    # a solve that met inf or nan in forces hands back finite velocities, which are not a solution
    finite = bool(np.isfinite(residual) and np.isfinite(x).all() and np.isfinite(v).all())
    torn, spiky, overlong = 0.0, False, False
    if finite:
        solved = contacts.move_out(x)
        limits = LengthLimits.of_step(contacts.system, contacts.state.x, linearised, solved)
        limited = _limited(contacts, limits, solved)
        if limited is not solved:
            torn = contacts.system.growth_of_most(contacts.state.x, contacts.base + h * u, settled=loop.settled)
        x = _truncated(loop, limits, solved, limited, u)
        if x is not solved:
            v = v + (x - solved) / h
        own = contacts.system.strain_limit
        overlong = own is not None and own.excess(x) > LONGER
        spiky = contacts.system.has_spikes(contacts.state.x, x) or limits.excess(x) > TURNED
    after = State(x, v, contacts.state.time + h, contacts.touch(), in_vain=loop.in_vain)
    return StepResult(after, loop.iterations, residual, converged, finite, failed, contacts.cross, contacts.press,
                      contacts.piled, not loop.settled, overlong, spiky, torn)


def _limited(contacts: StepContacts, limits: LengthLimits, x: FloatArray) -> FloatArray:
    """x (V, 3) [m] with what is longer than it may be brought back, and out of solids; what is held stays."""
    if limits.holds(x):
        return x
    watch, apart, before = contacts.watch, HalfSpaces.none(), np.inf
    best, least = x, limits.excess(x)
    for _ in range(LIMITED):
        with watch.stage("contact"):
            solids = contacts.constraints
            near = apart if solids is None else apart.joined(solids.bounds(contacts.find(x), x))
        with watch.stage("strain limit"):
            shorter = limits.relaxed(x, contacts.pins.rows, near)
        if shorter is x:
            break
        x = contacts.move_out(shorter)
        excess, left = limits.excess(shorter), limits.excess(x)
        if left < least:
            best, least = x, left
        if excess > LONGER and excess > GETS_SHORTER * before:            # pins and solids ask for more than there is
            break
        before = excess
        if contacts.pairs is not None:
            with watch.stage("contact"):
                apart = apart.joined(contacts.pairs.bounds(x))
    return best


def _truncated(loop: ContactLoop, limits: LengthLimits, solved: FloatArray, limited: FloatArray,
               u: FloatArray) -> FloatArray:
    """Where velocities u (V, 3) lead, `solved` (V, 3) [m], with no edge too long `limited` (V, 3) [m], cut where cloth
    would pass through cloth or a solid.

    What the cut makes too long again is brought back again. Where pins and solids ask for more than there is, that ends
    nowhere, and what comes nearest is taken: it may be to bring nothing back.
    """
    contacts = loop.contacts
    pairs, watch = contacts.pairs, contacts.watch
    if pairs is None:
        return limited

    def held() -> ConstraintFilter:
        solids = contacts.constraints
        return contacts.pins if solids is None else solids.constrain(contacts.pins, u)

    def cut_at(x: FloatArray) -> FloatArray:
        with watch.stage("contact"):
            return pairs.truncate(x, held, contacts.unsure)

    with watch.stage("contact"):
        pairs.remember(u, calm=not loop.rough)
    best = cut_at(limited)
    if best is limited:
        return best
    least, cut = limits.excess(best), best
    for _ in range(LIMITED):
        again = _limited(contacts, limits, cut)
        if again is cut:
            break
        cut = cut_at(again)
        excess, before = limits.excess(cut), least
        if excess < least:
            best, least = cut, excess
        if excess > LONGER and excess > GETS_SHORTER * before:
            break
    if least > LONGER and limited is not solved:
        other = cut_at(solved)
        best = other if limits.excess(other) < least else best
    return best
