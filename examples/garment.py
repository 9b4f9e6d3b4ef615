# SPDX-License-Identifier: GPL-3.0-or-later
"""Sew two flat panels to a skirt around a body.

Seams are pairs of vertices that are pulled together within `sewing_time`, then held.
"""

import numpy as np

import muslin
from shapes import ball, sheet

ACROSS, RADIUS = 19, 0.2  # vertices along each side of a panel, radius of the body [m]


def main(frames=48):
    flat, quads = sheet(ACROSS, 0.61)
    front = np.stack([flat[:, 0], np.full(len(flat), -0.25), flat[:, 1]], axis=1)
    positions = np.concatenate([front, front * [1.0, -1.0, 1.0]])
    faces = np.concatenate([quads, quads[:, ::-1] + len(flat)])
    side = np.concatenate([np.arange(ACROSS), len(flat) - ACROSS + np.arange(ACROSS)])
    seams = np.stack([side, side + len(flat)], axis=1)  # vertex of the front panel, vertex of the back panel
    skirt = muslin.Cloth(muslin.ClothMesh(positions, faces=faces, name="skirt"), muslin.Material.preset("wool"),
                         sewing=seams, sewing_time=0.3, velocities=np.tile([0.0, 0.0, 1.4], (len(positions), 1)))
    body = muslin.Collider(*ball(RADIUS, (0.0, 0.0, 0.2)), friction=0.4, name="body")
    scene = muslin.Scene([skirt], [body])
    for frame in muslin.simulate(scene, muslin.Solver(integrator="bdf2"), frames=range(1, frames + 1)):
        print(f"{frame.time:5.2f} s: widest seam {1000 * frame.certificate.seam_gap:6.1f} mm")
    return scene, frame


if __name__ == "__main__":
    main()
