# SPDX-License-Identifier: GPL-3.0-or-later
"""Cages, tetrahedra and laws of volumes."""
