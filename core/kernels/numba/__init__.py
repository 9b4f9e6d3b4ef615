# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels compiled with Numba: the same functions as in `reference`. Imported when Numba is wanted."""
