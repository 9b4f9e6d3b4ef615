# SPDX-License-Identifier: GPL-3.0-or-later
"""Wind that varies in space: a uniform field equals uniform wind, and sheets in calm parts stay calm."""

import numpy as np
import pytest

import core
from core.errors import SceneError
from core.kernels.backend import why_not
from tests.cases import cases
from tests.core.physics.scenes import fixed_steps, run, sheet
from tests.core.physics.test_air_drag import HUNG, fabric, hung_in_wind

BACKENDS = [pytest.param(name, marks=pytest.mark.skipif(bool(why_not(name)), reason="cannot run here"))
            for name in ("numpy", "numba")]


@cases(("sigma", "k_d", "wind", "heading"), HUNG[:1])
def test_a_sheet_hangs_in_a_uniform_field_as_in_uniform_wind(sigma, k_d, wind, heading, monkeypatch):
    monkeypatch.setattr(core, "Scene", lambda cloths, wind, scene=core.Scene: scene(
        cloths, wind=lambda time, x: np.broadcast_to(wind, x.shape)))
    angles, wanted = hung_in_wind(sigma, k_d, wind, heading, "right")
    assert np.abs(angles - wanted).max() < 0.5


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_two_sheets_only_the_one_in_the_wind_is_blown_away(backend):
    """In a step of h from rest, m v = h k_d A (u - v): v = u k_d h / (sigma + k_d h)."""
    sigma, k_d, speed, h = 0.2, 1.5, 4.0, 1 / 50
    flat = sheet((2, 2), (0.4, 0.4))
    cloths = [core.Cloth(core.ClothMesh(flat.positions + [x, 0.0, 0.0], flat.triangles), fabric(sigma, k_d))
              for x in (-1.0, 1.0)]
    scene = core.Scene(cloths, gravity=(0.0, 0.0, 0.0), wind=lambda time, x: [0.0, 0.0, speed] * (x[:, :1] > 0.0))
    calm, blown = run(scene, fixed_steps(h, newton_iterations=1, backend=backend), 1)[-1].velocities
    assert not calm.any()
    assert blown == pytest.approx(np.tile([0.0, 0.0, speed * k_d * h / (sigma + k_d * h)], (9, 1)), rel=1e-6, abs=1e-9)


def test_the_drag_of_a_triangle_is_that_of_the_mean_wind_at_its_corners():
    mesh = core.ClothMesh([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]])
    scene = core.Scene([core.Cloth(mesh, fabric(0.2, 1.5))], gravity=(0.0, 0.0, 0.0),
                       wind=lambda time, x: np.outer(1.0 + 2.0 * x[:, 0] + x[:, 1], [0.0, 0.0, 1.0]))
    h = 1e-4
    v = run(scene, fixed_steps(h, newton_iterations=1), 1)[-1].velocities[0]
    assert v == pytest.approx(np.tile([0.0, 0.0, 2.0 * 1.5 * h / 0.2], (3, 1)), rel=1e-2, abs=1e-12)


@cases("value, message", [
    (lambda time, x: [1.0, 0.0, 0.0], r"has shape \(3,\), expected \(3, 3\)"),
    (lambda time, x: x * np.nan, "must be 3 finite numbers"),
    (lambda time, x: "west", "has shape"),
])
def test_a_field_with_wrong_values_is_refused(value, message):
    scene = core.Scene([core.Cloth(core.ClothMesh(np.eye(3), [[0, 1, 2]]), fabric(0.2, 1.0))], wind=value)
    with pytest.raises(SceneError, match=message):
        scene.wind_at(0.5, np.eye(3))
    with pytest.raises(SceneError, match="ask for it at positions"):
        scene.wind_at(0.5)


def test_a_function_of_time_alone_is_no_field():
    scene = core.Scene([core.Cloth(core.ClothMesh(np.eye(3), [[0, 1, 2]]), fabric(0.2, 1.0))],
                       wind=lambda t, gust=2.0: (gust * t, 0.0, 0.0))
    assert scene.wind_at(0.5, np.eye(3)).tolist() == [1.0, 0.0, 0.0]
