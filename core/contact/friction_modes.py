# SPDX-License-Identifier: GPL-3.0-or-later
"""What friction does at a contact, as `Touch` says, and how much it gives."""

from __future__ import annotations

STICK, SLIP = 1, 2

ELASTIC = 5e-3
"""Part of its distance by which a contact slides in a step until friction holds it by mu lambda more, and by which the
load presses it in, where stiffness costs nothing [-]; of the default thickness that is a thousandth of an edge."""
