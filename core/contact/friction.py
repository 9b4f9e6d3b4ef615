# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of particles on surfaces: which contacts stick, hold, slip or creep.

    stick   the surface carries the particle along, by a constraint of the solve; while |lambda_t| <= mu lambda_n
    hold    a force g - c s, implicit, against the sliding s: what held it when the step began, and a drag c with which
            sliding by a little, ELASTIC, makes up for all of mu lambda_n; while |g - c s| <= mu lambda_n
    slip    that force brought back to mu lambda_n, and linearised there. Along itself it does not change with s,
            however slow the slide; across it turns with s: without that a slow slide would swing from side to side
    creep   the force g - c s of the last solution, scaled to mu lambda_n, c with it: it never pushes what it stopped

Stick and slip are 001's (section 6). Between these two alone stiff cloth does not find what it wants. All that pulls at
a sheet is held by the first row that sticks, whichever that is, and has to be followed row by row; and a contact that
its neighbours load with just mu lambda_n takes turns in sticking and slipping, at a jump each time. What holds gives a
little, and as it is pulled: so a load spreads over as many rows as it takes in one solve, and there is no jump from
hold to slip. From step to step g takes in what held, so that what is held does not move in the long run (a return
mapping with an augmented Lagrangian). To stick is exact all the same, and what turning and growing solids need: they
carry cloth along by more than linearised forces let them. So what is held easily, and lies still, sticks in the next
step; and once those of a piece of cloth that stick hold noticeably too much, all of them hold instead.

A contact that its neighbours refuse both ways in a step, to hold and to slip, creeps for the rest of it (Weiszfeld's
iteration): a force without a potential to climb would have it change to and fro.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..row_ops import length, pick

STICK, SLIP, HOLD, CREEP = 1, 2, 3, 4

ELASTIC = 5e-3
"""Part of the thickness by which a contact slides in a step until it is held by mu lambda_n more [-]; of the default
thickness that is a thousandth of an edge."""

EASY_STICK = 0.9
"""Part of mu lambda_n up to which a contact is held easily, and may stick in the next step [-]."""

STILL = 0.1
"""Part of what is ELASTIC up to which it then lies still [-]."""

SLIGHT = 1e-6
"""Part of mu lambda_n by which a contact that does not slip may hold more [-]: what came to rest by slipping holds just
mu lambda_n, and rounding has not to decide what it does next."""

SLIDING_SHARE = 0.02
"""Part of the friction of a piece of cloth that is held by contacts which hold too much by sticking, above which none
of it sticks [-]."""

SURE_SPREAD = 6.0
"""How far the contacts that begin to slip outnumber those that switch to and fro where a slide spreads, over the root
of the latter's number [-]: four deviations of the difference of two counts that are alike."""

OVER = 0.01
"""Part of what all contacts of a piece of cloth can hold by which they may together hold more, before it slides [-]."""

ALONE = 3.0
"""How many times what they can hold they may hold each by itself, in whatever directions, before it does [-]: on a
table that begins to turn forces add up to nothing. In a quick motion over a ball it is 1 to 2."""

COUNTS = 1e-3
"""Part of the friction of the piece of cloth that presses most from which on that of another counts [-]."""


def _rows(*shape: int) -> FloatArray:
    return field(default_factory=lambda: np.zeros((0, *shape)))


@dataclass
class Friction:
    """State of C contacts' friction.

    Attributes:
        mu (C,) [-]; mode (C,). gives (C,) [m/s]: slide at which what holds has given way by ELASTIC.
        held (C, 3) [N]: g, what held it when the step began, or when it ceased to stick.
        push (C, 3) [N], drag (C,) [kg/s] and along (C, 3): force push - drag (I - n n^T - along along^T) s of what does
        not stick; `along` is the unit direction of what slips.
        By the last `judge`: wrong, the part of its friction that was, of the piece of cloth with the largest [-];
        adrift, the sum of what was wrong, of the piece of cloth with the largest, over all that it can be [-];
        spreads: contacts begin to slip rather than switch to and fro; overloaded: a piece of cloth is held by more than
        all of its contacts together can hold.
    """

    mu: FloatArray = _rows()
    gives: FloatArray = _rows()
    held: FloatArray = _rows(3)
    push: FloatArray = _rows(3)
    drag: FloatArray = _rows()
    along: FloatArray = _rows(3)
    mode: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    wrong: float = 0.0
    adrift: float = 0.0
    spreads: bool = False
    overloaded: bool = False
    _gave: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))          # held too much in this step
    _turned: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))        # was turned round in it
    _allowed: FloatArray = _rows(3)                               # what held it at the last solution, as far as it may
    _easily: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))        # and lay still

    def grow(self, count: int) -> None:
        """Room for `count` more contacts, sticking without friction until `begin` says more."""
        for name in ("mu", "gives", "held", "push", "drag", "along", "_gave", "_turned", "_allowed", "_easily"):
            before = getattr(self, name)
            setattr(self, name, np.concatenate([before, np.zeros((count, *before.shape[1:]), before.dtype)]))
        self.mode = np.concatenate([self.mode, np.full(count, STICK)])

    def begin(self, at: IntArray | slice, mu: FloatArray, mode: IntArray, pressing: FloatArray, held: FloatArray,
              slide: FloatArray, gives: FloatArray) -> None:
        """First guess for contacts `at`, n of them: mu, mode, pressed by [N], held by (n, 3) [N], sliding at (n, 3)
        [m/s] and giving way at [m/s]."""
        limit, size = mu * pressing, length(held)
        held = _up_to(limit, size)[:, None] * held
        mode = np.where((mode == SLIP) & (size > 0.0), SLIP, np.where((mode == STICK) & (mu > 0.0), STICK, HOLD))
        slips = mode == SLIP
        self.mu[at], self.gives[at], self.held[at], self.mode[at] = mu, gives, held, mode
        self.along[at] = np.where(slips, _ratio(1.0, length(held)), 0.0)[:, None] * held
        self.push[at] = np.where(slips[:, None], limit[:, None] * self.along[at], held)
        self.drag[at] = _ratio(limit, np.where(slips, length(slide), 0.0) + gives)
        self._gave[at], self._turned[at] = False, False
        self._allowed[at], self._easily[at] = held, mode == STICK

    def forces(self, at: IntArray, vertex: IntArray, normal: FloatArray, carried: FloatArray, velocity: FloatArray
               ) -> FloatArray:
        """Forces (V, 3) [N] of contacts `at` (n,) that do not stick, at velocities (V, 3) [m/s], of different vertices.
        Of all contacts: their vertex (C,), unit normals and the surface's velocities (C, 3) [m/s]."""
        found: FloatArray = current().vertex_friction.forces(
            at, vertex, normal, carried, self.push, self.drag, self.along, velocity)
        return found

    def drag_blocks(self, at: IntArray, vertex: IntArray, normal: FloatArray, vertices: int) -> FloatArray:
        """-d force / d velocity (V, 3, 3) [kg/s], the same of so many `vertices`."""
        found: FloatArray = current().vertex_friction.resistance(at, vertex, normal, self.drag, self.along, vertices)
        return found

    def expected(self, at: IntArray) -> tuple[IntArray, FloatArray]:
        """Modes (n,) of contacts `at` (n,) in the next step, and what holds them when it begins (n, 3) [N]."""
        mode = self.mode[at]
        holds = (mode == HOLD) | (mode == CREEP)
        return np.where(holds, np.where(self._easily[at], STICK, HOLD), mode), pick(self._allowed, at)

    def judge(self, active: BoolArray, pressing: FloatArray, holding: FloatArray, slide: FloatArray, body: IntArray
              ) -> None:
        """Change modes by a solution.

        Args:
            active (C,): contacts with friction to judge. pressing (C,): lambda_n [N], not negative.
            holding (C, 3): tangential constraint force [N]. slide (C, 3): tangential velocity over the surface [m/s].
            body (C,): number of the piece of cloth that each is of.
        """
        limit = np.where(active, self.mu * pressing, 0.0)
        sticks, holds, slips = (self.mode == mode for mode in (STICK, HOLD, SLIP))
        stiff = _ratio(limit, self.gives)
        # what acted in the solution, what would have if all but slips had held, and that as far as it may
        acting = np.where(sticks[:, None], holding, self.push - self.drag[:, None] * _across(slide, self.along))
        tried = np.where(sticks[:, None], holding, self.held - stiff[:, None] * slide)
        size = length(tried)
        share = _up_to(limit, size)
        allowed = share[:, None] * tried
        over = active & (sticks | holds) & (size > (1.0 + SLIGHT) * limit)
        turned = active & slips & (np.einsum("nj,nj->n", slide, acting) > 0.0)
        self._gave |= over
        self._turned |= turned
        refused = (over | turned) & self._gave & self._turned

        most = _summed(body, limit)
        # what changes its mode counts in full: a hundred contacts that each hold one per cent too much hold everything
        wrong = np.where(over | turned, limit, np.where(sticks, 0.0, length(allowed - acting)))
        self.wrong = _largest(np.where(active, wrong, 0.0), most, body)
        self.adrift = _largest_sum(np.where(active[:, None], allowed - acting, 0.0), most, body)
        acting = np.where(active[:, None], acting, 0.0)
        self.overloaded = _is_too_much(most, length(acting), acting, body)
        begins, others = (int(np.count_nonzero(some)) for some in (over & sticks & ~refused, turned | refused))
        self.spreads = self.overloaded or begins > others + SURE_SPREAD * others**0.5

        loose = _counts(most) & (_summed(body, np.where(over & sticks, limit, 0.0)) > SLIDING_SHARE * most)
        lets_go = over | (active & loose[body])
        self.mode[holds & over] = SLIP
        self.mode[slips & (size <= limit)] = HOLD                       # pressed harder than before, and slow
        self.mode[sticks & lets_go] = HOLD
        self.mode[turned] = np.where(length(slide) > self.gives, STICK, HOLD)[turned]
        self.mode[refused] = CREEP
        self.held = np.where((sticks & lets_go)[:, None], allowed, self.held)
        self._allowed = allowed
        self._easily = (size < EASY_STICK * limit) & (length(slide) < STILL * self.gives)
        self._take_in(slide, limit, stiff, share, tried, size)

    def _take_in(self, slide: FloatArray, limit: FloatArray, stiff: FloatArray, share: FloatArray, tried: FloatArray,
                 size: FloatArray) -> None:
        """Have forces act as modes say now, linearised at a slide (C, 3) [m/s] where `tried` (C, 3) [N] was."""
        sticks, slips, creeps = (self.mode == mode for mode in (STICK, SLIP, CREEP))
        self.along = np.where(slips, _ratio(1.0, size), 0.0)[:, None] * tried
        self.drag = np.where(sticks, 0.0, np.where(slips | creeps, share, 1.0) * stiff)
        across = self.drag[:, None] * _across(slide, self.along)
        self.push = np.where(slips[:, None], share[:, None] * tried + across,
                             np.where(creeps, share, 1.0)[:, None] * self.held)
        self.push[sticks | (limit <= 0.0)] = 0.0


def _is_too_much(most: FloatArray, alone: FloatArray, held: FloatArray, body: IntArray) -> bool:
    """Whether contacts hold a piece of cloth by more than they can: by `held` (C, 3) [N], of the sizes `alone` (C,)
    [N], where all of a piece can hold at `most` (B,) [N].

    It slides, whichever of them stick: on a slope that became steeper they took turns in holding it, up to a third
    beyond the angle of friction.
    """
    together = np.linalg.norm([_summed(body, part) for part in held.T], axis=0)
    over = (together > (1.0 + OVER) * most) | (_summed(body, alone) > ALONE * most)
    return bool(over[_counts(most)].any())


def _largest(part: FloatArray, most: FloatArray, body: IntArray) -> float:
    """The largest part of any piece's friction [-], of forces (C,) [N] of contacts and most (B,) [N] of pieces."""
    counts = _counts(most)
    return float((_summed(body, part)[counts] / most[counts]).max(initial=0.0))


def _largest_sum(force: FloatArray, most: FloatArray, body: IntArray) -> float:
    """The largest sum of forces (C, 3) [N] of contacts of a piece, over most (B,) [N] of pieces [-]."""
    counts = _counts(most)
    together = length(np.column_stack([_summed(body, part) for part in force.T]))
    return float((together[counts] / most[counts]).max(initial=0.0))


def _summed(body: IntArray, force: FloatArray) -> FloatArray:
    """What pieces of cloth get of forces (C,)."""
    return np.asarray(np.bincount(body, force), dtype=np.float64)


def _counts(most: FloatArray) -> BoolArray:
    """Which pieces of cloth press enough for their friction (B,) [N] to count."""
    return np.asarray(most > COUNTS * most.max(initial=0.0))


def _across(vector: FloatArray, direction: FloatArray) -> FloatArray:
    """The part of vectors (n, 3) across unit directions (n, 3); all of it where a direction is 0."""
    return vector - np.einsum("nj,nj->n", vector, direction)[:, None] * direction


def _ratio(a: FloatArray | float, b: FloatArray) -> FloatArray:
    """a / b, 0 where b is 0."""
    return a / np.where(b > 0.0, b, np.inf)


def _up_to(limit: FloatArray, size: FloatArray) -> FloatArray:
    """What brings forces of that size back to a limit [-], 1 where they are below it."""
    return np.where(size > limit, _ratio(limit, size), 1.0)
