# SPDX-License-Identifier: GPL-3.0-or-later
"""A lattice of points that stands still in the world, at which a force field is sampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
MARGIN = 1.0
"""Distance of the lattice's border from the cloth at the first frame, over the largest side of the cloth's place [-].
Cloth that leaves the lattice has the force at its border."""

SMALLEST = 1e-6
"""Smallest side of the place of the cloth that counts [m]."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """Points origin + spacing * (i, j, k) @ axes.

    Attributes:
        origin: (3,) [m].
        axes: (3, 3), one orthonormal direction per row.
        spacing: distance of neighbouring points [m].
        counts: numbers of points along the three axes.
    """

    origin: FloatArray
    axes: FloatArray
    spacing: float
    counts: tuple[int, int, int]

    @classmethod
    def over(cls, low: FloatArray, high: FloatArray, samples: int, constant: FloatArray | None = None) -> Lattice:
        """Return a lattice of about `samples` points over the box between two corners (3,) [m], and a margin.

        It has one layer across the direction `constant` (3,), if there is one.
        """
        axes = _frame(constant) if constant is not None else np.eye(3)
        margin = MARGIN * max(float((high - low).max()), SMALLEST)
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        along = corners @ axes.T
        first, sides = along.min(axis=0) - margin, np.ptp(along, axis=0) + 2.0 * margin
        dimension = 3 if constant is None else 2
        spacing = float((sides[:dimension].prod() / samples) ** (1.0 / dimension))
        counts = [int(np.ceil(side / spacing)) + 1 for side in sides[:dimension]] + [1] * (3 - dimension)
        if dimension == 2:
            first[2] = 0.5 * (along[:, 2].min() + along[:, 2].max())
        return cls(first @ axes, axes, spacing, (counts[0], counts[1], counts[2]))

    @property
    def places(self) -> FloatArray:
        """The map (3, 4) from the world [m] to places (i, j, k) in the lattice."""
        linear = self.axes / self.spacing
        linear[np.array(self.counts) == 1] = 0.0
        return np.column_stack([linear, -linear @ self.origin])

    def points(self) -> FloatArray:
        """Return all points (n, 3) [m], the last axis first."""
        places = np.stack(np.meshgrid(*(np.arange(n) for n in self.counts), indexing="ij"), axis=-1).reshape(-1, 3)
        return self.origin + self.spacing * places @ self.axes

    def interpolated(self, values: FloatArray, x: FloatArray) -> FloatArray:
        """Return samples (nx, ny, nz, c), interpolated linearly, at positions x (n, 3) [m] inside of the lattice."""
        place = x @ self.places[:, :3].T + self.places[:, 3]
        last = np.array(self.counts) - 1
        base = np.clip(np.floor(place).astype(np.int64), 0, np.maximum(last - 1, 0))
        weight = np.clip(place - base, 0.0, 1.0)
        total: FloatArray = np.zeros((len(x), values.shape[-1]))
        for corner in np.ndindex(2, 2, 2):
            i, j, k = np.minimum(base + corner, last).T
            factor = np.where(np.array(corner) == 1, weight, 1.0 - weight).prod(axis=1)
            total += factor[:, None] * values[i, j, k]
        return total


def _frame(normal: FloatArray) -> FloatArray:
    """Return three orthonormal rows, of which the last is `normal` (3,)."""
    least = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, least)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first), normal])
