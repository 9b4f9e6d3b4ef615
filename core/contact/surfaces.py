# SPDX-License-Identifier: GPL-3.0-or-later
"""stub"""
class SurfaceSet:
    def __init__(self, system): raise NotImplementedError
