# SPDX-License-Identifier: GPL-3.0-or-later
"""Formulas are written once: both backends use them, and compute the same bytes."""

import ast
from pathlib import Path

import numpy as np
import pytest

import core.kernels.formulas as formulas
from core.kernels.backend import BACKENDS, load, why_not

V, P = 40, 500
FOLDER = Path(formulas.__file__).parent

needs_numba = pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")


def units(rng, count):
    n = rng.normal(size=(count, 3))
    return n / np.linalg.norm(n, axis=1)[:, None]


def pairs(rng):
    """Vertices, weights and normals of pairs."""
    vertices = np.array([rng.choice(V, 4, replace=False) for _ in range(P)], dtype=np.int64)
    return vertices, rng.normal(size=(P, 4)), units(rng, P)


def pair_friction(kernel, rng):
    """Pairs that stick, slip, are not pressed, or do not move."""
    vertices, weights, n = pairs(rng)
    across = np.cross(n, units(rng, P)) * (rng.uniform(size=(P, 1)) < 0.5)
    (drag, most), (carried, push, hold) = rng.uniform(0.1, 2.0, size=(2, P)), rng.normal(size=(3, P, 3))
    limit, u = rng.choice([0.0, 1e-3, 1.0, 30.0], size=P), rng.normal(size=(V, 3))
    weights[:9], carried[:9], hold[:9] = 0.0, 0.0, 0.0
    given = vertices, weights, n, carried, drag, push, across, u
    return kernel.impulses(*given), *kernel.corrected(*given, hold, limit, most)[:4]


def pair_penalty(kernel, rng):
    vertices, weights, n = pairs(rng)
    (a, b), (x, u), fixed = rng.uniform(size=(2, P)), rng.normal(size=(2, V, 3)), rng.normal(size=(P, 3))
    product = np.zeros((V, 3))
    kernel.add_product(vertices, weights, n, a, b, x, product)
    return kernel.gaps(vertices, weights, n, fixed, x, u, 0.02), kernel.diagonal(vertices, weights, n, a, b, V), product


def drag(kernel, rng):
    """Triangles, one of them without area."""
    triangles, x = pairs(rng)[0][:, :3], rng.normal(size=(V, 3))
    triangles[0] = triangles[0, 0]
    return (kernel.drag_vectors(np.ascontiguousarray(triangles), rng.uniform(size=P), x),)


def constraint_directions(kernel, rng):
    """Four directions of each particle, some of them parallel to earlier ones."""
    taken, count, z = np.zeros((V, 3, 3)), np.zeros(V, dtype=np.int64), rng.normal(size=(V, 3))
    first = units(rng, V)
    for turn in range(4):
        at = np.flatnonzero(rng.uniform(size=V) < 0.8)
        direction = first[at] if turn == 1 else units(rng, len(at))
        kernel.take(at, at, direction, rng.normal(size=len(at)), 0.1, taken, count, z)
    assert len(np.unique(count)) > 2
    return taken, count, z, kernel.free(taken, count)


def minima(kernel, rng):
    vertices, weights, n = pairs(rng)
    opposite, primitives = rng.integers(-1, V, size=(60, 2)), rng.integers(0, 60, size=(P, 2))
    return (kernel.ridges(vertices, primitives, weights, n, opposite, rng.normal(size=(V, 3)), V - 8),)


def conservative_advancement(kernel, rng):
    """Pairs of both kinds, two of them without distance."""
    vertices, x0 = pairs(rng)[0], rng.normal(size=(V, 3))
    vertices[0, 1], vertices[-1, 2] = vertices[0, 0], vertices[-1, 0]
    x1 = x0 + rng.normal(size=(V, 3))
    weights, n, distance = kernel.closest(x0, vertices, P // 2)
    assert (distance == 0.0).any()
    times, advances = kernel.meeting_times(x0, x1, vertices, P // 2, n, distance, 0.1 * distance)
    return weights, n, distance, np.append(times, advances)


def surface_contacts(kernel, rng):
    """Contacts with a moving surface, some of them with triangles without area."""
    triangles, (x0, x1, s0, s1) = pairs(rng)[0][:, :3], rng.normal(size=(4, V, 3))
    triangles[:3, 1] = triangles[:3, 0]
    vertex, triangle, w = rng.integers(0, V, size=P), np.arange(P), rng.dirichlet(np.ones(3), size=P)
    return kernel.measured(vertex, triangle, w, units(rng, P), rng.normal(size=P), x0, x1, rng.uniform(size=V),
                           np.ascontiguousarray(triangles), s0, s1)


def containment(kernel, rng):
    """Points around a tetrahedron, some of them on its edges and faces, seen from above."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    points = np.concatenate([rng.uniform(-0.2, 1.0, size=(P, 3)), 0.125 * rng.integers(-1, 9, size=(P, 3))])
    order = np.arange(4)
    nodes = load("numpy").trees.fitted_around(order, triangles, corners, corners)
    return (kernel.inside(points, corners, triangles, np.ones(4, dtype=np.bool_), order, nodes),)


TOPICS = (pair_friction, pair_penalty, drag, constraint_directions, minima, conservative_advancement,
          surface_contacts, containment)


@needs_numba
@pytest.mark.parametrize("topic", TOPICS)
def test_both_backends_compute_the_same_bytes(topic):
    one, other = (topic(getattr(load(name), topic.__name__), np.random.default_rng(1)) for name in BACKENDS)
    for a, b in zip(one, other, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert len(np.unique(a)) > 1 and np.isfinite(a).all()
        np.testing.assert_array_equal(a, b)                         # -0.0 equals 0.0


def test_each_file_of_formulas_is_used_by_both_backends():
    used = {name: set() for name in BACKENDS}
    for backend in BACKENDS:
        for path in (FOLDER.parent / backend).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("formulas."):
                    used[backend].add(node.module.removeprefix("formulas."))
                elif isinstance(node, ast.ImportFrom) and node.module == "formulas":
                    used[backend] |= {alias.name for alias in node.names}
    files = {path.stem for path in FOLDER.glob("[!_]*.py")}
    assert files and all(files == used[backend] for backend in BACKENDS)
