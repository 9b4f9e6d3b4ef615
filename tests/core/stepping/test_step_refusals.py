# SPDX-License-Identifier: GPL-3.0-or-later
"""What is no cloth any more is refused, whatever steps lead there: too far away for its edges, or grown without end."""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.shapes import quads

SIZE = 1e-3
"""Side of the sheet [m]."""


def falling(gravity):
    """Return a scene of a small sheet that falls freely in x with `gravity` [m/s^2]."""
    x, y = np.meshgrid(np.linspace(0.0, SIZE, 4), np.linspace(0.0, SIZE, 4))
    flat = np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1)
    cloth = core.Cloth(core.ClothMesh(flat, faces=quads(3, 3), name="Dust"), core.Material.preset("cotton"))
    return core.Scene([cloth], gravity=(gravity, 0.0, 0.0))


def test_cloth_that_is_too_far_away_for_the_rounding_of_its_edges_is_refused_by_name():
    seen = []
    with pytest.raises(core.SolverError, match=r"edge \[\d+, \d+\] of Dust is .* m from the origin, where numbers are "
                                               ".* m apart.*: keep the cloth nearer"):
        seen.extend(core.simulate(falling(1e13), core.Solver(), range(1, 4)))
    assert [frame.index for frame in seen] == [1]


@cases("sizes", [1e3, 1e6])
def test_cloth_a_million_sizes_away_keeps_its_shape(sizes):
    """The air holds it back on some of the way."""
    time = 3.0 / 24.0
    frames = list(core.simulate(falling(20.0 * sizes * SIZE / time ** 2), core.Solver(frame_rate=24.0), range(1, 5)))
    x = frames[-1].positions[0]
    assert x[:, 0].min() > 0.9 * sizes * SIZE
    assert np.ptp(x, axis=0)[:2] == pytest.approx([SIZE, SIZE], rel=1e-6)


def thread(pins, end=None):
    """Return the scene of a thread of two edges of 1 mm that hardly resists, and hangs from its `pins`."""
    mesh = core.ClothMesh(np.array([[0.0, 0.0, 0.0], [1e-3, 0.0, 0.0], [2e-3, 0.0, 0.0]]), np.zeros((0, 3), dtype=int),
                          edges=np.array([[0, 1], [1, 2]]), name="Thread")
    targets = dict.fromkeys(pins)
    if end is not None:
        targets[2] = lambda t: mesh.positions[2] + t * np.asarray(end)
    fabric = core.Material(areal_density=0.3, stretch=1e-6, shear=0.0, bend=0.0)
    return core.Scene([core.Cloth(mesh, fabric, pins=targets)])


def test_an_edge_that_grows_without_end_in_small_parts_is_refused():
    """It falls freely but for one pin: 1 m in 0.45 s, which no step adds at once."""
    seen = []
    with pytest.raises(core.SolverError, match=r"Thread: .* runs away .* edge \[0, 1\] has grown by 1\d\d\d.* times"):
        seen.extend(core.simulate(thread([0]), core.Solver(), range(1, 30)))
    assert 5 < len(seen) < 20
    assert all(frame.certificate.stretch_max <= 1001.0 for frame in seen)


def test_an_edge_between_two_pins_may_be_as_long_as_they_are_apart():
    frames = list(core.simulate(thread([1], end=(10.0, 0.0, 0.0)), core.Solver(), range(1, 12)))
    x = frames[-1].positions[0]
    assert np.linalg.norm(x[2] - x[1]) > 3.0
