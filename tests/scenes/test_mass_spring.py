# SPDX-License-Identifier: GPL-3.0-or-later
"""The mass-spring model (003): elongation of strips on both kinds of meshes, and the strain limit."""

import numpy as np
import pytest

import core
from core.kernels.backend import why_not
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, run, settle, sheet
from tests.core.shapes import ball, grid, quads


@cases("cells", [8, 20])
@cases("kind", ["right", "alternating", "quads"])
def test_a_hanging_strip_grows_by_its_weight_over_its_stiffness(cells, kind):
    """Parallel diagonals make a stretched strip skew, which makes it longer."""
    sigma, length, k = 0.2, 1.0, 200.0
    size = (length, 4.0 * length / cells)
    mesh = (core.ClothMesh(grid(cells, 4, size)[0], faces=quads(cells, 4)) if kind == "quads"
            else sheet((cells, 4), size, kind))
    fabric = core.Material(areal_density=sigma, stretch=k, shear=0.1 * k)
    held = [core.Attachment(2)] + [core.Attachment(v, [(1, 0, 0)]) for v in (0, 1, 3, 4)]
    cloth = core.Cloth(mesh, fabric, model="mass_spring", attachments=[*held, core.Attachment(7, [(0, 0, 1)])])
    x = settle(core.Scene([cloth], gravity=(GRAVITY, 0, 0)), 1.0, 5, tolerance=1e-7).positions[0]
    grown = x.reshape(cells + 1, 5, 3)[-1, :, 0].mean() - length
    assert grown == pytest.approx(sigma * GRAVITY * length ** 2 / (2.0 * k), rel=0.1 if kind == "right" else 0.03)


@cases("backend", ["numpy", "numba"])
def test_the_strain_limit_keeps_soft_hanging_cloth_near_its_length(backend):
    if why_not(backend):
        pytest.skip(why_not(backend))
    mesh, stretch = core.ClothMesh(grid(10, 10)[0], faces=quads(10, 10)), {}
    for limit in (None, 0.1):
        fabric = core.Material(areal_density=0.2, stretch=30.0, shear=8.0, bend=(1e-5, 1e-5))
        cloth = core.Cloth(mesh, fabric, model="mass_spring", pins={0: None, 10: None}, max_elongation=limit)
        frames = run(core.Scene([cloth]), core.Solver(backend=backend), 24)
        x = frames[-1].positions[0]
        np.testing.assert_allclose(x[[0, 10]], mesh.positions[[0, 10]], atol=1e-12)
        stretch[limit] = frames[-1].certificate.stretch_max
    assert stretch[None] > 1.2
    assert stretch[0.1] <= 1.1 + 0.005


def test_a_mass_spring_sheet_drapes_over_a_ball_and_crosses_nothing():
    cloth = core.Cloth(core.ClothMesh(grid(12, 12)[0] + [-0.5, -0.5, 0.32], faces=quads(12, 12)),
                       core.Material.preset("cotton"), model="mass_spring")
    frames = run(core.Scene([cloth], [core.Collider(*ball(0.3, 2))]), core.Solver(), 14)
    assert all(f.certificate.crossings == 0 for f in frames)
    assert np.ptp(frames[-1].positions[0][:, 2]) > 0.4
