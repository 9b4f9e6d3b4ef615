# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake's quality certificate in the user's words and units."""

from __future__ import annotations

from typing import Any

import bpy

from .backends import TITLES
from .job import duration

LENGTH_DIGITS = 3


def facts(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Name and value of what matters, from a report's dict; what was not measured is left out."""
    summary = report["summary"]
    frames = len(report["certificates"])
    found = [
        ("Largest Stretch", _stretch(summary["stretch_max"])),
        ("99 % of Edges Below", _stretch(summary["stretch_p99"])),
        ("Deepest Penetration", _length(summary["deepest_penetration"])),
        ("Crossings", _count(summary["crossings"])),
        ("Unconverged Frames", f"{summary['not_converged']} of {frames}"),
        ("Bake Time", duration(report["seconds"]["total"])),
        ("Computed By", TITLES.get(report.get("backend", ""), "")),         # older bakes do not say
    ]
    return [(name, value) for name, value in found if value]


def headline(report: dict[str, Any]) -> str:
    """One line for the status bar."""
    cloths = ", ".join(f"'{name}'" for name in report["cloths"])
    frames = f"frames {report['first']} to {report['last']}"
    time, stretch = duration(report["seconds"]["total"]), _stretch(report["summary"]["stretch_max"])
    return f"Baked {cloths}, {frames}, in {time}: largest stretch {stretch or 'unknown'}"


def _stretch(ratio: float | None) -> str:
    """Edge length over rest length, as what it is longer by."""
    return "" if ratio is None else f"{100 * (ratio - 1):.2f} %"


def _count(number: float | None) -> str:
    return "" if number is None else f"{number:.0f}"


def _length(metres: float | None) -> str:
    if metres is None:
        return ""
    if metres == 0.0:
        return "None"
    system = bpy.context.scene.unit_settings.system
    system = "METRIC" if system == "NONE" else system
    return bpy.utils.units.to_string(system, "LENGTH", metres, precision=LENGTH_DIGITS)
