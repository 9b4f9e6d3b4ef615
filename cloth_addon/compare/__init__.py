# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare: several models and integrators on one scene."""
