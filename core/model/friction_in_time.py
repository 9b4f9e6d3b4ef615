# SPDX-License-Identifier: GPL-3.0-or-later
"""The coefficients of friction of all cloths and colliders as a function of time."""

from __future__ import annotations

import numpy as np

from ..contact.friction_coefficients import FrictionCoefficients
from ..description.cloth import Cloth
from ..description.scene import Scene
from .dof_numbering import SolverNodes
from .latest import Latest


class FrictionInTime:
    """The coefficients of a scene whose particles are numbered by `nodes`.

    Attributes:
        changes: whether a coefficient is a function of time.
    """

    def __init__(self, scene: Scene, nodes: SolverNodes) -> None:
        self._scene, self._nodes = scene, nodes
        self.changes = (any(_is_keyed(cloth) for cloth in scene.cloths)
                        or any(collider.friction_changes for collider in scene.colliders))
        self._latest: Latest[float, FrictionCoefficients] = Latest()

    def at(self, time: float) -> FrictionCoefficients:
        """Return the coefficients at `time` [s]."""
        return self._latest.at(time if self.changes else 0.0, self._made)

    def _made(self, time: float) -> FrictionCoefficients:
        cloths, counts = self._scene.cloths, [span.stop - span.start for span in self._nodes.slices]
        on_solids, on_cloth = (self._nodes.padded(np.repeat(values, counts)) for values in zip(
            *(cloth.friction_at(time) for cloth in cloths), strict=True))
        return FrictionCoefficients(on_solids, on_cloth, np.array([
            collider.friction_at(time) for collider in self._scene.colliders]))


def _is_keyed(cloth: Cloth) -> bool:
    fabric = cloth.keyed_material
    return callable(cloth.contact.self_friction) or (fabric is not None and "friction" in fabric.changes)
