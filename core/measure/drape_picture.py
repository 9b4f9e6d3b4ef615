# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of a fabric in the drape meter as a drape meter shows it: the shadow, the plates, and the flat specimen."""

from __future__ import annotations

import numpy as np

from .drape_meter import Drape

SIDE = 640
"""Side of the picture [pixels]."""


def svg(found: Drape, title: str) -> str:
    """Return the picture as the text of an SVG file."""
    whole = 0.5 * found.meter.diameter
    scale = 0.5 * SIDE / (1.1 * whole)

    def points(x: object) -> str:
        return " ".join(f"{0.5 * SIDE + scale * a:.1f},{0.5 * SIDE - scale * b:.1f}" for a, b in np.asarray(x)[:, :2])

    triangles = "".join(f'<polygon points="{points(found.positions[corners])}"/>' for corners in found.triangles)
    middle, text = f'cx="{SIDE / 2:.0f}" cy="{SIDE / 2:.0f}"', f"{title}: {100.0 * found.coefficient:.1f} %, "
    text += f"{found.nodes} nodes"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{SIDE}" height="{SIDE + 40}">
<rect width="{SIDE}" height="{SIDE + 40}" fill="white"/>
<circle {middle} r="{scale * whole:.1f}" fill="none" stroke="#999" stroke-dasharray="6 4"/>
<g fill="#777" stroke="#777" stroke-width="0.6">{triangles}</g>
<polygon points="{points(found.positions[found.hem])}" fill="none" stroke="#222" stroke-width="1.5"/>
<circle {middle} r="{scale * 0.5 * found.meter.plate:.1f}" fill="#bbb" stroke="#222"/>
<text x="{SIDE / 2:.0f}" y="{SIDE + 22}" font-family="sans-serif" font-size="18"
 text-anchor="middle">{_escaped(text)}</text>
</svg>
"""


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
