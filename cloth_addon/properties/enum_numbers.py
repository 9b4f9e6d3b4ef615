# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers by which a .blend file remembers choices out of lists that grow."""

from __future__ import annotations

import zlib


def number_of(name: str) -> int:
    """From its name, so that a new choice shifts no other."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF
