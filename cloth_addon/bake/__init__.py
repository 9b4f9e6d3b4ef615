# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake: a generator, and what runs it in a window."""
