# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake says about itself: settings, certificates, time and versions, as plain values for JSON."""

from __future__ import annotations

import math
import platform
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


@dataclass(kw_only=True)
class Report:
    """One bake, of one or several cloths.

    Attributes:
        scene, cloths, colliders: names.   first, last: frames.
        settings: by "scene" and by the cloths' names.
        certificates: per frame, the core's.
        playback_error: per cloth, the largest distance between what was simulated and what plays back [m].
        seconds: time by stage: "read" Blender, "prepare" kernels, "solve", "fit" key coordinates, "write", and "total".
        notes: sentences for the user.
        versions: of muslin, blender, python and numpy, and of numba where it ran.
        backend: what ran the inner loops, "numpy" or "numba"; empty before the first frame.
    """

    scene: str
    cloths: list[str]
    colliders: list[str]
    first: int
    last: int
    settings: dict[str, Any]
    certificates: list[dict[str, Any]] = field(default_factory=list)
    playback_error: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=lambda: versions())
    backend: str = ""

    def summary(self) -> dict[str, Any]:
        """The worst of all frames."""
        def of(name: str) -> list[float]:
            values = [frame.get(name) for frame in self.certificates]
            return [value for value in values if value is not None and math.isfinite(value)]

        return {
            "stretch_max": max(of("stretch_max"), default=None),
            "stretch_p99": max(of("stretch_p99"), default=None),
            "crossings": max(of("crossings"), default=None),
            "frames_with_crossings": sum(value > 0 for value in of("crossings")),
            "deepest_penetration": max(of("deepest_penetration"), default=None),
            "smallest_gap": min(of("smallest_gap"), default=None),
            "residual": max(of("residual"), default=None),
            "not_converged": sum(frame.get("converged") is False for frame in self.certificates),
            "steps": sum(of("steps")),
            "iterations": sum(of("iterations")),
        }

    def as_dict(self) -> dict[str, Any]:
        """Only text, numbers, lists and dicts; what is not finite becomes None."""
        return plain({**vars(self), "summary": self.summary()})


def plain(value: Any) -> Any:
    """`value` as JSON can say it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def versions(*, numba: bool = False) -> dict[str, str]:
    """Of what ran; `numba`: whether that did, too."""
    found = {"muslin": tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"],
             "blender": bpy.app.version_string, "python": platform.python_version(), "numpy": np.__version__}
    return {**found, "numba": sys.modules["numba"].__version__} if numba else found
