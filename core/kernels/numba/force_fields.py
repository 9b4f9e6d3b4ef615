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
from ..formulas.force_fields import (
    damping_rows,
    harmonic_offset,
    offset,
    product,
    stiffness_product,
    stiffness_rows,
    turning,
    weight,
)
from ..formulas.gradient_noise import Table
from ..formulas.random_numbers import strength_noise
from ..numpy.force_fields import FULL
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


def turn(v: FloatArray, factor: FloatArray, spin: FloatArray, normal_spin: FloatArray, push: FloatArray,
         normal_push: FloatArray) -> None:
    """Add v' x B to push and normal_push, for v' = `turning(v, factor (V,) B)`, and B the sum of both spins (V, 3)."""
    share(_turn, len(v), LEAST_VERTICES, np.ascontiguousarray(v), factor, spin, normal_spin, push, normal_push)


@njit(**KERNEL)
def _turn(begin: Any, end: Any, v: Any, factor: Any, spin: Any, normal_spin: Any, push: Any, normal_push: Any) -> None:
    """Add the forces at points begin..end - 1."""
    for i in range(begin, end):
        B, normal = at(spin, i), (0.0, 0.0, 0.0)
        if len(normal_spin) > 0:
            normal = at(normal_spin, i)
        turned = turning(at(v, i), scale(factor[i], add(B, normal)))
        F, along = cross(turned, B), cross(turned, normal)
        for a in range(3):
            push[i, a] += F[a]
            if len(normal_spin) > 0:
                normal_push[i, a] += along[a]


def add_along_normals(stencil: Stencil, vectors: FloatArray, loose: FloatArray, normal_push: FloatArray,
                      bounds: FloatArray, push: FloatArray, blocks: FloatArray) -> None:
    """Add (l_i I + M_i) N_i to push (V, 3), and b_i (l_i I + M_i) to blocks (V, 6)."""
    starts, corners = stencil.incidence
    share(_along_normals, len(push), LEAST_VERTICES, starts, corners, vectors, loose, normal_push, bounds, push, blocks)


@njit(**KERNEL)
def _along_normals(begin: Any, end: Any, starts: Any, corners: Any, q: Any, loose: Any, normal_push: Any, bounds: Any,
                   push: Any, blocks: Any) -> None:
    """Add the parts of vertices begin..end - 1; starts, corners: as of `Stencil.incidence`."""
    for i in range(begin, end):
        xx, xy, xz, yy, yz, zz = loose[i], 0.0, 0.0, loose[i], 0.0, loose[i]
        if i < len(starts) - 1:
            for at_corner in range(starts[i], starts[i + 1]):
                x, y, z = at(q, corners[at_corner] // 3)
                xx += x * x
                xy += x * y
                xz += x * z
                yy += y * y
                yz += y * z
                zz += z * z
        M = xx, xy, xz, yy, yz, zz
        F = product(M, at(normal_push, i))
        for a in range(3):
            push[i, a] += F[a]
        if len(bounds) > 0:
            for a in range(6):
                blocks[i, a] += bounds[i] * M[a]


@cache
def _loop(name: str) -> Callable[..., Any]:
    """Return the loop of a law."""
    law, full, spins = getattr(formulas, name), name in FULL, name == "flux"
    has_length, drags = name == "harmonic", name == "drag"

    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_points(begin, end, codes, q, frame, x, v, base, h, place, normal, visible, table,  # type: ignore[no-untyped-def]
                   lattice, cells, resists, shares, push, blocks, normal_push, bounds, spin, normal_spin):
        """Add the field at points begin..end - 1."""
        shape, form, side, on_surface, stiff_shape = codes[0], codes[1], codes[2], codes[3], codes[7]
        origin, axis, whole_share, normal_share = at(frame, 0), at(frame, 1), shares[0], shares[1]
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
                        spin[i, a] += whole_share * F[a]
                    if len(normal_spin) > 0:
                        for a in range(3):
                            normal_spin[i, a] += normal_share * F[a]
                    F = subtract(nothing, scale(c, speed))
                else:
                    F = subtract(cross(speed, F), scale(c, speed))
            c, along, stiff = max(c, 0.0), max(along, 0.0), full and h > 0.0 and max(radial, across) > 0.0
            radial, across = (max(radial, 0.0), max(across, 0.0)) if stiff else (0.0, 0.0)
            if whole_share != 0.0:
                total = F
                if resists and full:
                    total = add(total, scale(c + along, speed))
                    if stiff:
                        behind = subtract(point, at(base, i))
                        total = add(total, stiffness_product(stiff_shape, radial, across, away, r, n, behind))
                    if drags:
                        A = damping_rows(c, along, speed)
                    else:
                        A = stiffness_rows(stiff_shape, h, c, radial, across, away, r, n)
                    for a in range(6):
                        blocks[i, a] += whole_share * A[a]
                elif resists:
                    total = add(total, scale(c, speed))
                    blocks[i, 0] += whole_share * c
                    blocks[i, 3] += whole_share * c
                    blocks[i, 5] += whole_share * c
                for a in range(3):
                    push[i, a] += whole_share * total[a]
            if normal_share != 0.0:
                total = F
                if resists:
                    most = max(radial, across)
                    total = add(total, scale(c + along, speed))
                    if stiff:
                        total = add(total, scale(most, subtract(point, at(base, i))))
                    bounds[i] += normal_share * (c + along + h * most)
                for a in range(3):
                    normal_push[i, a] += normal_share * total[a]

    return add_points  # type: ignore[no-any-return]
