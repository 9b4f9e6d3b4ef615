# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, menus, operators and overlays. No other folder imports this one."""
