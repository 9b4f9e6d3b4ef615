# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused is answered by what was probably meant: other arguments, a name spelled otherwise, other rows."""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.refusals import CORNERS, CUBE, FABRIC, refused, sheet


def test_what_was_meant_is_said():
    mesh, fabric = core.ClothMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], name="bib"), core.Material(**FABRIC)
    refused(core.ClothError, lambda: core.Cloth(fabric, mesh), "mesh is a Material, it must be a ClothMesh")
    refused(core.ClothError, lambda: core.Cloth(mesh, fabric, pin={0: None}), "'pin' should be 'pins'", name="bib")
    refused(core.ClothError, lambda: core.Cloth(mesh, fabric, bendin="hinge"), "'bendin' should be 'bending'")
    refused(core.PinError, lambda: core.Cloth(mesh, fabric, pins={0: (0, 0, 1)}), "0: lambda t: (x, y, z)", name="bib")
    quads = [[0, 1, 2, 3]]
    for faces in (quads, [*quads, [0, 1, 2]]):
        refused(core.ColliderError, lambda faces=faces: core.Collider(np.zeros((4, 3)), faces, name="floor"),
                "ClothMesh(positions, faces=...).triangles", name="floor")
    refused(core.ColliderError, lambda: core.Collider(np.zeros((4, 3)), [[0, 1, 2], [0, 1]]), "rows of one length")
    refused(core.MeshError, lambda: core.ClothMesh(np.eye(4, 3), quads), "write faces=...")
    refused(core.PinError, lambda: core.Cloth(mesh, fabric, pins={"0": None}), "'0'", "whole number in 0..2")
    refused(core.ColliderError, lambda: core.Collider(mesh, name="floor"), "positions is a ClothMesh",
            "Collider(mesh.positions, mesh.triangles)", name="floor")
    refused(core.ColliderError, lambda: core.Collider(mesh, mesh.triangles), "positions is a ClothMesh")
    refused(core.ColliderError, lambda: core.Collider(CORNERS), "triangles is None", "Collider(positions, triangles)")
    many = np.zeros((500, 3))
    for make in (lambda: core.Cloth((many, many), fabric), lambda: core.ClothMesh(many, faces=many),
                 lambda: core.simulate(core.Scene([core.Cloth(mesh, fabric)]), frames=core.Solver())):
        with pytest.raises(core.ClothError) as caught:
            make()
        assert len(str(caught.value)) < 250, "nobody reads arrays in a message"


@cases(("error", "make", "wrong", "meant"), [
    (core.SolverError, lambda: core.Solver(integrator="BDF2"), "BDF2", "bdf2"),
    (core.SolverError, lambda: core.Solver(integrator="Implicit Euler"), "Implicit Euler", "implicit_euler"),
    (core.SolverError, lambda: core.Solver(integrator="Projective Dynamics"), "Projective Dynamics",
     "projective_dynamics"),
    (core.SolverError, lambda: core.Solver(backend="NumPy"), "NumPy", "numpy"),
    (core.SolverError, lambda: core.Solver(solid_contact="Springs"), "Springs", "springs"),
    (core.ClothError, lambda: core.Cloth(sheet(), core.Material(**FABRIC), "Mass-Spring"), "Mass-Spring",
     "mass_spring"),
    (core.PresetError, lambda: core.Material.preset("Cotton"), "Cotton", "cotton"),
    (core.MaterialError, lambda: core.Material.preset("silk", frictoin=0.2), "frictoin", "friction"),
])
def test_of_a_name_that_is_nearly_right_the_right_one_is_said(error, make, wrong, meant):
    refused(error, make, f"perhaps '{wrong}' should be '{meant}'")


def test_of_a_name_that_is_like_none_nothing_is_guessed():
    for make in (lambda: core.Solver(integrator="leapfrog"), lambda: core.Solver(integrator=None)):
        with pytest.raises(core.SolverError) as caught:
            make()
        assert "perhaps" not in str(caught.value)


@cases(("error", "make", "wanted"), [
    (core.ColliderError, lambda: core.Collider(CORNERS, CUBE, frictoin=0.2, name="Ball"),
     ["Ball: Collider: ", "'frictoin' should be 'friction'"]),
    (core.SolverError, lambda: core.Solver(step_per_frame=2), ["'step_per_frame' should be 'steps_per_frame'"]),
    (core.SceneError, lambda: core.Scene(clothes=[]), ["'cloths'", "'clothes' should be 'cloths'", "gravity, wind"]),
    (core.MeshError, lambda: core.ClothMesh(CORNERS, face=CUBE), ["'face' should be 'faces'"]),
    (core.MaterialError, lambda: core.Material(**FABRIC, demping=0.1), ["'demping' should be 'damping'"]),
    (core.MaterialError, lambda: core.Material(areal_density=0.2), ["missing", "'stretch'"]),
    (core.ClothError, lambda: core.Cloth(sheet()), ["missing", "'material'"]),
    (core.ClothError, lambda: core.Cloth(sheet(), materail=core.Material(**FABRIC)),
     ["'materail' should be 'material'"]),
    (core.PinError, lambda: core.Attachment(1, direction=(0, 0, 1)), ["'direction' should be 'directions'"]),
    (core.SceneError, lambda: core.simulate(None, frame=range(3)), ["'frame' should be 'frames'"]),
    (core.SceneError, lambda: core.Scene([], [], 0, 0, 0), ["Scene: too many positional arguments"]),
])
def test_arguments_that_do_not_fit_are_refused_by_what_was_meant(error, make, wanted):
    refused(error, make, *wanted)


def test_a_type_error_from_inside_stays_what_it_is():
    class Stuck:
        def __call__(self, time):
            raise TypeError("of the caller's own")

    with pytest.raises(TypeError, match="of the caller's own"):
        core.Collider(Stuck(), CUBE).at(0.0)
    with pytest.raises(TypeError, match="of the caller's own"):
        core.simulate(core.Scene([core.Cloth(sheet(), core.Material(**FABRIC))]), frames=map(Stuck(), [1]))


@cases(("given", "wanted"), [
    ({"triangles": [[0, 1, 2], [0, 1, 2, 3]]}, ["triangles: ", "length, 3", "row 1 is [0, 1, 2, 3], which has 4"]),
    ({"triangles": [[0, 1, 2, 3], [0, 1, 2]]}, ["triangles: ", "row 0 is [0, 1, 2, 3], which has 4", "write faces="]),
    ({"triangles": [[0, 1, 2], [0, 2]]}, ["triangles: ", "row 1 is [0, 2], which has 2"]),
    ({"triangles": [[0, 1, 2], 3]}, ["triangles: ", "row 1 is 3"]),
    ({"positions": [(0, 0, 0), (1, 0, 0), (1, 1)]}, ["positions: ", "row 2 is (1, 1), which has 2"]),
    ({"uv": [(0, 0), (1, 0), (1, 1, 1), (0, 1)]}, ["uv: ", "row 2 is (1, 1, 1), which has 3"]),
    ({"faces": [[0, 1, 2], [0, 3]]}, ["face 1 [0, 3] has 2 corners", "at least 3"]),
    ({"faces": [[0, 1, 2, 3], [0, 2, 3, 0]]}, ["face 1 [0, 2, 3, 0] of 4 corners", "vertex 0 more than once"]),
    ({"faces": np.array([[0, 1, 2, 3], [0, 2, 3, -1]])}, ["face 1", "vertex -1", "[0, 2, 3] will do"]),
    ({"faces": [[0, 1, 2], [0, 2, 9]]}, ["face 1 [0, 2, 9]", "vertex 9", "0..3"]),
])
def test_a_row_that_is_too_long_or_too_short_is_named_with_its_length(given, wanted):
    given = {"positions": CORNERS, **({} if "faces" in given else {"triangles": CUBE}), **given}
    refused(core.MeshError, lambda: core.ClothMesh(**given, name="Skirt"), *wanted, name="Skirt")
