# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of particles that slide on solids, to second order in the step.

A step in contact finds velocities u at its end. With x1 = x0 + h u the path under an acceleration a would be longer by
a h^2 / 2: 4 % in 24 steps from rest. So sliding particles end at x0 + d + h u, with

    d = -1/2 a tau^2,      tau = min(h, |s| / |a|) where a brakes the slide s, else h

which is exact for a constant a. Friction that stops the slide within the step does so after tau: the path is then
s tau / 2, and u = 0. The acceleration is that of the step before,

    a = (v0 - v_before) / h_before

of particles that slid at both ends of that step. An impact is no acceleration. In the step after it, a is limited to
that of a particle that slides alone. In the step of an impact, a particle goes on with its acceleration for a time t,
lands, and slides on alone; d is that path less h times the velocity that the step gives it. Particles in more than one
contact, and all that hold or cease to hold, have d = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import length, pick, tangential, unit
from ..state import Before, Touch
from .friction_modes import SLIP

if TYPE_CHECKING:
    from .surfaces import Touching

TOUCHING_OVERSHOOT = 0.01
"""Largest depth beyond a contact at the end of a solve that does not make it act, and largest gap at the start that
does, over the thickness [-]."""
STILL_NEAR = 0.2
"""Part of the thickness within which a particle that touched in the step before is taken to touch again [-]."""


@dataclass(frozen=True)
class Slides:
    """Particles with one contact each, at the start of a step.

    Attributes:
        normal: (n, 3) of the surfaces. velocity: (n, 3) relative to these [m/s].
        gap: (n,) to them [m], not negative.
        last: (n,) friction modes at the start of the last step, as in `Touch`.
        gained: (n, 3) mean accelerations of the last step [m/s^2].
        gravity: (n, 3) [m/s^2].
        mu: (n,) friction [-].
    """

    normal: FloatArray
    velocity: FloatArray
    gap: FloatArray
    last: IntArray
    gained: FloatArray
    gravity: FloatArray
    mu: FloatArray

    def __getitem__(self, rows: BoolArray) -> Slides:
        """Return the particles with these rows."""
        return Slides(*(pick(getattr(self, each.name), np.flatnonzero(rows)) for each in fields(self)))


def expected(found: Touching, touch: Touch) -> IntArray:
    """Return the contacts (n,) that act in a motion without forces, of vertices that contact moves in front of a
    surface: those that it brings nearer than their distance, and those that acted before and remain near."""
    c = found.contacts
    again = (touch.mode[c.vertex] > 0) & (c.gap_t1 < STILL_NEAR * found.distance)
    return np.flatnonzero((again | (c.gap_t1 < TOUCHING_OVERSHOOT * found.distance)) & (c.gap_t0 > -found.distance))


def changes(found: Touching, rows: IntArray, mode: IntArray, before: Before,
            start: tuple[FloatArray, FloatArray, FloatArray], h: float) -> FloatArray:
    """Return d (V, 3) [m] of all particles in a step of h [s].

    Args:
        found: contacts of the step; those in `rows` act.
        mode: (V,) friction modes at its start, as in `Touch`.
        before: start of the last step.
        start: positions [m], velocities [m/s] and gravity [m/s^2] at its start (V, 3).
    """
    x0, v0, gravity = start
    result, c = np.zeros_like(x0), found.contacts
    k = rows[np.bincount(c.vertex[rows], minlength=len(x0))[c.vertex[rows]] == 1]
    vertex = c.vertex[k]
    velocity = pick(v0, vertex) - pick(found.started, k) / h
    last = np.zeros_like(vertex) if before.mode is None else before.mode[vertex]
    some = Slides(pick(c.normal, k), velocity, np.maximum(c.gap_t0[k], 0.0), last,
                  pick(v0 - before.v, vertex) / before.step, pick(gravity, vertex), found.mu[k])
    slides, lands = ((mode[vertex] == now) & ((last == now) | (last == 0)) for now in (SLIP, 0))
    result[vertex[slides]] = _going_on(some[slides], h)
    result[vertex[lands]] = _landing(some[lands], h)
    return result


def _going_on(some: Slides, h: float) -> FloatArray:
    """Return d (n, 3) [m] of particles that slide."""
    slide, a = tangential(some.normal, some.velocity), tangential(some.normal, some.gained)
    alone = shorter(a, coulomb(some.normal, slide, some.gravity, some.mu))
    a = np.where((some.last == SLIP)[:, None], a, alone)
    tau = braked(slide, a, h)
    return -0.5 * (tau * tau)[:, None] * a


def braked(slide: FloatArray, a: FloatArray, span: FloatArray | float) -> FloatArray:
    """Return the times (n,) [s] for which slides (n, 3) [m/s] last under a (n, 3) [m/s^2]: `span` [s], or until they
    stop."""
    braking = -np.einsum("nj,nj->n", slide, a)
    stops = np.einsum("nj,nj->n", slide, slide) / np.where(braking > 0.0, braking, np.inf)
    result: FloatArray = np.where(braking > 0.0, np.minimum(stops, span), span)
    return result


def coulomb(normal: FloatArray, slide: FloatArray, free: FloatArray, mu: FloatArray) -> FloatArray:
    """Return the accelerations (n, 3) [m/s^2] along the surface by Coulomb's law for each particle alone.

    Particles at rest begin to slide along their free acceleration; friction holds them where the result points against
    it.

    Args:
        normal, slide: (n, 3) of the surface, and velocities along it [m/s].
        free: (n, 3) accelerations without contact [m/s^2].
        mu: (n,) friction [-].
    """
    along = tangential(normal, free)
    pressing = np.maximum(-np.einsum("nj,nj->n", normal, free), 0.0)
    rests = (slide == 0.0).all(axis=1)
    return along - (mu * pressing)[:, None] * unit(np.where(rests[:, None], along, slide))


def shorter(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the shorter of two vectors (n, 3) each; zero where they point in opposite directions."""
    ahead = np.einsum("nj,nj->n", one, other) > 0.0
    return np.where(ahead[:, None], np.where((length(one) <= length(other))[:, None], one, other), 0.0)


def _landing(some: Slides, h: float) -> FloatArray:
    """Return d (n, 3) [m] of particles that touch for the first time."""
    normal, gap, free, mu = some.normal, some.gap, some.gained, some.mu
    fall, pull = (np.einsum("nj,nj->n", normal, a) for a in (some.velocity, free))
    slide, along = tangential(normal, some.velocity), tangential(normal, free)
    # gap + fall t + pull t^2 / 2 = 0, in the form without a small difference
    root = np.sqrt(np.maximum(fall * fall - 2.0 * pull * gap, 0.0))
    slow = root - fall
    t = np.where(gap > 0.0, np.minimum(2.0 * gap / np.where(slow > 0.0, slow, np.inf), h), 0.0)
    landed = slide + t[:, None] * along
    after = _rubbed(landed, mu * np.maximum(-fall - t * pull, 0.0))
    a, rests = coulomb(normal, after, free, mu), (after == 0.0).all(axis=1)
    tau = np.where(rests & (np.einsum("nj,nj->n", a, along) <= 0.0), 0.0, braked(after, a, h - t))
    path = t[:, None] * (slide + 0.5 * t[:, None] * along) + tau[:, None] * (after + 0.5 * tau[:, None] * a)
    stopped = np.maximum(-gap / h - fall - h * pull, 0.0)
    return path - h * _rubbed(slide + h * along, mu * stopped)


def _rubbed(slide: FloatArray, change: FloatArray) -> FloatArray:
    """Return slides (n, 3) [m/s] slowed down by `change` (n,) [m/s], at most to rest."""
    return np.maximum(length(slide) - change, 0.0)[:, None] * unit(slide)
