# SPDX-License-Identifier: GPL-3.0-or-later
"""The long suite finds what it is to find: each rule fails on frames that break it, and limits name their case."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import core
from tests.long import fuzz, judge, reduce, workers
from tests.long.hostile_scenes import build
from tests.long.recipes import THEMES, draw

FALLING = {
    "seed": 1, "theme": "fall", "frames": 3, "size": 1.0, "origin": [0.0, 0.0, 0.0], "gravity": [0.0, 0.0, -9.81],
    "wind": None, "colliders": [], "solver": {"integrator": "bdf2", "backend": "numpy"},
    "cloths": [{"mesh": {"kind": "sheet", "count": 25, "seed": 1}, "model": "baraff_witkin", "options": {},
                "fabric": {"preset": "cotton", "air_drag": 0.0, "viscous_drag": 0.0}, "place": [0.0, 0.0, 0.0]}],
}


def misbehave(case):
    """Answer a case that is a number; do what else it says."""
    if case == "hang":
        while True:
            pass
    if case == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    print("not an answer")
    return {"twice": 2 * case}


if __name__ == "__main__":
    workers.serve(misbehave)


def test_a_hang_and_a_crash_are_named_and_other_cases_go_on():
    found = list(workers.run("tests.long.test_long_suite", [1, "hang", 2, "crash", 3], 1.0, above=0.0))
    answers = dict(found)
    assert [answers[n] for n in (1, 2, 3)] == [{"twice": 2}, {"twice": 4}, {"twice": 6}]
    assert "processor time" in answers["hang"]["died"] and answers["crash"]["died"] == "SIGSEGV"


def test_a_worker_ends_with_the_process_that_started_it():
    code = ("import os\nfrom tests.long import workers\n"
            "for _ in workers.run('tests.long.test_long_suite', [1, 'hang'], 60.0):\n"
            "    print(open(f'/proc/self/task/{os.getpid()}/children').read(), flush=True)")
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        pytest.skip("no list of child processes here")
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=workers.ROOT, stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        if not os.path.exists(f"/proc/{worker}"):
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    raise AssertionError("the worker runs on")


def test_recipes_are_plain_values_of_every_theme_and_the_same_for_the_same_seed():
    recipes = [draw(seed) for seed in range(300)]
    assert {recipe["theme"] for recipe in recipes} == set(THEMES)
    for seed, recipe in enumerate(recipes):
        assert json.loads(json.dumps(recipe)) == recipe or "NaN" in json.dumps(recipe)
        assert json.dumps(draw(seed)) == json.dumps(recipe)


def test_a_quiet_fall_has_no_failure_and_gives_the_same_bytes_twice():
    record = judge.judge(FALLING, again=True)
    assert record["failures"] == [] and record["refusal"] is None and record["frames"] == 3


def test_what_the_judge_and_a_second_run_take_is_not_time_of_the_scene(monkeypatch):
    clock, step = [0.0], judge.core.simulate
    monkeypatch.setattr(judge.time, "process_time", lambda: clock[0])

    def later(what, seconds):
        def run(*given):
            clock[0] += seconds
            return what(*given)
        return run

    def slow(*given):
        for frame in step(*given):
            clock[0] += 2.0
            yield frame

    monkeypatch.setattr(judge.core, "simulate", slow)
    monkeypatch.setattr(judge.Rules, "look", later(judge.Rules.look, 100.0))
    record = judge.judge(FALLING, again=True)
    assert (record["seconds"], record["slowest"], record["failures"]) == (6.0, 2.0, [])


def pushed(frame):
    state = frame.checkpoint().state
    drifting = replace(frame.checkpoint(), state=replace(state, v=state.v + [1e-4, 0.0, 0.0]))
    return replace(frame, _checkpoint=drifting)


def bent(frame):
    state = frame.checkpoint().state
    x = state.x.copy()
    x[::2, 2] += 1e-3
    x[1::2, 2] -= 1e-3
    moved = replace(state, x=x - x.mean(axis=0) + state.x.mean(axis=0))
    return replace(frame, _checkpoint=replace(frame.checkpoint(), state=moved))


def broken(frame):
    return replace(frame, positions=[x * np.nan for x in frame.positions])


def crossed(frame):
    return replace(frame, certificate=replace(frame.certificate, crossings=3))


def folded(frame):
    x = frame.positions[0].copy()
    right = x[:, 0] > 0.01
    x[right, 2] += 0.3 * x[right, 1] + 0.01
    x[right, 0] *= -0.9
    return replace(frame, positions=[x])


@pytest.mark.parametrize(("change", "kind"), [(pushed, "momentum"), (bent, "momentum"), (broken, "number"),
                                              (crossed, "crossing"), (folded, "audit")])
def test_a_frame_that_breaks_a_rule_is_found(change, kind):
    if kind == "audit":
        pytest.importorskip("ipctk", reason="the independent audit")
    rules = judge.Rules(FALLING, build(FALLING))
    first, *_, last = core.simulate(*vars(build(FALLING)).values())
    rules.look(first)
    rules.look(change(last))
    assert [found for found, _ in rules.found] == [kind], rules.found


@pytest.mark.parametrize(("raised", "kinds"), [
    (core.SolverError("the step has no solution"), ["remedy"]), (core.SolverError("it runs away; raise the steps"), []),
    (ZeroDivisionError("by zero"), ["exception"]), (MemoryError(), ["exception"])])
def test_an_error_is_judged_by_its_class_and_its_remedy(monkeypatch, raised, kinds):
    def simulate(*given):
        raise raised

    monkeypatch.setattr(core, "simulate", simulate)
    record = judge.judge(FALLING)
    assert [kind for kind, _ in record["failures"]] == kinds
    assert (record["refusal"] is not None) == isinstance(raised, core.ClothError)


def test_a_fuzzer_names_the_seed_of_what_is_no_error_of_muslin():
    def odd(rng):
        if rng.random() < 0.5:
            raise KeyError("values")

    fuzz.FUZZERS["odd"] = odd
    try:
        record = fuzz.answer({"fuzzer": "odd", "first": 5, "count": 20})
    finally:
        del fuzz.FUZZERS["odd"]
    assert record["failures"] and all("KeyError" in text for _, text in record["failures"])
    assert all(fuzz.attempt(odd, seed) for seed, _ in record["failures"])


def test_a_reduced_recipe_keeps_only_what_fails(monkeypatch):
    monkeypatch.setattr(reduce, "kinds", lambda recipe, seconds: {"momentum"} if recipe["colliders"] else set())
    recipe = next(r for r in map(draw, range(1000)) if len(r["colliders"]) > 1 and len(r["cloths"]) > 1)
    found, wanted = reduce.reduced(recipe, 1.0)
    assert wanted == {"momentum"} and len(found["colliders"]) == 1 and len(found["cloths"]) == 1
    assert found["frames"] == 2 and set(found["solver"]) <= {"integrator", "backend", "steps_per_frame"}
