# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs that touch in a step, and how stiff each of them is (see `repulsion`).

Where one vertex of cloth meets a collider, its pair adds to the diagonal block of that vertex and to nothing
else. Preconditioners contain all of it, however stiff it is. So it is as stiff as the vertex itself is in the step, by
its mass and by its edges. What tension presses into a curved solid then comes nearer by strain times curvature times
the square of an edge, which is far below the thickness on every mesh. Where pairs press a vertex from opposite sides
and leave it no room, they stay soft: they would hold it by a friction that grows with their stiffness.

Other pairs start soft. Those that give way get as stiff as what they move resists in the step.

A surface that turns takes the frame of its contacts with it: normal, friction that holds, and the offset between both
sides, whose two ends move differently although nothing slides.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import any_of, pick
from .friction_modes import ELASTIC, STICK_DRAG
from .repulsion import STIFFEST, Contacts
from .squeezed import squeezed

STIFFNESS = 30.0
"""h^2 k over the mass with which the gap moves [-]."""
LEVER = 4.0
"""Largest mass with which a gap is taken to move, over what it would be if nothing held the cloth [-]."""
STIFFENING_LOSS = 0.5
"""Part of its gap, or of the thickness where that is less, that a pair may lose before its spring gets stiffer [-]."""
LIFTED = 1.0
"""Part of the full d* by which that makes it longer at most [-]: what holds a pair together against its spring, a
constraint of a solid, must not load it more and more, and let go of it one day. Of the d* of a step, which follows the
gap, it would be less the further that sinks, and let it sink the quicker."""
RECOVERY = 4.0
"""Rate at which the missing gap of a pair that starts too close is restored [1/s]."""


def make_contacts(key: IntArray, vertices: IntArray, weights: FloatArray, normal: FloatArray, thickness: FloatArray,
                  mu: FloatArray, x0: FloatArray, inverse_mass: FloatArray, h: float,
                  unheld: FloatArray | None = None, inertia: FloatArray | None = None) -> Contacts:
    """Return contacts of pairs (C, 4) by their weights (C, 4), normals (C, 3), full d* `thickness` (C,) [m] and
    friction (C,), in a step of h [s] from x0 (V, 3) [m]; none of pairs that cannot move. None touches yet.
    `unheld` (V,): inverse masses without pins, if they differ. `inertia` (V,) [kg]: mass and h^2 times the stiffness of
    vertices, with which they resist to be moved in a step, 0 of what colliders move; their mass alone if not given."""
    mobility = np.einsum("pk,pk->p", weights**2, pick(inverse_mass, vertices))
    some = np.flatnonzero(mobility > 0.0)
    key, vertices = pick(key, some), pick(vertices, some)
    mobility, weights, normal, thickness, mu = (pick(a, some) for a in (mobility, weights, normal, thickness, mu))
    mass, held = lever(mobility, weights, vertices, unheld)
    offset = np.einsum("pk,pki->pi", weights, pick(x0, vertices))
    start = np.einsum("pi,pi->p", offset, normal)
    inside = np.clip(start, 0.0, thickness)
    least = inside + min(1.0, h * RECOVERY) * (thickness - inside)
    zero, floor = 0.0 * normal, np.where(held, -np.inf, (1.0 - STIFFENING_LOSS) * inside)
    stiffness, grip, give = STIFFNESS * mass, STICK_DRAG * mass, np.zeros(len(mass))
    stiffest = STIFFEST * mass
    if inertia is not None:
        moves = (weights != 0.0) & (pick(inverse_mass, vertices) > 0.0)
        stiffest = np.maximum(stiffest, resistance(weights, pick(inertia, vertices), moves))
        prescribed = any_of((weights != 0.0) & (pick(inertia, vertices) == 0.0))
        alone = np.flatnonzero(prescribed & (np.count_nonzero(moves, axis=1) == 1))
        at = np.argmax(moves[alone], axis=1)
        roomy = ~squeezed(vertices[alone, at], normal[alone] * np.sign(weights[alone, at])[:, None],
                           start[alone] - thickness[alone])
        alone, at = alone[roomy], at[roomy]
        stiff = inertia[vertices[alone, at]] / weights[alone, at]**2
        stiffness[alone], grip[alone] = np.maximum(stiffness[alone], stiff), np.maximum(grip[alone], stiff)
        give[alone] = ELASTIC * thickness[alone]
    return Contacts(key, vertices, weights, normal, least, stiffness, np.zeros(len(mass)), zero, zero, zero, mu, mass,
                    floor, stiffest, LIFTED * thickness, grip, give, np.zeros(len(mass), dtype=np.bool_), zero, zero)


def resistance(weights: FloatArray, inertia: FloatArray, moves: BoolArray) -> FloatArray:
    """Return with how much inertia (N,) [kg] gaps resist to be changed in a step, by weights (N, 4) and inertia (N, 4)
    [kg] of those of their vertices that a step `moves` (N, 4)."""
    squares = np.where(moves, weights**2, 0.0)
    mobility = np.divide(squares, inertia, out=np.zeros_like(squares), where=inertia > 0.0).sum(axis=1)
    return np.divide(1.0, mobility, out=np.zeros(len(mobility)), where=mobility > 0.0)


def lever(mobility: FloatArray, weights: FloatArray, vertices: IntArray, unheld: FloatArray | None
          ) -> tuple[FloatArray, BoolArray]:
    """Masses (C,) [kg] with which gaps of a `mobility` (C,) [1/kg] move, as large as they may be, and which would be
    larger (C,); `unheld` (V,) [1/kg] as in `make_contacts`."""
    mass = 1.0 / mobility
    if unheld is None:
        return mass, np.zeros(len(mass), dtype=np.bool_)
    most = LEVER / np.einsum("pk,pk->p", weights**2, pick(unheld, vertices))
    return np.minimum(mass, most), mass > most
