# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of curves as arrays of pixels, drawn with NumPy.

A curve has one value per frame. Frames are spaced evenly over the width. Values that are not finite leave a gap; a
value between two gaps is a dot. Where several frames share a column of pixels, the column shows all their values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Colour = tuple[float, float, float]
"""Red, green and blue, 0 to 1."""

SUBCOLUMNS = 3
"""Number of samples in each column of pixels [-]."""
MARGIN = 2.0
"""Distance of the curves from the rim of the picture, over the width of a line [-]."""
DOT = 1.5
"""Radius of a value between two gaps, over the width of a line [-]."""
SMALLEST_RANGE = 1e-100
"""Range of values below which a curve is a horizontal line, whatever its unit."""
INTERVALS = 4
"""Largest number of intervals between 0 and the end of an axis [-]."""


@dataclass(frozen=True, kw_only=True)
class Style:
    """Colours of a picture, and the width of its lines [pixels].

    Attributes:
        curves: a colour for each curve.
    """

    background: Colour
    grid: Colour
    marker: Colour
    curves: tuple[Colour, ...]
    line_width: float = 1.5


def round_limits(curves: Sequence[FloatArray], smallest: float = 0.0) -> tuple[float, float]:
    """Return the ends of an axis: round numbers that enclose 0 and all finite values.

    smallest: smallest upper end, so that a curve of tiny values does not look like one of large values.
    """
    finite = np.concatenate([np.zeros(1), *[values[np.isfinite(values)] for values in curves]])
    low, high = float(finite.min()), max(float(finite.max()), smallest)
    if high - low < SMALLEST_RANGE:
        return 0.0, 1.0
    step = _round_step(max(high, -low) / INTERVALS)
    return step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next((factor * power for factor in (1.0, 2.0, 5.0) if factor * power >= least * (1.0 - 1e-9)), 10.0 * power)


def frame_place(index: float, frames: int, width: int, line_width: float) -> float:
    """Return the distance of the frame `index` of `frames` from the left rim of the picture [pixels]."""
    margin = MARGIN * line_width
    return width / 2 if frames < 2 else margin + index / (frames - 1) * (width - 2 * margin)


def curve_image(curves: Sequence[FloatArray], limits: tuple[float, float], size: tuple[int, int], style: Style
                ) -> NDArray[np.float32]:
    """Return the picture (H, W, 4) of curves (F,) each, opaque, values 0 to 1, the bottom row first.

    Args:
        limits: values at the bottom and at the top. The curves are cut there.
        size: width and height [pixels].

    A grid has lines at the limits, at 0 and in the middle. The first curve lies in front.
    """
    width, height = size
    image = np.empty((height, width, 4), np.float32)
    image[...] = (*style.background, 1.0)
    low, high = limits
    for value in {low, high, 0.0, (low + high) / 2}:
        if low <= value <= high:
            row = int(_rows(np.array([value]), limits, height, style.line_width)[0])
            image[min(row, height - 1), :, :3] = style.grid
    for values, colour in reversed([*zip(curves, style.curves, strict=False)]):
        _blend(image, _coverage(np.asarray(values, float), limits, size, style.line_width), colour)
    return image


def with_marker(image: NDArray[np.float32], index: float, frames: int, style: Style) -> NDArray[np.float32]:
    """Return a copy of a picture with a vertical line at the frame `index` of `frames`."""
    marked = image.copy()
    width = image.shape[1]
    centre = frame_place(index, frames, width, style.line_width)
    columns = np.arange(width)
    half = max(style.line_width / 2, 0.5)
    cover = np.clip(np.minimum(columns + 1, centre + half) - np.maximum(columns, centre - half), 0.0, 1.0)
    _blend(marked, np.broadcast_to(cover, image.shape[:2]), style.marker)
    return marked


def _blend(image: NDArray[np.float32], cover: FloatArray, colour: Colour) -> None:
    """Paint a colour over the image where `cover` (H, W), 0 to 1, says so."""
    part = cover.astype(np.float32)[..., None]
    image[..., :3] += part * (np.asarray(colour, np.float32) - image[..., :3])


def _rows(values: FloatArray, limits: tuple[float, float], height: int, line_width: float) -> FloatArray:
    """Return the distance of values from the bottom of the picture [pixels]."""
    low, high = limits
    margin = MARGIN * line_width
    return margin + (np.clip(values, low, high) - low) / (high - low) * (height - 2 * margin)


def _coverage(values: FloatArray, limits: tuple[float, float], size: tuple[int, int], line_width: float) -> FloatArray:
    """Return the part (H, W) of each pixel that a curve covers, 0 to 1."""
    width, height = size
    rows = _rows(np.where(np.isfinite(values), values, np.nan), limits, height, line_width)
    frames = len(rows)
    finite = np.isfinite(rows)
    if not finite.any():
        return np.zeros((height, width))
    places = np.array([frame_place(0, frames, width, line_width), frame_place(1, frames, width, line_width)])
    places = places[0] + np.arange(frames) * (places[1] - places[0])
    columns = np.clip((places * SUBCOLUMNS).astype(int), 0, width * SUBCOLUMNS - 1)

    low, high = _empty(width)
    np.minimum.at(low, columns[finite], rows[finite])
    np.maximum.at(high, columns[finite], rows[finite])
    ends = np.interp(np.arange(width * SUBCOLUMNS + 1) / SUBCOLUMNS, places, rows, left=np.nan, right=np.nan)
    for end in (ends[:-1], ends[1:]):
        low, high = np.fmin(low, end), np.fmax(high, end)
    low, high = _thickened(low, high, line_width / 2)

    before = np.concatenate([[False], finite[:-1]])
    after = np.concatenate([finite[1:], [False]])
    single = finite & ~before & ~after
    if single.any():
        dots = _empty(width)
        np.minimum.at(dots[0], columns[single], rows[single])
        np.maximum.at(dots[1], columns[single], rows[single])
        dot_low, dot_high = _thickened(*dots, DOT * line_width)
        low, high = np.minimum(low, dot_low), np.maximum(high, dot_high)
    pixel = np.arange(height)[:, None]
    cover = np.clip(np.minimum(high, pixel + 1) - np.maximum(low, pixel), 0.0, 1.0)
    return cover.reshape(height, width, SUBCOLUMNS).mean(axis=2)


def _empty(width: int) -> tuple[FloatArray, FloatArray]:
    """Return empty intervals, low and high, of all columns of samples."""
    return np.full(width * SUBCOLUMNS, np.inf), np.full(width * SUBCOLUMNS, -np.inf)


def _thickened(low: FloatArray, high: FloatArray, radius: float) -> tuple[FloatArray, FloatArray]:
    """Return the intervals that a disc of `radius` [pixels] covers which moves over the given ones."""
    wide_low, wide_high = low - radius, high + radius
    for shift in range(1, int(radius * SUBCOLUMNS) + 1):
        reach = math.sqrt(radius ** 2 - (shift / SUBCOLUMNS) ** 2)
        for target, source in ((slice(shift, None), slice(None, -shift)), (slice(None, -shift), slice(shift, None))):
            wide_low[target] = np.minimum(wide_low[target], low[source] - reach)
            wide_high[target] = np.maximum(wide_high[target], high[source] + reach)
    return wide_low, wide_high
