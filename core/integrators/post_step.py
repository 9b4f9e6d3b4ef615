# SPDX-License-Identifier: GPL-3.0-or-later
"""Correct the end of a step: back to allowed edge lengths, and short of any intersection.

The solves are linear, and contacts that still change after some of them are left to the next step. Their errors are
corrected in positions, and velocities follow: first edges are shortened (`length_limits`), then the step filter cuts
motions that would intersect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..contact.half_spaces import HalfSpaces
from ..linear.constraint_filter import ConstraintFilter
from ..model.strain_limit import StrainLimit
from ..state import State
from . import step_strain
from .contact_loop import ContactLoop
from .length_limits import LengthLimits
from .momentum import Flight
from .step_contacts import StepContacts

LENGTH_PASSES = 8
"""Most passes that shorten edges and keep apart what would meet, in turn."""
MAX_OVERLENGTH = 4e-3
"""Largest elongation above the limit with which a step is accepted [-]."""
MAX_TURNED_OVERLENGTH = 0.05
"""The same for edges that turned in the step, and largest stretch that a step in free motion adds to most edges without
another solve [-]: more than that is visible, less is left to the next step."""
LENGTH_PROGRESS = 0.9
"""Largest part of the overlength that a pass may leave, or the passes end [-]."""


@dataclass(frozen=True)
class StepResult:
    """The new state and how the step went.

    Attributes:
        state: at the end of the step.
        iterations: linear iterations in all.
        residual: of the last linear solve, or of the nonlinear equations if these are solved to convergence [-].
        converged: whether all tolerances are met.
        finite: whether the state is finite.
        failed: the matrix was indefinite, or the line search found no decrease; a smaller step is likely to do better.
        crosses: an intersection begins, which a smaller step may avoid.
        presses: cloth presses on cloth, and may come to rest.
        piled: it rests only in steps that are short enough.
        unsettled: the contacts still changed after the last solve.
        overlong: an edge is longer than *Limit Stretch* allows.
        spiky: a few edges grew much more than the others, or turned and could not be shortened.
        torn: growth of most edges in the solve, before they were shortened, over their lengths [-].
        corrected: whether edges were shortened and motions cut where needed; what is taken again anyway is not.
        missed: root mean square of the angles by which the rotations in a free step were missed [rad].
        made: energy that the step created, over the energy of its motion [-].
        lengths: (E,) of the edges at the end [m], None if the state is not finite.
        hopeless: the solution was so far off that nothing was searched on its way; it cannot be accepted.
        pinched: (V,) vertices that colliders keep no room for; None if there are none.
        driven: whether pins or colliders moved the cloth.
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
    corrected: bool = True
    made: float = 0.0
    missed: float = 0.0
    lengths: FloatArray | None = None
    hopeless: bool = False
    pinched: BoolArray | None = None
    driven: bool = False


def ended(loop: ContactLoop, u: FloatArray, residual: float, converged: bool, failed: bool,
          limit: StrainLimit | None, linearised: Callable[[], FloatArray] | None = None, *,
          fall: FloatArray) -> StepResult:
    """Return the result of a step whose `loop` found velocities u (V, 3) [m/s].

    Args:
        loop: the solves of the step.
        u: (V, 3) velocities at its end [m/s].
        residual, converged, failed: as in `StepResult`.
        limit, linearised: as in `LengthLimits.of_step`.
        fall: (V, 3) change of the velocities that weight alone makes in the step [m/s].
    """
    contacts, system = loop.contacts, loop.contacts.system
    x, v, h = contacts.reached(u), u, contacts.h
    # with inf or nan in the forces a solve returns finite velocities, which are no solution
    contacts.effort.step()
    finite = bool(np.isfinite(residual) and np.isfinite(x).all() and np.isfinite(v).all())
    torn, spiky, overlong, lengths, corrected = 0.0, False, False, None, True
    if finite and loop.hopeless:
        torn, failed, lengths = np.inf, True, system.edge_lengths(x)
    elif finite:
        if not system.outer_forces.all():
            v = u = u + Flight(contacts).missed(u, contacts.state.v + fall)
            x = contacts.reached(u)
        solved, start = x, contacts.start_lengths
        lengths = system.edge_lengths(solved)
        limits = LengthLimits.of_step(system, limit, start, linearised, solved, lengths)
        if not limits.holds(solved):
            torn = step_strain.largest_of_most(contacts.apart_from_pinched(contacts.growth(u)), system.edge_slices,
                                               settled=loop.settled, driven=contacts.driven)
        bad = failed or torn > contacts.settings.max_strain_change
        corrected = not (bad and contacts.retried and not contacts.effort.exhausted)
        if corrected:
            x = _truncated(loop, limits, solved, _limited(contacts, limits, solved), u)
        if x is not solved:
            flight = Flight(contacts)
            change = flight.without_momentum(x - solved)
            v = v + change / h
            v = v + flight.missed(v, contacts.state.v + fall)      # a large change has a large rounding
            # pieces with pairs near each other are shifted as one, so that only others could meet
            pairs, shifted = contacts.pairs, solved + change
            if pairs is None or system.body.max() == 0 or pairs.covers(shifted):
                x = shifted
            lengths = system.edge_lengths(x)
        overlong = limit is not None and limit.excess(x) > MAX_OVERLENGTH
        added = contacts.apart_from_pinched(step_strain.added_strain(start, lengths, system.rest_lengths))
        spiky = step_strain.any_spiky(added, system.edge_slices) or limits.excess(x) > MAX_TURNED_OVERLENGTH
    after = State(x, v, contacts.state.time + h, contacts.touch(u), emitted=contacts.state.emitted,
                  emitted_before=contacts.state.emitted_before,
                  plastic=contacts.state.plastic, frame_length=contacts.state.frame_length)
    return StepResult(after, loop.iterations, residual, converged, finite, failed, contacts.cross, contacts.press,
                      contacts.piled, not loop.settled, overlong, spiky, torn, corrected, lengths=lengths,
                      hopeless=loop.hopeless, driven=contacts.driven,
                      pinched=None if contacts.pinch is None else contacts.pinch.pinched)


def _limited(contacts: StepContacts, limits: LengthLimits, x: FloatArray) -> FloatArray:
    """Return x (V, 3) [m] with overlong edges shortened; held vertices stay."""
    if limits.holds(x):
        return x
    watch, apart, before = contacts.watch, HalfSpaces.none(), np.inf
    best, least = x, limits.excess(x)
    for _ in range(LENGTH_PASSES):
        with watch.stage("contact"):
            near = apart if contacts.faces is None else apart.joined(contacts.faces.bounds(x))
        with watch.stage("strain limit"):
            shorter = limits.relaxed(x, contacts.pins.rows, near, contacts.effort)
        if shorter is x:
            break
        x, excess = shorter, limits.excess(shorter)
        if excess < least:
            best, least = x, excess
        if contacts.effort.out or excess > MAX_OVERLENGTH and excess > LENGTH_PROGRESS * before:    # no room for it
            break
        before = excess
        if contacts.pairs is not None:
            with watch.stage("contact"):
                apart = apart.joined(contacts.pairs.bounds(x))
    return best


def _truncated(loop: ContactLoop, limits: LengthLimits, solved: FloatArray, limited: FloatArray,
               u: FloatArray) -> FloatArray:
    """Return the end of the step, cut where cloth would intersect cloth or a solid.

    Edges that the cut makes too long are shortened again. If pins and solids leave no room for that, the end with the
    least overlength is taken, which may be one without any shortening.

    Args:
        loop: the solves of the step.
        limits: allowed edge lengths.
        solved: (V, 3) end of velocities u [m].
        limited: (V, 3) the same with overlong edges shortened [m].
        u: (V, 3) velocities at the end [m/s].
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
            return pairs.truncate(x, held)

    with watch.stage("contact"):
        pairs.remember(u)
    best = cut_at(limited)
    if best is limited or contacts.effort.out:
        return best
    least, cut = limits.excess(best), best
    for _ in range(LENGTH_PASSES):
        again = _limited(contacts, limits, cut)
        if again is cut:
            break
        cut = cut_at(again)
        excess, before = limits.excess(cut), least
        if excess < least:
            best, least = cut, excess
        if contacts.effort.out or excess > MAX_OVERLENGTH and excess > LENGTH_PROGRESS * before:
            break
    if least > MAX_OVERLENGTH and limited is not solved:
        other = cut_at(solved)
        best = other if limits.excess(other) < least else best
    return best
