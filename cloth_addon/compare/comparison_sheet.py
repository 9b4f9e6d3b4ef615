# SPDX-License-Identifier: GPL-3.0-or-later
"""The sheet of a comparison: one HTML page with pictures, figures, curves and settings, for any browser.

A table has one row for each run, with the largest figures of all frames. A run that failed has dashes instead, because
its figures would be of fewer frames. The curves show the change of energy since the start and the 99th percentile of
stretch, over the frames. The options of each run and the settings that all runs share follow.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

from ..properties.number_text import number_text
from .records import Outcome

COLOURS = ("#c0392b", "#2471a3", "#229954", "#b9770e", "#7d3c98", "#148f77", "#5d6d7e", "#d35400")
DASHES = ("", "6 3", "2 2", "8 3 2 3")
"""Colours and SVG dash patterns of the curves, in the order of the runs."""
CHART_SIZE = (560, 260)
"""Width and height of a chart [pixels]."""
CHART_MARGINS = (64, 16, 12, 30)
"""Left, right, top and bottom margin of a chart [pixels]."""
TICKS = 4
"""Number of intervals between the ticks of an axis."""
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1180px; padding: 0 1em; color: #222; }
table { border-collapse: collapse; width: 100%; margin: 1em 0; }
th, td { text-align: right; padding: .3em .7em; border-bottom: 1px solid #ddd; vertical-align: top; }
th:first-child, td:first-child, .options td { text-align: left; }
.error { color: #a93226; text-align: left; }
figure { display: inline-block; margin: 0 1em 1em 0; } figure img { display: inline-block; width: 240px; }
figcaption { font-weight: 600; } svg { font: 12px system-ui, sans-serif; }
.runs span { display: inline-block; margin-right: 1.4em; }
"""


def html(values: dict[str, Any], outcomes: Sequence[Outcome], folder: Path) -> str:
    """Return the page. `values` are the contents of compare.json; pictures in `folder` are embedded in the page."""
    title, first = f"{', '.join(values['objects'])} in {values['scene']}", values["first"]
    runs = [outcome for outcome in outcomes if len(outcome.frames) > 1 or (outcome.frames and not outcome.error)]
    parts = [f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Muslin: {escape(title)}</title>",
             f"<style>{STYLE}</style><h1>{escape(title)}</h1>",
             _table(outcomes, values["last"] - first + 1), "<div>",
             *(_pictures(outcome, folder) for outcome in runs if outcome.pictures), "</div>"]
    if runs:
        legend = "".join(f"<span>{legend_line(i)} {escape(outcome.variant.title)}</span>"
                         for i, outcome in enumerate(runs))
        parts += [f"<p class='runs'>{legend}</p>",
                  curves_over_frames("Energy since the start [J]", first, [_energy(outcome) for outcome in runs]),
                  curves_over_frames("Stretch, 99th percentile", first,
                                     [[frame["stretch_p99"] for frame in outcome.frames] for outcome in runs])]
    return "\n".join([*parts, _options(values, outcomes)]) + "\n</html>\n"


COLUMNS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("ms per frame", lambda o: f"{1e3 * median(o.seconds[1:]):.1f}" if len(o.seconds) > 1 else ""),
    ("slowest [ms]", lambda o: f"{1e3 * max(o.seconds[1:]):.0f}" if len(o.seconds) > 1 else ""),
    ("steps", lambda o: f"{sum(frame['steps'] for frame in o.frames)}"),
    ("iterations", lambda o: f"{sum(frame['iterations'] for frame in o.frames)}"),
    ("stretch p99", lambda o: f"{o.worst('stretch_p99'):.4f}"),
    ("stretch max", lambda o: f"{o.worst('stretch_max'):.4f}"),
    ("crossings", lambda o: f"{o.worst('crossings'):.0f}"),
    ("deepest [mm]", lambda o: f"{1e3 * o.worst('deepest_penetration'):.2f}"),
    ("energy at the end [J]", lambda o: number_text(_energy(o)[-1], 4)),
    ("computed by", lambda o: o.frames[0]["backend"]),
)
"""Titles of the columns, and functions of an Outcome that return their text."""
NO_VALUE = "–"


def _table(outcomes: Sequence[Outcome], total: int) -> str:
    """Return the table of all runs. `total` is the number of frames of a complete run."""
    head = "".join(f"<th>{name}</th>" for name, _ in COLUMNS)
    rows = []
    for outcome in outcomes:
        solved = len(outcome.frames) if len(outcome.frames) > 1 or not outcome.error else 0     # not the initial state
        figures = [NO_VALUE if outcome.error or not outcome.frames else value(outcome) for _, value in COLUMNS]
        rows.append(f"<tr><td>{escape(outcome.variant.title)}</td>"
                    f"<td>{f'{solved} of {total}' if outcome.error else solved}</td>"
                    + "".join(f"<td>{escape(figure)}</td>" for figure in figures) + "</tr>")
        if outcome.error:
            rows.append(f"<tr><td class='error' colspan='{len(COLUMNS) + 2}'>{escape(outcome.error)}</td></tr>")
    return f"<table><tr><th>model, integrator</th><th>frames</th>{head}</tr>{''.join(rows)}</table>"


def _options(values: dict[str, Any], outcomes: Sequence[Outcome]) -> str:
    """Return two tables: the options of each run, and the settings that all runs share."""
    ran = [outcome for outcome in outcomes if outcome.solver_options]
    same = {name: value for name, value in (ran[0].solver_options if ran else {}).items()
            if all(name in one.solver_options and one.solver_options[name] == value for one in ran)}
    if len(ran) > 1:
        same.pop("integrator", None)
    rows = []
    for one in ran:
        own = {name: value for name, value in one.solver_options.items() if name not in {*same, "integrator"}}
        several = len(one.model_options) > 1
        model = "<br>".join((f"{escape(name)}: " if several else "") + _listed(options)
                            for name, options in one.model_options.items())
        rows.append(f"<tr><td>{escape(one.variant.title)}</td><td>{model}</td><td>{_listed(own)}</td></tr>")
    settings = values["settings"]
    common = [("solver", same)]                                     # pairs: an object may have any of these names
    if settings:
        common += [("scene", settings["scene"]), *settings["cloths"].items(), *settings["colliders"].items()]
    common.append(("versions", values["versions"]))
    return ("<h2>Options of each run</h2><table class='options'>"
            "<tr><td><b>model, integrator</b></td><td><b>of the model</b></td><td><b>of the solver</b></td></tr>"
            f"{''.join(rows)}</table><h2>The same for all runs</h2><table class='options'>"
            + "".join(f"<tr><td>{escape(name)}</td><td>{_listed(given)}</td></tr>" for name, given in common)
            + "</table>")


def _listed(options: dict[str, Any]) -> str:
    """Return options as `name value, name value`."""
    return escape(", ".join(f"{name} {_value(value)}" for name, value in options.items())) or NO_VALUE


def _value(value: Any) -> str:
    """Return the text of an option's value; None, which leaves the choice to the model, reads as automatic."""
    if value is None:
        return "automatic"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list | tuple):
        return "(" + ", ".join(_value(item) for item in value) + ")"
    return str(value)


def _pictures(outcome: Outcome, folder: Path) -> str:
    """Return the figure with the pictures of a run."""
    images = "".join(f"<img alt='{escape(name)}' src='data:image/png;base64,"
                     f"{base64.b64encode((folder / name).read_bytes()).decode()}'>" for name in outcome.pictures)
    return f"<figure>{images}<figcaption>{escape(outcome.variant.title)}</figcaption></figure>"


def _energy(outcome: Outcome) -> list[float]:
    """Return the sum of kinetic, elastic and gravitational energy at each frame, less that of the start [J]."""
    total = [sum(frame["energy"].values()) for frame in outcome.frames]
    return [value - total[0] for value in total]


def legend_line(number: int) -> str:
    """Return the line of run `number` in the legend."""
    return f"<svg width='28' height='10'><path d='M0 5H28' {_stroke(number)}/></svg>"


def _stroke(number: int) -> str:
    """Return the SVG attributes of the line of run `number`."""
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
    return f"stroke='{colour}' stroke-width='1.8' fill='none' stroke-dasharray='{dash}'"


def curves_over_frames(title: str, first: int, curves: Sequence[Sequence[float]]) -> str:
    """Return a chart of curves over frames, of which `first` is the first."""
    width, height = CHART_SIZE
    left, right, top, bottom = CHART_MARGINS
    values = [value for curve in curves for value in curve if math.isfinite(value)]
    low, high = min(values, default=0.0), max(values, default=0.0)
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        low, high = low - max(abs(low), 1e-12), high + max(abs(high), 1e-12)
    last = max(max((len(curve) for curve in curves), default=1) - 1, 1)

    def across(frame: float) -> float:
        return left + frame / last * (width - left - right)

    def down(value: float) -> float:
        return top + (high - value) / (high - low) * (height - top - bottom)

    parts = [f"<svg width='{width}' height='{height}' role='img' aria-label='{escape(title)}'>"]
    for i in range(TICKS + 1):
        value, frame = low + (high - low) * i / TICKS, round(last * i / TICKS)
        parts.append(f"<path d='M{left} {down(value):.1f}H{width - right}' stroke='#ddd'/>"
                     f"<text x='{left - 6}' y='{down(value) + 4:.1f}' text-anchor='end'>{number_text(value, 4)}</text>"
                     f"<text x='{across(frame):.1f}' y='{height - bottom + 16}' text-anchor='middle'>"
                     f"{first + frame}</text>")
    for number, curve in enumerate(curves):
        points = [f"{across(i):.1f} {down(value):.1f}" for i, value in enumerate(curve) if math.isfinite(value)]
        parts.append(f"<path d='M{'L'.join(points)}' {_stroke(number)}/>" if points else "")
    return f"<figure>{''.join(parts)}</svg><figcaption>{escape(title)}, by frame</figcaption></figure>"
