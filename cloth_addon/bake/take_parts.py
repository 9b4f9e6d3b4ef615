# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a take: those with other settings than its last one, and from which frame a bake can go on.

A take has more than one part if its bake went on with other settings, another scene or another last frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.cache.take_header import versions_of_takes
from ..properties.enum_items import BACKEND_TITLES
from ..properties.setting_titles import changed_settings
from ..properties.settings import SceneSettings
from ..read.fingerprint import differences
from . import backends
from .found_take import FoundTake

SETTINGS = {"settings": "cloths", "solver settings": "scene"}
"""Parts of a fingerprint that are settings, and where the settings of a take have them."""


@dataclass(frozen=True)
class GoingOn:
    """From where a bake goes on.

    Attributes:
        kept: last frame that is kept; None if the bake starts from its first frame.
        because: why not all frames up to the wanted one are kept; empty if they are.
        is_exact: whether frames that are computed again get the bytes of before.
    """

    kept: int | None
    because: str = ""
    is_exact: bool = False


def going_on(take: FoundTake, settings: SceneSettings, frame: int | None, *, changed: bool) -> GoingOn:
    """Return from where a bake with `settings` goes on if it may keep the frames of a take up to `frame`.

    With the settings of before it keeps all of them: the frames since the last stored state are computed again, to the
    same bytes. Else it goes on from the last stored state at or before `frame`.

    Args:
        frame: None for all that is there.
        changed: whether settings or scene differ from those of the last part, apart from the frame range.
    """
    if take.reached is None:
        return GoingOn(None, "it has no frame")
    frame = min(take.reached, settings.last, take.reached if frame is None else frame)
    states = [state for state in take.states if state <= frame]
    because = _why_not_the_same(take, settings, frame, changed=changed)
    begun = max([part["from_frame"] for part in take.parts if part["from_frame"] <= frame], default=take.start)
    if not because and begun > take.start and not any(state >= begun - 1 for state in states):
        because = f"the state of frame {begun - 1}, at which settings changed, is gone"
    if not because:
        return GoingOn(frame, is_exact=True)
    kept = max(states, default=None)
    return GoingOn(kept, "" if kept == frame else because)


def _why_not_the_same(take: FoundTake, settings: SceneSettings, frame: int, *, changed: bool) -> str:
    """Return why frames that are computed again may differ from those of a take; empty if they have the same bytes."""
    later = [part["from_frame"] for part in take.parts[1:] if part["from_frame"] > frame]
    backend = settings.backend or ("numba" if backends.is_installed() else "numpy")
    if changed:
        return "settings or scene have changed since"
    if later:
        return f"the frames from {later[0]} on have other settings than those before"
    if take.backend != backend:
        return (f"its frames were computed by {BACKEND_TITLES.get(take.backend, take.backend)}, and now "
                f"{BACKEND_TITLES[backend]} is chosen")
    if take.versions != versions_of_takes():
        return "its frames were computed by another version of Muslin, NumPy or Python"
    if take.last != settings.last:
        return f"its frame range ended at {take.last}, and ends at {settings.last} now"
    return ""


def mixed_parts(parts: Sequence[Mapping[str, Any]], first: int, last: int) -> list[dict[str, Any]]:
    """Return {first, last, changed} of the frames from `first` to `last` that have other settings than the last part.

    `changed` has titles of settings, and names of parts of the scene.
    """
    inside = [part for part in parts if part["from_frame"] <= max(last, parts[0]["from_frame"])]
    begun = [part for before, part in zip([None, *inside], inside, strict=False)
             if before is None or _changed(before, part)]
    found: list[dict[str, Any]] = []
    for part, following in zip(begun[:-1], begun[1:], strict=True):
        begin, end = max(first, part["from_frame"]), min(last, following["from_frame"] - 1)
        changed = _changed(part, inside[-1])
        if begin <= end and changed:
            found.append({"first": begin, "last": end, "changed": changed})
    return found


def borders(parts: Sequence[Mapping[str, Any]], first: int, last: int) -> list[int]:
    """Return the frames of a bake, but the first, from which on the settings are others, from its `mixed_parts`."""
    found = {frame for part in parts for frame in (part["first"], part["last"] + 1)}
    return sorted(frame for frame in found if first < frame <= last)


def mixed_text(part: Mapping[str, Any]) -> str:
    """Return for the user that frames have other settings than the last ones."""
    frames = f"Frames {part['first']} to {part['last']}" if part["first"] < part["last"] else f"Frame {part['first']}"
    have = "have" if part["first"] < part["last"] else "has"
    return f"{frames} {have} other settings ({', '.join(part['changed'])})"


def _changed(part: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the titles of all that differs between two parts of a take, without the frame range."""
    found: list[str] = []
    for cloth, digests in part["fingerprints"].items():
        for label in differences(digests, now["fingerprints"].get(cloth, {})):
            found += _titles(part["settings"], now["settings"], label, cloth)
    return [name for name in dict.fromkeys(found) if name != "frame range"]


def _titles(before: Mapping[str, Any], now: Mapping[str, Any], label: str, cloth: str) -> list[str]:
    """Return the titles of the settings that differ, or the label of another part of the scene."""
    if label not in SETTINGS:
        return [label.partition(" (its ")[0]]
    tables = [table.get(SETTINGS[label], {}) for table in (before, now)]
    if label == "settings":
        tables = [table.get(cloth, {}) for table in tables]
    return changed_settings(*tables) or [label]
