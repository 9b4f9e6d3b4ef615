# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene that is simulated while some edges of its split meshes have torn.

Vertices keep their numbers. Faces are on the vertex that their own one is joined with (`SplitEdges.joined`); vertices
that are joined with another one are loose, and kept out of the simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import BoolArray, IntArray
from ..errors import CheckpointError
from .arguments import arguments_of, changes_of
from .cloth import Cloth
from .mesh import ClothMesh
from .pins import Attachment
from .scene import Scene
from .split_edges import SplitEdges
from .topology import Topology, bodies


class TornScene:
    """A scene with some of its edges torn.

    Args:
        given: the scene with its split meshes.
        torn: (W,) flags of the edges of all split meshes, None if all are whole.

    Attributes:
        given: as given. scene: the one that is simulated; `given` if no mesh is split.
        edges: edges that may tear of each cloth, None where its mesh is not split.
        torn: (W,) as given; None if no mesh is split.
        joined: (n,) of each cloth the vertex with which each of its vertices is joined, None where its mesh is not
            split.
        parted: (N, 2) of each cloth, vertices at one place at rest that have come apart.
    """

    def __init__(self, given: Scene, torn: BoolArray | None = None) -> None:
        self.given = self.scene = given
        self.edges = [SplitEdges.of(c.mesh.positions, c.mesh.triangles) if c.mesh.split else None
                      for c in given.cloths]
        self.torn: BoolArray | None = None
        self.joined: list[IntArray | None] = [None] * len(given.cloths)
        self.parted: list[IntArray] = [np.zeros((0, 2), dtype=np.int64)] * len(given.cloths)
        if all(edges is None for edges in self.edges):
            return
        counts = [0 if edges is None else len(edges) for edges in self.edges]
        self.torn = np.zeros(sum(counts), dtype=np.bool_) if torn is None else torn
        if len(self.torn) != sum(counts):
            raise CheckpointError(f"the checkpoint has {len(self.torn)} edges that may tear, the scene has "
                                  f"{sum(counts)}; start anew with the changed mesh")
        cloths = []
        for number, (cloth, edges, part) in enumerate(zip(given.cloths, self.edges, np.split(
                self.torn, np.cumsum(counts)[:-1]), strict=True)):
            if edges is not None:
                joined = self.joined[number] = edges.joined(part)
                whole = edges.joined(np.zeros_like(part))
                apart = joined != whole
                self.parted[number] = np.unique(np.stack([whole[apart], joined[apart]], axis=1), axis=0)
                cloth = _joined_cloth(cloth, joined, whole, split=len(self.parted[number]) > 0)
            cloths.append(cloth)
        self.scene = Scene(**{**arguments_of(given), "cloths": cloths})


def _joined_cloth(cloth: Cloth, joined: IntArray, whole: IntArray, *, split: bool) -> Cloth:
    """Return the cloth on the vertices `joined` (V,), which are `whole` (V,) if nothing tears; `split`: whether some
    have come apart."""
    given = dict(arguments_of(cloth))
    arguments = {**given, "mesh": _joined_mesh(given["mesh"], joined, split=split), "thickness": cloth.thickness,
                 "tearing": None}
    if split and cloth.pressure is not None:
        weights = cloth.pressure.checked_weights(len(joined), cloth.name)
        weights = np.where(_leaks(cloth.mesh.triangles, joined, whole), 0.0, weights)
        arguments["pressure"] = replace(cloth.pressure, weights=weights)
    pins, sewing = given.get("pins"), given.get("sewing", False)
    if isinstance(pins, dict):
        arguments["pins"] = {_at(joined, vertex): target for vertex, target in pins.items()}
    elif pins is not None and not callable(pins):
        weights = cloth.pins.weights.copy()
        np.maximum.at(weights, joined, cloth.pins.weights)
        arguments["pins"] = weights
    arguments["attachments"] = list({(at := _at(joined, a.vertex)): Attachment(at, a.directions, a.target)
                                     for a in cloth.pins.attachments}.values())
    if not isinstance(sewing, (bool, np.bool_)):
        pairs = joined[cloth.seams]
        arguments["sewing"] = pairs[pairs[:, 0] != pairs[:, 1]]
    arguments["buttons"] = [(_at(joined, one), _at(joined, other) if np.ndim(other) == 0 else other)
                            for one, other in given.get("buttons", ())]
    return Cloth(**arguments)


def _leaks(triangles: IntArray, joined: IntArray, whole: IntArray) -> BoolArray:
    """Return which vertices (V,) are of a piece that was closed before it tore, and is open: its gas has escaped."""
    piece = bodies(Topology(whole[triangles]).edges, len(whole))[whole]
    was_open, is_open = (np.bincount(piece[_borders(triangles, now)], minlength=len(whole)) > 0
                         for now in (whole, joined))
    leaks: BoolArray = (is_open & ~was_open)[piece]
    return leaks


def _borders(triangles: IntArray, now: IntArray) -> IntArray:
    """Return a vertex of each border edge, one side of which has no triangle, with the vertices joined as `now` (V,).
    """
    first = triangles.ravel()
    ends = np.sort(np.stack([now[first], now[np.roll(triangles, -1, axis=1).ravel()]], axis=1), axis=1)
    _, at, count = np.unique(ends[:, 0] * len(now) + ends[:, 1], return_index=True, return_counts=True)
    return first[at[count == 1]]


def _at(joined: IntArray, vertex: Any) -> int:
    return int(joined[int(vertex)])


def _joined_mesh(mesh: ClothMesh, joined: IntArray, *, split: bool) -> ClothMesh:
    given: dict[str, Any] = {**arguments_of(mesh), "keep_loose": True, "split": split}
    numbers = joined.tolist()
    for what in ("triangles", "edges"):
        if given.get(what) is not None:
            given[what] = joined[np.asarray(given[what], dtype=np.int64).reshape(-1, 3 if what == "triangles" else 2)]
    if given.get("faces") is not None:
        faces: Sequence[Sequence[int]] = given["faces"]
        given["faces"] = [[numbers[v] for v in face] for face in faces]
    result = ClothMesh(**given)
    for method, more in changes_of(mesh):
        result = getattr(result, method)(**more)
    return result
