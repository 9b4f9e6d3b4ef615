# SPDX-License-Identifier: GPL-3.0-or-later
"""`muslin compare`: simulate the cloth of the open file with several models and integrators, and write a sheet."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bpy

from ..compare import comparison as comparing
from .bake_jobs import objects_named
from .progress_output import Output, say


def run(arguments: argparse.Namespace, folder: Path, output: Output) -> tuple[dict[str, Any], int]:
    """Run `compare` into `folder`, and return the report and the exit code."""
    scene: Any = bpy.context.scene
    variants = comparing.variants_of(arguments.models, arguments.integrators)
    output.event("start", file=bpy.data.filepath, variant="", output=str(folder))
    result = output.run(comparing.compare(scene, objects_named(scene, arguments.objects), variants, folder,
                                          tuple(arguments.frames) if arguments.frames else None,
                                          backend=arguments.backend))
    for outcome in result.outcomes:
        say(f"{outcome.variant.title}: {outcome.error or f'{len(outcome.frames)} frames'}")
    say(f"saved {result.sheet}")
    report = {**result.values, "sheet": str(result.sheet)}
    failed = [outcome for outcome in result.outcomes if outcome.error]
    if not failed:
        return report, 0
    return {**report, "error": {"type": "ComparisonError", "message": (
        f"{len(failed)} of {len(result.outcomes)} runs failed: "
        + "; ".join(f"{outcome.variant.title}: {outcome.error}" for outcome in failed))}}, 1
