# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs through the inside of a shell.

From each vertex a ray goes inwards along the normal to the first point p = sum_i b_i x_i of another triangle. The
spring between them is one column of four vertices, F = x - sum_i b_i x_i, with the length at rest L and

    k = E a / (2 L)                                                                      [N/m]

for the vertex's area a. The vertices of both sides have springs, each half of the filling: a slab of area A and
thickness L has the stiffness E A / L in all. No pair of vertices needs to be opposite.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import FloatArray, IntArray
from ..description.cloth import Cloth
from ..description.internal_springs import InternalSprings
from ..errors import ClothError
from ..stencils.models.built_model import BuiltModel
from ..stencils.springs.spring_forces import spring_force
from ..stencils.stencil import ElementForce, Stencil
from .surface_rays import first_hits


def with_internal_springs(model: BuiltModel, cloth: Cloth) -> BuiltModel:
    """Return the model of a cloth with its internal springs.

    Raises:
        ClothError: the mesh has no opposite side within the limits.
    """
    springs, mesh = cloth.internal_springs, cloth.mesh
    if springs is None:
        return model
    scale = springs.scales(len(mesh.positions), cloth.name)
    sources, corners, weights = _opposite(mesh.positions, mesh.triangles, springs)
    if not len(sources):
        raise ClothError("its mesh has no opposite side for internal springs: no ray from a vertex inwards, against "
                         "its normal, meets the mesh within their largest length and diversion; close the mesh, turn "
                         "its normals outwards, or allow longer springs", object_name=cloth.name)
    rest = np.linalg.norm(mesh.positions[sources] - np.einsum("si,sia->sa", weights, mesh.positions[corners]), axis=1)
    share = 0.5 * (scale[sources] + (weights * scale[corners]).sum(axis=1)) * mesh.vertex_areas[sources] / (2.0 * rest)
    rest = rest * 0.5 * (mesh.scale[sources] + (weights * mesh.scale[corners]).sum(axis=1))
    columns = np.column_stack([np.ones(len(sources)), -weights])[..., None]
    stencil = Stencil(np.column_stack([sources, corners]), columns)
    tension, compression = springs.moduli(0.0, cloth.name)
    if springs.changes:                                      # `springs_at` multiplies by the moduli
        tension, compression = 1.0, None if compression is None else 1.0
    push = None if compression is None else compression * share
    force = spring_force(stencil, tension * share, push, rest, (springs.damping, springs.damping))
    nearest = corners[np.arange(len(sources)), np.argmax(weights, axis=1)]
    neighbours: IntArray = np.concatenate([model.neighbours, np.sort(np.column_stack([sources, nearest]), axis=1)])
    return BuiltModel([*model.forces, force], model.inner_nodes, model.mass, model.effective_mass, neighbours)


def springs_at(force: ElementForce, cloth: Cloth, time: float) -> ElementForce:
    """Return the force of internal springs whose moduli change, as it was built, at `time` [s]."""
    assert cloth.internal_springs is not None
    tension, compression = cloth.internal_springs.moduli(time, cloth.name)
    k, *others = force.parameters
    if compression is not None:
        others[0] = compression * others[0]
    return replace(force, parameters=(tension * k, *others))


def _opposite(x: FloatArray, triangles: IntArray, springs: InternalSprings) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the vertices (S,) that have a point opposite, the triangles' vertices there (S, 3), and weights (S, 3)."""
    a, b, c = (x[triangles[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    total = np.stack([np.bincount(triangles.ravel(), np.repeat(column, 3), len(x)) for column in normals.T], axis=1)
    size = np.linalg.norm(total, axis=1)
    inward = -total / np.maximum(size, np.finfo(float).tiny)[:, None]
    reach = float(np.linalg.norm(np.ptp(x, axis=0)))
    if springs.max_length is not None:
        reach = min(reach, springs.max_length)
    triangle, weights = np.full(len(x), -1), np.zeros((len(x), 3))
    left = np.flatnonzero(size > 0.0)
    for along, around in _cone(springs.max_diversion):
        if not len(left):
            break
        direction = _turned(inward[left], along, around)
        hits = first_hits(x, triangles, left, direction, reach)
        good = hits.triangle >= 0
        if springs.check_normals:
            good &= np.einsum("ni,ni->n", normals[hits.triangle], direction) > 0.0
        triangle[left[good]], weights[left[good]] = hits.triangle[good], hits.weights[good]
        left = left[~good]
    there = np.flatnonzero(triangle >= 0)
    return there, triangles[triangle[there]], weights[there]


def _cone(most: float) -> list[tuple[float, float]]:
    """Return angles to the normal and around it [rad], in the order in which rays are tried: six at each angle."""
    turns = [np.pi * k / 3.0 for k in range(6)] if most > 0.0 else []
    return [(0.0, 0.0), *((part * most, turn) for part in (0.5, 1.0) for turn in turns)]


def _turned(axes: FloatArray, along: float, around: float) -> FloatArray:
    """Return directions (N, 3) at the angle `along` from `axes` (N, 3), in the direction `around` them."""
    spare = np.eye(3)[np.argmin(np.abs(axes), axis=1)]
    u = np.cross(axes, spare)
    u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), np.finfo(float).tiny)
    v = np.cross(axes, u)
    side = np.cos(around) * u + np.sin(around) * v
    turned: FloatArray = np.cos(along) * axes + np.sin(along) * side
    return turned
