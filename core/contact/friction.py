# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of particles on surfaces: which contacts stick, slip or creep.

    stick   the surface carries the particle along; holds while |lambda_t| <= mu lambda_n
    slip    a force of size mu lambda_n against the sliding s, linearised round the s* of the solution before:
            -mu lambda_n (s*/|s*| + (I - t t^T) s / |s*|), t = s*/|s*|. The second part is implicit: without it a slow
            slide would swing from side to side
    creep   a force c (surface velocity - u_t), implicit, for a contact that can neither stick nor slip in this
            step: stuck it pulls more than mu lambda_n, slipping it would be turned round

Stick and slip are 001's (section 6). Switching between them alone need not end when stiff cloth couples many contacts,
so a contact that has been refused both creeps for the rest of the step, with c such that the force reaches mu lambda_n
at the speed with which it was turned round. So does one that the step leaves turned round, in the next step: to stick
there would hold it by several times mu lambda_n, as it moves, and the next step would turn it round again. It goes on
creeping, each time with the c of its last slide, which is Coulomb's friction in the long run (Weiszfeld's iteration),
until it slips, or would hold more easily by sticking. Both look at the cloth around, too. What was turned round was
slow, and with the c of that speed would hold thirty times mu lambda_n when the sheet carries it along: two hundred such
contacts held a sheet of 200^2 vertices as much as the seven thousand that slid. So c is that of the mean speed of its
piece of cloth where that is more; and on a piece that slides as a whole it sticks only once it hardly moves.

A slide may be too slow for its direction to be known, as where cloth creeps down a ball. Then the old direction stays;
but across it the contact holds whatever pulls. Where that is more than mu lambda_n, the pull says the direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..rows import any_of, length, pick

STICK, SLIP, CREEP = 1, 2, 3

SETTLED = 0.05
"""Part of mu lambda_n by which a creeping contact's force may exceed it before it slips [-]."""

SURE = 6.0
"""How far the contacts that begin to slip outnumber those that switch to and fro where a slide spreads, over the root
of the latter's number [-]: four deviations of the difference of two counts that are alike."""

HOLDS = 0.9
"""Part of mu lambda_n up to which the force of a creeping contact lets it stick in the next step [-]."""

SLIDES = 0.9
"""Part of what the contacts of a piece of cloth can hold, each by itself, above which it slides as a whole [-]."""

STILL = 0.1
"""Part of the mean speed of such a piece up to which one of its contacts may stick again [-]."""

OVER = 0.01
"""Part of what all contacts of a piece of cloth can hold by which they may together hold more, before it slides [-]."""

ALONE = 3.0
"""How many times what they can hold they may hold each by itself, in whatever directions, before it does [-]: on a
table that begins to turn forces add up to nothing. In a quick motion over a ball it is 1 to 2."""

COUNTS = 1e-3
"""Part of the friction of the piece of cloth that presses most from which on that of another counts [-]."""

STIFF = 1e9
"""Largest drag in particle masses per step: a slide of hardly any speed would have one without bound [-]. Taut cloth
presses with ten thousand times its weight, and slides at millimetres per second: 1e7. With less of a drag than that, a
direction that is a little wrong in one step is so by several times more, and the other way, in the next."""


@dataclass
class Friction:
    """State of C contacts' friction.

    Attributes:
        mu (C,) [-]; mode (C,); force (C, 3) [N] of slipping contacts, along the sliding; drag (C,) [kg/s] of slipping
        contacts across it, and of creeping ones in every tangential direction.
        By the last `judge`: wrong, the part of its friction that was, of the piece of cloth with the largest [-];
        spreads: contacts begin to slip rather than switch to and fro; overloaded: a piece of cloth is held by more than
        all of its contacts together can hold.
    """

    mu: FloatArray = field(default_factory=lambda: np.zeros(0))
    mode: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    force: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    drag: FloatArray = field(default_factory=lambda: np.zeros(0))
    wrong: float = 0.0
    spreads: bool = False
    overloaded: bool = False
    _too_much: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))      # refused to stick
    _turned: FloatArray = field(default_factory=lambda: np.zeros(0))                        # speed when refused to slip
    _creep: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))                    # slides of what creeps on

    def grow(self, count: int) -> None:
        """Room for `count` more contacts, sticking without friction until `begin` says more."""
        self.mu = np.concatenate([self.mu, np.zeros(count)])
        self.mode = np.concatenate([self.mode, np.full(count, STICK)])
        self.force = np.concatenate([self.force, np.zeros((count, 3))])
        self.drag = np.concatenate([self.drag, np.zeros(count)])
        self._too_much = np.concatenate([self._too_much, np.zeros(count, dtype=np.bool_)])
        self._turned = np.concatenate([self._turned, np.zeros(count)])
        self._creep = np.concatenate([self._creep, np.zeros((count, 3))])

    def begin(self, at: IntArray | slice, mu: FloatArray, mode: IntArray, pressing: FloatArray, slide: FloatArray,
              mobility: FloatArray) -> None:
        """First guess for contacts `at`, n of them: mu, mode, pressed by [N], sliding at (n, 3) [m/s], and the velocity
        that a force gives a free particle in the step [m/(s N)]."""
        speed = length(slide)
        moves = (mode != STICK) & (speed > 0.0)
        self.mu[at] = mu
        self.mode[at] = np.where(moves, mode, STICK)
        drag = np.where(moves, _ratio(mu * pressing, speed), 0.0)
        self.drag[at] = np.minimum(drag, STIFF / mobility)
        self.force[at] = np.where(mode == SLIP, -drag, 0.0)[:, None] * slide
        self._too_much[at], self._turned[at], self._creep[at] = False, 0.0, 0.0

    def forces(self, at: IntArray, vertex: IntArray, normal: FloatArray, carried: FloatArray, velocity: FloatArray
               ) -> FloatArray:
        """Forces (V, 3) [N] of contacts `at` (n,) at velocities (V, 3) [m/s], of different vertices; only `force` where
        they stick. Of all contacts: their vertex (C,), unit normals and the surface's velocities (C, 3) [m/s]."""
        found: FloatArray = current().coulomb.forces(at, vertex, normal, carried, self.force, self.drag, velocity)
        return found

    def drag_blocks(self, at: IntArray, vertex: IntArray, normal: FloatArray, vertices: int) -> FloatArray:
        """-d force / d velocity (V, 3, 3) [kg/s], the same of so many `vertices`."""
        found: FloatArray = current().coulomb.resistance(at, vertex, normal, self.force, self.drag, vertices)
        return found

    def expected(self, at: IntArray) -> tuple[IntArray, FloatArray]:
        """Modes (n,) of contacts `at` (n,) in the next step, and the slides (n, 3) [m/s] of those that slip or creep;
        0 for all others."""
        slips, creep = self.mode[at] == SLIP, pick(self._creep, at)
        slide = -pick(self.force, at) * _ratio(np.where(slips, 1.0, 0.0), self.drag[at])[:, None]
        creeps = np.flatnonzero(any_of(creep != 0.0))
        mode = np.where(slips, SLIP, STICK)
        mode[creeps], slide[creeps] = CREEP, pick(creep, creeps)
        return mode, slide

    def judge(self, active: BoolArray, pressing: FloatArray, holding: FloatArray, slide: FloatArray,
              mobility: FloatArray, unclear: FloatArray, body: IntArray) -> None:
        """Change modes by a solution.

        Args:
            active (C,): contacts with friction to judge. pressing (C,): lambda_n [N], not negative.
            holding (C, 3): tangential constraint force [N]. slide (C, 3): tangential velocity over the surface [m/s].
            mobility (C,): velocity that a force gives a free particle in the step [m/(s N)].
            unclear (C,): speed below which the direction of a slide is the solution's error [m/s].
            body (C,): number of the piece of cloth that each is of.
        """
        # each component by itself in memory: NumPy goes through them in half the time
        holding, slide, force = (np.asfortranarray(rows) for rows in (holding, slide, self.force))
        limit = self.mu * pressing
        size, speed = length(holding), length(slide)
        acting = force - self.drag[:, None] * _across(slide, force)
        acts, dragged = length(acting), self.drag * speed
        sticks, slips, creeps = (active & (self.mode == mode) for mode in (STICK, SLIP, CREEP))
        too_much = sticks & (size > limit)
        clear = speed > unclear
        turned = slips & clear & (np.einsum("nj,nj->n", slide, force) > 0.0)
        goes_on = slips & clear & ~turned
        strains = slips & ~clear & (acts > (1.0 + SETTLED) * limit)
        outran = creeps & (dragged > (1.0 + SETTLED) * limit)

        self._too_much |= too_much
        self._turned = np.where(turned, speed, self._turned)
        refused = (too_much | turned) & self._too_much & (self._turned > 0.0)
        most = np.where(active, limit, 0.0)
        held = _first([(sticks, holding), (slips, acting)], np.where(creeps, -self.drag, 0.0)[:, None] * slide)
        alone, in_all = length(held), _summed(body, most)
        slides, usual = _motion(most, in_all, alone, speed, body)
        creeps_on = turned | refused | (creeps & ~outran & (
            (dragged > HOLDS * limit) | (slides & (speed > STILL * usual))))
        self._creep = np.where(creeps_on, np.maximum(1.0, _ratio(usual, speed)), 0.0)[:, None] * slide
        self.overloaded = _is_too_much(in_all, alone, held, body)
        begins, others = (int(np.count_nonzero(some)) for some in (too_much & ~refused, turned | refused | outran))
        self.spreads = self.overloaded or begins > others + SURE * others**0.5
        by_speed = _ratio(limit, speed)
        against = -by_speed[:, None] * slide
        # what changes its mode counts in full: a hundred contacts that each hold one per cent too much hold everything
        wrong = _first([(too_much | turned, limit), (goes_on, length(against - acting)), (outran, dragged - limit),
                        (strains, acts - limit)], np.zeros(len(limit)))
        self.wrong = _largest(wrong, in_all, body)

        slips_on, pulled = goes_on | outran, too_much | strains
        pull, size = _first([(strains, acting)], holding), np.where(strains, acts, size)
        self.mode[too_much | outran], self.mode[turned], self.mode[refused] = SLIP, STICK, CREEP
        self.force = np.ascontiguousarray(_first([
            (turned | refused, np.zeros(3)), (pulled, _ratio(limit, size)[:, None] * pull), (slips_on, against)],
            force))
        self.drag = _first(
            [(refused, _ratio(limit, self._turned)), (turned, np.zeros(len(limit))), (slips_on, by_speed),
             (pulled, _ratio(limit, (size - limit) * mobility))], self.drag)
        self.drag = np.minimum(self.drag, STIFF / mobility)


def _is_too_much(most: FloatArray, alone: FloatArray, held: FloatArray, body: IntArray) -> bool:
    """Whether contacts hold a piece of cloth by more than they can: by `held` (C, 3) [N], of the sizes `alone` (C,)
    [N], where all of a piece can hold at `most` (B,) [N].

    It slides, whichever of them stick: on a slope that became steeper they took turns in holding it, up to a third
    beyond the angle of friction.
    """
    together = np.linalg.norm([_summed(body, part) for part in held.T], axis=0)
    over = (together > (1.0 + OVER) * most) | (_summed(body, alone) > ALONE * most)
    return bool(over[_counts(most)].any())


def _motion(limit: FloatArray, most: FloatArray, held: FloatArray, speed: FloatArray, body: IntArray
            ) -> tuple[BoolArray, FloatArray]:
    """Whether the piece of each contact slides as a whole (C,), and the mean speed (C,) [m/s] at which its contacts do,
    by what each holds and can hold (C,) [N], and all of a piece can (B,) [N]."""
    slides = _summed(body, np.minimum(held, limit)) > SLIDES * most
    return slides[body], _ratio(_summed(body, limit * speed), most)[body]


def _largest(part: FloatArray, most: FloatArray, body: IntArray) -> float:
    """The largest part of any piece's friction [-], of forces (C,) [N] of contacts and most (B,) [N] of pieces."""
    counts = _counts(most)
    return float((_summed(body, part)[counts] / most[counts]).max(initial=0.0))


def _summed(body: IntArray, force: FloatArray) -> FloatArray:
    """What pieces of cloth get of forces (C,)."""
    return np.asarray(np.bincount(body, force), dtype=np.float64)


def _counts(most: FloatArray) -> BoolArray:
    """Which pieces of cloth press enough for their friction (B,) [N] to count."""
    return np.asarray(most > COUNTS * most.max(initial=0.0))


def _across(vector: FloatArray, direction: FloatArray) -> FloatArray:
    """The part of vector (n, 3) across direction (n, 3) of any length; all of it where that is zero."""
    squared = np.einsum("nj,nj->n", direction, direction)
    return vector - direction * _ratio(np.einsum("nj,nj->n", vector, direction), squared)[:, None]


def _ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b, 0 where b is 0."""
    return a / np.where(b > 0.0, b, np.inf)


def _first(cases: Sequence[tuple[BoolArray, FloatArray]], otherwise: FloatArray) -> FloatArray:
    """For each contact the value, (C,) or (C, 3), of the first case that is so (C,), in a third of the time that
    `np.select` takes."""
    for there, value in reversed(cases):
        otherwise = np.where(there if otherwise.ndim == 1 else there[:, None], value, otherwise)
    return otherwise
