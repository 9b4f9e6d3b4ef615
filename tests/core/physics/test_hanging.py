# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets and ropes at rest under their own weight: elongation, sag and tension."""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, elastic_force, reference, rope, rope_fabric, settle, sheet

CATENARY = reference("catenary")
BRIDGE = reference("bridge_strip")


# ---------------------------------------------------------------------- hanging strip: sigma g L^2 / 2k

STRIPS = [(r["sigma"], r["length"], r["k"]) for r in CATENARY["hanging_strip"]] + [(0.1, 0.3, 50.0), (0.5, 1.0, 5e3)]


def hanging_strip(sigma, length, k, cells, diagonals):
    """Return the elongation [m], and the strain of the first cell [-], of a strip that hangs from its top edge."""
    mesh = sheet((cells, 2), (length, 2.0 * length / cells), diagonals)
    fabric = core.Material(areal_density=sigma, stretch=k, shear=k)
    cloth = core.Cloth(mesh, fabric, pins={0: None, 1: None, 2: None})
    last = settle(core.Scene([cloth], gravity=(GRAVITY, 0, 0)), 1.0, 4, tolerance=1e-7)
    x = last.positions[0].reshape(cells + 1, 3, 3)[:, :, 0].mean(axis=1)
    return x[-1] - length, (x[1] - x[0]) * cells / length - 1.0


@cases(("sigma", "length", "k"), STRIPS)
@cases("cells", [8, 20])
@cases("diagonals", ["right", "alternating"])
def test_a_hanging_strip_grows_by_its_weight_over_its_stiffness_on_every_mesh(sigma, length, k, cells, diagonals):
    grown, top = hanging_strip(sigma, length, k, cells, diagonals)
    assert grown == pytest.approx(sigma * GRAVITY * length ** 2 / (2.0 * k), rel=1e-3)
    assert top == pytest.approx(sigma * GRAVITY * length * (1.0 - 0.5 / cells) / k, rel=0.01)


# ---------------------------------------------------------------------- rope between two supports

def hung_rope(span, length, weight_per_length, EA, links):
    """Return the sag [m], the horizontal tension [N] and the tension at the support [N] of a rope at rest."""
    s = np.linspace(0.0, 1.0, links + 1)
    mesh = rope(np.stack([s * length, 0 * s, 0 * s], axis=1))
    depth = 0.45 * np.sqrt(max(length ** 2 - span ** 2, (0.1 * length) ** 2))
    start = np.stack([s * span, 0 * s, -depth * np.sin(np.pi * s)], axis=1)
    cloth = core.Cloth(mesh, rope_fabric(weight_per_length / GRAVITY, EA), pins={0: None, links: None}, positions=start)
    # in steps of 2 s it folds in its own plane before it rests, and self-collision would stop it
    x = settle(core.Scene([cloth]), 2.0, 8, self_collision=False).positions[0]
    pull = elastic_force(cloth, x)[0] + [0.0, 0.0, -0.5 * weight_per_length * length / links]
    return -x[:, 2].min(), abs(pull[0]), np.linalg.norm(pull)


@cases("links", [8, 16, 32])
@cases("row", CATENARY["rows"], ids=lambda r: f"{r['length']} m over {r['span']} m")
def test_an_inextensible_rope_hangs_as_the_same_number_of_rigid_links(row, links):
    weight = row["weight_per_length"]
    wanted = row["discrete_links"][str(links)]
    sag, horizontal, _ = hung_rope(row["span"], row["length"], weight, 2e4 * weight * row["length"], links)
    assert sag == pytest.approx(wanted["sag"], rel=0.001)
    assert horizontal == pytest.approx(wanted["H_over_total_weight"] * weight * row["length"], rel=0.01)


@cases("row", CATENARY["rows"], ids=lambda r: f"{r['length']} m over {r['span']} m")
def test_an_elastic_rope_hangs_as_the_elastic_catenary(row):
    sag, horizontal, end = hung_rope(row["span"], row["length"], row["weight_per_length"], row["EA"], 32)
    wanted = row["elastic"]
    assert sag == pytest.approx(wanted["sag"], rel=0.005)
    assert horizontal == pytest.approx(wanted["horizontal_tension"], rel=0.01)
    assert end == pytest.approx(wanted["end_tension"], rel=0.01)


@cases(("span", "length", "weight", "EA"), [(1.0, 1.02, 1.0, 30.0), (2.0, 3.0, 0.1, 50.0)])
def test_other_ropes_obey_irvines_elastic_catenary(span, length, weight, EA):
    """Irvine 1981: span = 2 H/w asinh(w L / 2H) + H L / EA, sag = H/w (sqrt(1 + (wL/2H)^2) - 1) + w L^2 / 8 EA."""
    def missing(H):
        return 2.0 * H / weight * np.arcsinh(weight * length / (2.0 * H)) + H * length / EA - span
    low, high = 1e-6 * weight * length, 1e3 * weight * length
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if missing(middle) < 0.0 else (low, middle)
    H = low
    half = weight * length / (2.0 * H)
    sag, horizontal, end = hung_rope(span, length, weight, EA, 32)
    assert horizontal == pytest.approx(H, rel=0.01)
    assert end == pytest.approx(H * np.sqrt(1.0 + half ** 2), rel=0.01)
    depth = H / weight * (np.sqrt(1.0 + half ** 2) - 1.0) + weight * length ** 2 / (8.0 * EA)
    assert sag == pytest.approx(depth, rel=0.005)


# ---------------------------------------------------------------------- sheet between two edges

def bridge(row, cells, half_cell=0.0):
    """Return the sag [m], the horizontal force per width [N/m] and the strain in the middle [-] of a strip held at its
    ends.

    A clamped end has one more row of pins outside the span; its cell extends `half_cell` cells into the strip.
    """
    clamped, length, span = row["clamped"], row["length"], row["span"]
    d = length / cells
    outside = (1.0 - half_cell) * d if clamped else 0.0
    total = round((length + 2.0 * outside) / d)
    mesh = sheet((total, 2), (total * d, 2.0 * d))
    at = np.linspace(0.0, 1.0, total + 1)
    start = mesh.positions.reshape(total + 1, 3, 3).copy()
    start[:, :, 0] = (-outside + at * (span + 2.0 * outside))[:, None]
    start[:, :, 2] = (-0.9 * row["expected"]["sag"] * np.sin(np.pi * at) ** (2 if clamped else 1))[:, None]
    held = np.array([0, 1, total - 1, total] if clamped else [0, total])
    if clamped:
        start[held, :, 0] = np.array([-outside, d - outside, span + outside - d, span + outside])[:, None]
        start[held, :, 2] = 0.0
    fabric = core.Material(areal_density=row["sigma"], stretch=row["k"], shear=0.1 * row["k"], bend=row["B"])
    pins = {int(3 * i + j): None for i in held for j in range(3)}
    cloth = core.Cloth(mesh, fabric, pins=pins, positions=start.reshape(-1, 3))
    x = settle(core.Scene([cloth]), 1.0, 6).positions[0]
    left = np.array([v for v in pins if v < 3 * total / 2])
    pull = elastic_force(cloth, x)[left, 0].sum() / (2.0 * d)
    middle = x.reshape(total + 1, 3, 3)[:, 1]
    strain = np.linalg.norm(middle[total // 2 + 1] - middle[total // 2]) / d - 1.0
    return -x[:, 2].min(), pull, strain


CELLS = {10: 0.03, 20: 0.015, 40: 0.01}


@cases("row", BRIDGE["rows"], ids=lambda r: r["name"])
def test_a_sheet_between_two_edges_sags_alike_at_every_resolution(row):
    wanted = row["expected"]
    sags = []
    for cells, tolerance in CELLS.items():
        sag, pull, strain = bridge(row, cells)
        assert sag == pytest.approx(wanted["sag"], rel=tolerance)
        if not row["clamped"]:                              # clamped: see the half-cell rule below
            assert pull == pytest.approx(wanted["horizontal_force_per_width"], rel=0.01)
            assert strain == pytest.approx(wanted["mid_strain"], rel=0.05)
        sags.append(sag)
    assert np.ptp(sags) <= 0.015 * np.mean(sags)


@pytest.mark.slow
@cases("row", BRIDGE["rows"], ids=lambda r: r["name"])
def test_the_finest_sheet_between_two_edges_sags_the_same(row):
    assert bridge(row, 80)[0] == pytest.approx(row["expected"]["sag"], rel=0.01)


def test_a_clamped_sheet_converges_with_the_square_of_the_cell_by_the_half_cell_rule():
    """The boundary layer sqrt(B / H) = 31 mm is shorter than a cell of 50 mm: an exact chain of links has errors of
    -5.4, -1.6 and -0.44 % at 10, 20 and 40 cells. The order of convergence shows that the clamp is where the half-cell
    rule puts it.
    """
    row = BRIDGE["rows"][2]
    wanted, errors = row["expected"], []
    for cells in (10, 20, 40):
        sag, pull, strain = bridge(row, cells, 0.5)
        errors.append(abs(sag / wanted["sag"] - 1.0))
        if cells > 10:
            assert pull == pytest.approx(wanted["horizontal_force_per_width"], rel=0.02)
            assert strain == pytest.approx(wanted["mid_strain"], rel=0.05)
    assert errors[0] / errors[1] > 3.0
    assert errors[1] / errors[2] > 3.5
    assert errors[2] < 0.01
