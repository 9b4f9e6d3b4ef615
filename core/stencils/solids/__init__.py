# SPDX-License-Identifier: GPL-3.0-or-later
"""Cages around closed surfaces, their springs, tetrahedra and ties, and the law of volume."""
