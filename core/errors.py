# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions whose messages name the place, the value found, and what to do about it.

Every message names the object, the element and the value, and ends with a remedy: in Blender's status bar it is all
that the user sees.
"""

from __future__ import annotations


class ClothError(ValueError):
    """Any input or state that Muslin cannot simulate.

    `object_name` is the cloth or collider concerned, or None where the whole scene is.
    """

    def __init__(self, message: str, *, object_name: str | None = None) -> None:
        super().__init__(f"{object_name}: {message}" if object_name else message)
        self.object_name = object_name


class MeshError(ClothError):
    """A cloth mesh that has no valid rest shape."""


class MaterialError(ClothError):
    """A fabric parameter outside its physical range."""


class PresetError(MaterialError):
    """A fabric preset that is missing or cannot be read."""


class PinError(ClothError):
    """A pin, attachment or trajectory that does not fit its cloth."""


class ColliderError(ClothError):
    """A collider without triangles, or one that changes its vertex count on the way."""


class SceneError(ClothError):
    """A scene or a frame range with nothing to simulate."""


class SolverError(ClothError):
    """Solver settings out of range, or a step that no step size could solve."""


class CheckpointError(ClothError):
    """A checkpoint that cannot be read or written, or that does not fit the scene."""


class CacheError(ClothError):
    """A bake on disk that cannot be read or written, or that is damaged."""


class UnstableStepError(SolverError):
    """Steps too long for an explicit integrator.

    Attributes:
        longest: the longest stable step [s].
        step: the smallest step that the settings allow [s].
        steps_per_frame: the number of steps per frame that would be stable.
    """

    def __init__(self, message: str, *, longest: float, step: float, steps_per_frame: int) -> None:
        super().__init__(message)
        self.longest, self.step, self.steps_per_frame = longest, step, steps_per_frame
