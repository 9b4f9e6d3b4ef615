# SPDX-License-Identifier: GPL-3.0-or-later
"""A stencil and a law: the one form that every internal force has.

A stencil forms C columns from the k vertices of each of E elements, linearly, with weights fixed by the rest
shape; a law says what energy those columns store:

    F_c  = sum_i w_ic x_i                     (gather)
    E    = psi(F_1 .. F_C)                    [J] per element
    f_i  = - sum_c w_ic P_c                   (scatter)      P_c  = d psi / d F_c
    K_ij = sum_cd w_ic w_jd H_cd              (assembly)     H_cd = d P_c / d F_d,  K = -df/dx

Deformation-rate damping follows 001 (Baraff and Witkin 1998, section 4.5): for each condition C of the law,
psi = k/2 C^2, the force -k_d (dC/dx) dC/dt acts along the deformation only. In columns it is
P_c += tau sum_conditions k g_c (sum_d g_d . Fdot_d) with g = dC/dF and tau = k_d / k [s]; rigid motion has dC/dt = 0.

Columns are tuples of component arrays: F[c][axis] is (E,). A law written in plain arithmetic on components
runs unchanged on such arrays and on the scalars of a compiled loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import AnyArray, FloatArray, IntArray
from ..kernels import current
from .component_algebra import Block, Columns, add, add_blocks, dot, outer

Tangent = tuple[tuple[Block, ...], ...]
"""H[c][d]: the 3x3 block d P_c / d F_d."""
Parameters = tuple[FloatArray, ...]
"""A law's constants, each (E,)."""
Condition = tuple[FloatArray, Columns]
"""A condition's stiffness k [N/m or N m, (E,)] and gradient g = dC/dF."""
GROUP_SIZE = 8
"""Elements that a compiled kernel evaluates at once [-]."""


class Law(Protocol):
    """What an element stores. All functions are per element; parameters come in the law's own order.

    Attributes:
        name: for messages.
        constant_tangent: H_cd is a number times the identity and does not depend on F, so it is assembled once.
        linear: besides, P_c = sum_d H_cd F_d, so that its force is a product with the assembled matrix.

    Optional attributes:
        stiffness_parameters: {"stretch" | "shear" | "bend": indices of parameters}. The energy and the conditions are
            linear in these parameters, so a painted stiffness scales them.
        has_rest_curvature: True if the law's rest shape follows the curvature that is painted on a mesh.
        completes_constant_law: True if the projected tangent is positive semi-definite only together with that of a
            law of constant tangent on the same elements.
        may_go_slack: True if the stiffness can vanish, so that a step needs more linearisations.

    Optional methods, for the constant matrix of projective dynamics:
        tangent_bounds(p): omega_c (E,) per column, with sum_c omega_c |dF_c|^2 >= dF . H dF for every F.
        damping_bounds(p): the same for the damping, over the damping ratio of the force.
    """

    name: str
    constant_tangent: bool
    linear: bool

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """P_c = d psi / d F_c."""

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """H_cd = d P_c / d F_d, exact."""

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """The positive semi-definite part of `tangent`, or a bound of it that is."""

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """The conditions along which the law is damped."""


class Workspace:
    """Memory that is kept from pass to pass, because the first write to fresh memory costs as much as the pass."""

    def __init__(self) -> None:
        self._numbers: FloatArray = np.empty(0)

    def numbers(self, size: int) -> FloatArray:
        """Return memory (size,) with arbitrary contents; it is valid until the next call."""
        if len(self._numbers) < size:
            self._numbers = np.empty(size)
        return self._numbers[:size]


@dataclass(frozen=True)
class Stencil:
    """vertices (E, k) indices and weights (E, k, C): F_c = sum_i weights[:, i, c] x[vertices[:, i]].

    `hub_count`: number of leading vertices of an element such that every pair of vertices that the law couples contains
    at least one of them; None if the law couples any two vertices.
    """

    vertices: IntArray
    weights: FloatArray
    hub_count: int | None = None

    @cached_property
    def incidence(self) -> tuple[IntArray, npt.NDArray[np.int32]]:
        """Where each vertex's corners begin, and the corners (E k,): e k + i for corner i of element e, by vertex and
        ascending. Short integers, because every sum over elements reads them all."""
        flat = self.vertices.ravel()
        corners = np.argsort(flat, kind="stable").astype(np.int32)
        starts: IntArray = np.searchsorted(flat[corners], np.arange(int(flat.max(initial=-1)) + 2))
        return starts, corners

    @cached_property
    def by_corner(self) -> tuple[IntArray, FloatArray]:
        """Vertices (k, E) and weights (k, C, E), so that what NumPy does with all elements at once lies together."""
        return np.ascontiguousarray(self.vertices.T), np.ascontiguousarray(self.weights.transpose(1, 2, 0))

    @cached_property
    def grouped(self) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """Vertices (G, k, 8) and weights (G, k, C, 8) in groups of eight elements. Indices are short, because every sum
        over elements reads them all."""
        return in_groups(self.vertices.astype(np.int32)), in_groups(self.weights)

    @cached_property
    def workspace(self) -> Workspace:
        """Memory for the numbers of one pass over the elements."""
        return Workspace()

    def gather(self, x: FloatArray) -> Columns:
        """Columns of a field x (V, 3)."""
        columns: Columns = current().elements.gather(*self.by_corner, x)
        return columns

    def scatter(self, columns: Columns | FloatArray, vertex_count: int) -> FloatArray:
        """The transpose: sum_c w_ic columns_c added up per vertex (V, 3)."""
        total: FloatArray = current().elements.scatter(*self.by_corner, columns, vertex_count)
        return total

    def blocks(self, tangent: Tangent | FloatArray) -> FloatArray:
        """K_ij of every element as (E, k, k, 3, 3)."""
        k, C, E = self.by_corner[1].shape
        blocks = np.empty((9, k, k, E))
        current().elements.element_blocks(self.by_corner[1], np.array(tangent), blocks)
        return blocks.reshape(3, 3, k, k, E).transpose(4, 2, 3, 0, 1)


@dataclass(frozen=True)
class ElementForce:
    """One family of elements: where (stencil), what (law, parameters) and how damped (damping [s]).

    `painted` (E, n): the vertices over which what is painted on an element is averaged; None for those of the stencil.
    """

    stencil: Stencil
    law: Law
    parameters: Parameters
    damping: float = 0.0
    painted: IntArray | None = None

    @cached_property
    def grouped_parameters(self) -> FloatArray:
        """Parameters (G, P, 8) in groups of eight elements."""
        return in_groups(np.stack([np.asarray(q, dtype=np.float64) for q in self.parameters], axis=1))

    def energy(self, x: FloatArray) -> float:
        """The sum of psi over the elements [J] at x (V, 3)."""
        return float(np.sum(self.law.energy(self.stencil.gather(x), self.parameters)))

    def force(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """f (V, 3) [N] at positions x and velocities v (V, 3)."""
        F = self.stencil.gather(x)
        P = self.law.stress(F, self.parameters)
        if self.damping:
            P = add_columns(P, self.damping_stress(F, self.stencil.gather(v)))
        return -self.stencil.scatter(P, len(x))

    def damping_stress(self, F: Columns, rate: Columns) -> Columns:
        """tau sum k g (g . Fdot) at columns F and their rate [1/s]."""
        total: Columns | None = None
        for k, g in self.law.conditions(F, self.parameters):
            speed = self.damping * k * dot_columns(g, rate)
            part = tuple((speed * a[0], speed * a[1], speed * a[2]) for a in g)
            total = part if total is None else add_columns(total, part)
        if total is None:
            raise ValueError(f"law {self.law.name} is damped but states no condition")
        return total

    def damping_tangent(self, F: Columns) -> Tangent:
        """D_cd = tau sum k g_c g_d^T, so that df/dv = - sum w w D; positive semi-definite by form."""
        total: Tangent | None = None
        for k, g in self.law.conditions(F, self.parameters):
            part = tuple(tuple(outer(self.damping * k, a, b) for b in g) for a in g)
            total = part if total is None else add_tangents(total, part)
        if total is None:
            raise ValueError(f"law {self.law.name} is damped but states no condition")
        return total


def in_groups(numbers: AnyArray) -> AnyArray:
    """Return numbers (E, ..) of elements as (G, .., 8); the last element fills up the last group."""
    count = -(-len(numbers) // GROUP_SIZE)
    which = np.minimum(np.arange(count * GROUP_SIZE), len(numbers) - 1).reshape(count, GROUP_SIZE)
    return np.ascontiguousarray(np.moveaxis(numbers[which], 1, -1))


def dot_columns(a: Columns, b: Columns) -> FloatArray:
    """sum_c a_c . b_c (E,)."""
    total = dot(a[0], b[0])
    for p, q in zip(a[1:], b[1:], strict=True):
        total = total + dot(p, q)
    return total


def add_columns(a: Columns, b: Columns) -> Columns:
    """a + b, column by column."""
    return tuple(add(p, q) for p, q in zip(a, b, strict=True))


def add_tangents(a: Tangent, b: Tangent) -> Tangent:
    """a + b, block by block."""
    return tuple(tuple(add_blocks(p, q) for p, q in zip(x, y, strict=True)) for x, y in zip(a, b, strict=True))


def scalar_blocks(force: ElementForce) -> FloatArray:
    """sum_cd w_ic w_jd h_cd (E, k, k) [N/m] of a law with the constant tangent H_cd = h_cd I."""
    w = force.stencil.weights
    nowhere = force.stencil.gather(np.zeros((int(force.stencil.vertices.max(initial=-1)) + 1, 3)))
    H = force.law.projected_tangent(nowhere, force.parameters)
    h = np.array([[block[0][0] for block in row] for row in H])                       # (C, C, E)
    total: FloatArray = np.einsum("eic,cde,ejd->eij", w, h, w, optimize=True)
    return total
