# SPDX-License-Identifier: GPL-3.0-or-later
"""Explicit steps where nothing may touch are those of a search for contacts, without one, and miss no contact."""

import numpy as np
import pytest

import core
from core.contact.contact_trial import ContactTrial
from core.integrators.clearance import Clearance
from tests.cases import cases
from tests.core.contact.shapes import sheet

FABRIC = core.Material(areal_density=0.2, stretch=50.0, shear=20.0, bend=1e-6, damping=0.005)
"""Soft, so that steps need not be short, and damped, which explicit Euler needs."""
GAP, SPEED, FRAMES = 0.2, 3.0, 2
"""Distance of both sheets [m], velocity between them [m/s], and number of frames."""
METHODS = ("explicit_euler", "symplectic_euler", "verlet")


def meeting(below):
    """Return a scene in which a sheet meets what is `below` it: a fixed solid or cloth, or a solid that comes up."""
    x, triangles = sheet(4, 3, 0.6, 0.4)
    wide, upper = 1.5 * x, x + [0.0, 0.0, GAP]
    rises = below == "rising solid"
    v = 0.01 * np.random.default_rng(0).normal(size=x.shape) + [0.0, 0.0, 0.0 if rises else -SPEED]
    cloth = core.Cloth(core.ClothMesh(upper, triangles), FABRIC, thickness=0.01, velocities=v)
    if below == "cloth":
        fixed = core.Cloth(core.ClothMesh(wide, triangles, name="Fixed"), FABRIC, pins=dict.fromkeys(range(len(x))),
                           thickness=0.01)
        return core.Scene([fixed, cloth], gravity=(0, 0, 0))
    path = (lambda t: wide + [0.0, 0.0, SPEED * t]) if rises else wide
    return core.Scene([cloth], [core.Collider(path, triangles)], gravity=(0, 0, 0))


def run(scene, method):
    """Return the frames of a scene, and how often each step of a frame began contact of pairs."""
    solver, counts, frames = core.Solver(integrator=method, steps_per_frame=24), [0], []
    begin = ContactTrial.begin

    def counted(*args, **settings):
        counts[-1] += 1
        return begin(*args, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ContactTrial, "begin", counted)
        for frame in core.simulate(scene, solver, range(FRAMES + 1)):
            frames.append(frame)
            counts.append(0)
    return frames, counts[:-1]


@cases("method", METHODS)
@cases("below", ["solid", "rising solid", "cloth"])
def test_steps_look_for_contacts_only_where_something_may_touch(method, below):
    frames, begun = run(meeting(below), method)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Clearance, "may_touch", lambda self: True)
        searched, every = run(meeting(below), method)
    assert begun[0] == begun[1] == 0 < begun[2] and every[1] > 0              # it flies for a frame, and then lands
    if method != "explicit_euler":                                             # which moves by other velocities there
        assert np.abs(frames[1].positions[-1] - searched[1].positions[-1]).max() < 1e-14
    for frame, other in zip(frames, searched, strict=True):
        assert frame.certificate.crossings == other.certificate.crossings == 0
        assert np.abs(frame.positions[-1] - other.positions[-1]).max() < 0.02 * GAP


@cases("method", METHODS)
def test_a_step_that_meets_what_was_not_foreseen_is_taken_again_with_contacts(method):
    """The forecast says that nothing is near; the test of the finished step finds the contact."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Clearance, "may_touch", lambda self: False)              # as if nothing was ever foreseen
        frames, begun = run(meeting("solid"), method)
    assert sum(begun) > 0
    assert all(frame.certificate.crossings == 0 for frame in frames)
    assert min(frame.positions[0][:, 2].min() for frame in frames) > 0.0
