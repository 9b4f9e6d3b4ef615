# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a comparison: pictures, sheet and figures. All is made in a room of its own and then moved in, and of
an earlier comparison those pictures go that its figures list: nothing else in the folder is touched.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import core
from ..write.report import plain
from . import comparison_sheet, snapshot

if TYPE_CHECKING:
    from ..bake.bake import Progress
    from ..read.read_scene import World
    from .comparison import Outcome

SHEET, VALUES = "compare.html", "compare.json"
FAR = 50.0
"""So many times its size at the start cloth is followed by the camera: further, it would be a point."""


@dataclass(frozen=True)
class Shot:
    """What is to be drawn of a run: cloths before solids; `start` (V, 3) [m] is where the cloths began."""

    outcome: Outcome
    frame: int
    cloths: list[snapshot.Drawn]
    solids: list[snapshot.Drawn]
    start: NDArray[np.float64]

    @classmethod
    def of(cls, outcome: Outcome, world: World, solved: core.Frame) -> Shot:
        cloths = [snapshot.Drawn(x, cloth.mesh.triangles, cloth.mesh.loose_edges, _alone(cloth.mesh))
                  for cloth, x in zip(world.cloths, solved.positions, strict=True)]
        solids = [snapshot.Drawn(solid.at(solved.time), solid.triangles, colour=snapshot.SOLID)
                  for solid in world.scene.colliders]
        return cls(outcome, solved.index, cloths, solids, np.concatenate([c.positions for c in world.cloths]))

    @property
    def name(self) -> str:
        return f"{self.outcome.kind.model}-{self.outcome.kind.integrator}-{self.frame:04d}.png"


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """The folder and those it lies in are there; those that were made here go again where nothing came into them.

    Raises:
        OSError: they cannot be made.
    """
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):                                   # not empty
            for place in new:
                place.rmdir()


def write(folder: Path, values: dict[str, Any], outcomes: Sequence[Outcome], shots: Sequence[Shot],
          progress: Progress) -> Generator[Progress, None, dict[str, Any]]:
    """Draws `shots`, writes sheet and figures: `values` and all runs, which are returned. Yields `progress` before each
    picture; closed there, it leaves the folder as it was."""
    earlier = _pictures_in(folder)
    with made(folder), tempfile.TemporaryDirectory(prefix=".muslin-", dir=folder) as room_name:
        room = Path(room_name)
        view = view_of(shots) if shots else None
        for shot in shots:
            yield progress
            snapshot.draw(shot.cloths + shot.solids, view, room / shot.name)
            shot.outcome.pictures.append(shot.name)
        values = plain({**values, "runs": [{**vars(run), "kind": vars(run.kind)} for run in outcomes]})
        (room / VALUES).write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
        (room / SHEET).write_text(comparison_sheet.html(values, outcomes, room), encoding="utf-8")
        drawn = [shot.name for shot in shots]
        for name in (*drawn, VALUES, SHEET):
            os.replace(room / name, folder / name)
    for name in earlier.difference(drawn):
        (folder / name).unlink(missing_ok=True)
    return values


def view_of(shots: Sequence[Shot]) -> snapshot.View:
    """Sees the cloth of all pictures, and solids near it that are no larger: a floor may go on beyond the frame.

    Of runs that failed it does so only if none did not: their last frames may be anywhere.
    """
    whole = [shot for shot in shots if not shot.outcome.error] or list(shots)
    start = np.concatenate([shot.start for shot in whole])
    reach = FAR * float(np.ptp(start, axis=0).max())
    x = np.concatenate([thing.positions for shot in whole for thing in shot.cloths])
    x = np.clip(x, start.min(axis=0) - reach, start.max(axis=0) + reach)
    low, high = x.min(axis=0), x.max(axis=0)
    size = float((high - low).max())
    solids = [solid.positions for shot in whole for solid in shot.solids]
    near = [y for y in solids if (y.min(axis=0) >= low - size).all() and (y.max(axis=0) <= high + size).all()
            and float(np.ptp(y, axis=0).max()) <= size]
    return snapshot.around(np.concatenate([x, *near]))


def _pictures_in(folder: Path) -> set[str]:
    """Pictures that the figures of an earlier comparison list; none where these are not there or not ours."""
    try:
        runs = json.loads((folder / VALUES).read_text(encoding="utf-8"))["runs"]
        names = {name for run in runs for name in run["pictures"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {name for name in names if isinstance(name, str) and name.endswith(".png") and Path(name).name == name}


def _alone(mesh: core.ClothMesh) -> NDArray[np.int64]:
    """Vertices of no face and no edge."""
    used = np.union1d(mesh.triangles.ravel(), mesh.loose_edges.ravel())
    return np.setdiff1d(np.arange(len(mesh.positions)), used)
