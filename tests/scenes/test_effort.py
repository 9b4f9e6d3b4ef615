# SPDX-License-Identifier: GPL-3.0-or-later
"""The work of a frame in dense contact is bounded, by counts: passes, rejected steps, short steps."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.integrators import post_step
from core.integrators.clearance import Clearance
from core.integrators.contact_loop import ContactLoop
from core.integrators.post_step import StepResult
from core.model.particle_system import ParticleSystem
from core.state import StepControl
from core.stepping.adaptive_stepper import StepRecord
from core.stepping.step_halving import SHORTEST_PART, STEPS_KEPT, Attempt, Reasons, StepHalving, Try
from tests.core.contact.shapes import box
from tests.scenes.scenes_of_colliders import closing_walls, elbow, mirrored
from tests.scenes.scenes_of_crowds import cards, sleeve, struck_sheets
from tests.scenes.scenes_of_folds import towel
from tests.scenes.staging import AS_IN_BLENDER, COTTON, cloth, perform

WHOLE = 64
"""Ticks of the longest step."""


def halving():
    """Rules of a small sheet, and the result of a step that nothing speaks against."""
    system = ParticleSystem(core.Scene([cloth(3, 3, 0.2, 0.2)]))
    return StepHalving(system, core.Solver(), WHOLE), StepResult(system.initial_state(), 1, 0.0, True, True, False)


def accepted(rules, result, control, size=None, done=WHOLE):
    """The control after an accepted step of `size` ticks, less than the control's if that one was rejected."""
    return rules.next(control, Try(control.size if size is None else size, 1e-3, result), for_rest=False, done=done)


def steps_until_longer(rules, result, control):
    """Count accepted steps until a longer step is tried. Return the count and the control at that time."""
    count, size = 0, control.size
    while control.size == size:
        control, count = accepted(rules, result, control), count + 1
    return count, control


def test_a_rejected_length_is_tried_again_after_pauses_that_grow_while_it_is_rejected():
    rules, result = halving()
    control, waited = StepControl(WHOLE, WHOLE), []
    for _ in range(5):
        control = accepted(rules, result, control, WHOLE // 2)                   # the whole one was rejected
        count, control = steps_until_longer(rules, result, control)
        assert control.size == WHOLE
        waited.append(count)
    assert waited == [2, 4, 8, 8, 8] and waited[-1] == STEPS_KEPT
    control = accepted(rules, result, control)                                   # now it is accepted
    assert control.size == WHOLE and control.pause == 0
    count, _ = steps_until_longer(rules, result, accepted(rules, result, control, WHOLE // 2))
    assert count == 2


def test_a_step_that_was_halved_for_rest_alone_is_no_reason_to_wait():
    rules, result = halving()
    control = rules.next(StepControl(WHOLE, WHOLE), Try(WHOLE // 2, 1e-3, result), for_rest=True, done=WHOLE)
    assert control.pause == 0


def test_a_step_whose_halves_create_as_much_energy_is_taken_as_it_is_for_some_steps():
    """Corrections in tight cloth at rest create as much in short steps, which stir it up."""
    rules, result = halving()
    creates = replace(result, made=1e3)
    control, half = StepControl(WHOLE, WHOLE), WHOLE // 2
    first = rules.attempt(control, Try(WHOLE, 1e-3, creates))
    assert first.rejected and first.reasons == Reasons(energy=1e3) and first.size == half
    assert rules.attempt(control, Try(half, 1e-3, replace(result, made=300.0)), first.reasons).rejected   # worth it
    assert not rules.attempt(control, Try(half, 1e-3, result), first.reasons).in_vain
    second = rules.attempt(control, Try(half, 1e-3, creates), first.reasons)
    assert second == Attempt(rejected=False, bad=True, in_vain=True)
    control = rules.next(control, Try(half, 1e-3, creates), for_rest=False, done=half, in_vain=True)
    assert control.pause == 0
    taken = 0
    while not rules.attempt(control, Try(WHOLE, 1e-3, creates)).rejected:
        assert rules.attempt(control, Try(WHOLE, 1e-3, creates)).bad                 # the certificate says so
        assert rules.attempt(control, Try(WHOLE, 1e-3, replace(creates, crosses=True))).rejected
        control, taken = accepted(rules, creates, replace(control, size=WHOLE)), taken + 1
    assert taken == STEPS_KEPT


@pytest.mark.parametrize("wrong", [{"made": 1e3}, {"torn": 1e3}, {"failed": True}, {"crosses": True},
                                   {"overlong": True}, {"spiky": True}])
def test_a_bad_step_of_the_shortest_length_is_accepted_and_the_certificate_says_so(wrong):
    """Corrections of positions become velocities, the higher the shorter the step: shorter ones did worse."""
    rules, result = halving()
    bad, shortest = replace(result, **wrong), WHOLE // SHORTEST_PART
    control = StepControl(WHOLE, WHOLE)
    assert rules.attempt(control, Try(2 * shortest, 1e-3, bad)).rejected
    assert rules.attempt(control, Try(shortest, 1e-3, bad)) == Attempt(rejected=False, bad=True)
    assert rules.attempt(control, Try(shortest, 1e-3, result)) == Attempt(rejected=False, bad=False)
    record = StepRecord()
    record.accept(bad, 1e-3, bad=True)
    assert not record.converged


def test_a_shortest_step_that_nothing_can_be_made_of_is_halved():
    rules, result = halving()
    for wrong in ({"finite": False}, {"hopeless": True, "failed": True}):
        assert rules.attempt(StepControl(WHOLE, WHOLE), Try(WHOLE // SHORTEST_PART, 1e-3, replace(result, **wrong))
                             ).rejected


@pytest.mark.slow
def test_a_towel_that_is_wrung_tight_stays_free_of_crossings_in_a_bounded_number_of_steps():
    """Each of its 11 rows of edges turns by 164 degrees. With 180 or more, straight edges cross whatever they do."""
    staged = towel(12, turns=2.5)
    for frame in core.simulate(staged.scene, core.Solver(**AS_IN_BLENDER), range(1, 91)):
        found = frame.certificate
        assert found.crossings == 0 and found.steps <= SHORTEST_PART and found.rejected <= SHORTEST_PART // 2


def test_a_crossing_where_colliders_leave_no_room_is_no_reason_for_a_shorter_step(monkeypatch):
    """No shorter step prevents it: two bars that close on a sheet had their frame halved down to an eighth."""
    crosses, attempt = [], StepHalving.attempt

    def recorded(self, control, tried, *halved):
        crosses.append(tried.result.crosses)
        return attempt(self, control, tried, *halved)

    monkeypatch.setattr(StepHalving, "attempt", recorded)
    staged = elbow(16)
    found = [frame.certificate for frame in core.simulate(staged.scene, core.Solver(**AS_IN_BLENDER), range(1, 13))]
    assert found[11].crossings_pinched > 0 and not any(crosses)
    assert all(c.crossings == 0 for c in found)


def test_what_is_taken_again_in_halves_is_not_corrected(monkeypatch):
    """Edges that the solve made too long had been shortened, and motions cut, at the cost of many a whole step."""
    tries, attempt = [], StepHalving.attempt

    def recorded(self, control, tried, *halved):
        found = attempt(self, control, tried, *halved)
        tries.append((tried, found))
        return found

    ended, cuts, truncated = [], [], post_step._truncated
    monkeypatch.setattr(StepHalving, "attempt", recorded)
    monkeypatch.setattr(StepRecord, "accept", lambda self, result, h, *, bad=False: ended.append(result))
    monkeypatch.setattr(post_step, "_truncated", lambda *given: cuts.append(len(tries)) or truncated(*given))
    for _ in perform(mirrored(12, box((0.3, 0.3, 0.3)), 0), 16):
        pass
    again = {k for k, (tried, _) in enumerate(tries) if not tried.result.corrected}
    assert again and again.isdisjoint(cuts) and all(result.corrected for result in ended)
    assert all(tries[k][1].rejected and 2 * tries[k][1].size == tries[k][0].size for k in again)


def test_a_step_that_was_not_corrected_is_not_accepted_when_the_effort_ends_after_it(monkeypatch):
    made, meets, accepted_ones = Clearance.__init__, Clearance.meets, []

    def begins(self, state, h, context):
        made(self, state, h, context)
        self.effort = context.effort

    def spends(self, *given):
        self.effort.spent = max(self.effort.spent, self.effort.allowed + 1.0)
        return meets(self, *given)

    def accept(self, result, h, *, bad=False):
        accepted_ones.append(result)
        self.steps += 1

    monkeypatch.setattr(Clearance, "__init__", begins)
    monkeypatch.setattr(Clearance, "meets", spends)
    monkeypatch.setattr(StepRecord, "accept", accept)
    flat = cloth(15, 15, 0.8, 0.8).mesh                                      # whose border is thrown up
    pins = {k: lambda time, at=flat.positions[k]: at + [0.0, 0.0, 40.0 * max(time - 0.1, 0.0)] for k in range(15)}
    sheet = core.Cloth(flat, COTTON, pins=pins, max_elongation=0.05)
    for _ in core.simulate(core.Scene([sheet]), core.Solver(**AS_IN_BLENDER), range(8)):
        pass
    assert accepted_ones and all(result.corrected for result in accepted_ones)


def test_a_pass_without_any_iteration_is_the_last_one(monkeypatch):
    """Contacts that come and go without effect had each pass solve the same system again, until all six were done."""
    loops, passes, solved = [], [], ContactLoop._solved

    def recorded(self, *arguments):
        result = solved(self, *arguments)
        if self not in loops:
            loops.append(self)
            passes.append([])
        passes[-1].append(result.iterations)
        return result

    monkeypatch.setattr(ContactLoop, "_solved", recorded)
    staged = closing_walls(12)
    assert len(list(core.simulate(staged.scene, core.Solver(**AS_IN_BLENDER), range(1, 13)))) == 12
    assert max(len(each) for each in passes) > 3
    assert all(0 not in each[1:-1] for each in passes)
    assert any(each[-1] == 0 for each in passes if len(each) > 1)


@pytest.mark.parametrize(("make", "size", "frames"), [
    (cards, 4, 12), (struck_sheets, 7, 12), pytest.param(struck_sheets, 16, 12, marks=pytest.mark.slow)])
def test_crowds_stay_apart_in_a_bounded_number_of_steps(make, size, frames):
    staged = make(size)
    for frame, found in perform(staged, frames):
        assert found.finite and found.total == 0, f"frame {frame.index}: {found}"
        assert frame.certificate.rejected <= 8 and frame.certificate.steps <= 32


def test_a_sleeve_in_the_crook_of_an_arm_takes_a_bounded_number_of_steps():
    staged = sleeve(14)
    found = [frame.certificate for frame in core.simulate(
        staged.scene, core.Solver(**AS_IN_BLENDER), range(1, staged.frames + 1))]
    assert max(c.rejected for c in found) <= 8 and max(c.steps for c in found) <= 24
    assert found[-1].crossings == 0 and np.isfinite(found[-1].stretch_max)


def test_contact_that_begins_in_cloth_at_rest_makes_the_next_step_shorter_and_rejects_none():
    rules, result = halving()
    presses, h = replace(result, presses=True), 10.0                                 # weight moves it far in that time
    control, near = StepControl(WHOLE, WHOLE), 0.1 * rules._system.self_contact.finest
    assert rules.attempt(control, Try(WHOLE, h, presses)).rejected
    assert rules.attempt(control, Try(WHOLE, h, presses, way=20.0 * near)).rejected
    assert not rules.attempt(control, Try(WHOLE, h, presses, way=near)).rejected
    after = rules.next(control, Try(WHOLE, h, presses, way=near), for_rest=False, done=WHOLE)
    assert after.size == WHOLE // 2
    assert rules.next(control, Try(WHOLE, 1e-3, presses, way=near), for_rest=False, done=WHOLE).size == WHOLE
