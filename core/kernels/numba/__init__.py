# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels compiled with Numba: the functions of `kernels.numpy`, imported only when Numba is wanted."""
