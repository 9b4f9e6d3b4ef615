# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric, cloth, collider, scene and solver refuse what they cannot use, and say what, where and what is wanted."""

import numpy as np
import pytest

import core
from core.model.cloth_forces import built_model
from tests.cases import cases
from tests.core.refusals import CORNERS, CUBE, FABRIC, refused, sheet

# ---------------------------------------------------------------------- fabric


@cases(("constant", "values"), [
    ("areal_density", [0.0, -1.0, np.nan, np.inf]), ("stretch", [-1.0, (1.0, -2.0), (np.nan, 1.0)]),
    ("shear", [-1.0, np.inf]), ("bend", [(-1e-9, 0.0), np.nan]), ("damping", [-0.1]), ("friction", [-0.1, np.nan]),
    ("air_drag", [-1.0]), ("drag_coefficient", [-1.0]), ("skin_friction", [-1.0]),
    ("slow_drag_speed", [-1.0, np.nan]),
    ("viscous_drag", [-1.0]), ("thread_width", [0.0, -1.0]),
])
def test_a_fabric_constant_out_of_range_is_named_with_its_value(constant, values):
    for value in values:
        bad = next(v for v in np.atleast_1d(value) if not (np.isfinite(v) and v > 0.0))
        refused(core.MaterialError, lambda value=value: core.Material(**{**FABRIC, constant: value, "name": "felt"}),
                constant, str(float(bad)), "must be", name="felt")


@cases(("constant", "value"), [
    ("stretch", (1.0, 2.0, 3.0)), ("bend", ()), ("shear", "stiff"), ("stretch", "ab"), ("areal_density", None),
    ("shear", (1.0, 2.0)), ("friction", [0.1, 0.2]),
])
def test_a_fabric_constant_of_the_wrong_kind_is_named(constant, value):
    refused(core.MaterialError, lambda: core.Material(**{**FABRIC, constant: value, "name": "felt"}),
            constant, name="felt")


def test_a_fabric_constant_that_is_text_is_shown_as_text():
    refused(core.MaterialError, lambda: core.Material(**{**FABRIC, "areal_density": "0.1"}), "areal_density is '0.1',")


@cases("constant", ["areal_density", "stretch", "shear", "bend", "damping", "friction"])
def test_a_fabric_constant_that_no_computer_can_square_is_named(constant):
    refused(core.MaterialError, lambda: core.Material(**{**FABRIC, constant: 1e300, "name": "felt"}),
            constant, "1e300", "1e20 at most", name="felt")


def test_zero_is_a_stiffness_and_one_number_serves_warp_and_weft():
    fabric = core.Material(areal_density=1, stretch=5, shear=0, bend=0.0)
    assert fabric.stretch == (5.0, 5.0) and fabric.bend == (0.0, 0.0)


def test_an_unknown_preset_lists_the_ones_there_are():
    for name in ("tweed", "../fabrics/cotton", ""):
        refused(core.PresetError, lambda name=name: core.Material.preset(name), f"'{name}'", "cotton", "denim")


@cases("text", ["not toml at all [", "areal_density = 3",
               '[areal_density]\nvalue = "heavy"', "[shear]\nx = 1"])
def test_a_damaged_preset_is_named(tmp_path, monkeypatch, text):
    (tmp_path / "felt.toml").write_text(text)
    monkeypatch.setattr(core.description.presets, "PRESET_FOLDER", tmp_path)
    assert core.Material.presets() == ("felt",)
    refused(core.PresetError, lambda: core.Material.preset("felt"), "felt.toml")


def test_a_preset_can_be_changed_within_range():
    assert core.Material.preset("cotton", friction=0.9).friction == 0.9
    refused(core.MaterialError, lambda: core.Material.preset("cotton", friction=-1.0), "friction", "-1.0")


# ---------------------------------------------------------------------- cloth


def cloth(**options):
    return lambda: core.Cloth(sheet(), core.Material(**FABRIC), **options)


@cases(("options", "error", "wanted"), [
    ({"model": "spaghetti"}, core.ClothError, ["'spaghetti'", "baraff_witkin"]),
    ({"pins": {9: None}}, core.PinError, ["vertex 9", "0..8"]),
    ({"pins": {-1: None}}, core.PinError, ["vertex -1", "0..8"]),
    ({"pins": {"top": None}}, core.PinError, ["'top'"]),
    ({"pins": {1.5: None}}, core.PinError, ["1.5"]),
    ({"pins": {1: (0.0, 0.0, 1.0)}}, core.PinError, ["vertex 1", "function of time"]),
    ({"pins": [1.0, 0.0]}, core.PinError, ["(2,)", "(9,)", "pins={0: None"]),
    ({"pins": {0, 4}}, core.PinError, ["pin weights", "pins={0: None"]),
    ({"pins": [0.0] * 8 + [1.5]}, core.PinError, ["vertex 8", "1.5", "0..1"]),
    ({"pins": [0.0] * 8 + [np.nan]}, core.PinError, ["vertex 8", "nan", "0..1"]),
    ({"pins": "all of them"}, core.PinError, ["pin weights"]),
    ({"velocities": np.zeros((4, 3))}, core.ClothError, ["velocities", "4", "9"]),
    ({"velocities": np.full((9, 3), np.nan)}, core.ClothError, ["velocities", "vertex 0", "nan"]),
    ({"positions": np.zeros((9, 2))}, core.ClothError, ["positions", "(n, 3)", "(9, 2)"]),
    ({"positions": np.full((9, 3), 1e200)}, core.ClothError, ["positions", "vertex 0", "1e+200", "within 1e15"]),
    ({"thickness": -1.0}, core.ClothError, ["thickness", "-1.0"]),
    ({"thickness": np.nan}, core.ClothError, ["thickness", "nan"]),
    ({"thickness": "thin"}, core.ClothError, ["thickness", "thin"]),
    ({"attachments": [core.Attachment(77)]}, core.PinError, ["vertex 77", "0..8"]),
    ({"attachments": [core.Attachment(1, [[1, 0, 0], [2, 0, 0]])]}, core.PinError, ["vertex 1", "independent"]),
    ({"attachments": [core.Attachment(1, [[0, 0, 0]])]}, core.PinError, ["vertex 1", "independent"]),
    ({"attachments": [core.Attachment(1, [[1, 0]])]}, core.PinError, ["vertex 1", "directions"]),
    ({"attachments": [core.Attachment(1, [[np.nan, 0, 1]])]}, core.PinError, ["vertex 1", "directions"]),
    ({"attachments": [core.Attachment(1, "sideways")]}, core.PinError, ["vertex 1", "directions"]),
    ({"attachments": [core.Attachment(1, target=(1.0, 2.0))]}, core.PinError, ["vertex 1", "3 finite numbers"]),
])
def test_a_cloth_refuses(options, error, wanted):
    refused(error, cloth(**options), *wanted)


def test_an_error_of_a_cloth_names_the_cloth():
    refused(core.PinError, cloth(pins={9: None}), name="Skirt")
    refused(core.PinError, cloth(pins={9: None}, name="Hem"), name="Hem")
    refused(core.ClothError, cloth(model="spaghetti"), name="Skirt")


def test_an_unknown_model_option_is_refused_before_the_first_step():
    refused(core.ClothError, cloth(stiffnes=3.0), "stiffnes", "baraff_witkin", "bending, flat",
            name="Skirt")
    refused(core.ClothError, cloth(model="particles", stiffnes=3.0), "spring_stiffness, spring_damping", name="Skirt")


NONSENSE = {"nothing": None, "two numbers": (1.0, 2.0), "nan": (np.nan, 0.0, 0.0), "words": ("a", "b", "c"),
            "a word": "up", "ragged": [(1.0,), (1.0, 2.0)]}


@cases("value", NONSENSE.values(), ids=NONSENSE)
@cases("kind", ["pin", "attachment", "targets"])
def test_a_trajectory_that_returns_nonsense_is_named_with_its_vertex_and_time(kind, value):
    fabric, good = core.Material(**FABRIC), sheet().positions

    def broken(time):
        if time > 0.07:
            return value
        return good if kind == "targets" else good[4]

    options = {"pin": {"pins": {4: broken}}, "attachment": {"attachments": [core.Attachment(4, target=broken)]},
               "targets": {"pins": np.ones(9), "pin_targets": broken}}[kind]
    scene = core.Scene([core.Cloth(sheet(), fabric, **options)])
    seen = []
    with pytest.raises(core.PinError) as caught:
        seen += [frame.index for frame in core.simulate(scene, core.Solver(frame_rate=24.0), range(1, 6))]
    message = str(caught.value)
    assert message.startswith("Skirt: ")
    assert "0.0833 s" in message
    assert kind == "targets" or "vertex 4" in message


# ---------------------------------------------------------------------- collider


@cases(("positions", "triangles", "options", "wanted"), [
    (CORNERS, [], {}, ["no triangles"]),
    (CORNERS, [[0, 1, 2], [0, 2, 7]], {}, ["vertex 7", "4", "triangle 1"]),
    (CORNERS, [[0, 1, 2], [0, 2, -3]], {}, ["vertex -3", "4", "triangle 1"]),
    (CORNERS, [[0, 1, 2, 3]], {}, ["triangles", "(n, 3)"]),
    (CORNERS, [[0, 1, 2], [0, 0, 3]], {}, ["triangle 1", "[0, 0, 3]", "twice"]),
    (0.0 * CORNERS, CUBE, {}, ["area", "scale"]),
    (CORNERS * [1.0, 0.0, 0.0], CUBE, {}, ["area"]),
    (1e200 * CORNERS, CUBE, {}, ["vertex 1", "1e+200", "1e15 m"]),
    (CORNERS[:, :2], CUBE, {}, ["positions", "(n, 3)"]),
    (np.where(np.arange(4)[:, None] == 2, np.nan, CORNERS), CUBE, {}, ["vertex 2", "nan"]),
    (CORNERS, CUBE, {"friction": -0.1}, ["friction", "-0.1"]),
    (CORNERS, CUBE, {"friction": "rough"}, ["friction", "rough"]),
    (CORNERS, CUBE, {"thickness": np.nan}, ["thickness", "nan"]),
])
def test_a_collider_refuses(positions, triangles, options, wanted):
    refused(core.ColliderError, lambda: core.Collider(positions, triangles, name="Ball", **options),
            *wanted, name="Ball")


def test_a_collider_without_a_name_has_one_and_one_that_moves_may_grow_out_of_a_point():
    assert core.Collider(CORNERS, CUBE).name == core.Collider(CORNERS, CUBE, name=None).name == "collider"
    assert not core.Collider(lambda t: t * CORNERS, CUBE).at(0.0).any()


def test_a_moving_collider_must_keep_its_vertices():
    ball = core.Collider(lambda t: CORNERS if t < 0.5 else CORNERS[:3], [[0, 1, 2]], name="Ball")
    np.testing.assert_array_equal(ball.at(0.25), CORNERS)
    refused(core.ColliderError, lambda: ball.at(0.5), "3 vertices", "0.5000 s", "had 4", name="Ball")


def test_a_moving_collider_must_stay_made_of_numbers():
    ball = core.Collider(lambda t: CORNERS / (0.5 - t), CUBE, name="Ball")
    ball.at(0.25)
    with np.errstate(all="ignore"):
        refused(core.ColliderError, lambda: ball.at(0.5), "vertex 0", "0.5000 s", name="Ball")


def test_a_moving_collider_that_returns_nonsense_is_named():
    ball = core.Collider(lambda t: None, CUBE, name="Ball")
    refused(core.ColliderError, lambda: ball.at(0.0), "0.0000 s", name="Ball")


# ---------------------------------------------------------------------- scene


def test_a_scene_needs_a_cloth():
    refused(core.SceneError, lambda: core.Scene([]), "no cloth")


def test_a_cloth_stands_in_a_scene_once():
    scarf = core.Cloth(sheet(), core.Material(**FABRIC), name="scarf")
    refused(core.SceneError, lambda: core.Scene([scarf, scarf]), "'scarf' twice", "another")


@cases("value", [(0.0, 0.0), 9.81, (0.0, np.nan, 0.0), "down", (1.0, 2.0, (3.0, 4.0))])
def test_gravity_and_wind_are_three_numbers(value):
    still = cloth()()
    refused(core.SceneError, lambda: core.Scene([still], gravity=value), "gravity", "3 finite numbers")
    refused(core.SceneError, lambda: core.Scene([still], wind=value), "wind", "3 finite numbers")
    refused(core.SceneError, lambda: core.Scene([still], wind=lambda t: value).wind_at(0.25), "wind at 0.2500 s")


def test_gravity_wind_and_targets_of_pins_are_not_larger_than_any_coordinate():
    still, far = cloth()(), (0.0, 1e300, 0.0)
    refused(core.SceneError, lambda: core.Scene([still], gravity=far), "gravity", "1e+300", "within 1e15")
    refused(core.SceneError, lambda: core.Scene([still], wind=lambda t: far).wind_at(0.25), "0.2500 s", "within 1e15")
    field = core.Scene([still], wind=lambda t, x: x + far)
    refused(core.SceneError, lambda: field.wind_at(0.25, np.zeros((2, 3))), "0.2500 s", "1e+300", "within 1e15 m/s")
    refused(core.PinError, lambda: cloth(attachments=[core.Attachment(1, target=far)])(), "vertex 1", "within 1e15 m")


# ---------------------------------------------------------------------- solver


@cases(("setting", "values"), [
    ("integrator", ["leapfrog", None]), ("backend", ["cuda"]), ("steps_per_frame", [0, -1, 1.5, True, "two"]),
    ("frame_rate", [0.0, -24.0, np.nan, np.inf, "film", None]), ("newton_iterations", [0, 1.0, "forever"]),
    ("tolerance", [0.0, -1e-3, 1.0, np.nan, "tight"]),
    ("max_strain_change", [0.0, np.nan]), ("max_halvings", [-1, 0.5]),
    ("max_linear_iterations", [0]), ("max_newton_iterations", [0]),
])
def test_a_solver_setting_out_of_range_is_named_with_its_value(setting, values):
    for value in values:
        refused(core.SolverError, lambda value=value: core.Solver(**{setting: value}), setting, str(value))


def test_numpy_numbers_are_numbers():
    assert core.Solver(steps_per_frame=np.int64(3), frame_rate=np.float32(25), tolerance=np.float64(1e-4))
    assert core.Collider(CORNERS, CUBE, friction=np.float32(0.5)).friction == 0.5


NO_NUMBERS = (True, np.nan, np.inf, -1.0, "x", 10 ** 400, 1j)
NO_FLAGS = (1, 0, None, "yes", np.nan)


@cases("what", ["areal_density", "stretch", "shear", "bend", "damping", "isotropic_damping",
                "spring_damping", "friction", "air_drag", "drag_coefficient", "skin_friction", "slow_drag_speed",
                "viscous_drag", "thread_width"])
def test_a_fabric_takes_numbers_and_no_booleans_for_numbers(what):
    for value in NO_NUMBERS:
        refused(core.MaterialError, lambda value=value: core.Material(**{**FABRIC, what: value}), what, "must be")


@cases("what", ["thickness", "max_elongation", "sewing_time"])
def test_a_cloth_takes_numbers_and_no_booleans_for_numbers(what):
    for value in NO_NUMBERS:
        refused(core.ClothError, cloth(**{what: value}), "must be a number", repr(value)[:20], name="Skirt")


@cases("what", ["rest_scale", "rest_curvature", "stretch_scale", "shear_scale", "bend_scale"])
def test_a_map_is_no_boolean(what):
    refused(core.ClothError, cloth(**{what: True}), what, "True", name="Skirt")


@cases(("model", "option"), [
    ("baraff_witkin", "flat"), ("projective", "flat"), ("mass_spring", "flat"), ("immediate_buckling", "flat")])
def test_a_choice_of_yes_or_no_is_no_number(model, option):
    for value in NO_FLAGS:
        refused(core.ClothError, lambda value=value: built_model(cloth(model=model, **{option: value})()),
                f"{option} is {value!r}", "True or False", name="Skirt")
    for name in ("self_collision", "adaptive", "measure_energy"):
        for value in NO_FLAGS:
            refused(core.SolverError, lambda name=name, value=value: core.Solver(**{name: value}),
                    f"{name} is {value!r}", "True or False")


def test_options_of_models_are_numbers_where_numbers_are_wanted():
    points = core.ClothMesh(CORNERS, points=True, name="Skirt")
    for value in (True, 1.5, -1, np.nan):
        dust = core.Cloth(points, core.Material(**FABRIC), "particles", nearest=value)
        refused(core.ClothError, lambda dust=dust: built_model(dust), "nearest", "whole number", name="Skirt")
    for value in (1.0, (1.0,), (1.0, 0.0), (1.0, np.nan), (True, 1.0), "ab"):
        refused(core.ClothError, lambda value=value: built_model(cloth(rest_stretch=value)()), "rest_stretch",
                "two numbers above 0", name="Skirt")


def test_a_function_that_takes_something_else_is_refused_before_the_first_step():
    def three(t, x, y):
        return x

    refused(core.SceneError, lambda: core.Scene([cloth()()], wind=three), "wind is a function of (t, x, y)",
            "lambda t: (3, 0, 0)", "lambda t, x")
    refused(core.SceneError, lambda: core.Scene([cloth()()], wind=lambda: (1, 0, 0)), "wind is a function of ()")
    refused(core.PinError, cloth(pins={4: three}), "pin of vertex 4", "(t, x, y)", "time alone", name="Skirt")
    refused(core.PinError, cloth(pins=np.ones(9), pin_targets=three), "pin_targets", "(t, x, y)", name="Skirt")
    refused(core.PinError, cloth(pins=np.ones(9), pin_targets=CORNERS), "pin_targets", "function", name="Skirt")
    refused(core.PinError, cloth(attachments=[core.Attachment(4, target=three)]), "vertex 4", "(t, x, y)", name="Skirt")
    refused(core.ColliderError, lambda: core.Collider(three, CUBE, name="Ball"), "positions", "(t, x, y)", name="Ball")


def test_functions_that_can_be_called_with_the_time_are_taken_as_they_are():
    class Gust:
        def __call__(self, t, strength=2.0):
            return strength, 0.0, t

    for wind in (Gust(), lambda *given: (1.0, 0.0, 0.0), lambda t, x: x, np.zeros(3)):
        core.Scene([cloth()()], wind=wind).wind_at(0.5, CORNERS)


def test_what_is_handed_over_in_the_wrong_form_is_named():
    mesh, fabric = sheet(), core.Material(**FABRIC)
    cloth = core.Cloth(mesh, fabric)
    refused(core.ClothError, lambda: core.Cloth(mesh, "cotton"), "material is 'cotton'", "Material.preset('cotton')")
    refused(core.ClothError, lambda: core.Cloth(mesh.positions, fabric), "mesh is array", "must be a ClothMesh")
    refused(core.SceneError, lambda: core.Scene(cloth), "cloths is", "must be a list of Cloth")
    refused(core.SceneError, lambda: core.Scene([cloth], [cloth]), "colliders is", "must be a list of Collider")
    refused(core.SceneError, lambda: core.simulate(core.Scene([cloth]), frames=10), "frames is 10", "range(1, 251)")
    refused(core.SceneError, lambda: core.simulate(core.Scene([cloth]), frames=[1, np.nan]), "frames holds nan")
    refused(core.SceneError, lambda: core.simulate([cloth]), "must be a Scene")
    refused(core.PinError, lambda: core.Cloth(mesh, fabric, attachments=[3]), "attachments is [3]", name="Skirt")
    refused(core.PinError, lambda: core.Cloth(mesh, fabric, pins={True: None}), "vertex True", name="Skirt")
    refused(core.MeshError, lambda: core.ClothMesh(CORNERS, faces=[0, 1, 2]), "faces is [0, 1, 2]", name="cloth")
    refused(core.MeshError, lambda: core.ClothMesh(CORNERS, points=1), "points is 1", "True or False", name="cloth")
    refused(core.MeshError, lambda: core.ClothMesh(CORNERS, CUBE, name=5), "name is 5", "text")
    refused(core.MaterialError, lambda: core.Material.preset("cotton", weight=0.2), "'weight'", "areal_density")


@cases("value", [3.0, "round", [1.0, 2.0], np.zeros((9, 2)), [[0, 1], [0, 1, 2]],
                 1j * np.ones((9, 3)), {0: 1}])
@cases("what", ["positions", "triangles", "edges"])
def test_what_of_a_mesh_has_the_wrong_shape_is_named(what, value):
    given = {"positions": CORNERS, "triangles": CUBE, what: value}
    refused(core.MeshError, lambda: core.ClothMesh(**given, name="Skirt"), f"{what}: ", name="Skirt")


@cases("what", ["positions", "velocities", "births", "pins", "stretch_scale"])
def test_imaginary_parts_are_refused_and_not_left_out(what):
    value = 1j * (np.ones((9, 3)) if what in ("positions", "velocities") else np.ones(9))
    refused((core.ClothError, core.PinError), cloth(**{what: value}), "complex", name="Skirt")


def test_an_array_without_dimensions_is_one_number_and_no_list():
    single = np.array(3.0)
    mesh, still = sheet(), cloth()()
    refused(core.SceneError, lambda: core.Scene(single), "cloths is array(3.)", "list of Cloth")
    refused(core.SceneError, lambda: core.Scene([still], single), "colliders is array(3.)", "list of Collider")
    refused(core.SceneError, lambda: core.simulate(core.Scene([still]), frames=single), "frames is array(3.)")
    refused(core.PinError, cloth(attachments=single), "attachments is array(3.)", name="Skirt")
    refused(core.ClothError, cloth(buttons=single), "buttons is array(3.)", name="Skirt")
    refused(core.ClothError, lambda: built_model(cloth(rest_stretch=single)()), "rest_stretch is array(3.)",
            name="Skirt")
    refused(core.MaterialError, lambda: core.Material(**{**FABRIC, "stretch": single, "name": "felt"}), "stretch",
            name="felt")
    assert core.Cloth(mesh, core.Material(**FABRIC), buttons=()).sewing == ()


def test_what_no_computer_can_square_is_named():
    for what in ("thickness", "rest_scale", "rest_curvature", "stretch_scale", "shear_scale", "bend_scale"):
        refused(core.ClothError, cloth(**{what: 1e300}), what, "300", "at most", name="Skirt")
    for what in ("thickness", "friction"):
        refused(core.ColliderError, lambda what=what: core.Collider(CORNERS, CUBE, name="Ball", **{what: 1e300}),
                f"{what} is 1e+300", "at most", name="Ball")


@cases(("model", "option"), [
    ("thread_cloth", "area_stiffness"), ("immediate_buckling", "hold"), ("particles", "mass"), ("particles", "radius"),
    ("particles", "spring_stiffness"), ("particles", "spring_damping"), ("projective", "young_modulus"),
    ("jelly", "young_modulus"), ("jelly", "density")])
def test_an_option_of_a_model_that_no_computer_can_square_is_named(model, option):
    more = {"sheet_thickness": 1.0} if model == "projective" else {}
    refused(core.ClothError, lambda: built_model(cloth(model=model, **{option: 1e300}, **more)()),
            f"{option} is 1e+300", "1e15" if option == "radius" else "1e20", name="Skirt")
