# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate of a bake as text for the user, in the scene's units."""

from __future__ import annotations

from typing import Any

import bpy

from ..bake.bake_job import duration
from ..bake.report_notes import MAX_PAIRS, pair_text, stretch_text
from ..properties.enum_items import BACKEND_TITLES
from ..properties.number_text import number_text

LENGTH_DIGITS = 3
"""Number of digits of a length."""
LEAST_SHOWN = 1.001
"""Length over rest length of an edge between pinned vertices from which on it has a line of its own [-]."""


def facts(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return label and value of the figures of a bake, from the dict of a report. Unknown figures are left out."""
    summary = report["summary"]
    frames = len(report["certificates"])
    pinned = max((certificate.get("stretch_pinned", 1.0) for certificate in report["certificates"]), default=None)
    found = [
        ("Baked Frames", f"{report['first']} to {report['last']}"),
        ("Largest Stretch", _largest(summary["stretch_max"], pinned)),
        ("99 % of Edges Below", stretch_text(summary["stretch_p99"])),
        ("Stretch between Pins", _pinned(pinned)),
        ("Smallest Gap", _length(summary["smallest_gap"])),
        ("Deepest Penetration", _length(summary["deepest_penetration"])),
        ("Widest Seam at the End", _length(report["certificates"][-1].get("seam_gap"))),    # missing in older bakes
        ("Crossings", _count(summary["crossings"])),
        ("Crossings of Pinched Cloth", _pinched_count(summary)),
        ("Frames with Crossings", _frames_with_crossings(report)),
        ("Torn Edges", _count(summary.get("torn_edges"))),                                  # missing in older bakes
        ("Unconverged Frames", f"{summary['not_converged']} of {frames}{_first_unconverged(report)}"),
        ("Bake Time", duration(report["seconds"]["total"])),
        ("Computed By", BACKEND_TITLES.get(report.get("backend", ""), "")),                 # missing in older bakes
    ]
    return [(name, value) for name, value in found if value]


def frame_facts(report: dict[str, Any], frame: int) -> list[tuple[str, str]]:
    """Return label and value of the figures of one frame; empty for frames that were not baked."""
    if not report["first"] <= frame <= report["last"]:
        return []
    certificate = report["certificates"][frame - report["first"]]
    pairs = certificate.get("crossing_pairs", [])                           # missing in older bakes
    found = [
        ("Largest Stretch", _largest(certificate["stretch_max"], certificate.get("stretch_pinned"))),
        ("Stretch between Pins", _pinned(certificate.get("stretch_pinned"))),               # missing in older bakes
        ("Smallest Gap", _length(certificate["smallest_gap"])),
        ("Deepest Penetration", _length(certificate["deepest_penetration"])),
        ("Widest Seam", _length(certificate.get("seam_gap"))),              # missing in older bakes
        ("Crossings", _count(certificate["crossings"])),
        ("Crossings of Pinched Cloth", _pinched_count(certificate)),
        ("Torn Edges", _count(certificate.get("torn_edges"))),              # missing in older bakes
        ("Converged", "No" if certificate.get("converged") is False else ""),
        *((pair_text(pair["first"], pair["second"]), _count(pair["crossings"])) for pair in pairs[:MAX_PAIRS]),
    ]
    return [(name, value) for name, value in found if value]


def _pinched_count(values: dict[str, Any]) -> str:
    """Return the number of crossings where colliders leave no room for cloth, nothing if there are none."""
    number = values.get("crossings_pinched")                                # missing in older bakes
    return _count(number) if number else ""


def headline(report: dict[str, Any]) -> str:
    """Return one line on the bake for the status bar."""
    cloths = ", ".join(f"'{name}'" for name in report["cloths"])
    frames = f"frames {report['first']} to {report['last']}"
    time, summary = duration(report["seconds"]["total"]), report["summary"]
    largest, most = (stretch_text(summary[name]) or "unknown" for name in ("stretch_max", "stretch_p99"))
    return f"Baked {cloths}, {frames}, in {time}: largest stretch {largest}, 99 % of edges below {most}"


def switched(obj: bpy.types.Object, report: dict[str, Any]) -> str:
    """Return one line for the status bar on a bake that has become another kind of result."""
    kind = "a Mesh Cache" if obj.muslin.result == "MESH_CACHE" else "shape keys"
    return f"Frames {report['first']} to {report['last']} are {kind} now. Nothing was simulated"


def taken(report: dict[str, Any]) -> str:
    """Return one line for the status bar on frames on disk that have become the bake."""
    stretch = stretch_text(report["summary"]["stretch_max"])
    return f"In use: frames {report['first']} to {report['last']}, largest stretch {stretch or 'unknown'}"


def _frames_with_crossings(report: dict[str, Any]) -> str:
    number = sum(bool(frame.get("crossings")) for frame in report["certificates"])
    return f"{number} of {len(report['certificates'])}" if number else ""


def _first_unconverged(report: dict[str, Any]) -> str:
    """Return which frame is the first that did not converge, nothing if all did."""
    first = next((number for number, frame in enumerate(report["certificates"], report["first"])
                  if frame.get("converged") is False), None)
    return "" if first is None else f", first: {first}"


def _largest(ratio: float | None, pinned: float | None) -> str:
    """Return the largest stretch, and whether it is that of an edge between two pins."""
    between = ratio is not None and pinned is not None and pinned >= ratio > LEAST_SHOWN
    return stretch_text(ratio) + " between pins" * between


def _pinned(ratio: float | None) -> str:
    """Return the stretch between pinned vertices, empty if there is none that would be displayed."""
    return stretch_text(ratio) if ratio is not None and ratio > LEAST_SHOWN else ""


def _count(number: float | None) -> str:
    return "" if number is None else f"{number:.0f}"


def _length(metres: float | None) -> str:
    """Return a length in the scene's units, "None" for 0, and an empty text for None."""
    return "" if metres is None else "None" if metres == 0.0 else length_text(metres)


def length_text(metres: float) -> str:
    """Return a length in the scene's units: in millimetres below a metre, so that lengths can be compared at a glance.
    """
    if bpy.context.scene.unit_settings.system == "IMPERIAL":
        return bpy.utils.units.to_string("IMPERIAL", "LENGTH", metres, precision=LENGTH_DIGITS)
    if abs(metres) < 1.0:
        return f"{number_text(1000.0 * metres, LENGTH_DIGITS)} mm"
    return f"{number_text(metres, LENGTH_DIGITS + 1)} m"
