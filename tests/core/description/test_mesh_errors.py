# SPDX-License-Identifier: GPL-3.0-or-later
"""Each mesh that has no valid rest shape is refused by name: which mesh, which element, what value, what to do."""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.shapes import grid

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
HALVES = [[0, 1, 2], [0, 2, 3]]
UV = SQUARE[:, :2]


def placed(vertex, value):
    positions = SQUARE.copy()
    positions[vertex] = value
    return positions


def uv_with(vertex, value):
    uv = UV.copy()
    uv[vertex] = value
    return uv


BAD = {
    "no faces and no edges": ({"positions": SQUARE}, ["no faces and no edges", "needs"]),
    "no vertices either": ({"positions": np.zeros((0, 3))}, ["no faces and no edges"]),
    "empty list of faces": ({"positions": SQUARE, "faces": []}, ["no faces and no edges"]),
    "nan vertex": ({"positions": placed(2, [1.0, np.nan, 0.0]), "triangles": HALVES},
                   ["vertex 2", "nan", "delete or move"]),
    "infinite vertex": ({"positions": placed(3, [0.0, np.inf, 0.0]), "triangles": HALVES}, ["vertex 3", "inf"]),
    "vertex out of the world": ({"positions": 1e200 * SQUARE, "triangles": HALVES}, ["vertex 1", "1e+200", "1e15 m"]),
    "quad out of the world": ({"positions": 1e200 * SQUARE, "faces": [[0, 1, 2, 3]]}, ["vertex 1", "1e+200"]),
    "uv out of the world": ({"positions": SQUARE, "triangles": HALVES, "uv": uv_with(2, 1e200)},
                            ["uv of triangle 0", "1e+200", "1e15 m"]),
    "nan vertex of a quad": ({"positions": placed(2, np.nan), "faces": [[0, 1, 2, 3]]}, ["vertex 2", "nan"]),
    "zero-area triangle": ({"positions": placed(2, [2.0, 0.0, 0.0]), "triangles": HALVES},
                           ["triangle 0", "[0, 1, 2]", "no area", "m^2", "Dissolve"]),
    "sliver": ({"positions": placed(2, [0.5, 1e-12, 0.0]), "triangles": [[0, 1, 2], [0, 2, 3]]},
               ["triangle 0", "no area", "an edge of 1 m", "far away"]),
    "zero-length edge": ({"positions": placed(1, [0.0, 0.0, 0.0]), "triangles": HALVES},
                         ["edge [0, 1]", "length zero", "Merge"]),
    "zero-length loose edge": ({"positions": placed(1, [0.0, 0.0, 0.0]), "edges": [[0, 1], [1, 2], [2, 3]]},
                               ["edge [0, 1]", "length zero"]),
    "duplicate vertices": ({"positions": [*SQUARE, *(SQUARE[:3] + [0, 0, 0.0])], "triangles": [*HALVES, [4, 6, 5]]},
                           ["vertices 0 and 4", "[0, 0, 0]", "3 such", "Merge"]),
    "index out of range": ({"positions": SQUARE, "triangles": [[0, 1, 2], [0, 2, 4]]},
                           ["triangle 1", "[0, 2, 4]", "0..3"]),
    "negative index": ({"positions": SQUARE, "triangles": [[0, 1, 2], [0, 2, -1]]}, ["triangle 1", "-1", "0..3"]),
    "edge out of range": ({"positions": SQUARE, "edges": [[0, 1], [1, 2], [3, 9]]}, ["edge 2", "[3, 9]", "0..3"]),
    "face out of range": ({"positions": SQUARE, "faces": [[0, 1, 2], [0, 2, 3, 7]]}, ["face 1", "7", "0..3"]),
    "edge from a vertex to itself": ({"positions": SQUARE, "triangles": HALVES, "edges": [[1, 1]]},
                                     ["edge 0", "[1, 1]", "twice"]),
    "triangle with a vertex twice": ({"positions": SQUARE, "triangles": [*HALVES, [0, 1, 1]]},
                                     ["triangle 2", "[0, 1, 1]", "twice"]),
    "triangle there twice": ({"positions": SQUARE, "triangles": [*HALVES, [2, 0, 1]]}, ["[0, 1, 2]", "2 times"]),
    "face out of range, of an array": ({"positions": SQUARE, "faces": np.array([[0, 1, 7]])}, ["face 0 [0, 1, 7]"]),
    "face of two vertices": ({"positions": SQUARE, "faces": [[0, 1, 2, 3], [0, 1]]},
                             ["face 1", "[0, 1]", "at least 3"]),
    "face with a vertex twice": ({"positions": SQUARE, "faces": [[0, 1, 2, 1]]}, ["face 0", "different"]),
    "loose vertex": ({"positions": [*SQUARE, [5, 5, 5], [6, 6, 6]], "triangles": HALVES},
                     ["vertex 4", "no face or edge", "2 such", "Delete Loose"]),
    "positions of the wrong shape": ({"positions": UV, "triangles": HALVES}, ["(n, 3)", "(4, 2)"]),
    "positions that are not numbers": ({"positions": [["a", "b", "c"]] * 4, "triangles": HALVES}, []),
    "triangles of four": ({"positions": SQUARE, "triangles": [[0, 1, 2, 3]]}, ["(n, 3)", "(1, 4)"]),
    "triangles that are not whole": ({"positions": SQUARE, "triangles": [[0.0, 1.5, 2.0]]}, ["integers"]),
    "triangles and faces": ({"positions": SQUARE, "triangles": HALVES, "faces": [[0, 1, 2, 3]]}, ["not both"]),
    "uv without area": ({"positions": SQUARE, "triangles": HALVES, "uv": uv_with(2, [2.0, 0.0])},
                        ["uv of triangle 0", "[0, 1, 2]", "no area", "unwrap"]),
    "uv all at one place": ({"positions": SQUARE, "triangles": HALVES, "uv": 0.0 * UV},
                            ["uv of triangle 0", "no area"]),
    "uv nan": ({"positions": SQUARE, "triangles": HALVES, "uv": uv_with(3, np.nan)},
               ["uv of triangle 1", "not a number"]),
    "uv of the wrong shape": ({"positions": SQUARE, "triangles": HALVES, "uv": UV[:3]},
                              ["(3, 2)", "(4, 2)", "(2, 3, 2)"]),
    "uv that is no array": ({"positions": SQUARE, "triangles": HALVES, "uv": [[0, 0], [1], [2, 2], [3, 3]]}, ["uv"]),
    "grain of length zero": ({"positions": SQUARE, "triangles": HALVES, "grain": (0.0, 0.0, 0.0)},
                             ["grain", "[0.0, 0.0, 0.0]"]),
    "grain nan": ({"positions": SQUARE, "triangles": HALVES, "grain": (np.nan, 0.0, 0.0)}, ["grain", "nan"]),
    "grain of two numbers": ({"positions": SQUARE, "triangles": HALVES, "grain": (1.0, 0.0)}, ["grain"]),
}


@cases("name", BAD)
def test_a_mesh_without_a_rest_shape_is_refused_by_name(name):
    arguments, wanted = BAD[name]
    with pytest.raises(core.MeshError) as caught:
        core.ClothMesh(**arguments, name="Skirt")
    assert caught.value.object_name == "Skirt"
    message = str(caught.value)
    assert message.startswith("Skirt: ")
    for part in wanted:
        assert part in message, message


@cases("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_what_counts_as_degenerate_does_not_depend_on_the_units(scale):
    positions, triangles = grid(3, 3)
    core.ClothMesh(scale * positions, triangles)
    thin = positions * (1.0, 1e-5, 1.0)
    core.ClothMesh(scale * thin, triangles)
    with pytest.raises(core.MeshError, match="no area"):
        core.ClothMesh(scale * positions * (1.0, 1e-9, 1.0), triangles)


def test_what_an_error_names_is_really_the_culprit():
    rng = np.random.default_rng(0)
    positions, triangles = grid(9, 9)
    for vertex in rng.choice(len(positions), size=5, replace=False):
        broken = positions.copy()
        broken[vertex, 1] = np.nan
        with pytest.raises(core.MeshError, match=rf"vertex {vertex} is at"):
            core.ClothMesh(broken, triangles)
    for t in rng.choice(len(triangles), size=5, replace=False):
        uv = positions[:, :2][triangles]
        uv[t] = uv[t, :1]
        with pytest.raises(core.MeshError, match=rf"uv of triangle {t} "):
            core.ClothMesh(positions, triangles, uv=uv)


def test_triangles_of_a_large_face_that_do_not_fill_it_are_refused():
    angle = np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False)
    positions = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(6)])
    with pytest.raises(core.MeshError, match="ngon_triangles: face 0 of 6 corners has 1 triangles, it must have 4"):
        core.ClothMesh(positions, faces=[range(6)], ngon_triangles=[(0, 1, 2)])
