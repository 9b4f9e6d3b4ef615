# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric tests of textile laboratories, simulated or in closed form: the drape meter and the bending length."""
