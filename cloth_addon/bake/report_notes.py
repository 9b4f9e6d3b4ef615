# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes of a bake's report: conditions that the user should know about, each with a remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..properties.number_text import number_text
from ..write.report import Report
from . import backends

PARTIAL = "Partial: frames"
"""Start of the note that a bake is not complete."""
EARTH_GRAVITY = 9.81
"""Standard gravity, rounded [m/s^2]."""
LARGE_GRAVITY = 10.0
"""Gravity over that of the earth from which on there is a note [-]."""
VISIBLE_PLAYBACK_ERROR = 1e-3
"""Playback error over the mean edge length from which on there is a note [-]."""
LARGE_STRETCH = 1.1
"""Edge length over rest length that 99 % of the edges of a woven fabric stay below [-]."""
WOVEN_STIFFNESS = 1000.0
"""Smallest resistance to stretching of a woven fabric [N/m]. It lies between the presets silk and rubber."""
LENGTHENING = {"stretch_warp", "stretch_weft", "shrink_min", "shrink_max"}
"""Settings with which cloth may get longer where they are keyed. The record of a bake has their default values."""
MAX_PAIRS = 3
"""Largest number of pairs of crossing objects that are named for one frame."""


def gravity_notes(vector: NDArray[np.float64], unit: float) -> list[str]:
    """Return a note on gravity (3,) [m/s^2] that is weak because of the unit scale [m], or very strong."""
    gravity = float(np.linalg.norm(vector))
    if unit != 1.0 and abs(gravity - EARTH_GRAVITY * unit) < 0.01 * EARTH_GRAVITY * unit:
        return [f"Gravity is {number_text(gravity, 3)} m/s², because the scene's unit is {number_text(unit)} m. For "
                "the earth's, set Scene > Gravity to 9.81 m/s² downwards."]
    if gravity > LARGE_GRAVITY * EARTH_GRAVITY:
        return [f"Gravity is {number_text(gravity, 3)} m/s², {number_text(gravity / EARTH_GRAVITY, 3)} times the "
                "earth's. If this is a mistake, correct Scene > Gravity, or the unit scale in Scene > Units."]
    return []


def result_notes(report: Report, mean_edges: dict[str, float], simulated: Sequence[dict[str, Any]]) -> list[str]:
    """Return the notes on the result of a bake.

    Args:
        report: of the bake, without these notes.
        mean_edges: mean length of the edges of each cloth [m].
        simulated: certificates of all frames that were simulated, those before the bake's first too.
    """
    notes = []
    if report.backend != "numba" and backends.why_broken() and report.settings["scene"]["backend"] is None:
        notes.append(f"Numba is installed but does not run here, NumPy ran instead: {backends.why_broken()}")
    values = report.as_dict()
    notes += [note for note in (
        moved_note(simulated), start_note(values), crossing_note(values), stretch_note(values)) if note]
    summary = report.summary()
    unconverged = summary["not_converged"]
    if unconverged and report.settings["scene"]["integrator"] == "projective_dynamics":
        notes.append(f"Projective dynamics ended {unconverged} of {len(report.certificates)} frames before it was "
                     f"close to the solution, with a residual of up to {number_text(summary['residual'], 2)}: there "
                     "the cloth moves too slowly, as in honey. Raise Outer Iterations or Steps per Frame, or choose "
                     "BDF2.")
    for name, mean_edge in zip(report.cloths, mean_edges.values(), strict=False):
        error = report.playback_error[name]
        if error > VISIBLE_PLAYBACK_ERROR * mean_edge:
            notes.append(f"{name}: plays back up to {number_text(error, 3)} m from where it was simulated, because a "
                         "modifier cannot be undone exactly. Switch off modifiers that smooth it.")
    return notes


def start_note(report: dict[str, Any]) -> str:
    """Return a note on cloth that starts crossed or inside a collider, empty if it does not."""
    start = report["certificates"][0]
    crossings, depth = start["crossings"], start["deepest_penetration"]
    found, remedies = [], []
    if crossings:
        pairs = [f"{pair_text(pair['first'], pair['second'])} {pair['crossings']:.0f}"
                 for pair in start["crossing_pairs"][:MAX_PAIRS]]
        left = (start.get("start") or {}).get("left") or []
        place = f", most around ({', '.join(f'{value:.2f}' for value in left[0]['place'])}) m" if left else ""
        found.append(f"{crossings:.0f} edges cross faces ({'; '.join(pairs)}){place}")
        remedies.append("Move apart what crosses, unpin it where pins hold it inside, or start the bake some frames "
                        "earlier: then it comes apart, which can stretch it.")
    if depth > 0.0:
        found.append(f"the deepest vertex is {number_text(depth, 3)} m inside a collider")
        remedies.append("Cloth that starts inside is pushed out, which can stretch it far: move it out. If the "
                        "collider is a room, all its normals must point inwards, and all cloth must be in it.")
    return f"At frame {report['first']} {' and '.join(found)}. {' '.join(remedies)}" if found else ""


def moved_note(certificates: Sequence[dict[str, Any]]) -> str:
    """Return a note on cloth that was moved before the first of the simulated frames, because it crossed something."""
    frame = next((each for each in certificates if each.get("start")), None)
    if frame is None or not frame["start"].get("moved"):                # missing in older bakes
        return ""
    start, started, remedies = frame["start"], [], []
    if start["deepest_penetration"] > 0.0:
        started.append(f"up to {number_text(start['deepest_penetration'], 3)} m inside a collider")
        remedies.append(" If the collider is a room, all its normals must point inwards, and all cloth must be in it.")
    if start["crossings"]:
        started.append(f"with {start['crossings']} edges through faces")
        remedies.append(" Fit to Body puts that shape into the mesh.")
    moves = ", ".join(f"{move['cloth']} by up to {number_text(move['way'], 2)} m" for move in start["moved"])
    return (f"Before frame {frame['frame']}, cloth that started {', '.join(started)}, was moved"
            f"{'' if start['left'] else ' out'}: {moves}.{''.join(remedies)}")


def crossing_note(report: dict[str, Any]) -> str:
    """Return a note on cloth that starts free and crosses something later, empty if it does not."""
    frames, first = report["certificates"], report["first"]
    counts = [frame["crossings"] or 0 for frame in frames]
    if counts[0] or not any(counts):
        return ""
    worst, some = int(np.argmax(counts)), np.flatnonzero(counts)
    pairs = "; ".join(f"{pair_text(pair['first'], pair['second'])} {pair['crossings']:.0f}"
                      for pair in frames[worst]["crossing_pairs"][:MAX_PAIRS])
    pins = any(report["settings"]["cloths"][name].get("pin_group") for name in report["cloths"])
    remedy = "Slow down what moves there, or raise Steps per Frame."
    if pins:
        remedy = f"If pins take it through a collider, move them around that. If not: {remedy}"
    return (f"Cloth crosses something in {len(some)} of {len(frames)} frames, first in frame {first + some[0]} and "
            f"most in frame {first + worst}: {counts[worst]:.0f} edges cross faces ({pairs}). {remedy} Show Crossings "
            "draws them.")


def stretch_note(report: dict[str, Any]) -> str:
    """Return a note on cloth that stretches more than its fabric would, empty if it does not.

    The certificate is that of all cloth together. If one of them may stretch so much, there is no note.
    """
    p99 = [frame["stretch_p99"] or 0.0 for frame in report["certificates"]]
    largest = max(p99)
    of_cloths = report["settings"]["cloths"]
    settings = [of_cloths[name] for name in report["cloths"]]
    if not largest > LARGE_STRETCH or not all(map(_is_stiff, settings)):
        return ""
    keys = [(name, key) for name in report["cloths"] if (key := of_cloths[name].get("rest", {}).get("shape_key"))]
    if keys and p99[0] > LARGE_STRETCH and largest <= LARGE_STRETCH * p99[0]:
        name, key = keys[0]
        return (f"Frame {report['first']}: {name} starts stretched by {100 * (p99[0] - 1):.0f} %, because its Rest "
                f"Shape Key '{key}' is smaller than the mesh. It shrinks to that shape as far as pins let it.")
    worst = p99.index(largest)
    pinned = report["certificates"][worst].get("stretch_pinned") or 1.0
    stretched = f"Frame {report['first'] + worst}: fabric stretched by {100 * (largest - 1):.0f} %"
    if pinned > LARGE_STRETCH:
        return (f"{stretched}, between pinned vertices by up to {100 * (pinned - 1):.0f} %. Correct what moves the "
                "pins there, or pin fewer vertices.")
    edge = report["certificates"][worst].get("stretch_at")                  # missing in older bakes
    place = (f", most between vertices {edge['vertices'][0]} and {edge['vertices'][1]} of {edge['cloth']}"
             if edge else "")
    named = [of_cloths[edge["cloth"]]] if edge and edge["cloth"] in of_cloths else settings
    if any(cloth.get("pressure", {}).get("used") for cloth in named):
        return (f"{stretched}{place}. If that is its Pressure, lower Pressure, Pressure Scale or Target Volume, or "
                "raise Stretch. If not, increase Steps per Frame.")
    pins = any(cloth.get("pin_group") for cloth in settings)
    return (f"{stretched}{place}. Increase Steps per Frame, or slow what moves "
            f"{'the pins or the colliders' if pins else 'the colliders'} there.")


def pair_text(first: str, second: str) -> str:
    """Return the label of a pair of crossing objects."""
    return f"{first} with Itself" if first == second else f"{first}, {second}"


def stretch_text(ratio: float | None) -> str:
    """Return an edge length over rest length as the elongation in percent, 0 if it is shorter; empty for None."""
    return "" if ratio is None else f"{max(0.0, 100 * (ratio - 1)):.2f} %"


def _is_stiff(settings: dict[str, Any]) -> bool:
    """Return whether a cloth's settings allow only little stretch, by its fabric and by its rest shape."""
    garment = settings["garment"]
    as_modelled = not (garment["pattern"] or garment["shrink_group"] or garment["shrink"][0])
    group, factor = garment["stiffness"]["stretch"]
    weakest = min(settings["stretch"]) * (min(1.0, factor) if group else 1.0)
    keyed = LENGTHENING & {*settings.get("keyed", ())}                      # missing in older bakes
    return as_modelled and not keyed and not settings["model_options"] and weakest >= WOVEN_STIFFNESS
