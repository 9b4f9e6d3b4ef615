# SPDX-License-Identifier: GPL-3.0-or-later
"""Bound the motion of a solution before any search for contacts on its way.

A solve without a good set of contacts may throw vertices across the whole scene. A search on that way would find most
of the mesh, and the step is rejected anyway. Such a trial is *hopeless*: it is rejected at once. Where no shorter step
is left to take, each vertex moves from where its velocity, weight, pins and colliders take it by at most `MOST_EDGES`
mean edge lengths.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..row_ops import length
from . import step_strain
from .step_contacts import StepContacts

HOPELESS_STRAIN = 4.0
"""Stretch that a solution adds to most edges, over what the settings allow, above which it is not searched [-]:
contacts and corrections do not make up for so much."""
MOST_EDGES = 2.0
"""Largest deviation of a vertex from its free flight where nothing shorter is tried, over the mean edge length [-]."""


class TrialBounds:
    """The bounds of one step.

    Args:
        contacts: of the step.
        final: whether its result is going to be accepted, so that motions have to be shortened.
    """

    def __init__(self, contacts: StepContacts, *, final: bool) -> None:
        self._contacts, self._final = contacts, final

    def hopeless(self, u: FloatArray) -> bool:
        """Return whether velocities u (V, 3) [m/s] stretch the cloth so much that the step is going to be rejected."""
        return self._contacts.settings.linearisations != "converge" and self.is_far(u)    # it has a line search

    def is_far(self, u: FloatArray) -> bool:
        """Return the same of velocities that no line search has judged."""
        contacts = self._contacts
        if not contacts.settings.adaptive:
            return False
        grown = contacts.apart_from_pinched(contacts.growth(u))
        limit = HOPELESS_STRAIN * contacts.settings.max_strain_change
        return step_strain.largest_of_most(grown, contacts.system.edge_slices, limit) > limit

    def shortened(self, u: FloatArray) -> FloatArray:
        """Return velocities u (V, 3) [m/s] within the bounds of the motion."""
        contacts = self._contacts
        system, state, h = contacts.system, contacts.state, contacts.h
        rest = system.rest_lengths
        flight = state.v + h * system.gravity.at(state.time + h)
        carried = max((float(length(s.x_t1 - s.x_t0).max(initial=0.0)) for s in contacts.moving), default=0.0)
        held, at = system.end_positions(state, h)
        carried = max(carried, float(length(at - state.x[held]).max(initial=0.0)) if len(held) else 0.0)
        most = (MOST_EDGES * float(rest.mean()) if len(rest) else np.inf) + carried
        away = u - flight
        share = np.minimum(1.0, most / np.maximum(h * length(away), np.finfo(float).tiny))
        share[held] = 1.0
        if not (share < 1.0).any():
            return u
        change = np.where(share[:, None] < 1.0, (share - 1.0)[:, None] * away, 0.0)
        return u + (change if contacts.moving else self._without_momentum(change))

    def _without_momentum(self, change: FloatArray) -> FloatArray:
        """Return a change of velocities (V, 3) [m/s] without its momentum on bodies that no pin holds."""
        system = self._contacts.system
        body, mass, count = system.body, system.mass, int(system.body.max()) + 1
        free = np.ones(count, dtype=np.bool_)
        free[body[self._contacts.pins.rows]] = False
        total = np.maximum(np.bincount(body, mass, count), np.finfo(float).tiny)
        mean = np.column_stack([np.bincount(body, mass * column, count) / total for column in change.T])
        result: FloatArray = change - np.where(free[:, None], mean, 0.0)[body]
        return result

    @property
    def final(self) -> bool:
        """Return whether the result of the step is going to be accepted."""
        return self._final
