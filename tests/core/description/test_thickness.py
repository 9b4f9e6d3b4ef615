# SPDX-License-Identifier: GPL-3.0-or-later
"""The distance that cloth keeps where nobody says: a fifth of its edges, less where its faces are long and thin."""

import numpy as np
import pytest

import core
from core.contact.contact_trial import ContactTrial
from core.model.particle_system import ParticleSystem
from tests.cases import cases


def grid(across, along, rows=7, columns=9):
    """A flat mesh of cells across x along [m]."""
    x, y = np.meshgrid(across * np.arange(columns), along * np.arange(rows))
    place = np.arange(rows * columns).reshape(rows, columns)
    faces = np.stack([place[:-1, :-1], place[:-1, 1:], place[1:, 1:], place[1:, :-1]], axis=-1).reshape(-1, 4)
    return core.ClothMesh(np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]), faces=faces)


def thickness(mesh, **options):
    return core.Cloth(mesh, core.Material.preset("cotton"), **options).thickness


@cases("along", [0.01, 0.015, 0.02])
def test_a_fifth_of_the_mean_edge_where_faces_are_about_square(along):
    mesh = grid(0.01, along)
    assert thickness(mesh) == 0.2 * mesh.mean_edge


@cases("ratio", [4.0, 14.0, 100.0])
def test_two_fifths_of_the_short_side_where_faces_are_long_and_thin(ratio):
    assert thickness(grid(0.01, 0.01 * ratio)) == pytest.approx(0.004)
    assert thickness(grid(0.01 * ratio, 0.01)) == pytest.approx(0.004)


def test_rest_lengths_count_not_how_it_lies():
    mesh = grid(0.01, 0.14)
    wide = core.ClothMesh(mesh.positions * [3.0, 1.0, 1.0], mesh.triangles, uv=mesh.positions[:, :2])
    assert thickness(wide) == pytest.approx(0.004)
    assert thickness(mesh, rest_scale=2.0) == pytest.approx(0.008)


def test_a_few_slivers_do_not_make_it_thin():
    mesh = grid(0.01, 0.01)
    x = mesh.positions.copy()
    x[1] = x[0] + [1e-4, 0.0, 0.0]
    assert thickness(core.ClothMesh(x, mesh.triangles)) > 0.9 * thickness(mesh)


def test_ropes_have_a_fifth_of_their_edges():
    x = np.column_stack([np.arange(5) * [0.02], np.zeros(5), np.zeros(5)])
    assert thickness(core.ClothMesh(x, edges=[(i, i + 1) for i in range(4)])) == pytest.approx(0.004)


def test_colliders_keep_what_is_given_up_to_the_edges_of_the_cloth():
    mesh = grid(0.01, 0.01)
    floor = [[-9.0, -9.0, -1.0], [9.0, -9.0, -1.0], [0.0, 9.0, -1.0]]
    solids = [core.Collider(floor, [[0, 1, 2]], thickness=given) for given in (0.0, 1e-4, 0.002, 10.0)]
    system = ParticleSystem(core.Scene([core.Cloth(mesh, core.Material.preset("cotton"))], solids))
    kept = system.self_contact.thickness[len(mesh.positions):].reshape(4, 3)
    np.testing.assert_array_equal(kept[:3], np.repeat([[0.0], [1e-4], [0.002]], 3, axis=1))
    assert 0.002 < kept[3].min() == kept[3].max() < 1.01 * mesh.mean_edge


def test_a_tube_of_long_thin_faces_touches_nothing_at_rest():
    """Its rows are 8 mm apart. With a fifth of the mean edge everything was in contact with a dozen others."""
    around, rows, radius = 56, 6, 0.0715
    turn = 2.0 * np.pi * np.arange(around) / around
    x = np.concatenate([np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.full(around, 0.114 * k)])
                        for k in range(rows)])
    here = np.arange(around * (rows - 1))
    beside = here // around * around + (here + 1) % around
    mesh = core.ClothMesh(x, faces=np.stack([here, beside, beside + around, here + around], axis=1))
    system = ParticleSystem(core.Scene([core.Cloth(mesh, core.Material.preset("cotton"))]))
    near = ContactTrial(system.self_contact).look(x, x)
    apart = near.pairs.distance - system.self_contact.apart(near.pairs)
    assert len(near.pairs) < 40 * len(x) and apart.min(initial=0.0) >= 0.0
