# SPDX-License-Identifier: GPL-3.0-or-later
"""Drop balls of jelly, a soft one and a firm one, and watch how far they are squeezed.

A closed mesh with the model "jelly" is a solid. Young's modulus [Pa] and Poisson's ratio are options of the model.
"""

import muslin
from shapes import ball, floor

RADIUS = 0.2


def main(frames=36):
    rubber = muslin.Material.preset("rubber", damping=0.02)
    cloths = []
    for x, modulus in ((-0.3, 1e4), (0.3, 5e4)):
        mesh = muslin.ClothMesh(*ball(RADIUS, (x, 0.0, 0.5), segments=16, rings=9), name=f"{modulus:g} Pa")
        cloths.append(muslin.Cloth(mesh, rubber, model="jelly", young_modulus=modulus, poisson_ratio=0.45, cells=4))
    scene = muslin.Scene(cloths, [muslin.Collider(*floor(3.0), friction=0.5)])
    lowest = dict.fromkeys((cloth.name for cloth in cloths), 1.0)
    solver = muslin.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2, self_collision=False)
    for frame in muslin.simulate(scene, solver, frames=range(1, frames + 1)):
        for cloth, x in zip(cloths, frame.positions, strict=True):
            lowest[cloth.name] = min(lowest[cloth.name], (x[:, 2].max() - x[:, 2].min()) / (2 * RADIUS))
    for name, height in lowest.items():
        print(f"Young's modulus {name}: squeezed to {100 * height:.0f} % of its height")
    return scene, frame


if __name__ == "__main__":
    main()
