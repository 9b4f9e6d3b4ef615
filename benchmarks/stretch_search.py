# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches for a setting at which p99 stretch is at most a given one, in as few runs as may be.

Stiffness: multiplied by a factor f >= 1, at which p99(f) <= target. Stretch goes with load over stiffness to some
power, p99 = c f^-b; b is first measured on a coarse mesh, for little, then between a factor that fails and one that
passes. Each try aims a little below the target by it. Done when p99 is in [LEAST target, target], when the two are
close together, or after MOST_TRIES; what passes with the least stiffness is taken.

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
NARROW = 1.15
"""Between a factor that fails and one that passes, no further try."""
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
    """The factor, >= 1, on the stiffness; `coarse` is p99 on a coarse mesh, asked only if `start` does not do.

    A start that already does is kept, however far below the target its p99 is.
    """
    fails: Found | None = None
    passes: Found | None = None
    factor = max(1.0, start)
    for tries in range(1, MOST_TRIES + 1):
        p99 = p99_of(factor)
        tried = Found(factor, p99, p99 <= target, tries)
        if tried.enough and (passes is None or factor < passes.value):
            passes = tried
        elif not tried.enough and (fails is None or factor > fails.value):
            fails = tried
        if fails is None or (tried.enough and p99 >= LEAST * target):
            break
        if passes is not None and passes.value < NARROW * fails.value:
            break
        if passes is not None:
            b = power((fails.p99, passes.p99), (fails.value, passes.value))
        elif tries == 1:
            b = power((coarse(factor), coarse(2.0 * factor)), (1.0, 2.0)) if coarse else 1.0
        else:                                                     # the power was too high: a bolder step
            b = max(LEAST_POWER, 0.7 * b)
        factor = fails.value * float(np.clip((fails.p99 / (AIM * target)) ** (1.0 / b), NARROW, WIDEST))
        if passes is not None:
            factor = min(factor, passes.value / NARROW ** 0.5)
    return replace(passes or tried, tries=tries)


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
