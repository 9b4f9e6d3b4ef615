# SPDX-License-Identifier: GPL-3.0-or-later
"""Chart of cost against error as an SVG, one panel per scene, by Python alone (bpy's Python has no matplotlib).

    python benchmarks/chart.py build/benchmarks/results.json       draws the chart of earlier results again
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

COLOURS = {"factory": "#c0392b", "tuned": "#2266aa", "cotton": "#2e8b57", "": "#7d3c98", "node": "#7d3c98"}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LEGEND = 480, 400, 60, 30, 45, 16
"""Size of a panel, its margins, and height of a line of the legend [pixels]."""


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the chart of the rows that have a distance.

    Beside a mark are the vertices along a side and the p99 stretch. The size of a mark grows with the mesh. A hollow
    mark was timed while other programs were running.
    """
    scenes: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["distance"] is not None:
            scenes.setdefault(row["scene"], []).append(row)
    systems = list(dict.fromkeys(row["system"] for there in scenes.values() for row in there))
    high = HEIGHT + LEGEND * len(systems) + 10
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * max(1, len(scenes))}" height="{high}" '
             'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>']
    for number, (scene, there) in enumerate(scenes.items()):
        parts += [f'<g transform="translate({number * WIDTH} 0)">', *_panel(scene, there), "</g>"]
    for line, system in enumerate(systems):
        y = HEIGHT + LEGEND * line + 8
        parts += [*_mark(system, LEFT, y, 5.0, False), f'<text x="{LEFT + 12}" y="{y + 4}">{escape(system)}</text>']
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _panel(scene: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the SVG elements of one panel."""
    across = _Axis([1e3 * row["distance"] for row in rows], LEFT, WIDTH - 70)
    up = _Axis([row["ms_median"] for row in rows], HEIGHT - BOTTOM, TOP)
    middle = 'text-anchor="middle"'
    parts = [f'<text x="{WIDTH / 2}" y="18" {middle} font-size="14">{escape(scene)}</text>',
             f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" {middle}>distance from the converged motion [mm]</text>',
             f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" {middle}>time per frame [ms]</text>']
    for value in across.ticks():
        x = across(value)
        parts += [f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>',
                  f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{value:g}</text>']
    for value in up.ticks():
        y = up(value)
        parts += [f'<path d="M{LEFT} {y:.1f}H{WIDTH - 70}" stroke="#ddd"/>',
                  f'<text x="{LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>']
    for row in rows:
        x, y = across(1e3 * row["distance"]), up(row["ms_median"])
        is_busy = any(others is None or others > 0.1 for others in row["turns"]["others"])
        parts += [*_mark(row["system"], x, y, 3.0 + 0.02 * row["size"], is_busy),
                  f'<text x="{x + 8:.1f}" y="{y + 3:.1f}" font-size="9">{row["size"]}² {row["p99_worst"]:.1%}</text>']
    return parts


class _Axis:
    """A logarithmic axis from pixel `start` to pixel `end`."""

    def __init__(self, values: Iterable[float], start: float, end: float) -> None:
        logs = [math.log10(max(value, 1e-6)) for value in values]
        self.low, self.high = min(logs) - 0.1, max(logs) + 0.1
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        part = (math.log10(max(value, 1e-6)) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return 1, 2 and 5 times the powers of ten in the range."""
        every = (digit * 10.0 ** power for power in range(math.floor(self.low), math.ceil(self.high) + 1)
                 for digit in (1, 2, 5))
        return [value for value in every if self.low <= math.log10(value) <= self.high]


def _mark(system: str, x: float, y: float, r: float, hollow: bool) -> list[str]:
    """Return the SVG element of a mark: the shape shows the kind of system, the colour its fabric."""
    kind, _, name = system.partition("-")
    colour = COLOURS[name]
    paint = f'fill="{"white" if hollow else colour}" stroke="{colour}" stroke-width="1.5"'
    shapes = {"muslin": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {paint}/>',
              "modifier": f'<path d="M{x - r:.1f} {y - r:.1f}h{2 * r:.1f}v{2 * r:.1f}h{-2 * r:.1f}z" {paint}/>',
              "node": f'<path d="M{x:.1f} {y - r:.1f}l{r:.1f} {2 * r:.1f}h{-2 * r:.1f}z" {paint}/>',
              "numpy": f'<path d="M{x:.1f} {y - r:.1f}l{r:.1f} {r:.1f}l{-r:.1f} {r:.1f}l{-r:.1f} {-r:.1f}z" {paint}/>'}
    return [shapes[kind]]


if __name__ == "__main__":
    source = Path(sys.argv[1])
    draw(json.loads(source.read_text(encoding="utf-8"))["rows"], source.with_suffix(".svg"))
