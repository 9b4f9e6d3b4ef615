# SPDX-License-Identifier: GPL-3.0-or-later
"""Emitters: initial positions and velocities of particles, from a seed.

The formulas are those of 003 (section on emitters), with z as the height instead of y. r, s are random numbers in 0..1;
directions are n(alpha, beta) = (cos beta cos alpha, cos beta sin alpha, sin beta), angles in degrees. The last columns
are the default speed and size.

    fountain      x = 0                v = speed ((r - 1/2) / 10, (s - 1/2) / 10, 1)         10 m/s
    waterfall     x = (0, 0, size)     v = speed (r - 1/2, s - 1/2, 0)                        1 m/s, from 10 m
    semi_sphere   x = size n           v = speed n,  alpha = 360 (r - 1/2),  beta = 90 s       5 m/s, of 1 m
    explosion     x = size n           v = speed n,  alpha = 360 (r - 1/2),  beta = 180 (s - 1/2)   5 m/s, of 0.01 m

Angles have a uniform distribution, as in 003, so that directions are denser at the poles. Departures from 003: its
waterfall may start upwards, this one always falls; and its speed of an explosion is `speed` times the radius, here it
is `speed` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, float_array, is_number, is_whole
from ..did_you_mean import names_arguments
from ..errors import ClothError

Emitter = Callable[[FloatArray, FloatArray, float, float], tuple[FloatArray, FloatArray]]
"""(r (n,), s (n,), speed [m/s], size [m]) -> positions (n, 3) [m], velocities (n, 3) [m/s]."""


@dataclass(frozen=True)
class _Kind:
    """One kind of emitter: its function, and the default speed [m/s] and size [m]."""
    start: Emitter
    speed: float
    size: float


def _fountain(r: FloatArray, s: FloatArray, speed: float, size: float) -> tuple[FloatArray, FloatArray]:
    """Return positions (n, 3) [m] and velocities (n, 3) [m/s] of a fountain, see above; r, s (n,)."""
    return np.zeros((len(r), 3)), speed * np.stack([(r - 0.5) / 10.0, (s - 0.5) / 10.0, np.ones(len(r))], axis=1)


def _waterfall(r: FloatArray, s: FloatArray, speed: float, size: float) -> tuple[FloatArray, FloatArray]:
    """Return positions (n, 3) [m] and velocities (n, 3) [m/s] of a waterfall, see above; r, s (n,)."""
    at: FloatArray = np.tile(np.array([0.0, 0.0, size]), (len(r), 1))
    return at, speed * np.stack([r - 0.5, s - 0.5, np.zeros(len(r))], axis=1)


def _semi_sphere(r: FloatArray, s: FloatArray, speed: float, size: float) -> tuple[FloatArray, FloatArray]:
    """Return positions (n, 3) [m] and velocities (n, 3) [m/s] of a semi_sphere, see above; r, s (n,)."""
    n = _direction(2.0 * np.pi * (r - 0.5), 0.5 * np.pi * s)
    return size * n, speed * n


def _explosion(r: FloatArray, s: FloatArray, speed: float, size: float) -> tuple[FloatArray, FloatArray]:
    """Return positions (n, 3) [m] and velocities (n, 3) [m/s] of an explosion, see above; r, s (n,)."""
    n = _direction(2.0 * np.pi * (r - 0.5), np.pi * (s - 0.5))
    return size * n, speed * n


def _direction(azimuth: FloatArray, altitude: FloatArray) -> FloatArray:
    """Return the unit vectors n(alpha, beta) (n, 3) for azimuths and altitudes (n,) [rad]."""
    return np.stack([np.cos(altitude) * np.cos(azimuth), np.cos(altitude) * np.sin(azimuth), np.sin(altitude)], axis=1)


EMITTERS = {
    "fountain": _Kind(_fountain, 10.0, 0.0),
    "waterfall": _Kind(_waterfall, 1.0, 10.0),
    "semi_sphere": _Kind(_semi_sphere, 5.0, 1.0),
    "explosion": _Kind(_explosion, 5.0, 0.01),
}


def emitters() -> tuple[str, ...]:
    """Return the names of all kinds of emitters."""
    return tuple(EMITTERS)


@names_arguments(ClothError)
def emit(kind: str, count: int, *, speed: float | None = None, size: float | None = None,
         origin: Sequence[float] = (0.0, 0.0, 0.0), seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return positions (count, 3) [m] and velocities (count, 3) [m/s] of particles; equal arguments give equal results.

    Args:
        kind: a name from `emitters()`.
        count: number of particles.
        speed: largest or typical speed [m/s], see above; the kind's default if None.
        size: radius of the ball, or height of the waterfall [m]; the kind's default if None.
        origin: (3,) [m], added to all positions.
        seed: seed of the random numbers.

    Raises:
        ClothError: an argument is out of range.
    """
    if not isinstance(kind, str) or kind not in EMITTERS:
        raise ClothError(f"no emitter '{kind}'; there are: {', '.join(EMITTERS)}")
    if not is_whole(count, 1):
        raise ClothError(f"the emitter's count is {count!r}, it must be a whole number of 1 or more")
    if not is_whole(seed, 0, 2 ** 63):
        raise ClothError(f"the emitter's seed is {seed!r}, it must be a whole number of 0 or more")
    made = EMITTERS[kind]
    speed, size = made.speed if speed is None else speed, made.size if size is None else size
    for what, value in (("speed", speed), ("size", size)):
        if not (is_number(value) and value >= 0.0):
            raise ClothError(f"the emitter's {what} is {value!r}, it must be a number, 0 or more")
    try:
        start = float_array(origin)
    except ValueError:
        start = np.zeros(0)
    if start.shape != (3,) or not np.isfinite(start).all():
        raise ClothError(f"the emitter's origin is {origin!r}, it must be 3 finite numbers")
    r, s = np.random.Generator(np.random.PCG64(seed)).random((count, 2)).T
    positions, velocities = made.start(r, s, float(speed), float(size))
    return positions + start, velocities
