# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors of numbers in the compiler's own language, for loops of which it makes no good vector code by itself.

A vector is loaded from an array, worked on by LLVM's instructions, and becomes whatever the processor has: one of its
own vectors, or several. Intrinsics of Numba's write these instructions where compiled kernels call them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir


class FlatVectors:
    """Instructions that read and write vectors of `wide` numbers of an array, which is of Numba's type `kind` and in C
    order; places in it are counted in numbers, whatever its shape.

    Attributes:
        vector: LLVM's type.
    """

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any, wide: int) -> None:
        self._builder, self._wide, number = builder, wide, context.get_data_type(kind.dtype)
        self.vector = ir.VectorType(number, wide)
        self._data = context.make_array(kind)(context, builder, array).data
        self._size = context.get_abi_sizeof(number)                  # vectors may begin at any number

    def number(self, place: Any) -> Any:
        """The number at a place."""
        return self._builder.load(self._builder.gep(self._data, [place]))

    def load(self, place: Any) -> Any:
        """The vector from a place on."""
        return self._builder.load(self._there(place), align=self._size)

    def store(self, vector: Any, place: Any) -> None:
        """Write a vector from a place on."""
        self._builder.store(vector, self._there(place), align=self._size)

    def everywhere(self, number: Any) -> Any:
        """A vector of this number."""
        index, nothing = ir.IntType(32), ir.Constant(self.vector, ir.Undefined)
        one = self._builder.insert_element(nothing, number, ir.Constant(index, 0))
        return self._builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(index, self._wide),
                                                                      [0] * self._wide))

    def _there(self, place: Any) -> Any:
        return self._builder.bitcast(self._builder.gep(self._data, [place]), self.vector.as_pointer())
