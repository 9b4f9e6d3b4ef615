# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cloth's collision settings refuse, and what they say."""

import numpy as np
import pytest

import core
from tests.core.refusals import FABRIC, refused, sheet


@pytest.mark.parametrize(("wrong", "wanted"), [
    ({"self_collision": 1}, "self_collision of its contact is 1, it must be True or False"),
    ({"collisions": "off"}, "collisions of its contact is 'off'"),
    ({"colliders": "body"}, "colliders of its contact is 'body', it must be a list of names"),
    ({"colliders": [3]}, "a list of names"),
    ({"not_self": [0.5, 1.0]}, "not_self of its contact is an array of float64"),
    ({"not_objects": np.ones((2, 2), bool)}, "not_objects of its contact is an array of bool of shape (2, 2)"),
    ({"self_friction": -0.1}, "self_friction of its contact is -0.1"),
    ({"self_distance": np.nan}, "self_distance of its contact is nan m"),
    ({"layer": 0.5}, "layer of its contact is 0.5, it must be a whole number")])
def test_a_value_of_another_kind_is_refused_by_name(wrong, wanted):
    refused(core.ClothError, lambda: core.ClothContact(**wrong), wanted)


def test_a_misspelt_setting_is_named():
    refused(core.ClothError, lambda: core.ClothContact(self_colision=False), "self_colision", "self_collision")


def test_marks_are_one_for_each_vertex_and_copied():
    def cloth(count):
        return core.Cloth(sheet(), core.Material(**FABRIC), contact=core.ClothContact(not_self=np.zeros(count, bool)))

    refused(core.ClothError, lambda: cloth(8), "not_self of its contact has 8 values", "9 vertices", name="Skirt")
    marks = np.zeros(9, bool)
    contact = core.ClothContact(not_self=marks)
    marks[:] = True
    assert not contact.not_self.any()
    refused(core.ClothError, lambda: core.Cloth(sheet(), core.Material(**FABRIC), contact={"layer": 1}),
            "it must be a ClothContact", name="Skirt")


def test_a_collider_that_is_not_there_is_named_with_those_that_are():
    def scene(*names):
        skirt = core.Cloth(sheet(), core.Material(**FABRIC), contact=core.ClothContact(colliders=names))
        coat = core.Cloth(sheet(), core.Material(**FABRIC), name="Coat")
        body = core.Collider([[0.0, 0, -1], [1, 0, -1], [0, 1, -1]], [[0, 1, 2]], name="Body")
        return core.Scene([skirt, coat], [body])

    assert scene("Body", "Coat").cloths[0].contact.colliders == ("Body", "Coat")
    refused(core.SceneError, lambda: scene("Bodi"), "names 'Bodi'", "Body", "take one of: Skirt, Coat, Body",
            name="Skirt")


def test_distance_and_friction_of_cloth_on_cloth_are_those_on_solids_unless_given():
    def cloth(**contact):
        return core.Cloth(sheet(), core.Material(**FABRIC, friction=0.4), thickness=0.01,
                          contact=core.ClothContact(**contact))

    assert (cloth().distance_from_cloth, cloth().friction_at(0.0)[1]) == (0.01, 0.4)
    own = cloth(self_distance=0.05, self_friction=0.0)
    assert (own.distance, own.distance_from_cloth, own.friction_at(0.0)[1]) == (0.01, 0.025, 0.0)
    assert 0.0 < cloth(self_distance=0.0).distance_from_cloth < 0.01
