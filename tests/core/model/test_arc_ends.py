# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a linear step is brought from tangents to arcs: lengths are nearly those of the solve, and bodies stay."""

import numpy as np

import core
from core.model.particle_system import ParticleSystem
from core.model.turned_start import TurnedStart
from tests.cases import cases
from tests.core.shapes import grid

LEAST = 0.95


def sheet(pins=None):
    x, triangles = grid(8, 6, (0.4, 0.3))
    cloth = core.Cloth(core.ClothMesh(x, triangles), core.Material.preset("cotton"), pins=pins or {})
    return ParticleSystem(core.Scene([cloth])), x


def turned(angle):
    """Return the matrix of a rotation by `angle` [rad] about y."""
    return np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])


def start(x, angle=0.0):
    """Return the start with expected rotations by `angle` [rad] about y."""
    return TurnedStart(x, 0.02, np.tile([0.0, angle, 0.0], (len(x), 1)))


@cases("missed", [0.05, 0.2])
def test_a_sheet_on_its_tangent_ends_on_its_arc(missed):
    """The linear end of a turn by tan(phi) about the held side is longer by 1 / cos(phi)."""
    system, x = sheet()
    held = np.flatnonzero(x[:, 0] == 0.0)
    expected = turned(0.3)
    along = x @ expected.T
    tangent = along + np.tan(missed) * x[:, [0]] * (turned(0.3 + 0.5 * np.pi) @ [1.0, 0.0, 0.0])
    stretched = system.edge_lengths(tangent) / system.rest_lengths - 1.0
    shift = system.arc_ends.shift(start(x, 0.3), tangent, 0.02, held, LEAST)
    left = system.edge_lengths(tangent + shift) / system.rest_lengths - 1.0
    assert stretched.max() > 0.49 * missed ** 2
    assert np.abs(left).max() < 0.4 * stretched.max()                     # in one global step
    assert np.sqrt(np.mean(left ** 2)) < 0.25 * np.sqrt(np.mean(stretched ** 2))
    assert not shift[held].any()


def test_a_free_sheet_keeps_its_place():
    system, x = sheet()
    end = x + 0.02 * np.random.default_rng(1).normal(size=x.shape)
    shift = system.arc_ends.shift(start(x), end, 0.02, np.zeros(0, dtype=np.int64), LEAST)
    assert np.abs(shift).max() > 1e-4
    assert np.abs(system.mass @ shift).max() < 1e-13 * system.mass.sum()


def test_what_turns_as_expected_is_not_shifted():
    system, x = sheet()
    end = 1.01 * x @ turned(0.4).T                                        # the solve knows of stretch along the edges
    shift = system.arc_ends.shift(start(x, 0.4), end, 0.02, np.zeros(0, dtype=np.int64), LEAST)
    assert np.abs(shift).max() < 1e-14
