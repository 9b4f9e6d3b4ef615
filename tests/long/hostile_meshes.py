# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes for hostile scenes, about one unit wide: regular, graded, random, thin, branching, closed and broken ones.

`KINDS` has the builders by name. Each takes a random generator and a number of vertices to aim at, and returns the
positions (V, 3) [-], the triangles (T, 3) and the loose edges (L, 2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.core.shapes import ball, block, grid

NO_TRIANGLES, NO_EDGES = np.zeros((0, 3), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
Made = tuple[np.ndarray, np.ndarray, np.ndarray]


def sheet(rng, count) -> Made:
    """Return a regular grid."""
    columns = int(rng.integers(1, max(2, count // 3)))
    rows = max(1, count // (columns + 1) - 1)
    x, triangles = grid(columns, rows)
    return x - [0.5, 0.5, 0.0], triangles, NO_EDGES


def graded(rng, count) -> Made:
    """Return a grid whose rows get closer towards the middle as |2 x|^k."""
    side = max(2, round(count ** 0.5) - 1)
    x, triangles = grid(side, side)
    x = x - [0.5, 0.5, 0.0]
    k = rng.uniform(1.5, 5.0)
    for axis in range(int(rng.integers(1, 3))):
        x[:, axis] = 0.5 * np.sign(x[:, axis]) * np.abs(2.0 * x[:, axis]) ** k
    return x, triangles, NO_EDGES


def strip(rng, count) -> Made:
    """Return a strip that is up to a million times as long as wide."""
    x, triangles = grid(max(1, count // 2 - 1), 1, (1.0, 10.0 ** rng.uniform(-6.0, -1.0)))
    return x - [0.5, 0.0, 0.0], triangles, NO_EDGES


def scattered(rng, count) -> Made:
    """Return a triangulation of random points, with slivers at its border."""
    from scipy.spatial import Delaunay

    points = rng.uniform(-0.5, 0.5, (max(3, count), 2))
    if rng.random() < 0.3:
        points[-1] = points[0] + 10.0 ** rng.uniform(-9.0, -2.0)         # a pair that almost coincides
    triangles = Delaunay(points).simplices.astype(np.int64)
    used = np.unique(triangles)
    return np.column_stack([points, np.zeros(len(points))])[used], np.searchsorted(used, triangles), NO_EDGES


def needles(rng, count) -> Made:
    """Return a fan of thin triangles around one vertex."""
    n = max(3, count - 1)
    turn = np.linspace(0.0, 2.0 * np.pi * rng.uniform(0.05, 0.99), n)
    x = np.concatenate([[[0.0, 0.0, 0.0]], 0.5 * np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)])
    i = np.arange(1, n)
    return x, np.stack([0 * i, i, i + 1], axis=1), NO_EDGES


def book(rng, count) -> Made:
    """Return three to five sheets that share one edge row: an edge with more than two triangles."""
    pages, rows = int(rng.integers(3, 6)), max(1, min(5, count // 8))
    x, triangles, first = [np.linspace([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], rows + 1)], [], rows + 1
    for page in range(pages):
        angle = 2.0 * np.pi * page / pages
        outer = x[0] + [0.0, np.cos(angle), np.sin(angle)]
        i = np.arange(rows)
        x.append(outer)
        triangles += [np.stack([i, i + 1, first + i + 1], axis=1), np.stack([i, first + i + 1, first + i], axis=1)]
        first += rows + 1
    return np.concatenate(x) - [0.5, 0.0, 0.0], np.concatenate(triangles), NO_EDGES


def tube(rng, count) -> Made:
    """Return an open tube, wide or narrow."""
    around = int(rng.integers(3, 12))
    rings = max(1, count // around - 1)
    turn, radius = 2.0 * np.pi * np.arange(around) / around, 10.0 ** rng.uniform(-3.0, -0.3)
    x = np.concatenate([np.stack([radius * np.cos(turn), radius * np.sin(turn), 0.0 * turn + z], axis=1)
                        for z in np.linspace(-0.5, 0.5, rings + 1)])
    a = np.concatenate([k * around + np.arange(around) for k in range(rings)])
    b = np.concatenate([k * around + (np.arange(around) + 1) % around for k in range(rings)])
    triangles = np.concatenate([np.stack([a, b, b + around], axis=1), np.stack([a, b + around, a + around], axis=1)])
    return x, triangles, NO_EDGES


def moebius(rng, count) -> Made:
    """Return a band with half a twist, which has one side."""
    n = max(5, count // 2)
    turn = 2.0 * np.pi * np.arange(n) / n
    width = rng.uniform(0.05, 0.3)
    rows = [np.stack([(0.5 + s * width * np.cos(turn / 2)) * np.cos(turn), (0.5 + s * width * np.cos(turn / 2))
                      * np.sin(turn), s * width * np.sin(turn / 2)], axis=1) for s in (-0.5, 0.5)]
    i = np.arange(n)
    j, swap = (i + 1) % n, i == n - 1
    low, high = np.where(swap, j + n, j), np.where(swap, j, j + n)
    triangles = np.concatenate([np.stack([i, low, high], axis=1), np.stack([i, high, i + n], axis=1)])
    return np.concatenate(rows), triangles, NO_EDGES


def closed_ball(rng, count) -> Made:
    """Return a closed ball."""
    x, triangles = ball(0.5, 0 if count < 42 else 1 if count < 120 else int(rng.integers(1, 2)))
    return x, triangles, NO_EDGES


def closed_box(rng, count) -> Made:
    """Return a closed box, up to a thousand times as long as thick."""
    n = 1 if count < 26 else int(rng.integers(1, 4))
    x, faces = block((1.0, 1.0, 10.0 ** rng.uniform(-3.0, 0.0)), (n, n, n))
    return x - 0.5, np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]]), NO_EDGES


def bow_tie(rng, count) -> Made:
    """Return two sheets that share one vertex only."""
    x, triangles, _ = sheet(rng, max(4, count // 2))
    other = triangles + len(x) - 1
    other[triangles == 0] = len(x) - 1
    joined = np.concatenate([x, x[-1] + (x[1:] - x[0])])
    return joined, np.concatenate([triangles, other]), NO_EDGES


def soup(rng, count) -> Made:
    """Return triangles between random points in space, which share vertices at random."""
    n = max(3, count)
    x = rng.uniform(-0.5, 0.5, (n, 3))
    triangles = np.array([rng.choice(n, 3, replace=False) for _ in range(max(1, n // 2))])
    triangles = triangles[np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)[1]]
    used = np.unique(triangles)
    return x[used], np.searchsorted(used, triangles), NO_EDGES


def single(rng, count) -> Made:
    """Return one triangle, from regular to a needle."""
    height = 10.0 ** rng.uniform(-7.0, 0.0)
    return np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [rng.uniform(-0.5, 0.5), height, 0.0]]), \
        np.array([[0, 1, 2]]), NO_EDGES


def two_panels(rng, count) -> Made:
    """Return two sheets above one another, with loose edges between their borders: seams."""
    side = max(1, round((count / 2) ** 0.5) - 1)
    x, triangles = grid(side, side)
    gap = 10.0 ** rng.uniform(-3.0, 0.3)
    border = np.arange(side + 1)
    both = np.concatenate([x, x + [0.0, 0.0, gap]]) - [0.5, 0.5, 0.0]
    return both, np.concatenate([triangles, triangles + len(x)]), np.stack([border, border + len(x)], axis=1)


def tailed(rng, count) -> Made:
    """Return a sheet with a thread on a corner."""
    x, triangles, _ = sheet(rng, max(4, 2 * count // 3))
    n = max(1, count // 3)
    tail = x[-1] + np.linspace(0.0, 1.0, n + 1)[1:, None] * rng.normal(size=3)
    chain = np.concatenate([[len(x) - 1], len(x) + np.arange(n)])
    return np.concatenate([x, tail]), triangles, np.stack([chain[:-1], chain[1:]], axis=1)


def chain(rng, count) -> Made:
    """Return a rope, straight or a random walk."""
    n = max(2, count)
    x = np.linspace([-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], n)
    if rng.random() < 0.4:
        x = np.cumsum(rng.normal(size=(n, 3)), axis=0) / n ** 0.5
    return x, NO_TRIANGLES, np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)


def tree(rng, count) -> Made:
    """Return threads that branch."""
    n = max(3, count)
    parents = np.array([rng.integers(0, k) for k in range(1, n)])
    x = rng.uniform(-0.5, 0.5, (n, 3))
    return x, NO_TRIANGLES, np.stack([parents, np.arange(1, n)], axis=1)


def points(rng, count) -> Made:
    """Return loose vertices, some of them at one place."""
    x = rng.uniform(-0.5, 0.5, (max(1, count), 3))
    if rng.random() < 0.3:
        x[len(x) // 2:] = x[0]
    return x, NO_TRIANGLES, NO_EDGES


KINDS: dict[str, Callable[..., Made]] = {
    "sheet": sheet, "graded": graded, "strip": strip, "scattered": scattered, "needles": needles, "book": book,
    "tube": tube, "moebius": moebius, "ball": closed_ball, "box": closed_box, "bow_tie": bow_tie, "soup": soup,
    "single": single, "two_panels": two_panels, "tailed": tailed, "chain": chain, "tree": tree, "points": points,
}
FLAT = ("sheet", "graded", "strip", "scattered", "needles", "single")
"""Kinds that lie in a plane, and so may start as they are at rest."""
CLOSED = ("ball", "box")
THREADS = ("chain", "tree")


def broken(how: str, made: Made, rng) -> Made:
    """Return a mesh with one defect that has to be refused, or to be harmless."""
    x, triangles, edges = (a.copy() for a in made)
    vertex = int(rng.integers(len(x)))
    if how == "not a number":
        x[vertex, rng.integers(3)] = rng.choice([np.nan, np.inf, -np.inf])
    elif how == "far away":
        x[vertex] = 10.0 ** rng.uniform(3.0, 300.0)
    elif how == "doubled vertex":
        x[vertex] = x[0]
    elif how == "loose vertex":
        x = np.concatenate([x, [[3.0, 3.0, 3.0]]])
    elif how == "no area" and len(triangles):
        a, b, c = triangles[0]
        x[c] = 0.5 * (x[a] + x[b])
    elif how == "doubled face" and len(triangles):
        triangles = np.concatenate([triangles, triangles[:1, [1, 2, 0]]])
    elif how == "wrong index" and len(triangles):
        triangles[0, 0] = rng.choice([-1, len(x), 2 ** 40])
    elif how == "same vertex" and len(triangles):
        triangles[0, 1] = triangles[0, 0]
    elif how == "nothing":
        x, triangles, edges = x[:0], NO_TRIANGLES, NO_EDGES
    return x, triangles, edges


DEFECTS = ("not a number", "far away", "doubled vertex", "loose vertex", "no area", "doubled face", "wrong index",
           "same vertex", "nothing")
