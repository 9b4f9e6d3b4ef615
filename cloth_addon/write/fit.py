# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the fitted shape of cloth: as the shape key *Fit*, or into the mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..read import mesh_data

FIT_KEY = "Fit"
"""Name of the shape key."""


def write_key(obj: Any, change: NDArray[np.float64]) -> None:
    """Add `change` (V, 3) [Blender units] to the shape key *Fit*, which is made and switched on if it is not there."""
    keys = obj.data.shape_keys
    if keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
        keys = obj.data.shape_keys
    key = keys.key_blocks.get(FIT_KEY)
    if key is None or key.relative_key != keys.reference_key or key.value != 1.0 or key.mute:
        key = obj.shape_key_add(name=FIT_KEY, from_mix=False)
        key.relative_key = keys.reference_key
        _set(key.data, _get(keys.reference_key.data))
        key.value = 1.0
    _set(key.data, _get(key.data) + change)
    obj.data.update()


def write_mesh(obj: Any, change: NDArray[np.float64]) -> None:
    """Add `change` (V, 3) [Blender units] to the vertices of the mesh, and to all of its shape keys."""
    if obj.data.shape_keys is not None:
        for key in obj.data.shape_keys.key_blocks:
            _set(key.data, _get(key.data) + change)
    positions = mesh_data.positions(obj.data).astype(np.float64) + change
    obj.data.vertices.foreach_set("co", positions.astype(np.float32).ravel())
    obj.data.update()


def _get(points: Any) -> NDArray[np.float64]:
    values = np.empty(3 * len(points), np.float32)
    points.foreach_get("co", values)
    return values.reshape(-1, 3).astype(np.float64)


def _set(points: Any, positions: NDArray[np.float64]) -> None:
    points.foreach_set("co", positions.astype(np.float32).ravel())
