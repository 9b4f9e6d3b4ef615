# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws of bending, and the rest geometry that they are built from."""
