# SPDX-License-Identifier: GPL-3.0-or-later
"""The plastic part of one cloth's rest shape, and its flow after every step.

    membranes   (w_u, w_v) G^-1, with G (2 x 2) of each triangle: the plastic part of its deformation
    patches     r + p, with p (3) of each triangle: the plastic part of its curvatures
    hinges      theta_rest + p

After a step of h [s] with the elastic part of the deformation,

    stretch     lambda_i, principal stretches of (w_u, w_v) G^-1 along v_i:     G <- sum_i (1 + a e_i) v_i v_i^T G,
                e_i = max(lambda_i - 1 - y, 0)
    bending     c = F . n - r - p:       p <- p + a (1 - y / |c|) c     where |c| > y
    a = 1 - exp(-h / time),     y = yield + hardening |plastic part|

The flow is explicit: forces of a step have the rest shape of its start, so that a step stays the minimum of an energy.
The flow takes energy only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..description.keyed import number_at
from ..description.plasticity import Plasticity
from ..errors import ClothError
from ..stencils.bending.hinge import angle
from ..stencils.bending.hinge_geometry import HingeGeometry
from ..stencils.stencil import ElementForce
from .curved_patches import CurvedPatches
from .rest_values import metrics, stretched, turned


class PlasticFlow:
    """The plastic part of one cloth's rest shape: an array of numbers, whose meaning is in this class only.

    Args:
        cloth: one with `plasticity`.
        forces: those of its model, in the numbering of all particles.
        patches: its patches of bending.

    Attributes:
        start: (n,) the numbers of the rest shape that was built.

    Raises:
        ClothError: the model has neither membranes nor bending that can flow.
    """

    def __init__(self, cloth: Cloth, forces: Sequence[ElementForce], patches: CurvedPatches) -> None:
        assert cloth.plasticity is not None
        self._cloth, self._settings, self._patches = cloth, cloth.plasticity, patches
        self._membrane = next((f for f in forces if getattr(f.law, "rest_kind", None) == "membrane"), None)
        self._hinges = [f for f in forces if getattr(f.law, "rest_kind", None) == "angle"]
        if self._membrane is None:
            raise ClothError(f"its stretch or folds shall stay, but its model '{cloth.model}' has springs whose rest "
                             "shape does not flow; choose the model 'baraff_witkin', or leave plasticity out",
                             object_name=cloth.name)
        mesh, count = cloth.mesh, len(cloth.mesh.triangles)
        parts = [np.tile([1.0, 0.0, 0.0, 1.0], count)]
        parts += [np.zeros(3 * count) for _ in patches.rest] + [np.zeros(len(f.parameters[0])) for f in self._hinges]
        self._ends = np.cumsum([len(part) for part in parts])[:-1]
        self.start: FloatArray = np.concatenate(parts)
        widths = 0.5 * HingeGeometry(mesh).heights.sum(axis=1)
        self._widths = [widths if len(f.parameters[0]) == len(widths) else widths[mesh.hinge_branches]
                        for f in self._hinges]

    def curvatures(self, plastic: FloatArray) -> list[FloatArray]:
        """Return the plastic curvatures of each force of flat patches (T, 3) [-]."""
        return [part.reshape(-1, 3) for part in self._parts(plastic)[1]]

    def changed(self, family: Sequence[ElementForce], places: Sequence[int], forces: Sequence[ElementForce],
                plastic: FloatArray) -> list[ElementForce]:
        """Return forces that share a stencil with their plastic part, those of patches left out.

        `places` are those of the family among the `forces` of the model.
        """
        stretch, _, angles = self._parts(plastic)
        kind = getattr(family[0].law, "rest_kind", None)
        if kind == "membrane":
            return stretched(family, stretch.reshape(-1, 2, 2))
        if kind == "angle":
            hinges = [place for place, force in enumerate(forces) if getattr(force.law, "rest_kind", None) == "angle"]
            return [turned(force, force.parameters[1] + angles[hinges.index(place)])
                    for force, place in zip(family, places, strict=True)]
        return list(family)

    def flowed(self, time: float, forces: Sequence[ElementForce], rest: Sequence[FloatArray], x: FloatArray, h: float,
               plastic: FloatArray) -> FloatArray:
        """Return the plastic part after a step.

        Args:
            time: at its end [s].
            forces: of the model at the end of the step, with its plastic part, those of patches left out.
            rest: rest curvatures of each force of flat patches (T, 3) [-], without their plastic part.
            x: (V, 3) positions at the end [m].
            h: size of the step [s].
            plastic: (n,) before the step.
        """
        own = self._settings.at(time, self._cloth.name)
        lasts = number_at(own.time, time)
        done = 1.0 if lasts == 0.0 else 1.0 - math.exp(-h / lasts)
        hardening, bend = number_at(own.hardening, time), own.bend_yield
        pull = None if own.stretch_yield is None else number_at(own.stretch_yield, time)
        fold = None if bend is None else number_at(bend, time)
        stretch, curvatures, angles = self._parts(plastic)
        result = [self._flowed_stretch(forces, x, stretch.reshape(-1, 2, 2), done, pull, hardening).ravel()]
        now = self._patches.normal_parts(x)
        size = np.sqrt(self._cloth.mesh.areas)[:, None]
        for part, r, p in zip(now, rest, curvatures, strict=True):
            p = p.reshape(-1, 3)
            result.append((p + size * _flow((part - r - p) / size, p / size, done, fold, hardening)).ravel())
        hinges = [force for force in forces if getattr(force.law, "rest_kind", None) == "angle"]
        for force, p, width in zip(hinges, angles, self._widths, strict=True):
            off = (angle(force.stencil.gather(x)) - force.parameters[1]) / width
            result.append(p + width * _flow(off[:, None], (p / width)[:, None], done, fold, hardening)[:, 0])
        return np.concatenate(result)

    def edge_ratios(self, plastic: FloatArray) -> FloatArray:
        """Return the rest lengths of the cloth's edges over those without their plastic part (E,) [-]: the mean over
        the triangles of an edge."""
        mesh, G = self._cloth.mesh, self._parts(plastic)[0].reshape(-1, 2, 2)
        sides = np.roll(mesh.uv, -1, axis=1) - mesh.uv
        ratio = np.linalg.norm(np.einsum("tij,tsj->tsi", G, sides), axis=2) / np.linalg.norm(sides, axis=2)
        inner, n = len(mesh.edges) - len(mesh.loose_edges), len(mesh.positions)
        ends = np.sort(np.stack([mesh.triangles, np.roll(mesh.triangles, -1, axis=1)], axis=-1), axis=-1)
        keys = mesh.edges[:inner, 0] * n + mesh.edges[:inner, 1]
        at = np.searchsorted(keys, (ends[..., 0] * n + ends[..., 1]).ravel())
        result = np.ones(len(mesh.edges))
        result[:inner] = np.bincount(at, ratio.ravel(), inner) / np.maximum(np.bincount(at, minlength=inner), 1)
        return result

    def _flowed_stretch(self, forces: Sequence[ElementForce], x: FloatArray, G: FloatArray, done: float,
                        limit: float | None, hardening: float) -> FloatArray:
        if limit is None:
            return G
        membrane = next(force for force in forces if getattr(force.law, "rest_kind", None) == "membrane")
        values, axes = np.linalg.eigh(metrics(x, membrane.stencil))
        flowed = np.linalg.norm((G - np.eye(2)).reshape(-1, 4), axis=1)
        most = 1.0 + limit + hardening * flowed
        excess = np.maximum(np.sqrt(np.maximum(values, 0.0)) - most[:, None], 0.0)
        if not excess.any():
            return G
        grown: FloatArray = (axes * (1.0 + done * excess)[:, None]) @ axes.transpose(0, 2, 1) @ G
        return np.where(excess.any(axis=1)[:, None, None], grown, G)

    def _parts(self, plastic: FloatArray) -> tuple[FloatArray, list[FloatArray], list[FloatArray]]:
        """Return the numbers of stretch, of each force of flat patches, and of each force of hinges."""
        stretch, *others = np.split(plastic, self._ends)
        count = len(self._patches.rest)
        return stretch, others[:count], others[count:]


def _flow(elastic: FloatArray, plastic: FloatArray, done: float, limit: float | None, hardening: float) -> FloatArray:
    """Return the plastic flow of curvatures (n, c) [1/m], of which `plastic` (n, c) have flowed before."""
    if limit is None:
        return np.zeros_like(elastic)
    size = np.linalg.norm(elastic, axis=1)
    most = limit + hardening * np.linalg.norm(plastic, axis=1)
    over = np.maximum(size - most, 0.0) / np.maximum(size, np.finfo(float).tiny)
    return done * over[:, None] * elastic


def settings_of(cloth: Cloth) -> Plasticity | None:
    """Return the plasticity of a cloth, None if nothing of it flows."""
    own = cloth.plasticity
    return None if own is None or (own.stretch_yield is None and own.bend_yield is None) else own
