# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of compression and of separate damping as a plain record, and whether faces buckle."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

TWO_SIDED_MODELS = frozenset(("baraff_witkin", "mass_spring", "rope"))
"""Models whose resistance to compression may differ from that to stretch."""

BUCKLING_MODELS = frozenset(("baraff_witkin",))
"""Models whose faces may buckle."""


@dataclass(frozen=True, kw_only=True)
class CompressionSettings:
    """Compression and damping of a fabric; None where they are those of stretch.

    Attributes:
        compression: stiffness along warp and weft [N/m].
        compression_damping, shear_damping, bend_damping: times [s].
    """

    compression: tuple[float, float] | None
    compression_damping: float | None
    shear_damping: float | None
    bend_damping: float | None

    def material_options(self) -> dict[str, Any]:
        """Return keyword arguments of `core.Material`."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def compression_settings_of(values: Any, model: str) -> CompressionSettings:
    """Return the settings in an object's `muslin`, as far as they count for `model`."""
    two_sided, apart = model in TWO_SIDED_MODELS, bool(values.use_separate_damping)
    return CompressionSettings(
        compression=((float(values.compression_warp), float(values.compression_weft))
                     if two_sided and values.use_compression else None),
        compression_damping=float(values.compression_damping) if two_sided and apart else None,
        shear_damping=float(values.shear_damping) if apart else None,
        bend_damping=float(values.bend_damping) if apart else None)


def may_buckle(values: Any, model: str, integrator: str) -> bool:
    """Return whether *Buckling* has an effect for `model` and `integrator`, by their names in the core: not where
    compression has a law of its own, nor with the constant matrix of projective dynamics, which takes every triangle
    for a taut one and does not converge where they buckle."""
    apart = values.use_compression or values.use_separate_damping
    return model in BUCKLING_MODELS and not apart and integrator != "projective_dynamics"


def buckles(values: Any, model: str, integrator: str) -> bool:
    """Return whether the faces of an object with the settings `values` buckle."""
    return bool(values.use_buckling) and may_buckle(values, model, integrator)
