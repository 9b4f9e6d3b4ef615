# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws of deformation in the plane of a sheet: stretch, shear, area, and the local step of projective dynamics."""
