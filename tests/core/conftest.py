# SPDX-License-Identifier: GPL-3.0-or-later
"""What both backends do is tested on both: a file asks for it by `pytest.mark.usefixtures("backend")`."""

import pytest

from core.kernels import using
from core.kernels.backend import why_not


@pytest.fixture(params=["numpy", "numba"])
def backend(request):
    if why_not(request.param):
        pytest.skip(f"no {request.param} here")
    with using(request.param):
        yield request.param
