# SPDX-License-Identifier: GPL-3.0-or-later
"""Hang woven cloth along its threads and on the bias: along them it keeps its length, across them it skews.

The model "thread_cloth" makes each row and each column of a grid of quads a thread.
"""

import numpy as np

import muslin
from shapes import sheet

COUNT, SIDE = 17, 0.6  # threads each way, width [m]


def main(frames=72):
    gauze = muslin.Material(areal_density=0.3, stretch=2e4, shear=2.0, bend=1e-6, viscous_drag=0.5)
    flat, quads = sheet(COUNT, SIDE)
    upright = flat[:, [0, 2, 1]]  # in the plane of x and z
    c = np.sqrt(0.5)
    turned = upright @ np.array([[c, 0.0, c], [0.0, 1.0, 0.0], [-c, 0.0, c]])
    top = {i * COUNT + COUNT - 1: None for i in range(COUNT)}
    corner = int(np.argmax(turned[:, 2]))
    along = muslin.Cloth(muslin.ClothMesh(upright - [0.5, 0.0, 0.0], faces=quads), gauze, "thread_cloth", pins=top)
    bias = muslin.Cloth(muslin.ClothMesh(turned + [0.5, 0.0, 0.0], faces=quads), gauze, "thread_cloth",
                        pins={corner: None})
    scene = muslin.Scene([along, bias])
    *_, frame = muslin.simulate(scene, muslin.Solver(integrator="bdf2"), range(1, frames + 1))
    for name, x, rest in (("along", frame.positions[0], SIDE), ("bias", frame.positions[1], SIDE / c)):
        print(f"{name}: {rest:.3f} m long at rest, {x[:, 2].max() - x[:, 2].min():.3f} m as it hangs")
    pieces = np.linalg.norm(np.diff(frame.positions[1].reshape(COUNT, COUNT, 3), axis=0), axis=2)
    print(f"longest piece of a thread on the bias: {pieces.max() / (SIDE / (COUNT - 1)):.4f} of its length at rest")
    return scene, frame


if __name__ == "__main__":
    main()
