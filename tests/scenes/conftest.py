# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled kernels start with one thread, as in the core's tests."""

from tests.core.conftest import one_thread

__all__ = ["one_thread"]
