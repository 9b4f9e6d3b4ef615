# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene that is simulated while some edges of its split meshes have torn.

Vertices that are joined (`SplitEdges.joined`) are one vertex of the simulation: the scene that is simulated has a
vertex for each set of them, in the order of the first ones. With further tears it has more vertices. Frames have all
vertices of the given scene, and messages have their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import BoolArray, IntArray
from ..errors import CheckpointError, PinError
from .arguments import arguments_of, changes_of
from .cloth import Cloth
from .mesh import ClothMesh
from .pins import Attachment
from .scene import Scene
from .split_edges import SplitEdges
from .topology import Topology, bodies
from .vertex_values import vectors

PER_VERTEX = ("positions", "velocities", "births", "rest_scale", "rest_curvature", "stretch_scale", "shear_scale",
              "bend_scale")
"""Arguments of a cloth with a value for each vertex, or a function of the time that returns them."""


class TornScene:
    """A scene with some of its edges torn.

    Args:
        given: the scene with its split meshes.
        torn: (W,) flags of the edges of all split meshes, None if all are whole.

    Attributes:
        given: as given. scene: the one that is simulated; `given` if no mesh is split.
        edges: edges that may tear of each cloth, None where its mesh is not split.
        torn: (W,) as given; None if no mesh is split.
        kept: (m,) of each cloth the given vertex of each vertex that is simulated; None where its mesh is not split.
        place: (n,) of each cloth the vertex that is simulated for each given one; None where its mesh is not split.
        parted: (N, 2) of each cloth, vertices that are simulated, at one place at rest, and have come apart.
    """

    def __init__(self, given: Scene, torn: BoolArray | None = None) -> None:
        self.given = self.scene = given
        self.edges = [SplitEdges.of(c.mesh.positions, c.mesh.triangles) if c.mesh.split else None
                      for c in given.cloths]
        self.torn: BoolArray | None = None
        self.kept: list[IntArray | None] = [None] * len(given.cloths)
        self.place: list[IntArray | None] = [None] * len(given.cloths)
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
                joined, whole = edges.joined(part), edges.joined(np.zeros_like(part))
                kept, place = np.unique(joined, return_inverse=True)
                place = place.reshape(-1)
                self.kept[number], self.place[number] = kept, place
                self.parted[number] = _pairs_within(whole[kept])
                cloth = _Joined(kept, place).cloth(cloth, whole, split=len(self.parted[number]) > 0)
            cloths.append(cloth)
        self.scene = Scene(**{**arguments_of(given), "cloths": cloths})


@dataclass(frozen=True)
class _Joined:
    """The vertices of a split mesh that are simulated; arrays as of `TornScene`."""

    kept: IntArray
    place: IntArray

    def cloth(self, cloth: Cloth, whole: IntArray, *, split: bool) -> Cloth:
        """Return the cloth on these vertices; whole: (n,) joined vertices if nothing tears. split: whether some have
        come apart."""
        given = dict(arguments_of(cloth))
        arguments = {**given, "mesh": self.mesh(given["mesh"], split=split), "thickness": cloth.thickness,
                     "tearing": None}
        arguments |= {what: self.rows(given[what]) for what in PER_VERTEX if what in given}
        if cloth.pressure is not None:
            weights = cloth.pressure.checked_weights(len(whole), cloth.name)
            if split:
                weights = np.where(_leaks(cloth.mesh.triangles, self.kept[self.place], whole), 0.0, weights)
            if split or cloth.pressure.weights is not None:
                arguments["pressure"] = replace(cloth.pressure, weights=weights[self.kept])
        if cloth.internal_springs is not None:
            arguments["internal_springs"] = replace(cloth.internal_springs,
                                                    scale=self.rows(cloth.internal_springs.scale))
        arguments["contact"] = replace(cloth.contact, not_self=self.rows(cloth.contact.not_self),
                                       not_objects=self.rows(cloth.contact.not_objects))
        pins, targets, sewing = given.get("pins"), given.get("pin_targets"), given.get("sewing", False)
        # messages about what functions return have the given numbers
        if targets is not None:
            arguments["pin_targets"] = lambda time: vectors(
                targets(time), len(whole), f"pin targets at {time:.4f} s", cloth.name, PinError)[self.kept]
        if cloth.rest_motion is not None:
            arguments["rest_motion"] = lambda time: cloth.rest_positions(time)[self.kept]
        if isinstance(pins, Mapping):
            arguments["pins"] = {self.at(vertex): target for vertex, target in pins.items()}
        elif callable(pins):
            arguments["pins"] = lambda time: cloth.pins.weights_at(time)[self.kept]
        elif pins is not None:
            weights = np.zeros(len(self.kept))
            np.maximum.at(weights, self.place, cloth.pins.weights)
            arguments["pins"] = weights
        arguments["attachments"] = list({(at := self.at(a.vertex)): Attachment(at, a.directions, a.target)
                                         for a in cloth.pins.attachments}.values())
        if not isinstance(sewing, (bool, np.bool_)):
            pairs = self.place[cloth.seams]
            arguments["sewing"] = pairs[pairs[:, 0] != pairs[:, 1]]
        arguments["buttons"] = [(self.at(one), self.at(other) if np.ndim(other) == 0 else other)
                                for one, other in given.get("buttons", ())]
        return Cloth(**arguments)

    def mesh(self, mesh: ClothMesh, *, split: bool) -> ClothMesh:
        """Return the mesh on these vertices."""
        given: dict[str, Any] = {**arguments_of(mesh), "split": split}
        given["positions"] = mesh.positions[self.kept]
        numbers = self.place.tolist()
        for what in ("triangles", "edges"):
            if given.get(what) is not None:
                columns = 3 if what == "triangles" else 2
                given[what] = self.place[np.asarray(given[what], dtype=np.int64).reshape(-1, columns)]
        if given.get("faces") is not None:
            faces: Sequence[Sequence[int]] = given["faces"]
            given["faces"] = [[numbers[v] for v in face] for face in faces]
        if given.get("uv") is not None:
            given["uv"] = self.rows(np.asarray(given["uv"], dtype=np.float64), 2)
        result = ClothMesh(**given)
        for method, more in changes_of(mesh):
            result = getattr(result, method)(**{
                what: np.sort(self.place[value], axis=1) if what == "edges" else self.rows(value)
                for what, value in more.items()})
        return result

    def rows(self, values: Any, ndim: int | None = None) -> Any:
        """Return values of all given vertices, or a function of the time that returns them, for these; others, as one
        number for all, as they are. ndim: number of axes of values that belong to vertices, any if not given."""
        if callable(values):
            return lambda time: self.rows(values(time), ndim)
        array = np.asarray(values)
        if values is None or array.ndim == 0 or len(array) != len(self.place) or array.ndim != (ndim or array.ndim):
            return values
        return array[self.kept]

    def at(self, vertex: Any) -> int:
        """Return the number of a given vertex."""
        return int(self.place[int(vertex)])


def _pairs_within(group: IntArray) -> IntArray:
    """Return the pairs (N, 2) of rows with the same number in `group` (m,)."""
    order = np.argsort(group, kind="stable")
    number, pairs, shift = group[order], [np.zeros((0, 2), dtype=np.int64)], 1
    while (same := number[:-shift] == number[shift:]).any():
        pairs.append(np.stack([order[:-shift][same], order[shift:][same]], axis=1))
        shift += 1
    return np.concatenate(pairs)


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
