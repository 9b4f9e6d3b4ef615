# SPDX-License-Identifier: GPL-3.0-or-later
"""The bakes of one command: every file with every variant, where each is saved, and the checks before any work."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy

from ... import core
from ..properties.settings import kind_of
from ..read.read_cloth import check_frames, objects_of_kind
from ..write import output_paths
from ..write.shape_key_size import check_memory
from . import wedges
from .arguments import UsageError


@dataclass(frozen=True)
class Job:
    """One bake.

    Attributes:
        file: the .blend.
        variant: its settings besides.
        output: the .blend that is saved.
    """

    file: Path
    variant: wedges.Variant
    output: Path

    @property
    def title(self) -> str:
        """Name for the user."""
        return ", ".join(part for part in (self.file.stem, wedges.title_of(self.variant)) if part)


@dataclass(frozen=True)
class Plan:
    """All bakes of a command, and the page on them, None without one."""

    jobs: list[Job]
    sheet: Path | None

    @property
    def is_single(self) -> bool:
        """Return whether the open file is baked without changes."""
        return len(self.jobs) == 1 and not self.jobs[0].variant and self.jobs[0].file == opened_file()

    @property
    def outputs(self) -> list[tuple[str, Path]]:
        """All files that are written, each with the option that names it."""
        return [("", job.output) for job in self.jobs] + ([("--sheet", self.sheet)] if self.sheet else [])


def opened_file() -> Path | None:
    """Return the path of the open .blend, None if it was not saved."""
    return Path(bpy.data.filepath) if bpy.data.filepath else None


def plan_of(arguments: argparse.Namespace) -> Plan:
    """Return the bakes of a command.

    Raises:
        UsageError: a file, setting or output cannot be used.
    """
    files = list(_files(arguments.files))
    variants = wedges.variants_of(arguments.settings)
    several = len(files) > 1 or bool(arguments.settings)
    folder = Path(arguments.output).absolute() if arguments.output else None
    if several and folder is not None:
        reason = (f"{folder} names a .blend, several files or variants go into a folder; name a folder"
                  if folder.suffix.lower() == ".blend" else output_paths.why_no_folder(folder))
        if reason:
            raise UsageError(f"--output: {reason}")
    jobs = []
    for file in files:
        for variant in variants:
            if not several and folder is not None:
                output = folder
            else:
                output = (folder or file.parent) / f"{file.stem}_{wedges.file_part(variant) or 'baked'}.blend"
            jobs.append(Job(file, variant, output))
    sheet = Path(arguments.sheet).absolute() if arguments.sheet else (
        (folder or files[0].parent) / f"{files[0].stem}_sheet.html" if len(jobs) > 1 else None)
    _check_outputs(jobs, sheet, arguments, several=several)
    if arguments.cache:
        reason = output_paths.why_no_folder(Path(arguments.cache).absolute())
        if reason:
            raise UsageError(f"--cache: {reason}")
    return Plan(jobs, sheet)


def _files(given: Sequence[str]) -> Iterator[Path]:
    """Yield the open file and the given ones, each once."""
    opened, known = opened_file(), set()
    if opened is not None:
        known.add(output_paths.target_of(opened))
        yield opened
    for name in given:
        path = output_paths.target_of(name)
        try:
            is_there = path.is_file()
        except (OSError, ValueError):
            is_there = False
        if path.suffix.lower() != ".blend" or not is_there:
            raise UsageError(f"--files: there is no .blend file {name}")
        if path not in known:
            known.add(path)
            yield Path(name).absolute()


def _check_outputs(jobs: Sequence[Job], sheet: Path | None, arguments: argparse.Namespace, *, several: bool) -> None:
    """Raise UsageError if an output or the sheet cannot be written."""
    option = "--output" if arguments.output else "without --output"
    inputs, known = {output_paths.target_of(job.file) for job in jobs}, {}
    for job in jobs:
        if job.output.suffix.lower() != ".blend":
            raise UsageError(f"--output: {arguments.output} does not end in .blend")
        target = output_paths.target_of(job.output)
        reason = output_paths.why_no_file(target) if job.output.parent.exists() or not several else ""
        if target in known:
            reason = f"{job.title} and {known[target].title} would both be saved as {job.output}; rename one"
        elif several and target in inputs:
            reason = f"{job.output} is baked as well; give that file or its output another name"
        if reason:
            raise UsageError(f"{option}: {reason}")
        known[target] = job
    if sheet is not None:
        target = output_paths.target_of(sheet)
        reason = (f"{sheet} does not end in .html" if sheet.suffix.lower() not in (".html", ".htm") else
                  output_paths.why_no_file(target) if sheet.parent.exists() or arguments.sheet else "")
        if reason:
            raise UsageError(f"--sheet: {reason}")


def check_objects(scene: bpy.types.Scene, names: Sequence[str] | None) -> None:
    """Raise UsageError if an object of --object is no cloth of the scene."""
    for name in names or ():
        cloths = ", ".join(obj.name for obj in objects_of_kind(scene, "CLOTH")) or "none"
        if name not in scene.objects:
            raise UsageError(f"--object: scene '{scene.name}' has no object '{name}'; its cloth: {cloths}")
        if kind_of(scene.objects[name], scene) != "CLOTH":
            raise UsageError(f"--object: '{name}' is not cloth; the cloth of scene '{scene.name}': {cloths}")


def check_range(scene: bpy.types.Scene, arguments: argparse.Namespace) -> None:
    """Raise UsageError if --frames has more frames than Blender, a bake or the memory can have."""
    if not arguments.frames:
        return
    first, last = arguments.frames
    try:
        check_frames(first, last)
        if arguments.command == "bake":
            check_memory(objects_named(scene, arguments.objects), last - first + 1,
                         arguments.result.upper() if arguments.result else None)
    except core.SceneError as error:
        raise UsageError(f"--frames: {error}") from None


def objects_named(scene: bpy.types.Scene, names: Sequence[str] | None) -> list[bpy.types.Object]:
    """Return the objects of --object, or all cloth of the scene."""
    return ([scene.objects[name] for name in dict.fromkeys(names)] if names else objects_of_kind(scene, "CLOTH"))
