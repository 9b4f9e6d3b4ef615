# SPDX-License-Identifier: GPL-3.0-or-later
"""The product of 000: springs {k, l, alpha, d} along threads, with a permutation between warp and weft.

The stiffness of a central spring is two numbers and a direction. For the force g = k (l - l0)/l d on x_i with
x_j = x_i + d,

    J v = G (v_j - v_i) at i, minus that at j,    G v = alpha v - (k + alpha) (d . v) / l^2 d,    alpha = k (l0 - l)/l

The slide has k for k + alpha, which follows from its force only at rest: dg/dd along d is k, not k - alpha.

Successive springs are a thread. Its matrix is block-tridiagonal and not assembled: one pass goes from vertex to vertex.
A sheet of n x m vertices is n + m threads: one order of the vertices has the threads along u, another those along v:

    J x = [U_1 .. U_m] x + P^T [V_1 .. V_n] P x

Threads without common vertices are joined to a layer, with springs of zero stiffness between them, and x is permuted
once per layer. So the same product serves nets of ropes, whose branches are layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current

LEAST_MEAN_LENGTH = 4
"""Least mean number of springs in a thread [-]: with shorter threads, an order by threads saves no time."""


@dataclass(frozen=True)
class Layer:
    """Threads without common vertices.

    Attributes:
        order: (n,), their vertices, thread after thread.
        springs: (n - 1,), number of the spring between successive vertices, -1 between two threads.
    """

    order: IntArray
    springs: IntArray


def layers_of(pairs: IntArray, vertex_count: int) -> list[Layer] | None:
    """Return springs (E, 2) as threads: a thread continues where a spring begins at the end of the one before it.

    None if threads are too short on average.
    """
    if len(pairs) == 0:
        return []
    begins = np.concatenate([[True], pairs[1:, 0] != pairs[:-1, 1]])
    first = np.append(np.flatnonzero(begins), len(pairs))
    if len(pairs) < LEAST_MEAN_LENGTH * (len(first) - 1):
        return None
    used: list[FloatArray] = []
    threads: list[tuple[list[IntArray], list[IntArray]]] = []
    for start, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        for part in _open(pairs, start, end):
            vertices = np.append(pairs[part, 0], pairs[part[-1], 1])
            for number in range(len(used) + 1):
                if number == len(used):
                    used.append(np.zeros(vertex_count, dtype=np.bool_))
                    threads.append(([], []))
                if not used[number][vertices].any():
                    break
            used[number][vertices] = True
            threads[number][0].append(vertices)
            threads[number][1].append(np.append(part, -1))
    return [Layer(np.concatenate(orders), np.concatenate(springs)[:-1]) for orders, springs in threads]


def _open(pairs: IntArray, start: int, end: int) -> list[IntArray]:
    """Return a run of springs, divided so that no vertex occurs twice in a part."""
    run = np.arange(start, end)
    vertices = np.append(pairs[run, 0], pairs[end - 1, 1])
    if len(np.unique(vertices)) == len(vertices):
        return [run]
    half = len(run) // 2
    return [run] if half == 0 else _open(pairs, start, start + half) + _open(pairs, start + half, end)


class SpringProduct:
    """K = -J of springs between pairs (E, 2) with {k (E,), l (E,), alpha (E,), d (E, 3)}.

    Args:
        layers: of the springs, as `layers_of` returns them.
    """

    def __init__(self, pairs: IntArray, k: FloatArray, l: FloatArray, alpha: FloatArray, d: FloatArray,  # noqa: E741
                 layers: Sequence[Layer]) -> None:
        self._pairs, self._k, self._l, self._alpha, self._d = pairs, k, l, alpha, d
        self._threads = []
        for layer in layers:
            gap = layer.springs < 0
            k_, l_, alpha_, d_ = (a[layer.springs] for a in (k, l, alpha, d))
            k_[gap], l_[gap], alpha_[gap] = 0.0, 1.0, 0.0
            self._threads.append((layer.order, k_, l_, alpha_, d_))

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add K x to total (V, 3)."""
        for order, k, l, alpha, d in self._threads:  # noqa: E741
            current().matrix_free.add_spring_product(order, k, l, alpha, d, x, total)

    def add_diagonal(self, blocks: FloatArray) -> None:
        """Add the blocks (i, i) of K to blocks (V, 3, 3)."""
        scaled = (self._k + self._alpha) / self._l ** 2
        for a in range(3):
            for b in range(3):
                entry = scaled * self._d[:, a] * self._d[:, b] - (self._alpha if a == b else 0.0)
                blocks[:, a, b] += np.bincount(self._pairs.ravel(), weights=np.repeat(entry, 2), minlength=len(blocks))

    @property
    def nbytes(self) -> int:
        """Memory that is kept for products [bytes]."""
        return sum(a.nbytes for thread in self._threads for a in thread)


def spring_form(H: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return k, l, alpha (E,) of blocks H (E, 9) that are isotropic around d (E, 3), as for every force along d.

    None if they are not.
    """
    squared = np.einsum("ei,ei->e", d, d)
    tiny = squared == 0.0
    l = np.sqrt(np.where(tiny, 1.0, squared))  # noqa: E741
    blocks = H.reshape(-1, 3, 3)
    along = np.einsum("ei,eij,ej->e", d, blocks, d) / l ** 2
    trace = np.trace(blocks, axis1=1, axis2=2)
    across = np.where(tiny, trace / 3.0, 0.5 * (trace - along))
    along = np.where(tiny, across, along)
    u = d / l[:, None]
    made = across[:, None, None] * np.eye(3) + ((along - across)[:, None] * u)[:, :, None] * u[:, None, :]
    if len(H) and np.abs(made - blocks).max() > 1e-12 * np.abs(blocks).max():
        return None
    return along, l, -across
