# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries of continuous collision detection whose answers are known exactly.

4,779 ways of a vertex and a triangle, and of two edges, of which 290 meet: the Sample-Queries of Wang, Ferguson,
Schneider, Jiang, Attene and Panozzo 2021 (ACM TOG 40(5)), MIT, see the licence beside them. `queries.npz` holds the
four vertices at the start and then at the end (N, 8, 3), whose coordinates are the rational ones without rounding, and
whether they meet (N,).
"""

from pathlib import Path

import numpy as np
import pytest

from core.contact.continuous import KEPT_DISTANCE, NEVER, Pairs
from tests.cases import cases

QUERIES = Path(__file__).resolve().parent.parent / "reference" / "ccd" / "queries.npz"
MOST = 400
"""Queries that may be held for a meeting and are none."""


pytestmark = pytest.mark.usefixtures("backend")


def queries(kind):
    with np.load(QUERIES) as data:
        places, hit = data[kind], data[f"{kind}_hit"]
    x0, x1 = places[:, :4].reshape(-1, 3), places[:, 4:].reshape(-1, 3)
    vertices = np.arange(len(x0)).reshape(-1, 4)
    pairs = Pairs.at(x0, vertices, vertices[:, :2], len(vertices) if kind == "vertex_face" else 0)
    return x0, x1, pairs, hit


def test_no_pair_that_meets_is_missed_and_few_that_do_not_are_held_for_it():
    count = hits = wrong = 0
    for kind in ("vertex_face", "edge_edge"):
        x0, x1, pairs, hit = queries(kind)
        said = pairs.meeting_times(x0, x1) < NEVER
        missed = np.flatnonzero(hit & ~said)
        assert len(missed) == 0, f"{kind}: {missed}"
        count, hits, wrong = count + len(hit), hits + int(hit.sum()), wrong + int((said & ~hit).sum())
    assert (count, hits) == (4779, 290)
    assert wrong <= MOST


@cases("kind", ["vertex_face", "edge_edge"])
def test_up_to_its_time_each_keeps_what_it_has_to_keep(kind):
    """What touches at the start has nothing to keep, and meets at once unless it moves as one."""
    x0, x1, pairs, _ = queries(kind)
    times = np.minimum(pairs.meeting_times(x0, x1), 1.0)
    assert (times[pairs.distance == 0.0] == 0.0).all()
    for part in (0.25, 0.5, 0.75, 0.9, 0.99, 1.0):
        then = pairs.at_times(x0, x1, part * times)
        assert (then.distance >= 0.999 * KEPT_DISTANCE * pairs.distance).all()
