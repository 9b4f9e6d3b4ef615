# SPDX-License-Identifier: GPL-3.0-or-later
"""Eight numbers at once are eight numbers: every operation that laws use gives each lane what a plain number gets, to
the last bit, and groups of elements that are not full leave nothing behind."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import core
from core.kernels.backend import using
from core.stencils.registry import MODELS
from core.stencils.stencil import GROUP_SIZE, ElementForce, Stencil
from tests.cases import cases
from tests.core.shapes import grid

numba = pytest.importorskip("numba")

SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-300, -1e300, np.inf, -np.inf, np.nan, 2.0, 0.5, -3.25]
TWO = [operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.le, operator.gt, operator.ge,
       np.maximum, np.minimum, np.copysign, np.arctan2]
FREE = (np.maximum, np.minimum, np.arctan2)
ONE = [operator.neg, np.sqrt, np.abs, np.square]


def numbers():
    """Pairs of all special numbers, and as many again."""
    a, b = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    more = np.random.default_rng(0).normal(size=(2, 64))
    return np.concatenate([a, more[0]]), np.concatenate([b, more[1]])


def same_bits(one, other):
    """Equal, zeros of either sign told apart; of what is not a number, that it is none."""
    nothing = np.isnan(one) & np.isnan(other)
    return bool((nothing | (one.view(np.int64) == other.view(np.int64))).all())


@cases("function", TWO, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_operation_on_two_is_numpys(function):
    from core.kernels.numba.simd import load, store

    @numba.njit(error_model="numpy")
    def run(a, b, found):
        for place in range(0, len(a), GROUP_SIZE):
            store(function(load(a, place), load(b, place)), found[0], place)
            store(function(load(a, place), 2.0), found[1], place)
            store(function(-0.5, load(b, place)), found[2], place)

    a, b = numbers()
    assert len(a) % GROUP_SIZE == 0
    found = np.empty((3, len(a)))
    run(a, b, found)
    wanted = [np.asarray(function(x, y), dtype=np.float64) for x, y in ((a, b), (a, 2.0), (-0.5, b))]
    if function in FREE:                             # which zero is the larger one, and how an angle is rounded
        np.testing.assert_allclose(found, wanted, rtol=4e-16)
    else:
        assert all(same_bits(one, other) for one, other in zip(found, wanted, strict=True))


@cases("function", ONE, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_operation_on_one_is_numpys(function):
    from core.kernels.numba.simd import load, store

    square = function is np.square

    @numba.njit(error_model="numpy")
    def run(a, found):
        for place in range(0, len(a), GROUP_SIZE):
            x = load(a, place)
            store(x ** 2 if square else function(x), found, place)

    a, _ = numbers()
    found = np.empty(len(a))
    run(a, found)
    assert same_bits(found, function(a))


def test_a_group_is_spread_over_its_elements_and_added():
    from core.kernels.numba.simd import spread

    @numba.njit
    def run(lanes, array, group, fresh):
        spread(lanes, 27, array, group, fresh)

    lanes = np.random.default_rng(1).normal(size=(27, GROUP_SIZE))
    array = np.full((3 * GROUP_SIZE, 27), np.nan)
    run(lanes, array, 1, True)
    assert np.array_equal(array[GROUP_SIZE:2 * GROUP_SIZE], lanes.T)
    assert np.isnan(array[:GROUP_SIZE]).all() and np.isnan(array[2 * GROUP_SIZE:]).all()
    run(lanes, array, 1, False)
    assert np.array_equal(array[GROUP_SIZE:2 * GROUP_SIZE], 2.0 * lanes.T)


def test_positions_may_lie_in_memory_in_any_order():
    positions, triangles = grid(5, 5)
    x = positions + 0.05 * np.random.default_rng(3).normal(size=positions.shape)
    mesh, fabric = core.ClothMesh(positions, triangles), core.Material.preset("cotton")
    force = MODELS["baraff_witkin"](mesh, fabric)[0]
    with using("numba") as kernels:
        found = []
        for places in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
            f, damped = np.zeros_like(x), np.zeros_like(x)
            kernels.element_families.add_force([force], places, f)
            kernels.element_families.add_damping_force([force], places, places[:, ::-1], damped)
            found.append((kernels.element_families.energy([force], places), f, damped))
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


@cases("count", [1, 7, 8, 9, 16, 23])
def test_groups_that_are_not_full_are_as_any(count):
    """Energy and force of the first `count` elements, and damping at another motion, by both kernels."""
    positions, triangles = grid(5, 5)
    rng = np.random.default_rng(count)
    x = positions + 0.05 * rng.normal(size=positions.shape)
    v = rng.normal(size=x.shape)
    mesh, fabric = core.ClothMesh(positions, triangles), core.Material.preset("cotton")
    for force in MODELS["baraff_witkin"](mesh, fabric):
        stencil = force.stencil
        fewer = Stencil(stencil.vertices[:count].copy(), stencil.weights[:count].copy(), stencil.hub_count)
        some = ElementForce(fewer, force.law, tuple(p[:count].copy() for p in force.parameters), 0.01)
        found = []
        for backend in ("numpy", "numba"):
            with using(backend) as kernels:
                f, damped = np.zeros_like(x), np.zeros_like(x)
                kernels.element_families.add_force([some], x, f)
                kernels.element_families.add_damping_force([some], x, v, damped)
                found.append((kernels.element_families.energy([some], x), f, damped))
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(one).max())
