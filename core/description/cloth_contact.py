# SPDX-License-Identifier: GPL-3.0-or-later
"""What one cloth collides with: itself, colliders and other cloths, at which distance and with which friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import FARTHEST, BoolArray, is_flag, is_number, is_whole
from ..did_you_mean import names_arguments_of
from ..errors import ClothError
from ..number_text import number_text
from .keyed import Setting, check_setting


@names_arguments_of(ClothError)
@dataclass(frozen=True, eq=False)
class ClothContact:
    """Collision settings of one cloth.

    Two cloths collide if both have `collisions`, and the `colliders` of each, where given, name the other. A pair that
    is excluded here is no contact, and where it crosses that is no crossing for the certificate.

    Attributes:
        self_collision: the cloth does not pass through itself.
        collisions: it does not pass through colliders and other cloths.
        colliders: names of the colliders and other cloths that it collides with; None for all.
        not_self: (V,) marked vertices. A triangle with all corners marked is left out of self collision, and so is a
            loose edge with both ends marked; None for no vertices.
        not_objects: (V,) likewise, left out of collisions with colliders and other cloths.
        self_friction: coefficient of friction of cloth on cloth [-], or a function of the time; between two cloths it
            is the geometric mean of both. None for the material's friction, which is that on colliders.
        self_distance: distance that two layers of this cloth keep [m]; between two cloths it is the mean of both. None
            for twice the cloth's thickness, which is the distance from colliders.
        layer: where two cloths of different layers cross, the one of the higher layer is pulled out to the side to
            which the faces of the other point; of two that lie in one another exactly, it starts on that side. Cloths
            that do not cross stay on the sides on which they are.

    Raises:
        ClothError: a value is of another kind, or out of its range.
    """

    self_collision: bool = True
    collisions: bool = True
    colliders: Sequence[str] | None = None
    not_self: BoolArray | None = None
    not_objects: BoolArray | None = None
    self_friction: Setting | None = None
    self_distance: float | None = None
    layer: int = 0

    def __post_init__(self) -> None:
        for name in ("self_collision", "collisions"):
            if not is_flag(getattr(self, name)):
                raise ClothError(f"{name} of its contact is {getattr(self, name)!r}, it must be True or False")
        names = self.colliders
        if names is not None:
            if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(n, str) for n in names):
                raise ClothError(f"colliders of its contact is {names!r}, it must be a list of names, such as "
                                 "['body'], or None for all")
            object.__setattr__(self, "colliders", tuple(names))
        for name in ("not_self", "not_objects"):
            object.__setattr__(self, name, _marked(getattr(self, name), name))
        for name, unit in (("self_friction", ""), ("self_distance", " m")):
            value = getattr(self, name)
            if name == "self_friction" and callable(value):
                check_setting(value, f"{name} of its contact", "", least=0.0, most=FARTHEST)
            elif value is not None and not (is_number(value) and 0.0 <= value <= FARTHEST):
                raise ClothError(f"{name} of its contact is {value!r}{unit}, it must be a number, 0 or more and "
                                 f"{number_text(FARTHEST)} at most, or None")
        if not is_whole(self.layer, -2 ** 31):
            raise ClothError(f"layer of its contact is {self.layer!r}, it must be a whole number")

    def check(self, count: int, name: str) -> None:
        """Raise ClothError if vertices are marked and are not `count`, as many as the cloth `name` has."""
        for what in ("not_self", "not_objects"):
            marked = getattr(self, what)
            if marked is not None and len(marked) != count:
                raise ClothError(f"{what} of its contact has {len(marked)} values, it must have one for each of the "
                                 f"mesh's {count} vertices", object_name=name)

    def names(self, other: str) -> bool:
        """Return whether the cloth collides with a collider or cloth of this name, for all that it says."""
        return self.collisions and (self.colliders is None or other in self.colliders)


def _marked(values: Any, name: str) -> BoolArray | None:
    """Return marks (V,) of vertices as an array of its own."""
    if values is None:
        return None
    marks = np.asarray(values)
    if marks.ndim != 1 or marks.dtype != np.bool_:
        raise ClothError(f"{name} of its contact is an array of {marks.dtype} of shape {marks.shape}, it must have "
                         "True or False for each vertex, shape (V,); write weights > 0.5 for weights")
    return marks.copy()
