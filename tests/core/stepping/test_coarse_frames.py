# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on coarser meshes: they carry the full mesh, which goes on from there."""

import numpy as np
import pytest

import core
from core.description.topology import Topology
from core.stepping.coarse_frames import Carrier
from tests.core.contact.shapes import ball, rotation, sheet

FEW = 60
"""Number of coarse vertices."""


def cloth(count=24, **more):
    x, triangles = sheet(count, count, 1.0, 1.0)
    x = x + [0.0, 0.0, 0.02] * np.sin(5.0 * x[:, :1]) + [0.0, 0.0, 0.4]                # a detail that is kept
    return core.Cloth(core.ClothMesh(x, triangles), core.Material.preset("cotton"), **more)


def frames(made, coarse, last, solids=(), start=None, first=1, **solver):
    settings = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2, coarse_frames=coarse,
                           coarse_vertices=FEW, **solver)
    return list(core.simulate(core.Scene([made], solids), settings, range(first, last + 1), start=start))


def test_a_rigid_motion_of_the_coarse_mesh_moves_the_full_one_likewise():
    made = cloth()
    carrier = Carrier.of(made, FEW)
    turn, way = rotation([0.3, -0.5, 0.8], 2.1), np.array([0.4, -1.0, 2.0])
    few = made.positions[carrier.mesh.vertices] @ turn.T + way
    x, v = carrier.carried(few, np.tile(way, (len(few), 1)))
    np.testing.assert_allclose(x, made.positions @ turn.T + way, atol=1e-12)
    np.testing.assert_allclose(v, np.tile(way, (len(x), 1)), atol=1e-12)


def test_coarse_vertices_are_where_the_coarse_mesh_has_them():
    made = cloth()
    carrier = Carrier.of(made, FEW)
    few = made.positions[carrier.mesh.vertices]
    few = few + 0.02 * np.sin(17.0 * few[:, [1, 2, 0]])
    x, _ = carrier.carried(few, np.zeros_like(few))
    np.testing.assert_allclose(x[carrier.mesh.vertices], few, atol=1e-12)


def test_a_coarse_vertex_carries_what_is_nearer_than_its_longest_edge_and_the_nearer_the_more():
    made = cloth()
    carrier = Carrier.of(made, FEW)
    few, edges = made.positions[carrier.mesh.vertices], Topology(carrier.mesh.triangles).edges
    span = np.linalg.norm(few[edges[:, 1]] - few[edges[:, 0]], axis=1)
    for vertex in range(len(few)):
        moving = np.zeros_like(few)
        moving[vertex, 0] = 1.0
        share = carrier.carried(few, moving)[1][:, 0]
        away = np.linalg.norm(made.positions - few[vertex], axis=1)
        assert share.min() >= 0.0 and not share[away > span[(edges == vertex).any(axis=1)].max()].any()
        near = away < 0.5 * span.min()
        assert share[near].mean() > share[~near].max()


@pytest.mark.once
def test_all_frames_have_the_full_mesh_and_the_drape_is_that_of_the_full_mesh():
    made, solid = cloth(), core.Collider(*ball(24, 12, 0.35))
    found, wanted = (frames(made, coarse, 36, [solid]) for coarse in (20, 0))
    assert all(len(frame.positions[0]) == 24 * 24 for frame in found)
    end, full = found[-1], wanted[-1]
    assert end.certificate.crossings == 0 and end.certificate.stretch_p99 < full.certificate.stretch_p99 + 0.01
    assert end.positions[0][:, 2].min() == pytest.approx(full.positions[0][:, 2].min(), abs=0.03)
    reach = [np.ptp(frame.positions[0], axis=0) for frame in (end, full)]
    level = [np.sort(size[:2]) for size in reach]                    # along which side it is longer is chance
    np.testing.assert_allclose(*level, atol=0.12)
    assert reach[0][2] == pytest.approx(reach[1][2], abs=0.03)


def test_pins_hold_on_the_coarse_mesh_too():
    def lifted(time):
        return np.array([-0.5, -0.5, 0.4 + time])

    made = cloth(pins={0: lifted, 23: None})
    made.positions[0] = lifted(0.0)
    there = made.positions[23]
    for frame in frames(made, 5, 8):
        np.testing.assert_allclose(frame.positions[0][0], lifted(frame.time), atol=1e-9)
        np.testing.assert_allclose(frame.positions[0][23], there, atol=1e-9)


@pytest.mark.parametrize("stop", [3, 6, 8])
def test_a_simulation_that_goes_on_from_a_checkpoint_gives_the_same_bytes(tmp_path, stop):
    made, solid = cloth(), [core.Collider(*ball(16, 8, 0.35))]
    whole = frames(made, 6, 10, solid)
    whole[stop - 1].checkpoint().save(tmp_path / "state")
    rest = frames(made, 6, 10, solid, start=core.Checkpoint.load(tmp_path / "state"), first=stop + 1)
    assert len(rest) == 10 - stop
    for one, other in zip(whole[stop:], rest, strict=True):
        np.testing.assert_array_equal(one.positions[0], other.positions[0])


def test_a_coarse_start_that_crosses_is_resolved():
    """The fine cloth is carried into a solid with sharp edges, that the coarse one spans."""
    made, solid = cloth(), core.Collider(*ball(24, 12, 0.35))
    found = frames(made, 12, 14, [solid])
    assert found[12].certificate.crossings == 0
    assert found[12].certificate.start is None or found[12].certificate.start.left == []


@pytest.mark.parametrize("more", [{"sewing": [[0, 23]]}, {"buttons": [(0, 23)]}, {"pressure": core.Pressure(10.0)},
                                  {"model": "mass_spring"}, {"plasticity": core.Plasticity(0.1)},
                                  {"attachments": [core.Attachment(0)]}])
def test_cloth_that_needs_its_own_mesh_keeps_it(more):
    made = cloth(**more)
    on, off = (frames(made, coarse, 3) for coarse in (3, 0))
    np.testing.assert_array_equal(on[-1].positions[0], off[-1].positions[0])


def test_cloth_of_few_vertices_keeps_its_mesh_beside_dense_cloth():
    assert Carrier.of(cloth(15), FEW) is None and Carrier.of(cloth(16), FEW) is not None
