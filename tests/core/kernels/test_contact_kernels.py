# SPDX-License-Identifier: GPL-3.0-or-later
"""What pairs in contact are asked in each step: both backends say the same, and as a loop over plain numbers says."""

from collections import Counter

import numpy as np
import pytest

from core.kernels import current
from core.kernels.backend import BACKENDS, load, why_not
from tests.cases import cases

V, P, H = 40, 300, 0.02

needs_numba = pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
on_both = pytest.mark.usefixtures("backend")


def kernels(topic):
    """The topic's reference and its compiled twin."""
    return tuple(getattr(load(name), topic) for name in BACKENDS)


def assert_same(one, other):
    """Equal where they are no floating-point numbers, and to rounding where they are."""
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(a).max(initial=0.0)))
        else:
            np.testing.assert_array_equal(a, b)


def units(rng, count):
    n = rng.normal(size=(count, 3))
    return n / np.linalg.norm(n, axis=1)[:, None]


def pairs(rng, count=P):
    """Vertices, weights and normals of pairs."""
    vertices = np.array([rng.choice(V, 4, replace=False) for _ in range(count)], dtype=np.int64).reshape(-1, 4)
    share = rng.dirichlet(np.ones(3), size=count)
    return vertices, np.concatenate([np.ones((count, 1)), -share], axis=1), units(rng, count)


# ---------------------------------------------------------------------- gaps, forces, matrix


@needs_numba
@cases("count", [0, P])
def test_gaps_forces_and_blocks_are_the_same(count):
    rng = np.random.default_rng(1)
    vertices, weights, n = pairs(rng, count)
    x, u = rng.normal(size=(2, V, 3))
    a, b = rng.uniform(size=(2, count))
    fixed, f = rng.normal(size=(2, count, 3))
    assert_same(*((k.gaps(vertices, weights, n, fixed, x, u, H), k.scattered(vertices, weights, f, V),
                   k.diagonal(vertices, weights, n, a, b, V)) for k in kernels("pair_penalty")))


@on_both
def test_a_gap_is_along_the_normal_and_a_force_goes_to_vertices_by_weight():
    rng = np.random.default_rng(2)
    vertices, weights, n = pairs(rng, 7)
    x, u, fixed, f = *rng.normal(size=(2, V, 3)), *rng.normal(size=(2, 7, 3))
    kernel = current().pair_penalty
    gap, total = kernel.gaps(vertices, weights, n, fixed, x, u, H), kernel.scattered(vertices, weights, f, V)
    wanted = np.zeros((V, 3))
    for p in range(7):
        offset = fixed[p].copy()
        for k, i in enumerate(vertices[p]):
            offset += weights[p, k] * (x[i] + H * u[i])
            wanted[i] += weights[p, k] * f[p]
        assert gap[p] == pytest.approx(offset @ n[p])
    np.testing.assert_allclose(total, wanted, atol=1e-13)


# ---------------------------------------------------------------------- friction


def rubbing(rng, count=P):
    """Arguments of `rubbing.corrected`: some stick, some slide, some are not pressed, some have nothing to hold."""
    vertices, weights, n = pairs(rng, count)
    across = np.cross(n, units(rng, count)) * (rng.uniform(size=(count, 1)) < 0.5)
    drag, most = rng.uniform(0.1, 2.0, size=(2, count))
    carried, push, hold = rng.normal(size=(3, count, 3))
    limit = rng.choice([0.0, 1e-3, 1.0, 30.0], size=count)
    velocity = rng.normal(size=(V, 3))
    still = rng.uniform(size=count) < 0.1
    weights[still], carried[still], hold[still] = 0.0, 0.0, 0.0
    return vertices, weights, n, carried, drag, push, across, velocity, hold, limit, most


@needs_numba
@cases("count", [0, P])
def test_friction_is_the_same(count):
    given = rubbing(np.random.default_rng(3), count)
    found = [(k.impulses(*given[:8]), *k.corrected(*given)) for k in kernels("pair_friction")]
    assert_same(*found)
    if count:
        drag, push, across = found[0][1:4]
        slides, pressed = across.any(axis=1), given[9] > 0.0
        assert 20 < np.count_nonzero(slides & pressed) < np.count_nonzero(pressed) - 20
        assert not drag[~pressed].any() and not push[~pressed].any()


@on_both
def test_friction_is_coulombs_and_its_change_is_that_of_the_impulses():
    kernel = current().pair_friction
    given = list(rubbing(np.random.default_rng(4)))
    before = kernel.impulses(*given[:8])
    given[4], given[5], given[6], change, grown = kernel.corrected(*given)
    after, limit = kernel.impulses(*given[:8]), given[9]
    slides = given[6].any(axis=1) & (limit > 0.0)
    size = np.linalg.norm(after, axis=1)
    np.testing.assert_allclose(size[slides], limit[slides], rtol=1e-12)
    np.testing.assert_allclose(change, np.linalg.norm(after - before, axis=1), atol=1e-12)
    np.testing.assert_allclose(grown, size - np.linalg.norm(before, axis=1), atol=1e-12)
    assert np.count_nonzero(slides) > 20


# ---------------------------------------------------------------------- minima


def features(rng, faces, edges):
    """Arguments of `minima.keys` for random pairs with closest points on all kinds of features."""
    triangles, count = 30, 100
    primitives = np.concatenate([np.stack([rng.integers(0, V, faces), rng.integers(0, triangles, faces)], axis=1),
                                 rng.integers(0, 50, size=(edges, 2))])
    weights = rng.normal(size=(faces + edges, 4)) * (rng.uniform(size=(faces + edges, 4)) < 0.7)
    weights[:faces, 0], weights[:faces, 1] = 1.0, np.where(weights[:faces, 2:].any(axis=1), weights[:faces, 1], -1.0)
    return primitives, weights, faces, rng.integers(0, count, size=(triangles, 7)), count, 50, V


@needs_numba
@cases(("faces", "edges"), [(0, 0), (0, 9), (9, 0), (200, 300)])
def test_keys_of_pairs_are_the_same(faces, edges):
    given = features(np.random.default_rng(5), faces, edges)
    assert_same(*([k.keys(*given)] for k in kernels("minima")))


@on_both
@cases("stride", [1, 2**20, 2**40])                             # keys that a table's slots may mix up
@cases("count", [0, 1, 500])
def test_a_key_that_is_there_often_enough_counts_where_it_is_first(stride, count):
    rng = np.random.default_rng(count)
    degree = rng.integers(1, 5, size=37)
    key = stride * rng.integers(0, 150, size=count)
    times = Counter(key.tolist())
    wanted = [p for p, k in enumerate(key.tolist())
              if times[k] == degree[k % len(degree)] and k not in key[:p].tolist()]
    found = current().minima.whole(key, degree)
    assert found.dtype == np.int64 and found.tolist() == wanted
    assert count < 2 or len(wanted) > 10


def ridge_pairs(rng, count=4000):
    """Arguments of `minima.ridges`: pairs of edges on the rim of something or not, of cloth or colliders."""
    edges = np.array([rng.choice(V, 2, replace=False) for _ in range(60)])
    opposite = rng.integers(0, V, size=(60, 2))
    opposite[:20, 1], opposite[:10, 0] = -1, -1
    primitives = rng.integers(0, 60, size=(count, 2))
    weights = rng.normal(size=(count, 4)) * (rng.uniform(size=(count, 4)) < 0.95)
    return (edges[primitives].reshape(-1, 4), primitives, weights, units(rng, count), opposite,
            rng.normal(size=(V, 3)), V - 8)


@needs_numba
def test_ridges_are_the_same_on_one_thread_and_on_two(monkeypatch):
    from core.kernels.numba import minima, thread_pool

    monkeypatch.setattr(minima, "LEAST_VERTICES", 100)
    given = ridge_pairs(np.random.default_rng(6))
    found = [kernels("minima")[0].ridges(*given)]
    for threads in (1, 2):
        token = thread_pool.thread_limit.set(threads)
        found.append(minima.ridges(*given))
        thread_pool.thread_limit.reset(token)
    assert_same(found[:1], found[1:2])
    assert_same(found[:1], found[2:])
    assert 100 < np.count_nonzero(found[0]) < len(found[0]) / 2


@on_both
def test_two_edges_are_ridges_if_both_surfaces_fold_away_or_one_lies_flat_over_a_colliders():
    """A ridge along y below one along x, each bent by so much away from the other."""
    def is_ridge(lower, upper, cloth=8):
        x = np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, -lower], [1.0, 0.0, -lower],
                      [-1.0, 0.0, 0.1], [1.0, 0.0, 0.1], [0.0, -1.0, 0.1 + upper], [0.0, 1.0, 0.1 + upper]])
        found = current().minima.ridges(
            np.array([[4, 5, 0, 1]]), np.array([[1, 0]]), np.array([[0.5, 0.5, -0.5, -0.5]]),
            np.array([[0.0, 0.0, 1.0]]), np.array([[2, 3], [6, 7]]), x, cloth)
        return bool(found[0])

    assert is_ridge(0.2, 0.2) and not is_ridge(0.0, 0.2) and not is_ridge(0.2, 0.0)
    assert not is_ridge(-0.2, 0.2) and not is_ridge(0.2, -0.2)
    cloth = 4                                                                        # the upper is a collider's
    assert is_ridge(0.0, 0.2, cloth) and not is_ridge(0.2, 0.0, cloth) and not is_ridge(-0.2, 0.2, cloth)


@needs_numba
@cases("count", [0, 1, P])
def test_replaced_rows_are_the_same(count):
    rng = np.random.default_rng(5)

    def table(total, faces):
        vertices = rng.integers(0, V, size=(total, 4))
        return (vertices, vertices[:, :2].copy(), faces, rng.random((total, 4)), rng.random((total, 3)),
                rng.random(total), rng.random(total))

    for old, new in ((table(count, count // 2), table(P, P // 3)), (table(P, P), table(count, 0))):
        for marked in (rng.random(V) < 0.1, np.ones(V, dtype=np.bool_), np.zeros(V, dtype=np.bool_)):
            results = [k.replaced(old, marked, new) for k in kernels("pair_rows")]
            assert_same(*results)
            kept = ~marked[old[0]].any(axis=1)
            assert results[0][2] == np.count_nonzero(kept[:old[2]]) + new[2]
            expected = [old[0][:old[2]][kept[:old[2]]], new[0][:new[2]], old[0][old[2]:][kept[old[2]:]],
                        new[0][new[2]:]]
            np.testing.assert_array_equal(results[0][0], np.concatenate(expected))
