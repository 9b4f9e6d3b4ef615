# SPDX-License-Identifier: GPL-3.0-or-later
"""What is simulated to have kernels compiled: every model on a mesh that it takes."""

import sys
from dataclasses import replace

import pytest

import core
from core.kernels import backend
from tests.cases import cases

warm_up = sys.modules["core.stepping.jit_warmup"]


@pytest.mark.parametrize("part", warm_up._PARTS, ids=lambda part: part.__name__)
@pytest.mark.parametrize("model", core.models())
def test_every_model_is_warmed_up_on_a_mesh_that_it_takes(model, part):
    solver = core.Solver(backend="numpy", steps_per_frame=1, frame_rate=warm_up.FRAME_RATES[0])
    assert len(list(core.simulate(part(model), solver, range(2)))) == 2


@cases("integrator", core.integrators())
def test_every_integrator_can_take_one_of_the_two_steps(integrator):
    taken = []
    for rate in warm_up.FRAME_RATES:
        solver = core.Solver(backend="numpy", integrator=integrator, steps_per_frame=1, frame_rate=rate)
        try:
            taken.append(len(list(core.simulate(warm_up._PARTS[0]("baraff_witkin"), solver, range(2)))))
        except core.SolverError:
            continue
    assert 2 in taken


def test_a_model_or_integrator_that_refuses_says_nothing_of_numba(monkeypatch):
    if backend.why_not("numba"):
        pytest.skip("there is no Numba")

    def refuses(*_):
        raise core.SolverError("steps are too long")

    monkeypatch.setattr(warm_up, "_done", set())
    monkeypatch.setattr(warm_up, "simulate", refuses)
    list(core.warm_up(replace(core.Solver(), backend=None)))
    assert backend.choose(None) == "numba"


def test_limit_stretch_is_compiled_before_the_first_frame(monkeypatch):
    if backend.why_not("numba"):
        pytest.skip("there is no Numba")
    called = []
    monkeypatch.setattr(warm_up, "_done", set())
    monkeypatch.setattr(warm_up, "_simulate", lambda *_: None)
    with backend.using("numba"):
        strain = backend.current().strain
    relax = strain.relax
    monkeypatch.setattr(strain, "relax", lambda *a: called.append([x.dtype for x in a[:9]]) or relax(*a))
    list(core.warm_up(core.Solver(backend="numba")))
    assert called


def test_energies_are_compiled_before_the_first_frame(monkeypatch):
    """A step asks for them where cloth hits something, which what is simulated here need not do."""
    if backend.why_not("numba"):
        pytest.skip("there is no Numba")
    weighed = set()
    monkeypatch.setattr(warm_up, "_done", set())
    with backend.using("numba"):
        families = backend.current().element_families
    energy = families.energy
    monkeypatch.setattr(families, "energy", lambda family, x: weighed.update(
        type(force.law).__name__ for force in family) or energy(family, x))
    list(core.warm_up(core.Solver("bdf2", backend="numba", steps_per_frame=1)))
    build, sheet = core.stencils.registry.find("baraff_witkin"), warm_up._sheet(0.0, 4)
    laws = {type(force.law).__name__ for buckling in (False, True)                  # the second is Blender's default
            for force in build(sheet, warm_up.FABRIC, buckling=buckling)}
    assert laws <= weighed


def test_the_search_for_nearest_triangles_is_compiled_before_the_first_frame(monkeypatch):
    """Contact asks for it where something crosses or goes round an edge."""
    if backend.why_not("numba"):
        pytest.skip("there is no Numba")
    called = []
    monkeypatch.setattr(warm_up, "_done", set())
    with backend.using("numba"):
        queries = backend.current().surface_queries
    nearest = queries.nearest
    monkeypatch.setattr(queries, "nearest", lambda *a: called.append(len(a)) or nearest(*a))
    list(core.warm_up(core.Solver("bdf2", backend="numba", steps_per_frame=1)))
    assert called
