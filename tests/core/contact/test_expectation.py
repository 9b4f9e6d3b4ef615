# SPDX-License-Identifier: GPL-3.0-or-later
"""Where ends are expected: whoever is near there needs no other search, and who strayed is expected further around."""

import numpy as np
import pytest

from core.contact.contact_trial import ContactTrial
from core.contact.expectation import LEAST_STRAY, Expectation, Search, SearchBounds
from core.contact.self_contact import SelfContact
from core.contact.triangle_surface import TriangleSurface
from tests.core.contact.test_self_contact import two_layers

pytestmark = pytest.mark.usefixtures("backend")
RADIUS, RESTING = 0.1, 0.06


def settled(count, drifting=True):
    """An expectation that has not been missed for long."""
    bounds = SearchBounds(np.full(count, RADIUS), np.full(count, RESTING), drifting=drifting, skin=count)
    return Expectation(bounds, np.zeros(count))


def test_ends_within_a_part_of_the_radius_and_what_all_have_in_common_are_covered():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 3))
    away = rng.normal(size=x.shape)
    away -= away.mean(axis=0)
    away *= LEAST_STRAY * RADIUS / np.linalg.norm(away, axis=1).max()
    search = Search(settled(50), x, x, 1.0)
    assert search.covers(x + 0.99 * away + [5.0, -3.0, 1.0])
    assert not search.covers(x + 1.2 * away)
    still = Search(settled(50, drifting=False), x, x, 1.0)
    assert still.covers(x + 0.99 * away) and not still.covers(x + [1.01 * LEAST_STRAY * RADIUS, 0.0, 0.0])


def test_what_meets_on_a_motion_is_found_once():
    x, triangles, body = two_layers(0.05)
    owner = ContactTrial(SelfContact(np.full(len(x), 0.04), np.full(len(x), 0.3), np.ones(len(x)), body, x,
                                     TriangleSurface.build(x, triangles)))
    x1 = x.copy()
    x1[body == 1] -= [0.0, 0.0, 0.08]
    around = owner.look(x, x1)
    met, times = around.meeting(x1)
    end, rows = around.noted()
    assert len(met) > 10 and len(rows) == len(met)
    np.testing.assert_array_equal(around.pairs.vertices[rows], met.vertices)
    np.testing.assert_array_equal(end, x1)
    again, when = around.meeting(x1.copy())
    assert when is times                                             # remembered
    np.testing.assert_array_equal(again.vertices, met.vertices)
    there = x1.copy()
    x1[:] = 0.0                                                      # what was asked about is the caller's to change
    np.testing.assert_array_equal(end, there)
    assert len(around.meeting(x)[0]) == 0                            # on another motion something else meets
