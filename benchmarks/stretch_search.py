# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for a stiffness or a number of substeps at which the p99 stretch does not exceed a target, in few runs.

Used by against_blender.py. Stiffness is multiplied by a factor f with p99(f) <= target. Stretch follows a power of load
over stiffness, p99 = c f^-b. The exponent b is measured first on a coarse mesh, which costs little, then between a
factor that fails and one that passes. Each try aims at AIMED_FRACTION of the target. The search ends when p99 is in
[LEAST_FRACTION target, target], when the two factors are close to each other, or after MAX_TRIES. Of the factors that
pass, the one with the smallest change is used. If cloth hits a solid, p99 is that of the impact, and stiffer cloth may
stretch more: if the first step does not help, the search goes to softer cloth.

Substeps are doubled until p99 is low enough. Then one number between the last two is tried, so that a system does not
run with nearly twice the substeps that it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

LEAST_FRACTION, AIMED_FRACTION = 0.85, 0.94
"""Smallest p99 that ends the search, and p99 that a try aims at, over the target [-]."""
MAX_TRIES = 5
"""Largest number of tries in one direction, the start included."""
SMALLEST_STEP = 1.15
"""Ratio between a factor that fails and one that passes, below which the search ends [-]."""
LEAST_PROGRESS = 0.97
"""Largest p99 after the first step, over that before, with which the search continues in this direction [-]."""
LARGEST_STEP = 8.0
"""Largest ratio of the factors of two tries [-]."""
LEAST_POWER, LARGEST_POWER = 0.25, 1.5
"""Bounds of the exponent b [-]."""
FIRST_SUBSTEPS, MAX_SUBSTEPS = 5, 160


@dataclass(frozen=True)
class Found:
    """Result of a search.

    Attributes:
        value: factor or number of substeps.
        p99: its p99 stretch [-].
        enough: whether p99 does not exceed the target.
        tries: number of runs.
    """

    value: float
    p99: float
    enough: bool
    tries: int


def power(p99: tuple[float, float], factors: tuple[float, float]) -> float:
    """Return b of p99 = c f^-b through two points, within its bounds."""
    b = -np.log(max(p99[1], 1e-9) / max(p99[0], 1e-9)) / np.log(factors[1] / factors[0])
    return float(np.clip(b, LEAST_POWER, LARGEST_POWER))


def stiffness_factor(p99_of: Callable[[float], float], target: float, start: float = 1.0,
                     coarse: Callable[[float], float] | None = None) -> Found:
    """Return the factor on the stiffness.

    If `start` passes, it is the result, however far below the target its p99 is. `coarse` returns p99 on a coarse mesh,
    and is only called if `start` fails.
    """
    tried = [Found(start, p99 := p99_of(start), p99 <= target, 1)]
    if not tried[0].enough:
        b = power((coarse(start), coarse(2.0 * start)), (1.0, 2.0)) if coarse else 1.0
        for direction in (1.0, -1.0):
            tried += _along(direction, p99_of, target, tried[0], b)
            if any(found.enough for found in tried):
                break
    passing = [found for found in tried if found.enough]
    best = min(passing or tried, key=(lambda f: abs(np.log(f.value / start))) if passing else (lambda f: f.p99))
    return replace(best, tries=len(tried))


def _along(direction: float, p99_of: Callable[[float], float], target: float, first: Found, b: float) -> list[Found]:
    """Return the tries towards stiffer (direction 1) or softer cloth (-1), from `first`, which fails.

    There is only one if it does not help.
    """
    tried: list[Found] = []
    fails, passes = first, None
    while len(tried) < MAX_TRIES - 1:
        if passes is not None:
            b = power((fails.p99, passes.p99), (1.0, (passes.value / fails.value) ** direction))
        elif tried:                                              # the exponent was too high: take a larger step
            b = max(LEAST_POWER, 0.7 * b)
        step = float(np.clip((fails.p99 / (AIMED_FRACTION * target)) ** (1.0 / b), SMALLEST_STEP, LARGEST_STEP))
        if passes is not None:
            step = min(step, (passes.value / fails.value) ** direction / SMALLEST_STEP ** 0.5)
        factor = fails.value * step ** direction
        tried.append(Found(factor, p99 := p99_of(factor), p99 <= target, 1))
        if tried[-1].enough:
            passes = tried[-1]
        elif len(tried) == 1 and p99 > LEAST_PROGRESS * first.p99:
            break
        else:
            fails = tried[-1]
        if passes is not None and (passes.p99 >= LEAST_FRACTION * target
                                   or (passes.value / fails.value) ** direction < SMALLEST_STEP):
            break
    return tried


def substeps(p99_of: Callable[[int], float], target: float, start: int | None = None) -> Found:
    """Return the number of substeps. If `start` passes, it is the result."""
    count, tries, failed = start or FIRST_SUBSTEPS, 0, 0
    while True:
        p99, tries = p99_of(count), tries + 1
        if p99 <= target or 2 * count > MAX_SUBSTEPS:
            break
        failed, count = count, 2 * count
    best = Found(count, p99, p99 <= target, tries)
    if not best.enough or not failed:
        return best
    between = round((failed * count) ** 0.5)
    p99 = p99_of(between)
    return Found(between, p99, True, tries + 1) if p99 <= target else replace(best, tries=tries + 1)
