# SPDX-License-Identifier: GPL-3.0-or-later
"""Hang a cotton sheet from two of its corners, and move one of them towards the other.

A mesh and a fabric make a cloth, cloths make a scene, and `simulate` yields the scene frame by frame. A pin holds a
vertex where it starts (None) or on a path.
"""

import muslin
from shapes import sheet

COUNT = 25  # vertices along each side


def moving(time):
    """Return where the second corner is held (3,) [m] at a time [s]: within a second it moves by 0.25 m."""
    return -0.5, 0.5 - 0.25 * min(time, 1.0), 0.0


def main(frames=48):
    positions, quads = sheet(COUNT, 1.0)
    mesh = muslin.ClothMesh(positions, faces=quads)
    cotton = muslin.Material.preset("cotton")
    cloth = muslin.Cloth(mesh, cotton, pins={0: None, COUNT - 1: moving})
    scene = muslin.Scene([cloth])
    for frame in muslin.simulate(scene, muslin.Solver(frame_rate=24), frames=range(1, frames + 1)):
        lowest = frame.positions[0][:, 2].min()
        print(f"{frame.time:5.2f} s: lowest point {lowest:6.3f} m, longest edge {frame.certificate.stretch_max:.4f}")
    return scene, frame


if __name__ == "__main__":
    main()
