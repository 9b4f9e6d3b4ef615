# SPDX-License-Identifier: GPL-3.0-or-later
"""The drape meter: areas of shadows, nodes of hems, and drape coefficients of fabrics."""

import json
from dataclasses import replace

import numpy as np
import pytest

import core
from core.kernels.backend import why_not
from core.measure import command
from core.measure.bending_length import bending_length, bending_stiffness
from core.measure.drape_curve import CURVES, coefficient, stiffness_of_coefficient
from core.measure.drape_meter import DrapeMeter, drape, drape_coefficient
from core.measure.drape_picture import svg
from core.measure.shadow import node_count, shadow_area
from tests.cases import cases
from tests.core.physics.scenes import reference, sheet

TABLE = reference("cusick_drape")
COARSE = DrapeMeter(rings=8)
slow_without_numba = pytest.mark.skipif(bool(why_not("numba")), reason="takes long with NumPy alone")


def isotropic(bend, sigma=0.15):
    return core.Material(areal_density=sigma, stretch=5000.0, shear=272.0, bend=bend, damping=0.005)


@cases("turn", [0.0, 0.3, 1.2])
def test_the_shadow_of_a_sheet_is_its_area_and_folded_parts_count_once(turn):
    flat = sheet((12, 8), (0.6, 0.4), "alternating")
    c, s = np.cos(turn), np.sin(turn)
    x = flat.positions @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])
    assert shadow_area(x, flat.triangles) == pytest.approx(0.24, rel=2e-3)
    upright = x @ np.diag([1.0, 1.0, 0.0]) + np.array([0.0, 0.0, 1.0]) * flat.positions[:, :1]
    assert shadow_area(upright, flat.triangles) == pytest.approx(0.24, rel=2e-3)
    folded = flat.positions.copy()
    folded[:, 0] = np.abs(folded[:, 0] - 0.2)
    assert shadow_area(folded, flat.triangles) == pytest.approx(0.16, rel=4e-3)


def test_a_cone_of_known_slope_has_the_coefficient_of_its_rings():
    """Points at a distance r + s of the flat ring go to r + s cos(a)."""
    meter = DrapeMeter(rings=20)
    mesh, held, _ = meter.mesh()
    r, R, angle = 0.09, 0.15, 0.9
    flat = np.hypot(*mesh.positions[:, :2].T)
    out = np.where(flat > r, r + (flat - r) * np.cos(angle), flat)
    x = mesh.positions * (out / flat)[:, None]
    x[:, 2] = -np.maximum(flat - r, 0.0) * np.sin(angle)
    ring = mesh.triangles[(mesh.triangles >= len(held) // 2).all(axis=1)]
    end = r + (R - r) * np.cos(angle)
    wanted = (end ** 2 - r * r) / (R * R - r * r)
    assert drape_coefficient(x, mesh.positions, ring, r) == pytest.approx(wanted, abs=2e-3)
    assert drape_coefficient(mesh.positions, mesh.positions, ring, r) == 1.0
    assert mesh.areas[(mesh.triangles >= len(held) // 2).all(axis=1)].sum() == pytest.approx(
        np.pi * (R * R - r * r), rel=2e-3)


@cases("nodes", [0, 2, 5, 11])
def test_nodes_are_the_folds_of_the_hem(nodes):
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    radius = 0.12 + 0.03 * np.cos(nodes * angle) * (nodes > 0) + 0.0005 * np.sin(90.0 * angle)
    hem = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle], axis=1)
    assert node_count(np.roll(hem, 17, axis=0) + [0.3, 0.1, 0.0], np.array([0.3, 0.1]), 0.005) == nodes


@slow_without_numba
def test_the_coefficient_rises_with_the_bending_stiffness_and_limp_cloth_has_more_nodes():
    found = [drape(isotropic(bend), COARSE) for bend in (4e-6, 1.2e-5, 4e-5, 1e-3)]
    coefficients = [d.coefficient for d in found]
    assert all(a < b - 0.03 for a, b in zip(coefficients[:-1], coefficients[1:], strict=True))
    assert coefficients[-1] > 0.95 and found[-1].nodes == 0
    assert found[0].nodes >= 4
    assert all(d.is_at_rest for d in found)


@slow_without_numba
def test_cotton_drapes_as_measured_cotton():
    """Gan, Ly and Steven 1991: plain cotton, within the points that measured friction of yarns leaves open."""
    row = next(row for row in TABLE["rows"] if row["fabric"] == "plain cotton")
    found = drape(core.Material.preset("cotton"), DrapeMeter(rings=10))
    assert 100.0 * found.coefficient == pytest.approx(row["DC_percent"], abs=TABLE["tolerance"]["DC_points"])
    silk = drape(core.Material.preset("silk"), DrapeMeter(rings=10))
    assert silk.coefficient < found.coefficient


@pytest.mark.slow
def test_finer_rings_change_the_coefficient_by_three_points_at_most():
    coarse, fine = (drape(isotropic(2e-5), DrapeMeter(rings=rings)).coefficient for rings in (20, 40))
    assert abs(fine - coarse) < 0.03


@slow_without_numba
def test_the_meter_and_its_drape_are_the_same_for_a_larger_fabric_of_the_same_shape():
    """All lengths times 2: the bending stiffness times 8, with the same weight per area and stretch per weight."""
    small = drape(isotropic(2e-5), COARSE)
    twice = replace(isotropic(1.6e-4), stretch=(10000.0, 10000.0), shear=544.0)
    large = drape(twice, DrapeMeter(diameter=0.6, plate=0.36, rings=8))
    assert large.coefficient == pytest.approx(small.coefficient, abs=0.03)


@cases("wrong", [{"diameter": 0.1}, {"plate": 0.0}, {"plate": 0.4}, {"rings": 1}, {"rings": 2.5}, {"grain": "x"},
                 {"diameter": np.nan}, {"seed": -1}])
def test_a_meter_that_cannot_be_is_refused(wrong):
    with pytest.raises(core.SceneError):
        DrapeMeter(**wrong)


# ---------------------------------------------------------------------- closed forms


@cases("length", [0.01, 0.0187, 0.05])
def test_bending_length_and_stiffness_are_inverse(length):
    """ASTM D1388: B = sigma g c^3; 0.15 kg/m^2 and 1.87 cm are 9.6 uN m."""
    assert bending_length(0.15, bending_stiffness(0.15, length)) == pytest.approx(length, rel=1e-12)
    assert bending_stiffness(0.15, 0.0187) == pytest.approx(9.62e-6, rel=1e-3)


@cases("value", [0.0, -1.0, np.nan, "2 cm"])
def test_wrong_lengths_are_refused_by_name(value):
    with pytest.raises(core.MaterialError, match="bending_length is .* above 0"):
        bending_stiffness(0.15, value)
    with pytest.raises(core.MaterialError, match="areal_density is"):
        bending_length(value, 1e-5)


# ---------------------------------------------------------------------- the command


def test_the_command_prints_draws_and_reports_a_fabric(tmp_path, capsys):
    picture, report = tmp_path / "cotton.svg", tmp_path / "drape.json"
    assert command.main(["--fabric", "cotton", "--rings", "4", "--picture", str(picture), "--json", str(report)]) == 0
    row = json.loads(report.read_text())["drape"][0]
    assert f"cotton: drape coefficient {100 * row['coefficient']:.1f} %" in capsys.readouterr().out
    assert row["fabric"] == "cotton" and 0.3 < row["coefficient"] < 0.9 and row["at_rest"]
    assert picture.read_text().count("<polygon") > 300


def test_the_command_gives_a_fabric_a_measured_bending_length(tmp_path):
    report = tmp_path / "drape.json"
    assert command.main(["--fabric", "silk", "--rings", "4", "--bending-length", "2", "--json", str(report)]) == 0
    row = json.loads(report.read_text())["drape"][0]
    assert row["bending_length"] == pytest.approx([0.02, 0.02]) and row["bend"][0] == bending_stiffness(0.083, 0.02)


@cases(("arguments", "message"), [
    (["--fabric", "plywood"], "plywood"), (["--fabric", "silk", "--diameter", "10"], "plate must be the smaller"),
    (["--fabric", "silk", "--coefficient", "3"], "outside of the curve"),
    (["--fabric", "silk", "--coefficient", "50", "--bending-length", "2"], "give one of them")])
def test_the_command_says_what_is_wrong(arguments, message, capsys):
    assert command.main(arguments) == 1
    assert message in capsys.readouterr().err
    assert command.main(["--fabric"]) == 2


@cases("option", ["--picture", "--json"])
def test_an_empty_path_is_refused_before_any_work(option, capsys):
    assert command.main(["--fabric", "cotton", option, ""]) == 2
    found = capsys.readouterr()
    assert f"{option}: the path is empty; name a file" in found.err and not found.out


def test_the_picture_escapes_its_title():
    assert "&lt;silk&gt;" in svg(drape(core.Material.preset("silk"), DrapeMeter(rings=2)), "<silk>")


# ---------------------------------------------------------------------- from a drape coefficient


@cases("diameter", [0.24, 0.30, 0.36])
def test_stiffness_of_a_coefficient_is_the_inverse_of_the_curve(diameter):
    meter = DrapeMeter(diameter=diameter)
    lengths, curve = CURVES[diameter]
    assert (np.diff(lengths) > 0.0).all() and (np.diff(curve) > 0.0).all() and len(curve) >= 6
    for measured in np.linspace(curve[0] + 1e-6, curve[-1] - 1e-6, 9):
        bend = stiffness_of_coefficient(0.2, measured, meter)
        assert coefficient(0.2, bend, meter) == pytest.approx(measured, abs=1e-6)
    for outside in (curve[0] - 0.01, curve[-1] + 0.005, np.nan, "60 %"):
        with pytest.raises(core.MaterialError, match="outside of the curve"):
            stiffness_of_coefficient(0.2, outside, meter)
    with pytest.raises(core.MaterialError, match="simulate"):
        coefficient(0.2, 1.0, meter)
    with pytest.raises(core.MaterialError, match="24, 30 and 36"):
        coefficient(0.2, 1e-5, DrapeMeter(diameter=0.31))


@slow_without_numba
def test_a_fabric_with_the_stiffness_of_a_coefficient_drapes_with_it():
    """Of another weight than those of the curve."""
    measured = 0.6
    fabric = replace(isotropic(stiffness_of_coefficient(0.3, measured), 0.3), stretch=(1e4, 1e4), shear=544.0)
    assert drape(fabric, DrapeMeter(rings=10)).coefficient == pytest.approx(measured, abs=0.04)
