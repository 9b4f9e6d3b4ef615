# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of plasticity as a plain record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PLASTIC_MODELS = frozenset(("baraff_witkin", "projective"))
"""Models whose stretch and folds can stay."""


@dataclass(frozen=True, kw_only=True)
class PlasticitySettings:
    """Plasticity of one cloth object, with the fields and units of `core.Plasticity`; None for what never stays."""

    stretch_yield: float | None
    bend_yield: float | None
    time: float
    hardening: float


def plasticity_settings_of(values: Any, model: str) -> PlasticitySettings:
    """Return the settings in an object's `muslin`, as far as they count for `model`."""
    used = bool(values.use_plasticity) and model in PLASTIC_MODELS
    return PlasticitySettings(
        stretch_yield=float(values.stretch_yield) / 100.0 if used and values.use_plastic_stretch else None,
        bend_yield=float(values.bend_yield) if used and values.use_plastic_bending else None,
        time=float(values.plastic_time), hardening=float(values.hardening))
