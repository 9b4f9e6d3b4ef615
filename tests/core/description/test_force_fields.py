# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields as given: what is refused, and what the messages say."""

import numpy as np
import pytest

from core import (
    Cloth,
    ClothError,
    ClothMesh,
    Collider,
    ColliderError,
    FieldWeights,
    ForceField,
    Material,
    MotionWindow,
    Scene,
    SceneError,
    field_values,
)
from core.description.force_fields import KINDS, PLACE, VALUES

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
TRIANGLE = np.array([[0, 1, 2]])


def refused(**given):
    with pytest.raises(SceneError) as raised:
        ForceField(**{"kind": "force", "values": field_values(strength=1.0), "name": "Fan", **given})
    return str(raised.value)


def test_values_are_zero_but_for_the_place_the_influence_and_the_limits():
    values = field_values(strength=3.0, x=2.0)
    assert len(values) == len(VALUES)
    assert {name: values[PLACE[name]] for name in VALUES if values[PLACE[name]]} == {
        "xx": 1.0, "yy": 1.0, "zz": 1.0, "x": 2.0, "strength": 3.0, "influence": 1.0, "maximum": np.inf,
        "radial_maximum": np.inf}


def test_what_is_wrong_with_a_field_is_named_with_the_field_and_a_remedy():
    assert refused(kind="charge") == ("Fan: force field kind is 'charge', it must be one of: " + ", ".join(KINDS))
    assert "shape is 'curve', it must be one of: point" in refused(shape="curve")
    assert "falloff is 'box'" in refused(falloff="box")
    assert "z_direction is 'up'" in refused(z_direction="up")
    assert "absorption is 1, it must be True or False" in refused(absorption=1)
    assert "seed is 0.5, it must be a whole number" in refused(seed=0.5)
    assert "noise_rate is 0, it must be a number above 0" in refused(noise_rate=0)
    assert f"values has shape (3,) at 0.0000 s, it must be ({len(VALUES)})" in refused(values=np.zeros(3))
    assert f"values[{PLACE['flow']}] is not a number at 0.0000 s" in refused(values=field_values(flow=np.nan))
    assert "strength is inf at 0.0000 s" in refused(values=field_values(strength=np.inf))
    assert "minimum is -1 at 0.0000 s, it must be 0 or more" in refused(values=field_values(minimum=-1.0))
    assert "it has no vertices; give vertices (P, 3)" in refused(shape="points")
    assert "give triangles (T, 3), or edges (E, 2)" in refused(shape="surface", vertices=CORNERS)
    assert "triangles names vertex 3, it must be one of the 3 vertices" in refused(
        shape="surface", vertices=CORNERS, triangles=TRIANGLE + 1)
    assert "normals has shape (1, 3) at 0.0000 s, it must be (3, 3)" in refused(
        shape="points", vertices=CORNERS, normals=CORNERS[:1])
    assert "needs samples; give lattice (nx, ny, nz, 3)" in refused(kind="texture")
    assert "needs lattice_map (3, 4)" in refused(kind="fluid_flow", lattice=np.zeros((2, 2, 2, 4)))
    assert "must each hold the numbers 0..255 once" in refused(kind="turbulence", lattice=np.zeros((256, 5)))
    with pytest.raises(SceneError, match="no value 'strenght'; there are: xx, xy"):
        field_values(strenght=1.0)
    with pytest.raises(SceneError, match="fields is .* must be a list of ForceField"):
        Scene([Cloth(ClothMesh(CORNERS, TRIANGLE), Material.preset("cotton"))], fields=[1])


def test_numbers_of_a_field_that_leave_their_range_later_are_named_with_the_time():
    window = MotionWindow(1, 25.0, {"fan": field_values(size=1.0)})
    field = ForceField("turbulence", window.trajectory("fan"), name="Fan")
    window.advance([(2.0, {"fan": field_values(size=-1.0)})])
    assert field.numbers_at(0.02)[PLACE["size"]] == 0.0
    with pytest.raises(SceneError, match="Fan: force field size is -1 at 0.0400 s, it must be 0 or more"):
        field.numbers_at(0.04)


def test_weights_of_fields_multiply_and_select_by_name():
    field = ForceField("drag", field_values(linear_drag=1.0), name="Fan")
    weights = FieldWeights(all=0.5, drag=lambda t: 2.0 * t, gravity=3.0)
    assert weights.factor_at(field, 2.0, "Flag") == 2.0 and weights.gravity_at(0.0, "Flag") == 3.0
    assert FieldWeights(fields=["Fan"]).factor_at(field, 0.0, "Flag") == 1.0
    assert FieldWeights(fields=[]).factor_at(field, 0.0, "Flag") == 0.0


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(ClothError, match="the weight of wind is 'much', it must be a number"):
        FieldWeights(wind="much")
    with pytest.raises(ClothError, match="fields is 'Fan', it must be a list of the names"):
        FieldWeights(fields="Fan")
    with pytest.raises(ClothError, match="field_weights is 1, it must be a FieldWeights"):
        Cloth(ClothMesh(CORNERS, TRIANGLE), Material.preset("cotton"), field_weights=1)
    late = FieldWeights(force=lambda t: 1.0 if t < 1.0 else float("nan"))
    with pytest.raises(ClothError, match="Flag: the field weight of force is nan at 1.0000 s"):
        late.factor_at(ForceField("force", field_values()), 1.0, "Flag")


def test_absorption_is_a_part():
    with pytest.raises(ColliderError, match=r"Wall: absorption is 2.0, it must be a number in 0\.\.1"):
        Collider(CORNERS, TRIANGLE, absorption=2.0, name="Wall")
    assert Collider(CORNERS, TRIANGLE, absorption=lambda t: t).absorption_at(0.5) == 0.5
