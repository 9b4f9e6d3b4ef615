# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy in the certificate: closed forms, and that it never grows where nothing drives."""

import numpy as np
import pytest

import core
from core.kernels import backend, using
from core.model.particle_system import ParticleSystem
from tests.core.shapes import grid

FABRIC = core.Material(areal_density=0.3, stretch=400.0, shear=100.0, bend=1e-4)


def square(**options):
    x = np.array([[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [1.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    return core.Cloth(core.ClothMesh(x, [[0, 1, 2], [0, 2, 3]]), FABRIC, **options)


def energies(cloth, frames, **options):
    scene = core.Scene([cloth], gravity=options.pop("gravity", (0.0, 0.0, -9.81)))
    solver = core.Solver(measure_energy=True, backend="numpy", **options)
    return [frame.certificate.energy for frame in core.simulate(scene, solver, range(1, frames + 1))]


def test_a_moving_sheet_has_the_energy_of_its_speed_and_of_its_height():
    first = energies(square(velocities=np.tile([3.0, 0.0, 4.0], (4, 1))), 1)[0]
    assert first.kinetic == pytest.approx(0.5 * 0.3 * 25.0)
    assert first.weight == pytest.approx(0.3 * 9.81 * 2.0)
    assert first.elastic == pytest.approx(0.0, abs=1e-12)


def test_a_stretched_sheet_has_half_k_times_the_strain_squared_per_area():
    cloth = square()
    stretched = square(positions=cloth.positions * [1.1, 1.0, 1.0])
    assert energies(stretched, 1)[0].elastic == pytest.approx(0.5 * 400.0 * 0.1 ** 2)


def test_a_sheet_in_free_fall_keeps_its_energy_to_the_order_of_the_step():
    found = energies(square(), 7, integrator="bdf2", steps_per_frame=4)
    fallen = 0.3 * 9.81 * 0.5 * 9.81 * (6 / 24) ** 2
    assert found[-1].kinetic == pytest.approx(fallen, rel=1e-6)
    assert found[-1].total == pytest.approx(found[0].total, abs=1e-9)


def test_energy_never_grows_in_implicit_euler_solved_to_convergence():
    cloth = square()
    shaken = square(positions=cloth.positions * [1.2, 0.9, 1.0], pins={0: None})
    totals = [energy.total for energy in energies(shaken, 12, newton_iterations="converge", tolerance=1e-8)]
    assert all(after <= before + 1e-10 for before, after in zip(totals[:-1], totals[1:], strict=True))
    assert totals[-1] < totals[0]


def test_without_asking_nothing_is_measured():
    frame = next(core.simulate(core.Scene([square()]), core.Solver(backend="numpy"), range(1, 3)))
    assert frame.certificate.energy is None and frame.certificate.as_dict()["energy"] is None


@pytest.mark.skipif(bool(backend.why_not("numba")), reason="compares both backends")
def test_the_energy_of_many_elements_is_the_same_compiled_and_to_the_bit_on_any_number_of_threads():
    from core.kernels.numba.thread_pool import thread_limit

    system = ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(*grid(37, 41)), FABRIC)]))
    x = system.initial_state().x * 1.1 + 0.01 * np.random.default_rng(0).normal(size=(system.vertex_count, 3))
    found = []
    for threads in (1, 2, 3):
        token = thread_limit.set(threads)
        with using("numba"):
            found.append(system.elastic(0.0).energy(x.copy()))
        thread_limit.reset(token)
    with using("numpy"):
        assert found == [found[0]] * 3 and found[0] == pytest.approx(system.elastic(0.0).energy(x.copy()), rel=1e-12)
