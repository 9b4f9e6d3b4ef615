# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric presets: each loads, each number says where it comes from and lies where fabrics lie."""

import re
import tomllib

import core
from core.description.presets import PRESET_FOLDER
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
    "air_drag": ("kg/(m^2 s)", 0.0, 5.0),
}
GRAVITY = 9.81
FABRICS = ("cotton", "denim", "leather", "rubber", "silk", "wool")


def table(name):
    return tomllib.loads((PRESET_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def as_tuple(value):
    return tuple(value) if isinstance(value, list) else (value,)


def test_the_menu_has_the_six_promised_fabrics():
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
    """Mean elongation sigma g L / (2 k) of a strip hung by its end; rubber is the elastic one."""
    fabric = core.Material.preset(name)
    limit = 0.01 if name == "rubber" else 0.002
    assert fabric.areal_density * GRAVITY / (2 * min(fabric.stretch)) < limit


def test_silk_is_lighter_and_softer_than_cotton_and_denim_heavier_and_stiffer():
    silk, cotton, denim = (core.Material.preset(name) for name in ("silk", "cotton", "denim"))
    assert silk.areal_density < cotton.areal_density < denim.areal_density
    assert max(silk.bend) < min(cotton.bend) < min(denim.bend)
