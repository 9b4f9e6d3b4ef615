# SPDX-License-Identifier: GPL-3.0-or-later
"""What each integrator promises. A new one joins by one line in MEMBERS."""

from collections.abc import Callable
from dataclasses import dataclass

GRAVITY = 9.81


def _late(n):
    return n * (n + 1) / 2


def _early(n):
    return n * (n - 1) / 2


def _exact(n):
    return n * n / 2


@dataclass(frozen=True)
class Member:
    """`order` of convergence; `fallen`: how far it falls from rest in n steps, over g h^2; `energy` of an undamped
    vibration: "falls", "kept" or "grows"; `spins`: whether it keeps the angular momentum."""

    order: int
    fallen: Callable
    energy: str
    spins: bool = False


MEMBERS = {
    "implicit_euler": Member(1, _late, "falls"),
    "bdf2": Member(2, _exact, "falls"),
    "projective_dynamics": Member(1, _late, "falls"),
    "explicit_euler": Member(1, _early, "grows"),
    "symplectic_euler": Member(1, _late, "kept", spins=True),
    "verlet": Member(2, _exact, "kept", spins=True),
}
