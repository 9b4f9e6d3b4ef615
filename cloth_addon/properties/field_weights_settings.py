# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights of gravity and of force fields for one cloth, as a plain record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FIELD_WEIGHTS = ("gravity", "all", "force", "wind", "vortex", "magnetic", "harmonic", "turbulence", "drag", "texture",
                 "fluid_flow")
"""Names of the weights, as `core.FieldWeights` has them; the setting of each begins with `weight_`."""


@dataclass(frozen=True, kw_only=True)
class FieldWeightsSettings:
    """Weights of one cloth.

    Attributes:
        weights: factors on gravity, on all force fields and on those of each kind [-], by the names of the settings.
        effector_collection: name of the collection whose fields act, "" for all of the scene.
        effectors: names of the objects of this collection.
    """

    weights: dict[str, float]
    effector_collection: str
    effectors: tuple[str, ...]


def field_weights_of(values: Any) -> FieldWeightsSettings:
    """Return the weights that are stored in the settings of an object."""
    chosen = values.effector_collection
    effectors = sorted(obj.name_full for obj in chosen.all_objects if obj.field is not None and obj.field.type != "NONE"
                     ) if chosen is not None else []
    return FieldWeightsSettings(
        weights={f"weight_{name}": float(getattr(values, f"weight_{name}")) for name in FIELD_WEIGHTS},
        effector_collection=chosen.name if chosen is not None else "", effectors=tuple(effectors))
