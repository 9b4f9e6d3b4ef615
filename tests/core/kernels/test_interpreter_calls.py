# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a frame goes through the interpreter to hand out a loop, by count: the machine's load has no influence."""

from collections import Counter

import pytest

import core
from core.kernels import backend
from tests.core.shapes import ball, grid

if backend.why_not("numba"):
    pytest.skip("needs Numba", allow_module_level=True)

from core.kernels.numba import thread_pool

COTTON = core.Material.preset("cotton")
FRAMES = 6
MOST_HANGING, MOST_DRAPED = 80, 200
"""Most loops that Python hands out in a frame of one step: of a sheet in the air, of which some steps are solved again
at the rotations that were found, and of one on a ball."""


def hanging():
    x, t = grid(24, 24, size=(1.0, 1.0))
    return core.Scene([core.Cloth(core.ClothMesh(x, t), COTTON, pins={0: None, 24: None})])


def draped():
    x, t = grid(24, 24, size=(1.0, 1.0))
    solid = core.Collider(*ball(0.3), friction=0.3)
    return core.Scene([core.Cloth(core.ClothMesh(x - [0.5, 0.5, 0.0] + [0.0, 0.0, 0.31], t), COTTON)], [solid])


def counted(scene, monkeypatch, tolerance=1e-2):
    """Return calls by kernel, iterations and steps of the last frames."""
    calls, called = Counter(), thread_pool._called

    def count(kernel, *given):
        calls[kernel.__qualname__] += 1
        return called(kernel, *given)

    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=tolerance, backend="numba")
    coming = core.simulate(scene, solver, frames=range(1, FRAMES + 3))
    for _ in range(2):
        next(coming)
    with monkeypatch.context() as patch:
        patch.setattr(thread_pool, "_called", count)
        certificates = [frame.certificate for frame in coming]
    return calls, sum(c.iterations for c in certificates), sum(c.steps + c.rejected for c in certificates)


@pytest.mark.parametrize(("scene", "most"), [(hanging, MOST_HANGING), (draped, MOST_DRAPED)])
def test_a_frame_hands_out_few_loops(scene, most, monkeypatch):
    calls, _, steps = counted(scene(), monkeypatch)
    assert steps >= FRAMES and 0 < sum(calls.values()) <= most * steps, calls


def test_iterations_hand_out_no_loops(monkeypatch):
    """A solve is one call, however many iterations it takes."""
    few, one, _ = counted(hanging(), monkeypatch, 1e-2)
    many, more, _ = counted(hanging(), monkeypatch, 1e-6)
    assert more >= one + 2 * FRAMES and few["_solve"] >= FRAMES and many["_solve"] == few["_solve"]
    inside = ("advance_in_parts", "turn_numbers", "sums_of_groups", "values_of_vertices", "solve_all", "packed.product")
    assert not [name for name in many if any(part in name for part in inside)]
