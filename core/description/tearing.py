# SPDX-License-Identifier: GPL-3.0-or-later
"""Tearing: the largest tension that the edges of a split mesh carry."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import LARGEST, FloatArray, float_array
from ..did_you_mean import names_arguments_of
from ..errors import ClothError
from ..number_text import number_text
from .keyed import Setting, check_setting, checked_number_at
from .mesh import ClothMesh
from .split_edges import SplitEdges

TEARING_MODELS = ("baraff_witkin", "projective")
"""Models whose triangles carry the tension, so that it is known at their edges."""


@names_arguments_of(ClothError)
@dataclass(frozen=True)
class Tearing:
    """How strong a cloth is.

    The mesh of the cloth is split along its possible tears (`ClothMesh(split=True)`): borders at one place are joined
    until the tension across them is above the strength.

    Attributes:
        strength: largest tension across an edge [N per metre of edge]; a number, or a function of the time [s].
        weights: (V,) factors on the strength from 0 on [-], of an edge the mean of its ends; 1 if not given. An edge of
            0 tears in the first step, and one with an infinite end never.

    Raises:
        ClothError: a value is out of range.
    """

    strength: Setting
    weights: Any = None

    def __post_init__(self) -> None:
        check_setting(self.strength, "strength of the tearing", "tearing", least=0.0, most=LARGEST)

    def strength_at(self, time: float, name: str) -> float:
        """Return the strength [N/m] at `time` [s]. `name`: of the cloth.

        Raises:
            ClothError: a function leaves its range.
        """
        return checked_number_at(self.strength, time, "strength of the tearing", name, least=0.0, most=LARGEST)

    def checked_weights(self, count: int, name: str) -> FloatArray:
        """Return the weights (V,) [-] of the `count` vertices of the cloth `name`.

        Raises:
            ClothError: another number of them, or one is negative or no number.
        """
        if self.weights is None:
            return np.ones(count)
        try:
            weights = float_array(self.weights)
        except ValueError as error:
            raise ClothError(f"weights of the tearing: {error}", object_name=name) from None
        if weights.shape != (count,):
            raise ClothError(f"weights of the tearing is {reprlib.repr(self.weights)} of the shape {weights.shape}, it "
                             f"must have one number for each of the mesh's {count} vertices", object_name=name)
        bad = ~((weights >= 0.0) & ((weights <= LARGEST) | np.isinf(weights)))                       # nan fails too
        if bad.any():
            vertex = int(np.argmax(bad))
            raise ClothError(f"the weight {weights[vertex]} of vertex {vertex} in the tearing is out of range, it must "
                             f"be from 0 to {number_text(LARGEST)}, or infinite", object_name=name)
        return weights


def check_tearing(tearing: Any, mesh: ClothMesh, model: str, name: str, *, plastic_hinges: bool) -> None:
    """Raise ClothError if `tearing` is no `Tearing`, or a cloth of this mesh and model cannot tear.

    plastic_hinges: whether hinges of the cloth have folds that stay.
    """
    if tearing is None:
        return
    if not isinstance(tearing, Tearing):
        raise ClothError(f"tearing is {reprlib.repr(tearing)}, it must be a Tearing, such as Tearing(500.0)",
                         object_name=name)
    tearing.checked_weights(len(mesh.positions), name)
    if not mesh.split or len(SplitEdges.of(mesh.positions, mesh.triangles)) == 0:
        raise ClothError("can tear, but its mesh is not split along its possible tears, and a bake adds no vertices; "
                         "split it with core.split_faces and ClothMesh(split=True), or leave tearing out",
                         object_name=name)
    if model not in TEARING_MODELS:
        raise ClothError(f"can tear, but the tension of its model '{model}' is not known at edges; choose the model "
                         f"{' or '.join(repr(known) for known in TEARING_MODELS)}, or leave tearing out",
                         object_name=name)
    if plastic_hinges:
        raise ClothError("can tear, and its folds may stay, but with bending='hinge' they are lost where edges tear; "
                         "take bending='patch', or leave plasticity or tearing out", object_name=name)
