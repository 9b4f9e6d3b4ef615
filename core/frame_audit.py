# SPDX-License-Identifier: GPL-3.0-or-later
"""stub"""
from types import SimpleNamespace


class FrameAudit:
    def __init__(self, system): pass
    def look(self, state): return SimpleNamespace(crossings=0, smallest_gap=None, deepest_penetration=0.0)
