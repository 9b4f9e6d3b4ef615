# SPDX-License-Identifier: GPL-3.0-or-later
"""Fly a silk flag in gusts of wind.

Wind is a velocity, a function of time, or a field: a function of time and positions. Here waves of faster and
slower air travel along x.
"""

import numpy as np

import muslin
from shapes import sheet

COUNT, SPEED = 21, 5.0  # vertices along each side, mean velocity of the air [m/s]


def gusts(time, x):
    """Return the velocity of the air (V, 3) [m/s] at positions x (V, 3) [m]."""
    phase = 2.0 * np.pi * (x[:, 0] / 0.8 - SPEED * time / 0.8)
    return SPEED * np.stack([1.0 + 0.2 * np.sin(phase), 0.4 * np.sin(phase), 0.0 * phase], axis=1)


def main(frames=60):
    flat, quads = sheet(COUNT, 1.0)
    upright = flat[:, [0, 2, 1]] * [1.0, 1.0, 0.6]  # in the plane of x and z, 0.6 m high
    pole = range(COUNT)  # the side at the smallest x
    silk = muslin.Material.preset("silk")
    flag = muslin.Cloth(muslin.ClothMesh(upright, faces=quads), silk, pins=dict.fromkeys(pole))
    scene = muslin.Scene([flag], wind=gusts)
    for frame in muslin.simulate(scene, muslin.Solver(integrator="bdf2"), frames=range(1, frames + 1)):
        end = frame.positions[0][-COUNT:].mean(axis=0)
        print(f"{frame.time:5.2f} s: the free side is at x {end[0]:5.2f}, y {end[1]:5.2f}, z {end[2]:5.2f} m")
    return scene, frame


if __name__ == "__main__":
    main()
