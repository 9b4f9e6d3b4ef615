# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the cloth of Newton, by VBD and by Style3D, beside Muslin: the hanging sheet and the drape, on the processor.

    pip install "newton==1.8.*" "warp-lang==1.19.*" numba          in an environment of its own
    python -m benchmarks.peers hang drape --sizes 50 100

Newton runs with the substeps per second and the iterations of its example `cloth_hanging`, then with more until it
stretches no more than Muslin. All have one fabric: Style3D's membrane is the law of Baraff and Witkin, as Muslin's;
that of VBD is isotropic (St. Venant-Kirchhoff), with the same stretch and a larger shear. Bending is too small to
matter, and there is no air. Self-collision is on in the drape only.

Prints the median processor time of a frame, and the 99th percentile of the edges' stretch in the worst frame.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

import core
from benchmarks.muslin_cloth import compile_kernels, muslin_frames
from benchmarks.scenes import BALL_FRICTION, CENTRE, FRAME_RATE, GRAVITY, RADIUS, SceneLayout, lengths, scene_layout
from benchmarks.stretch_search import substeps
from benchmarks.systems import SOFT
from core.arrays import FloatArray

FABRIC = replace(SOFT, viscous_drag=0.0, air_drag=0.0)
EXAMPLE_STEPS = {"vbd": 600.0, "style3d": 120.0}
"""Substeps per second of Newton's example `cloth_hanging` [1/s]."""
ITERATIONS = 10
"""Iterations of a substep in that example, of both solvers."""
CONTACT_STIFFNESS, CONTACT_DAMPING = 100.0, 1e-3
"""Stiffness [N/m] and damping [kg/s] of Newton's contact: the weight of a vertex of 50^2 compresses it by 0.05 mm."""
PANEL = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2)

Measured = tuple[float, float]      # processor time of a frame [ms], p99 stretch of the worst frame [-]


def muslin(layout: SceneLayout, frames: int) -> Measured:
    """Simulate with Muslin and the settings of its panel."""
    solver = replace(PANEL, self_collision=layout.self_collision)
    compile_kernels(solver)
    found = list(muslin_frames(layout, FABRIC, solver, frames))
    return summary(layout, [frame["x"] for frame in found], [frame["cpu_ms"] for frame in found])


def newton_cloth(layout: SceneLayout, solver: str, count: int, frames: int) -> Measured:
    """Simulate with a solver of Newton, `count` substeps a frame."""
    positions, spent = [], []
    coming = _newton_frames(layout, solver, count)
    for _ in range(frames):
        start = process_time()
        positions.append(next(coming))
        spent.append(1e3 * (process_time() - start))
    return summary(layout, positions, spent)


def summary(layout: SceneLayout, positions: list[FloatArray], spent: list[float]) -> Measured:
    """Return the median of the times after the first two frames, and the largest p99 stretch."""
    edges = layout.edges
    rest = lengths(layout.positions, edges)
    p99 = [np.percentile(lengths(np.asarray(x, dtype=float), edges) / rest - 1.0, 99.0) for x in positions]
    return float(np.median(spent[2:])), float(max(p99))


def _newton_frames(layout: SceneLayout, name: str, count: int) -> Iterator[FloatArray]:
    """Yield the positions (V, 3) [m] of every frame, from the initial one on."""
    import newton
    import warp as wp

    wp.config.quiet = True
    wp.set_device("cpu")
    model = _model(layout, name)
    solver = _solver(model, layout, name)
    pipeline = newton.CollisionPipeline(model) if layout.ball is not None else None
    contacts = pipeline.contacts() if pipeline else model.contacts()
    now, then, control, step = model.state(), model.state(), model.control(), 1.0 / (FRAME_RATE * count)
    while True:
        yield now.particle_q.numpy().copy()
        for _ in range(count):
            now.clear_forces()
            if pipeline:
                pipeline.collide(now, contacts)
            solver.step(now, then, control, contacts, step)
            now, then = then, now


def _model(layout: SceneLayout, name: str) -> Any:
    """Return Newton's model of a scene."""
    import newton
    import warp as wp
    from newton.solvers import style3d

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=GRAVITY)
    triangles = np.concatenate([layout.quads[:, [0, 1, 2]], layout.quads[:, [0, 2, 3]]])
    stretch, bend = float(np.mean(FABRIC.stretch)), float(np.mean(FABRIC.bend))
    given = {"pos": wp.vec3(0.0, 0.0, 0.0), "rot": wp.quat_identity(), "vel": wp.vec3(0.0, 0.0, 0.0), "scale": 1.0,
             "vertices": [wp.vec3(*x) for x in layout.positions], "indices": triangles.ravel().tolist(),
             "density": FABRIC.areal_density, "particle_radius": 0.2 * layout.edge_length, "tri_kd": 0.0,
             "edge_kd": 0.0}
    if name == "style3d":
        newton.solvers.SolverStyle3D.register_custom_attributes(builder)
        style3d.add_cloth_mesh(builder, tri_aniso_ke=wp.vec3(stretch, stretch, FABRIC.shear),
                               edge_aniso_ke=wp.vec3(bend, bend, bend), **given)
    else:
        builder.add_cloth_mesh(tri_ke=0.5 * stretch, tri_ka=0.0, edge_ke=bend, **given)
    for vertex in layout.held:
        builder.particle_mass[vertex] = 0.0
        builder.particle_flags[vertex] &= ~int(newton.ParticleFlags.ACTIVE)
    if layout.ball is not None:
        surface = builder.default_shape_cfg.copy()
        surface.mu = BALL_FRICTION
        builder.add_shape_sphere(body=-1, xform=wp.transform(wp.vec3(*CENTRE), wp.quat_identity()), radius=RADIUS,
                                 cfg=surface)
    if name == "vbd":
        builder.color(include_bending=True)
    model = builder.finalize()
    model.soft_contact_ke, model.soft_contact_kd = CONTACT_STIFFNESS, CONTACT_DAMPING
    model.soft_contact_mu = FABRIC.friction
    return model


def _solver(model: Any, layout: SceneLayout, name: str) -> Any:
    """Return Newton's solver of a model."""
    from newton.solvers import SolverStyle3D, SolverVBD

    if name == "style3d":
        solver = SolverStyle3D(model=model, config=SolverStyle3D.Config(iterations=ITERATIONS))
        if layout.ball is None:
            solver.collision = None
        return solver
    radius = 0.2 * layout.edge_length
    return SolverVBD(model=model, iterations=ITERATIONS, particle_enable_self_contact=layout.self_collision,
                     particle_self_contact_margin=radius, particle_self_contact_gap=0.5 * radius)


def rows(scene: str, size: int, frames: int, solvers: list[str], most: int) -> Iterator[str]:
    """Yield the rows of the table for one scene at one size."""
    layout = scene_layout(scene, size)
    ours = muslin(layout, frames)
    yield _row(scene, size, "Muslin, 1 step", ours, ours)
    for solver in solvers:
        tried: dict[int, Measured] = {}

        def p99_at(count: float, solver: str = solver, tried: dict[int, Measured] = tried) -> float:
            if round(count) not in tried:
                tried[round(count)] = newton_cloth(layout, solver, round(count), frames)
            return tried[round(count)][1] if count < most else 0.0              # ends the search

        example = round(EXAMPLE_STEPS[solver] / FRAME_RATE)
        substeps(p99_at, ours[1], example)
        for count in sorted(tried):
            yield _row(scene, size, f"{solver}, {count} substeps", tried[count], ours)


def _row(scene: str, size: int, system: str, found: Measured, ours: Measured) -> str:
    return (f"| {scene}, {size}^2 | {system} | {found[0]:.1f} | {100 * found[1]:.2f} % | "
            f"{found[0] / ours[0]:.1f} |")


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="+", choices=("hang", "sphere", "drape"))
    parser.add_argument("--sizes", nargs="+", type=int, default=[50, 100])
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--solvers", nargs="+", choices=tuple(EXAMPLE_STEPS), default=list(EXAMPLE_STEPS))
    parser.add_argument("--most", type=int, default=160, help="largest number of substeps of a frame")
    given = parser.parse_args()
    print("| scene | system | processor ms a frame | p99 | over Muslin's time |\n" + "|" + 5 * " --- |", flush=True)
    for scene in given.scenes:
        for size in given.sizes:
            for row in rows(scene, size, given.frames, given.solvers, given.most):
                print(row, flush=True)


if __name__ == "__main__":
    main()
