# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled kernels start with one thread: on a busy machine a test's many small calls would wait for the other core.

A simulation settles for itself how many it takes, and the tests that are about threads set their number.
"""

from importlib.util import find_spec

import pytest


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    if find_spec("numba"):
        import numba

        numba.set_num_threads(1)
