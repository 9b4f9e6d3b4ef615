# SPDX-License-Identifier: GPL-3.0-or-later
"""Random numbers that are a function of whole numbers, without a state: they do not depend on steps or threads.

Whole numbers are mixed by multiplications and shifts of 32 bits; products wrap around in 64 bits, and the lower 32 are
kept.
"""

from __future__ import annotations

from typing import Any

from .vectors import select


def mixed(a: Any) -> Any:
    """Return a whole number in 0..2^32 - 1 whose bits all depend on the lower 32 bits of a."""
    a = a & 0xFFFFFFFF
    a = ((a ^ (a >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    a = ((a ^ (a >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return a ^ (a >> 16)


def strength_noise(seed: Any, frame: Any, point: Any, source: Any, draw: Any) -> Any:
    """Return the noise of a field's strength, in -1..1, at a point of the cloth in one frame.

    It is s a / (128 (1 + b)), with a whole number a in 0..127 and b in 0..1, both uniform, and a sign s that is
    positive for a > 64: this is the distribution of Blender's noise of force fields.

    source: number of the field's vertex, 0 if it has one place. draw: which of several numbers of a point.
    """
    bits = mixed(mixed(mixed(mixed(seed) + frame) + point) + 2 * source + draw)
    a = bits & 127
    b = (mixed(bits + 1) + 0.5) / 4294967296.0
    return select(a > 64, 1.0, -1.0) * a / (128.0 * (1.0 + b))
