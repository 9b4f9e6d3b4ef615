# SPDX-License-Identifier: GPL-3.0-or-later
"""Quadratic drag and lift of the air: speeds of falling sheets, the angle of a sheet hung in wind, order of
convergence, derivatives, and that drag takes energy away at any step.
"""

import numpy as np
import pytest

import core
from core.description.scene import AIR_DENSITY
from core.errors import MaterialError, SceneError
from core.kernels.formulas.drag import tangent_weight
from core.model.field_forces import Step
from core.model.particle_system import ParticleSystem
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, fixed_steps, run, settle, sheet
from tests.core.shapes import grid

C_N, C_T = 1.2, 0.02
STILL = {"gravity": (0.0, 0.0, 0.0)}


def fabric(sigma, **changes):
    return core.Material(**{"areal_density": sigma, "stretch": 2e3, "shear": 500.0, "drag_coefficient": C_N, **changes})


def turned(mesh, degrees):
    """A mesh turned about y."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return core.ClothMesh(mesh.positions @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]), mesh.triangles)


def falling(sigma, h, time, degrees=0.0, backend=None, scene=None, **changes):
    """Velocities (V, 3) and fall [m] of a sheet after `time` [s], and its fabric; one linear solve a step."""
    mesh = turned(sheet((3, 2), (0.6, 0.4)), degrees)
    cloth = core.Cloth(mesh, fabric(sigma, **changes))
    solver = fixed_steps(h, newton_iterations=1, integrator="bdf2", backend=backend)
    last = run(core.Scene([cloth], **(scene or {})), solver, round(time / h))[-1]
    return last.velocities[0], (mesh.positions - last.positions[0])[:, 2].mean()


def fall(sigma, coefficient, time, density=AIR_DENSITY):
    """Speed [m/s] and way [m] of m v' = m g - rho/2 C A v^2: with T = g t / v_inf, v_inf tanh T and
    v_inf^2/g log cosh T.
    """
    end = np.sqrt(2.0 * sigma * GRAVITY / (density * coefficient))
    return end * np.tanh(GRAVITY * time / end), end ** 2 / GRAVITY * np.log(np.cosh(GRAVITY * time / end))


@cases(("sigma", "density"), [(0.05, AIR_DENSITY), (0.15, AIR_DENSITY), (0.4, 3.0)])
def test_a_horizontal_sheet_falls_as_the_hyperbolic_tangent(sigma, density):
    for time in (0.125, 0.25, 1.0):
        v, way = falling(sigma, 1 / 240, time, scene={"air_density": density})
        speed, length = fall(sigma, C_N, time, density)
        assert -v[:, 2] == pytest.approx(speed, rel=1e-3)
        assert way == pytest.approx(length, rel=4e-3)
        assert np.abs(v[:, :2]).max() < 1e-9


@pytest.mark.parametrize("h", [1 / 6, 1 / 24])
def test_the_speed_of_a_light_sheet_ends_right_at_any_step(h):
    v, _ = falling(0.02, h, 4.0)
    assert -v[:, 2] == pytest.approx(fall(0.02, C_N, 4.0)[0], rel=1e-4)


def test_a_sheet_that_falls_edge_on_is_slowed_by_the_friction_of_its_sides():
    v, _ = falling(0.15, 1 / 240, 0.5, degrees=90.0, skin_friction=1.0)
    assert -v[:, 2] == pytest.approx(fall(0.15, 1.0, 0.5)[0], rel=2e-3)
    assert -falling(0.15, 1 / 240, 0.5, degrees=90.0)[0][:, 2] == pytest.approx(0.5 * GRAVITY, rel=1e-3)


def test_one_linear_solve_a_step_is_of_second_order(backend):
    """Speed and way of a sheet, across and along: halved steps leave a quarter of the error."""
    for degrees, coefficients in ((0.0, {}), (90.0, {"skin_friction": 1.0})):
        speed, length = fall(0.1, coefficients.get("skin_friction", C_N), 0.25)
        errors = []
        for h in (1 / 48, 1 / 96, 1 / 192):
            v, way = falling(0.1, h, 0.25, degrees, backend, **coefficients)
            errors.append((abs(-v[:, 2].mean() - speed), abs(way - length)))
        ratios = np.array(errors[:-1]) / np.array(errors[1:])
        assert (ratios > 3.6).all()


@cases("s", [0.2, 3.0])
def test_the_terminal_speed_is_that_of_the_law_with_slow_drag(backend, s):
    """c sqrt(v^2 + s^2) v = sigma g."""
    v, _ = falling(0.15, 1 / 24, 8.0, backend=backend, slow_drag_speed=s)
    square = 2.0 * 0.15 * GRAVITY / (AIR_DENSITY * C_N)
    assert -v[:, 2] == pytest.approx(np.sqrt(np.hypot(0.5 * s * s, square) - 0.5 * s * s), rel=1e-6)


def swings(sigma, h, time, **changes):
    """Displacements (T, V) [m] along y in the second half of `time` [s], of a narrow sheet hung still that is pushed
    with up to 2 mm/s, and their times (T,) [s].
    """
    flat = sheet((8, 1), (0.4, 0.05))
    x = flat.positions[:, :1] * [0.0, 0.0, -1.0] + flat.positions[:, 1:2] * [1.0, 0.0, 0.0]
    cloth = core.Cloth(core.ClothMesh(x, flat.triangles), fabric(sigma, **changes), pins=dict.fromkeys(range(2)),
                       velocities=np.outer(-5e-3 * x[:, 2], [0.0, 1.0, 0.0]))
    frames = run(core.Scene([cloth]), fixed_steps(h, newton_iterations=1, integrator="bdf2"), round(time / h))
    last = frames[len(frames) // 2:]
    return np.array([f.positions[0][:, 1] for f in last]), np.array([f.time for f in last])


def test_slow_swings_die_away_exponentially_at_the_rate_of_their_linear_drag():
    """Every mode decays with c s / (2 sigma), because drag and mass are in proportion everywhere."""
    sigma, s = 0.2, 0.1
    free, _ = swings(sigma, 1 / 60, 4.0, drag_coefficient=0.0)
    slowed, times = swings(sigma, 1 / 60, 4.0, slow_drag_speed=s)
    rate = 0.5 * AIR_DENSITY * C_N * s / (2.0 * sigma)
    grown_back = slowed * np.exp(rate * times)[:, None]
    assert np.sqrt(np.mean(grown_back ** 2) / np.mean(free ** 2)) == pytest.approx(1.0, rel=0.03)
    assert np.sqrt(np.mean(slowed ** 2) / np.mean(free ** 2)) < 0.65


def hung(sigma, speed, heading, diagonals="right"):
    """Angles (8, 5) [degrees] from the vertical of the rows of a sheet hung in a wind of this speed, and the exact one.

    sigma g sin(a) = rho/2 C_N (U cos(a))^2.
    """
    flat = sheet((8, 4), (0.4, 0.2), diagonals)
    to = np.array([np.cos(np.radians(heading)), np.sin(np.radians(heading)), 0.0])
    aside = np.array([-to[1], to[0], 0.0])
    x = flat.positions[:, :1] * [0.0, 0.0, -1.0] + flat.positions[:, 1:2] * aside
    cloth = core.Cloth(core.ClothMesh(x, flat.triangles, grain=(0, 0, 1)), fabric(sigma), pins=dict.fromkeys(range(5)))
    x = settle(core.Scene([cloth], wind=speed * to), 0.2, 60).positions[0].reshape(9, 5, 3)
    k = 0.5 * AIR_DENSITY * C_N * speed ** 2 / (sigma * GRAVITY)
    return (np.degrees(np.arctan2((x[1:] - x[:1]) @ to, -(x[1:] - x[:1])[..., 2])),
            np.degrees(np.arcsin((np.sqrt(1.0 + 4.0 * k * k) - 1.0) / (2.0 * k))))


@cases(("sigma", "speed", "heading", "diagonals"), [(0.2, 1.0, 0.0, "right"), (0.1, 1.0, -50.0, "alternating"),
                                                    (0.4, 2.0, 90.0, "right")])
def test_a_sheet_hung_in_wind_balances_weight_and_pressure(sigma, speed, heading, diagonals):
    angles, wanted = hung(sigma, speed, heading, diagonals)
    assert np.abs(angles - wanted).max() < 0.5


def test_wind_of_a_force_field_is_the_wind_of_the_scene():
    field = core.ForceField("wind", core.field_values(strength=2.0, z=-1.0), "plane")
    cloth = core.Cloth(core.ClothMesh(*grid(4, 3)), fabric(0.2, skin_friction=C_T))
    systems = [ParticleSystem(core.Scene([cloth], **world))
               for world in ({"fields": [field]}, {"wind": (0.0, 0.0, 2.0)})]
    x, v = np.random.default_rng(4).normal(size=(2, 20, 3)) * [[[0.01]], [[1.0]]] + systems[0].nodes.start
    forces = [air_force(system, x, v) for system in systems]
    np.testing.assert_allclose(*forces, rtol=1e-12, atol=1e-15)


# ---------------------------------------------------------------------- the law on triangles


def crumpled(wind=(2.0, -1.0, 0.5), **changes):
    """A system of a crumpled sheet, with three fields (V, 3): positions, velocities, changes of velocities."""
    cloth = core.Cloth(core.ClothMesh(*grid(5, 4)), fabric(0.2, **{"skin_friction": C_T, **changes}))
    system = ParticleSystem(core.Scene([cloth], wind=wind, **STILL))
    rng = np.random.default_rng(5)
    x = system.initial_state().x
    return system, x + 0.02 * rng.normal(size=x.shape), rng.normal(size=x.shape), rng.normal(size=x.shape)


def air_force(system, x, v):
    """The force of the air (V, 3) [N]."""
    rate = system.rate_force(x, v, 0.0)
    return rate.push - rate.product(v)


@cases("s", [0.0, 0.7])
def test_the_force_on_a_triangle_is_that_of_the_law_and_has_two_equal_sides(backend, s):
    system, x, v, _ = crumpled(slow_drag_speed=s)
    wanted = np.zeros_like(x)
    for corners in system.triangles:
        a, b, c = x[corners]
        normal = np.cross(b - a, c - a)
        area, n = 0.5 * np.linalg.norm(normal), normal / np.linalg.norm(normal)
        w = [2.0, -1.0, 0.5] - v[corners].mean(axis=0)
        along = w - (w @ n) * n
        pressure, friction = C_N * np.hypot(w @ n, s) * (w @ n) * n, C_T * np.linalg.norm(along) * along
        force = 0.5 * AIR_DENSITY * area * (pressure + friction)
        wanted[corners] += force / 3.0
    np.testing.assert_allclose(air_force(system, x, v), wanted, atol=1e-13 * np.abs(wanted).max())
    other = core.Cloth(core.ClothMesh(system.nodes.start, system.triangles[:, ::-1]), system.scene.cloths[0].material)
    turned_over = ParticleSystem(core.Scene([other], wind=(2.0, -1.0, 0.5), **STILL))
    np.testing.assert_allclose(air_force(turned_over, x, v), wanted, atol=1e-13 * np.abs(wanted).max())


@cases("s", [0.0, 0.7])
def test_the_derivative_is_that_of_the_force_symmetric_and_semi_definite(backend, s):
    system, x, v, u = crumpled(slow_drag_speed=s)
    h = 1e-6
    change = (air_force(system, x, v + h * u) - air_force(system, x, v - h * u)) / (2.0 * h)
    rate = system.rate_force(x, v, 0.0)
    np.testing.assert_allclose(rate.product(u), -change, atol=1e-6 * np.abs(change).max())
    assert np.vdot(v, rate.product(u)) == pytest.approx(np.vdot(u, rate.product(v)), rel=1e-10)
    D = np.array([rate.product(e.reshape(-1, 3)).ravel() for e in np.eye(3 * len(x))])
    assert np.linalg.eigvalsh(0.5 * (D + D.T)).min() > -1e-12 * np.abs(D).max()


def test_a_step_takes_the_air_at_its_predicted_end(backend):
    """The force at the velocities of the step's start, on the triangles of its end."""
    system, x, v, _ = crumpled()
    rate = system.rate_force(x + 9.0, v, 0.0, Step(0.01, x - 0.01 * v, v))
    np.testing.assert_allclose(rate.push - rate.product(v), air_force(system, x, v), atol=1e-12)


def test_cloth_that_goes_with_the_wind_feels_none(backend):
    system, x, _, _ = crumpled()
    with_wind = np.tile([2.0, -1.0, 0.5], (len(x), 1))
    assert np.abs(air_force(system, x, with_wind)).max() < 1e-14
    assert np.abs(air_force(system, x, 0.0 * x)).max() > 1e-3


@cases("changes", [{"skin_friction": 0.0}, {"skin_friction": 0.3}, {"slow_drag_speed": 5.0}])
def test_the_air_takes_energy_from_every_motion(backend, changes):
    system, x, v, _ = crumpled(wind=(0.0, 0.0, 0.0), **changes)
    assert np.vdot(v, air_force(system, x, v)) < 0.0


def test_no_step_gains_energy_from_the_air_whatever_else_stops_it():
    """Of implicit Euler from p to any q: m/2 (q^2 - p^2) grows by the work of the air and of what else acts, which is

    all of it but -m/2 (q - p)^2 - (k |p| ((1 + w) q - w p) + l q) q. With w = 1 it fails for k |p| > 2 m.
    """
    q = np.linspace(-2.0, 2.0, 801)
    for impulse in (0.0, 0.1, 1.9, 2.1, 10.0, 1e6):
        w = tangent_weight(np.float64(impulse), np.float64(1.0))
        assert (w == 1.0) == (impulse <= 2.0)
        for linear in (0.0, 0.3, 30.0):                                     # the part that is linear at slow speeds
            work = -(impulse * ((1.0 + w) * q - w) + linear * q) * q
            assert (-0.5 * (q - 1.0) ** 2 + work).max() <= 1e-12 * (1.0 + impulse)
    assert (-0.5 * (q - 1.0) ** 2 - 10.0 * (2.0 * q - 1.0) * q).max() > 0.1


@pytest.mark.parametrize("integrator", ["bdf2", "implicit_euler"])
@pytest.mark.parametrize("h", [1 / 4, 1 / 24, 1 / 200])
@pytest.mark.parametrize("s", [0.0, 0.2, 5.0])
def test_a_thrown_sheet_loses_energy_in_every_step_of_any_size(h, integrator, s):
    flat = sheet((6, 4), (0.6, 0.4))
    rng = np.random.default_rng(2)
    v = 6.0 * np.cross([0.3, 1.0, 0.2], flat.positions) + [3.0, 0.0, 8.0] + 0.3 * rng.normal(size=flat.positions.shape)
    cloth = core.Cloth(flat, fabric(0.03, skin_friction=0.05, slow_drag_speed=s, stretch=200.0, shear=50.0),
                      velocities=v)
    solver = fixed_steps(h, integrator=integrator, measure_energy=True)
    energies = [f.certificate.energy for f in run(core.Scene([cloth], **STILL), solver, 12)]
    total = np.array([e.total for e in energies])
    assert (np.diff(total) < 0.0).all()


# ---------------------------------------------------------------------- which law acts


def test_linear_drag_acts_instead_where_it_is_given():
    for air_drag in (0.0, 0.5):
        both, alone = (ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(*grid(4, 3)), made)], wind=(1.0, 2.0, 3.0)))
                       for made in (fabric(0.2, skin_friction=C_T, air_drag=air_drag),
                                    core.Material(areal_density=0.2, stretch=2e3, shear=500.0, air_drag=air_drag)))
        v = np.random.default_rng(1).normal(size=(both.vertex_count, 3))
        assert np.array_equal(both.force(both.nodes.start, v, 0.0), alone.force(alone.nodes.start, v, 0.0))
    assert core.Material.preset("cotton").air_drag is None
    assert core.Material.preset("cotton").drag_coefficient > 0.0


def test_there_is_no_drag_in_a_vacuum():
    cloth = core.Cloth(core.ClothMesh(*grid(4, 3)), fabric(0.2))
    system = ParticleSystem(core.Scene([cloth], air_density=0.0, wind=(5.0, 0.0, 0.0)))
    assert system.rate_force(system.nodes.start, system.nodes.velocities, 0.0) is None


def test_coefficients_may_change_over_time():
    keyed = core.KeyedMaterial(fabric(0.2), {"drag_coefficient": lambda t: 2.0 * t, "skin_friction": lambda t: t})
    systems = [ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(*grid(4, 3)), made)], wind=(1.0, 2.0, 3.0)))
               for made in (keyed, fabric(0.2, drag_coefficient=1.0, skin_friction=0.5))]
    x = systems[0].nodes.start
    v = np.random.default_rng(1).normal(size=x.shape)
    forces = [system.force(x, v, time) for system, time in zip(systems, (0.5, 0.0), strict=True)]
    np.testing.assert_allclose(*forces, rtol=1e-12, atol=1e-15)
    assert np.array_equal(systems[0].force(x, v, 0.0), systems[0].force(x, 0.0 * v, 0.0))
    linear = core.KeyedMaterial(fabric(0.2), {"air_drag": lambda t: t})
    system = ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(*grid(4, 3)), linear)]))
    assert np.array_equal(system.force(x, v, 0.0), system.force(x, 0.0 * v, 0.0))


@cases("value", [-1.0, np.nan, np.inf, "thin", None, True])
def test_a_wrong_density_or_coefficient_is_refused_by_name(value):
    cloth = core.Cloth(core.ClothMesh(*grid(2, 2)), fabric(0.2))
    with pytest.raises(SceneError, match="air_density is .*number from 0"):
        core.Scene([cloth], air_density=value)
    for name in ("drag_coefficient", "skin_friction", "slow_drag_speed"):
        with pytest.raises(MaterialError, match=f"{name} is .*0 or more"):
            fabric(0.2, **{name: value})
