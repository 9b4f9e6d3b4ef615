# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag and lift of the air on one triangle, from its velocity r [m/s] relative to the air.

With the unit normal n, the area A [m^2] and r = r_n n + r_t (r: mean of the corners), the force on the triangle is

    linear     F(r) = -A k_d r_n n
    quadratic  F(r) = -A c_n sqrt(r_n^2 + s^2) r_n n - A c_t |r_t| r_t

with k_d [kg/(m^2 s)], c_n = rho C_N / 2 and c_t = rho C_T / 2 [kg/m^3], and the speed s [m/s] below which the drag
across the surface is linear. Each corner gets a third. The quadratic law is linearised at r = p, with the directions n,
t = p_t / |p_t| and b = n x t, P = sqrt(p_n^2 + s^2) and the growing part a = p_n^2 / P^2 of the drag:

    F_corner = g - sum_q q (q . sum_j r_j),    q over  sqrt(A (1 + w_n a) c_n P) n / 3,
                                                       sqrt(A (1 + w_t) c_t |p_t|) t / 3,  sqrt(A c_t |p_t|) b / 3
    g = A (w_n a c_n P p_n n + w_t c_t |p_t| p_t) / 3

for corner velocities r_j. The derivative is exact where both weights w are 1. With w = 0 the force opposes every
velocity; `tangent_weight` has the largest w with which it creates no energy. Vectors are tuples of components, arrays
(T,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray
from .vectors import SMALLEST_DIVISOR, Vector, add, cross, divide, dot, length, maximum, scale, subtract


def drag_vector(a: Vector, b: Vector, c: Vector, k_d: FloatArray) -> Vector:
    """Return q [sqrt(kg/s)] of the linear law, of the triangle (a, b, c) [m]."""
    normal = cross(subtract(b, a), subtract(c, a))                  # 2 A n [m^2]
    double_area = maximum(length(normal), SMALLEST_DIVISOR)
    return scale(np.sqrt(k_d / (18.0 * double_area)), normal)


def air_vectors(a: Vector, b: Vector, c: Vector, total: Vector, c_n: Any, c_t: Any, slow: Any, mass: Any,
                h: Any) -> Any:
    """Return the three q [sqrt(kg/s)] and g [N] of the triangle (a, b, c) [m] of the quadratic law.

    total: the sum of the corners' velocities [m/s], at which it is linearised. slow: s [m/s]. mass: of the triangle
    [kg]. h: of the step [s].
    """
    normal = cross(subtract(b, a), subtract(c, a))
    double_area = length(normal)
    n, area = scale(divide(1.0, double_area), normal), 0.5 * double_area
    p = total[0] / 3.0, total[1] / 3.0, total[2] / 3.0
    across = dot(n, p)
    along = subtract(p, scale(across, n))
    speed = length(along)
    t = scale(divide(1.0, speed), along)
    square = across * across + slow * slow                          # P^2
    growing = divide(across * across, square)
    lift, rub = area * c_n * np.sqrt(square), area * c_t * speed    # [kg/s]
    w_n, w_t = tangent_weight(h * (growing * lift), mass) * growing, tangent_weight(h * rub, mass)
    g = add(scale(w_n * lift * across / 3.0, n), scale(w_t * rub / 3.0, along))
    return (scale(np.sqrt((1.0 + w_n) * lift) / 3.0, n), scale(np.sqrt((1.0 + w_t) * rub) / 3.0, t),
            scale(np.sqrt(rub) / 3.0, cross(n, t)), g)


def tangent_weight(impulse: Any, mass: Any) -> Any:
    """Return the weight w [-] of the part of the derivative that depends on the velocity p before.

    A step of implicit Euler from p to q loses m (q - p)^2 / 2 to numerical damping, and the force does the work
    -(k ((1 + w) q - w p) + l q) q, with `impulse` k [kg] of the part that grows with the speed, l >= 0 of the linear
    part, and `mass` m [kg]. The sum is never above zero for any q, if w^2 <= 2 m / k.
    """
    return np.sqrt(divide(2.0 * mass, maximum(impulse, 2.0 * mass)))


def corner_drag(q: Vector, total: Vector) -> Vector:
    """Return q (q . total) [N]; total: the sum of the corners' velocities [m/s]."""
    return scale(dot(q, total), q)
