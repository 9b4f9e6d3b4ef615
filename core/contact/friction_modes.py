# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction modes of a particle on a solid, and the elastic slide of contacts."""

from __future__ import annotations

STICK, SLIP = 1, 2

ELASTIC = 5e-3
"""Elastic displacement of a contact in a step, over its distance [-]: the slide at which friction grows by mu lambda,
and the depth to which the load presses in a vertex on a face. For the default thickness it is a thousandth of an edge.
See `docs/decisions/0062`."""
MOST_STICK_DRAG = 50.0
"""h c over the mass of pairs that stick [-]: of several vertices that can move the largest, of one that begins to touch
a solid the least."""
