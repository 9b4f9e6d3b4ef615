# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields, compiled: one loop over points for each law, by `formulas.force_fields`.

Arguments and results are those of `kernels.numpy.force_fields`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import force_fields as formulas
from ..formulas import gradient_noise, random_numbers
from ..formulas.force_fields import harmonic_offset, offset, product, rows, weight
from ..formulas.gradient_noise import Table
from ..formulas.random_numbers import strength_noise
from ..numpy.force_fields import FULL
from .assembly import subtract_scattered
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_ELEMENTS, LEAST_VERTICES, share
from .vectors import add, at, cross, dot, scale, subtract

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil

for _module in (gradient_noise, random_numbers, formulas):
    register(_module, INLINED)


def add_field(law: str, codes: IntArray, q: FloatArray, frame: FloatArray, x: FloatArray, v: FloatArray,
              base: FloatArray, h: float, place: FloatArray, normal: FloatArray, visible: FloatArray, table: Table,
              lattice: FloatArray, cells: FloatArray, resists: bool, shares: FloatArray,
              push: FloatArray, blocks: FloatArray, normal_push: FloatArray, bounds: FloatArray, spin: FloatArray,
              normal_spin: FloatArray) -> None:
    """Add the linearised force per area of a field at V points to arrays."""
    share(_loop(law), len(x), LEAST_ELEMENTS, codes, q, frame, np.ascontiguousarray(x), np.ascontiguousarray(v),
          np.ascontiguousarray(base), h, place, normal, visible, table, lattice, cells, resists, shares, push, blocks,
          normal_push, bounds, spin, normal_spin)


def add_along_normals(stencil: Stencil, vectors: FloatArray, u: FloatArray, total: FloatArray) -> None:
    """Add q (q . u_i) to total (V, 3) for each triangle and each of its corners i; u (V, 3), vectors: q (T, 3)."""
    parts = np.empty((len(vectors), 3, 3))
    share(_along_normals, len(vectors), LEAST_VERTICES, stencil.vertices, vectors, np.ascontiguousarray(u), parts)
    subtract_scattered(stencil, parts, total)


@njit(**KERNEL)
def _along_normals(begin: Any, end: Any, triangles: Any, q: Any, u: Any, parts: Any) -> None:
    """Write -q (q . u_i) of the corners of triangles begin..end - 1 to parts (T, 3, 3)."""
    for t in range(begin, end):
        vector = at(q, t)
        for corner in range(3):
            along = -dot(vector, at(u, triangles[t, corner]))
            for axis in range(3):
                parts[t, corner, axis] = along * vector[axis]


@cache
def _loop(name: str) -> Callable[..., Any]:
    """Return the loop of a law."""
    law, full, spins = getattr(formulas, name), name in FULL, name == "flux"
    has_length = name == "harmonic"

    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_points(begin, end, codes, q, frame, x, v, base, h, place, normal, visible, table,  # type: ignore[no-untyped-def]
                   lattice, cells, resists, shares, push, blocks, normal_push, bounds, spin, normal_spin):
        """Add the field at points begin..end - 1."""
        shape, form, side, on_surface, stiff_shape = codes[0], codes[1], codes[2], codes[3], codes[7]
        origin, axis = at(frame, 0), at(frame, 1)
        nothing = (0.0, 0.0, 0.0)
        for i in range(begin, end):
            point, speed = at(x, i), at(v, i)
            k = i if len(place) > 1 else 0
            d, n = offset(shape, point, origin, axis, at(place, k), at(normal, k))
            r = np.sqrt(dot(d, d))
            away = d
            if has_length and q[1] != 0.0:
                d = harmonic_offset(d, r, q[1])
            x2, n2 = d, n
            if on_surface == 0:
                x2, n2 = subtract(point, origin), axis
            w = q[14] * weight(form, side, q, r, n, x2) * visible[i if len(visible) > 1 else 0]
            if not w > 0.0:
                continue
            S, damping = q[11], q[12]
            if q[13] != 0.0:
                S += q[13] * strength_noise(codes[4], codes[5], i, codes[6], 0)
                damping += q[13] * strength_noise(codes[4], codes[5], i, codes[6], 1)
            F, c, along, radial, across = law(q, S, damping, w, r, d, n, x2, n2, point, speed, table, lattice,
                                              cells)
            if spins:
                if len(spin) > 0:
                    for a in range(3):
                        spin[i, a] += shares[0] * F[a]
                    if len(normal_spin) > 0:
                        for a in range(3):
                            normal_spin[i, a] += shares[1] * F[a]
                    F = subtract(nothing, scale(c, speed))
                else:
                    F = subtract(cross(speed, F), scale(c, speed))
            resisting = max(c, 0.0)
            if shares[0] != 0.0:
                total = F
                if resists and full:
                    A = rows(stiff_shape, 0.0, c, along, 0.0, 0.0, speed, away, r, n)
                    total = add(total, product(A, speed))
                    for a in range(6):
                        blocks[i, a] += shares[0] * A[a]
                    if h > 0.0:
                        A = rows(stiff_shape, 1.0, 0.0, 0.0, radial, across, speed, away, r, n)
                        total = add(total, product(A, subtract(point, at(base, i))))
                        for a in range(6):
                            blocks[i, a] += shares[0] * h * A[a]
                elif resists:
                    total = add(total, scale(resisting, speed))
                    blocks[i, 0] += shares[0] * resisting
                    blocks[i, 3] += shares[0] * resisting
                    blocks[i, 5] += shares[0] * resisting
                for a in range(3):
                    push[i, a] += shares[0] * total[a]
            if shares[1] != 0.0:
                total = F
                if resists:
                    bound, stiff = resisting + max(along, 0.0), 0.0
                    if h > 0.0:
                        stiff = max(max(radial, across), 0.0)
                    total = add(add(total, scale(bound, speed)), scale(stiff, subtract(point, at(base, i))))
                    bounds[i] += shares[1] * (bound + h * stiff)
                for a in range(3):
                    normal_push[i, a] += shares[1] * total[a]

    return add_points  # type: ignore[no-any-return]
