# SPDX-License-Identifier: GPL-3.0-or-later
"""Projective dynamics has the requested stiffness, and run to convergence it is Newton's method on the same energy."""

import numpy as np
import pytest

import core
from core.kernels import backend
from core.linear.preconditioners.constant_matrix import ConstantMatrix
from tests.cases import cases
from tests.core.physics.scenes import sheet
from tests.core.shapes import ball

G = 9.81
both = pytest.mark.parametrize("which", ["numpy", "numba"])
SOFT = core.Material(areal_density=0.2, stretch=40.0, shear=10.0, bend=1e-4, damping=0.002, friction=0.3)


def last(scene, solver, count):
    return list(core.simulate(scene, solver, range(count + 1)))[-1]


def solver(name, rate, iterations="converge", **settings):
    return core.Solver(integrator=name, frame_rate=rate, steps_per_frame=1, newton_iterations=iterations,
                       adaptive=False, max_newton_iterations=4000, **{"tolerance": 1e-9, **settings})


# ---------------------------------------------------------------------- the stiffness


@cases(("E", "nu"), [(2e4, 0.0), (2e4, 0.3), (5e4, 0.49)])
def test_a_hanging_strip_gets_longer_by_its_weight_over_the_shear_modulus(E, nu):
    """w = G t with G = E / (2 (1 + nu)) is the modulus in tension: the elongation is rho g L^2 / (2 w) to first order.
    """
    L, t = 0.5, 1e-3
    mesh = sheet((10, 2), (L, 0.1))
    fabric = core.Material(areal_density=0.05, stretch=1.0, shear=1.0)
    cloth = core.Cloth(mesh, fabric, model="projective", pins={0: None, 1: None, 2: None}, young_modulus=E,
                       poisson_ratio=nu, sheet_thickness=t)
    scene = core.Scene([cloth], gravity=(G, 0.0, 0.0))
    frame = last(scene, solver("projective_dynamics", 10.0, 10, self_collision=False), 25)
    longer = frame.positions[0][-3:, 0].mean() - L
    w = E / (2.0 * (1.0 + nu)) * t
    assert longer == pytest.approx(0.05 * G * L * L / (2.0 * w), rel=2e-3)
    assert np.ptp(frame.positions[0][-3:, 1]) == pytest.approx(0.1, rel=1e-3)          # and it does not become narrower


@cases(("options", "what"), [
    ({"young_modulus": -1.0, "sheet_thickness": 1e-3}, "young_modulus is -1.0"),
    ({"young_modulus": 1e5}, "sheet_thickness is None"),
    ({"young_modulus": 1e5, "sheet_thickness": 1e-3, "poisson_ratio": 0.6}, "poisson_ratio is 0.6"),
    ({"poisson_ratio": 0.3}, "poisson_ratio is 0.3 without young_modulus")])
def test_moduli_out_of_range_are_refused_by_name(options, what):
    cloth = core.Cloth(sheet((2, 2), (1.0, 1.0)), SOFT, model="projective", **options)
    with pytest.raises(core.ClothError, match=what):
        last(core.Scene([cloth]), core.Solver(), 1)


# ---------------------------------------------------------------------- convergence


def hung(model, **options):
    mesh = sheet((5, 5), (0.5, 0.5))
    x = mesh.positions + 1e-3 * np.random.default_rng(2).normal(size=mesh.positions.shape)
    return core.Scene([core.Cloth(mesh, SOFT, model=model, positions=x, pins={0: None, 30: None}, **options)])


def block():
    """Return a cube of jelly that is held at two corners."""
    x, y, z = np.meshgrid(*[np.linspace(0.0, 0.2, 2)] * 3, indexing="ij")
    corners = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    mesh = core.ClothMesh(corners, faces=np.array(faces))
    return core.Scene([core.Cloth(mesh, SOFT, model="jelly", pins={1: None, 7: None}, young_modulus=4e3, cells=3)])


@pytest.mark.parametrize("scene", [lambda: hung("projective"), lambda: hung("baraff_witkin"), block],
                         ids=["triangles", "another model", "tetrahedra"])
def test_run_to_convergence_it_is_newtons_method_to_a_millionth_of_the_size(scene):
    ends = [last(scene(), solver(name, 96.0), 2) for name in ("implicit_euler", "projective_dynamics")]
    assert ends[1].certificate.converged
    L = np.ptp(ends[0].positions[0], axis=0).max()
    moved = np.abs(ends[0].positions[0] - scene().cloths[0].positions).max()
    assert moved > 5e-4 * L
    assert np.abs(ends[1].positions[0] - ends[0].positions[0]).max() < 1e-6 * L


def test_every_outer_iteration_reduces_the_error():
    wanted = last(hung("projective"), solver("implicit_euler", 60.0), 1).positions[0]
    errors = [np.linalg.norm(last(hung("projective"), solver("projective_dynamics", 60.0, k), 1).positions[0] - wanted)
              for k in (1, 2, 4, 8, 16, 32, 64)]
    assert (np.diff(errors) < 0.0).all(), errors
    assert errors[-1] < 0.1 * errors[0]


def test_the_default_iterations_bring_cotton_to_the_result_of_newtons_method():
    """With ten iterations the sheet falls much too slowly."""
    mesh, ends = sheet((10, 10), (1.0, 1.0)), {}
    for name, iterations in (("implicit_euler", "converge"), ("projective_dynamics", None), ("projective_dynamics", 5)):
        cloth = core.Cloth(mesh, core.Material.preset("cotton"), model="projective", pins={0: None, 10: None})
        settings = solver(name, 24.0, iterations, self_collision=False, tolerance=1e-3)
        frame = last(core.Scene([cloth]), settings, 10)
        ends[iterations] = frame.positions[0]
        assert frame.certificate.converged == (iterations != 5)
    errors = {k: np.linalg.norm(x - ends["converge"], axis=1).mean() for k, x in ends.items()}
    assert errors[None] < 0.01 < 0.1 < errors[5]


def test_published_conjugate_gradients_and_the_factor_give_the_same_motion():
    ends = [last(hung("projective"), solver("projective_dynamics", 60.0, 10, projective_solve=how), 6)
            for how in ("factor", "cg")]
    assert np.abs(ends[0].positions[0] - ends[1].positions[0]).max() < 1e-7
    assert ends[1].certificate.iterations > 5 * ends[0].certificate.iterations


def test_the_matrix_is_factored_once_for_a_whole_run(monkeypatch):
    made, once = [], ConstantMatrix._made
    monkeypatch.setattr(ConstantMatrix, "_made", lambda *a: made.append(1) or once(*a))
    last(hung("projective"), solver("projective_dynamics", 60.0, 5, tolerance=1e-3), 10)
    assert len(made) == 1


def test_an_unknown_way_to_solve_is_refused():
    with pytest.raises(core.SolverError, match="projective_solve is 'lu'"):
        core.Solver(projective_solve="lu")


# ---------------------------------------------------------------------- with everything else


@both
def test_it_drapes_over_a_ball_without_a_crossing(which):
    if backend.why_not(which):
        pytest.skip(backend.why_not(which))
    mesh = sheet((10, 10), (1.0, 1.0), shift=(-0.5, -0.5, 0.33))
    cloth = core.Cloth(mesh, SOFT, model="projective")
    solid = core.Collider(*ball(0.3, 3), friction=0.3)
    settings = core.Solver(integrator="projective_dynamics", newton_iterations=6, backend=which)
    for frame in core.simulate(core.Scene([cloth], [solid]), settings, range(11)):
        assert frame.certificate.crossings == 0
    x = frame.positions[0]
    assert np.linalg.norm(x, axis=1).min() > 0.29 and x[:, 2].min() < 0.1 and x[:, 2].max() > 0.3


def test_iterations_that_friction_stops_do_not_halve_the_step():
    mesh = sheet((6, 6), (2.0, 2.0), shift=(-1.0, -1.0, 0.53))
    solid = core.Collider(*ball(0.5, 3), friction=0.3)
    settings = core.Solver(integrator="projective_dynamics", steps_per_frame=1, tolerance=1e-2,
                           solid_contact="constraints")
    certificates = [frame.certificate for frame in core.simulate(
        core.Scene([core.Cloth(mesh, core.Material.preset("cotton"))], [solid]), settings, range(1, 11))]
    assert not all(c.converged for c in certificates), "nowhere to go, as this is about"
    assert sum(c.rejected for c in certificates) <= 1


@cases("seed", [0, 2])
def test_cloth_whose_vertices_are_thrown_across_it_is_not_thrown_apart(seed):
    """Its weave resists the more the farther it is stretched, beyond the constant matrix: the solution of the first
    iteration alone was 1e25 m/s, and the sheet ended 1e10 m away."""
    rng, mesh = np.random.default_rng(seed), sheet((8, 8), (0.2, 0.2))
    start = mesh.positions + 0.01 * rng.normal(size=mesh.positions.shape)
    thrown = 100.0 * rng.normal(size=start.shape)
    thrown -= thrown.mean(axis=0)
    cloth = core.Cloth(core.ClothMesh(start, faces=mesh.triangles), core.Material.preset("cotton"), velocities=thrown)
    settings = core.Solver("projective_dynamics", steps_per_frame=2, newton_iterations="converge")
    before, fastest = start, np.linalg.norm(thrown, axis=1).max()
    for frame in core.simulate(core.Scene([cloth], gravity=(0.0, 0.0, 0.0)), settings, range(1, 4)):
        now = frame.positions[0]
        assert np.linalg.norm(now - before, axis=1).max() * 24.0 < 0.1 * fastest
        before = now
