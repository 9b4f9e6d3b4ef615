# SPDX-License-Identifier: GPL-3.0-or-later
"""The shadow of draped cloth on the ground, and the nodes of its hem.

Parts that lie over each other count once, as the light of a drape meter sees them: triangles are drawn on a raster, and
a pixel is dark if its centre lies in any of them.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray

RASTER = 600
"""Pixels along the larger side of the shadow [-]: an area of 700 cm^2 is then right to a thousandth."""
NODE_HEIGHT = 0.1
"""Height by which a fold of the hem must rise above and fall below the middle, over the largest difference [-]."""


def shadow(x: FloatArray, triangles: IntArray, pixel: float) -> tuple[BoolArray, FloatArray]:
    """Return the raster (rows, columns) of the shadow along z, and the place (2,) [m] of its first corner.

    x (V, 3) [m], triangles (T, 3). pixel: its side [m].
    """
    corners = x[triangles, :2]                                                           # (T, 3, 2)
    low = corners.reshape(-1, 2).min(axis=0) - pixel
    columns, rows = (int(n) for n in np.ceil((corners.reshape(-1, 2).max(axis=0) - low) / pixel) + 1)
    dark = np.zeros((rows, columns), dtype=np.bool_)
    a, b, c = ((corners[:, i] - low) / pixel - 0.5 for i in range(3))                    # in pixels, centres are whole
    first = np.floor(np.minimum(np.minimum(a, b), c)).astype(np.int64)
    size = int((np.ceil(np.maximum(np.maximum(a, b), c)).astype(np.int64) - first).max(initial=0)) + 1
    turn = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    side = np.sign(turn)[:, None]
    for j in range(size):
        for i in range(size):
            at = first + [i, j]
            inside = np.ones(len(at), dtype=np.bool_)
            for p, q in ((a, b), (b, c), (c, a)):
                cross = (q[:, 0] - p[:, 0]) * (at[:, 1] - p[:, 1]) - (q[:, 1] - p[:, 1]) * (at[:, 0] - p[:, 0])
                inside &= side[:, 0] * cross >= 0.0
            inside &= turn != 0.0
            dark[at[inside, 1], at[inside, 0]] = True
    return dark, low


def shadow_area(x: FloatArray, triangles: IntArray, beyond: float = 0.0) -> float:
    """Return the area [m^2] of the shadow along z of triangles (T, 3) with vertices at x (V, 3) [m].

    beyond: radius of a disc about the z axis that does not count [m].
    """
    pixel = float(np.ptp(x[:, :2], axis=0).max()) / RASTER
    dark, low = shadow(x, triangles, pixel)
    rows, columns = np.nonzero(dark)
    distance = np.hypot(low[0] + (columns + 0.5) * pixel, low[1] + (rows + 0.5) * pixel)
    return float(np.count_nonzero(distance >= beyond)) * pixel ** 2


def node_count(hem: FloatArray, centre: FloatArray, least: float) -> int:
    """Return the number of folds of a closed hem (n, 3) [m] about a vertical axis through `centre` (2,) [m].

    A node is where the hem stands out: its distance from the axis rises above the mean of its largest and smallest
    value, and falls below it again. least: difference of the distances below which the hem has no nodes [m].
    """
    radius = np.hypot(*(hem[:, :2] - centre).T)
    middle, span = 0.5 * (radius.max() + radius.min()), float(np.ptp(radius))
    if span < least:
        return 0
    high, low = radius > middle + NODE_HEIGHT * span, radius < middle - NODE_HEIGHT * span
    states = np.where(high, 1, np.where(low, -1, 0))
    clear = states[states != 0]
    return int(np.count_nonzero((clear == 1) & (np.roll(clear, 1) == -1)))
