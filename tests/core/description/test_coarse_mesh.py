# SPDX-License-Identifier: GPL-3.0-or-later
"""Coarse meshes have the topology, the border and the area of the fine ones."""

import numpy as np
import pytest

import core
from core.description.coarse_mesh import coarsened
from core.description.topology import Topology, bodies
from tests.core.contact.shapes import ball, sheet


def tube(around=60, rows=40):
    angle, z = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False), np.linspace(0.0, 1.0, rows)
    x = np.stack([np.tile(0.3 * np.cos(angle), rows), np.tile(0.3 * np.sin(angle), rows), np.repeat(z, around)], axis=1)
    faces = [[i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j]
             for i in range(rows - 1) for j in range(around)]
    return x, core.ClothMesh(x, faces=faces).triangles


def with_hole():
    x, triangles = sheet(40, 40, 1.0, 1.0)
    return used(x, triangles[(np.abs(x[triangles]).max(axis=(1, 2)) > 0.25)])


def used(x, triangles):
    vertices, triangles = np.unique(triangles, return_inverse=True)
    return x[vertices], triangles.reshape(-1, 3)


def two_sheets():
    x, triangles = sheet(30, 30, 1.0, 1.0)
    return np.concatenate([x, x + [0.0, 0.0, 0.003]]), np.concatenate([triangles, triangles + len(x)])


def unlike_sides():
    x, triangles = sheet(20, 90, 1.0, 1.0)
    return x, triangles


def with_strap():
    """Two sheets and a strap of two faces across between them."""
    x, triangles = sheet(61, 41, 3.0, 2.0)
    middle = x[triangles].mean(axis=1)
    return used(x, triangles[(np.abs(middle[:, 0]) > 0.5) | (np.abs(middle[:, 1]) < 0.05)])


CASES = {"sheet": lambda: sheet(40, 40, 1.0, 1.0), "tube": tube, "hole": with_hole, "two": two_sheets,
         "unlike": unlike_sides, "strap": with_strap, "ball": lambda: ball(48, 24, 0.3)}


def shape_of(x, triangles):
    """Return the Euler characteristic, the number of pieces and that of border loops."""
    topology = Topology(triangles)
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    edges, degree = np.unique(sides, axis=0, return_counts=True)
    assert degree.max() == 2
    rim, ends = np.unique(edges[degree == 1], return_inverse=True)
    loops = len(np.unique(bodies(ends.reshape(-1, 2), len(rim)))) if len(rim) else 0
    return (len(x) - len(topology.edges) + len(triangles), len(np.unique(bodies(topology.edges, len(x)))), loops)


@pytest.mark.parametrize("name", CASES)
def test_a_coarse_mesh_has_the_topology_and_the_area_of_the_fine_one(name):
    x, triangles = CASES[name]()
    coarse = coarsened(x, triangles, len(x) // 9, np.zeros(len(x), dtype=bool))
    few = x[coarse.vertices]
    assert 2 * len(few) <= len(x)
    assert shape_of(few, coarse.triangles) == shape_of(x, triangles)
    area = [np.linalg.norm(np.cross(p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]]), axis=1).sum()
            for p, t in ((x, triangles), (few, coarse.triangles))]
    assert area[1] == pytest.approx(area[0], rel=0.08)
    core.ClothMesh(few, coarse.triangles)                                    # no triangle is without area


@pytest.mark.parametrize("name", CASES)
def test_faces_of_a_coarse_mesh_are_wound_like_those_of_the_fine_one(name):
    x, triangles = CASES[name]()
    coarse = coarsened(x, triangles, len(x) // 9, np.zeros(len(x), dtype=bool))
    normals = np.zeros_like(x)
    for k in range(3):
        np.add.at(normals, triangles[:, k], np.cross(x[triangles[:, 1]] - x[triangles[:, 0]],
                                                     x[triangles[:, 2]] - x[triangles[:, 0]]))
    few, t = x[coarse.vertices], coarse.triangles
    own = np.cross(few[t[:, 1]] - few[t[:, 0]], few[t[:, 2]] - few[t[:, 0]])
    assert (np.einsum("ti,ti->t", own, normals[coarse.vertices][t].sum(axis=1)) > 0.0).all()


def test_vertices_with_priority_and_corners_are_selected():
    x, triangles = sheet(40, 40, 1.0, 1.0)
    priority = np.zeros(len(x), dtype=bool)
    priority[[777, 1222]] = True
    coarse = coarsened(x, triangles, 150, priority)
    assert {0, 39, 40 * 39, 1599, 777, 1222} <= set(coarse.vertices)


def test_meshes_that_cannot_be_coarser_are_left_alone():
    x, triangles = sheet(20, 20, 1.0, 1.0)
    none = np.zeros(len(x) + 1, dtype=bool)
    assert coarsened(x, triangles, 300, none[:-1]) is None                   # hardly fewer vertices
    fin = np.concatenate([triangles, [[0, 1, len(x)]]])                      # the sides of a fin are on a border
    inner = np.concatenate([triangles, [[210, 211, len(x)]]])                # a third face at an edge
    more = np.concatenate([x, [[0.0, 0.0, 0.1]]])
    assert coarsened(more, inner, 40, none) is None
    assert coarsened(np.concatenate([x, [[0.0, -0.6, 0.0]]]), fin, 40, none) is not None
