# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction modes of a particle on a solid, and the elastic slide of contacts."""

from __future__ import annotations

STICK, SLIP = 1, 2

ELASTIC = 5e-3
"""Elastic displacement of a contact in a step, over its distance [-]: the slide at which friction grows by mu lambda,
and the depth to which the load presses in a vertex on a face. For the default thickness it is a thousandth of an edge.
See `docs/decisions/0062`."""
STICK_DRAG = 50.0
"""h c of a pair that sticks, over its mass [-]: the largest one where several vertices can move, the least one where a
vertex begins to touch a solid."""
