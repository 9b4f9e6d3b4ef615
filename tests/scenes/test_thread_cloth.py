# SPDX-License-Identifier: GPL-3.0-or-later
"""Thread cloth (000): elongation, droop and drape of woven grids at several resolutions."""

import numpy as np
import pytest

import core
from core.kernels.backend import why_not
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, run, settle, sheet
from tests.core.physics.test_cantilever import elastica
from tests.core.shapes import ball, grid, quads


@cases("shear", [0.0, 40.0])
@cases("cells", [8, 20])
def test_a_hanging_strip_grows_by_its_weight_over_its_stiffness(cells, shear):
    sigma, length, k = 0.2, 1.0, 200.0
    fabric = core.Material(areal_density=sigma, stretch=k, shear=shear)
    cloth = core.Cloth(sheet((cells, 2), (length, 2.0 * length / cells)), fabric, model="thread_cloth",
                       attachments=[core.Attachment(1)] + [core.Attachment(v, [(1, 0, 0)]) for v in (0, 2)])
    x = settle(core.Scene([cloth], gravity=(GRAVITY, 0, 0)), 1.0, 5, tolerance=1e-7).positions[0]
    grown = x.reshape(cells + 1, 3, 3)[-1, :, 0].mean() - length
    assert grown == pytest.approx(sigma * GRAVITY * length ** 2 / (2.0 * k), rel=0.02 if shear else 1e-3)


@cases(("gamma", "cells"), [(3.0, 10), (3.0, 20), (8.0, 20)])
def test_a_cantilever_droops_as_the_heavy_elastica_by_the_half_cell_rule(gamma, cells):
    length, sigma = 0.1, 0.2
    B, d = sigma * GRAVITY * length ** 3 / gamma, length / cells
    k = 3e3 * sigma * GRAVITY * length
    mesh = sheet((cells + 1, 2), (length + d, 2 * d), shift=(-d, 0.0, 0.0))
    fabric = core.Material(areal_density=sigma, stretch=k, shear=0.01 * k, bend=B)
    cloth = core.Cloth(mesh, fabric, model="thread_cloth", pins=dict.fromkeys(range(6)))
    tip = settle(core.Scene([cloth]), 2.0, 8).positions[0].reshape(cells + 2, 3, 3)[-1].mean(axis=0)
    counts = length + 0.5 * d
    W, H = elastica(sigma * GRAVITY * counts ** 3 / B)
    assert -tip[2] / (tip[0] + 0.5 * d) == pytest.approx(H / W, rel={10: 0.05, 20: 0.03}[cells])


@pytest.mark.parametrize(("cells", "within"), [(10, 0.05), pytest.param(20, 0.03, marks=pytest.mark.slow)])
def test_a_strip_of_cotton_droops_as_the_heavy_elastica_for_every_area_stiffness(cells, within):
    length, cotton = 0.05, core.Material.preset("cotton")
    d = length / cells
    mesh = sheet((cells + 1, 2), (length + d, 2 * d), shift=(-d, 0.0, 0.0))
    cloth = core.Cloth(mesh, cotton, model="thread_cloth", pins=dict.fromkeys(range(6)))
    frame = settle(core.Scene([cloth]), 2.0, 30)
    tip = frame.positions[0].reshape(cells + 2, 3, 3)[-1].mean(axis=0)
    W, H = elastica(cotton.areal_density * GRAVITY * (length + 0.5 * d) ** 3 / cotton.bend[0])
    assert -tip[2] / (tip[0] + 0.5 * d) == pytest.approx(H / W, rel=within)


@cases("backend", ["numpy", "numba"])
def test_thread_cloth_drapes_over_a_ball_and_crosses_nothing(backend):
    if why_not(backend):
        pytest.skip(why_not(backend))
    x, _ = grid(12, 12)
    cloth = core.Cloth(core.ClothMesh(x + [-0.5, -0.5, 0.32], faces=quads(12, 12)), core.Material.preset("cotton"),
                       model="thread_cloth")
    frames = run(core.Scene([cloth], [core.Collider(*ball(0.3, 2))]), core.Solver(backend=backend), 14)
    assert all(f.certificate.crossings == 0 for f in frames)
    last = frames[-1]
    assert last.certificate.converged and last.certificate.stretch_p99 < 1.2
    assert np.ptp(last.positions[0][:, 2]) > 0.3
