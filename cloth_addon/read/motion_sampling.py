# SPDX-License-Identifier: GPL-3.0-or-later
"""How often motion is read in a frame, so that fast limbs move along arcs and not along chords.

Positions between two samples are interpolated linearly. On a smooth path the largest distance e of a chord to the path
is near its middle, and with n samples in a frame it is e / n^2. The middle of a frame is read only if anything differs
between its start and its end, and more samples only if the chord there is farther from the path than the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.float64]
ChordError = Callable[[Positions, Positions, Positions], float]
"""Function of the values at the start, the middle and the end of a frame -> distance of the chord in the middle, over
the tolerance [-]."""
MOST_SAMPLES = 16
"""Largest number of samples in a frame."""
CHORD_TOLERANCE = 0.25
"""Largest distance from the chord between two samples to the path, over the thickness of the cloth [-]. See
docs/decisions/0037-samples-of-motion.md."""


@dataclass(frozen=True)
class MotionSampling:
    """Number of samples in a frame.

    Attributes:
        samples: fixed number, 0 for as many as the motion needs.
        errors: functions by the names of the values that count if `samples` is 0.
    """

    samples: int = 1
    errors: dict[str, ChordError] = field(default_factory=dict)

    def moves(self, start: dict[str, Positions], end: dict[str, Positions]) -> bool:
        """Return whether values that count differ, so that the middle of the frame must be read."""
        return any(not np.array_equal(start[name], end[name]) for name in self.errors)

    def number(self, start: dict[str, Positions], middle: dict[str, Positions], end: dict[str, Positions]) -> int:
        """Return the number of samples, a power of two, for values at the start, the middle and the end."""
        error = max((function(start[name], middle[name], end[name]) for name, function in self.errors.items()),
                    default=0.0)
        if not error > 1.0:
            return 1
        exponent = math.ceil(0.5 * math.log2(min(error, MOST_SAMPLES ** 2)))
        return min(2 ** exponent, MOST_SAMPLES)


def sample_times(frame: int, samples: int) -> list[float]:
    """Return the times between `frame` - 1 and `frame`, both excluded, that divide the frame into `samples` parts."""
    return [frame - 1 + k / samples for k in range(1, samples)]


def chord_error(thickness: float, vertices: NDArray[np.integer[Any]] | None = None) -> ChordError:
    """Return the error of positions (V, 3) [m], over that which cloth of this thickness [m] may have.

    `vertices` are those that count, all if it is None.
    """
    tolerance = max(CHORD_TOLERANCE * thickness, float(np.finfo(float).tiny))

    def error(start: Positions, middle: Positions, end: Positions) -> float:
        difference = middle - 0.5 * (start + end)
        if vertices is not None:
            difference = difference[vertices]
        return float(np.sqrt(np.einsum("ij,ij->i", difference, difference).max(initial=0.0))) / tolerance

    return error
