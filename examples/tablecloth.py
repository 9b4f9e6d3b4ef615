# SPDX-License-Identifier: GPL-3.0-or-later
"""Drop two cloths on balls, off the middle: one stays by friction, the other slides off without.

A collider is a triangle mesh with a friction coefficient. The coefficient of a contact is the square root of the
product of the cloth's and the collider's.
"""

import numpy as np

import muslin
from shapes import ball, floor, sheet

COUNT, RADIUS = 25, 0.25  # vertices along each side of a cloth, radius of the balls [m]


def main(frames=36):
    cloths, colliders = [], [muslin.Collider(*floor(4.0))]
    for x, friction in ((-0.6, 0.6), (0.6, 0.0)):
        positions, quads = sheet(COUNT, 0.8, centre=(x + 0.1, 0.0, 2 * RADIUS + 0.02))
        fabric = muslin.Material.preset("cotton", friction=friction)
        cloths.append(muslin.Cloth(muslin.ClothMesh(positions, faces=quads), fabric))
        colliders.append(muslin.Collider(*ball(RADIUS, (x, 0.0, RADIUS)), friction=friction))
    scene = muslin.Scene(cloths, colliders)
    *_, frame = muslin.simulate(scene, muslin.Solver(), frames=range(1, frames + 1))
    for cloth, start, x in zip(("with friction", "without"), (-0.5, 0.7), frame.positions, strict=True):
        print(f"{cloth}: the middle moved by {np.linalg.norm(x[COUNT**2 // 2] - [start, 0.0, 0.52]):.3f} m")
    print("edges through triangles:", frame.certificate.crossings)
    return scene, frame


if __name__ == "__main__":
    main()
