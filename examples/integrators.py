# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare integrators and steps: how much energy a swinging sheet loses by each, and what a frame costs.

Implicit Euler damps all that moves, less with shorter steps; BDF2 is of second order and damps less at the same step.
"""

import muslin
from shapes import sheet

COUNT = 15  # vertices along each side


def main(frames=36):
    runs = []
    for place, (integrator, steps) in enumerate([("implicit_euler", 2), ("implicit_euler", 8), ("bdf2", 2)]):
        positions, quads = sheet(COUNT, 1.0, centre=(1.3 * place, 0.0, 0.0))
        mesh = muslin.ClothMesh(positions, faces=quads)
        pole = {i * COUNT: None for i in range(COUNT)}  # the side at the smallest y
        cotton = muslin.Material.preset("cotton", damping=0.0, air_drag=0.0)
        scene = muslin.Scene([muslin.Cloth(mesh, cotton, pins=pole)])
        solver = muslin.Solver(integrator=integrator, steps_per_frame=steps, measure_energy=True)
        series = list(muslin.simulate(scene, solver, frames=range(1, frames + 1)))
        first, last = series[0].certificate.energy, series[-1].certificate.energy
        seconds = sum(sum(frame.certificate.seconds.values()) for frame in series)
        print(f"{integrator}, {steps} steps per frame: energy lost {first.total - last.total:.3f} J, "
              f"{1000 * seconds / frames:.1f} ms per frame")
        runs.append((scene, series[-1]))
    return runs


if __name__ == "__main__":
    main()
