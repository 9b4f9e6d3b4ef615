# SPDX-License-Identifier: GPL-3.0-or-later
"""A heavy strip clamped at one end, and a loop with both ends clamped together: bending against weight.

The cantilever of Romero et al. 2021: drop over reach as a function of gamma = sigma g L^3 / B. With two pinned rows the
clamp is half a cell inside the fixed hinge, so a strip of free length L is compared with the elastica of L + d/2 (the
half-cell rule).
"""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, reference, settle, sheet

TABLE = reference("cantilever_elastica")
TOLERANCE = {10: 0.05, 20: 0.03, 40: 0.015, 80: 0.01}


def elastica(gamma, clamp=0.0, steps=400):
    """Return reach and drop over L of the heavy elastica theta'' = -gamma (1 - s) cos theta, theta(0) = clamp,
    theta'(1) = 0.

    If there are several solutions it is the one with the lowest tip.
    """
    def shoot(curvature):
        y = np.stack([clamp + 0 * curvature, curvature, 0 * curvature, 0 * curvature])   # theta, theta', x, drop
        ds = 1.0 / steps

        def rate(s, y):
            return np.stack([y[1], -gamma * (1.0 - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])
        for i in range(steps):
            s = i * ds
            a = rate(s, y)
            b = rate(s + 0.5 * ds, y + 0.5 * ds * a)
            c = rate(s + 0.5 * ds, y + 0.5 * ds * b)
            y = y + ds / 6.0 * (a + 2.0 * b + 2.0 * c + rate(s + ds, y + ds * c))
        return y
    at = np.linspace(0.0, 0.6 * gamma if gamma < 10.0 else 2.0 * np.sqrt(gamma), 400)
    tip = shoot(at)[1]
    low = at[np.flatnonzero((tip[:-1] < 0.0) & (tip[1:] >= 0.0))]
    width = at[1] - at[0]
    for _ in range(4):
        parts = low[:, None] + width * np.linspace(0.0, 1.0, 401)
        before = (shoot(parts.ravel())[1].reshape(parts.shape) < 0.0).sum(axis=1) - 1
        low, width = parts[np.arange(len(low)), before], width / 400
    found = shoot(low)
    return found[2:, np.argmax(found[3])]


def clamped_strip(length, cells, sigma, B, clamp=0.0, diagonals="right"):
    """Return reach and drop of the tip [m] from the middle of the clamped cell, and the effective length [m]."""
    d = length / cells
    mesh = sheet((cells + 1, 2), (length + d, 2 * d), diagonals, (-d, 0.0, 0.0))
    c, s = np.cos(np.radians(clamp)), np.sin(np.radians(clamp))
    turned = mesh.positions @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    k = 3e3 * sigma * GRAVITY * length
    fabric = core.Material(areal_density=sigma, stretch=k, shear=0.2 * k, bend=B)
    cloth = core.Cloth(core.ClothMesh(turned, mesh.triangles), fabric, pins=dict.fromkeys(range(6)))
    x = settle(core.Scene([cloth]), 2.0, 6).positions[0]
    tip = x.reshape(cells + 2, 3, 3)[-1].mean(axis=0)
    start = turned.reshape(cells + 2, 3, 3)[:2, 1].mean(axis=0)                   # the middle of the clamped cell
    return tip[0] - start[0], start[2] - tip[2], length + 0.5 * d


@cases("gamma", [0.5, 3, 8, 25])
def test_the_elastica_of_these_tests_is_the_master_curve(gamma):
    row = next(r for r in TABLE["master_curve"] if r["gamma"] == gamma)
    assert elastica(gamma) == pytest.approx([row["W"], row["H"]], rel=1e-6)


CASES = [(gamma, cells) for gamma in (0.3, 3.0, 30.0) for cells in (10, 20)] + [(8.0, 40), (1.0, 10)]


@pytest.mark.parametrize(("gamma", "cells"), CASES)
@pytest.mark.parametrize("diagonals", ["right", "alternating"])
def test_a_cantilever_droops_as_the_heavy_elastica_by_the_half_cell_rule(gamma, cells, diagonals):
    length, sigma = 0.1, 0.2
    B = sigma * GRAVITY * length ** 3 / gamma
    reach, drop, counts = clamped_strip(length, cells, sigma, B, diagonals=diagonals)
    W, H = elastica(sigma * GRAVITY * counts ** 3 / B)
    assert drop / reach == pytest.approx(H / W, rel=TOLERANCE[cells])


@cases("row", TABLE["tests"], ids=lambda r: r["name"])
def test_named_strips_droop_as_their_elastica(row):
    clamp = row.get("clamp_angle_deg", 0.0)
    sigma, B = row["areal_density"], row["bending_stiffness"]
    reach, drop, counts = clamped_strip(row["length"], 20, sigma, B, clamp)
    W, H = elastica(sigma * GRAVITY * counts ** 3 / B, np.radians(clamp))
    assert drop / reach == pytest.approx(H / W, rel=TOLERANCE[20])
    W, H = elastica(row["gamma"], np.radians(clamp))
    assert (W * row["length"], H * row["length"]) == pytest.approx(
        (row["expected"]["tip_x"], row["expected"]["tip_drop"]), rel=1e-4)


@pytest.mark.slow
@cases("diagonals", ["right", "alternating"])
def test_the_finest_cantilever_droops_within_a_percent(diagonals):
    length, sigma, gamma = 0.1, 0.2, 10.0
    B = sigma * GRAVITY * length ** 3 / gamma
    reach, drop, counts = clamped_strip(length, 80, sigma, B, diagonals=diagonals)
    W, H = elastica(sigma * GRAVITY * counts ** 3 / B)
    assert drop / reach == pytest.approx(H / W, rel=TOLERANCE[80])


# ---------------------------------------------------------------------- the hanging heart loop, ASTM D1388 B

HEARTS = [row for row in reference("heart_loop")["rows"] if row["G"] in (5.0, 20.0, 100.0)]


def heart(row):
    """Return length, top and half width over L of a loop whose ends point up from the clamp.

    By the half-cell rule the ends start in the middle of the clamped cells.
    """
    cells, length, sigma = 40, 0.2, 0.2
    B = sigma * GRAVITY * length ** 3 / row["G"]
    d = length / cells
    mesh = sheet((cells + 1, 1), (length + d, d))
    s = mesh.positions[:, 0] - 0.5 * d                                            # from the clamp's point, both ways
    u = np.clip(s / length, 0.0, 1.0)
    # up from the clamp, over two shoulders and down round the bottom
    width, top, bottom = 0.16 * length, 0.085 * length, row["loop_length"] * length
    x = width * np.sin(2.0 * np.pi * u) * np.sqrt(np.sin(np.pi * u))
    z = top * np.abs(np.sin(2.0 * np.pi * u)) ** 0.5 * (np.abs(u - 0.5) > 0.25) - bottom * np.sin(np.pi * u) ** 4
    start = np.stack([x, mesh.positions[:, 1], z], axis=1)
    held = np.array([0, 1, 2, 3, 2 * cells - 0, 2 * cells + 1, 2 * cells + 2, 2 * cells + 3])
    start[held, 0] = 1e-6 * length * np.sign(0.5 - u[held])
    start[held, 2] = np.where(s[held] < 0.5 * length, s[held], length - s[held])
    k = 3e3 * sigma * GRAVITY * length
    fabric = core.Material(areal_density=sigma, stretch=k, shear=0.2 * k, bend=B)
    cloth = core.Cloth(mesh, fabric, pins=dict.fromkeys(held.tolist()), positions=start)
    x = settle(core.Scene([cloth]), 2.0, 8).positions[0]
    return -x[:, 2].min() / length, x[:, 2].max() / length, 0.5 * np.ptp(x[:, 0]) / length


@cases("row", HEARTS, ids=lambda r: f"gamma={r['G']}")
def test_a_heart_loop_has_the_reference_shape(row):
    long, top, half_width = heart(row)
    assert long == pytest.approx(row["loop_length"], rel=0.02)
    assert top == pytest.approx(row["top"], rel=0.03)
    assert half_width == pytest.approx(row["max_half_width"], rel=0.03)
