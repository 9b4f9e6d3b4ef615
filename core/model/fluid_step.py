# SPDX-License-Identifier: GPL-3.0-or-later
"""A fluid inside of cloth, or around it, in one step: its weight and its inertia.

The fluid presses with p_t = rho g . (x_t - mean) on triangle t, and resists the acceleration of its centre of mass with
its mass m = rho V, as if it had one acceleration everywhere:

    E = - f . x + 1/2 sum_t (3 q_t . (dx_t - mean dx))^2 + 1/2 m |J (x - y) / V|^2 / h^2

f is the force of p_t at a reference, dx the motion from there, J dx the change of the first moment of the volume, and y
the end of a step without any force. The second term is the semi-definite part of the change of p_t with the height,

    -rho / 18 (N g^T + g N^T) >= q q^T - ..,    q = sqrt(|rho| |N| |g| / 36) (N / |N| -+ g / |g|)

which keeps a slack surface on top of a fluid at rest in steps of any length. A fluid around the cloth has a negative
density here, and m is the part of it that moves along.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import SINGLE_PRECISION, FloatArray
from ..kernels import current
from .gas_surface import GasSurface


@dataclass(frozen=True)
class FluidStep:
    """The fluid of all pieces in a step.

    Attributes:
        surface: the triangles.
        x: (V, 3) welded positions of the reference [m].
        force: (T, 3) force on each triangle [N].
        q: (T, 3) [sqrt(N/m)].
        share: (T,) part of each triangle in the area of its piece [-].
        inertia: (3, T, 3) sqrt(m) / (h V) times the change of the first moment along each axis with each triangle
            [sqrt(N/m)].
        free: (V, 3) welded y [m].
    """

    surface: GasSurface
    x: FloatArray
    force: FloatArray
    q: FloatArray
    share: FloatArray
    inertia: FloatArray
    free: FloatArray

    @staticmethod
    def at(surface: GasSurface, x: FloatArray, free: FloatArray, h: float, density: FloatArray, target: FloatArray,
           gravity: FloatArray) -> FluidStep:
        """Return the fluid in a step of h [s] that ends near x (V, 3) [m], and at free (V, 3) [m] without forces.

        Args:
            surface: the triangles.
            x, free, h: of the step.
            density: (P,) of each piece [kg/m^3]; that of a fluid inside is at its target volume.
            target: (P,) [m^3], 0 where unknown.
            gravity: (V, 3) of each particle [m/s^2].
        """
        x, free, piece = surface.weld.positions(x), surface.weld.positions(free), surface.piece
        N = current().area_vectors.area_vectors(surface.triangles, x)
        area = np.linalg.norm(N, axis=1)
        share = area / np.maximum(np.bincount(piece, area), np.finfo(float).tiny)[piece]
        volumes = surface.volumes(x, N)
        there = np.maximum(volumes, SINGLE_PRECISION * np.bincount(piece, area) ** 1.5)
        # a fluid inside keeps its mass, which is known where the target volume is
        rho = np.where((density > 0.0) & (target > 0.0), density * target / there, density)
        middle = x[surface.triangles].mean(axis=1)
        away = middle - _means(surface, share, middle)[piece]
        weighted = surface.weights[:, None] * N
        gravity = gravity[surface.anchor]
        force = (rho[piece] * np.einsum("ti,ti->t", away, gravity[piece]))[:, None] * weighted
        size = np.linalg.norm(gravity, axis=1)
        down = (gravity / np.maximum(size, np.finfo(float).tiny)[:, None])[piece]
        normal = N / np.maximum(area, np.finfo(float).tiny)[:, None]
        q = np.sqrt(np.abs(rho[piece]) * area * surface.weights * size[piece] / 36.0)[:, None] * (
            normal - np.sign(rho[piece])[:, None] * down)
        # half of the mass that a piece displaces moves along with it, as around a ball
        scale = np.sqrt(np.where(rho > 0.0, rho, -0.5 * rho) / there) / h
        inertia = np.stack([(scale[piece] * along)[:, None] * N for along in away.T])
        return FluidStep(surface, x, force, q, share, inertia, free)

    def energy(self, x: FloatArray) -> float:
        """Return E [J] at welded positions x (V, 3) [m]."""
        triangles = self.surface.triangles
        moved = (x - self.x)[triangles].mean(axis=1)
        apart = moved - _means(self.surface, self.share, moved)[self.surface.piece]
        stretch = 3.0 * np.einsum("ti,ti->t", self.q, apart)
        late = self._moments((x - self.free)[triangles].mean(axis=1))
        return float(0.5 * np.sum(stretch * stretch) + 0.5 * np.sum(late * late) - np.sum(self.force * moved))

    def forces(self, x: FloatArray) -> FloatArray:
        """Return the force on each triangle (T, 3) [N] at welded positions x (V, 3) [m]."""
        triangles = self.surface.triangles
        late = self._moments((x - self.free)[triangles].mean(axis=1))
        slowing = np.einsum("ati,at->ti", self.inertia, late[:, self.surface.piece])
        return self.force - self.stiff_forces((x - self.x)[triangles].mean(axis=1)) - slowing

    def stiff_forces(self, moved: FloatArray) -> FloatArray:
        """Return the product of the second term's matrix with mean displacements of triangles (T, 3)."""
        surface = self.surface
        apart = moved - _means(surface, self.share, moved)[surface.piece]
        forces = (9.0 * np.einsum("ti,ti->t", self.q, apart))[:, None] * self.q
        total = np.stack([np.bincount(surface.piece, axis) for axis in forces.T], axis=1)
        return forces - self.share[:, None] * total[surface.piece]

    def _moments(self, moved: FloatArray) -> FloatArray:
        """Return sqrt(m) / (h V) times the change of the first moment of each piece (3, P), for mean displacements of
        triangles (T, 3)."""
        products = np.einsum("ati,ti->at", self.inertia, moved)
        return np.stack([np.bincount(self.surface.piece, axis) for axis in products])


def _means(surface: GasSurface, share: FloatArray, values: FloatArray) -> FloatArray:
    """Return the mean over the area of each piece (P, 3) of values (T, 3)."""
    return np.stack([np.bincount(surface.piece, share * axis) for axis in values.T], axis=1)
