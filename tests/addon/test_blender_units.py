# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmarks' conversion of fabrics to Blender's settings, measured on small sheets of Blender's own cloth.

Expected values are those of mechanics in SI, on the lattice of springs and hinges that the sheet is. The load of a
vertex is its mass, which is that of the sheet over the number of vertices, also at borders.
"""

from __future__ import annotations

import numpy as np
import pytest

import core
from benchmarks.blender_cloth import modifier_frames
from benchmarks.blender_units import factory_fabric, wind_field
from benchmarks.scenes import FRAME_RATE, SceneLayout

GRAVITY = 9.81
DENSITY = 0.3
TOLERANCE = 0.03
"""Largest relative difference from mechanics [-]: the largest that was seen is 0.02, by sheets that bend a little."""

def fabric(**values):
    return core.Material(**{"areal_density": DENSITY, "stretch": 1000.0, "shear": 200.0, "bend": 1e-5, "damping": 0.0,
                            "friction": 0.3, "air_drag": 0.0, "viscous_drag": 3.0, **values})


def sheet(columns, rows, edge, *, axes=(0, 2), held=lambda grid: [], wind=(0.0, 0.0, 0.0)):
    """Return the layout of a sheet of square quads, and its vertices by row and column.

    `axes` are the coordinates along its columns and rows, `held` returns the pinned vertices of the grid.
    """
    grid = np.arange((columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
    across, up = np.meshgrid(edge * np.arange(columns + 1), edge * np.arange(rows + 1))
    points = np.zeros((grid.size, 3))
    points[:, axes[0]], points[:, axes[1]] = across.ravel(), up.ravel()
    quads = np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]], axis=-1).reshape(-1, 4)
    return SceneLayout("sheet", columns, points, quads, tuple(int(v) for v in np.ravel(held(grid))), wind), grid


def moved(layout, material, frames, *, tuned=True, quality=5):
    """Return the displacement of all vertices in every frame (F, V, 3) [m]."""
    x = np.array([frame["x"] for frame in modifier_frames(layout, material, tuned, frames, quality=quality)], float)
    return x - x[0]


def top(grid):
    return grid[-1]


def sides(grid):
    return grid[:, [0, -1]]


def clamp(grid):
    return grid[:, :2]


@pytest.mark.parametrize(("stretch", "shear", "edge"),
                         [(1000.0, 200.0, 0.05), (1000.0, 50.0, 0.1), (400.0, 60.0, 0.05)])
def test_a_hanging_strip_of_tuned_cloth_stretches_as_its_fabric_does(stretch, shear, edge):
    layout, grid = sheet(10, 20, edge, held=top)
    sag = -moved(layout, fabric(stretch=stretch, shear=shear), 100)[-1, grid[0], 2].mean()
    assert sag == pytest.approx(expected_sag(fabric(stretch=stretch, shear=shear), 10, 20 * edge), rel=TOLERANCE)


def test_a_hanging_strip_of_factory_settings_stretches_as_the_factory_fabric_does():
    layout, grid = sheet(10, 20, 0.05, held=top)
    material = factory_fabric(layout, 0.0)
    sag = -moved(layout, material, 100, tuned=False)[-1, grid[0], 2].mean()
    assert sag == pytest.approx(expected_sag(material, 10, 1.0), rel=TOLERANCE)


def expected_sag(material, columns, height):
    """Return how far the lower end of a hanging strip sinks [m]: sigma g H^2 / (2 stretch), where the strip has one
    column of springs k_s more than cells."""
    pulled = 2.0 * material.shear
    excess = np.mean(material.stretch) - 2.0 * pulled
    springs = 0.5 * (excess + np.sqrt(excess ** 2 + 4.0 * np.mean(material.stretch) * pulled))
    return material.areal_density * GRAVITY * height ** 2 / (2.0 * (np.mean(material.stretch) + springs / columns))


@pytest.mark.parametrize("shear", [30.0, 200.0])
def test_a_sheet_between_two_walls_shears_as_its_fabric_does(shear):
    """Between walls W apart a tall sheet sinks by sigma g W^2 / (8 shear) in the middle; the walls carry the weight of
    the vertices on them."""
    layout, grid = sheet(10, 40, 0.05, held=sides)
    sag = -moved(layout, fabric(shear=shear, viscous_drag=5.0), 100)[-1, grid[20, 5], 2]
    assert sag == pytest.approx(10 / 11 * DENSITY * GRAVITY * 0.5 ** 2 / (8.0 * shear), rel=TOLERANCE)


@pytest.mark.parametrize(("bend", "edge"), [(900.0, 1.0), (120.0, 0.5)])
def test_a_clamped_strip_bends_as_its_fabric_does(bend, edge):
    """Five cells hang over: at each of five hinges of stiffness D b / L the strip turns by the moment of all vertices
    beyond. Blender's bending is unstable with few steps where it is so stiff."""
    layout, grid = sheet(6, 2, edge, axes=(0, 1), held=clamp)
    material = fabric(bend=bend, stretch=3e4, shear=6e3, viscous_drag=1.5)
    sag = -moved(layout, material, 200, quality=40)[-1, grid[1, -1], 2]
    weight = DENSITY * layout.vertex_area * 3 * GRAVITY                   # of a row of three vertices
    moments = [weight * edge * sum(range(1, 6 - hinge)) for hinge in range(5)]
    expected = sum(moment / (bend * 2.0) * (5 - hinge) * edge for hinge, moment in enumerate(moments))
    assert sag == pytest.approx(expected, rel=TOLERANCE)


def test_cloth_falls_at_the_terminal_speed_of_its_viscous_drag():
    layout, _ = sheet(10, 10, 0.05, axes=(0, 1))
    z = moved(layout, fabric(viscous_drag=1.0), 80)[:, :, 2].mean(axis=1)
    assert (z[-2] - z[-1]) * FRAME_RATE == pytest.approx(DENSITY * GRAVITY / 1.0, rel=0.001)


@pytest.mark.parametrize(("drag", "viscous"), [(5.0, 3.0), (5.0, 5.0), (2.0, 5.0)])
def test_wind_moves_cloth_at_the_speed_at_which_its_drag_and_the_still_air_s_are_equal(drag, viscous):
    layout, _ = sheet(10, 10, 0.2, axes=(1, 2), wind=(3.0, 0.0, 0.0))
    x = moved(layout, fabric(air_drag=drag, viscous_drag=viscous, bend=0.5), 7)[:, :, 0].mean(axis=1)
    assert (x[-1] - x[-2]) * FRAME_RATE == pytest.approx(3.0 * drag / (drag + viscous), rel=TOLERANCE)


@pytest.mark.parametrize("frame_rate", [24, 60])
def test_the_pressure_of_wind_without_flow_depends_on_the_frame_rate(frame_rate, monkeypatch):
    """A free sheet is accelerated by pressure / sigma; implicit Euler with n steps moves (1 + 1 / n) as far.
    The quality is 5, because at 40 Blender, which adds up its steps in single precision, takes 41."""
    monkeypatch.setattr("benchmarks.blender_units.FRAME_RATE", float(frame_rate))
    monkeypatch.setattr("benchmarks.blender_cloth.FRAME_RATE", float(frame_rate))
    monkeypatch.setattr("benchmarks.blender_cloth.wind_field", lambda *given: {**wind_field(*given), "flow": 0.0})
    layout, _ = sheet(4, 4, 0.2, axes=(1, 2), wind=(3.0, 0.0, 0.0))
    frames = frame_rate // 12
    x = moved(layout, fabric(air_drag=0.2, viscous_drag=0.0, bend=0.5), frames + 1)[-1, :, 0].mean()
    time, steps = frames / frame_rate, 5 * frames
    assert x == pytest.approx(0.5 * 0.2 * 3.0 / DENSITY * time ** 2 * (1.0 + 1.0 / steps), rel=TOLERANCE)
