# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers in texts for the user, written as the core's messages write them."""

from __future__ import annotations

from ...core.number_text import number_text as number_text
