# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams and buttons pull points together in the time they are given, hold what they are said to, and no more."""

import numpy as np
import pytest

import core
from core.contact.gaps import meet
from core.contact.triangle_surface import TriangleSurface
from core.description.seams import BUTTON_STIFFNESS, SEAM_STIFFNESS
from core.errors import ClothError
from core.kernels import using
from core.kernels.backend import why_not
from core.model.seam_forces import SeamForce
from tests.cases import cases
from tests.core.shapes import grid

BACKENDS = [pytest.param(name, marks=pytest.mark.skipif(bool(why_not(name)), reason="cannot run here"))
            for name in ("numpy", "numba")]
CELLS = 6


def fabric(**changes):
    values = {"areal_density": 0.2, "stretch": (2000.0, 1000.0), "shear": 100.0, "bend": (1e-5, 1e-5), "damping": 0.02}
    return core.Material(**values | changes)


def panels(gap=0.3, cells=CELLS):
    """Two squares of 1 m with a gap between them along x, and the seam (cells + 1, 2) that joins their borders."""
    x, t = grid(cells, cells)
    other = x + [1.0 + gap, 0.0, 0.0]
    row = np.arange(cells + 1)
    seam = np.column_stack([cells * (cells + 1) + row, len(x) + row])
    return np.concatenate([x, other]), np.concatenate([t, t + len(x)]), seam


def run(cloth, frames, backend="numpy", gravity=(0.0, 0.0, 0.0), **solver):
    *_, last = core.simulate(core.Scene([cloth], gravity=gravity), core.Solver(backend=backend, **solver),
                             range(1, frames + 1))
    return last


def gaps(x, seam):
    return np.linalg.norm(x[seam[:, 1]] - x[seam[:, 0]], axis=1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_panels_are_sewn_together_in_the_closing_time_and_do_not_cross(backend):
    positions, triangles, seam = panels()
    cloth = core.Cloth(core.ClothMesh(positions, triangles, edges=seam), fabric(), sewing=True, sewing_time=0.5)
    half = run(cloth, 7, backend)                                  # 0.25 s
    assert gaps(half.positions[0], seam) == pytest.approx(0.15, rel=0.05)
    end = run(cloth, 19, backend)                                  # 0.75 s
    assert gaps(end.positions[0], seam).max() < 1e-3 / CELLS
    assert end.certificate.crossings == 0
    assert end.certificate.stretch_max < 1.001
    assert end.certificate.smallest_gap is None                    # sewn is no gap


def test_a_seam_with_a_vertex_in_the_middle_of_an_edge_is_closed_too():
    positions, triangles, seam = panels()
    middles = len(positions) + np.arange(len(seam))
    between = positions[seam].mean(axis=1) + [0.0, 0.0, 0.05]
    edges = np.concatenate([np.column_stack([seam[:, 0], middles]), np.column_stack([middles, seam[:, 1]])])
    mesh = core.ClothMesh(np.concatenate([positions, between]), triangles, edges=edges)
    end = run(core.Cloth(mesh, fabric(), sewing=True, sewing_time=0.5), 19)
    assert gaps(end.positions[0], seam).max() < 1e-3 / CELLS


def test_a_thread_of_several_edges_is_no_seam():
    positions, triangles, _ = panels()
    count = len(positions)
    thread = np.concatenate([positions, [(1.1, 0.5, 0.0), (1.2, 0.5, 0.0)]])
    edges = [(count - 4, 1), (CELLS * (CELLS + 1), count), (count, count + 1), (count + 1, count - 3)]
    cloth = core.Cloth(core.ClothMesh(thread, triangles, edges=edges), fabric(), sewing=True)
    assert cloth.seams.tolist() == [[1, count - 4]] and len(cloth.mesh.loose_edges) == 3


def test_seams_are_neither_threads_nor_mass_nor_stretch():
    positions, triangles, seam = panels()
    sewn = core.Cloth(core.ClothMesh(positions, triangles, edges=seam), fabric(), sewing=True)
    bare = core.ClothMesh(positions, triangles)
    assert len(sewn.seams) == len(seam)
    assert len(sewn.mesh.loose_edges) == 0
    assert np.array_equal(sewn.mesh.vertex_lengths, bare.vertex_lengths)
    assert np.array_equal(sewn.mesh.rest_lengths, bare.rest_lengths)


def test_of_loose_edges_only_those_between_faces_are_seams():
    positions, triangles, seam = panels()
    end = len(positions)
    positions = np.concatenate([positions, [[2.5, 0.0, 0.0], [2.6, 0.0, 0.0]]])
    edges = np.concatenate([seam, [[seam[0, 1], end], [end, end + 1]]])
    cloth = core.Cloth(core.ClothMesh(positions, triangles, edges=edges), fabric(), sewing=True)
    assert len(cloth.seams) == len(seam)
    assert cloth.mesh.loose_edges.tolist() == [[seam[0, 1], end], [end, end + 1]]


@cases("cells", [4, 8])
def test_a_seam_that_carries_weight_gapes_by_a_tenth_of_what_a_row_of_edges_stretches(cells):
    """The lower panel hangs by the seam: W = sigma g 1 m [N/m] on springs of 10 k_s, one per length of an edge."""
    positions, triangles, seam = panels(0.01, cells)
    positions = positions[:, [2, 1, 0]] * [1.0, 1.0, -1.0]         # the second hangs below the first
    cloth = core.Cloth(core.ClothMesh(positions, triangles, edges=seam), fabric(damping=0.1, viscous_drag=1.0),
                       pins=dict.fromkeys(range(cells + 1)), sewing=True, sewing_time=0.1)
    x = run(cloth, 60, gravity=(0.0, 0.0, -9.81), self_collision=False).positions[0]
    wanted = 0.2 * 9.81 / (SEAM_STIFFNESS * 2000.0) / cells
    middle = gaps(x, seam)[1:-1]                                   # at the ends the upper one narrows
    assert middle == pytest.approx(wanted, rel=0.15)


def test_the_largest_force_is_a_tension_whatever_the_mesh():
    for cells in (4, 8):
        positions, triangles, seam = panels(0.5, cells)
        cloth = core.Cloth(core.ClothMesh(positions, triangles, edges=seam), fabric(), sewing=True, sewing_force=3.0,
                           sewing_time=0.1)
        f = SeamForce(cloth.sewing[0]).at(1.0).force(positions, np.zeros_like(positions))
        assert np.linalg.norm(f[seam[:, 0]], axis=1).sum() == pytest.approx(3.0 * 1.0, rel=1.0 / cells)
        assert np.linalg.norm(f[seam[1:-1, 0]], axis=1) == pytest.approx(3.0 / cells)


def test_a_seam_that_may_not_pull_hard_enough_does_not_hold_what_hangs_on_it():
    positions, triangles, seam = panels(0.02)
    positions = positions[:, [2, 1, 0]] * [1.0, 1.0, -1.0]
    weight = 0.2 * 9.81                                            # [N/m]
    mesh, pins = core.ClothMesh(positions, triangles, edges=seam), dict.fromkeys(range(CELLS + 1))
    held, fallen = (run(core.Cloth(mesh, fabric(), pins=pins, sewing=True, sewing_force=share * weight), 13,
                        gravity=(0.0, 0.0, -9.81), self_collision=False).positions[0] for share in (2.5, 0.5))
    assert gaps(held, seam).max() < 0.02
    assert gaps(fallen, seam).min() > 0.2              # free fall is more: a limited seam gives way with a resistance


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_layers_sewn_all_around_do_not_cross(backend):
    """A bag: face to face, with seams on all four sides and corners where two of them meet."""
    x, t = grid(CELLS, CELLS)
    border = np.flatnonzero((x[:, :2] == 0.0).any(axis=1) | (x[:, :2] == 1.0).any(axis=1))
    positions = np.concatenate([x, x + [0.0, 0.0, 0.2]])
    mesh = core.ClothMesh(positions, np.concatenate([t, t[:, ::-1] + len(x)]))
    seam = np.column_stack([border, border + len(x)])
    end = run(core.Cloth(mesh, fabric(), sewing=seam, sewing_time=0.5), 25, backend)
    assert gaps(end.positions[0], seam).max() < 1e-3 / CELLS
    assert end.certificate.crossings == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_button_holds_a_vertex_to_a_point_of_a_triangle(backend):
    """One square over another: one corner to a corner, another one to the inside of a face."""
    x, t = grid(CELLS, CELLS)
    positions = np.concatenate([x, x + [0.05, 0.0, 0.1]])
    mesh = core.ClothMesh(positions, np.concatenate([t, t + len(x)]))
    place = (0.5, 0.3, 0.2)
    pins = dict.fromkeys(range(len(x)))                        # the lower one
    buttons = [(len(x), 0), (len(positions) - 1, (len(t) - 1, place))]
    cloth = core.Cloth(mesh, fabric(), pins=pins, buttons=buttons, sewing_time=0.3)
    assert BUTTON_STIFFNESS > SEAM_STIFFNESS
    end = run(cloth, 25, backend, gravity=(0.0, 0.0, -9.81))
    y = end.positions[0]
    assert np.linalg.norm(y[len(x)] - y[0]) < 1e-3
    assert np.linalg.norm(y[-1] - place @ y[t[-1]]) < 1e-3
    assert end.certificate.crossings == 0
    assert end.certificate.stretch_max < 1.05


def test_a_button_s_two_forces_add_up_to_none():
    x, t = grid(3, 3)
    positions = np.concatenate([x, x + [0.0, 0.1, 0.3]])
    mesh = core.ClothMesh(positions, np.concatenate([t, t + len(x)]))
    button = core.Cloth(mesh, fabric(), buttons=[(len(x) + 5, (4, (0.2, 0.3, 0.5)))]).sewing[0]
    f = SeamForce(button).at(2.0).force(positions, np.zeros_like(positions))
    assert np.abs(f).max() > 1.0
    assert np.abs(f.sum(axis=0)).max() < 1e-9
    assert np.abs(np.cross(positions, f).sum(axis=0)).max() < 1e-9


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_sewn_counts_as_joined_in_the_search_for_gaps(backend):
    """The gap of sewn panels is that of the same panels with the seam's vertices made one."""
    positions, triangles, seam = panels(0.0)
    x = positions + 1e-4 * np.random.default_rng(3).normal(size=positions.shape)
    x = np.concatenate([x, x[:1] + [[0.9, 0.5, 0.03], [1.0, 0.55, 0.03], [0.95, 0.6, 0.03]]])    # something near it
    triangles = np.concatenate([triangles, [[len(x) - 3, len(x) - 2, len(x) - 1]]])
    label = np.arange(len(x))
    label[seam[:, 1]] = seam[:, 0]
    with using(backend):
        sewn = TriangleSurface.build(x, triangles, label)
        apart = TriangleSurface.build(x, triangles)
        one = TriangleSurface.build(x[label], label[triangles])
        found = [meet(s, s, 0.1).gap for s in (sewn, one, apart)]
    assert found[0] == pytest.approx(found[1], abs=1e-3)
    assert found[2] < 1e-3 < found[0] < 0.05


@cases("options, message", [
    ({"sewing": True}, "no loose edges between its faces"),
    ({"sewing": [(0, 999)]}, "in 0..15"),
    ({"sewing": [(3, 3)]}, "sews a vertex to itself"),
    ({"sewing": [(0, 1)]}, "is an edge of a face"),
    ({"sewing": [(0, 15)], "sewing_force": 0.0}, "above 0"),
    ({"sewing": [(0, 15)], "sewing_time": -1.0}, "closing time"),
    ({"sewing": "all"}, "pairs of vertices"),
    ({"buttons": [(0, 0)]}, "both are one vertex"),
    ({"buttons": [(0, (0, (0.5, 0.5, 0.5)))]}, "add up to 1"),
    ({"buttons": [(0, (0, (0.5, 0.25, 0.25)))]}, "corner of triangle 0"),
    ({"buttons": [(0, (99, (0.5, 0.25, 0.25)))]}, "none of 0..17"),
    ({"buttons": [3]}, "needs two places"),
    ({"buttons": 3}, "buttons is 3"),
    ({"buttons": None}, "buttons is None"),
])
def test_what_cannot_be_sewn_is_said(options, message):
    mesh = core.ClothMesh(*grid(3, 3), name="Shirt")
    with pytest.raises(ClothError, match=message) as caught:
        core.Cloth(mesh, fabric(), **options)
    assert caught.value.object_name == "Shirt"


def test_a_fabric_without_any_stiffness_cannot_be_sewn():
    with pytest.raises(ClothError, match="does not resist stretching"):
        core.Cloth(core.ClothMesh(*grid(3, 3)), fabric(stretch=0.0), sewing=[(0, 15)])
