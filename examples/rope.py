# SPDX-License-Identifier: GPL-3.0-or-later
"""Hang a rope between two points and compare its sag with the catenary.

Edges without faces are threads. A rope's stiffness and mass are those of a strip of its fabric, `thread_width` wide.
"""

import numpy as np

import muslin

LENGTH, SPAN, LINKS = 2.0, 1.2, 40  # [m], [m], edges


def catenary_sag():
    """Return the sag [m] of an inextensible chain: a (cosh(S / 2a) - 1) with 2a sinh(S / 2a) = L."""
    low, high = 0.01, 10.0
    for _ in range(60):
        a = 0.5 * (low + high)
        low, high = (a, high) if 2.0 * a * np.sinh(0.5 * SPAN / a) > LENGTH else (low, a)
    return a * (np.cosh(0.5 * SPAN / a) - 1.0)


def main(frames=72):
    s = np.linspace(0.0, 1.0, LINKS + 1)
    straight = np.outer(s, [LENGTH, 0.0, 0.0])
    slack = np.stack([SPAN * s, 0.0 * s, -0.8 * np.sin(np.pi * s)], axis=1)  # where it is let go
    mesh = muslin.ClothMesh(straight, edges=[(i, i + 1) for i in range(LINKS)])
    hemp = muslin.Material(areal_density=5.0, stretch=2e6, shear=0.0, viscous_drag=20.0, thread_width=0.01)
    rope = muslin.Cloth(mesh, hemp, model="rope", positions=slack, pins={0: None, LINKS: None})
    scene = muslin.Scene([rope])
    *_, frame = muslin.simulate(scene, frames=range(1, frames + 1))
    sag = -frame.positions[0][:, 2].min()
    print(f"sag {sag:.4f} m, of the catenary {catenary_sag():.4f} m")
    return scene, frame


if __name__ == "__main__":
    main()
