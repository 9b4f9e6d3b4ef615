# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake's quality certificate in the user's words and units."""

from __future__ import annotations

from typing import Any

import bpy

from ..bake.backends import TITLES
from ..bake.bake_job import duration

LENGTH_DIGITS = 3
MUCH = 1.1
"""Edge length over rest length that hardly any edge of a weave comes to [-]."""
STIFF = 1000.0
"""Resistance to stretching from which on a fabric is no sheet of rubber [N/m]: of the presets the softest weave, silk,
has 1028, rubber 750."""
PAIRS = 3       # of objects that cross, for one frame


def facts(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Name and value of what matters, from a report's dict; what was not measured is left out."""
    summary = report["summary"]
    frames = len(report["certificates"])
    found = [
        ("Largest Stretch", _stretch(summary["stretch_max"])),
        ("99 % of Edges Below", _stretch(summary["stretch_p99"])),
        ("Smallest Gap", _length(summary["smallest_gap"])),
        ("Deepest Penetration", _length(summary["deepest_penetration"])),
        ("Widest Seam at the End", _length(report["certificates"][-1].get("seam_gap"))),    # older bakes do not say
        ("Crossings", _count(summary["crossings"])),
        ("Frames with Crossings", _frames_with_crossings(report)),
        ("Unconverged Frames", f"{summary['not_converged']} of {frames}"),
        ("Bake Time", duration(report["seconds"]["total"])),
        ("Computed By", TITLES.get(report.get("backend", ""), "")),         # older bakes do not say
    ]
    return [(name, value) for name, value in found if value]


def frame_facts(report: dict[str, Any], frame: int) -> list[tuple[str, str]]:
    """Name and value of what the bake says of one frame; nothing for frames that it does not have."""
    if not report["first"] <= frame <= report["last"]:
        return []
    here = report["certificates"][frame - report["first"]]
    pairs = here.get("crossing_pairs", [])                                  # older bakes do not say
    found = [
        ("Largest Stretch", _stretch(here["stretch_max"])),
        ("Smallest Gap", _length(here["smallest_gap"])),
        ("Deepest Penetration", _length(here["deepest_penetration"])),
        ("Widest Seam", _length(here.get("seam_gap"))),                     # older bakes do not say
        ("Crossings", _count(here["crossings"])),
        *((between(pair["first"], pair["second"]), _count(pair["crossings"])) for pair in pairs[:PAIRS]),
    ]
    return [(name, value) for name, value in found if value]


def between(first: str, second: str) -> str:
    """Who crosses whom."""
    return f"{first} with Itself" if first == second else f"{first}, {second}"


def headline(report: dict[str, Any]) -> str:
    """One line for the status bar."""
    cloths = ", ".join(f"'{name}'" for name in report["cloths"])
    frames = f"frames {report['first']} to {report['last']}"
    time, stretch = duration(report["seconds"]["total"]), _stretch(report["summary"]["stretch_max"])
    return f"Baked {cloths}, {frames}, in {time}: largest stretch {stretch or 'unknown'}"


def start_note(report: dict[str, Any]) -> str:
    """What is to be said, with the way out, of cloth that is in something at the first frame; often nothing."""
    start = report["certificates"][0]
    crossings, inside = start["crossings"], start["deepest_penetration"]
    found, help = [], []
    if crossings:
        pairs = [f"{between(pair['first'], pair['second'])} {pair['crossings']:.0f}"
                 for pair in start["crossing_pairs"][:PAIRS]]
        found.append(f"{crossings:.0f} edges cross faces ({'; '.join(pairs)})")
        help.append("Move apart what crosses, or let the bake begin some frames earlier: it comes apart then, which "
                    "can stretch it.")
    if inside > 0.0:
        found.append(f"the deepest vertex is {inside:.3g} m inside a collider")
        help.append("What starts inside is pushed out, which can stretch it far: move it out. If the collider is a "
                    "room, turn all its normals inwards.")
    return f"At frame {report['first']} {' and '.join(found)}. {' '.join(help)}" if found else ""


def stretch_note(report: dict[str, Any]) -> str:
    """What is to be said, with the way out, of cloth that stretches further than its fabrics would; often nothing.

    The certificate is that of all cloth together: where one of it may stretch so, nothing is said.
    """
    p99 = [frame["stretch_p99"] or 0.0 for frame in report["certificates"]]
    most = max(p99)
    if not most > MUCH or not all(_is_taut(report["settings"][name]) for name in report["cloths"]):
        return ""
    return (f"At frame {report['first'] + p99.index(most)} one edge in a hundred is longer than at rest by "
            f"{_stretch(most)} or more, which such a fabric hardly allows: raise Steps per Frame, or the fabric's "
            "Stretch; where what holds or hits it leaps there, slow that down")


def _is_taut(settings: dict[str, Any]) -> bool:
    """Whether a cloth's settings ask for next to no stretch: by its fabric, and by its size at rest."""
    garment = settings["garment"]
    as_modelled = not (garment["pattern"] or garment["shrink_group"] or garment["shrink"][0])
    return as_modelled and not settings["model_options"] and min(settings["stretch"]) >= STIFF


def _stretch(ratio: float | None) -> str:
    """Edge length over rest length, as what it is longer by."""
    return "" if ratio is None else f"{100 * (ratio - 1):.2f} %"


def _frames_with_crossings(report: dict[str, Any]) -> str:
    number = sum(bool(frame.get("crossings")) for frame in report["certificates"])
    return f"{number} of {len(report['certificates'])}" if number else ""


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
