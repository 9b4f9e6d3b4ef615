# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and folds that stay: the rest shape flows where the fabric is stretched or bent beyond a limit."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import LARGEST, is_number
from ..did_you_mean import names_arguments_of
from ..errors import ClothError


@names_arguments_of(ClothError)
@dataclass(frozen=True)
class Plasticity:
    """When and how fast the rest shape of a fabric flows.

    Elastic strain or curvature above its yield decays towards it with the time constant `time`: what has decayed is in
    the rest shape, and stays.

    Attributes:
        stretch_yield: elongation over the rest length above which stretch stays [-]; stretch never stays if not given.
            Compression does not.
        bend_yield: curvature in addition to that at rest above which folds stay [1/m]; they never do if not given.
        time: time in which the excess falls to 1/e [s]; at once for 0.
        hardening: growth of a yield per plastic strain, or per plastic curvature [-].

    Raises:
        ClothError: a value is out of range.
    """

    stretch_yield: float | None = None
    bend_yield: float | None = None
    time: float = 0.0
    hardening: float = 0.0

    def __post_init__(self) -> None:
        for name, unit in (("stretch_yield", "[-]"), ("bend_yield", "[1/m]"), ("time", "[s]"), ("hardening", "[-]")):
            value = getattr(self, name)
            if value is None and name.endswith("yield"):
                continue
            if not (is_number(value) and 0.0 <= value <= LARGEST):
                raise ClothError(f"{name} of the plasticity is {value!r}, it must be a number from 0 to {LARGEST:g} "
                                 f"{unit}")
            object.__setattr__(self, name, float(value))
