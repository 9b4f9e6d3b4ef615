# SPDX-License-Identifier: GPL-3.0-or-later
"""Find cloth whose faces point inwards, where a setting needs them to point outwards.

A mesh has an inside where a connected piece of it is closed, or has two openings or more, as a tube, a skirt and a
shirt have. Its volume is counted up to a lid on each opening, and is below 0 where the faces point inwards:

    V = 1/6 sum over triangles of a . (b x c),  with triangles from each boundary edge to the middle of its boundary
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ... import core
from .read_cloth import ClothSource

IntArray = NDArray[np.int64]


def notes(sources: Sequence[ClothSource], cloths: Sequence[core.Cloth]) -> list[str]:
    """Return notes on cloths whose faces point inwards, and that have internal springs or lie below a layer."""
    layers = [source.settings.contact.layer for source in sources]
    found = []
    for source, cloth in zip(sources, cloths, strict=True):
        above = [other.name for other, layer in zip(sources, layers, strict=True)
                 if layer > source.settings.contact.layer]
        if not above and not source.settings.internal_springs.used:
            continue
        if not point_inwards(cloth.positions, cloth.mesh.triangles):
            continue
        what = (f"so that {above[0]}, of a higher Layer, is pulled to its inner side where they cross" if above else
                "and its Internal Springs go to the side to which they do not point")
        found.append(f"{source.name}: its faces point inwards, {what}. Mesh > Normals > Recalculate Outside in Edit "
                     "Mode turns them, if that is a mistake")
    return found


def point_inwards(x: NDArray[np.float64], triangles: IntArray) -> bool:
    """Return whether the triangles (T, 3) of a mesh with vertices x (V, 3) point to its inside, where it has one."""
    if not len(triangles):
        return False
    starts, ends = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    bare = ~np.isin(starts * len(x) + ends, ends * len(x) + starts)
    rims = np.stack([starts[bare], ends[bare]], axis=1)
    piece = _joined(np.stack([starts, ends], axis=1), len(x))
    loop = _joined(rims, len(x))
    loops = np.unique(loop[rims[:, 0]])
    openings = np.bincount(piece[loops], minlength=len(x))
    whole = openings != 1                                           # of the vertex that stands for a piece

    x = x - x[triangles].mean(axis=(0, 1))
    size = np.maximum(np.bincount(loop[rims[:, 0]], minlength=len(x)), 1)
    middle = np.stack([np.bincount(loop[rims[:, 0]], axis, len(x)) for axis in x[rims[:, 0]].T], axis=1) / size[:, None]
    lids = np.stack([x[rims[:, 1]], x[rims[:, 0]], middle[loop[rims[:, 0]]]], axis=1)
    corners = np.concatenate([x[triangles][whole[piece[triangles[:, 0]]]], lids[whole[piece[rims[:, 0]]]]])
    a, b, c = corners.transpose(1, 0, 2)
    volume = float(np.einsum("ti,ti->", a, np.cross(b, c))) / 6.0
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    return volume < -float(np.finfo(np.float32).eps) * area ** 1.5          # flat: none but by rounding


def _joined(edges: IntArray, count: int) -> IntArray:
    """Return for each of `count` vertices the smallest vertex that edges (E, 2) join it with."""
    label = np.arange(count)
    while True:
        smaller = label[edges].min(axis=1)
        lower = label.copy()
        np.minimum.at(lower, edges, smaller[:, None])
        lower = lower[lower]
        if np.array_equal(lower, label):
            return label
        label = lower
