# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels in NumPy: the definition of what they do. Functions on arrays only."""
