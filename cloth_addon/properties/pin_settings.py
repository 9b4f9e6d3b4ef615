# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a cloth's pins beside their group, as a plain record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class PinSettings:
    """Settings of pins.

    Attributes:
        target: full name of the object whose surface pinned vertices follow, "" for none.
        stiffness: of pins of a weight below 1, over the usual one [-].
    """

    target: str = ""
    stiffness: float = 1.0


def pin_settings_of(values: Any) -> PinSettings:
    """Return the settings of pins in an object's `muslin`."""
    target = values.pin_target
    return PinSettings(target=target.name_full if target is not None else "", stiffness=float(values.pin_stiffness))
