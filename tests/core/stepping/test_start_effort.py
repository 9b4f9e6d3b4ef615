# SPDX-License-Identifier: GPL-3.0-or-later
"""The resolution of a start is bounded by effort, and lists what it leaves."""

import numpy as np

import core
from core.kernels.backend import choose, using
from core.model.particle_system import ParticleSystem
from core.stepping import resolve_start
from tests.core.shapes import quads

EFFORT = 60.0
"""The largest one here [-], so that the test is short."""


def test_a_start_ends_at_the_effort_of_a_frame_and_lists_its_crossings(monkeypatch):
    """A crumpled sheet that is thicker than its edges are long has some hundred pairs for each vertex."""
    monkeypatch.setattr(resolve_start, "MOST_EFFORT", EFFORT)
    n = 8
    x = 0.1 * np.random.default_rng(3).normal(size=((n + 1) ** 2, 3))
    fabric = core.Material(areal_density=0.2, stretch=60.0, shear=15.0)
    cloth = core.Cloth(core.ClothMesh(x, faces=quads(n, n)), fabric, thickness=0.15)
    scene, solver = core.Scene([cloth]), core.Solver()
    with using(choose(None)):
        system = ParticleSystem(scene)
        efforts = [r.effort for r in resolve_start.resolutions(system, solver, system.initial_state())]
    assert efforts[0] == 0.0 and efforts[-2] <= EFFORT < efforts[-1]
    assert np.diff(efforts).min() > 1.0 and np.diff(efforts).mean() > 1.5                 # pairs count
    start = core.resolve_start(scene, solver)
    assert sum(left.crossings for left in start.left) > 0
    first = next(core.simulate(scene, solver, range(1)))
    assert first.certificate.crossings > 0 and first.certificate.start is not None


def test_thick_cloth_elsewhere_makes_no_more_pairs_near_in_a_start():
    """Two sheets cross at a corner; the thick patch is far from both."""
    n = 8
    line = np.linspace(0.0, 0.2, n + 1)
    flat = np.stack([*np.meshgrid(line, line), np.zeros((n + 1, n + 1))], axis=-1).reshape(-1, 3)
    upright = flat[:, [2, 0, 1]] + [0.19, 0.19, -0.01]
    square = np.array([[0.0, 0.0, 50.0], [5.0, 0.0, 50.0], [5.0, 5.0, 50.0], [0.0, 5.0, 50.0]])
    fabric = core.Material(areal_density=0.2, stretch=60.0, shear=15.0)
    sheets = [core.Cloth(core.ClothMesh(x, faces=quads(n, n)), fabric, thickness=0.002) for x in (flat, upright)]
    thick = core.Cloth(core.ClothMesh(square, faces=[[0, 1, 2], [0, 2, 3]]), fabric, thickness=1.0)
    efforts = []
    with using(choose(None)):
        for cloths in sheets, [*sheets, thick]:
            system = ParticleSystem(core.Scene(cloths))
            iterations = resolve_start.resolutions(system, core.Solver(), system.initial_state())
            efforts.append([next(iterations).effort for _ in range(3)])
    assert np.all(np.array(efforts[1]) <= efforts[0]) and efforts[0][-1] > 1.0
