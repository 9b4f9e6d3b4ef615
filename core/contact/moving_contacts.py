# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply the known motion of colliders to contacts.

A contact with a face that turns gets the frame of that face. Collider vertices get their positions and velocities at
the end of the step, and are no unknowns of the solve.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import FloatArray, IntArray
from ..row_ops import any_of, pick
from .repulsion import Contacts


def turned(contacts: Contacts, rows: IntArray, turn: FloatArray, start: FloatArray, h: float) -> Contacts:
    """Return the contacts, those of `rows` (R,) in a frame that turns by `turn` (R, 3, 3) in h [s].

    What is carried round by a turning surface does not slide over it, although the two ends of its gap move
    differently. start (V, 3) [m]: positions at the start of the step.
    """
    if len(rows) == 0:
        return contacts
    result = replace(contacts, **{name: getattr(contacts, name).copy() for name in ("normal", "hold", "carried")})
    offset = np.einsum("pk,pki->pi", contacts.weights[rows], pick(start, contacts.vertices[rows]))
    result.normal[rows], result.hold[rows], ahead = (
        np.einsum("pij,pj->pi", turn, a) for a in (contacts.normal[rows], contacts.hold[rows], offset))
    result.carried[rows] -= (ahead - offset) / h
    return result


def prescribed(contacts: Contacts, x_t0: FloatArray, x_t1: FloatArray, count: int, h: float) -> Contacts:
    """Return the contacts in which vertices from number `count` on move from x_t0 to x_t1 (W, 3) [m] in h [s] whatever
    presses on them."""
    known = contacts.vertices >= count
    row = np.flatnonzero(any_of(known))
    if len(row) == 0:
        return contacts
    known, at = known[row], np.where(known[row], contacts.vertices[row] - count, 0)
    weights = np.where(known, contacts.weights[row], 0.0)
    ends, starts = (np.einsum("pk,pki->pi", weights, pick(x, at)) for x in (x_t1, x_t0))
    result = replace(contacts, **{name: getattr(contacts, name).copy()
                                  for name in ("vertices", "weights", "fixed", "carried")})
    result.fixed[row] += ends
    result.carried[row] += (ends - starts) / h
    result.weights[row] -= weights
    own = contacts.vertices[row, np.argmin(known, axis=1)]       # without weight any of the cloth's will do
    result.vertices[row] = np.where(known, own[:, None], contacts.vertices[row])
    return result
