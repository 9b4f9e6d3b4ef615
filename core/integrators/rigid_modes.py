# SPDX-License-Identifier: GPL-3.0-or-later
"""Correct the rigid motion of free bodies after a solve.

A free body moves as a whole by the sum of its impulses, and turns by their moments. Conjugate gradients that end early
get these parts least right, because a preconditioner by groups that only move resists turning.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..linear.constraint_filter import ConstraintFilter
from ..linear.products import Product
from ..row_ops import pick

MODES = 6
"""Rigid motions of a body: three translations and three rotations."""
MODE_ROUNDING = 1e-12
"""Number added to the diagonal of the 6 x 6 matrix of a body, over its largest entry [-]. The matrix of a straight
thread is singular without it: rotation about the thread moves nothing."""


def in_flight(body: IntArray, pins: ConstraintFilter, u: FloatArray, flight: FloatArray) -> FloatArray:
    """Return predicted velocities u (V, 3) [m/s], with those of free `flight` (V, 3) [m/s] on bodies without a pin.

    The solve is for the change from there, and its tolerance is relative to that. Held cloth is near its prediction
    when it comes to rest. A free body in flight has the exact motion as a whole, which a solve hardly changes.

    Args:
        body: (V,) body of each vertex; pieces that seams join are one.
        pins: rows of pinned vertices are held.
    """
    held = np.zeros(int(body.max()) + 1, dtype=np.bool_)
    held[body[pins.rows]] = True
    return u if held.all() else np.where(held[body][:, None], u, flight)


class RigidModes:
    """Rigid motions of whole bodies under a matrix A.

    Args:
        body: (V,) body of each vertex: A has no entries between bodies.
        multiply: x -> A x.
        x: (V, 3) positions [m], about whose means bodies turn; None to leave their rotations as they are.
    """

    def __init__(self, body: IntArray, multiply: Product, x: FloatArray | None) -> None:
        self._body, self._count, self._multiply, self._x = body, int(body.max()) + 1, multiply, x
        self._coarse: FloatArray | None = None
        self._modes = 3 if x is None else MODES

    @cached_property
    def _arm(self) -> FloatArray:
        """Return the places (V, 3) around the means of their bodies, over their root mean square distance from there
        [-]: rotations weigh like translations."""
        assert self._x is not None
        sizes = np.maximum(np.bincount(self._body, minlength=self._count), 1)[:, None]
        arm = self._x - (self._sums(self._x) / sizes)[self._body]
        size = np.sqrt(self._sums(arm * arm).sum(axis=1, keepdims=True) / sizes)
        scaled: FloatArray = arm / np.maximum(size, np.finfo(float).tiny)[self._body]
        return scaled

    def balanced(self, rhs: FloatArray, w: FloatArray, filter_: ConstraintFilter) -> FloatArray:
        """Return w (V, 3) with the exact impulse on the rigid motions of all free bodies.

        This is the Galerkin correction w += T (T^T A T)^-1 T^T (rhs - A w), with T the rigid motions of free bodies.
        """
        free = np.ones(self._count, dtype=bool)
        free[self._body[filter_.rows]] = False
        if not free.any() or not np.isfinite(w).all():
            return w
        if self._coarse is None:                               # A on free bodies is the same in all solves
            turning = () if self._modes == 3 else (
                self._multiply(current().rigid_modes.turned(axis, self._arm)) for axis in np.eye(3))
            coarse = np.stack([self._moments(p) for p in (*self._multiply.translations(), *turning)], axis=-1)
            most = np.abs(coarse).max(axis=(1, 2))
            self._coarse = coarse + (MODE_ROUNDING * most)[:, None, None] * np.eye(self._modes)
        shift = np.zeros((len(free), self._modes))
        lack = self._moments(rhs - self._multiply(w))
        try:
            shift[free] = np.linalg.solve(self._coarse[free], lack[free][:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:                          # masses below the smallest number
            return w
        if self._modes == 3:
            return w + pick(shift, self._body)
        moved: FloatArray = current().rigid_modes.moved(w, shift, self._body, self._arm)
        return moved

    def _moments(self, d: FloatArray) -> FloatArray:
        """Return the sums of d (V, 3), and of its moments where bodies turn, over each body (B, 3) or (B, 6)."""
        if self._modes == 3:
            return self._sums(d)
        sums: FloatArray = current().rigid_modes.moments(self._body, d, self._arm, self._count)
        return sums

    def _sums(self, d: FloatArray) -> FloatArray:
        """Return the sums of d (V, 3) over each body (B, 3)."""
        sums: FloatArray = current().group_sums.sums(self._body[:, None], d, self._count)
        return sums
