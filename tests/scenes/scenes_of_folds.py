# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes in which cloth meets itself: draped, folded, twisted, closed."""

import numpy as np

import core
from tests.core.contact.shapes import ball, sheet
from tests.scenes.staging import COTTON, Staged, at_ends, cloth, floor, moved, turned, up_and_down


def drape(size, frames=40, width=1.2, radius=0.25):
    """A square sheet falls on a ball and hangs down around it in folds."""
    x, triangles = ball(32, 16, radius)
    return Staged(core.Scene([cloth(size, size, width, width, lambda p: p + [0.0, 0.0, radius + 0.02])],
                             [core.Collider(x, triangles, friction=0.3, name="ball")]), frames)


def five_fold(size, frames=40, width=1.0, tilt=25.0, layers=5):
    """A square sheet, folded in zigzag panels that rise by `tilt` [degrees], falls flat onto the floor."""
    columns = layers * max(round(size / layers), 3) + 1
    spacing, panel = width / (columns - 1), (columns - 1) // layers

    def place(p):
        middle = np.arange(columns - 1) + 0.5                          # of each segment between two columns
        up = np.radians(tilt)
        which = middle / panel - 0.5
        near = which - np.floor(which)                                 # position between panels, 0.5 at the crease
        turn = np.clip((near - 0.5) * panel / 2.0, -0.5, 0.5) + 0.5
        even = np.floor(which).astype(int) % 2 == 0
        part = np.where(even, turn, 1.0 - turn)
        heading = up + part * (np.pi - 2.0 * up)
        along = np.concatenate([[0.0], np.cumsum(spacing * np.cos(heading))])
        high = np.concatenate([[0.0], np.cumsum(spacing * np.sin(heading))])
        column = np.rint((p[:, 0] / width + 0.5) * (columns - 1)).astype(int)
        return np.stack([along[column], p[:, 1], 0.02 + high[column]], axis=1)

    return Staged(core.Scene([cloth(columns, size, width, width, place)], [floor()]), frames)


def towel(size, turns=3.0, seconds=3.0, thickness=0.0015, frames=None, length=1.2, width=0.2, slack=0.12):
    """Both ends of a towel are turned `turns` times in opposite directions, approach by `slack` [m], and return."""
    rows = max(round(size / 3), 3)
    x, triangles = sheet(size, rows, length, width)
    left, right = at_ends(x, length)

    def way(sign):
        def at(t, p):
            part = up_and_down(t, seconds)
            return turned(p, sign * 2.0 * np.pi * turns * part) - sign * 0.5 * slack * part * np.array([1.0, 0.0, 0.0])
        return at

    pins = moved((left, x[left], way(-1))) | moved((right, x[right], way(1)))
    towel_ = core.Cloth(core.ClothMesh(x, triangles), COTTON, pins=pins, thickness=thickness)
    return Staged(core.Scene([towel_]), frames or round(2.0 * seconds * 24.0) + 6)


def tube_mesh(around, along, radius, height):
    """Return positions and triangles of an open upright tube from z = 0 down, ring by ring."""
    a = 2 * np.pi * np.arange(around) / around
    x = np.concatenate([np.stack([radius * np.cos(a), radius * np.sin(a), 0 * a - z], axis=1)
                        for z in np.linspace(0.0, height, along)])
    i = np.arange(around)
    j = (i + 1) % around
    parts = []
    for ring in range(along - 1):
        p, q = ring * around, (ring + 1) * around
        parts += [np.stack([p + i, q + i, q + j], axis=1), np.stack([p + i, q + j, p + j], axis=1)]
    return x, np.concatenate(parts)


def closing_tube(size, frames=48, radius=0.12, height=0.7, gap=0.004, seconds=0.8):
    """A trouser leg: its waist is pressed to a slit while it is lowered onto the floor, where it crumples."""
    along = max(size, 6)
    x, triangles = tube_mesh(size, along, radius, height)
    x = x + [0.0, 0.0, height + 0.03]
    top = np.arange(size)

    def way(t, p):
        s = min(t / seconds, 1.0)
        part = 0.5 - 0.5 * np.cos(np.pi * s)
        angle = np.arctan2(p[:, 1], p[:, 0])
        wide = radius * np.cos(angle) * (1.0 + 0.35 * part)
        flat = np.sign(np.sin(angle)) * np.minimum(radius * np.abs(np.sin(angle)), gap)
        deep = (1.0 - part) * radius * np.sin(angle) + part * flat
        return np.stack([wide, deep, p[:, 2] - 0.45 * part], axis=1)

    leg = core.Cloth(core.ClothMesh(x, triangles), COTTON, pins=moved((top, x[top], way)))
    return Staged(core.Scene([leg], [floor()]), frames)


SCENES = {"drape": drape, "five_fold": five_fold, "towel": towel, "closing_tube": closing_tube}
