# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare: chosen models and integrators on the same objects, one after the other, and one sheet of what they did.

The scene is simulated as a bake would, but nothing is written to the objects: the result is a folder with a picture
of each run and the sheet, see compare_sheet.py. A run that fails is listed with its error, the others go on.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import core
from . import backends, compare_sheet, reading, snapshot
from .bake import Progress, frame_kept, view_layer_of
from .report import plain, versions
from .settings import scene_settings_of
from .world import World, read_world

SHEET, VALUES = "compare.html", "compare.json"
PICTURED = (1 / 3, 2 / 3, 1.0)
"""When in the range a run is drawn."""
HOLD_OUT = 1.5
"""Pictures look at what is within so many times the size of the cloth at the start: what flies off is let go."""


@dataclass(frozen=True)
class Kind:
    """A model and an integrator, by name."""

    model: str
    integrator: str

    @property
    def title(self) -> str:
        return f"{self.model}, {self.integrator}"


@dataclass
class Outcome:
    """What a run did: certificates as dicts, the seconds they took, names of pictures, and why it ended early."""

    kind: Kind
    frames: list[dict[str, Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    error: str = ""

    def worst(self, name: str) -> float:
        return max((float(frame[name]) for frame in self.frames), default=0.0)


@dataclass(frozen=True)
class Comparison:
    """The result: where the sheet is, and all runs."""

    sheet: Path
    outcomes: list[Outcome]


def kinds_of(models: Sequence[str], integrators: Sequence[str]) -> list[Kind]:
    """Every model with every integrator.

    Raises:
        core.SceneError: there are none, or one is not known.
    """
    for what, given, known in (("model", models, core.models()), ("integrator", integrators, core.integrators())):
        if not given:
            raise core.SceneError(f"nothing to compare: choose at least one {what}")
        for name in given:
            if name not in known:
                raise core.SceneError(f"no {what} '{name}'; there are: {', '.join(known)}")
    return [Kind(model, integrator) for model in dict.fromkeys(models) for integrator in dict.fromkeys(integrators)]


def compare(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], kinds: Sequence[Kind], folder: Path,
            frames: tuple[int, int] | None = None, depsgraph: bpy.types.Depsgraph | None = None,
            backend: str | None = None) -> Generator[Progress, None, Comparison]:
    """Simulates `objects` once for each of `kinds` over `frames` (first, last), or the scene's.

    Yields Progress, as a bake does. Closing it cancels; the scene then is as before, and no sheet is written.

    Raises:
        core.ClothError: the scene cannot be simulated at all. OSError: the folder cannot be written to.
    """
    settings = scene_settings_of(scene, frames, backend)
    reading.check_frames(settings.first, settings.last)
    view_layer = view_layer_of(scene, depsgraph)
    names = tuple(obj.name for obj in objects)
    if folder.exists() and not folder.is_dir():
        raise core.SceneError(f"the sheet cannot go into {folder}, which is a file; choose a folder")
    folder.mkdir(parents=True, exist_ok=True)
    total = settings.last - settings.first + 1
    drawn = sorted({settings.first + max(1, round(part * (total - 1))) for part in PICTURED})
    outcomes: list[Outcome] = []
    with frame_kept(scene):
        view_layer.update()
        view: snapshot.View | None = None
        for number, kind in enumerate(kinds):
            outcome = Outcome(kind)
            outcomes.append(outcome)
            solver_settings = replace(settings, integrator=kind.integrator)
            try:
                world = read_world(scene, settings, objects, view_layer, kind.model)
                solver = replace(solver_settings.solver(), measure_energy=True)
            except core.ClothError as error:
                outcome.error = str(error)
                continue
            view = view or _view(world)
            yield from _prepared(solver, kind, settings.first, total * len(kinds), number * total, names)
            steps = core.simulate(world.scene, solver, range(settings.first, settings.last + 1))
            for done in range(total):
                frame = settings.first + done
                if done:
                    world.window.read(frame)
                yield Progress(frame, number * total + done, total * len(kinds), None, None, names,
                               touches_blender=False)
                start = time.perf_counter()
                try:
                    solved = next(steps)
                except core.ClothError as error:
                    outcome.error = str(error)
                    break
                outcome.seconds.append(time.perf_counter() - start)
                outcome.frames.append(solved.certificate.as_dict())
                yield Progress(frame, number * total + done, total * len(kinds), None, solved.certificate, names,
                               touches_blender=True)
                if frame in drawn:
                    name = f"{kind.model}-{kind.integrator}-{frame:04d}.png"
                    snapshot.draw(_things(world, solved), view, folder / name)
                    outcome.pictures.append(name)
    return _write(folder, scene.name, names, settings.first, outcomes)


def _prepared(solver: core.Solver, kind: Kind, frame: int, total: int, done: int,
              names: tuple[str, ...]) -> Generator[Progress, None, None]:
    """Kernels that this run needs are compiled before its time is taken."""
    backends.keep_compiled()
    for stage in backends.prepare(solver, [kind.model]):
        yield Progress(frame, done, total, None, None, names, touches_blender=False, stage=stage)


def _view(world: World) -> snapshot.View:
    """Of the cloth where it starts, and of what it may reach from there."""
    x = np.concatenate([cloth.positions for cloth in world.cloths])
    middle, reach = x.mean(axis=0), HOLD_OUT * np.ptp(x, axis=0).max() / 2
    low = np.minimum(x.min(axis=0), middle - [0.0, 0.0, reach])
    return snapshot.around(np.stack([low, x.max(axis=0)]))


def _things(world: World, frame: core.Frame) -> list[snapshot.Drawn]:
    things = [snapshot.Drawn(x, cloth.mesh.triangles, cloth.mesh.loose_edges, _alone(cloth.mesh))
              for cloth, x in zip(world.cloths, frame.positions, strict=True)]
    return things + [snapshot.Drawn(collider.at(frame.time), collider.triangles, colour=snapshot.SOLID)
                     for collider in world.scene.colliders]


def _alone(mesh: core.ClothMesh) -> NDArray[np.int64]:
    """Vertices of no face and no edge."""
    used = np.union1d(mesh.triangles.ravel(), mesh.loose_edges.ravel())
    return np.setdiff1d(np.arange(len(mesh.positions)), used)


def _write(folder: Path, scene: str, names: Sequence[str], first: int, outcomes: list[Outcome]) -> Comparison:
    values = plain({
        "scene": scene, "objects": list(names), "first": first, "versions": versions(),
        "runs": [{**vars(outcome), "kind": vars(outcome.kind)} for outcome in outcomes]})
    _replace(folder / VALUES, json.dumps(values, indent=1) + "\n")
    _replace(folder / SHEET, compare_sheet.html(f"{', '.join(names)} in {scene}", first, outcomes, folder))
    return Comparison(folder / SHEET, outcomes)


def _replace(path: Path, text: str) -> None:
    """Whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
