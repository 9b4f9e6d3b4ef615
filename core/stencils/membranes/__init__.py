# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws in the plane of a sheet: stretch, shear, area, the local step of projective dynamics."""
