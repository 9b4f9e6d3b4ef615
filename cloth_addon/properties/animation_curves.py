# SPDX-License-Identifier: GPL-3.0-or-later
"""The curves and drivers that animate a data-block, and which of its Muslin settings they set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bpy_extras import anim_utils

MUSLIN = "muslin"
"""Name of the property group of objects and scenes that holds Muslin's settings."""


def curves(animation: Any) -> Iterator[Any]:
    """Return the curves of the action, the strips, and the drivers of a data-block's animation, None for none."""
    if animation is None:
        return
    yield from _curves_of(animation.action, animation.action_slot)
    for strip in strips(animation):
        yield from _curves_of(strip.action, strip.action_slot)
        yield from strip.fcurves
    yield from animation.drivers


def strips(animation: Any) -> Iterator[Any]:
    """Return the strips of the tracks that play, with those inside of meta strips."""
    for track in animation.nla_tracks if animation.use_nla else ():
        if not track.mute:
            yield from _with_inner(track.strips)


def animated_paths(owner: Any) -> frozenset[tuple[str, int]]:
    """Return data path and index of each value of a data-block that a curve, a strip or a driver sets."""
    return frozenset((curve.data_path, curve.array_index) for curve in curves(owner.animation_data) if not curve.mute)


def animated_settings(owner: Any) -> frozenset[str]:
    """Return the names of the Muslin settings of an object or scene that a curve, a strip or a driver sets.

    `owner` has them at `owner.muslin`.
    """
    start = f"{MUSLIN}."
    return frozenset(path.removeprefix(start) for path, _ in animated_paths(owner) if path.startswith(start))


def _with_inner(found: Any) -> Iterator[Any]:
    for strip in found:
        yield strip
        yield from _with_inner(strip.strips)


def _curves_of(action: Any, slot: Any) -> Iterator[Any]:
    if action is not None and slot is not None:
        bag = anim_utils.action_get_channelbag_for_slot(action, slot)
        yield from bag.fcurves if bag is not None else ()
