# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction of vertices on solids where it is no constraint: against its formula, and both backends alike."""

import numpy as np
import pytest

from core.kernels import current, using
from core.kernels.backend import why_not

VERTICES, CONTACTS = 9, 6


def contacts(seed):
    """Contacts of different vertices, of which some are asked: with a drag across a direction, or all around."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(CONTACTS, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    push, along = np.cross(normal, rng.normal(size=(2, CONTACTS, 3)))
    along /= np.linalg.norm(along, axis=1)[:, None]
    along[1] = 0.0                                                   # does not slip
    at, vertex = np.array([0, 1, 3, 4]), rng.permutation(VERTICES)[:CONTACTS]
    return at, vertex, normal, rng.normal(size=(CONTACTS, 3)), push, rng.uniform(0.5, 2.0, CONTACTS), along


@pytest.mark.usefixtures("backend")
def test_the_force_is_the_push_less_the_drag_across_what_slips():
    at, vertex, normal, carried, push, drag, along = contacts(1)
    u = np.random.default_rng(2).normal(size=(VERTICES, 3))
    expected = np.zeros((VERTICES, 3))
    for k in at:
        across = np.eye(3) - np.outer(normal[k], normal[k]) - np.outer(along[k], along[k])
        expected[vertex[k]] = push[k] - drag[k] * across @ (u[vertex[k]] - carried[k])
    found = current().vertex_friction.forces(at, vertex, normal, carried, push, drag, along, u)
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.usefixtures("backend")
def test_the_resistance_is_what_velocities_take_from_the_force():
    at, vertex, normal, carried, push, drag, along = contacts(3)
    kernel = current().vertex_friction
    blocks = kernel.resistance(at, vertex, normal, drag, along, VERTICES)
    zero = np.zeros((VERTICES, 3))
    before = kernel.forces(at, vertex, normal, carried, push, drag, along, zero)
    for axis in range(3):
        u = zero + np.eye(3)[axis]
        change = kernel.forces(at, vertex, normal, carried, push, drag, along, u) - before
        np.testing.assert_allclose(-blocks[:, :, axis], change, atol=1e-14)
    assert (np.abs(blocks[vertex[at]]).max(axis=(1, 2)) > 0.1).all()


@pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
def test_both_backends_agree():
    at, vertex, normal, carried, push, drag, along = contacts(5)
    u, found = np.random.default_rng(6).normal(size=(VERTICES, 3)), []
    for name in ("numpy", "numba"):
        with using(name):
            kernel = current().vertex_friction
            found.append((kernel.forces(at, vertex, normal, carried, push, drag, along, u),
                          kernel.resistance(at, vertex, normal, drag, along, VERTICES)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)
