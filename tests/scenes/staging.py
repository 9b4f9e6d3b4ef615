# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of the contact tests: their record, their parts, and functions that run them under audit.

A builder takes the number of vertices per side and returns a `Staged`. Its other arguments have defaults that tests and
benchmarks share. With more vertices edges get shorter, while sizes in metres stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

import core
from tests.core.contact.shapes import sheet
from tests.scenes.audit import Finding, Judge

COTTON = core.Material.preset("cotton")
RATE = 24.0
"""Frame rate [1/s]."""
AS_IN_BLENDER = {"integrator": "bdf2", "tolerance": 1e-2, "steps_per_frame": 1, "frame_rate": RATE}
"""Solver settings of the panel."""
AS_IN_CORE = {"frame_rate": RATE}
"""Solver settings of scripts."""
SUNK = 0.01
"""Depth of a vertex in a solid that still counts as on its surface, over the cloth's thickness [-]."""


@dataclass(frozen=True)
class Staged:
    """A scene that is ready to run.

    Attributes:
        scene: the scene at the start.
        frames: number of frames that show the whole action.
        clean: True if it starts without intersections.
        solver: settings that the scene needs.
        enclosures: numbers of the colliders that enclose all the cloth.
    """

    scene: core.Scene
    frames: int
    clean: bool = True
    solver: dict = field(default_factory=dict)
    enclosures: tuple[int, ...] = ()

    @property
    def thickness(self) -> float:
        """Return the smallest thickness of the cloths [m]."""
        return min(cloth.thickness for cloth in self.scene.cloths)

    def solids(self, time: float) -> list:
        """Return positions of the colliders at `time` [s]."""
        return [solid.at(time) for solid in self.scene.colliders]


def perform(staged: Staged, frames: int | None = None, settings: Mapping = AS_IN_BLENDER,
            **solver) -> Iterator[tuple[core.Frame, Finding]]:
    """Yield each frame of a scene and the finding of the independent audit.

    The scene's own settings override `settings`, and `solver` overrides both. A start that crosses comes apart in the
    simulation: it is not resolved before.
    """
    judge = Judge([(c.positions, c.mesh.triangles) for c in staged.scene.cloths],
                  [(c.at(0.0), c.triangles) for c in staged.scene.colliders], staged.enclosures)
    made = core.Solver(**{**settings, "resolve_start": staged.clean, **staged.solver, **solver})
    for frame in core.simulate(staged.scene, made, range(1, (frames or staged.frames) + 1)):
        yield frame, judge.look(frame.positions, staged.solids(frame.time))


def watched(staged, frames=None, **solver):
    """Return all frames of a scene, after checking that each of them is clean."""
    kept, bad = [], []
    for frame, found in perform(staged, frames, **solver):
        kept.append(frame)
        if not found.finite or found.total or found.deepest > SUNK * staged.thickness:
            bad.append(f"frame {frame.index}: {found}")
    assert not bad, f"{len(bad)} of {len(kept)} frames; first {bad[0]}, last {bad[-1]}"
    return kept


def kinetic_energy(frame: core.Frame, scene: core.Scene) -> float:
    """Return the kinetic energy of all cloths [J]."""
    return sum(0.5 * c.material.areal_density * float(np.sum(c.mesh.vertex_areas[:, None] * v**2))
               for c, v in zip(scene.cloths, frame.velocities, strict=True))


# ---------------------------------------------------------------------- parts


def cloth(columns, rows, width, height, place=None, **more) -> core.Cloth:
    """Return a flat sheet; `place` maps its points (V, 3) [m] to their start."""
    x, triangles = sheet(columns, rows, width, height)
    more.setdefault("positions", x if place is None else place(x))
    return core.Cloth(core.ClothMesh(x, triangles), more.pop("material", COTTON), **more)


def floor(height=0.0, friction=0.5) -> core.Collider:
    """Return a wide level triangle."""
    return core.Collider([[-9.0, -9.0, height], [9.0, -9.0, height], [0.0, 9.0, height]], [[0, 1, 2]],
                         friction=friction, name="floor")


def at_ends(x, width):
    """Return the vertices at the left and at the right end of a sheet with flat points (V, 3)."""
    return np.flatnonzero(x[:, 0] < -0.4999 * width), np.flatnonzero(x[:, 0] > 0.4999 * width)


def border(x):
    """Return the vertices on the border of a sheet with flat points (V, 3)."""
    high = np.abs(x[:, :2]).max(axis=0)
    return np.flatnonzero((np.abs(x[:, :2]) > 0.9999 * high).any(axis=1))


def moved(trajectories) -> dict:
    """Return pins {vertex: time -> point} that share one function (time, points (n, 3)) -> points (n, 3)."""
    vertices, points, way = trajectories
    return {int(v): (lambda t, p=p: way(t, p[None])[0]) for v, p in zip(vertices, points, strict=True)}


def turned(points, angle, axis=0):
    """Return points (V, 3) rotated by an angle [rad] about a coordinate axis through the origin."""
    i, j = ((1, 2), (2, 0), (0, 1))[axis]
    result = np.array(points, dtype=float)
    c, s = np.cos(angle), np.sin(angle)
    result[:, i], result[:, j] = c * points[:, i] - s * points[:, j], s * points[:, i] + c * points[:, j]
    return result


def up_and_down(time, rise):
    """Return a smooth function of time: 0 at the start, 1 after `rise` [s], 0 again after twice that time."""
    s = np.clip(time / rise, 0.0, 2.0)
    return 0.5 - 0.5 * np.cos(np.pi * s)
