# SPDX-License-Identifier: GPL-3.0-or-later
"""Break text into lines of a given width in the font of Blender's interface."""

from __future__ import annotations

import functools
import re

import blf
import bpy

LEAST_WIDTH = 40.0
"""Width of the narrowest line [pixels at an interface of scale 1]."""
HYPHEN = re.compile(r"(?<=[^\W\d]-)(?=[^\W\d])")
"""Where a word may be broken: after a hyphen between letters."""
FOLDER = re.compile(r"(?<=[/\\])")
"""Where a path may be broken: behind the name of a folder."""
FONT = 0
"""Number of the interface's font in `blf`."""


def ui_scale() -> float:
    """Return the size of the interface, 1 by default. Blender without a window has the scale 0."""
    return float(bpy.context.preferences.system.ui_scale or 1.0)


def width(text: str) -> float:
    """Return the width of a label's text [pixels]."""
    return _width(text, _points())


def lines(text: str, pixels: float) -> list[str]:
    """Return the text in lines of at most this width [pixels]: broken at spaces, hyphens, and behind the name of a
    folder in a path; a longer word anywhere."""
    return list(_lines(text, max(pixels, LEAST_WIDTH * ui_scale()), _points()))


def _points() -> float:
    """Return the size of the letters of labels [pixels]."""
    return float(bpy.context.preferences.ui_styles[0].widget.points) * ui_scale()


@functools.lru_cache(maxsize=4096)
def _width(text: str, points: float) -> float:
    blf.size(FONT, points)
    return float(blf.dimensions(FONT, text)[0])


@functools.lru_cache(maxsize=512)
def _lines(text: str, pixels: float, points: float) -> tuple[str, ...]:
    found, line = [], ""
    for part in _parts(text):
        if line and _width((line + part).rstrip(), points) > pixels:
            found.append(line.rstrip())
            line = ""
        line = line + part if line else part.lstrip()
        while _width(line.rstrip(), points) > pixels and len(line.rstrip()) > 1:
            fits = next((n for n in range(len(line) - 1, 1, -1) if _width(line[:n], points) <= pixels), 1)
            found.append(line[:fits])
            line = line[fits:]
    return (*found, line.rstrip()) if line.strip() else tuple(found)


def _parts(text: str) -> list[str]:
    """Return the parts of a text that are not broken, spaces among them. A no-break space is no break."""
    found: list[str] = []
    for word in re.split(r"([ \n]+)", text):
        found += (FOLDER if FOLDER.search(word) else HYPHEN).split(word)
    return [part for part in found if part]
