# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of a comparison: the variants, the outcome of each run, its pictures, and the result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .snapshot import DrawnMesh


@dataclass(frozen=True)
class Variant:
    """A model and an integrator, by name."""

    model: str
    integrator: str

    @property
    def title(self) -> str:
        """Name of the variant for the user."""
        return f"{self.model}, {self.integrator}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of one run.

    Attributes:
        frames: certificate of each frame as a dict; the first is that of the initial state.
        seconds: time of each frame [s].
        pictures: file names of its pictures.
        error: message of the error that ended the run, empty if it reached the last frame.
        solver_options: options of the solver.
        model_options: options of the model, by cloth.
    """

    variant: Variant
    frames: list[dict[str, Any]]
    seconds: list[float]
    pictures: list[str]
    error: str
    solver_options: dict[str, Any]
    model_options: dict[str, dict[str, Any]]

    def worst(self, name: str) -> float:
        """Return the largest value of the certificates' field `name`."""
        return max((float(frame[name]) for frame in self.frames), default=0.0)

    def as_dict(self) -> dict[str, Any]:
        """Return the run as it is in compare.json."""
        return {"kind": vars(self.variant), **{name: value for name, value in vars(self).items() if name != "variant"}}


@dataclass(frozen=True)
class Shot:
    """One picture of a run before it is drawn.

    Attributes:
        frame: its frame.
        cloths, colliders: the meshes at that frame.
        start: initial positions (V, 3) of all cloth [m].
    """

    variant: Variant
    frame: int
    cloths: list[DrawnMesh]
    colliders: list[DrawnMesh]
    start: NDArray[np.float64]

    @property
    def file_name(self) -> str:
        """Name of the picture's file."""
        return f"{self.variant.model}-{self.variant.integrator}-{self.frame:04d}.png"


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        sheet: path of the page.
        outcomes: all runs.
        values: contents of compare.json.
    """

    sheet: Path
    outcomes: list[Outcome]
    values: dict[str, Any]
