# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors of numbers as LLVM instructions, for loops that the compiler does not vectorise well by itself.

A vector is loaded from an array and worked on by LLVM instructions, which become vector instructions of the processor:
one, or several where its vectors are shorter. Numba intrinsics emit these instructions where compiled kernels call
them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir


class FlatVectors:
    """Instructions that read and write vectors of `wide` numbers of an array.

    The array has the Numba type `kind` and is in C order; places in it are counted in numbers, whatever its shape.

    Attributes:
        vector: the LLVM type.
    """

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any, wide: int) -> None:
        self._builder, self._wide, number = builder, wide, context.get_data_type(kind.dtype)
        self.vector = ir.VectorType(number, wide)
        self._data = context.make_array(kind)(context, builder, array).data
        self._size = context.get_abi_sizeof(number)                  # vectors may begin at any number

    def number(self, place: Any) -> Any:
        """Return the number at a place."""
        return self._builder.load(self._builder.gep(self._data, [place]))

    def load(self, place: Any) -> Any:
        """Return the vector that begins at a place."""
        return self._builder.load(self._there(place), align=self._size)

    def store(self, vector: Any, place: Any) -> None:
        """Write a vector that begins at a place."""
        self._builder.store(vector, self._there(place), align=self._size)

    def everywhere(self, number: Any) -> Any:
        """Return a vector whose components are all this number."""
        index, nothing = ir.IntType(32), ir.Constant(self.vector, ir.Undefined)
        one = self._builder.insert_element(nothing, number, ir.Constant(index, 0))
        return self._builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(index, self._wide),
                                                                      [0] * self._wide))

    def _there(self, place: Any) -> Any:
        return self._builder.bitcast(self._builder.gep(self._data, [place]), self.vector.as_pointer())
