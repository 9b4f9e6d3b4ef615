# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear equations of one pass: those of the step, and what contacts add as they are taken to be.

    (A + C) w = b + h friction + push,    w = S w + (I - S) z

C and push are of pairs, friction of constraints that slip, S and z of pins and of constraints. What pairs add to A's
diagonal is written into A, exchanged from pass to pass, and taken out at the end.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..description.topology import merged
from ..linear.block_matrix import BlockMatrix
from ..linear.constraint_filter import ConstraintFilter
from ..linear.packed_matrix import packed
from ..linear.products import Assembled, Product
from .rigid_modes import RigidModes
from .step_contacts import StepContacts


class PassEquations:
    """What a pass solves for w = u - reference.

    Args:
        contacts: of the step.
        A, b: of the step's linearisation at velocity `reference` (V, 3) [m/s]; until `take_out` A has what the last
            pass added.

    Attributes:
        filter_, rhs, multiply: S and z, the right-hand side (V, 3) [N s], and w -> (A + C) w.
        rigid: what that does to whole bodies.
        touching: whether anything touches.
    """

    def __init__(self, contacts: StepContacts, A: BlockMatrix, b: FloatArray, reference: FloatArray) -> None:
        self._contacts, self._b, self._reference = contacts, b, reference
        self._pins = contacts.pins_from(reference)
        self._pairs, self._pinch = _OnDiagonal(A), _OnDiagonal(A)
        self.matrix = A
        self.filter_: ConstraintFilter = self._pins
        self.rhs, self.touching = b, False
        self.multiply: Product = Assembled(A)
        self.rigid = RigidModes(contacts.system.sewn, self.multiply,
                                contacts.base + contacts.h * reference if contacts.unhindered else None)

    def packed(self, tolerance: float) -> Product:
        """`multiply`, for the products of a solve to `tolerance`."""
        multiply, pairs = packed(self.matrix, self._contacts.system.mass, tolerance), self._contacts.pairs
        return multiply if pairs is None or not self._pairs.there else pairs.beside(multiply)

    def take_in(self) -> None:
        """Contacts as they are taken to be now."""
        solids, pairs = self._contacts.constraints, self._contacts.pairs
        self.rhs, self.touching = self._b, False
        if solids is not None:
            self.filter_ = solids.constrain(self._pins, self._reference)
            self.rhs = self.rhs + self._contacts.h * solids.friction_force()
            self.touching = len(solids) > 0
        pinch = self._contacts.pinch
        if pinch is not None:
            self.rhs = self.rhs + pinch.impulse(self._reference)
            self._pinch.put(pinch.diagonal(len(self.rhs)))
            self.touching = True
        if pairs is not None and (pairs.touching or self._pairs.there):
            self.touching |= pairs.touching > 0
            self.rhs = self.rhs + pairs.impulse(self._reference)
            self._pairs.put(pairs.diagonal())
            self.multiply = pairs.beside(Assembled(self.matrix))
            system, body = self._contacts.system, pairs.bodies()
            self.rigid = RigidModes(merged(body, system.sewn) if system.has_seams else body, self.multiply, None)

    def take_out(self) -> None:
        """Leave A as it was without contacts."""
        for added in (self._pairs, self._pinch):
            added.take_out()


class _OnDiagonal:
    """Blocks on the diagonal of A that change from pass to pass."""

    def __init__(self, A: BlockMatrix) -> None:
        self._A = A
        self._blocks: FloatArray | None = None

    @property
    def there(self) -> bool:
        """Whether there are any yet."""
        return self._blocks is not None

    def put(self, blocks: FloatArray) -> None:
        """Add `blocks` (V, 3, 3), in the place of those before."""
        before = self._blocks
        self._A.add_diagonal(blocks if before is None else np.subtract(blocks, before, out=before))
        self._blocks = blocks

    def take_out(self) -> None:
        """Take the blocks out of A."""
        if self._blocks is not None:
            self._A.add_diagonal(np.negative(self._blocks, out=self._blocks))
        self._blocks = None
