# SPDX-License-Identifier: GPL-3.0-or-later
"""A solid or a thin surface that cloth collides with, at rest or in a known motion."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import FARTHEST, FloatArray, IntArray, faces_wanted, float_rows, index_rows, is_number, takes, too_far
from ..did_you_mean import names_arguments_of
from ..errors import ColliderError
from ..number_text import number_text
from .arguments import keeps_arguments
from .keyed import Setting, check_setting, checked_number_at, number_at
from .left_out import without
from .mesh import ClothMesh


@names_arguments_of(ColliderError)
@keeps_arguments
class Collider:
    """Triangles whose positions are known at all times.

    Args:
        positions: (V, 3) [m], or a function of time t [s] -> (V, 3) [m].
        triangles: (T, 3) vertex indices, the same for all times.
        friction: Coulomb coefficient, or a function of the time; with the fabric's own it combines to their product's
            square root [-].
        thickness: extra distance kept from this surface [m].
        absorption: part of a force field that does not pass this surface, of fields that are absorbed, in 0..1 [-].
        left_out: (V,) marked vertices. Triangles with all corners marked are left out of collisions, such as hands; a
            closed surface stays closed, by caps over what this opens. None for no vertices.
        name: name in messages; "collider" if not given.

    Attributes:
        triangles: (T, 3) that take part in collisions.

    Raises:
        ColliderError: no triangles, one that uses a vertex twice, an index out of range, positions that are not
            numbers, too far away or change their count, or a still one without any area.
    """

    def __init__(self, positions: Any, triangles: Any = None, friction: Setting = 0.3, *, thickness: float = 0.0,
                 absorption: Setting = 0.0, left_out: Any = None, name: str | None = None) -> None:
        if not (name is None or isinstance(name, str)):
            raise ColliderError(f"name is {name!r}, it must be text")
        self.name = name = name or "collider"
        if isinstance(positions, ClothMesh):
            raise ColliderError("positions is a ClothMesh; write Collider(mesh.positions, mesh.triangles)",
                                object_name=name)
        if triangles is None:
            raise ColliderError("triangles is None, it must be (T, 3) numbers of vertices; write Collider(positions, "
                                "triangles)", object_name=name)
        self.moves = callable(positions)
        self._positions: Callable[[float], Any] | FloatArray = positions
        self._vertex_count: int | None = None
        try:
            self.triangles = index_rows(triangles, 3)
        except ValueError as error:
            raise ColliderError(f"triangles: {error}{faces_wanted(triangles)}", object_name=name) from None
        if len(self.triangles) == 0:
            raise ColliderError("has no triangles; give the mesh faces or remove it as a collider", object_name=name)
        twice = (self.triangles == np.roll(self.triangles, 1, axis=1)).any(axis=1)
        if twice.any():
            t = int(np.argmax(twice))
            raise ColliderError(f"triangle {t} {self.triangles[t].tolist()} uses a vertex twice ({int(twice.sum())} "
                                "such); remove that triangle", object_name=name)
        if left_out is not None:
            self.triangles = self._without(left_out)
        given: dict[str, Any] = {"friction": friction, "thickness": thickness}
        for what, value in given.items():
            if what == "friction" and callable(value):
                check_setting(value, what, name, least=0.0, most=FARTHEST, error=ColliderError)
            elif not (is_number(value) and 0.0 <= value <= FARTHEST):
                raise ColliderError(f"{what} is {value!r}, it must be a number, 0 or more and "
                                    f"{number_text(FARTHEST)} at most",
                                    object_name=name)
        check_setting(absorption, "absorption", name, least=0.0, most=1.0, error=ColliderError)
        self._friction, self.friction_changes = friction, callable(friction)
        self.friction, self.thickness, self.absorption = number_at(friction, 0.0), float(thickness), absorption
        if not self.moves:
            self._positions = self._checked(positions, 0.0)
            if not self.has_area(0.0):                                   # what moves may grow out of a point
                raise ColliderError("none of its triangles has any area; if that is an object's scale of 0, give it "
                                    "another", object_name=name)
        elif not takes(positions, 1):
            raise ColliderError(f"positions is a function of {inspect.signature(positions)}, it must take the time "
                                "alone", object_name=name)

    def _without(self, left_out: Any) -> IntArray:
        """Return the triangles (T, 3) without those that are left out."""
        marks = np.asarray(left_out)
        count = int(self.triangles.max()) + 1
        if marks.ndim != 1 or marks.dtype != np.bool_ or len(marks) < count:
            raise ColliderError(f"left_out is an array of {marks.dtype} of shape {marks.shape}, it must have True or "
                                f"False for each of at least {count} vertices; write weights > 0.5 for weights",
                                object_name=self.name)
        kept = without(self.triangles, marks)
        if len(kept) == 0:
            raise ColliderError("all of its triangles are left out; mark fewer vertices, or remove it as a collider",
                                object_name=self.name)
        return kept

    def at(self, time: float) -> FloatArray:
        """Return the positions (V, 3) [m] at `time` [s]."""
        if callable(self._positions):
            return self._checked(self._positions(time), time)
        return self._positions

    def absorption_at(self, time: float) -> float:
        """Return the part of a force field that does not pass this surface, at `time` [s]."""
        return checked_number_at(self.absorption, time, "absorption", self.name, least=0.0, most=1.0,
                                 error=ColliderError)

    def friction_at(self, time: float) -> float:
        """Return the coefficient of friction at `time` [s]."""
        return checked_number_at(self._friction, time, "friction", self.name, least=0.0, most=FARTHEST,
                                 error=ColliderError)

    def has_area(self, time: float) -> bool:
        """Return whether any triangle has an area at `time` [s]."""
        first, second, third = (self.at(time)[self.triangles[:, corner]] for corner in range(3))
        return bool(np.cross(second - first, third - first).any())

    def _checked(self, values: Any, time: float) -> FloatArray:
        try:
            rows = float_rows(values, 3)
        except ValueError as error:
            raise ColliderError(f"positions at {time:.4f} s: {error}", object_name=self.name) from None
        if self._vertex_count is None:
            self._vertex_count = len(rows)
            outside = (self.triangles < 0) | (self.triangles >= len(rows))
            if outside.any():
                t = int(np.argmax(outside.any(axis=1)))
                raise ColliderError(f"triangle {t} names vertex {self.triangles[t][outside[t]][0]}, it must be one of "
                                    f"the {len(rows)} vertices, 0..{len(rows) - 1}", object_name=self.name)
        if len(rows) != self._vertex_count:
            raise ColliderError(f"has {len(rows)} vertices at {time:.4f} s and had {self._vertex_count} before; a "
                                "collider must keep its vertices (switch off modifiers that change their number)",
                                object_name=self.name)
        bad = ~np.isfinite(rows).all(axis=1)
        if bad.any():
            vertex = int(np.argmax(bad))
            raise ColliderError(f"vertex {vertex} is at {rows[vertex].tolist()} at {time:.4f} s, which is not a "
                                "number; check what moves it there, such as a driver or a modifier",
                                object_name=self.name)
        far = too_far(rows)
        if far.any():
            vertex = int(np.argmax(far))
            raise ColliderError(f"vertex {vertex} is at {rows[vertex].tolist()} m at {time:.4f} s, it must be within "
                                f"{number_text(FARTHEST)} m", object_name=self.name)
        return rows
