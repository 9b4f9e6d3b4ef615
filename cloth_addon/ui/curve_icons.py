# SPDX-License-Identifier: GPL-3.0-or-later
"""Icons with the picture of curves and with the colours of its legend, made by Blender's previews.

They are made again only if the statistics, the chosen curves, the current frame, the size or the theme have changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import bpy
import bpy.utils.previews
import numpy as np
from numpy.typing import NDArray

from .curve_image import Colour, Style, curve_image, round_limits, with_marker

LIGHT_COLOURS: tuple[Colour, ...] = ((0.36, 0.66, 1.0), (1.0, 0.70, 0.33))
DARK_COLOURS: tuple[Colour, ...] = ((0.06, 0.30, 0.68), (0.62, 0.26, 0.0))
"""Colours of the curves on a dark and on a light background, two that differ for the colour-blind, too."""
MIDDLE_GREY = 0.18
"""Luminance of the background from which on it is light [-]."""
LINE_WIDTH = 1.5
"""Width of a line, over the interface's scale [pixels]."""
GRID_STRENGTH = 0.15
"""Part of the text's colour in that of the grid [-]."""
MARKER_STRENGTH = 0.6
"""Part of the text's colour in that of the marker of the current frame [-]."""
SWATCH = 16
"""Width and height of a colour of the legend [pixels]."""


def style_of(preferences: Any) -> Style:
    """Return colours that are readable with the current theme, and the width of lines at the interface's scale."""
    box = preferences.themes[0].user_interface.wcol_text
    background, text = tuple(box.inner[:3]), tuple(box.text[:3])
    return style_on(background, text, LINE_WIDTH * (preferences.system.ui_scale or 1.0))


def style_on(background: Colour, text: Colour, line_width: float) -> Style:
    """Return colours that are readable on a background."""
    return Style(background=background, grid=_mixed(background, text, GRID_STRENGTH),
                 marker=_mixed(background, text, MARKER_STRENGTH),
                 curves=LIGHT_COLOURS if luminance(background) < MIDDLE_GREY else DARK_COLOURS, line_width=line_width)


def luminance(colour: Colour) -> float:
    """Return the relative luminance of an sRGB colour, 0 to 1 (WCAG 2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mixed(first: Colour, second: Colour, part: float) -> Colour:
    return tuple((1.0 - part) * a + part * b for a, b in zip(first, second, strict=True))  # type: ignore[return-value]


class CurveIcons:
    """The icons of one picture and its legend, which exist until `close`."""

    def __init__(self) -> None:
        self._previews: Any = bpy.utils.previews.new()
        self._curves_key: tuple[Any, ...] = ()      # what the picture without the marker was made of
        self._image: NDArray[np.float32] = np.zeros((1, 1, 4), np.float32)
        self._marked_key: tuple[Any, ...] = ()
        self.limits = (0.0, 1.0)

    def close(self) -> None:
        """Remove the icons from Blender."""
        bpy.utils.previews.remove(self._previews)

    def picture(self, owner: Any, kind: str, curves: Sequence[NDArray[np.float64]], smallest: float, index: int,
                size: int, style: Style, borders: Sequence[int] = ()) -> int:
        """Return the icon of a square picture of curves (F,), and set `limits` to the ends of its axis.

        Args:
            owner: object whose curves these are; another object has other curves.
            kind: which of its curves.
            smallest: smallest upper end of the axis.
            index: index of the current frame, which is marked if it is one of the curves'.
            size: width and height [pixels].
            borders: indices of the frames before which there is a line, because settings change.
        """
        key = (kind, size, style, tuple(borders))
        if not self._curves_key or self._curves_key[0] is not owner or self._curves_key[1] != key:
            self.limits = round_limits(curves, smallest)
            image = curve_image(curves, self.limits, (size, size), style)
            for border in borders:
                image = with_marker(image, border - 0.5, len(curves[0]), replace(style, marker=style.curves[-1]))
            self._image = image
            self._curves_key, self._marked_key = (owner, key), ()
        frames = len(curves[0])
        if self._marked_key != (index,):
            marked = with_marker(self._image, index, frames, style) if 0 <= index < frames else self._image
            self._set("curves", marked)
            self._marked_key = (index,)
        return int(self._previews["curves"].icon_id)

    def swatch(self, number: int, style: Style) -> int:
        """Return the icon with the colour of a curve."""
        name = f"colour {style.curves[number]}"
        if name not in self._previews:
            pixels = np.empty((SWATCH, SWATCH, 4), np.float32)
            pixels[...] = (*style.curves[number], 1.0)
            self._set(name, pixels)
        return int(self._previews[name].icon_id)

    def _set(self, name: str, pixels: NDArray[np.float32]) -> None:
        """Set the pixels (H, W, 4) of an icon."""
        icon = self._previews[name] if name in self._previews else self._previews.new(name)
        height, width = pixels.shape[:2]
        for part, values in (("image", pixels), ("icon", pixels if width == SWATCH else None)):
            if values is not None:
                setattr(icon, f"{part}_size", (width, height))
                getattr(icon, f"{part}_pixels_float").foreach_set(np.ascontiguousarray(values).ravel())
