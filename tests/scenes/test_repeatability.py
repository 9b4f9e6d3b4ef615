# SPDX-License-Identifier: GPL-3.0-or-later
"""The repeatability scenes give the same bytes in every run, and cover what they are there to cover."""

import subprocess
import sys
from pathlib import Path

import pytest

import core
from tests.scenes.repeatability import BACKENDS, available, run
from tests.scenes.repeatability_scenes import SCENES

ROOT = Path(__file__).resolve().parents[2]
FRAMES = {"numpy": 1, "numba": 2}
"""Frames of each simulation that are compared here; `python -m tests.scenes.repeatability` runs all."""


def test_the_scenes_have_every_model_integrator_and_way_to_solve():
    acts = [act for scene in SCENES.values() for act in scene()]
    solvers = [core.Solver(**act.settings) for act in acts]
    assert {cloth.model for act in acts for cloth in act.scene.cloths} == set(core.models())
    assert {solver.integrator for solver in solvers} == set(core.integrators())
    for name, values in {"matrix": {"assembled", "implicit"}, "projective_solve": {"factor", "cg"},
                         "solid_contact": {"constraints", "springs"}, "self_collision": {True, False},
                         "newton_iterations": {None, 1, 10, "converge"}, "measure_energy": {True, False},
                         "resolve_start": {True, False}}.items():
        assert {getattr(solver, name) for solver in solvers} == values


@pytest.mark.once
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_second_run_and_another_process_give_the_same_bytes(backend):
    """The second run is in reverse order: nothing may be left over from the scenes before."""
    if backend not in available():
        pytest.skip(f"no {backend} here")
    first = {name: run(name, backend, FRAMES[backend]) for name in SCENES}
    second = {name: run(name, backend, FRAMES[backend]) for name in reversed(SCENES)}
    assert first == second
    command = [sys.executable, "-m", "tests.scenes.repeatability", "--backend", backend]
    other = subprocess.run([*command, "--frames", str(FRAMES[backend])], cwd=ROOT, capture_output=True, text=True,
                           timeout=600, check=False)
    assert other.returncode == 0, other.stderr
    assert other.stdout.splitlines()[:-1] == [first[name].line for name in SCENES]
    rejecting = [name for name, outcome in first.items() if outcome.rejected]
    assert len(rejecting) >= 3 and "twisted" in rejecting            # the one without colliders
