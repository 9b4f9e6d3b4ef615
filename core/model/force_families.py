# SPDX-License-Identifier: GPL-3.0-or-later
"""Families: forces that share a stencil, which are gathered and assembled together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..stencils.stencil import ElementForce

Family = Sequence[ElementForce]


def families(forces: Iterable[ElementForce]) -> list[Family]:
    """Return the forces grouped by the stencil that they share, in the order of their first ones."""
    groups: list[list[ElementForce]] = []
    for force in forces:
        family = next((group for group in groups if group[0].stencil is force.stencil), None)
        if family is None:
            groups.append([force])
        else:
            family.append(force)
    return list(groups)


def changing(forces: Iterable[ElementForce]) -> list[Family]:
    """Return the families of forces whose stiffness changes with positions."""
    return families(force for force in forces if not force.law.constant_tangent)


def damped(forces: Iterable[ElementForce], *, constant: bool) -> list[Family]:
    """Return the families of damped forces whose stiffness is, or is not, constant."""
    return families(force for force in forces if force.damping and force.law.constant_tangent == constant)
