# SPDX-License-Identifier: GPL-3.0-or-later
"""Line search: shorten a change of the velocities until the incremental potential falls.

    phi(u + t du) <= phi(u) + c t grad phi . du ,     t = 1, 1/2, 1/4, ...

Armijo 1966, with c small. Where the matrix of the solve is far below the tangent, as where fabric that stiffens with
stretch is stretched far and the matrix is constant, the whole change would throw the cloth apart.
"""

from __future__ import annotations

from collections.abc import Callable

from ..arrays import FloatArray
from ..kernels import current
from .created_energy import SUM_ROUNDING

ARMIJO_FRACTION = 1e-4
"""c, least decrease of phi over the decrease that the gradient predicts [-]."""
LEAST_FRACTION = 2.0 ** -30
"""Smallest t that is tried [-]."""


def descent(potential: Callable[[FloatArray], float], u: FloatArray, r: FloatArray, end: FloatArray,
            accelerated: FloatArray | None) -> FloatArray | None:
    """Return velocities (V, 3) [m/s] between u and `end` at which phi is lower than at u; None if there are none.

    Args:
        potential: phi [J] at velocities.
        u, end: (V, 3) velocities where the search starts, and after the whole change [m/s].
        r: (V, 3) -grad phi at u [N s].
        accelerated: (V, 3) velocities that are tried first [m/s], if any.
    """
    change, start = end - u, potential(u)
    promised = ARMIJO_FRACTION * min(-current().gradients.dot(r, change), 0.0)
    if accelerated is not None and potential(accelerated) <= start + promised:
        return accelerated
    fraction, rounding = 1.0, SUM_ROUNDING * abs(start)
    while fraction >= LEAST_FRACTION:
        trial: FloatArray = u + fraction * change
        if potential(trial) <= start + fraction * promised + rounding:
            return trial
        fraction *= 0.5
    return None
