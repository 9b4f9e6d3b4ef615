# SPDX-License-Identifier: GPL-3.0-or-later
"""The largest stiffness of elements that double precision can resolve.

A step's matrix M + h^2 K holds inertia and stiffness in one sum. Rounding of K is about 1e-16 K; where h^2 K is more
than about 1e16 M, nothing is left of the inertia, and a body turns and moves by rounding errors. Bending reaches that
in sheets of some micrometres, because its frequency grows with 1/l^2 of an edge l.

So the stiffness of an element is limited to

    k w^2 <= m omega^2,    omega = LARGEST_FREQUENCY

with its weights w and the mass m of its lightest vertex. Elements of larger stiffness are rigid at any time step that
can be taken, and stay rigid: the limit is 1e12 times the inertia over a frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..stencils.stencil import ElementForce
from .projective_matrix import stiffness_norms

LARGEST_FREQUENCY = 3e7
"""Largest frequency of an element [1/s], of its stiffness over the mass of a vertex (docs/decisions/0035)."""


def limited(forces: Sequence[ElementForce], x: FloatArray, mass: FloatArray) -> list[ElementForce]:
    """Return the forces of elements, with stiffness reduced where it is above the limit.

    Laws that resist the same change, as the two of bending around a curved shape do, are reduced by one factor: that of
    each vertex is the least of the elements around it, that of an element the least of its vertices.

    Args:
        forces: of one cloth; forces that share a stencil go on sharing it.
        x: (V, 3) rest positions [m].
        mass: (V,) [kg].
    """
    factors: dict[str, FloatArray] = {}
    for force in forces:
        for what in _stiffness_parameters(force):
            share = _share(force, x, mass)
            if (share < 1.0).any():
                np.minimum.at(factors.setdefault(what, np.ones(len(x))), force.stencil.vertices, share[:, None])
    return [_reduced(force, factors) for force in forces]


def headroom(forces: Sequence[ElementForce], x: FloatArray, mass: FloatArray) -> float:
    """Return by how much all stiffness may grow before any is above the limit [-]; arguments as of `limited`."""
    found = np.inf
    for force in forces:
        if _stiffness_parameters(force):
            stiffness, most = _stiffness(force, x, mass)
            part = np.divide(stiffness, most, out=np.zeros_like(most), where=most > 0.0).max(initial=0.0)
            found = min(found, 1.0 / part if part > 0.0 else np.inf)
    return found


def _share(force: ElementForce, x: FloatArray, mass: FloatArray) -> FloatArray:
    """Return the part of the stiffness of each element (E,) that is within the limit [-]."""
    stiffness, most = _stiffness(force, x, mass)
    return np.divide(most, stiffness, out=np.ones_like(most), where=stiffness > most).min(axis=1)


def _stiffness(force: ElementForce, x: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the stiffness at each vertex of each element, and its limit (E, k) [N/m]."""
    stencil = force.stencil
    stiffness: FloatArray = np.einsum("eic,ec->ei", stencil.weights ** 2, stiffness_norms(force, x))
    return stiffness, LARGEST_FREQUENCY ** 2 * mass[stencil.vertices]


def _reduced(force: ElementForce, factors: dict[str, FloatArray]) -> ElementForce:
    vertices = force.stencil.vertices if force.painted_vertices is None else force.painted_vertices
    parameters = list(force.parameters)
    for what, places in _stiffness_parameters(force).items():
        if what in factors:
            for place in places:
                parameters[place] = parameters[place] * factors[what][vertices].min(axis=1)
    return replace(force, parameters=tuple(parameters))


def _stiffness_parameters(force: ElementForce) -> Mapping[str, tuple[int, ...]]:
    parameters: Mapping[str, tuple[int, ...]] = getattr(force.law, "stiffness_parameters", {})
    return parameters
