# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of tearing as a plain record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TEARING_MODELS = frozenset(("baraff_witkin", "projective"))
"""Models whose cloth can tear."""


@dataclass(frozen=True, kw_only=True)
class TearingSettings:
    """Tearing of one cloth object.

    Attributes:
        used: whether it tears.
        strength: largest tension across an edge [N/m].
        group: vertex group or attribute of the strength, "" for none.
    """

    used: bool
    strength: float
    group: str


def tearing_settings_of(values: Any, model: str) -> TearingSettings:
    """Return the settings in an object's `muslin`, as far as they count for `model`."""
    return TearingSettings(used=bool(values.use_tearing) and model in TEARING_MODELS,
                           strength=float(values.tear_strength), group=values.tear_group)
