# SPDX-License-Identifier: GPL-3.0-or-later
"""Stencils and laws: the common form of every internal force.

A stencil forms C columns from the k vertices of each of E elements. The columns are linear in the positions, with
weights that the rest shape determines. A law gives the energy of an element as a function of its columns:

    F_c  = sum_i w_ic x_i                     (gather)
    E    = psi(F_1 .. F_C)                    [J] per element
    f_i  = - sum_c w_ic P_c                   (scatter)      P_c  = d psi / d F_c
    K_ij = sum_cd w_ic w_jd H_cd              (assembly)     H_cd = d P_c / d F_d,  K = -df/dx

Damping of the deformation rate follows Baraff and Witkin 1998, section 4.5 (001). For each condition C of a law with
psi = k/2 C^2, the damping force -k_d (dC/dx) dC/dt acts along the deformation only. In columns:

    P_c += tau sum_conditions k g_c (sum_d g_d . Fdot_d),      g = dC/dF,  tau = k_d / k [s]

Rigid motion has dC/dt = 0 and is not damped.

Columns are tuples of component arrays: F[c][axis] is (E,). A law uses plain arithmetic on components, so the same
source runs on these arrays and on the scalars of a compiled loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import SINGLE_PRECISION, AnyArray, FloatArray, IntArray
from ..kernels import current
from ..number_text import number_text
from .component_algebra import Block, Columns, add, add_blocks, dot, outer

Tangent = tuple[tuple[Block, ...], ...]
"""H[c][d]: the 3x3 block d P_c / d F_d."""
Parameters = tuple[FloatArray, ...]
"""Parameters of a law, each (E,)."""
Condition = tuple[FloatArray, Columns]
"""Stiffness k (E,) [N/m or N m] and gradient g = dC/dF of a condition C."""
GROUP_SIZE = 8
"""Number of elements that a compiled kernel evaluates together [-]."""
ELEMENTS_PER_BATCH = 4096
"""Largest number of elements for which stencils or all tangents are computed at a time [-]. It bounds the temporary
memory."""


class Law(Protocol):
    """Energy of an element as a function of its columns.

    All functions are per element. Parameters come in the order that the law's docstring gives.

    Attributes:
        name: used in messages.
        constant_tangent: True if every H_cd is a number times the identity and independent of F. It is then assembled
            once.
        linear: True if, in addition, P_c = sum_d H_cd F_d. The force is then a product with the assembled matrix.

    Optional attributes:
        stiffness_parameters: {"stretch" | "shear" | "bend" | "volume": indices of parameters}. The energy and the
            conditions are linear in these parameters, so a painted stiffness scales them.
        has_rest_curvature: True if the rest shape includes the curvature that is painted on a mesh.
        completes_constant_law: True if the projected tangent is positive semi-definite only when that of a law with
            constant tangent on the same elements is added.
        may_go_slack: True if the stiffness can vanish, so that a step needs more linearisations.
        damps_rotation: True if rigid rotation is damped, too.
        rest_kind: "membrane" | "angle" | "curvature", how a rest shape enters (see `core/model/rest_values.py`).

    Optional method, of a law with branches:
        expected(F, G, p): the parameters with which an element acts in a step whose end is expected at the columns F,
            and would be at the columns G without acceleration.

    Optional methods, for the constant matrix of projective dynamics:
        tangent_bounds(p): omega_c (E,) per column, with sum_c omega_c |dF_c|^2 >= dF . H dF for every F.
        damping_bounds(p): the same for D / tau, where D is the damping tangent.
    """

    name: str
    constant_tangent: bool
    linear: bool

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P_c = d psi / d F_c."""

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H_cd = d P_c / d F_d."""

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return a positive semi-definite approximation of `tangent`."""

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the conditions along which the law is damped."""


class Workspace:
    """Memory that is reused between passes over the elements.

    Writing to fresh memory for the first time costs as much as the pass itself.
    """

    def __init__(self) -> None:
        self._numbers: FloatArray = np.empty(0)

    def numbers(self, size: int) -> FloatArray:
        """Return memory (size,) with arbitrary contents; it is valid until the next call."""
        if len(self._numbers) < size:
            self._numbers = np.empty(size)
        return self._numbers[:size]


@dataclass(frozen=True)
class Stencil:
    """Vertices and weights of E elements: F_c = sum_i weights[:, i, c] x[vertices[:, i]].

    Weights of a column add up to zero to the last bit, so that a translation makes no force and internal forces make no
    momentum. Only elements that are `held` in space have other sums.

    Attributes:
        vertices (E, k): vertex indices of each element.
        weights (E, k, C): weight of vertex i in column c.
        hub_count: number of leading vertices of an element such that every pair of vertices that the law couples
            contains at least one of them; None if the law couples any two vertices.
        held: whether the weights may add up to something else than zero, as for springs to fixed points.
        like: a stencil of the same vertices, whose `incidence` is used.

    Raises:
        ValueError: the weights of an element that is not held do not add up to zero.
    """

    vertices: IntArray
    weights: FloatArray
    hub_count: int | None = None
    held: bool = False
    like: Stencil | None = None

    def __post_init__(self) -> None:
        if self.like is not None and self.like.vertices is not self.vertices:
            object.__setattr__(self, "like", None)
        if not self.held:
            object.__setattr__(self, "weights", balanced(self.weights))

    def reweighted(self, weights: FloatArray) -> Stencil:
        """Return the stencil of the same vertices with other weights (E, k, C)."""
        return replace(self, weights=weights, like=self if self.like is None else self.like)

    @cached_property
    def incidence(self) -> tuple[IntArray, npt.NDArray[np.int32]]:
        """Return the corners of each vertex: where its list starts, and all lists (E k,) one after the other.

        Corner i of element e has the number e k + i. Each list is in ascending order. The numbers are 32-bit integers,
        because every sum over elements reads all of them.
        """
        if self.like is not None:
            return self.like.incidence
        flat = self.vertices.ravel()
        corners = np.argsort(flat, kind="stable").astype(np.int32)
        starts: IntArray = np.searchsorted(flat[corners], np.arange(int(flat.max(initial=-1)) + 2))
        return starts, corners

    @cached_property
    def by_corner(self) -> tuple[IntArray, FloatArray]:
        """Return vertices (k, E) and weights (k, C, E).

        In this layout the values of one corner are contiguous over all elements, as NumPy reads them.
        """
        return np.ascontiguousarray(self.vertices.T), np.ascontiguousarray(self.weights.transpose(1, 2, 0))

    @cached_property
    def grouped(self) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """Return vertices (G, k, 8) and weights (G, k, C, 8) in groups of eight elements.

        Indices are 32-bit integers, because every sum over elements reads all of them.
        """
        return in_groups(self.vertices.astype(np.int32)), in_groups(self.weights)

    @cached_property
    def workspace(self) -> Workspace:
        """Return memory for the values of one pass over the elements."""
        return Workspace()

    def gather(self, x: FloatArray) -> Columns:
        """Return the columns of a field x (V, 3)."""
        columns: Columns = current().elements.gather(*self.by_corner, x)
        return columns

    def scatter(self, columns: Columns | FloatArray, vertex_count: int) -> FloatArray:
        """Return the transpose of `gather`: sum_c w_ic columns_c, added up per vertex (V, 3)."""
        total: FloatArray = current().elements.scatter(*self.by_corner, columns, vertex_count)
        return total

    def blocks(self, tangent: Tangent | FloatArray) -> FloatArray:
        """Return the blocks K_ij of every element (E, k, k, 3, 3)."""
        k, C, E = self.by_corner[1].shape
        blocks = np.empty((9, k, k, E))
        current().elements.element_blocks(self.by_corner[1], np.array(tangent), blocks)
        return blocks.reshape(3, 3, k, k, E).transpose(4, 2, 3, 0, 1)


@dataclass(frozen=True)
class ElementForce:
    """A family of elements with one stencil and one law.

    Attributes:
        stencil: the vertices and weights of the elements.
        law, parameters: the energy of an element, and its parameters (E,).
        damping: tau [s].
        painted_vertices (E, n): the vertices over which painted values are averaged; None for those of the stencil.
        acting: the parameters of the law, without its damping, in a step whose end is expected (E,); compiled loops
            take them in groups, (G, P, 8). None for `parameters`.
    """

    stencil: Stencil
    law: Law
    parameters: Parameters
    damping: float = 0.0
    painted_vertices: IntArray | None = None
    acting: Any = None

    @cached_property
    def grouped_parameters(self) -> FloatArray:
        """Return parameters (G, P, 8) in groups of eight elements."""
        return in_groups(np.stack([np.asarray(q, dtype=np.float64) for q in self.parameters], axis=1))

    def energy(self, x: FloatArray) -> float:
        """Return the sum of psi over the elements [J] at x (V, 3)."""
        return float(np.sum(self.law.energy(self.stencil.gather(x), self.parameters)))

    def force(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return f (V, 3) [N] at positions x and velocities v (V, 3)."""
        return -self.stencil.scatter(self.stress(x, v), len(x))

    def stress(self, x: FloatArray, v: FloatArray) -> Columns:
        """Return P_c with damping at positions x and velocities v (V, 3)."""
        F = self.stencil.gather(x)
        P = self.law.stress(F, self.parameters)
        return add_columns(P, self.damping_stress(F, self.stencil.gather(v))) if self.damping else P

    def damping_stress(self, F: Columns, rate: Columns) -> Columns:
        """Return tau sum k g (g . Fdot) at columns F and their rate Fdot [1/s]."""
        total: Columns | None = None
        for k, g in self.law.conditions(F, self.parameters):
            speed = self.damping * k * dot_columns(g, rate)
            part = tuple((speed * a[0], speed * a[1], speed * a[2]) for a in g)
            total = part if total is None else add_columns(total, part)
        if total is None:
            raise ValueError(f"law {self.law.name} is damped but has no condition")
        return total

    def damping_tangent(self, F: Columns) -> Tangent:
        """Return D_cd = tau sum k g_c g_d^T, with df/dv = - sum w w D; it is positive semi-definite."""
        total: Tangent | None = None
        for k, g in self.law.conditions(F, self.parameters):
            part = tuple(tuple(outer(self.damping * k, a, b) for b in g) for a in g)
            total = part if total is None else add_tangents(total, part)
        if total is None:
            raise ValueError(f"law {self.law.name} is damped but has no condition")
        return total


def balanced(weights: FloatArray) -> FloatArray:
    """Return weights (E, k, C) whose sum over k is zero but for rounding as weights whose sum is exactly zero.

    They become multiples of a power of two, so large that their sums are exact in every order. The largest weight takes
    up the rest.

    Raises:
        ValueError: a sum is not zero, even with the rounding of badly shaped elements.
    """
    sums, sizes = np.add.reduce(weights, axis=1), np.add.reduce(np.abs(weights), axis=1)          # (E, C)
    off = sums != 0.0
    if not off.any():
        return weights
    most = SINGLE_PRECISION * sizes.max(axis=1, keepdims=True)
    if (np.abs(sums) > most).any():
        element, column = np.argwhere(np.abs(sums) > most)[0]
        raise ValueError(f"the weights of column {column} of element {element} add up to "
                         f"{number_text(sums[element, column], 3)}, not to zero; stencils of springs to fixed points "
                         "are `held`")
    unit = np.ldexp(1.0, np.frexp(sizes)[1] - 53)[:, None]                # the sum of all |w| is below 2^53 units
    rounded = np.where(off[:, None], np.rint(weights / unit) * unit, weights)
    rest = np.where(off, np.add.reduce(rounded, axis=1), 0.0)
    at = np.argmax(np.abs(rounded), axis=1)[:, None]
    np.put_along_axis(rounded, at, np.take_along_axis(rounded, at, axis=1) - rest[:, None], axis=1)
    return rounded


def in_groups(numbers: AnyArray) -> AnyArray:
    """Return numbers (E, ..) of elements as (G, .., 8); the last element fills up the last group."""
    count = -(-len(numbers) // GROUP_SIZE)
    which = np.minimum(np.arange(count * GROUP_SIZE), len(numbers) - 1).reshape(count, GROUP_SIZE)
    return np.ascontiguousarray(np.moveaxis(numbers[which], 1, -1))


def dot_columns(a: Columns, b: Columns) -> FloatArray:
    """Return sum_c a_c . b_c (E,)."""
    total = dot(a[0], b[0])
    for p, q in zip(a[1:], b[1:], strict=True):
        total = total + dot(p, q)
    return total


def add_columns(a: Columns, b: Columns) -> Columns:
    """Return a + b, column by column."""
    return tuple(add(p, q) for p, q in zip(a, b, strict=True))


def add_tangents(a: Tangent, b: Tangent) -> Tangent:
    """Return a + b, block by block."""
    return tuple(tuple(add_blocks(p, q) for p, q in zip(x, y, strict=True)) for x, y in zip(a, b, strict=True))


def scalar_blocks(force: ElementForce) -> FloatArray:
    """Return sum_cd w_ic w_jd h_cd (E, k, k) [N/m] of a law with the constant tangent H_cd = h_cd I."""
    w = force.stencil.weights
    nowhere = force.stencil.gather(np.zeros((int(force.stencil.vertices.max(initial=-1)) + 1, 3)))
    H = force.law.projected_tangent(nowhere, force.parameters)
    h = np.array([[block[0][0] for block in row] for row in H])                       # (C, C, E)
    total: FloatArray = np.einsum("eic,cde,ejd->eij", w, h, w, optimize=True)
    return total


def scalar_row_sums(stencil: Stencil, blocks: FloatArray, vertex_count: int) -> FloatArray | None:
    """Return the sums of the rows of a matrix with scalar blocks (E, k, k) (V,) [N/m], None if all are zero.

    Elements whose weights add up to zero add zero, however their blocks are rounded.
    """
    held = np.flatnonzero(np.add.reduce(stencil.weights, axis=1).any(axis=1))
    if len(held) == 0:
        return None
    weights: AnyArray = blocks[held].sum(axis=2).ravel()
    return np.bincount(stencil.vertices[held].ravel(), weights, vertex_count).astype(np.float64)
