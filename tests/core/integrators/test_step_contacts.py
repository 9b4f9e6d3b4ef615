# SPDX-License-Identifier: GPL-3.0-or-later
"""Where cloth that presses on cloth needs short steps: in a pile, and where it hangs."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.integrators.step_contacts import StepContacts


@pytest.mark.parametrize(("pressed", "pressing", "heavy", "piled"), [
    ([0], 8.0, False, False), ([0], 8.0, True, True), ([0], 4.0, False, True), ([1], 8.0, False, True),
    ([0, 1], 8.0, False, True), ([], 0.0, False, False)])
def test_what_solids_hold_up_is_a_pile_only_where_cloth_is_heavy_on_cloth(pressed, pressing, heavy, piled):
    """Two pieces of 4 kg: solids press on each vertex of the first with so much, and the second hangs."""
    contacts = object.__new__(StepContacts)
    contacts.settings = SimpleNamespace(self_collision=True)
    contacts.system = SimpleNamespace(body=np.repeat([0, 1], 4), mass=np.ones(8),
                                      scene=SimpleNamespace(gravity=np.array([0.0, 0.0, -10.0])))
    contacts.pairs = SimpleNamespace(presses=True, piled=heavy, pressed=np.array(pressed, dtype=np.int64))
    contacts.constraints = SimpleNamespace(vertex=np.arange(4), pressing=np.full(4, pressing))
    assert contacts.piled is piled
    contacts.constraints = None
    assert contacts.piled
