# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric presets: each loads, each number says where it comes from and lies where fabrics lie."""

import dataclasses
import re
import tomllib

import pytest

import core
from core.description.presets import PRESET_FOLDER, UNITS
from tests.cases import cases

# Quantity: unit, smallest and largest plausible value for sheets from chiffon to leather and rubber.
# 90 % of 618 measured fabrics weigh 0.031 to 0.49 kg/m^2 and bend with 0.9e-6 to 1.1e-4 N m.
BANDS = {
    "areal_density": ("kg/m^2", 0.02, 1.0),
    "stretch": ("N/m", 100.0, 5e4),
    "shear": ("N/m", 10.0, 1e4),
    "bend": ("N m", 5e-7, 5e-4),
    "damping": ("s", 0.0, 0.05),
    "friction": ("-", 0.05, 1.5),
    "drag_coefficient": ("-", 0.5, 2.0),
    "skin_friction": ("-", 0.0, 0.05),
    "slow_drag_speed": ("m/s", 0.05, 1.0),
}
GRAVITY = 9.81
FABRICS = ("canvas", "chiffon", "cotton", "denim", "fine_cotton", "jersey", "leather", "plastic_film", "polyester",
           "rubber", "silk", "stretch_wool", "upholstery", "wool")
ELASTIC = ("jersey", "rubber", "stretch_wool")


def table(name):
    return tomllib.loads((PRESET_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def as_tuple(value):
    return tuple(value) if isinstance(value, list) else (value,)


def test_the_menu_has_the_promised_fabrics():
    assert set(FABRICS) <= set(core.Material.presets())


@cases("name", core.Material.presets())
def test_a_preset_loads_with_the_numbers_of_its_file(name):
    fabric = core.Material.preset(name)
    for quantity, entry in table(name).items():
        if isinstance(entry, dict):
            loaded = getattr(fabric, quantity)
            assert as_tuple(entry["value"]) == (loaded if isinstance(loaded, tuple) else (loaded,))


@cases("name", core.Material.presets())
def test_a_preset_is_named_and_gives_every_quantity_once(name):
    content = table(name)
    assert content.pop("name") and content.pop("description")
    assert set(content) == set(BANDS)


@cases("quantity", BANDS)
@cases("name", core.Material.presets())
def test_every_number_has_a_unit_a_source_and_a_plausible_size(name, quantity):
    entry = table(name)[quantity]
    unit, smallest, largest = BANDS[quantity]
    assert set(entry) == {"value", "unit", "source"}
    assert entry["unit"] == unit
    assert all(smallest <= value <= largest for value in as_tuple(entry["value"]))
    kind, _, reason = entry["source"].partition(":")
    cites_a_publication = re.search(r"\b20\d\d\b", reason) is not None
    assert (kind == "assumed" and len(reason) > 20) or cites_a_publication


@cases("name", core.Material.presets())
def test_a_fabric_bends_over_a_length_of_centimetres(name):
    """Bending length (B / (sigma g))^(1/3): 1.1 to 3.3 cm for 90 % of the measured fabrics."""
    fabric = core.Material.preset(name)
    for bend in fabric.bend:
        assert 0.010 < (bend / (fabric.areal_density * GRAVITY)) ** (1 / 3) < 0.035


@cases("name", core.Material.presets())
def test_a_metre_of_fabric_hangs_without_visible_stretch(name):
    """Mean elongation sigma g L / (2 k) of a strip hung by its end."""
    fabric = core.Material.preset(name)
    limit = 0.01 if name in ELASTIC else 0.002
    assert fabric.areal_density * GRAVITY / (2 * min(fabric.stretch)) < limit


def test_silk_is_lighter_and_softer_than_cotton_and_denim_heavier_and_stiffer():
    silk, cotton, denim = (core.Material.preset(name) for name in ("silk", "cotton", "denim"))
    assert silk.areal_density < cotton.areal_density < denim.areal_density
    assert max(silk.bend) < min(cotton.bend) < min(denim.bend)


def test_a_fabric_that_is_saved_is_loaded_with_every_constant(tmp_path):
    fabric = core.Material(name="mine", areal_density=0.2, stretch=(100.0, 1e-9), shear=1 / 3, bend=(1e-5, 2.5e19),
                           damping=0.0, friction=0.7, air_drag=0.1, viscous_drag=0.2, isotropic_damping=0.3,
                           spring_damping=0.4, thread_width=0.5, compression=(0.0, 6.0), compression_damping=0.7,
                           shear_damping=0.8, bend_damping=0.9)
    for made in (fabric, core.Material(name="mine", areal_density=0.2, stretch=(1.0, 2.0), shear=3.0)):
        path = tmp_path / "mine.toml"
        made.save(path, title='Müll "1" \\ \x7f\n', description="for a test", source="made up")
        assert core.Material.load(path) == made
        assert tomllib.loads(path.read_text(encoding="utf-8"))["name"] == 'Müll "1" \\ \x7f\n'
        assert [file.name for file in tmp_path.iterdir()] == ["mine.toml"]


def test_a_fabric_s_file_has_the_unit_of_every_constant_but_the_name():
    constants = {field.name for field in dataclasses.fields(core.Material)} - {"name"}
    assert set(UNITS) == constants
    assert all(UNITS[quantity] == unit for quantity, (unit, _, _) in BANDS.items())


def test_files_that_cannot_be_read_or_written_are_refused_by_name(tmp_path):
    (tmp_path / "bad.toml").write_text("[areal_density]\nvalue = -1\n")
    for name in ("bad", "gone"):
        with pytest.raises(core.PresetError, match=f"'{name}'.*delete it"):
            core.Material.load(tmp_path / f"{name}.toml")
    with pytest.raises(core.PresetError, match="cannot be written"):
        core.Material.preset("cotton").save(tmp_path / "no folder" / "a.toml")
    with pytest.raises(core.PresetError, match="cannot be written"):
        core.Material.preset("cotton").save(tmp_path / "a.toml", title="\ud800")
