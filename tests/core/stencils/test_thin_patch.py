# SPDX-License-Identifier: GPL-3.0-or-later
"""The law of rest curvature on triangles with little or no area, as in creases."""

import numpy as np

from core.stencils.bending.rest_curvature import LEAST_NORMAL_AREA
from tests.cases import cases
from tests.core.stencils.laws import CurvedPatch

K, REST = 1e-5, (0.2, -0.1, 0.15)


def columns(area, count=6, seed=0):
    """Return F_1, F_2, F_3, w_u, w_v of `count` triangles with `area` over the area at rest."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(5, 3, count))
    u = F[3] / np.linalg.norm(F[3], axis=0)
    across = np.cross(u, F[4], axis=0)
    across = np.cross(across / np.linalg.norm(across, axis=0), u, axis=0)
    F[3], F[4] = u, 0.4 * u + area * across
    return F


def law(F):
    parameters = tuple(np.full(F.shape[2], value) for value in (K, *REST))
    return tuple(tuple(c) for c in F), parameters


@cases("area", [1.0, 1.1 * LEAST_NORMAL_AREA, 0.9 * LEAST_NORMAL_AREA, 0.1 * LEAST_NORMAL_AREA])
def test_stress_is_the_derivative_of_energy(area):
    F, step = columns(area), 1e-6 * min(10.0 * area, 1.0)
    stress = np.array(CurvedPatch().stress(*law(F)))
    for column in range(5):
        for axis in range(3):
            change = np.zeros_like(F)
            change[column, axis] = step
            slope = (CurvedPatch().energy(*law(F + change)) - CurvedPatch().energy(*law(F - change))) / (2.0 * step)
            np.testing.assert_allclose(stress[column, axis], slope, rtol=1e-4, atol=1e-3 * K)


def test_the_tangent_of_a_thin_triangle_is_the_derivative_of_its_stress():
    F, step = columns(0.5 * LEAST_NORMAL_AREA), 1e-7
    tangent = CurvedPatch().tangent(*law(F))
    for column in range(5):
        for axis in range(3):
            change = np.zeros_like(F)
            change[column, axis] = step
            slope = (np.array(CurvedPatch().stress(*law(F + change)))
                     - np.array(CurvedPatch().stress(*law(F - change)))) / (2.0 * step)
            given = np.array([[tangent[c][column][i][axis] + 0.0 * F[0, 0] for i in range(3)] for c in range(5)])
            np.testing.assert_allclose(given, slope, rtol=1e-4, atol=1e-4 * np.abs(slope).max())


@cases("area", [1e-4, 1e-9, 1e-16, 0.0])
def test_forces_and_stiffness_stay_bounded_where_no_area_is_left(area):
    """Without the bound, three vertices on a crease have a stiffness of 1e20 times that of others, and the system has
    no solution.
    """
    F = columns(area)
    pull = np.abs(F).max() + np.abs(REST).max()
    largest = 3.0 * K * (1.0 + pull * np.abs(F).max() / LEAST_NORMAL_AREA) ** 2
    for values in (CurvedPatch().stress(*law(F)), CurvedPatch().projected_tangent(*law(F))):
        values = np.array(values)
        assert np.isfinite(values).all() and np.abs(values).max() < largest
