# SPDX-License-Identifier: GPL-3.0-or-later
"""Block matrices in fewer bytes, for products: not with NumPy, which would have to convert them to double precision
before each product."""

from __future__ import annotations

QUICKER = False
"""Whether products with a packed matrix are quicker."""
