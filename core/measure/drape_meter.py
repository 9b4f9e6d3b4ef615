# SPDX-License-Identifier: GPL-3.0-or-later
"""The drape meter of Cusick (1965, 1968): BS 5058 and ISO 9073-9, as a simulation.

A disc of fabric, of radius R, is held between two plates of radius r, and hangs over their edge. Light from above, and
a mirror below, show its shadow. The drape coefficient is the part of the overhanging ring that is still in the shadow:

    DC = (A_shadow - pi r^2) / (pi R^2 - pi r^2)

A stiff board has 100 %, and a fabric that hangs straight down 0 %. The standards have r = 9 cm, and R = 15 cm for most
fabrics, 12 cm for limp ones (DC below 30 %), and 18 cm for stiff ones (above 85 %).

Only the ring that hangs over is simulated, and one row of cells inside of the edge, which the plates hold level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray, IntArray, is_number, is_whole
from ..description.cloth import Cloth
from ..description.material import Material
from ..description.mesh import ClothMesh
from ..description.scene import Scene
from ..description.settings import Solver
from ..errors import SceneError
from ..stepping.simulate import simulate
from .shadow import node_count, shadow_area

PLATE_DIAMETER = 0.18
"""Diameter of the plates of the standards [m]."""
FRAME_RATE = 30.0
"""Steps per second of implicit Euler, which brings the fabric to rest [1/s]."""
LONGEST = 20.0
"""Longest time until the fabric counts as at rest, whether it is or not [s]."""
RESTING_SPEED = 2e-4
"""Largest root mean square of the velocities at rest [m/s]."""
LEAST_FOLD = 0.05
"""Difference of the hem's distances from the axis that makes nodes, over the width that hangs over [-]."""
JITTER = 1e-3
"""Height of the random ripple of the fabric at the start, over the width of a cell [-]: without one a perfect ring
would not choose where to fold."""


@dataclass(frozen=True)
class DrapeMeter:
    """The size of a drape meter and of its mesh.

    Attributes:
        diameter: of the specimen [m].
        plate: diameter of the plates [m].
        rings: rows of cells that hang over the edge.
        grain: angle of the warp from the x axis [rad].
        seed: of the ripple at the start.

    Raises:
        SceneError: one of them is out of range.
    """

    diameter: float = 0.30
    plate: float = PLATE_DIAMETER
    rings: int = 12
    grain: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("diameter", "plate", "grain"):
            if not is_number(getattr(self, name)):
                raise SceneError(f"{name} is {getattr(self, name)!r}, it must be a number")
        if not 0.0 < self.plate < self.diameter:
            raise SceneError(f"the plate has a diameter of {self.plate} m and the specimen one of {self.diameter} m; "
                             "the plate must be the smaller one, as 0.18 and 0.30 of the standards")
        if not is_whole(self.rings, 2, 400) or not is_whole(self.seed, 0):
            raise SceneError(f"rings is {self.rings!r} and seed {self.seed!r}; give 2 to 400 rings and a whole number")

    def mesh(self) -> tuple[ClothMesh, IntArray, IntArray]:
        """Return the mesh of the ring, and the vertices that the plates hold and those of the hem, in order."""
        r, R = 0.5 * self.plate, 0.5 * self.diameter
        cell = (R - r) / self.rings
        count = max(12, round(np.pi * (R + r) / cell))
        radii = np.concatenate([[r - min(cell, 0.5 * r)], np.linspace(r, R, self.rings + 1)])
        row, place = np.meshgrid(np.arange(len(radii)), np.arange(count), indexing="ij")
        angle = 2.0 * np.pi * (place + 0.5 * (row % 2)) / count              # every other row is turned by half a cell
        x = np.stack([radii[row] * np.cos(angle), radii[row] * np.sin(angle), 0.0 * angle], axis=2).reshape(-1, 3)
        own, after = row[:-1] * count + place[:-1], row[:-1] * count + (place[:-1] + 1) % count
        odd = row[:-1] % 2 == 1
        up, up_after = own + count, after + count
        first = np.where(odd[..., None], np.stack([own, up_after, up], axis=2), np.stack([own, after, up], axis=2))
        second = np.where(odd[..., None], np.stack([own, after, up_after], axis=2),
                          np.stack([after, up_after, up], axis=2))
        triangles = np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])
        warp = (np.cos(self.grain), np.sin(self.grain), 0.0)
        mesh = ClothMesh(x, triangles, grain=warp, name="specimen")
        return mesh, np.arange(2 * count), np.arange(len(x) - count, len(x))

    def scene(self, material: Material) -> Scene:
        """Return the scene of a specimen of a fabric, flat at the start.

        Air slows the fabric but does not carry it, so that it is left out.
        """
        mesh, held, _ = self.mesh()
        velocities = np.zeros_like(mesh.positions)
        free = len(mesh.positions) - len(held)
        cell = 0.5 * (self.diameter - self.plate) / self.rings
        velocities[len(held):, 2] = JITTER * cell * FRAME_RATE * np.random.default_rng(self.seed).normal(size=free)
        still = replace(material, drag_coefficient=0.0, skin_friction=0.0, air_drag=None)
        return Scene([Cloth(mesh, still, pins=dict.fromkeys(held.tolist()), velocities=velocities)])


@dataclass(frozen=True)
class Drape:
    """A fabric in the drape meter, at rest.

    Attributes:
        meter: in which it hangs.
        coefficient: drape coefficient DC, from 0 to 1 [-].
        nodes: number of folds of the hem.
        positions: (V, 3) [m].
        triangles: (T, 3).
        hem: (n,) vertices, in order.
        time: until it was at rest [s].
        speed: root mean square of the velocities then [m/s].
    """

    meter: DrapeMeter
    coefficient: float
    nodes: int
    positions: FloatArray
    triangles: IntArray
    hem: IntArray
    time: float
    speed: float

    @property
    def is_at_rest(self) -> bool:
        """Return whether the fabric came to rest."""
        return self.speed <= RESTING_SPEED


def drape(material: Material, meter: DrapeMeter | None = None, *, backend: str | None = None) -> Drape:
    """Return a fabric as it hangs in a drape meter; that of the standards with a specimen of 30 cm if none is given.

    backend: as of `Solver`.
    """
    meter = meter or DrapeMeter()
    mesh, held, hem = meter.mesh()
    solver = Solver(integrator="implicit_euler", steps_per_frame=1, frame_rate=FRAME_RATE, self_collision=False,
                    backend=backend)
    for frame in simulate(meter.scene(material), solver, range(int(LONGEST * FRAME_RATE) + 1)):
        speed = float(np.sqrt(np.mean(frame.velocities[0][len(held):] ** 2) * 3.0))
        if frame.time > 1.0 and speed <= RESTING_SPEED:
            break
    x, ring = frame.positions[0], mesh.triangles[(mesh.triangles >= len(held) // 2).all(axis=1)]
    nodes = node_count(x[hem], np.zeros(2), LEAST_FOLD * 0.5 * (meter.diameter - meter.plate))
    return Drape(meter, drape_coefficient(x, mesh.positions, ring, 0.5 * meter.plate), nodes,
                 x, mesh.triangles, hem, frame.time, speed)


def drape_coefficient(x: FloatArray, flat: FloatArray, ring: IntArray, plate_radius: float) -> float:
    """Return DC [-] of triangles `ring` (T, 3) around plates of this radius [m] about the z axis.

    x, flat (V, 3) [m]: positions as they hang, and as they lay flat.
    """
    return shadow_area(x, ring, plate_radius) / shadow_area(flat, ring, plate_radius)
