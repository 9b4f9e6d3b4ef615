# SPDX-License-Identifier: GPL-3.0-or-later
"""Block matrices in fewer bytes, for products: not with NumPy, which would have to make them numbers of double
precision again before each."""

from __future__ import annotations

QUICKER = False
"""Whether products with a packed matrix are quicker."""
