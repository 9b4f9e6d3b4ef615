# SPDX-License-Identifier: GPL-3.0-or-later
"""Ropes (000): the catenary, the modes of a hanging chain, a net, and the droop of a stiff rope, with both kinds of
matrix.
"""

import numpy as np
import pytest

import core
from core.kernels.backend import why_not
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, elastic_force, fixed_steps, reference, rope, rope_fabric, run, settle
from tests.core.physics.test_cantilever import elastica
from tests.core.shapes import ball

CATENARY, MODES = reference("catenary")["rows"], reference("chain_modes")["rows"]


@cases("matrix", ["assembled", "implicit"])
@cases("row", CATENARY[:2], ids=lambda r: f"{r['length']} m over {r['span']} m")
def test_a_rope_hangs_as_the_elastic_catenary_by_both_kinds_of_matrix(row, matrix):
    links, length, span, weight = 32, row["length"], row["span"], row["weight_per_length"]
    s = np.linspace(0.0, 1.0, links + 1)
    depth = 0.45 * np.sqrt(max(length ** 2 - span ** 2, (0.1 * length) ** 2))
    start = np.stack([s * span, 0 * s, -depth * np.sin(np.pi * s)], axis=1)
    cloth = core.Cloth(rope(np.outer(s, (length, 0, 0))), rope_fabric(weight / GRAVITY, row["EA"]), model="rope",
                       pins={0: None, links: None}, positions=start)
    solver = fixed_steps(2.0, tolerance=1e-6, max_linear_iterations=20000, matrix=matrix)
    frame = run(core.Scene([cloth]), solver, 8)[-1]
    assert frame.certificate.converged
    x = frame.positions[0]
    pull = elastic_force(cloth, x)[0] + [0.0, 0.0, -0.5 * weight * length / links]
    wanted = row["elastic"]
    assert -x[:, 2].min() == pytest.approx(wanted["sag"], rel=0.005)
    assert abs(pull[0]) == pytest.approx(wanted["horizontal_tension"], rel=0.01)
    assert np.linalg.norm(pull) == pytest.approx(wanted["end_tension"], rel=0.01)


def mode(links, number, length):
    """Return the frequency [rad/s] and shape (links + 1,) of a hanging chain of equal masses with half a mass at its
    end.
    """
    n, link = links, length / links
    mass = np.ones(n)
    mass[-1] = 0.5
    tension = GRAVITY * np.cumsum(mass[::-1])[::-1] / link                          # tension of link i, over its length
    K = np.diag(tension + np.append(tension[1:], 0.0)) - np.diag(tension[1:], 1) - np.diag(tension[1:], -1)
    scaled = K / np.sqrt(np.outer(mass, mass))
    values, vectors = np.linalg.eigh(scaled)
    shape = vectors[:, number] / np.sqrt(mass)
    return np.sqrt(values[number]), np.append(0.0, shape / np.abs(shape).max())


@pytest.mark.parametrize("row", MODES, ids=lambda r: f"{r['length']} m")
@pytest.mark.parametrize("number", [0, 1])
def test_a_hanging_rope_swings_at_the_frequencies_of_its_chain(row, number):
    links, length = 16, row["length"]
    omega, shape = mode(links, number, length)
    assert omega == pytest.approx(row["lumped_omega"]["16"][number], rel=1e-6)
    mesh = rope(np.outer(np.arange(links + 1) / links, (0.0, 0.0, -length)))
    start = mesh.positions + np.outer(0.005 * length * shape, (1.0, 0.0, 0.0))
    cloth = core.Cloth(mesh, rope_fabric(0.1, 3e4), model="rope", pins={0: None}, positions=start)
    h, quarter = 1.0 / 480.0, 0.5 * np.pi / omega
    frames = run(core.Scene([cloth]), fixed_steps(h, integrator="bdf2", tolerance=1e-8), int(1.2 * quarter / h) + 1)
    at = np.array([f.positions[0][:, 0] @ shape for f in frames])
    crossing = int(np.argmax(at < 0.0))
    time = h * (crossing - 1 + at[crossing - 1] / (at[crossing - 1] - at[crossing]))
    assert 0.5 * np.pi / time == pytest.approx(omega, rel=0.005)


@cases("backend", ["numpy", "numba"])
def test_three_ropes_that_meet_share_the_weight_of_the_fourth(backend):
    if why_not(backend):
        pytest.skip(why_not(backend))
    n, links = 6, np.arange(1, 7) / 6.0
    arms = [np.outer(links, (0.4 * np.cos(a), 0.4 * np.sin(a), 0.3)) for a in 2.0 * np.pi * np.arange(3) / 3.0]
    hanging = np.outer(links, (0.0, 0.0, -0.5))
    x = np.concatenate([np.zeros((1, 3)), *arms, hanging])
    edges = [(0 if i == 0 else b * n + i, b * n + i + 1) for b in range(4) for i in range(n)]
    cloth = core.Cloth(core.ClothMesh(x, edges=edges), rope_fabric(0.2, 2000.0), model="rope",
                       pins={n: None, 2 * n: None, 3 * n: None})
    last = settle(core.Scene([cloth]), 1.0, 8)
    pulls = elastic_force(cloth, last.positions[0])[[n, 2 * n, 3 * n]]
    half = 0.5 * 0.2 * 0.5 / n * GRAVITY
    weight = 0.2 * GRAVITY * (3 * 0.5 + 0.5)
    np.testing.assert_allclose(-pulls[:, 2], weight / 3.0 - half, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(pulls[:, :2], axis=1), np.linalg.norm(pulls[0, :2]), rtol=1e-5)


@cases(("gamma", "links"), [(1.0, 10), (8.0, 20)])
def test_a_stiff_rope_droops_as_the_heavy_elastica_by_the_half_cell_rule(gamma, links):
    length, weight = 0.2, 0.5
    B = weight * length ** 3 / gamma                                               # EI [N m^2]
    d = length / links
    mesh = rope(np.outer(np.arange(-1, links + 1), (d, 0.0, 0.0)))
    fabric = rope_fabric(weight / GRAVITY, 3e3 * weight * length, bend=B / 0.01)
    cloth = core.Cloth(mesh, fabric, model="rope", pins={0: None, 1: None})
    x = settle(core.Scene([cloth]), 2.0, 8).positions[0]
    W, H = elastica(weight * (length + 0.5 * d) ** 3 / B)
    assert -x[-1, 2] / (x[-1, 0] + 0.5 * d) == pytest.approx(H / W, rel={10: 0.05, 20: 0.03}[links])


@cases("backend", ["numpy", "numba"])
def test_a_rope_falls_over_a_ball_and_stays_outside(backend):

    if why_not(backend):
        pytest.skip(why_not(backend))
    s = np.linspace(-0.6, 0.6, 41)
    cloth = core.Cloth(rope(np.stack([s, 0.02 + 0 * s, 0.36 + 0 * s], axis=1)), rope_fabric(0.1, 500.0, friction=0.8),
                       model="rope")
    frames = run(core.Scene([cloth], [core.Collider(*ball(0.3, 2), friction=0.8)]), core.Solver(backend=backend), 12)
    x = frames[-1].positions[0]
    assert np.linalg.norm(x, axis=1).min() > 0.28
    assert x[20, 2] > 0.28 and x[0, 2] < 0.0


@cases(("span", "length"), [(1.0, 1.5), (0.5, 2.0)])
def test_a_rope_comes_to_rest_in_steps_of_a_whole_frame(span, length):
    """Linearised at the predicted end, the edges near its lowest point would keep stretching by a third."""
    s = np.linspace(0.0, 1.0, 33)[:, None]
    mesh = core.ClothMesh(s * [length, 0.0, 0.0], edges=np.stack([np.arange(32), np.arange(1, 33)], axis=1))
    start = s * [span, 0.0, 0.0] - 0.45 * np.sqrt(length ** 2 - span ** 2) * np.sin(np.pi * s) * [0.0, 0.0, 1.0]
    fabric = core.Material(areal_density=10.0, stretch=1e5, shear=0.0, thread_width=0.01)
    cloth = core.Cloth(mesh, fabric, pins={0: None, 32: None}, positions=start)
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2, backend="numpy")
    stretch = [frame.certificate.stretch_max for frame in core.simulate(core.Scene([cloth]), solver, range(1, 121))]
    assert max(stretch[-40:]) < 1.01
