# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers under which a .blend file stores the items of enums that grow from version to version."""

from __future__ import annotations

import zlib


def number_of(name: str) -> int:
    """Return a number computed from the item's name alone, so that new items leave the numbers of others unchanged."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF
