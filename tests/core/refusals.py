# SPDX-License-Identifier: GPL-3.0-or-later
"""Small inputs, and what is asked of an error about one."""

import numpy as np
import pytest

import core
from tests.core.shapes import grid

FABRIC = {"areal_density": 0.2, "stretch": (900.0, 400.0), "shear": 150.0, "bend": (1e-5, 1e-5)}
CUBE = [[0, 1, 2], [0, 2, 3]]
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


def sheet():
    return core.ClothMesh(*grid(2, 2), name="Skirt")


def refused(error, make, *wanted, name=None):
    """`make()` raises `error` about the object `name`, and the message has all of `wanted`."""
    with pytest.raises(error) as caught:
        make()
    assert isinstance(caught.value, core.ClothError)
    message = str(caught.value)
    for part in wanted:
        assert part in message, message
    if name is not None:
        assert caught.value.object_name == name and message.startswith(f"{name}: ")
