# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene as arrays and forces that are fixed for a simulation: a pure function of time."""
