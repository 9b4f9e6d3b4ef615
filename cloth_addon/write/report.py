# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake: settings, certificates, times and versions, as plain values for JSON."""

from __future__ import annotations

import math
import platform
import sys
import tomllib
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import bpy
import numpy as np

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


@dataclass(frozen=True, kw_only=True)
class Report:
    """The report of a bake of one or several cloths.

    Attributes:
        scene, cloths, colliders: names.
        first, last: first and last frame.
        settings: "scene", settings of the scene; "cloths", settings of each cloth by its name.
        certificates: the core's certificate of each frame, as a dict.
        fingerprints: digests of what the bake of each cloth depended on, by cloth and part, see read/fingerprint.py.
        playback_error: largest distance between simulated and displayed vertices by cloth [m].
        seconds: time by stage [s]: "read" Blender, "prepare" kernels, "solve", "fit" key coordinates, "write", and
            "total" of solve and fit. Pauses do not count; other processes may read and solve at the same time.
        notes: sentences for the user.
        versions: versions of muslin, blender, python and numpy, and of numba if it ran.
        backend: backend that ran, "numpy" or "numba".
        scene_cloths: names of all cloth that was in the scene when the bake began; empty in older bakes.
        parts: {first, last, changed} of the frames that have other settings than the last ones, see bake/take_parts.py.
    """

    scene: str
    cloths: list[str]
    colliders: list[str]
    first: int
    last: int
    settings: dict[str, Any]
    certificates: list[dict[str, Any]]
    fingerprints: dict[str, dict[str, str]]
    playback_error: dict[str, float]
    seconds: dict[str, float]
    notes: list[str]
    versions: dict[str, str]
    backend: str
    scene_cloths: list[str] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """Return the worst values of all frames, and the sums of steps and iterations."""
        def of(name: str) -> list[float]:
            values = [frame.get(name) for frame in self.certificates]
            return [value for value in values if value is not None and math.isfinite(value)]

        return {
            "stretch_max": max(of("stretch_max"), default=None),
            "stretch_p99": max(of("stretch_p99"), default=None),
            "crossings": max(of("crossings"), default=None),
            "crossings_pinched": max(of("crossings_pinched"), default=None),
            "torn_edges": max(of("torn_edges"), default=None),
            "frames_with_crossings": sum(value > 0 for value in of("crossings")),
            "deepest_penetration": max(of("deepest_penetration"), default=None),
            "smallest_gap": min(of("smallest_gap"), default=None),
            "residual": max(of("residual"), default=None),
            "not_converged": sum(frame.get("converged") is False for frame in self.certificates),
            "steps": sum(of("steps")),
            "iterations": sum(of("iterations")),
        }

    def timed(self, seconds: dict[str, float]) -> Report:
        """Return the report with later times [s] of its stages, but those of the simulation and in total."""
        return replace(self, seconds={**seconds, **{name: self.seconds[name] for name in ("solve", "total")}})

    def as_dict(self) -> dict[str, Any]:
        """Return the report and its summary as JSON values, see `json_values`."""
        return json_values({**vars(self), "summary": self.summary()})


def json_values(value: Any) -> Any:
    """Return `value` in text, numbers, lists and dicts; numbers that are not finite become None."""
    if isinstance(value, dict):
        return {str(key): json_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [json_values(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def versions(*, numba: bool = False) -> dict[str, str]:
    """Return the versions of muslin, blender, python and numpy, and of numba if `numba`."""
    found = {"muslin": tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"],
             "blender": bpy.app.version_string, "python": platform.python_version(), "numpy": np.__version__}
    return {**found, "numba": _version_of_numba()} if numba else found


def _version_of_numba() -> str:
    """Return the version of Numba, which only the solver process may have imported."""
    loaded = getattr(sys.modules.get("numba"), "__version__", None)
    try:
        return str(loaded or metadata.version("numba"))
    except metadata.PackageNotFoundError:
        return "unknown"
