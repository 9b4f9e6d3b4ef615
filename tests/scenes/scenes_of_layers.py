# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes in which pieces of cloth meet each other: falling, at rest, sliding, and intersecting from the start."""

import numpy as np

import core
from tests.scenes.staging import Staged, cloth, floor, turned


def falling_sheets(size, count=30, frames=40, width=0.4):
    """Sheets, each turned a little against the one below, fall on one another and on the floor."""
    edge = width / (size - 1)

    def place(k):
        def at(p):
            lean = turned(turned(p, 0.1 * np.sin(1.7 * k), axis=1), 0.6 * k, axis=2)
            return lean + [0.02 * np.sin(k), 0.02 * np.cos(2.0 * k), 0.03 + (0.045 + 0.5 * edge) * k]
        return at

    return Staged(core.Scene([cloth(size, size, width, width, place(k)) for k in range(count)], [floor()]), frames)


def resting_stack(size, count=10, frames=100, width=0.4, thickness=None):
    """Level sheets rest on one another at the contact distance."""
    edge = width / (size - 1)
    keep = 0.2 * edge if thickness is None else thickness
    return Staged(core.Scene(
        [cloth(size, size, width, width, lambda p, k=k: p + [0.15 * edge * k, 0.1 * edge * k, keep * (1.0 + 2.0 * k)],
               thickness=keep) for k in range(count)], [floor()]), frames)


def crossing_sheets(size, frames=36, width=0.6, lean=35.0):
    """An inclined sheet stands through the middle of another: dozens of intersections at the start, without weight."""
    def through(p):
        stands = turned(p + [0.0, 0.002, 0.0], np.radians(90.0 - lean), axis=0)
        return turned(stands, 0.3, axis=2) + [0.013, 0.004, 0.003]

    return Staged(core.Scene([cloth(size, size, width, width), cloth(size, size, width, width, through)],
                             gravity=(0.0, 0.0, 0.0)), frames, clean=False)


def standing_sheet(size, frames=36, width=0.6, narrow=0.5, lean=20.0, lift=0.03):
    """A sheet of `narrow` times the width stands through the middle of another, without weight.

    Both ends of their intersection contour are on its own border.
    """
    def through(p):
        stands = turned(p + [0.0, lift, 0.0], np.radians(90.0 - lean), axis=0)
        return turned(stands, 0.3, axis=2) + [0.013, 0.004, 0.003]

    return Staged(core.Scene([cloth(2 * size, 2 * size, width, width),
                              cloth(size, size, narrow * width, narrow * width, through)],
                             gravity=(0.0, 0.0, 0.0)), frames, clean=False)


def crossing_bumps(size, frames=36, width=0.6, depth=0.03):
    """A sheet is on the floor, and another on it that has been pushed through it in bumps."""
    def bumpy(p):
        wave = np.sin(10.0 * p[:, 0] + 0.3) * np.sin(9.0 * p[:, 1] + 0.5)
        return p + np.stack([0.003 + 0 * wave, 0.002 + 0 * wave, 0.055 + 0.012 + depth * wave], axis=1)

    return Staged(core.Scene([cloth(size, size, width, width, lambda p: p + [0.0, 0.0, 0.055]),
                              cloth(size, size, width, width, bumpy)], [floor()]), frames, clean=False)


def slope(size, mu=0.3, degrees=20.0, frames=24, heading=0.0):
    """A small sheet is on a large inclined one, all of which is pinned; the angle is in degrees."""
    large, small, fabric = 1.2, 0.3, core.Material(areal_density=0.2, stretch=2e3, shear=500.0, bend=1e-4, friction=mu)
    angle = np.radians(degrees)

    def tilt(p):
        return turned(turned(p, angle, axis=1), np.radians(heading), axis=2)

    under = cloth(2 * size, 2 * size, large, large, tilt, material=fabric, thickness=0.004)
    held = core.Cloth(under.mesh, fabric, positions=under.positions, thickness=0.004,
                      pins=dict.fromkeys(range(len(under.positions))))
    upper = cloth(size, size, small, small, lambda p: tilt(p + [-0.1, 0.0031, 0.008]), material=fabric,
                  thickness=0.004)
    return Staged(core.Scene([held, upper]), frames)


def down_the_slope(staged, frame, degrees, heading=0.0):
    """Return the mean travel [m] of the upper sheet of `slope` downwards, and its largest distance from the lower one.
    """
    down, up = (turned(turned(np.array([axis]), np.radians(degrees), axis=1), np.radians(heading), axis=2)[0]
                for axis in ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]))
    travel = frame.positions[1] - staged.scene.cloths[1].positions
    return float((travel @ down).mean()), float(np.abs(travel @ up).max())


SCENES = {"falling_sheets": falling_sheets, "resting_stack": resting_stack, "crossing_sheets": crossing_sheets,
          "standing_sheet": standing_sheet, "crossing_bumps": crossing_bumps, "slope": slope}
