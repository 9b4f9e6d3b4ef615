# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields: where a field is seen from, how it falls off, and the force per area of each kind.

With d from the field's place to the point, r = |d|, the field's axis n, the point's position x2 relative to the
object, the falloff w and the strength S; docs/theory/force-fields.md derives and explains the equations:

    wind         S w n                                      force      S w d / r, with gravitation S w d / r^3
    vortex       S w r unit(n x d) of a point, else S w n x t + t - v with t = S w n x x2
    magnetic     v x B, B = S w unit(n x d) of a point or a line, else S w n
    harmonic     -S w (r - L) d / r - 2 damping sqrt|S| v   drag       -w (quadratic |v| + linear) v
    turbulence   S w turbulence(p)                          texture    S w sample(x)
    fluid flow   S w k u, with a velocity u and a factor k of the sample

All but harmonic, drag and texture lose flow w v, where S w k takes the place of w in a fluid flow.

A law returns the force F and four numbers that bound its derivatives from below, none of which is negative where the
field damps or attracts:

    -dF/dv >= resistance I + along (v v^T) / |v|^2
    -dF/dx ~  radial (d d^T) / r^2 + across (I - d d^T / r^2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .gradient_noise import Table, turbulence
from .vectors import (
    Vector,
    add,
    cross,
    divide,
    dot,
    length,
    maximum,
    minimum,
    power,
    scale,
    select,
    select_vector,
    subtract,
    whole,
)

Forces = tuple[Vector, Any, Any, Any, Any]
"""Force [N/m^2], resistance and along [N s/m^3], radial and across [N/m^3]."""


def offset(shape: int, x: Vector, origin: Vector, axis: Vector, place: Vector, normal: Vector) -> tuple[Vector, Vector]:
    """Return d [m] from the field's place to x, and n.

    shape: 0 the origin, 1 the axis, 2 the plane across the axis, 3 a given `place` with its `normal`.
    """
    if shape == 3:
        return subtract(x, place), normal
    away = subtract(x, origin)
    if shape == 0:
        return away, axis
    height = dot(away, axis)
    if shape == 1:
        return subtract(away, scale(height, axis)), axis
    return scale(height, axis), axis


def falloff(distance: Any, exponent: float, minimum_distance: float, maximum_distance: float) -> Any:
    """Return (1 + max(distance - minimum, 0))^-exponent, and 0 beyond the maximum."""
    factor = power(1.0 + maximum(distance - minimum_distance, 0.0), -exponent)
    return select(distance > maximum_distance, 0.0, factor)


def weight(form: int, side: int, q: Any, r: Any, n: Vector, x2: Vector) -> Any:
    """Return the falloff w.

    form: 0 sphere, 1 tube, 2 cone. side: sign of the height on which the field acts, 0 for both. q: numbers of the
    field, 5 to 7 power, minimum and maximum, 8 to 10 the same of the radius [m] or the angle [degrees].
    """
    height = dot(n, x2)
    if form == 0:
        w = falloff(r, q[5], q[6], q[7])
    else:
        w = falloff(np.abs(height), q[5], q[6], q[7])
        if q[8] != 0.0 or q[10] < np.inf:                           # it depends on the radius at all
            if form == 1:
                radius = length(subtract(x2, scale(height, n)))
            else:
                cosine = minimum(maximum(divide(height, length(x2)), -1.0), 1.0)
                radius = np.arccos(cosine) * (180.0 / np.pi)
            w = w * falloff(radius, q[8], q[9], q[10])
    return select(side * height < 0.0, 0.0, w)


def harmonic_offset(d: Vector, r: Any, rest_length: float) -> Vector:
    """Return (r - L) d / r: a harmonic field with a rest length L [m] sees it in the place of d."""
    return scale(divide(r - rest_length, r), d)


# ---------------------------------------------------------------------- laws
#
# Arguments: q: numbers of the field: flow, rest length, size, whether it gravitates, and a flag. S: strength, which is
# the second drag coefficient of a drag field. damping: of the field, which is the first one. w, r, d, n, x2: as above;
# n2: axis of the object. x, v: position [m] and velocity [m/s]. table: of turbulence. lattice, cells: samples and the
# map to them.


def wind(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
         v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force of wind."""
    c = q[0] * w
    return subtract(scale(S * w, n), scale(c, v)), c, 0.0 * w, 0.0 * w, 0.0 * w


def force(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
          v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force away from the field's place."""
    c = q[0] * w
    strength = S * w
    if q[3] != 0.0:                                                 # gravitation
        strength = select(r < 1.1920929e-07, 0.0, strength * divide(1.0, r * r))
    per_distance = divide(strength, r)
    return subtract(scale(per_distance, d), scale(c, v)), c, 0.0 * w, 0.0 * w, maximum(-per_distance, 0.0)


def vortex(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
           v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force around the axis of a point."""
    c = q[0] * w
    return subtract(scale(S * w * r, direction(cross(n, d))), scale(c, v)), c, 0.0 * w, 0.0 * w, 0.0 * w


def whirl(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
          v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force of a vortex around the object's axis."""
    c = 1.0 + q[0] * w
    t = scale(S * w, cross(n2, x2))
    return subtract(add(scale(S * w, cross(n2, t)), t), scale(c, v)), c, 0.0 * w, 0.0 * w, 0.0 * w


def flux(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
         v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return B of a magnetic field, in the place of its force v x B - flow w v; and flow w."""
    around = direction(cross(n, d)) if q[4] != 0.0 else n                                # a point or a line
    return scale(S * w, around), q[0] * w, 0.0 * w, 0.0 * w, 0.0 * w


def harmonic(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
             v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force of a spring, d being its elongation, and its damping."""
    k, c = S * w, 2.0 * damping * np.sqrt(np.abs(S))
    shortened = 1.0 - divide(q[1] * (1.0 + 0.0 * r), r)
    return (subtract(scale(-k, d), scale(c, v)), c + 0.0 * w, 0.0 * w, maximum(k, 0.0),
            maximum(k * shortened, 0.0))


def turbulent(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
              v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force of turbulence."""
    c = q[0] * w
    p = x if q[4] != 0.0 else add(x2, n2)                                                # global coordinates
    if q[2] != 0.0:
        p = scale(1.0 / q[2], p)
    return subtract(scale(S * w, turbulence(table, p)), scale(c, v)), c, 0.0 * w, 0.0 * w, 0.0 * w


def drag(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
         v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force of drag; S and damping: quadratic and linear coefficients."""
    quadratic = w * minimum(S, 2.0) * length(v)
    c = quadratic + w * minimum(damping, 2.0)
    return scale(-c, v), c, quadratic, 0.0 * w, 0.0 * w


def texture(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
            v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force of a texture's sample."""
    at = cell(lattice, mapped(cells, x))
    F = sampled(lattice, at, 0), sampled(lattice, at, 1), sampled(lattice, at, 2)
    if q[4] != 0.0:                                                                       # in two dimensions
        F = subtract(F, scale(dot(F, n), n))
    return scale(S * w, F), 0.0 * w, 0.0 * w, 0.0 * w, 0.0 * w


def fluid_flow(q: Any, S: Any, damping: Any, w: Any, r: Any, d: Vector, n: Vector, x2: Vector, n2: Vector, x: Vector,
               v: Vector, table: Table, lattice: Any, cells: Any) -> Forces:
    """Return the force of a moving fluid's sample."""
    p = mapped(cells, x)
    at = cell(lattice, p)
    influence = select(is_within(lattice, p), S * w * sampled(lattice, at, 3), 0.0)
    c = q[0] * influence
    u = sampled(lattice, at, 0), sampled(lattice, at, 1), sampled(lattice, at, 2)
    return subtract(scale(influence, u), scale(c, v)), c, 0.0 * w, 0.0 * w, 0.0 * w


# ---------------------------------------------------------------------- samples


def mapped(cells: Any, x: Vector) -> Vector:
    """Return the place of x [m] in a lattice; cells (3, 4): an affine map."""
    return (cells[0, 0] * x[0] + cells[0, 1] * x[1] + cells[0, 2] * x[2] + cells[0, 3],
            cells[1, 0] * x[0] + cells[1, 1] * x[1] + cells[1, 2] * x[2] + cells[1, 3],
            cells[2, 0] * x[0] + cells[2, 1] * x[1] + cells[2, 2] * x[2] + cells[2, 3])


def is_within(lattice: Any, p: Vector) -> Any:
    """Return whether places p are at most half a cell outside of a lattice (nx, ny, nz, C)."""
    return ((p[0] >= -0.5) & (p[0] <= lattice.shape[0] - 0.5) & (p[1] >= -0.5) & (p[1] <= lattice.shape[1] - 0.5)
            & (p[2] >= -0.5) & (p[2] <= lattice.shape[2] - 0.5))


def cell(lattice: Any, p: Vector) -> Any:
    """Return lower and upper neighbours of places p along each axis of a lattice, and the weights of the upper ones.

    Places outside are moved to the border.
    """
    x = minimum(maximum(p[0], 0.0), lattice.shape[0] - 1.0)
    y = minimum(maximum(p[1], 0.0), lattice.shape[1] - 1.0)
    z = minimum(maximum(p[2], 0.0), lattice.shape[2] - 1.0)
    i, j, k = whole(x), whole(y), whole(z)
    return (i, minimum(i + 1, lattice.shape[0] - 1), x - i, j, minimum(j + 1, lattice.shape[1] - 1), y - j,
            k, minimum(k + 1, lattice.shape[2] - 1), z - k)


def sampled(lattice: Any, at: Any, channel: int) -> Any:
    """Return one number of a lattice (nx, ny, nz, C), interpolated linearly in a cell."""
    i, i1, u, j, j1, v, k, k1, w = at
    low = mean(v, mean(u, lattice[i, j, k, channel], lattice[i1, j, k, channel]),
               mean(u, lattice[i, j1, k, channel], lattice[i1, j1, k, channel]))
    high = mean(v, mean(u, lattice[i, j, k1, channel], lattice[i1, j, k1, channel]),
                mean(u, lattice[i, j1, k1, channel], lattice[i1, j1, k1, channel]))
    return mean(w, low, high)


def mean(t: Any, a: Any, b: Any) -> Any:
    """Return a + t (b - a)."""
    return a + t * (b - a)


# ---------------------------------------------------------------------- derivatives


def unless_zero(w: Any, a: Vector) -> Vector:
    """Return a, and 0 where the field does not act at all, w <= 0."""
    return select_vector(w > 0.0, a, (0.0 * w, 0.0 * w, 0.0 * w))


def damping_rows(c: Any, along: Any, v: Vector) -> Any:
    """Return the six numbers xx, xy, xz, yy, yz, zz of D = c I + along v v^T / |v|^2."""
    along = along * divide(1.0, dot(v, v))
    return (c + along * v[0] * v[0], along * v[0] * v[1], along * v[0] * v[2],
            c + along * v[1] * v[1], along * v[1] * v[2], c + along * v[2] * v[2])


def stiffness_rows(shape: int, h: float, c: Any, radial: Any, across: Any, d: Vector, r: Any, n: Vector) -> Any:
    """Return the six numbers of c I + h K; no coefficient is negative.

    K = radial d d^T / r^2 + across (I - d d^T / r^2), only around the axis n for the shape 1, and without the part
    across for planes and surfaces (2).
    """
    radial, across = h * radial, h * across
    if shape == 2:
        across = 0.0 * across
    k = (radial - across) * divide(1.0, r * r)
    p = across if shape == 1 else 0.0 * across
    c = c + across
    return (c + k * d[0] * d[0] - p * n[0] * n[0], k * d[0] * d[1] - p * n[0] * n[1],
            k * d[0] * d[2] - p * n[0] * n[2], c + k * d[1] * d[1] - p * n[1] * n[1],
            k * d[1] * d[2] - p * n[1] * n[2], c + k * d[2] * d[2] - p * n[2] * n[2])


def stiffness_product(shape: int, radial: Any, across: Any, d: Vector, r: Any, n: Vector, y: Vector) -> Vector:
    """Return K y, with K of `stiffness_rows`."""
    if shape == 2:
        across = 0.0 * across
    result = add(scale(across, y), scale((radial - across) * divide(1.0, r * r) * dot(d, y), d))
    if shape == 1:
        result = subtract(result, scale(across * dot(n, y), n))
    return result


def product(a: Any, u: Vector) -> Vector:
    """Return A u, for the six numbers of A."""
    return (a[0] * u[0] + a[1] * u[1] + a[2] * u[2], a[1] * u[0] + a[3] * u[1] + a[4] * u[2],
            a[2] * u[0] + a[4] * u[1] + a[5] * u[2])


def turning(v: Vector, t: Vector) -> Vector:
    """Return (v + v x t) / (1 + t . t); its cross product with 2 t turns v about t, and keeps its length."""
    return scale(1.0 / (1.0 + dot(t, t)), add(v, cross(v, t)))


def direction(a: Vector) -> Vector:
    """Return a / |a|, or 0 where a is 0."""
    return scale(divide(1.0, length(a)), a)
