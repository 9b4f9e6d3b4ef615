# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and folds that stay: the rest shape flows where the fabric is stretched or bent beyond a limit."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import LARGEST
from ..did_you_mean import names_arguments_of
from ..errors import ClothError
from .keyed import Setting, check_setting, checked_number_at

NAMES = ("stretch_yield", "bend_yield", "time", "hardening")


@names_arguments_of(ClothError)
@dataclass(frozen=True)
class Plasticity:
    """When and how fast the rest shape of a fabric flows.

    Elastic strain or curvature above its yield decays towards it with the time constant `time`: what has decayed is in
    the rest shape, and stays. Each value is a number, or a function of the time [s].

    Attributes:
        stretch_yield: elongation over the rest length above which stretch stays [-]; stretch never stays if not given.
            Compression does not.
        bend_yield: curvature in addition to that at rest above which folds stay [1/m]; they never do if not given.
        time: time in which the excess falls to 1/e [s]; at once for 0.
        hardening: growth of a yield per plastic strain, or per plastic curvature [-].

    Raises:
        ClothError: a value is out of range.
    """

    stretch_yield: Setting | None = None
    bend_yield: Setting | None = None
    time: Setting = 0.0
    hardening: Setting = 0.0

    def __post_init__(self) -> None:
        for name in NAMES:
            value = getattr(self, name)
            if not (value is None and name.endswith("yield")):
                check_setting(value, f"{name} of the plasticity", "plasticity", least=0.0, most=LARGEST)

    def at(self, time: float, name: str) -> Plasticity:
        """Return the plasticity with the numbers of `time` [s]. `name`: of the cloth.

        Raises:
            ClothError: a function leaves its range.
        """
        def number(what: str, value: Setting) -> float:
            return checked_number_at(value, time, f"{what} of the plasticity", name, least=0.0, most=LARGEST)

        pull, fold = self.stretch_yield, self.bend_yield
        return Plasticity(None if pull is None else number("stretch_yield", pull),
                          None if fold is None else number("bend_yield", fold),
                          number("time", self.time), number("hardening", self.hardening))
