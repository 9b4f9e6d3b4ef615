# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches for a setting at which p99 stretch is at most a given one, in as few runs as may be.

Stiffness: multiplied by a factor f at which p99(f) <= target. Stretch goes with load over stiffness to some power,
p99 = c f^-b; b is first measured on a coarse mesh, for little, then between a factor that fails and one that passes.
Each try aims a little below the target by it. Done when p99 is in [LEAST target, target], when the two are close
together, or after MOST_TRIES; what passes with the least change is taken. Where cloth hits a solid, p99 is that of the
blow, and stiffer cloth may stretch more, not less: where the first step does not help, the search goes to softer.

Substeps: doubled until p99 is low enough, then one try between the last two, so that a system is not charged for
nearly twice the substeps it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

LEAST, AIM = 0.85, 0.94
"""Of the target: how far below it p99 may be without another try, and what a try aims at."""
MOST_TRIES = 5
"""To stiffer and, where that does not help, to softer, the start among them."""
NARROW = 1.15
"""Between a factor that fails and one that passes, no further try."""
HELPS = 0.97
"""Of the p99 before: what a first step must bring it to, or the other way is taken."""
WIDEST = 8.0
"""Largest factor from one try to the next."""
LEAST_POWER, MOST_POWER = 0.25, 1.5
FIRST_SUBSTEPS, MOST_SUBSTEPS = 5, 160


@dataclass(frozen=True)
class Found:
    """A factor or a number of substeps, its p99, whether that is at most the target, and the tries it took."""

    value: float
    p99: float
    enough: bool
    tries: int


def power(p99: tuple[float, float], factors: tuple[float, float]) -> float:
    """b of p99 = c f^-b through two points, within what is believed of it."""
    b = -np.log(max(p99[1], 1e-9) / max(p99[0], 1e-9)) / np.log(factors[1] / factors[0])
    return float(np.clip(b, LEAST_POWER, MOST_POWER))


def stiffness_factor(p99_of: Callable[[float], float], target: float, start: float = 1.0,
                     coarse: Callable[[float], float] | None = None) -> Found:
    """The factor on the stiffness; `coarse` is p99 on a coarse mesh, asked only if `start` does not do.

    A start that already does is kept, however far below the target its p99 is.
    """
    tried = [Found(start, p99 := p99_of(start), p99 <= target, 1)]
    if not tried[0].enough:
        b = power((coarse(start), coarse(2.0 * start)), (1.0, 2.0)) if coarse else 1.0
        for way in (1.0, -1.0):
            tried += _along(way, p99_of, target, tried[0], b)
            if any(found.enough for found in tried):
                break
    passing = [found for found in tried if found.enough]
    best = min(passing or tried, key=(lambda f: abs(np.log(f.value / start))) if passing else (lambda f: f.p99))
    return replace(best, tries=len(tried))


def _along(way: float, p99_of: Callable[[float], float], target: float, first: Found, b: float) -> list[Found]:
    """Tries to stiffer (way 1) or softer (-1), from one that fails; none after a first that does not help."""
    tried: list[Found] = []
    fails, passes = first, None
    while len(tried) < MOST_TRIES - 1:
        if passes is not None:
            b = power((fails.p99, passes.p99), (1.0, (passes.value / fails.value) ** way))
        elif tried:                                              # the power was too high: a bolder step
            b = max(LEAST_POWER, 0.7 * b)
        step = float(np.clip((fails.p99 / (AIM * target)) ** (1.0 / b), NARROW, WIDEST))
        if passes is not None:
            step = min(step, (passes.value / fails.value) ** way / NARROW ** 0.5)
        factor = fails.value * step ** way
        tried.append(Found(factor, p99 := p99_of(factor), p99 <= target, 1))
        if tried[-1].enough:
            passes = tried[-1]
        elif len(tried) == 1 and p99 > HELPS * first.p99:
            break
        else:
            fails = tried[-1]
        if passes is not None and (passes.p99 >= LEAST * target or (passes.value / fails.value) ** way < NARROW):
            break
    return tried


def substeps(p99_of: Callable[[int], float], target: float, start: int | None = None) -> Found:
    """The substeps; a start that does is kept."""
    count, tries, failed = start or FIRST_SUBSTEPS, 0, 0
    while True:
        p99, tries = p99_of(count), tries + 1
        if p99 <= target or 2 * count > MOST_SUBSTEPS:
            break
        failed, count = count, 2 * count
    best = Found(count, p99, p99 <= target, tries)
    if not best.enough or not failed:
        return best
    between = round((failed * count) ** 0.5)
    p99 = p99_of(between)
    return Found(between, p99, True, tries + 1) if p99 <= target else replace(best, tries=tries + 1)
