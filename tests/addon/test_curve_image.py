# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of curves: where lines, gaps, dots and the marker are, limits of axes, and bounded time and size."""

from __future__ import annotations

import time

import numpy as np
import pytest

SIZE = (90, 60)


@pytest.fixture
def image(extension):
    return extension.curve_image


def style(image, **values):
    return image.Style(**{"background": (0.0, 0.0, 0.0), "grid": (0.0, 0.0, 0.0), "marker": (0.0, 0.0, 1.0),
                          "curves": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), **values})


def drawn(image, *curves, limits=(0.0, 1.0), size=SIZE, **values):
    """Return the part (H, W) of each pixel that a curve covers."""
    return image.curve_image([np.array(curve, float) for curve in curves], limits, size, style(image, **values))


def centre(cover):
    """Return the centre (W,) of what is covered in each column [pixels], nan without any."""
    weight = cover.sum(axis=0)
    rows = np.arange(len(cover))[:, None] + 0.5
    return np.where(weight > 0, (cover * rows).sum(axis=0) / np.maximum(weight, 1e-9), np.nan)


@pytest.mark.parametrize("frames", [2, 3, 50, 5000])
def test_a_constant_curve_is_a_horizontal_line_of_its_width_and_at_its_height(image, frames):
    for value in (0.0, 0.3, 1.0):
        for width in (1.0, 1.5, 3.0):
            cover = drawn(image, np.full(frames, value), line_width=width)[..., 0]
            inner = cover[:, int(3 * width):-int(3 * width)]
            assert np.allclose(inner, inner[:, :1]) and np.allclose(inner.sum(axis=0), width, atol=1e-5)
            margin = image.MARGIN * width
            assert np.allclose(centre(inner), margin + value * (SIZE[1] - 2 * margin), atol=0.35)


def test_a_straight_curve_is_straight_and_rises_to_the_right(image):
    heights = centre(drawn(image, np.linspace(0.0, 1.0, 7))[..., 0])
    steps = np.diff(heights[5:-5])
    assert (steps > 0).all() and np.allclose(steps, steps.mean(), atol=0.05)


def test_a_larger_value_is_higher_and_the_first_row_is_the_bottom(image):
    low, high = (centre(drawn(image, [value, value])[..., 0])[45] for value in (0.2, 0.8))
    assert low < SIZE[1] / 2 < high


@pytest.mark.parametrize("gap", [np.nan, np.inf, -np.inf])
def test_values_that_are_missing_leave_a_gap(image, gap):
    curve = np.full(21, 0.5)
    curve[5:15] = gap
    covered = drawn(image, curve)[..., 0].sum(axis=0) > 0
    places = [round(image.frame_place(i, 21, SIZE[0], 1.5)) for i in (2, 9, 18)]
    assert list(covered[places]) == [True, False, True]
    assert not drawn(image, np.full(5, gap))[..., 0].any() and not drawn(image, [])[..., 0].any()


@pytest.mark.parametrize(("curve", "index"), [([0.5], 0), ([np.nan, 0.5, np.nan], 1), ([0.5, np.nan, np.nan], 0)])
def test_a_single_value_is_a_dot_at_its_frame(image, curve, index):
    cover = drawn(image, curve, line_width=2.0)[..., 0]
    columns = np.flatnonzero(cover.sum(axis=0))
    place = image.frame_place(index, len(curve), SIZE[0], 2.0)
    assert abs((columns[0] + columns[-1] + 1) / 2 - place) <= 1.0
    assert 4 <= len(columns) <= 8 and abs(np.nanmean(centre(cover)) - SIZE[1] / 2) < 0.5


@pytest.mark.parametrize("frames", [1, 2, 30, 10000])
def test_the_marker_is_a_line_over_the_whole_height_at_its_frame(image, frames):
    plain = drawn(image, np.full(frames, np.nan))
    for index in (0, frames // 3, frames - 1):
        marked = image.with_marker(plain, index, frames, style(image))
        blue = marked[..., 2]
        assert np.allclose(blue, blue[:1]) and blue[0].sum() == pytest.approx(1.5, abs=1e-5)
        middle = (blue[0] * (np.arange(SIZE[0]) + 0.5)).sum() / blue[0].sum()
        assert middle == pytest.approx(image.frame_place(index, frames, SIZE[0], 1.5), abs=0.35)
        assert not plain[..., 2].any()
    value = np.full(frames, np.nan)
    value[frames // 3] = 0.5
    columns = np.flatnonzero(drawn(image, value)[..., 0].sum(axis=0))
    assert abs((columns[0] + columns[-1] + 1) / 2 - image.frame_place(frames // 3, frames, SIZE[0], 1.5)) <= 1.0


def test_a_peak_of_one_frame_among_many_is_seen(image):
    curve = np.zeros(10000)
    curve[4321] = 1.0
    assert drawn(image, curve)[-5:, :, 0].max() > 0.3


def test_ten_thousand_frames_take_bounded_time_and_give_the_wanted_size(image):
    curve = np.random.default_rng(1).random(10000)
    start = time.process_time()
    picture = drawn(image, curve, curve, size=(500, 500))
    assert time.process_time() - start < 2.0
    assert picture.shape == (500, 500, 4) and picture.dtype == np.float32
    assert picture.min() >= 0.0 and picture.max() <= 1.0 and (picture[..., 3] == 1.0).all()


def test_curves_outside_of_the_limits_are_cut_there(image):
    assert np.array_equal(drawn(image, [5.0, 7.0]), drawn(image, [1.0, 1.0]))


def test_the_first_curve_lies_in_front(image):
    picture = drawn(image, np.full(5, 0.5), np.full(5, 0.5), line_width=4.0)
    assert picture[..., 0].max() == pytest.approx(1.0) and picture[30, 45, 1] == 0.0


def test_limits_are_round_and_enclose_zero_and_all_values(image):
    cases = {(5.2,): (0.0, 6.0), (0.0,): (0.0, 1.0), (): (0.0, 1.0), (3.0,): (0.0, 3.0), (-0.5, 1.0): (-0.5, 1.0),
             (np.nan, 0.07): (0.0, 0.08), (100.0,): (0.0, 100.0), (-3.0,): (-3.0, 0.0)}
    for values, limits in cases.items():
        assert image.round_limits([np.array(values)]) == pytest.approx(limits), values
    assert image.round_limits([np.array([1e-6])], 0.1) == pytest.approx((0.0, 0.1))
    rng = np.random.default_rng(2)
    for scale in 10.0 ** np.arange(-320, 101, 7.0):
        values = rng.normal(size=5) * scale
        low, high = image.round_limits([values])
        assert low <= 0.0 <= high and low < high
        assert (values >= low - 1e-9 * (high - low)).all() and (values <= high + 1e-9 * (high - low)).all()
        drawn(image, values, limits=(low, high))


@pytest.mark.parametrize("background", [0.0, 0.11, 0.25, 0.4, 0.6, 0.85, 1.0])
def test_curves_differ_from_every_grey_of_a_theme(extension, background):
    icons = extension.curve_icons
    chosen = icons.style_on((background,) * 3, (1.0 - background,) * 3, 1.5)
    below = icons.luminance(chosen.background)
    for colour in chosen.curves:
        light = icons.luminance(colour)
        assert (max(light, below) + 0.05) / (min(light, below) + 0.05) > 1.9, (colour, background)
