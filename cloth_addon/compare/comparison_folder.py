# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a comparison: pictures, sheet and figures.

All files are written to a temporary folder and then moved. The pictures of an earlier comparison in the folder, as its
compare.json lists them, are removed. Nothing else in the folder is changed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import core
from ..bake.progress import Progress
from ..properties import record_schema
from ..read.read_scene import SimulationInput
from ..write.report import json_values
from . import comparison_sheet, snapshot
from .records import Outcome, Shot, Variant

SHEET, VALUES = "compare.html", "compare.json"
LARGEST_TRAVEL = 50.0
"""Distance up to which the camera follows cloth, over its initial size [-]. Further away cloth would be a dot."""


def shot_of(variant: Variant, inputs: SimulationInput, solved: core.Frame) -> Shot:
    """Return the picture of a frame of a run, not drawn yet."""
    cloths = [snapshot.DrawnMesh(x, cloth.mesh.triangles, cloth.mesh.loose_edges, _loose_vertices(cloth.mesh))
              for cloth, x in zip(inputs.cloths, solved.positions, strict=True)]
    colliders = [snapshot.DrawnMesh(collider.at(solved.time), collider.triangles, colour=snapshot.COLLIDER_COLOUR)
                 for collider in inputs.scene.colliders]
    return Shot(variant, solved.index, cloths, colliders, np.concatenate([c.positions for c in inputs.cloths]))


@contextmanager
def created(folder: Path) -> Iterator[None]:
    """Create the folder and its parents; at the end remove those that were created here and are empty.

    Raises:
        OSError: they cannot be created.
    """
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):                                   # not empty
            for path in new:
                path.rmdir()


def write(folder: Path, values: dict[str, Any], outcomes: Sequence[Outcome], shots: Sequence[Shot],
          progress: Progress) -> Generator[Progress, None, dict[str, Any]]:
    """Draw the pictures, write the sheet and compare.json, and return the contents of compare.json.

    `values` are its contents without the runs. Yields `progress` before each picture. Closed there, it leaves the
    folder unchanged.
    """
    earlier = _pictures_in(folder)
    with created(folder), tempfile.TemporaryDirectory(prefix=".muslin-", dir=folder) as temporary_name:
        temporary = Path(temporary_name)
        view = view_of(shots, {run.variant for run in outcomes if run.error}) if shots else None
        for shot in shots:
            yield progress
            snapshot.draw(shot.cloths + shot.colliders, view, temporary / shot.file_name)
        values = json_values({"version": 1, **values, "runs": [run.as_dict() for run in outcomes]})
        (temporary / VALUES).write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
        (temporary / SHEET).write_text(comparison_sheet.html(values, outcomes, temporary), encoding="utf-8")
        drawn = [shot.file_name for shot in shots]
        for name in (*drawn, VALUES, SHEET):
            os.replace(temporary / name, folder / name)
    for name in earlier.difference(drawn):
        (folder / name).unlink(missing_ok=True)
    return values


def view_of(shots: Sequence[Shot], failed: set[Variant]) -> snapshot.View:
    """Return a view in which the cloth of all pictures is visible, and colliders near it that are not larger.

    A floor may extend beyond the picture. Runs of the variants in `failed` count only if all failed, because their last
    frames may be anywhere.
    """
    counted = [shot for shot in shots if shot.variant not in failed] or list(shots)
    start = np.concatenate([shot.start for shot in counted])
    reach = LARGEST_TRAVEL * float(np.ptp(start, axis=0).max())
    x = np.concatenate([mesh.positions for shot in counted for mesh in shot.cloths])
    x = np.clip(x, start.min(axis=0) - reach, start.max(axis=0) + reach)
    low, high = x.min(axis=0), x.max(axis=0)
    size = float((high - low).max())
    colliders = [mesh.positions for shot in counted for mesh in shot.colliders]
    near = [y for y in colliders if (y.min(axis=0) >= low - size).all() and (y.max(axis=0) <= high + size).all()
            and float(np.ptp(y, axis=0).max()) <= size]
    return snapshot.view_around(np.concatenate([x, *near]))


def _pictures_in(folder: Path) -> set[str]:
    """Return the pictures that the folder's compare.json lists; none if there is no such file of a comparison."""
    try:
        if (folder / VALUES).stat().st_size > record_schema.LONGEST:
            return set()
        runs = record_schema.parsed((folder / VALUES).read_text(encoding="utf-8"), record_schema.COMPARISON)["runs"]
        names = {name for run in runs for name in run["pictures"]}
    except (OSError, ValueError):                           # no such file, or no such contents
        return set()
    return {name for name in names if isinstance(name, str) and name.endswith(".png") and Path(name).name == name}


def _loose_vertices(mesh: core.ClothMesh) -> NDArray[np.int64]:
    """Return the vertices without faces and edges."""
    used = np.union1d(mesh.triangles.ravel(), mesh.loose_edges.ravel())
    return np.setdiff1d(np.arange(len(mesh.positions)), used)
