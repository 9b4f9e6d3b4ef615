# SPDX-License-Identifier: GPL-3.0-or-later
"""Pair contacts of cloth with cloth and with solids, as springs in the step's linear system.

    gap      d = n . sum_i w_i x_i                                                    [m]
    energy   E = k/2 max(0, d* - d)^2                                                 [J]
    force    f_i = w_i (k max(0, d* - d) n + g - c Q s),   s = (I - n n^T) sum_j w_j u_j     [N]

w are the signed weights of the closest points and n the unit normal from one to the other, both held during the step:
the weights add up to zero, so that momentum is kept. In the velocity u at the end of the step, x = base + h u, that
adds h^2 k w w^T n n^T + h c w w^T Q to A. Vertices of a collider take part in d and s with the positions and
velocities that they are known to have, and in nothing else.

*How stiff.* k = STIFFNESS m_p / h^2 [N/m] with 1 / m_p = sum_i w_i^2 / m_i, the mass with which the gap moves
(`pair_contacts`): a step leaves 1 / (1 + STIFFNESS) of an approach, and N sheets at rest come nearer by
g h^2 N / STIFFNESS. That is far below the elastic stiffness along the cloth, and on purpose: two vertices that touch
move as one against their mass alone, but a diagonal preconditioner takes it that they move against h^2 k. What is
pressed by more than weight, a knot under tension, shows by a gap that goes on closing; its spring is made STIFFER until
it does not, and at most as stiff as the cloth itself is in the step, by its mass and its edges (`pair_contacts`): short
edges are a hundred thousand masses stiff, and push through what is softer (docs/decisions/0087).

Where nearly all of a pair is held by pins, a gap moves by little even if what is left moves far: m_p is bounded by
LEVER times what it were without pins, or that vertex would be flung away for what it cannot mend.

*How far.* d* is the thickness that both keep, or half the distance the pair has in the rest shape where that is less,
so that no mesh is too fine for its thickness. What starts closer is moved out by only a part of what is missing, as
fast as RECOVERY says: at once, it would be thrown out. What pressed in the step before is CARRIED over, d* grows by
lambda / k (an augmented Lagrangian): so what rests, rests at its thickness and not below. How stiff it had to be is
carried over, too, for the most part. A spring that gets stiffer than STIFFEST in the step goes on carrying the same
lambda: d* shrinks.

*Friction* is Coulomb's with the normal force lambda of the solution before. A pair sticks by g, all that held it in the
step before, and by a drag c, Q = I - n n^T: what g lacked, c alone would make up for by a slide, step after step, and
everything would creep. On solids a slide by ELASTIC in the step makes up for mu lambda. For what begins to touch, c is
no less than STICK_DRAG times the mass. Without this, vertices would slide that far nearly without friction in short
steps (docs/decisions/0080). Where the sum is more than mu lambda it slides: the force is brought back to the limit, and
linearised there. Along itself it does not change with s, however slow the slide; across it turns with s, by Q = q q^T,
q = n x t and a smaller c. Where lambda changes much from solution to solution, such a force can drive what it should
hold: `made_by_friction` says by how much, and `only_brake` makes it -c Q s with c = |f| / |s| for one solution
(docs/decisions/0073).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..linear.constraint_filter import ConstraintFilter
from ..row_ops import any_of, length, pick
from .friction_modes import ELASTIC, STICK_DRAG
from .friction_of_pieces import SETTLED_FRICTION, MomentumChange, is_settled
from .squeezed import between_solids

STIFFER = 8.0
"""Factor by which a spring that gives way gets stiffer [-]."""
STIFFEST = 3e3
"""Largest h^2 k over the mass [-] of pairs without room, and of soft cloth: it carries some hundred times the weight of
what it parts. Cloth that solids squeeze gets no further apart by more, but shakes."""
LOOSE = 0.1
"""Part of the normal that constraints must leave to one of a pair's vertices for its spring to get stiffer [-]: what
solids hold on both sides of a pinch comes no further for any force."""
EASES = 2.0
"""Factor by which a spring that had got stiffer is softer in the next step [-]."""
LEAST_CARRYING_LIFT = 0.25
"""Part of `lift` that it then still takes to carry what presses on it, at most [-]: springs that had to do with less
would sink until they get stiffer once more, and jump, for ever."""
CARRIED = 0.9
"""Part of the last step's normal force that a spring starts with [-]."""
FRICTION_PASSES = 2
"""Solutions by which friction is corrected at once; after that the next step goes on from there."""
LATE_OVERLAP = 0.05
"""Part of the thickness by which a pair may come too close before it is taken in at once [-]."""
FEW_CHANGED_PAIRS = 0.02
"""Part of the touching pairs that may still change when a step is done [-]."""


Terms = tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray]


@dataclass
class Contacts:
    """C pairs that touch or may.

    Attributes:
        key (C,): a number of each pair, the same in every step.
        vertices, weights (C, 4); normal (C, 3): as above.
        least (C,) [m]: d*. stiffness (C,): h^2 k [kg].
        drag (C,): h c [kg]. push (C, 3): h g [N s]. across (C, 3): q of pairs that slide, else 0.
        hold (C, 3): what held the pair when the step began [N s].
        mu (C,): friction coefficient [-].
        mass (C,) [kg]: with which the gap moves. touches (C,): whether the spring acts.
        floor (C,) [m]: gap below which the spring has given way. stiffest (C,) [kg]: how stiff that may make it, h^2 k.
        lift (C,) [m]: by how much what pressed before may make d* longer at most.
        grip (C,): largest h c of a pair that sticks [kg]. give (C,) [m]: slide in the step with which that makes up
            for all of mu lambda; 0 where h c is `grip` whatever presses.
        fixed (C, 3) [m], carried (C, 3) [m/s]: what colliders add to sum_i w_i x_i at the end of the step, and to
            sum_i w_i u_i; their own vertices have no weight.
    """

    key: IntArray
    vertices: IntArray
    weights: FloatArray
    normal: FloatArray
    least: FloatArray
    stiffness: FloatArray
    drag: FloatArray
    push: FloatArray
    across: FloatArray
    hold: FloatArray
    mu: FloatArray
    mass: FloatArray
    floor: FloatArray
    stiffest: FloatArray
    lift: FloatArray
    grip: FloatArray
    give: FloatArray
    touches: BoolArray
    fixed: FloatArray
    carried: FloatArray

    def __len__(self) -> int:
        return len(self.key)

    def __getitem__(self, rows: IntArray | BoolArray) -> Contacts:
        """The contacts of these rows."""
        some: IntArray = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, dtype=np.int64)
        return Contacts(*(pick(a, some) for a in vars(self).values()))

    def joined(self, other: Contacts) -> Contacts:
        """These contacts, and then the others."""
        return Contacts(*(np.concatenate(both) for both in zip(vars(self).values(), vars(other).values(), strict=True)))


class Repulsion:
    """The contacts of one step.

    Args:
        base: (V, 3) [m]; x = base + h u.
        step: h [s].
        body: (V,) pieces of cloth; one if not given.
    """

    def __init__(self, base: FloatArray, step: float, contacts: Contacts, body: IntArray | None = None) -> None:
        self._body: IntArray = np.zeros(len(base), dtype=np.int64) if body is None else body
        self._base, self._h = base, step
        self.contacts = contacts
        self._chosen: Contacts | None = None                     # those that touch, until the next change
        self._matrix: Terms | None = None                        # likewise
        self._judged = 0
        # of the first n contacts: what is carried over, h^2 lambda [kg m], and by how much d* is longer for it [m]
        self._carried, self._lifted = np.zeros(0), np.zeros(0)
        self._acted: BoolArray | None = None                     # which contacts did in the last solution judged
        self._touched: BoolArray = np.zeros(0, dtype=np.bool_)   # of the first n contacts: in the step before
        self.settled = True                                      # whether friction was, on the whole of each piece

    def add(self, contacts: Contacts) -> None:
        """Take in more contacts."""
        self.contacts = self.contacts.joined(contacts)
        self._chosen = self._matrix = None

    def touches(self, key: IntArray) -> BoolArray:
        """Of which keys (N,) there is a contact that touches."""
        result: BoolArray = np.isin(key, self.contacts.key[self.contacts.touches])
        return result

    # ------------------------------------------------------------------ the linear system

    def diagonal(self) -> FloatArray:
        """Diagonal blocks (V, 3, 3) [kg] of what is added to A."""
        return np.asarray(current().pair_penalty.diagonal(*self.terms(), len(self._base)))

    def add_product(self, x: FloatArray, result: FloatArray) -> None:
        """result += (what is added to A, less its diagonal blocks) x for x, result (V, 3)."""
        current().pair_penalty.add_product(*self.terms(), x, result)

    def impulse(self, velocity: FloatArray) -> FloatArray:
        """h f (V, 3) [N s] of the springs and drags that act, at `velocity` (V, 3), for the right-hand side."""
        return self.springs(velocity) + self.drags(velocity)

    def springs(self, velocity: FloatArray) -> FloatArray:
        """The springs' part of `impulse`."""
        c = self._acting()
        push = c.stiffness * (c.least - self._gap(c, velocity)) / self._h
        return self._scattered(c, push[:, None] * c.normal)

    def drags(self, velocity: FloatArray) -> FloatArray:
        """The friction's part of `impulse`."""
        c = self._acting()
        return self._scattered(c, _rubbing(c, velocity))

    def made_by_friction(self, velocity: FloatArray) -> float:
        """Return the energy [J] that friction makes in a step of `velocity` (V, 3); it should not be above zero.

        It is the work of friction, less the elastic energy of pairs that stuck in the step before.
        """
        c = self._acting()
        work = float(np.vdot(self.drags(velocity), velocity) + np.vdot(_rubbing(c, velocity), c.carried))
        held = length(c.hold)
        return work - 0.5 * float(np.sum(held * np.maximum(held / c.grip, c.give / self._h)))

    def only_brake(self, velocity: FloatArray) -> None:
        """Replace friction by dampers until the next solution is judged; at `velocity` (V, 3) [m/s] they are as strong
        as friction is there. Dampers take energy from any motion."""
        c = self.contacts
        size, slide = length(_rubbing(c, velocity)), length(self._slide(c, velocity))
        c.drag = np.where(slide > 0.0, np.minimum(c.grip, size / np.where(slide > 0.0, slide, 1.0)), 0.0)
        c.push[:], c.across[:] = 0.0, 0.0
        self._chosen = self._matrix = None

    def energy(self, velocity: FloatArray) -> float:
        """E [J] at `velocity` (V, 3), of all that are too close then."""
        c = self.contacts
        lack = np.maximum(c.least - self._gap(c, velocity), 0.0)
        return 0.5 * float(np.sum(c.stiffness * lack**2)) / self._h**2

    # ------------------------------------------------------------------ judging

    def pressing(self, velocity: FloatArray) -> FloatArray:
        """Normal forces lambda (C,) [N] at `velocity` (V, 3)."""
        pressing, acted = self._pressing(self._gap(self.contacts, velocity)), self.contacts.touches
        if self._acted is not None:                              # what came in after that solution has not acted
            acted = np.pad(self._acted, (0, len(pressing) - len(self._acted)))
        # a stiff spring that has not acted has no such force; cloths that came too near are parted by the next step
        return self._as_pressed(pressing, acted | (self.contacts.give == 0.0))

    def rubbing(self, velocity: FloatArray) -> FloatArray:
        """Impulses of friction (C, 3) [N s] at `velocity` (V, 3), as large as they may be there."""
        found, limit = _rubbing(self.contacts, velocity), self._h * self.contacts.mu * self.pressing(velocity)
        size = length(found)
        return np.where(size > limit, limit / np.where(size > limit, size, 1.0), 1.0)[:, None] * found

    def begin(self, expected: FloatArray, touched: BoolArray, pressing: FloatArray, holding: FloatArray,
              velocity: FloatArray, stiffness: FloatArray | None = None) -> None:
        """First guess: what `touched` (C,) in the step before with `pressing` (C,) [N] and `holding` (C, 3) [N s], and
        was as stiff as `stiffness` (C,) [-] over the mass, or is too close at velocities `expected` (V, 3), touches;
        sliding as at `velocity` (V, 3)."""
        c = self.contacts
        if stiffness is not None:
            before, pressed = stiffness * c.mass, CARRIED * pressing * self._h**2
            needed = pressed / np.where(c.lift > 0.0, LEAST_CARRYING_LIFT * c.lift, np.inf)
            eased = np.where(c.give > 0.0, before / EASES, np.minimum(before / EASES, c.stiffest))
            c.stiffness = np.maximum(c.stiffness, np.minimum(before, np.maximum(eased, needed)))
        self.stiffen(c, expected, pressing)
        self._touched = touched
        c.hold = holding - np.einsum("pi,pi->p", holding, c.normal)[:, None] * c.normal
        self._lifted = np.minimum(CARRIED * pressing * self._h**2 / c.stiffness, c.lift)
        self._carried = c.stiffness * self._lifted
        c.least = c.least + self._lifted
        c.touches |= touched | self.too_close(expected)
        self._rub(pressing, velocity)

    def stiffen(self, c: Contacts, expected: FloatArray, pressing: FloatArray | float = 0.0) -> None:
        """Make those of contacts c that move vertices alone so stiff that they give no more than they may by what stops
        these at velocities `expected` (V, 3) [m/s], and by forces `pressing` (C,) [N]."""
        load = np.maximum(c.mass * (c.least - self._gap(c, expected)), self._h**2 * pressing)
        needed = load / np.where(c.give > 0.0, c.give, np.inf)
        c.stiffness = np.maximum(c.stiffness, np.minimum(needed, c.grip / ELASTIC**2))

    def carried(self, velocity: FloatArray) -> FloatArray:
        """Return `velocity` (V, 3) [m/s], that of vertices which stick alone by what carries them."""
        c = self._acting()
        some = np.flatnonzero((np.count_nonzero(c.weights, axis=1) == 1) & (c.drag > 0.0) & ~any_of(c.across != 0.0))
        if len(some) == 0:
            return velocity
        c = c[some]
        at = np.argmax(c.weights != 0.0, axis=1)
        weight, vertex = c.weights[np.arange(len(c)), at], c.vertices[np.arange(len(c)), at]
        approach = (self._gap(c, velocity) - c.least) / self._h
        result = velocity.copy()
        result[vertex] -= (self._slide(c, velocity) + np.minimum(approach, 0.0)[:, None] * c.normal) / weight[:, None]
        return result

    def too_close(self, velocity: FloatArray) -> BoolArray:
        """Which contacts are closer than they should be at `velocity` (V, 3)."""
        close: BoolArray = self._gap(self.contacts, velocity) < self.contacts.least
        return close

    def judge(self, u: FloatArray, free: ConstraintFilter | None = None, momentum: MomentumChange | None = None
              ) -> bool:
        """Change the contacts by the solution u (V, 3) in the directions that `free` leaves, all if not given; whether
        so much that it should be solved again. `momentum`: as of `is_settled`."""
        c = self.contacts
        if len(c) == 0:
            return False
        gap = self._gap(c, u)
        pressing = self._pressing(gap)
        touches = gap < c.least
        # a pair that comes a little too close may wait for the next step, one that sticks together may not
        late = np.where(touches, LATE_OVERLAP, 1e-3) * c.least
        changed = (touches != c.touches) & (np.abs(c.least - gap) > late)
        pressing, self._acted = self._as_pressed(pressing, c.touches), c.touches
        weak, stiffest = touches & (gap < c.floor), c.stiffest
        if weak.any():
            tight = between_solids(c.vertices, c.weights, c.normal, touches, weak, len(self._base))
            stiffest = np.where(tight, np.minimum(stiffest, STIFFEST * c.mass), stiffest)
            weak &= c.stiffness < stiffest
        if free is not None and weak.any():
            weak[weak] = free.leaves_some(c.normal[weak], c.vertices[weak], c.weights[weak] != 0.0, LOOSE)
        gave = touches & (c.give > 0.0) & (c.least - gap > np.maximum(late, c.give))
        c.touches = touches
        self.stiffen(c, u, np.where(gave, pressing, 0.0))
        changed |= gave
        c.stiffness = np.maximum(c.stiffness, np.where(weak, np.minimum(STIFFER * c.stiffness, stiffest), 0.0))
        self._carry_no_more()
        changed |= weak
        rubbed = self._rub(pressing, u, momentum)
        if self._judged < FRICTION_PASSES:
            changed |= rubbed
        self._judged += 1
        return int(changed.sum()) > FEW_CHANGED_PAIRS * int(touches.sum())

    def _carry_no_more(self) -> None:
        """Have springs that got stiffer than `STIFFEST` carry over the force that they did at first.

        As much longer as then, they would fling what they part.
        """
        c = self.contacts
        stiff = (c.give == 0.0) & (c.stiffness > STIFFEST * c.mass)
        carried, lifted = (np.pad(a, (0, len(c) - len(a))) for a in (self._carried, self._lifted))
        self._lifted = np.where(stiff, carried / c.stiffness, lifted)
        c.least = c.least + (self._lifted - lifted)

    def _rub(self, pressing: FloatArray, velocity: FloatArray, momentum: MomentumChange | None = None) -> BoolArray:
        """Drags for normal forces `pressing` (C,) [N], slides at `velocity` (V, 3); whose force changes much (C,).
        `momentum`: as of `judge`."""
        c, h = self.contacts, self._h
        limit = h * c.mu * pressing                                                    # [N s]
        c.drag, c.push, c.across, change, grown = current().pair_friction.corrected(
            *_rubbed(c), velocity, c.hold, limit, self._grip(limit))
        self._chosen = self._matrix = None
        self.settled = is_settled(self._body, c.vertices, grown, limit, momentum)
        much: BoolArray = change > SETTLED_FRICTION * np.maximum(limit, 1e-3 * c.mass * c.least / h)
        return much

    # ------------------------------------------------------------------ parts

    def _grip(self, limit: FloatArray) -> FloatArray:
        """Return h c (C,) [kg] of pairs that stick.

        limit: (C,) h mu lambda [N s].
        """
        c = self.contacts
        elastic = np.where(c.give > 0.0, limit * self._h / np.where(c.give > 0.0, c.give, 1.0), np.inf)
        least = STICK_DRAG * c.mass
        least[:len(self._touched)][self._touched] = 0.0
        return np.minimum(c.grip, np.maximum(elastic, least))

    def _acting(self) -> Contacts:
        if self._chosen is None:
            self._chosen = self.contacts[np.flatnonzero(self.contacts.touches)]
        return self._chosen

    def terms(self) -> Terms:
        """Vertices, weights, n, a and b of terms w w^T (a n n^T + b (I - n n^T)) whose sum is added to A."""
        if self._matrix is None:
            c = self._acting()
            slides = any_of(c.across != 0.0)
            row = np.flatnonzero(slides & (c.drag > 0.0))
            self._matrix = (
                np.concatenate([c.vertices, pick(c.vertices, row)]), np.concatenate([c.weights, pick(c.weights, row)]),
                np.concatenate([c.normal, pick(c.across, row)]), np.concatenate([c.stiffness, c.drag[row]]),
                np.concatenate([np.where(slides, 0.0, c.drag), np.zeros(len(row))]))
        return self._matrix

    @staticmethod
    def _slide(c: Contacts, velocity: FloatArray) -> FloatArray:
        """Return s (C, 3) [m/s] at `velocity` (V, 3), with the velocities of colliders."""
        slide = np.einsum("pk,pki->pi", c.weights, pick(velocity, c.vertices)) + c.carried
        return np.asarray(slide - np.einsum("pi,pi->p", slide, c.normal)[:, None] * c.normal)

    def _gap(self, c: Contacts, velocity: FloatArray) -> FloatArray:
        return np.asarray(current().pair_penalty.gaps(
            c.vertices, c.weights, c.normal, c.fixed, self._base, velocity, self._h))

    def _pressing(self, gap: FloatArray) -> FloatArray:
        """Normal forces (C,) [N] at gaps (C,) [m]."""
        c = self.contacts
        return c.stiffness / self._h**2 * np.maximum(c.least - gap, 0.0)

    def _as_pressed(self, pressing: FloatArray, acted: BoolArray) -> FloatArray:
        """Return normal forces (C,) [N], those of pairs that have not `acted` (C,) in the solution as if they had: what
        comes in has not been pressed apart yet, and k gives way to the mass that it moves."""
        c = self.contacts
        return np.where(acted, pressing, pressing / (1.0 + c.stiffness / c.mass))

    def _scattered(self, c: Contacts, force: FloatArray) -> FloatArray:
        return np.asarray(current().pair_penalty.scattered(c.vertices, c.weights, force, len(self._base)))


def _rubbing(c: Contacts, velocity: FloatArray) -> FloatArray:
    return np.asarray(current().pair_friction.impulses(*_rubbed(c), velocity))


def _rubbed(c: Contacts) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """What says how contacts rub, as kernels take it."""
    return c.vertices, c.weights, c.normal, c.carried, c.drag, c.push, c.across
