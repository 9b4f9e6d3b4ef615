# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision: hierarchy, candidate pairs, distances, contacts, and what the solver and the audit make of them."""
