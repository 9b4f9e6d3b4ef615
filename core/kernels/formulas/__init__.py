# SPDX-License-Identifier: GPL-3.0-or-later
"""Formulas per element or per pair, written once for both backends.

A formula takes vectors as tuples (x, y, z), whose components are arrays (P,) in the NumPy kernels and plain numbers in
compiled loops (see `vectors`). Branches depend on numbers that are the same for all entries only; elsewhere `select`
takes their place. Where a branch saves a compiled loop much work, the formula is cut there, and both backends call its
parts.

`conjugate_gradients` is an algorithm on whole vectors that is written once in the same way: it consists of the
operations of `linear_equations`, of which the compiled kernels have their own.
"""
