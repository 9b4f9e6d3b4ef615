# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare: chosen models and integrators on the same objects, one after the other, and one sheet of what they did.

The scene is simulated as a bake would, but nothing is written to the objects: the result is a folder with pictures
of each run and the sheet (comparison_folder.py, comparison_sheet.py), written after the last run. A run that fails is
listed with its error, the others go on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ..bake import backends
from ..bake.bake import Progress, frame_kept, view_layer_of
from ..properties.settings import SceneSettings, scene_settings_of
from ..read import read_cloth
from ..read.read_scene import World, read_world
from ..write.report import versions
from . import comparison_folder
from .comparison_folder import Shot

PICTURED = (1 / 3, 2 / 3, 1.0)
"""When in the range a run is drawn."""
OF_INTEGRATOR = {"projective_solve": "projective_dynamics", "verlet_kd": "verlet"}
"""Settings of the solver that one integrator alone takes."""


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
    """What a run did: certificates as dicts, the first of the start, the seconds they took, names of pictures, why it
    ended early, and with what options: of the solver, and of the model by cloth."""

    kind: Kind
    frames: list[dict[str, Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    error: str = ""
    solver_options: dict[str, Any] = field(default_factory=dict)
    model_options: dict[str, dict[str, Any]] = field(default_factory=dict)

    def worst(self, name: str) -> float:
        return max((float(frame[name]) for frame in self.frames), default=0.0)


@dataclass(frozen=True)
class Comparison:
    """The result: where the sheet is, all runs, and what the sheet says as plain values."""

    sheet: Path
    outcomes: list[Outcome]
    values: dict[str, Any]


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

    Yields Progress, as a bake does. Closing it cancels; the scene and an earlier sheet then are as before.

    Raises:
        core.ClothError: the scene cannot be simulated at all. OSError: the folder cannot be written to.
    """
    settings = scene_settings_of(scene, frames, backend)
    read_cloth.check_frames(settings.first, settings.last)
    view_layer = view_layer_of(scene, depsgraph)
    names = tuple(obj.name for obj in objects)
    if folder.exists() and not folder.is_dir():
        raise core.SceneError(f"the sheet cannot go into {folder}, which is a file; choose a folder")
    with comparison_folder.made(folder):                   # if that fails, it does before the work; it goes till then
        pass
    total = settings.last - settings.first + 1
    drawn = {settings.first + max(1, round(part * (total - 1))) for part in PICTURED}
    outcomes: list[Outcome] = []
    shots: list[Shot] = []
    common: dict[str, Any] = {}
    with frame_kept(scene):
        view_layer.update()
        for number, kind in enumerate(kinds):
            outcome = Outcome(kind)
            outcomes.append(outcome)
            said = _Said(names, f"{number + 1} of {len(kinds)}: {kind.title}", number * total, total * len(kinds))
            yield said(settings.first, 0, touches_blender=True)
            try:
                world = read_world(scene, settings, objects, view_layer, kind.model)
                solver = replace(replace(settings, integrator=kind.integrator).solver(), measure_energy=True)
            except core.ClothError as error:
                outcome.error = str(error)
                continue
            outcome.solver_options = _solver_options(solver)
            outcome.model_options = {cloth.name: cloth.options for cloth in world.cloths}
            common = common or _common(settings, world)
            backends.keep_compiled()                    # kernels are compiled before the run's time is taken
            for stage in backends.prepare(solver, [kind.model]):
                yield said(settings.first, 0, stage=stage)
            steps = core.simulate(world.scene, solver, range(settings.first, settings.last + 1))
            for done in range(total):
                frame = settings.first + done
                if done:
                    world.window.read(frame)
                yield said(frame, done)
                start = time.perf_counter()
                try:
                    solved = next(steps)
                except core.ClothError as error:
                    outcome.error = str(error)
                    break
                outcome.seconds.append(time.perf_counter() - start)
                outcome.frames.append(solved.certificate.as_dict())
                yield said(frame, done, solved.certificate, touches_blender=True)
                if frame in drawn:
                    shots.append(Shot.of(outcome, world, solved))
    progress = _Said(names, "", total * len(kinds), total * len(kinds))(
        settings.last, 0, stage="Drawing the sheet", touches_blender=True)
    values = yield from comparison_folder.write(folder, {
        "scene": scene.name, "objects": list(names), "first": settings.first, "last": settings.last,
        "versions": versions(numba=any(frame["backend"] == "numba" for run in outcomes for frame in run.frames)),
        "settings": common}, outcomes, shots, progress)
    return Comparison(folder / comparison_folder.SHEET, outcomes, values)


@dataclass(frozen=True)
class _Said:
    """Makes the Progress of one run out of `of` frames in all, `before` it."""

    names: tuple[str, ...]
    run: str
    before: int
    of: int

    def __call__(self, frame: int, done: int, certificate: core.Certificate | None = None, *,
                 touches_blender: bool = False, stage: str = "") -> Progress:
        return Progress(frame, self.before + done, self.of, None, certificate, self.names, touches_blender, stage,
                        self.run)


def _solver_options(solver: core.Solver) -> dict[str, Any]:
    """Of one run, without what is in other columns of the sheet and what its integrator does not take."""
    return {name: value for name, value in asdict(solver).items()
            if name not in ("backend", "frame_rate", "measure_energy")
            and OF_INTEGRATOR.get(name, solver.integrator) == solver.integrator}


def _common(settings: SceneSettings, world: World) -> dict[str, dict[str, Any]]:
    """What is the same for all runs: of the scene, and of cloths and colliders by name."""
    scene = {"frame_rate": settings.frame_rate, "gravity": list(settings.gravity), "wind": list(settings.wind),
             "wind_fields": len(world.fields), **({"notes": world.notes} if world.notes else {})}
    cloths = {cloth.name: {**{name: value for name, value in asdict(cloth.material).items() if name != "name"},
                           "thickness": cloth.thickness, "pinned_vertices": int((cloth.pin_weights > 0.0).sum()),
                           **({"max_elongation": cloth.max_elongation} if cloth.max_elongation < math.inf else {})}
              for cloth in world.cloths}
    solids = {solid.name: {"friction": solid.friction, "thickness": solid.thickness}
              for solid in world.scene.colliders}
    return {"scene": scene, "cloths": cloths, "colliders": solids}
