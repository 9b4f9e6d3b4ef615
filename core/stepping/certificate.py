# SPDX-License-Identifier: GPL-3.0-or-later
"""The quality certificate of a frame: stretch, contact, and the convergence of its solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..arrays import FloatArray
from .energy import Energy

MAX_LISTED_PAIRS = 12
"""Largest number of pairs of objects in a certificate: it bounds the size of a report."""


@dataclass(frozen=True)
class EdgeOf:
    """An edge of a cloth, by its two vertices there."""

    cloth: str
    vertices: list[int]


@dataclass(frozen=True)
class CrossingPair:
    """Number of edges of one object that pierce triangles of the other; both may be the same object."""

    first: str
    second: str
    crossings: int


@dataclass(frozen=True)
class CrossingsLeft:
    """Crossings of two objects that a start could not be freed of, and their mean place (x, y, z) [m]; both may be the
    same object."""

    first: str
    second: str
    crossings: int
    place: list[float]


@dataclass(frozen=True)
class StartMove:
    """A cloth that was moved before its first frame, and the longest way of its vertices [m]."""

    cloth: str
    way: float


@dataclass(frozen=True)
class StartResolution:
    """Resolution of a start that crossed: the crossings and the deepest penetration [m] as it was given, the crossings
    left in the first frame, and which cloths were moved how far for that."""

    crossings: int
    deepest_penetration: float
    left: list[CrossingsLeft]
    moved: list[StartMove] = field(default_factory=list)


@dataclass(frozen=True)
class Certificate:
    """Quality of one frame.

    Attributes:
        stretch_max: largest edge length over rest length [-], of the edges of faces and of loose edges. Diagonals of
            quads and n-gons do not count: which of two becomes an edge of triangles is arbitrary, and shear lengthens
            one of them.
        stretch_p99: 99th percentile of the same ratios [-].
        stretch_pinned: largest of these ratios between two vertices that pins hold [-], 1 without such edges. Their
            trajectory stretches them, not the simulation.
        stretch_at: edge of the largest of these ratios, of those that pins do not hold at both ends: the name of its
            cloth, and its two vertices; None without such edges.
        crossings: number of edges that pierce triangles, cloth with cloth and cloth with colliders. A vertex exactly
            in the plane of a triangle counts as in front of it, so that no crossing is missed. Pairs that
            `ClothContact` excludes do not count, neither here nor in the smallest gap and the deepest penetration.
        crossings_pinched: number of crossings beside that, at places where colliders that overlap, or one that crosses
            itself, leave no room for cloth, and of the edges and faces of cloth next to these.
        crossing_pairs: pairs of objects with crossings, most crossings first, at most `MAX_LISTED_PAIRS`.
        smallest_gap: smallest distance between cloth and colliders and between parts of cloth, of faces [m]; None where
            nothing is near.
        deepest_penetration: largest depth of a cloth vertex inside a closed collider [m].
        seam_gap: width of the widest seam or button [m]; None without seams and buttons.
        steps: implicit steps since the previous frame.
        step_min: size of the shortest of these steps [s].
        step_max: size of the longest [s].
        iterations: linear iterations in all these steps.
        residual: largest final residual of the steps [-].
        converged: whether every step met its tolerance with its own set of contacts, within the bounds of a frame's
            effort and retries, and no rule spoke against a step that could not be shorter. Contacts that change at the
            end of a step belong to the next one.
        rejected: steps that were tried and taken again in halves.
        backend: backend of the inner loops, "numpy" or "numba".
        seconds: wall-clock time per stage [s].
        energy: energy of the frame; None unless `Solver(measure_energy=True)`.
        start: of the first frame, if its start crossed and was resolved; None otherwise.
        torn_edges: number of edges of split meshes that have torn up to this frame; None if no cloth can tear.
    """

    stretch_max: float
    stretch_p99: float
    crossings: int = 0
    crossing_pairs: list[CrossingPair] = field(default_factory=list)
    smallest_gap: float | None = None
    deepest_penetration: float = 0.0
    seam_gap: float | None = None
    stretch_pinned: float = 1.0
    stretch_at: EdgeOf | None = None
    steps: int = 0
    step_min: float = 0.0
    step_max: float = 0.0
    iterations: int = 0
    residual: float = 0.0
    converged: bool = True
    rejected: int = 0
    backend: str = "numpy"
    seconds: dict[str, float] = field(default_factory=dict)
    energy: Energy | None = None
    start: StartResolution | None = None
    crossings_pinched: int = 0
    torn_edges: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, lists and dicts, for JSON."""
        return asdict(self)


def crossing_pairs(found: Sequence[tuple[int, int, int]], names: Sequence[str]) -> list[CrossingPair]:
    """Return the pairs of objects of `Audit.by_objects` by name, at most as many as a certificate lists."""
    return [CrossingPair(names[a], names[b], count) for a, b, count in found[:MAX_LISTED_PAIRS]]


def stretch_of(ratios: FloatArray) -> tuple[float, float]:
    """Return the largest and the 99th percentile of edge lengths over rest lengths (E,) [-]; 1 and 1 without edges."""
    if len(ratios) == 0:
        return 1.0, 1.0
    place = 0.99 * (len(ratios) - 1)                                 # between two sorted values
    below = int(place)
    upper = np.partition(ratios, below)[below:]
    above = upper[1:].min(initial=np.inf) if len(upper) > 1 else upper[0]
    return float(upper.max()), float(upper[0] + (place - below) * (above - upper[0]))
