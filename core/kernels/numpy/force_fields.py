# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields at many points, by `formulas.force_fields`: forces per area and bounds of their derivatives.

One call adds one field. The field is linearised at x and v, for points that will be at base + h u with velocity u:

    F(u) = F(x, v) - D (u - v) - K (base + h u - x) = push - (D + h K) u

Numbers of a field, `q` (15,): flow, rest length, size, whether it gravitates, a flag of its law, the three numbers of
the falloff and the three of its radius, strength, damping, amplitude of the noise, and a factor on the falloff.
`codes` (8,): shape, form and side as the formulas take them; whether distances from the object are those from its
surface; seed, frame and source of the noise; and the shape of the stiffness. `frame` (2, 3): the object's location [m]
and axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import force_fields as formulas
from ..formulas.force_fields import (
    damping_rows,
    harmonic_offset,
    offset,
    product,
    stiffness_product,
    stiffness_rows,
    turning,
    unless_zero,
    weight,
)
from ..formulas.gradient_noise import Table
from ..formulas.random_numbers import strength_noise
from .vectors import Vector, add, cross, dot, join, scale, split, subtract

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil

FULL = ("force", "harmonic", "drag")
"""Laws whose derivatives are more than a multiple of the identity: those of drag along the velocity, those
of the others in space."""


def add_field(law: str, codes: IntArray, q: FloatArray, frame: FloatArray, x: FloatArray, v: FloatArray,
              base: FloatArray, h: float, place: FloatArray, normal: FloatArray, visible: FloatArray, table: Table,
              lattice: FloatArray, cells: FloatArray, resists: bool, shares: FloatArray,
              push: FloatArray, blocks: FloatArray, normal_push: FloatArray, bounds: FloatArray, spin: FloatArray,
              normal_spin: FloatArray) -> None:
    """Add the linearised force per area of a field at V points to arrays.

    Args:
        law: name of a function of `formulas.force_fields`.
        codes, q, frame: as above.
        x, v, base, h: (V, 3) [m], [m/s], [m], and [s].
        place, normal: (V, 3) or (1, 3), the field's places and its axis there, for the shape 3.
        visible: (V,) or (1,) part of the field that reaches a point [-].
        table: of turbulence. lattice, cells: samples, and the map to them (3, 4).
        resists: whether D or K may be other than 0.
        shares: parts of the field that act as a whole, and along the cloth's normals.
        push: (V, 3) [N/m^2]. blocks: (V, 6), D + h K [N s/m^3]. normal_push: (V, 3). bounds: (V,), a bound of D + h K.
        spin, normal_spin: (V, 3), B of magnetic fields; empty to add their force instead.
    """
    shape, form, side, on_surface, seed, moment, source, stiff_shape = (int(code) for code in codes)
    points, speed, origin, axis = split(x), split(v), _vector(frame[0]), _vector(frame[1])
    d, n = offset(shape, points, origin, axis, split(place), split(normal))
    r = np.sqrt(dot(d, d))
    away = d
    if law == "harmonic" and q[1] != 0.0:
        d = harmonic_offset(d, r, q[1])
    x2, n2 = (d, n) if on_surface else (subtract(points, origin), axis)
    w = q[14] * weight(form, side, q, r, n, x2) * visible
    S, damping = q[11], q[12]
    if q[13] != 0.0:
        index = np.arange(len(x))
        S = S + q[13] * strength_noise(seed, moment, index, source, 0)
        damping = damping + q[13] * strength_noise(seed, moment, index, source, 1)
    F, c, along, radial, across = getattr(formulas, law)(q, S, damping, w, r, d, n, x2, n2, points, speed, table,
                                                         lattice, cells)
    F, c = unless_zero(w, F), np.where(w > 0.0, c, 0.0)
    if law == "flux":
        for part, spins in zip(shares, (spin, normal_spin), strict=True):
            if len(spins) and part:
                spins += part * join(F)
        F = subtract(_none(w) if len(spin) else cross(speed, F), scale(c, speed))
    c, along, radial, across = (np.maximum(np.where(w > 0.0, a, 0.0), 0.0) for a in (c, along, radial, across))
    if h == 0.0:
        radial, across = 0.0 * w, 0.0 * w
    behind = subtract(points, split(base))
    if shares[0]:
        total = F
        if resists and law in FULL:
            total = add(total, scale(c + along, speed))
            total = add(total, stiffness_product(stiff_shape, radial, across, away, r, n, behind))
            A = damping_rows(c, along, speed) if law == "drag" else stiffness_rows(
                stiff_shape, h, c, radial, across, away, r, n)
            blocks += shares[0] * np.stack(np.broadcast_arrays(*A), axis=1)
        elif resists:
            total = add(total, scale(c, speed))
            blocks[:, [0, 3, 5]] += (shares[0] * c)[:, None]
        push += shares[0] * join(total)
    if shares[1]:
        total = F
        if resists:
            stiff = np.maximum(radial, across)
            total = add(add(total, scale(c + along, speed)), scale(stiff, behind))
            bounds += shares[1] * (c + along + h * stiff)
        normal_push += shares[1] * join(total)


def turn(v: FloatArray, factor: FloatArray, spin: FloatArray, normal_spin: FloatArray, push: FloatArray,
         normal_push: FloatArray) -> None:
    """Add v' x B to push and normal_push, for v' = `turning(v, factor (V,) B)`, and B the sum of both spins (V, 3).

    Arrays of the normal part may have no rows.
    """
    B = add(split(spin), split(normal_spin)) if len(normal_spin) else split(spin)
    turned = turning(split(v), scale(factor, B))
    for force, part in ((push, spin), (normal_push, normal_spin)):
        if len(part):
            force += join(cross(turned, split(part)))


def add_along_normals(stencil: Stencil, vectors: FloatArray, loose: FloatArray, normal_push: FloatArray,
                      bounds: FloatArray, push: FloatArray, blocks: FloatArray) -> None:
    """Add (l_i I + M_i) N_i to push (V, 3), and b_i (l_i I + M_i) to blocks (V, 6).

    M_i is the sum of q q^T over the triangles of vertex i, with vectors: q (T, 3). loose: l (V,). normal_push: N
    (V, 3). bounds: b (V,); without rows, blocks stay as they are. stencil: of the triangles.
    """
    q, corners, count = split(vectors), stencil.vertices.ravel(), len(push)
    products = (q[0] * q[0], q[0] * q[1], q[0] * q[2], q[1] * q[1], q[1] * q[2], q[2] * q[2])
    M: list[FloatArray] = [np.bincount(corners, weights=np.repeat(part, 3), minlength=count).astype(np.float64)
                           for part in products]
    for place in (0, 3, 5):
        M[place] += loose
    push += join(product(M, split(normal_push)))
    if len(bounds):
        blocks += bounds[:, None] * np.stack(M, axis=1)


def _vector(row: FloatArray) -> Vector:
    """Return a row (3,) as components (1,)."""
    return row[:1], row[1:2], row[2:]


def _none(w: FloatArray) -> Vector:
    return 0.0 * w, 0.0 * w, 0.0 * w
