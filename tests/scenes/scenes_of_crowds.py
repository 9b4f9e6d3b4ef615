# SPDX-License-Identifier: GPL-3.0-or-later
"""Builders of scenes in which much cloth meets at once, or is pinched; see `staging`."""

from __future__ import annotations

import numpy as np

import core
from tests.core.contact.shapes import ball
from tests.scenes.staging import COTTON, Staged, cloth, floor, turned

CARD = core.Material(areal_density=0.3, stretch=(20_000.0, 20_000.0), shear=8_000.0, bend=(2e-3, 2e-3), damping=2e-3,
                     friction=0.1)
"""Cardboard of half a millimetre."""


def cards(size, count=28, frames=40, offset=0.006, lift=0.0015):
    """A pile of cards, each one shifted beyond the one below: the upper ones slip and topple onto the floor."""
    def place(number):
        turn = 0.05 * np.sin(2.1 * number)
        return lambda p: turned(p, turn, axis=2) + [offset * number, 0.0, lift * (number + 1)]

    pile = [core.Cloth(made.mesh, CARD, positions=made.positions, thickness=0.001)
            for made in (cloth(size, size + 3, 0.06, 0.09, place(number)) for number in range(count))]
    return Staged(core.Scene(pile, [floor(friction=0.3)]), frames)


def struck_sheets(size, count=15, frames=30, apart=0.006, speed=2.0, radius=0.08, width=0.4):
    """Sheets that hang behind each other, held along their upper side, are hit by a ball that flies through them."""
    def hang(number):
        return lambda p: np.stack([apart * number + 0.0 * p[:, 0], p[:, 0], p[:, 1]], axis=1)

    hung = []
    for number in range(count):
        made = cloth(size, size, width, width, hang(number))
        hung.append(core.Cloth(made.mesh, COTTON, positions=made.positions,
                               pins=dict.fromkeys(range(size * (size - 1), size * size))))
    x, triangles = ball(24, 12, radius)
    start, stop = -radius - 0.05, 0.25

    def at(time):
        return x + [min(start + speed * time, stop), 0.0, 0.0]

    return Staged(core.Scene(hung, [core.Collider(at, triangles, friction=0.3, name="ball")]), frames)


def sleeve(around, along=16, frames=48, degrees=150.0, radius=0.045, length=0.28, loose=1.25):
    """A sleeve of around x along vertices on an arm that bends at its elbow, and stretches out again.

    The arm is one collider of two rounded bars: bent far, they close on the cloth in the crook and overlap.
    """
    x, triangles = ball(20, 12, radius)
    bar = x + np.where(x[:, :1] * 0.0 + x[:, 2:] > 0.0, length, 0.0) * [0.0, 0.0, 1.0]

    def arm(time):
        bend = np.radians(degrees) * (0.5 - 0.5 * np.cos(2.0 * np.pi * np.clip(time / 2.0, 0.0, 1.0)))
        return np.concatenate([bar * [1.0, 1.0, -1.0], turned(bar, bend, axis=0)])

    solid = core.Collider(arm, np.concatenate([triangles[:, ::-1], triangles + len(x)]), friction=0.3, name="arm")
    turn = 2.0 * np.pi * np.arange(around) / around
    heights = np.linspace(-0.8 * length, 0.8 * length, along)
    ring = loose * radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points = np.concatenate([np.column_stack([ring, np.full(around, height)]) for height in heights])
    own, after = np.arange(around), (np.arange(around) + 1) % around
    quads = np.concatenate([np.stack([k * around + own, k * around + after, (k + 1) * around + after,
                                      (k + 1) * around + own], axis=1) for k in range(along - 1)])
    tube = core.Cloth(core.ClothMesh(points, faces=quads), COTTON, pins=dict.fromkeys(range(around)))
    return Staged(core.Scene([tube], [solid], gravity=(0.0, 0.0, -1.0)), frames)


SCENES = {"cards": cards, "struck_sheets": struck_sheets, "sleeve": sleeve}
