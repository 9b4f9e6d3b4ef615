# SPDX-License-Identifier: GPL-3.0-or-later
"""Recall the contact forces of the last step as the first guess of this one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..state import ContactWarmStart


def recalled(last: ContactWarmStart, key: IntArray, near: BoolArray, vertex_of: Callable[[IntArray], IntArray]
             ) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray]:
    """Return which pairs with these keys (C,) were in contact, their pressing (C,), holding (C, 3) and stiffness (C,).

    A vertex that has slid to the next triangle, and is `near` it (C,), starts with the forces that it had on the
    triangle before; `vertex_of` maps keys to vertices, and keys of edge pairs to -1.
    """
    count = len(key)
    known, pressing, holding = np.zeros(count, dtype=np.bool_), np.zeros(count), np.zeros((count, 3))
    stiffness = np.zeros(count)
    if len(last.keys) == 0 or count == 0:
        return known, pressing, holding, stiffness
    at = np.minimum(np.searchsorted(last.keys, key), len(last.keys) - 1)
    known = (last.keys[at] == key) & (key >= 0)                 # intersections are numbered anew in each step
    pressing[known], holding[known] = last.pressing[at[known]], last.holding[at[known]]
    stiffness[known] = last.stiffness[at[known]]

    gone = np.ones(len(last.keys), dtype=np.bool_)
    gone[at[known]] = False
    gone &= last.pressing > 0.0
    before, now = vertex_of(last.keys), vertex_of(key)
    left, new = np.flatnonzero(gone & (before >= 0)), np.flatnonzero(near & ~known & (now >= 0) & (key >= 0))
    if len(left) == 0 or len(new) == 0:
        return known, pressing, holding, stiffness
    vertex, place = np.unique(before[left], return_inverse=True)
    to = np.minimum(np.searchsorted(vertex, now[new]), len(vertex) - 1)
    same = vertex[to] == now[new]
    new, to = new[same], to[same]
    share = 1.0 / np.bincount(to, minlength=len(vertex))[to]
    known[new] = True
    pressing[new] = share * np.bincount(place, last.pressing[left], minlength=len(vertex))[to]
    for axis in range(3):
        holding[new, axis] = share * np.bincount(place, last.holding[left, axis], minlength=len(vertex))[to]
    stiffest = np.zeros(len(vertex))
    np.maximum.at(stiffest, place, last.stiffness[left])
    stiffness[new] = stiffest[to]
    return known, pressing, holding, stiffness
