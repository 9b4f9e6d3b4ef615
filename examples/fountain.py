# SPDX-License-Identifier: GPL-3.0-or-later
"""Emit particles one after another; they rise, fall on a ball and a floor, and slide.

`emit` gives places and velocities from a seed; `births` is the time until which each particle is held where it starts.
"""

import numpy as np

import muslin
from shapes import ball, floor

COUNT, SPEED, SECONDS = 400, 4.5, 1.2  # particles, speed at the start [m/s], time in which they are emitted [s]


def main(frames=44):
    positions, velocities = muslin.emit("fountain", COUNT, speed=SPEED, seed=1, origin=(0.0, 0.0, 0.05))
    velocities[:, :2] *= 2.5
    mesh = muslin.ClothMesh(positions, points=True)
    water = muslin.Cloth(mesh, muslin.Material.preset("cotton", friction=0.2), model="particles",
                         velocities=velocities, births=np.linspace(0.0, SECONDS, COUNT), thickness=0.012)
    colliders = [muslin.Collider(*floor(4.0)), muslin.Collider(*ball(0.22, (0.42, 0.0, 0.22)), friction=0.2)]
    scene = muslin.Scene([water], colliders)
    highest = 0.0
    for frame in muslin.simulate(scene, muslin.Solver(integrator="bdf2"), frames=range(1, frames + 1)):
        highest = max(highest, frame.positions[0][:, 2].max())
    print(f"highest particle {highest:.3f} m, of a free throw {0.05 + SPEED**2 / (2 * 9.81):.3f} m")
    return scene, frame


if __name__ == "__main__":
    main()
