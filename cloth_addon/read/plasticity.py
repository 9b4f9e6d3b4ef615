# SPDX-License-Identifier: GPL-3.0-or-later
"""The plasticity of a cloth object as an argument of `core.Cloth`."""

from __future__ import annotations

from typing import Any

from ... import core
from ..properties.plasticity_settings import PlasticitySettings
from .keyed_settings import KeyedSettings


def plasticity_options(settings: PlasticitySettings, keyed: KeyedSettings) -> dict[str, Any]:
    """Return keyword arguments of `core.Cloth`; none if nothing stays."""
    stretch, bend = settings.stretch_yield, settings.bend_yield
    if stretch is None and bend is None:
        return {}
    return {"plasticity": core.Plasticity(
        None if stretch is None else keyed.setting("stretch_yield", 0.01),
        None if bend is None else keyed.setting("bend_yield"), keyed.setting("plastic_time"),
        keyed.setting("hardening"))}
