# SPDX-License-Identifier: GPL-3.0-or-later
"""One linearisation is 001's linear system to the letter; Newton's method solves the step's own equations."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.contact.constraints import Constraints
from core.contact.surfaces import SurfaceSet
from core.integrators import created_energy, newton, post_step, turned_edges
from core.integrators.implicit_euler import step
from core.integrators.step_context import StepContext
from core.model.field_forces import Step
from core.model.particle_system import ParticleSystem
from core.stepping.energy import energy_of
from core.stopwatch import Stopwatch
from tests.cases import cases
from tests.core.shapes import grid

H = 1.0 / 30.0
G = np.array([0.0, 0.0, -9.81])
WIND = np.array([3.0, -1.0, 2.0])


def advance(system, state, **settings):
    return step(system, state, H, StepContext.at(system, state, core.Solver(**settings)))


def problem(damping=0.0, air_drag=0.0, viscous_drag=0.0, attached=False):
    """A small crumpled sheet in motion, one corner on a path, perhaps one vertex held in two directions."""
    rng = np.random.default_rng(3)
    mesh = core.ClothMesh(*grid(2, 2))
    fabric = core.Material(areal_density=0.2, stretch=(200.0, 120.0), shear=30.0, bend=(0.0, 0.0), damping=damping,
                           air_drag=air_drag, viscous_drag=viscous_drag)
    attachments = [core.Attachment(8, [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])] if attached else []
    cloth = core.Cloth(mesh, fabric, positions=mesh.positions + 0.03 * rng.normal(size=(9, 3)),
                       velocities=rng.normal(size=(9, 3)), pins={0: lambda t: np.array([0.1 * t, 0.0, t * t])},
                       attachments=attachments)
    return ParticleSystem(core.Scene([cloth], wind=WIND))


def literal_step(system, state, h):
    """(M - h df/dv - h^2 df/dx) dv = h (f + h df/dx v0) on what pins leave free, assembled element by element."""
    x, v, V = state.x, state.v, system.vertex_count
    cloth = system.scene.cloths[0]
    mesh, fabric = cloth.mesh, cloth.material
    f, dfdx, dfdv = np.zeros((V, 3)), np.zeros((3 * V, 3 * V)), np.zeros((3 * V, 3 * V))
    for force in core.stencils.registry.find(cloth.model)(mesh, fabric):
        f += force.force(x, v)                                          # with its damping at v0
        F = force.stencil.gather(x)
        for total, tangent in ((dfdx, force.law.projected_tangent(F, force.parameters)),
                               (dfdv, force.damping_tangent(F) if force.damping else None)):
            if tangent is None:
                continue
            for vertices, block in zip(force.stencil.vertices, force.stencil.blocks(tangent), strict=True):
                for i, vi in enumerate(vertices):
                    for j, vj in enumerate(vertices):
                        total[3 * vi:3 * vi + 3, 3 * vj:3 * vj + 3] -= block[i, j]
    m = system.mass
    f += m[:, None] * G
    for a, b, c in mesh.triangles:            # air: - k_d A (n . (v_mean - wind)) n, in thirds
        n2 = np.cross(x[b] - x[a], x[c] - x[a])
        area, n = 0.5 * np.linalg.norm(n2), n2 / np.linalg.norm(n2)
        k = fabric.air_drag * area
        for i in (a, b, c):
            f[i] -= k * (n @ (v[[a, b, c]].mean(axis=0) - WIND)) * n / 3.0
            for j in (a, b, c):
                dfdv[3 * i:3 * i + 3, 3 * j:3 * j + 3] -= k * np.outer(n, n) / 9.0
    viscous = fabric.viscous_drag * mesh.vertex_areas
    f -= viscous[:, None] * v
    dfdv -= np.diag(np.repeat(viscous, 3))
    A = np.diag(np.repeat(m, 3)) - h * dfdv - h * h * dfdx
    b = h * (f.ravel() + h * dfdx @ v.ravel())
    fixed = np.zeros((3 * V, 0))
    wanted = []
    directions = [(0, axis, np.array([0.1 * h, 0.0, h * h])) for axis in np.eye(3)]
    for attachment in cloth.pins.attachments:
        directions += [(attachment.vertex, d / np.linalg.norm(d), x[attachment.vertex])
                       for d in np.asarray(attachment.directions)]
    for vertex, axis, target in directions:
        column = np.zeros((V, 3))
        column[vertex] = axis
        fixed = np.column_stack([fixed, column.ravel()])
        wanted.append(axis @ ((target - x[vertex]) / h - v[vertex]))
    n = fixed.shape[1]
    saddle = np.block([[A, fixed], [fixed.T, np.zeros((n, n))]])
    dv = np.linalg.solve(saddle, np.concatenate([b, wanted]))[:3 * V].reshape(V, 3)
    return x + h * (v + dv), v + dv


CASES = {
    "bare": {}, "damped": {"damping": 0.02}, "air": {"air_drag": 0.8}, "viscous": {"viscous_drag": 0.5},
    "attached": {"attached": True},
    "everything": {"damping": 0.02, "air_drag": 0.8, "viscous_drag": 0.5, "attached": True},
}


@cases("options", CASES.values(), ids=CASES)
def test_one_linearisation_is_the_published_system_solved_dense(options):
    system = problem(**options)
    state = system.initial_state()
    result = advance(system, state, tolerance=1e-12, newton_iterations=1)
    x, v = literal_step(system, state, H)
    np.testing.assert_allclose(result.state.v, v, atol=1e-9)
    np.testing.assert_allclose(result.state.x, x, atol=1e-10)
    assert result.converged and result.finite
    assert result.state.time == H


def equations(system, state, result, h):
    """m (v1 - v0) - h (f(x1) + f_rate) at the end of a step, the backward Euler residual as an impulse (V, 3)."""
    start = system.predictor.turned_start(state.x, h, system.predictor.rotation_to(state.x, result.state.x))
    rate = system.rate_force(state.x, state.v, state.time + h, Step(h, state.x, state.v, start))
    f = system.elastic(state.time + h).force(result.state.x)
    if rate is not None:
        f = f + rate.push - rate.product(result.state.v)
    return system.mass[:, None] * (result.state.v - state.v) - h * f


@cases("tolerance", [1e-3, 1e-6, 1e-9])
@cases("options", CASES.values(), ids=CASES)
def test_converged_newton_leaves_a_residual_below_tolerance(options, tolerance):
    system = problem(**options)
    state = system.initial_state()
    for _ in range(4):
        result = advance(system, state, tolerance=tolerance, newton_iterations="converge")
        assert result.converged and result.residual <= tolerance
        r = system.pins(state, H).project(equations(system, state, result, H))
        drive = H * system.elastic(state.time + H).force(state.x)
        rate = system.rate_force(state.x, state.v, state.time + H)
        drive = drive + H * rate.push if rate is not None else drive
        change = system.mass[:, None] * (result.state.v - state.v)

        def size(impulse, system=system):
            return np.sqrt(np.sum(impulse ** 2 / system.mass[:, None]))

        free = system.pins(state, H).project
        weight = H * system.mass[:, None] * G
        assert size(r) <= 1.5 * tolerance * max(size(free(drive)), size(free(change)), size(weight))
        state = result.state


def test_a_step_whose_solves_are_cut_short_does_not_say_that_it_has_converged():
    for most in (1, 2, 3, 5):
        system = problem()
        result = advance(system, system.initial_state(), tolerance=1e-9, newton_iterations="converge",
                         max_newton_iterations=most)
        assert result.finite and not result.converged, most
    system = ParticleSystem(problem().scene, assembled=False)               # block Jacobi needs many products
    for most, enough in ((1, False), (3, False), (100, True)):
        result = advance(system, system.initial_state(), tolerance=1e-6, max_linear_iterations=most, matrix="implicit")
        assert result.finite and (result.converged, result.residual <= 1e-6) == (enough, enough), most


def test_newton_ends_at_the_same_place_from_a_single_or_a_tight_solve():
    system = problem()
    state = system.initial_state()
    loose, tight = (advance(system, state, tolerance=t, newton_iterations="converge")
                    for t in (1e-5, 1e-11))
    np.testing.assert_allclose(loose.state.x, tight.state.x, atol=1e-4)
    once = advance(system, state, tolerance=1e-11)
    assert np.abs(once.state.x - tight.state.x).max() > 1e-5, "one linearisation is not backward Euler"


def test_newton_lowers_the_incremental_potential_below_that_of_one_linearisation():
    system = problem()
    state = system.initial_state()

    def potential(result):
        away = result.state.v - state.v
        return 0.5 * np.sum(system.mass[:, None] * away ** 2) + system.elastic(H).energy(result.state.x)

    values = [potential(advance(system, state, tolerance=1e-10, newton_iterations=n))
              for n in (1, 2, 5, "converge")]
    assert values[0] > values[1] >= values[2] - 1e-12 and values[2] >= values[3] - 1e-12


def test_more_newton_iterations_than_needed_change_nothing():
    some, many = (advance(system, system.initial_state(), tolerance=1e-8, newton_iterations=n)
                  for n, system in ((20, problem()), (40, problem())))       # a system learns how to precondition
    np.testing.assert_array_equal(some.state.x, many.state.x)
    assert some.converged


def test_a_crushed_sheet_stays_finite_and_converges():
    """Compressed to a hundredth: far outside the quadratic region, where full Newton steps overshoot.

    The tolerance is a loose one: with tangents made semi-definite, Newton's method is only linear on a buckled sheet.
    """
    mesh = core.ClothMesh(*grid(4, 4))
    rng = np.random.default_rng(1)
    fabric = core.Material(areal_density=0.2, stretch=(500.0, 500.0), shear=100.0)
    cloth = core.Cloth(mesh, fabric, positions=0.01 * (mesh.positions + 0.3 * rng.normal(size=(25, 3))))
    system = ParticleSystem(core.Scene([cloth]))
    state = system.initial_state()
    for _ in range(5):
        result = advance(system, state, tolerance=1e-4, newton_iterations="converge", self_collision=False)
        assert result.finite and result.converged
        energy = system.elastic(0.0).energy
        kinetic = 0.5 * np.sum(system.mass[:, None] * result.state.v ** 2)
        before = 0.5 * np.sum(system.mass[:, None] * state.v ** 2)
        assert kinetic + energy(result.state.x) <= before + energy(state.x) + 1e-9, "backward Euler never gains energy"
        state = result.state


def swinging(speed, carried=(0.0, 0.0, 0.0), model="baraff_witkin"):
    """A flat sheet that turns about its left side, where it is held, and all that moves on at velocity `carried`."""
    mesh, carried = core.ClothMesh(*grid(4, 4)), np.array(carried)
    v = np.zeros((25, 3))
    v[:, 2] = speed * mesh.positions[:, 0]
    held = {int(i): (lambda t, p=mesh.positions[i]: p + t * carried) for i in np.flatnonzero(mesh.positions[:, 0] == 0)}
    fabric = core.Material(areal_density=0.2, stretch=(500.0, 300.0), shear=60.0, bend=(1e-3, 1e-3))
    return ParticleSystem(core.Scene([core.Cloth(mesh, fabric, model, velocities=v + carried, pins=held)]))


def made(system, **settings):
    """Energy [J] that the first step makes, as it says, and how much there is more of it [J] in the end."""
    state = system.initial_state()
    result = advance(system, state, tolerance=1e-10, **settings)
    squares = state.v ** 2 + (H * G) ** 2 + result.state.v ** 2 / 16.0
    before, after = (energy_of(system, s).total for s in (state, result.state))
    return 0.5 * float(np.sum(system.mass[:, None] * squares)) * result.made, after - before


@pytest.fixture
def always_asked(monkeypatch):
    """Every step is asked what it makes, however little its edges grow, and nothing is put right at its end."""
    monkeypatch.setattr(created_energy, "UNCHECKED_STRETCH_ENERGY", -1.0)
    monkeypatch.setattr(turned_edges, "TURNED_GROWTH", np.inf)


@pytest.mark.usefixtures("always_asked")
@cases("model", ["baraff_witkin", "mass_spring"])
@cases("speed", [12.0, 30.0])
def test_a_step_knows_what_energy_it_makes_where_nothing_works_on_the_cloth(speed, model):
    """It turns by 0.4 and by 1; one linearisation takes that for stretch."""
    says, grew = made(swinging(speed, model=model))
    assert grew > 1e-3
    assert says == pytest.approx(grew, rel=1e-6)


@pytest.mark.usefixtures("always_asked")
def test_a_step_knows_what_energy_it_makes_however_pins_carry_the_cloth_along():
    rest, _ = made(swinging(12.0))
    carried, grew = made(swinging(12.0, carried=(40.0, -20.0, 50.0)))
    assert carried == pytest.approx(rest, rel=1e-6)
    assert abs(grew - carried) > 0.1 * carried                                  # the pins' work is none of it


@pytest.mark.usefixtures("always_asked")
def test_a_step_that_is_solved_to_the_end_makes_no_energy():
    assert made(swinging(12.0), newton_iterations="converge")[0] == 0.0


@pytest.mark.usefixtures("always_asked")
def test_what_is_put_right_at_the_end_of_a_step_makes_energy_too(monkeypatch):
    def stretched(*what, **named):
        result = post_step.ended(*what, **named)
        found.append(result.state.x)
        return replace(result, state=replace(result.state, x=1.1 * result.state.x), lengths=1.1 * result.lengths)

    found = []
    system, plain = swinging(12.0), made(swinging(12.0))[0]
    monkeypatch.setattr(newton, "ended", stretched)
    energy = system.elastic(H).energy
    changed = made(system)[0]
    assert changed - plain == pytest.approx(energy(1.1 * found[0]) - energy(found[0]), rel=1e-9)


@cases(("times", "drives"), [(1.0, False), (-30.0, True)])
def test_friction_that_drives_cloth_makes_energy(monkeypatch, times, drives):
    """It should brake; from the contact forces of a pass before that were absurd it drove a sheet at 48 m/s."""
    right = Constraints.friction_force
    monkeypatch.setattr(Constraints, "friction_force", lambda self: times * right(self))
    x, triangles = grid(4, 4)
    cloth = core.Cloth(core.ClothMesh(x + [0.0, 0.0, 0.05], triangles), core.Material.preset("cotton"),
                       velocities=np.tile([1.0, 0.0, 0.0], (25, 1)))
    floor = core.Collider([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]], [[0, 1, 2]], friction=0.5)
    system = ParticleSystem(core.Scene([cloth], [floor]))
    surfaces = SurfaceSet(system.scene.colliders, system.thickness, system.friction.at)
    start = system.initial_state()
    context = StepContext.at(system, start, core.Solver(solid_contact="constraints"), colliders=surfaces)
    result = step(system, start, H, context.between(0.0, H))
    assert (result.state.touch.mode > 0).all() and (result.made > 1.0) == drives


@cases("iterations", [1, "converge"])
def test_momentum_changes_by_weight_alone(iterations):
    mesh = core.ClothMesh(*grid(4, 4))
    rng = np.random.default_rng(2)
    fabric = core.Material(areal_density=0.2, stretch=(500.0, 500.0), shear=100.0, bend=(1e-3, 1e-3), damping=0.01)
    cloth = core.Cloth(mesh, fabric, positions=mesh.positions + 0.05 * rng.normal(size=(25, 3)),
                       velocities=rng.normal(size=(25, 3)))
    system = ParticleSystem(core.Scene([cloth]))
    state, m = system.initial_state(), system.mass[:, None]
    for _ in range(5):
        after = advance(system, state, tolerance=1e-12, newton_iterations=iterations).state
        gained = (m * (after.v - state.v)).sum(axis=0)
        np.testing.assert_allclose(gained, H * m.sum() * G, atol=1e-10)
        state = after


@pytest.mark.parametrize(("model", "compressed", "waves"), [("baraff_witkin", 0.02, 1e-4), ("mass_spring", 0.1, 1e-6)])
def test_an_exact_matrix_that_is_indefinite_rejects_no_step(model, compressed, waves):
    """Compressed cloth buckles in any direction, so its exact matrix is indefinite. Newton's method tries it close to
    the solution, and goes on with the semi-definite one instead."""
    i, j = (part.ravel() for part in np.indices((11, 11)))
    positions = 0.05 * np.column_stack([i, j, np.zeros(len(i))])
    corner = np.flatnonzero((i < 10) & (j < 10))
    quads = np.column_stack([corner, corner + 11, corner + 12, corner + 1])
    start = positions * [1.0 - compressed, 1.0, 1.0]
    start[:, 2] += waves * np.sin(1.7 * np.arange(len(start)))
    cloth = core.Cloth(core.ClothMesh(positions, faces=quads), core.Material.preset("cotton"), model, positions=start,
                       pins=dict.fromkeys(np.flatnonzero((i == 0) | (i == 10)).tolist()))
    settings = core.Solver(newton_iterations=4, steps_per_frame=1, tolerance=1e-2, self_collision=False)
    frames = list(core.simulate(core.Scene([cloth], gravity=(0.0, 0.0, 0.0)), settings, range(1, 6)))
    assert sum(frame.certificate.rejected for frame in frames) == 0


def test_the_stopwatch_knows_where_the_time_went():
    watch = Stopwatch()
    system = problem()
    step(system, system.initial_state(), H, StepContext.at(system, system.initial_state(), core.Solver(), watch))
    assert {"forces", "assembly", "solve"} <= set(watch.take())
    assert watch.take() == {}
