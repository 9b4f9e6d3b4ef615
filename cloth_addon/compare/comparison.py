# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison: simulate the same objects with several variants, one after the other, and write one sheet.

The scene is simulated as in a bake, but nothing is written to the objects. The result is a folder with the sheet and
the pictures of each run (comparison_folder.py, comparison_sheet.py), written after the last run. A run that fails is
listed with its error, and the others continue.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ..bake import backends, first_compile
from ..bake.bake import frame_kept, view_layer_of
from ..bake.progress import Progress
from ..bake.watch import Watch
from ..properties.settings import SceneSettings, scene_settings_of
from ..read import read_cloth
from ..read.read_scene import SimulationInput, read_scene
from ..write.report import versions
from . import comparison_folder
from .records import Comparison, Outcome, Shot, Variant

PICTURE_TIMES = (1 / 3, 2 / 3, 1.0)
"""Times of the pictures of a run, over the frame range [-]."""
OPTIONS_OF_ONE_INTEGRATOR = {"projective_solve": "projective_dynamics", "verlet_kd": "verlet"}
"""Options of the solver that only one integrator uses, and that integrator."""


def variants_of(models: Sequence[str], integrators: Sequence[str]) -> list[Variant]:
    """Return every model with every integrator.

    Raises:
        core.SceneError: there are none, or a name is unknown.
    """
    for what, given, known in (("model", models, core.models()), ("integrator", integrators, core.integrators())):
        if not given:
            raise core.SceneError(f"nothing to compare: choose at least one {what}")
        for name in given:
            if name not in known:
                raise core.SceneError(f"no {what} '{name}'; there are: {', '.join(known)}")
    return [Variant(model, integrator) for model in dict.fromkeys(models) for integrator in dict.fromkeys(integrators)]


def compare(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], variants: Sequence[Variant], folder: Path,
            frames: tuple[int, int] | None = None, depsgraph: bpy.types.Depsgraph | None = None,
            backend: str | None = None) -> Generator[Progress, None, Comparison]:
    """Simulate `objects` once for each of `variants`, and write the sheet into `folder`.

    `frames` (first, last) and `backend` override the scene's. Yields Progress, as a bake does. Closing the generator
    cancels the comparison and leaves the scene and an earlier sheet unchanged.

    Raises:
        core.ClothError: the scene cannot be simulated at all.
        OSError: the folder cannot be written to.
    """
    watch = Watch(scene, "comparison", "compare")
    with watch.errors_named():
        return (yield from _compare(scene, objects, variants, folder, frames, depsgraph, backend, watch))


def _compare(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], variants: Sequence[Variant], folder: Path,
             frames: tuple[int, int] | None, depsgraph: bpy.types.Depsgraph | None, backend: str | None, watch: Watch
             ) -> Generator[Progress, None, Comparison]:
    """Compare as `compare` does, frames of the pre-roll included. `watch` notices changes while the generator waits."""
    settings = scene_settings_of(scene, frames, backend)
    read_cloth.check_frames(settings.first, settings.last, settings.start)
    view_layer = view_layer_of(scene, depsgraph)
    names = tuple(obj.name for obj in objects)
    if folder.exists() and not folder.is_dir():
        raise core.SceneError(f"the sheet cannot go into {folder}, which is a file; choose a folder")
    with comparison_folder.created(folder):     # raises before the work if it cannot be created, and is removed again
        pass
    total = settings.last - settings.start + 1
    picture_frames = {settings.start + max(1, round(part * (total - 1))) for part in PICTURE_TIMES}
    outcomes: list[Outcome] = []
    shots: list[Shot] = []
    common: dict[str, Any] = {}
    with frame_kept(scene):
        view_layer.update()
        for number, variant in enumerate(variants):
            progress = _RunProgress(names, f"{number + 1} of {len(variants)}: {variant.title}", number * total,
                                    total * len(variants))
            yield progress(settings.start, 0, touches_blender=True)
            watch.check()
            try:
                inputs = read_scene(scene, settings, objects, view_layer, variant.model)
                solver = replace(replace(settings, integrator=variant.integrator).solver(), measure_energy=True)
            except core.ClothError as error:
                outcomes.append(Outcome(variant=variant, frames=[], seconds=[], pictures=[], error=str(error),
                                        solver_options={}, model_options={}))
                continue
            watch.start(view_layer, objects, inputs.collider_objects, lambda: scene_settings_of(scene, frames, backend))
            common = common or _common_settings(settings, inputs)
            outcome, run_shots = yield from _run(variant, inputs, solver, settings, picture_frames, progress, watch)
            outcomes.append(outcome)
            shots += run_shots
    drawing = _RunProgress(names, "", total * len(variants), total * len(variants))(
        settings.last, 0, stage="Drawing the sheet", touches_blender=True)
    values = yield from comparison_folder.write(folder, {
        "scene": scene.name, "objects": list(names), "first": settings.start, "last": settings.last,
        "versions": versions(numba=any(frame["backend"] == "numba" for run in outcomes for frame in run.frames)),
        "settings": common}, outcomes, shots, drawing)
    return Comparison(folder / comparison_folder.SHEET, outcomes, values)


@dataclass(frozen=True)
class _RunProgress:
    """Makes the Progress of one run.

    Attributes:
        cloths: names of the cloth objects.
        run: text for the user that names the run.
        before: number of frames of the runs before.
        total: number of frames of all runs.
    """

    cloths: tuple[str, ...]
    run: str
    before: int
    total: int

    def __call__(self, frame: int, done: int, certificate: core.Certificate | None = None, *,
                 touches_blender: bool = False, stage: str = "") -> Progress:
        return Progress(frame, self.before + done, self.total, None, certificate, self.cloths, touches_blender, stage,
                        self.run)


def _run(variant: Variant, inputs: SimulationInput, solver: core.Solver, settings: SceneSettings,
         picture_frames: set[int], progress: _RunProgress, watch: Watch
         ) -> Generator[Progress, None, tuple[Outcome, list[Shot]]]:
    """Simulate one variant. Yield Progress, and return the outcome and the pictures to draw."""
    first_compile.stop()
    backends.keep_compiled()                    # compile before the time of the frames is measured
    for stage in backends.prepare(solver, [variant.model]):
        yield progress(settings.start, 0, stage=stage)
    error = ""
    certificates: list[dict[str, Any]] = []
    seconds: list[float] = []
    shots: list[Shot] = []
    simulation = core.simulate(inputs.scene, solver, range(settings.start, settings.last + 1),
                               clock=inputs.window.motion.clock)
    for done, frame in enumerate(range(settings.start, settings.last + 1)):
        if done:
            inputs.window.read(frame)
            watch.set_frame(frame)
        yield progress(frame, done)
        start = time.perf_counter()
        try:
            solved = next(simulation)
        except core.ClothError as failure:
            error = str(failure)
            break
        seconds.append(time.perf_counter() - start)
        certificates.append(solved.certificate.as_dict())
        yield progress(frame, done, solved.certificate, touches_blender=True)
        watch.check()
        if frame in picture_frames:
            shots.append(comparison_folder.shot_of(variant, inputs, solved))
    return Outcome(variant=variant, frames=certificates, seconds=seconds, error=error,
                   pictures=[shot.file_name for shot in shots], solver_options=_solver_options(solver),
                   model_options={cloth.name: cloth.options for cloth in inputs.cloths}), shots


def _solver_options(solver: core.Solver) -> dict[str, Any]:
    """Return the solver's options that the integrator uses, without those in other columns of the sheet."""
    return {name: value for name, value in asdict(solver).items()
            if name not in ("backend", "frame_rate", "measure_energy")
            and OPTIONS_OF_ONE_INTEGRATOR.get(name, solver.integrator) == solver.integrator}


def _common_settings(settings: SceneSettings, inputs: SimulationInput) -> dict[str, dict[str, Any]]:
    """Return the settings that all runs share: of the scene, and of cloths and colliders by name."""
    scene = {"frame_rate": settings.frame_rate, "gravity": list(settings.gravity), "wind": list(settings.wind),
             "force_fields": len(inputs.scene.fields), **({"notes": inputs.notes} if inputs.notes else {}),
             **({"keyed": list(settings.keyed)} if settings.keyed else {})}
    cloths = {cloth.name: {**{name: value for name, value in asdict(cloth.material).items() if name != "name"},
                           "thickness": cloth.thickness, "pinned_vertices": int((cloth.pins.weights > 0.0).sum()),
                           **({"max_elongation": cloth.max_elongation} if cloth.max_elongation < math.inf else {})}
              for cloth in inputs.cloths}
    colliders = {collider.name: {"friction": collider.friction, "thickness": collider.thickness}
                 for collider in inputs.scene.colliders}
    return {"scene": scene, "cloths": cloths, "colliders": colliders}
