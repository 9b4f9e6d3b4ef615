# SPDX-License-Identifier: GPL-3.0-or-later
"""Preconditioners: each takes a matrix and gives r -> P^-1 r."""
