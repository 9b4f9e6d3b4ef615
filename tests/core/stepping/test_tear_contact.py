# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of cloth with itself adds no motion to a tear: what was one surface is not thrown apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import core
from core.contact.joined_vertices import CLOSED, JoinedVertices

SIDE = 0.05
FABRIC = core.Material(areal_density=0.2, stretch=(1000.0, 1000.0), shear=500.0, bend=(1e-5, 1e-5), damping=0.05)
INTEGRATORS = ["implicit_euler", "bdf2"]


def sheet(long: int, wide: int, change: Any = lambda x: x) -> core.ClothMesh:
    """Return a sheet that is split at all edges; `change` moves its vertices."""
    places = change(np.array([(i * SIDE, j * SIDE, 0.0) for i in range(long + 1) for j in range(wide + 1)]))
    corners = [i * (wide + 1) + j for i in range(long) for j in range(wide)]
    rings, origin = core.split_faces([[a, a + wide + 1, a + wide + 2, a + 1] for a in corners])
    return core.ClothMesh(places[origin], faces=rings, split=True)


def scraps(how: str) -> core.Scene:
    """Return a sheet that falls to pieces under its own weight: held at one side, or at two."""
    def change(x: np.ndarray) -> np.ndarray:
        noise = 1e-3 * np.random.default_rng(1).standard_normal(x.shape)
        return (x[:, [1, 2, 0]] * [1.0, 1.0, -1.0] if how == "hung" else x) + noise

    mesh, strength = sheet(12, 8, change), 0.8 if how == "hung" else 3.0
    along = -mesh.positions[:, 2] if how == "hung" else mesh.positions[:, 0]
    held = (along < 0.5 * SIDE) | (how != "hung") & (along > 11.5 * SIDE)
    return core.Scene([core.Cloth(mesh, FABRIC, pins=held.astype(float), tearing=core.Tearing(strength))])


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("how", ["hung", "bridge"])
def test_a_tear_creates_no_energy_in_contact_with_itself(how: str, integrator: str) -> None:
    solver, energies = core.Solver(integrator=integrator, measure_energy=True), []
    for frame in core.simulate(scraps(how), solver, frames=range(20)):
        energy = frame.certificate.energy
        assert energy is not None
        energies.append(energy.kinetic + energy.elastic + energy.weight)
    torn = frame.checkpoint().state.torn
    assert torn is not None and torn.sum() > 20
    assert energy.kinetic > 0.1                                                 # of scraps that fall
    assert np.maximum(np.diff(energies), 0.0).sum() < 1e-3 * energy.kinetic


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_scraps_of_a_symmetric_tear_stay_symmetric(integrator: str) -> None:
    long, wide = 6, 4
    middle = 0.5 * SIDE * np.array([long, wide, 0.0])

    def change(x: np.ndarray) -> np.ndarray:
        x = x - middle
        return np.column_stack([x[:, 0], x[:, 1], 0.5 * x[:, 0] ** 2 - 0.8 * x[:, 1] ** 2])

    mesh = sheet(long, wide, change)                         # diagonals are parallel: it is symmetric about the z axis
    weights = np.where(np.abs(mesh.positions[:, 0]) < 1e-9, 0.0, 1.0)
    cloth = core.Cloth(mesh, FABRIC, tearing=core.Tearing(1e6, weights), positions=mesh.positions * [1.05, 1.0, 1.0])
    *_, last = core.simulate(core.Scene([cloth], gravity=(0.0, 0.0, 0.0)),
                             core.Solver(integrator=integrator, tolerance=1e-9), frames=range(12))
    torn = last.checkpoint().state.torn
    assert torn is not None and torn.sum() == wide
    x, rest = last.positions[0], mesh.positions
    turned = np.array([-1.0, -1.0, 1.0])
    corners, inside = mesh.triangles.ravel(), np.repeat(rest[mesh.triangles].mean(axis=1), 3, axis=0)
    places = rest + 0.1 * np.stack([np.bincount(corners, a) / np.bincount(corners) for a in inside.T], axis=1)
    there = np.argmin(np.linalg.norm(places[None] - (places * turned)[:, None], axis=2), axis=1)
    assert np.allclose(rest[there], rest * turned, atol=1e-12)
    assert np.abs(x[there] - x * turned).max() < 1e-5 * SIDE
    assert np.ptp(x[:, 0]) < 1.05 * np.ptp(rest[:, 0])                          # no half has been thrown away


def test_sides_of_a_tear_count_as_one_until_they_are_apart() -> None:
    thickness = np.full(6, 0.01)
    joined = JoinedVertices(None, np.array([[0, 1], [0, 2], [1, 2]]), thickness, np.array([[2, 3]]))
    x = np.zeros((6, 3))
    x[:, 0] = [0.0, 0.019 * CLOSED, 0.04 * CLOSED, 0.0, 0.0, 0.0]
    found = joined.at(x)
    assert found is not None
    assert found[0] == found[1] != found[2] and len(np.unique(found)) == 5
    assert joined.closed_tears(x).tolist() == [[0, 1]] and len(joined.closed_tears(4.0 * x)) == 0
    edges, triangles = np.array([[0, 4], [4, 3], [4, 5]]), np.array([[2, 5, 5], [0, 0, 0], [0, 1, 2]])
    assert joined.were_neighbours(edges, triangles).tolist() == [True, True, False]
