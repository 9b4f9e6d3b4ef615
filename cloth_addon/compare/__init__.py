# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare: simulate the same objects with several models and integrators, and write a sheet of the results."""
