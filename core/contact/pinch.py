# SPDX-License-Identifier: GPL-3.0-or-later
"""Move cloth that a collider crosses back to where it was in front of that collider: to its home.

Where two colliders, or two sheets of one that crosses itself, overlap, contact has no solution: whatever is between
them is inside of both. A fast or thin collider may go through cloth, too. What crosses a collider, or is inside of one,
has left its home (`homes`): it is *astray*, and so it is until it is back, or nothing of what edges connect it with
among the astray is crossed any more. Where the way out of a solid is nearest says nothing there: half of a sleeve that
lies in an arm would leave at both sides of it. Homes of neighbours are side by side, and with them a patch leaves as
one, through the side by which it came.

With q the home's place and n its normal at the end of the step, w the velocity of the place, d the distance to keep:

- If there is no room in front of the home, because the other solid covers it, the vertex stays with q itself, along the
  surface so softly that elasticity decides its shape: impulse (k n n^T + c m (I - n n^T))(w + s - u), with s the
  velocity towards q, k the larger of c m and the inertia of the vertex in the step, its edges included: a diagonal
  spring may be as stiff as that (`pair_contacts`).
- Otherwise what is crossed goes to 2 d in front of its home, where its edges are clear of the surface, too: impulse
  k a a^T (w + s - u), along the way a. While it is behind the sheet of its home (`surface_places`), a is n, and s is as
  far as that sheet: cloth slides along a body while it is crossed, and a pull towards q itself would be along the
  surface, where tension holds it, and not out. What is not crossed, but behind the surface, goes to 2 d in front of
  the place that is nearest on the sheet.

Cloth goes home no faster than its pins or the colliders beside it move, or have moved lately. Between solids that leave
no room a pull never ends: vertices come in and out of it, it does work each time, and the cloth would shake for ever.
So s fades when they stand still (`FADING`). And where edges among the astray connect cloth with what is covered,
elastic forces and weight move it no faster than that: neither what is covered along the surface, nor what is left to
contact although it is crossed. A drag b = h |f| over that speed, with f these forces at the start, and at most c times
the inertia, brings them to rest on what holds them; k, and c m along the surface, are no smaller than b. Elsewhere it
would take cloth along with a ball that goes through it.

There s is a rate r times what lacks, and k the inertia over r h: k s is h times the stiffness times what lacks, as of a
contact, so that tension holds cloth no further behind a surface than contact would let it come, however short a step.
For what is crossed but not inside of a collider, k is the inertia itself: more would only stretch its edges, which are
pulled through the surface.

What stands in front of its home beside a covered vertex is left to contact, though its edges cross: the covered vertex
stays where it is, and no way of its neighbours ends that. A pull out would press them into the solid that covers it,
which presses them back, and the cloth would never come to rest.

A vertex behind its home, with what is crossed around it, and one that is covered have no contact with colliders. What
else is crossed stands in front of its home while something comes through it, as a hand through a skirt: contact pulls
that back, and a vertex inside goes home from there as well. What pins hold in a collider stays there, with all that is
crossed around it.

Baraff, Witkin and Kass 2003 ("Untangling cloth") let pinched cloth follow the mean motion of what holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import bodies
from ..row_ops import all_of, any_of, length, pick, unit
from ..state import Homes
from .containment import inside
from .homes import HomePlaces, moved_in
from .pairs import MARGIN
from .surface_places import Places
from .surfaces import StepSurfaces

HOLD = 30.0
"""Impulse that takes cloth home, over mass and velocity, at least [-]: it is held like a contact."""
OUT_RATE = 12.0
"""Rate at which a vertex approaches its place [1/s]: this share of its distance from there per second, and no less than
this number of distances to keep."""
FADING = 0.5 * OUT_RATE
"""Rate at which the largest speed of colliders and pins that stand still is forgotten [1/s]: cloth reaches its place
before that."""
CLEAR = 2.0
"""Distance in front of its home to which a vertex goes, over the distance to keep [-]: faces of the cloth are flat, and
the surface below them is not."""


@dataclass(frozen=True)
class Pinch:
    """Vertices on their way home in one step.

    Attributes:
        pinched: (V,) whether contact with colliders is off.
        vertex: (n,) those that are moved.
        blocks: (n, 3, 3) C [kg]; drive: (n, 3) p [N s], of the impulse p - C u.
    """

    pinched: BoolArray
    vertex: IntArray
    blocks: FloatArray
    drive: FloatArray

    def impulse(self, u: FloatArray) -> FloatArray:
        """Return the impulses (V, 3) [N s] at velocities u (V, 3) [m/s]."""
        result = np.zeros_like(u)
        result[self.vertex] = self.drive - np.einsum("nij,nj->ni", self.blocks, pick(u, self.vertex))
        return result

    def energy(self, u: FloatArray) -> float:
        """Return the potential of the impulses [J], but for a constant."""
        there = pick(u, self.vertex)
        return 0.5 * float(np.einsum("ni,nij,nj->", there, self.blocks, there)) - float(np.sum(self.drive * there))

    def diagonal(self, count: int) -> FloatArray:
        """Return what the impulses add to the matrix of `count` vertices (V, 3, 3) [kg]."""
        result = np.zeros((count, 3, 3))
        result[self.vertex] = self.blocks
        return result


@dataclass(frozen=True)
class Resistance:
    """How cloth resists to be moved in a step.

    Attributes:
        mass: (V,) [kg].
        inertia: returns mass, and h^2 times the stiffness of edges, of each vertex (V,) [kg].
        force: returns elastic forces and weight at the start (V, 3) [N].
        pulled: returns how far pins move in the step at most [m].
    """

    mass: FloatArray
    inertia: Callable[[], FloatArray]
    force: Callable[[], FloatArray]
    pulled: Callable[[], float] = float


def connected(some: IntArray, crossed: BoolArray, edges: IntArray) -> BoolArray:
    """Return the vertices (V,) that edges (E, 2) between `crossed` ones (V,) connect with one of `some` (n,)."""
    if not len(some):
        return np.zeros(len(crossed), dtype=np.bool_)
    part = bodies(edges[all_of(pick(crossed, edges))], len(crossed))
    return (np.bincount(part[some], minlength=len(crossed)) > 0)[part]


def beside(some: IntArray, edges: IntArray, count: int) -> BoolArray:
    """Return which of `count` vertices (V,) share an edge (E, 2) with one of `some` (n,)."""
    result, marked = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    if len(some):
        marked[some] = True
        of_some = edges[any_of(pick(marked, edges))]
        result[of_some] = True
    return result


def strayed(homes: Homes, crossed: BoolArray, edges: IntArray) -> Homes:
    """Return the homes with those astray that are `crossed` now (V,), and those that were and are connected to one of
    these by edges (E, 2) between such."""
    astray = homes.astray | crossed
    if not astray.any():
        return homes
    part = bodies(edges[all_of(pick(astray, edges))], len(astray))
    return replace(homes, astray=astray & (np.bincount(part, crossed, len(astray)) > 0.0)[part])


def go_home(homes: Homes, crossed: BoolArray, within: BoolArray, x0: FloatArray, h: float, surfaces: StepSurfaces,
            resistance: Resistance, edges: IntArray) -> tuple[Pinch | None, Homes]:
    """Return what takes the vertices that are astray home in a step of h [s] from x0 (V, 3) [m], None if nothing does;
    and the homes, with those that are back.

    Args:
        homes: homes at the start. crossed: (V,) vertices that have one and are inside of a collider, or of an edge or a
            face that crosses one. within: (V,) those inside.
        surfaces: the colliders in this step.
        resistance: of the cloth. edges: (E, 2) of it.
    """
    rows = np.flatnonzero(homes.astray)
    if len(rows) == 0:
        return None, homes
    astray = _Astray.of(homes, rows, crossed, x0, surfaces)
    lost, of_covered = rows[astray.lost], rows[astray.covered]
    away = astray.covered | (astray.height < 0.0) | astray.crossed & connected(lost, crossed, edges)[rows]
    low = (away | astray.crossed & ~beside(of_covered, edges, len(x0))[rows]) & (astray.height < CLEAR * astray.keep)
    moves = astray.covered | astray.crossed & within[rows] | low

    most, homes = _speed(homes, astray, h, surfaces, resistance)
    inertia, slow = resistance.inertia()[rows], np.zeros(len(rows))
    if len(of_covered):
        force = length(resistance.force()[rows])
        slow = np.minimum(h * force / max(most, float(np.finfo(float).tiny)), HOLD * inertia)
        slow[~connected(of_covered, homes.astray, edges)[rows]] = 0.0
    firm = np.where(astray.covered | astray.crossed & ~within[rows], inertia, inertia / min(OUT_RATE * h, 1.0))
    least = np.maximum(HOLD * resistance.mass[rows], slow)
    drag = np.where(astray.covered, least, np.where(astray.crossed & ~moves, slow, 0.0))
    blocks, drive = _pull(astray, moves, np.maximum(least, firm), drag, h * most, h)
    some = np.flatnonzero(moves | blocks.any(axis=(1, 2)))

    pinched = np.zeros(len(x0), dtype=np.bool_)
    pinched[rows[away]] = True
    pinch = Pinch(pinched, rows[some], blocks[some], drive[some]) if len(some) or pinched.any() else None
    return pinch, _returned(homes, astray, surfaces)


@dataclass(frozen=True)
class _Astray:
    """Vertices astray in one step, each (n,) or (n, 3).

    Attributes:
        rows: the vertices.
        crossed: those inside of a collider, or of an edge or face that crosses one. covered: those of them without room
            in front of their home.
        begin: the nearest places of their sheets at the start. side: 1 where cloth belongs in front of them, -1 behind.
        start: where they are at the start [m].
        keep: distance to keep [m]. height: how far they would be in front of the sheet at the end [m].
        way: what the surface moves in the step [m]. normal: of the home, at the end. lack: what lacks of the goal [m].
    """

    rows: IntArray
    crossed: BoolArray
    covered: BoolArray
    begin: Places
    side: IntArray
    start: FloatArray
    keep: FloatArray
    height: FloatArray
    way: FloatArray
    normal: FloatArray
    lack: FloatArray

    @classmethod
    def of(cls, homes: Homes, rows: IntArray, crossed: BoolArray, x0: FloatArray, surfaces: StepSurfaces) -> _Astray:
        """Look up where the vertices `rows` (n,) are and where they have to go; arguments as of `go_home`."""
        start, side, bad = x0[rows], np.sign(homes.number[rows]), crossed[rows]
        places = surfaces.places
        begin = places.follow(start, np.abs(homes.number[rows]) - 1, surfaces.moving, end=False)
        carried = places.carried(begin, surfaces.moving) - begin.point
        there = places.follow(start + carried, begin.triangle, surfaces.moving, end=True)
        extra = np.array([surface.thickness for surface in surfaces.moving])
        keep = surfaces.thickness[rows] + extra[places.collider_of(there.triangle)]
        height = _height(start + carried - there.point, there.front, side)
        home = HomePlaces.of(homes, rows, surfaces)
        covered = bad & _within_solids(home.end + keep[:, None] * home.normal, rows, surfaces)

        way = np.where(bad[:, None], home.end - home.start, carried)
        ahead = np.where(bad[:, None], home.normal, side[:, None] * there.normal)
        goal = np.where(bad[:, None], home.end, there.point) + np.where(covered, 0.0, CLEAR * keep)[:, None] * ahead
        lack = np.where((bad & ~covered & (height < 0.0))[:, None], (CLEAR * keep - height)[:, None] * home.normal,
                        goal - start - way)
        return cls(rows, bad, covered, begin, side, start, keep, height, way, home.normal, lack)

    @property
    def lost(self) -> BoolArray:
        """Return those (n,) that are crossed and behind their sheet, with room in front of their home."""
        return self.crossed & ~self.covered & (self.height < 0.0)

    @property
    def wanted(self) -> FloatArray:
        """Return the speeds (n,) [m/s] at which they would go home."""
        return OUT_RATE * np.maximum(np.linalg.norm(self.lack, axis=1), self.keep)


def _speed(homes: Homes, astray: _Astray, h: float, surfaces: StepSurfaces, resistance: Resistance
           ) -> tuple[float, Homes]:
    """Return how fast [m/s] cloth goes home in this step at most, and the homes with what is left of that for the next.
    """
    moved = max(resistance.pulled(), _moved(astray.start, astray.keep, surfaces))
    most = max(float(astray.wanted.max()) if homes.speed is None else homes.speed, moved / h)
    return most, replace(homes, speed=most * float(np.exp(-FADING * h)))


def _pull(astray: _Astray, moves: BoolArray, firm: FloatArray, drag: FloatArray, reach: float, h: float
          ) -> tuple[FloatArray, FloatArray]:
    """Return the matrices (n, 3, 3) [kg] and drives (n, 3) [N s] of what takes cloth home.

    moves: (n,) those that go, with `firm` (n,) [kg] along their way. drag: (n,) in all directions [kg]. reach: how far
    they may go in the step [m].
    """
    size = np.linalg.norm(astray.lack, axis=1)
    part = np.minimum(size, np.minimum(h * astray.wanted, reach)) / np.maximum(size, np.finfo(float).tiny)
    firm = np.where(moves, firm - drag, 0.0)
    across = np.where(astray.covered[:, None], astray.normal, unit(astray.lack))
    blocks = firm[:, None, None] * across[:, :, None] * across[:, None, :] + drag[:, None, None] * np.eye(3)
    return blocks, np.einsum("nij,nj->ni", blocks, astray.way + np.where(moves, part, 0.0)[:, None] * astray.lack) / h


def _returned(homes: Homes, astray: _Astray, surfaces: StepSurfaces) -> Homes:
    """Return the homes with those of the vertices that are back in front of their sheet, within reach of it."""
    begin = astray.begin
    height = _height(astray.start - begin.point, begin.front, astray.side)
    back = np.flatnonzero(~astray.crossed & (height > 0.0) & (height < (1.0 + MARGIN) * astray.keep)
                          & ~surfaces.hidden[begin.triangle])
    if not len(back):
        return homes
    return moved_in(homes, astray.rows[back], begin.triangle[back], begin.weights[back])


def _moved(start: FloatArray, keep: FloatArray, surfaces: StepSurfaces) -> float:
    """Return how far [m] colliders move in the step at most that are nearer than `keep` (n,) [m] to the box around
    `start` (n, 3) [m]."""
    lower, upper, most = start.min(axis=0) - keep.max(), start.max(axis=0) + keep.max(), 0.0
    for surface in surfaces.moving:
        if surface.x_t0 is not surface.x_t1:
            corners = pick(surface.x_t1, surface.shape.triangles)
            near = all_of((corners.min(axis=1) <= upper) & (corners.max(axis=1) >= lower))
            moved = length(surface.x_t1 - surface.x_t0)[surface.shape.triangles[near]]
            most = max(most, float(moved.max(initial=0.0)))
    return most


def _height(away: FloatArray, front: BoolArray, side: IntArray) -> FloatArray:
    """Return how far (n,) [m] points, `away` (n, 3) [m] from places, are in front of them, negative behind them; `side`
    (n,): -1 where the cloth belongs behind."""
    return np.linalg.norm(away, axis=1) * np.where(front == (side > 0), 1.0, -1.0)


def _within_solids(points: FloatArray, rows: IntArray, surfaces: StepSurfaces) -> BoolArray:
    """Return which points (n, 3) [m] are inside of a closed part of a collider at the end of the step, of one that the
    vertices `rows` (n,) may be in contact with."""
    result = np.zeros(len(points), dtype=np.bool_)
    for number, surface in enumerate(surfaces.moving):
        shape = surface.shape
        there = inside(points, surface.x_t1, shape.triangles, shape.closed, surface.tree_t1)
        result |= there if surfaces.allowed is None else there & surfaces.allowed[number, rows]
    return result
