# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's iterations, with contacts that change from one to the next."""

import numpy as np
import pytest

import core
from core.integrators.newton import NewtonStep
from tests.core.physics.scenes import fixed_steps, run, sheet


@pytest.mark.parametrize("integrator", ["bdf2", "implicit_euler"])
def test_no_iteration_raises_the_potential_of_the_contacts_it_found(monkeypatch, integrator):
    """A thrown sheet is crumpled in a few long steps. With the whole of each solve it was flung off by the cloth that
    it met, by up to 1e12 m."""
    changed, solve = [], NewtonStep._newton_step

    def watched(self, at, r, *, close):
        better = solve(self, at, r, close=close)
        if better is not None:
            before, after = (self._potential(u, better.friction) for u in (at.u, better.u))
            assert after <= before + 1e-12 * abs(before)
            changed.append(better.contacts_changed)
        return better

    monkeypatch.setattr(NewtonStep, "_newton_step", watched)
    flat = sheet((6, 4), (0.6, 0.4))
    v = 6.0 * np.cross([0.3, 1.0, 0.2], flat.positions) + [3.0, 0.0, 8.0]
    v += 0.3 * np.random.default_rng(2).normal(size=v.shape)
    fabric = core.Material(areal_density=0.03, stretch=200.0, shear=50.0, drag_coefficient=1.2)
    scene = core.Scene([core.Cloth(flat, fabric, velocities=v)], gravity=(0.0, 0.0, 0.0))
    run(scene, fixed_steps(0.25, integrator=integrator), 5)
    assert np.count_nonzero(changed) >= 10
