# SPDX-License-Identifier: GPL-3.0-or-later
"""The same scene gives the same bytes: twice, on any number of threads, alone or beside others, and in other units."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import core
from core.kernels.backend import why_not
from tests.cases import cases
from tests.core.shapes import ball, grid
from tests.core.simple_scenes import floor, hanging, sheet

BACKENDS = ["numpy", pytest.param("numba", marks=pytest.mark.skipif(bool(why_not("numba")), reason="no Numba"))]
ROOT = Path(__file__).resolve().parents[3]


def everything(scene, solver, frames):
    return b"".join(np.concatenate(f.positions + f.velocities).tobytes() for f in core.simulate(scene, solver, frames))


@cases("iterations", [1, "converge"])
def test_two_runs_give_the_same_bytes(iterations):
    def scene():
        return core.Scene([hanging(6), hanging(3, 0.4)], [floor()], wind=(1.0, 0.0, 0.0))

    solver = core.Solver(newton_iterations=iterations)
    assert everything(scene(), solver, range(1, 13)) == everything(scene(), solver, range(1, 13))


SCRIPT = """
import hashlib, numpy as np, core
from tests.core.shapes import ball, grid
fabric = core.Material(areal_density=0.2, stretch=500.0, shear=60.0, bend=1e-4, damping=0.005, air_drag=0.3)
cloth = core.Cloth(core.ClothMesh(*grid(24, 24)), fabric, pins={0: None})
floor = core.Collider([[-5, -5, -0.1], [5, -5, -0.1], [5, 5, -0.1]], [[0, 1, 2]])
frames = list(core.simulate(core.Scene([cloth], [floor]), frames=range(1, 7)))
print(hashlib.sha256(frames[-1].positions[0].tobytes()).hexdigest())
"""


def test_one_thread_or_several_give_the_same_bytes():
    digests = set()
    for threads in ("1", "4"):
        variables = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(variables, threads)
        run = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        digests.add(run.stdout)
    assert len(digests) == 1


def test_a_scene_can_be_simulated_twice():
    scene = core.Scene([hanging()], [floor()])
    assert everything(scene, core.Solver(), range(1, 7)) == everything(scene, core.Solver(), range(101, 107))


def test_cloths_that_do_not_meet_move_as_if_alone():
    other = core.Material(areal_density=0.5, stretch=(80.0, 80.0), shear=10.0, viscous_drag=0.2)
    cloths = [hanging(5), core.Cloth(sheet(3, 4.0), other, pins=np.linspace(0.0, 0.9, 16)),
              core.Cloth(core.ClothMesh([[9, 0, 0], [9, 0, 1.0], [9, 1, 1.5]], edges=[[0, 1], [1, 2]]), other,
                         pins={2: None})]
    solver = core.Solver(tolerance=1e-10, adaptive=False)
    together = list(core.simulate(core.Scene(cloths), solver, range(1, 9)))
    for i, cloth in enumerate(cloths):
        for alone, frame in zip(core.simulate(core.Scene([cloth]), solver, range(1, 9)), together, strict=True):
            np.testing.assert_allclose(frame.positions[i], alone.positions[0], atol=1e-8)
            np.testing.assert_allclose(frame.velocities[i], alone.velocities[0], atol=1e-6)


def slope():
    positions = floor().at(0.0).copy()
    positions[:, 2] += positions[:, :2] @ [0.15, 0.1]
    return positions


TRIANGLES = [[0, 1, 2], [0, 2, 3]]
SOLIDS = {"floor": (floor().at(0.0), TRIANGLES, {0: None}), "slope": (slope(), TRIANGLES, {}),
          "ball": (*ball(0.25, 2, (0.3, 0.3, -0.35)), {0: None})}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("solid", SOLIDS)
def test_the_same_cloth_in_other_units_takes_the_same_shape(solid, backend):
    """Lengths times s, times and masses kept: gravity and wind times s, N/m kept, N m times s^2, densities over s^2.

    But for rounding, which has to decide nothing.
    """
    positions, triangles, pins = SOLIDS[solid]

    def run(s):
        mesh = core.ClothMesh(*(lambda p, t: (s * p, t))(*grid(5, 5)))
        fabric = core.Material(areal_density=0.2 / s ** 2, stretch=(500.0, 300.0), shear=60.0,
                               bend=(1e-3 * s ** 2, 1e-3 * s ** 2), damping=0.005, air_drag=0.3 / s ** 2)
        scene = core.Scene([core.Cloth(mesh, fabric, pins=pins)], [core.Collider(s * positions, triangles)],
                           gravity=(0.0, 0.0, -9.81 * s), wind=(0.0, s, 0.0))
        return [f.positions[0] / s for f in core.simulate(scene, core.Solver(backend=backend), range(1, 13))]

    one = run(1.0)
    for scale in (1e-3, 7.0):
        np.testing.assert_allclose(run(scale), one, atol=1e-6)
