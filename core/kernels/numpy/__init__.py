# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels in NumPy: functions on arrays. They define the results; the compiled kernels must agree with them."""
