# SPDX-License-Identifier: GPL-3.0-or-later
"""Preconditioners: each is made from a matrix, and is an operator r -> P^-1 r."""
