# SPDX-License-Identifier: GPL-3.0-or-later
"""Tolerances that several stencils share. They are ratios, so that they hold for meshes of every size."""

ROUNDING_SHARE = 1e-12
"""Ratio to the largest value of its kind below which a value is rounding error of double precision [-]."""

