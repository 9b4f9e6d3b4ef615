# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles inside of a body: contact by pairs neither waits for them nor looks for what they meet."""

import numpy as np
import pytest

from core.contact.contact_trial import ContactTrial
from core.contact.self_contact import SelfContact
from core.contact.triangle_surface import TriangleSurface
from core.kernels import backend as kernels
from tests.core.shapes import ball


@pytest.mark.parametrize("backend", kernels.BACKENDS)
def test_looking_for_the_pairs_of_nothing_finds_none_in_whole_numbers(backend):
    if kernels.why_not(backend):
        pytest.skip(kernels.why_not(backend))
    x, triangles = ball(1.0, 1)
    found = kernels.load(backend).self_pairs.pairs(
        np.zeros(0, dtype=np.int64), np.arange(len(x))[:, None], np.arange(128) % len(triangles), triangles, False, x,
        x, np.zeros(len(x)), np.full(len(x), 0.1))
    assert found.shape == (0, 2) and found.dtype.kind == "i"


def test_inner_nodes_that_go_elsewhere_are_not_looked_for_again():
    x, triangles = ball(1.0, 2)
    inner = np.zeros((5, 3))
    both, ones = np.concatenate([x, inner]), np.ones(len(x) + 5)
    own = ContactTrial(SelfContact(0.05 * ones, ones, ones, np.zeros(len(both), dtype=np.int64), both,
                                   TriangleSurface.build(both, triangles), skin=len(x)))
    around = own.look(both, both)
    elsewhere = both.copy()
    elsewhere[len(x):] += 3.0
    assert around.covers(elsewhere)
    elsewhere[0] += 3.0
    assert not around.covers(elsewhere)
    assert own.fixed.filled[:len(x)].all()
