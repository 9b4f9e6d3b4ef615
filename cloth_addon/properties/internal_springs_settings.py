# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of internal springs as a plain record in SI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class InternalSpringsSettings:
    """Internal springs of one cloth object.

    Attributes:
        used: whether there are any.
        max_length: longest spring [m], None for no limit.
        max_diversion: largest angle to the normal [rad].
        check_normals: whether the surface has to face away from a spring's vertex at its other end.
        tension, compression: moduli [Pa].
        group, factor: vertex group or attribute, and factor of the stiffness at weight 1 [-].
        damping: time [s].
    """

    used: bool
    max_length: float | None
    max_diversion: float
    check_normals: bool
    tension: float
    compression: float
    group: str
    factor: float
    damping: float


def internal_springs_settings_of(values: Any, unit: float) -> InternalSpringsSettings:
    """Return the settings in an object's `muslin`. `unit` is the length of one Blender unit [m]."""
    length = float(values.internal_spring_max_length) * unit
    return InternalSpringsSettings(
        used=bool(values.use_internal_springs), max_length=length if length > 0.0 else None,
        max_diversion=float(values.internal_spring_max_diversion),
        check_normals=bool(values.internal_spring_normal_check), tension=1e3 * float(values.internal_tension),
        compression=1e3 * float(values.internal_compression), group=values.internal_group,
        factor=float(values.internal_factor), damping=float(values.damping))
