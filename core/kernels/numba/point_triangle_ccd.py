# SPDX-License-Identifier: GPL-3.0-or-later
"""Find where a moving point enters a moving triangle, compiled: one pair at a time.

Formulas are those of `formulas.point_triangle_ccd`. The algorithm differs from NumPy's in that it stops at the first
entry of a pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formulas import point_triangle_ccd as formulas
from ..formulas.point_triangle_ccd import HALVINGS, OVERLAP, bernstein, between, coplanarity, entry_weights, extrema
from .kernel_cache import njit
from .options import INLINED, INNER
from .plain_functions import register
from .vectors import subtract

register(formulas, INLINED)


@njit(**INNER)
def first_entry(p: Any, q: Any, a0: Any, b0: Any, c0: Any, a1: Any, b1: Any, c1: Any, closed: Any) -> Any:
    """Return the first entry of a moving point into a moving triangle: time, side and barycentric weights.

    p, q: start and end of the point; a0, b0, c0 and a1, b1, c1: corners at the start and at the end, as components [m].
    closed: whether the triangle belongs to a closed part, which is entered from the front only. The time is in 0..1, or
    inf for no entry; the side is 1 if the point comes from the front, -1 from the back.
    """
    nothing = (np.inf, 0.0, (0.0, 0.0, 0.0))
    u0, ab0, ac0 = subtract(p, a0), subtract(b0, a0), subtract(c0, a0)
    u1, ab1, ac1 = subtract(q, a1), subtract(b1, a1), subtract(c1, a1)
    f0, f1, f2, f3 = coplanarity(u0, u1, ab0, ab1, ac0, ac1)
    if not (min(min(f0, f1), min(f2, f3)) < 0.0 and max(max(f0, f1), max(f2, f3)) >= 0.0):
        return nothing

    one, other = extrema(f0, f1, f2, f3)
    cuts = (0.0, one, other, 1.0)
    values = (f0, bernstein(f0, f1, f2, f3, one), bernstein(f0, f1, f2, f3, other), f3)
    for piece in range(3):
        front = values[piece] >= 0.0
        if front == (values[piece + 1] >= 0.0) or (closed and not front):
            continue
        low, high = cuts[piece], cuts[piece + 1]
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if (bernstein(f0, f1, f2, f3, middle) >= 0.0) == front:
                low = middle
            else:
                high = middle
        u, ab, ac = between(u0, u1, low), between(ab0, ab1, low), between(ac0, ac1, low)
        w_a, w_b, w_c, nn = entry_weights(u, ab, ac)
        if nn > 0.0 and min(min(w_a, w_b), w_c) >= -OVERLAP:
            w = max(w_a, 0.0), max(w_b, 0.0), max(w_c, 0.0)
            total = w[0] + w[1] + w[2]
            return low, 1.0 if front else -1.0, (w[0] / total, w[1] / total, w[2] / total)
    return nothing

