# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and threads that together are the fabric, on every mesh: homogeneous strains have energies in closed form."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.model.cloth_forces import built_model
from core.stencils.models.thread_cloth import LEAST_SPRING_SHARE, MATCHED_SKEW, area_modulus, spring_moduli
from core.stencils.springs.buckling_arc import BucklingArc, _inverse, _slope, arc_parameters
from core.stencils.springs.sheet_springs import sheet_springs
from tests.cases import cases
from tests.core.physics.scenes import elastic_energy
from tests.core.shapes import grid, quads

FABRIC = core.Material(areal_density=0.2, stretch=(800.0, 500.0), shear=60.0)
SIZE = (1.0, 0.8)


def sheet(n, kind, fabric=FABRIC, **options):
    x, triangles = grid(n, n, SIZE)
    mesh = core.ClothMesh(x, triangles) if kind == "triangles" else core.ClothMesh(x, faces=quads(n, n))
    return core.Cloth(mesh, fabric, **options)


def energy(cloth, deform):
    """Return the energy per area [J/m^2] of a homogeneous deformation (3, 2)."""
    return elastic_energy(cloth, cloth.positions[:, :2] @ np.asarray(deform).T) / (SIZE[0] * SIZE[1])


def moduli(cloth, strain=1e-4):
    """Return C_uu, C_vv, C_uv, C_ss [N/m] of small strains."""
    def plane(uu, vv, skew):
        return energy(cloth, [(1.0 + uu, 0.5 * skew), (0.5 * skew, 1.0 + vv), (0.0, 0.0)]) * 2.0 / strain ** 2
    e = strain
    uu, vv = plane(e, 0, 0), plane(0, e, 0)
    return uu, vv, 0.5 * (plane(e, e, 0) - uu - vv), plane(0, 0, e)


@cases("n", [3, 8])
@cases("kind", ["quads", "triangles"])
def test_a_mass_spring_sheet_has_the_fabrics_stretch_and_shear_on_every_mesh(kind, n):
    uu, vv, uv, ss = moduli(sheet(n, kind, model="mass_spring"))
    assert uu - uv ** 2 / vv == pytest.approx(800.0, rel=0.01)
    assert vv - uv ** 2 / uu == pytest.approx(500.0, rel=0.01)
    assert ss == pytest.approx(60.0, rel=0.01)
    assert uv == pytest.approx(60.0, rel=0.01)


def test_equilateral_triangles_have_the_stretch_and_the_largest_shear_of_springs():
    n, d = 12, 0.05
    x = np.array([(d * (i + 0.5 * (j % 2)), d * np.sqrt(0.75) * j, 0.0) for j in range(n) for i in range(n)])
    tri = [t for j in range(n - 1) for i in range(n - 1) for a, b, c, e in [(j * n + i, j * n + i + 1, j * n + n + i,
           j * n + n + i + 1)] for t in (((a, b, c), (b, e, c)) if j % 2 == 0 else ((a, b, e), (a, e, c)))]
    cloth = core.Cloth(core.ClothMesh(x, tri), core.Material(areal_density=0.2, stretch=600.0, shear=60.0),
                       model="mass_spring")
    area = cloth.mesh.areas.sum()
    e = 1e-4
    pulled = 2.0 / e ** 2 * elastic_energy(cloth, x * (1.0 + e, 1.0, 1.0)) / area
    across = 2.0 / e ** 2 * elastic_energy(cloth, x * (1.0, 1.0 + e, 1.0)) / area
    both = 0.5 * (2.0 / e ** 2 * elastic_energy(cloth, x * (1.0 + e, 1.0 + e, 1.0)) / area - pulled - across)
    assert pulled - both ** 2 / across == pytest.approx(600.0, rel=0.1)
    assert across - both ** 2 / pulled == pytest.approx(600.0, rel=0.1)


# ---------------------------------------------------------------------- threads


@cases("n", [2, 7])
def test_a_strip_of_thread_cloth_pulled_along_its_threads_has_the_fabrics_stretch(n):
    uu, vv, uv, _ = moduli(sheet(n, "quads", model="thread_cloth"))
    assert uu - uv ** 2 / vv == pytest.approx(800.0, rel=1e-3)
    assert vv - uv ** 2 / uu == pytest.approx(500.0, rel=1e-3)


@cases("n", [2, 7])
def test_a_skew_has_the_energy_of_its_area_and_at_thirty_degrees_that_of_shear(n):
    soft = core.Material(areal_density=0.2, stretch=(800.0, 500.0), shear=30.0)
    cloth = sheet(n, "quads", soft, model="thread_cloth")
    angle = np.arcsin(MATCHED_SKEW)
    skewed = [(1.0, np.sin(angle)), (0.0, np.cos(angle)), (0.0, 0.0)]                # the threads keep their length
    assert energy(cloth, skewed) == pytest.approx(0.5 * 30.0 * MATCHED_SKEW ** 2, rel=1e-9)


@cases("name", core.Material.presets())
def test_threads_have_springs_for_every_shear_of_the_fabric(name):
    """Without springs, tension along a thread makes the crossing threads buckle, and no force limits it."""
    fabric = core.Material.preset(name)
    for turned in (fabric, replace(fabric, stretch=fabric.stretch[::-1])):
        assert min(spring_moduli(turned, area_modulus(turned))) >= 0.999 * LEAST_SPRING_SHARE * min(fabric.stretch)


def test_springs_and_the_area_force_together_have_the_fabrics_stretch():
    k_u, k_v = spring_moduli(FABRIC, 0.0)
    assert (k_u, k_v) == pytest.approx((800.0, 500.0))
    k_u, k_v = spring_moduli(FABRIC, 100.0)
    assert k_u + 2 * 100.0 - (2 * 100.0) ** 2 / (k_v + 2 * 100.0) == pytest.approx(800.0)


@cases("askew", [0.0, 0.5])
def test_the_area_force_and_its_matrix_are_derivatives_of_the_energy(askew):
    cloth = sheet(3, "quads", model="thread_cloth")
    rng = np.random.default_rng(1)
    x = cloth.positions @ np.array([(1.0, 0.0, 0.0), (askew, 1.0, 0.0), (0.0, 0.0, 1.0)])
    mesh = core.ClothMesh(x + rng.normal(scale=0.01, size=x.shape) * (1.0, 1.0, 0.0), faces=quads(3, 3))
    cloth = core.Cloth(mesh, FABRIC, model="thread_cloth")
    (area,) = [f for f in built_model(cloth).forces if f.law.name == "area preserving"]
    still, n, step = np.zeros_like(x), x.size, 1e-6
    assert np.abs(area.force(mesh.positions, still)).max() < 1e-10             # the modelled shape is at rest
    x = mesh.positions + rng.normal(scale=0.03, size=x.shape)
    F = area.stencil.gather(x)
    K, blocks = np.zeros((n, n)), area.stencil.blocks(area.law.tangent(F, area.parameters))
    for element, vertices in enumerate(area.stencil.vertices):
        for i, a in enumerate(vertices):
            for j, b in enumerate(vertices):
                K[3 * a:3 * a + 3, 3 * b:3 * b + 3] += blocks[element, i, j]
    for k in range(n):
        d = np.zeros(n)
        d[k] = step
        ahead, back = x + d.reshape(x.shape), x - d.reshape(x.shape)
        slope = (area.energy(ahead) - area.energy(back)) / (2.0 * step)
        assert -area.force(x, still).ravel()[k] == pytest.approx(slope, abs=1e-6)
        change = (area.force(ahead, still) - area.force(back, still)).ravel() / (2.0 * step)
        np.testing.assert_allclose(-K[:, k], change, atol=1e-6 * np.abs(K).max())


@cases("n", [4, 9])
def test_inextensible_bending_has_no_area_energy(n):
    cloth = sheet(n, "quads", core.Material(areal_density=0.2, stretch=800.0, shear=60.0), model="thread_cloth")
    folds = np.cumsum(np.r_[0.0, np.tile([0.9, -0.4], n)])[:n] - 0.2                # slope angles of the rows of cells
    d = SIZE[0] / n
    x, z = (np.r_[0.0, np.cumsum(d * f(folds))] for f in (np.cos, np.sin))
    row = np.rint(cloth.positions[:, 0] / d).astype(int)
    assert elastic_energy(cloth, np.stack([x[row], cloth.positions[:, 1], z[row]], axis=1)) < 1e-12


# ---------------------------------------------------------------------- evenly curved


def curved(cloth, radius):
    """Return the sheet bent onto a cylinder around y, with its lengths kept."""
    s, y, _ = cloth.positions.T
    return np.stack([radius * np.sin(s / radius), y, radius * (1.0 - np.cos(s / radius))], axis=1)


@cases("n", [20, 40])
def test_an_evenly_curved_sheet_has_the_bending_energy_of_the_fabric(n):
    """The energy per area is B kappa^2 / 2 for the area that bends: the outermost row has no fold."""
    bend = core.Material(areal_density=0.2, stretch=1e-6, shear=0.0, bend=(3e-4, 1e-4))
    radius, d = 0.5, SIZE[0] / n
    wanted = 0.5 * 3e-4 / radius ** 2 * (SIZE[0] - d) * SIZE[1]
    for model in ("thread_cloth", "immediate_buckling"):
        cloth = sheet(n, "quads", bend, model=model, **({} if model == "thread_cloth" else {"hold": 1e15}))
        if model == "immediate_buckling":
            # links that have buckled have the energy of arcs plus a constant
            (force,) = [f for f in built_model(cloth).forces if isinstance(f.law, BucklingArc)]
            a, rest, _, gives, offset = force.parameters
            F = force.stencil.gather(curved(cloth, radius))
            y = 1.0 - np.sqrt(F[0][0] ** 2 + F[0][1] ** 2 + F[0][2] ** 2) / rest
            found = float(np.sum((force.law.energy(F, force.parameters) - offset)[y > gives]))
        else:
            found = elastic_energy(cloth, curved(cloth, radius))
        assert found == pytest.approx(wanted, rel=0.01), model


# ---------------------------------------------------------------------- arcs


def arc(length, k_b=2e-5, rest=0.1, hold=1e3):
    d = (np.atleast_1d(length), 0.0 * np.atleast_1d(length), 0.0 * np.atleast_1d(length))
    return (d,), arc_parameters(*(np.full(len(d[0]), v) for v in (k_b, rest, hold)))


def test_a_buckled_link_stores_the_energy_of_a_circular_arc():
    k_b, rest = 2e-5, 0.1
    s = np.linspace(0.3, np.pi - 1e-9, 200)                                          # half the arc's angle
    F, p = arc(rest * np.sin(s) / s, k_b, rest)
    kappa = 2.0 * s / rest
    np.testing.assert_allclose(BucklingArc().energy(F, p) - p[4], 0.5 * k_b * rest * kappa ** 2, rtol=1e-12)


def test_the_inverse_of_sinc_is_exact_over_its_whole_range():
    s = np.concatenate([10.0 ** np.linspace(-6, 0, 60), np.linspace(1.0, np.pi, 200)])
    y = np.where(s < 0.5, s ** 2 / 6 - s ** 4 / 120 + s ** 6 / 5040 - s ** 8 / 362880 + s ** 10 / 39916800,
                 1.0 - np.sin(s) / s)
    np.testing.assert_allclose(_inverse(y), s ** 2, rtol=1e-12)
    assert _inverse(np.array([0.0, 1.0])) == pytest.approx([0.0, np.pi ** 2], rel=1e-14)
    assert _slope(np.array([0.0])) == pytest.approx(6.0)


def test_the_force_is_linear_up_to_the_buckling_load_and_then_that_of_the_arc():
    k_b, rest, hold = 2e-5, 0.1, 1e3
    F, p = arc(np.array([0.0999999999, 1e-9, 0.11, 0.0999999]), k_b, rest, hold)
    first, last, longer, held = np.array(BucklingArc().stress(F, p))[0, 0]
    assert longer == 0.0
    assert held == pytest.approx(hold * (0.0999999 - rest))
    assert last == pytest.approx(-4.0 * np.pi ** 2 * k_b / rest ** 2, rel=1e-6)
    gives = rest * (1.0 - p[3][0])
    F, p = arc(gives * (1.0 - 1e-9), k_b, rest, hold)
    assert np.array(BucklingArc().stress(F, p))[0, 0, 0] == pytest.approx(-12.0 * k_b / rest ** 2, rel=1e-2)


def test_the_hold_stiffness_is_raised_to_that_of_the_buckled_arc():
    p = arc_parameters(np.array([2e-5]), np.array([0.1]), np.array([1e-9]))
    assert p[2][0] == pytest.approx(12.0 * 4.0 * 2e-5 / 0.1 ** 3)


def test_the_projected_tangent_of_an_arc_has_no_transverse_part():
    F, p = arc(0.08)
    law = BucklingArc()
    exact, reduced = (np.array(H)[0, 0, :, :, 0] for H in (law.tangent(F, p), law.projected_tangent(F, p)))
    assert exact[1, 1] < 0.0 and exact[0, 0] > 0.0
    np.testing.assert_allclose(reduced, np.diag([exact[0, 0], 0.0, 0.0]))


def test_no_edge_of_an_irregular_mesh_is_without_a_spring():
    """An unconstrained fit gives no stiffness to the longest sides of obtuse triangles, and leaves vertices on two
    springs or fewer.
    """
    spatial = pytest.importorskip("scipy.spatial")
    rng, side = np.random.default_rng(5), np.linspace(0.0, 1.0, 8)
    rim = np.concatenate([[(a, 0.0), (a, 1.0)] for a in side] + [[(0.0, a), (1.0, a)] for a in side[1:-1]])
    points = np.concatenate([rim, rng.uniform(0.04, 0.96, (80, 2))])
    triangles = spatial.Delaunay(points).simplices
    mesh = core.ClothMesh(np.column_stack([points, 0.0 * points[:, 0]]), triangles)
    links, none = sheet_springs(mesh, FABRIC)
    alone = np.zeros(len(links.pairs))                               # area of the triangles at each edge
    key = links.pairs[:, 0] * len(points) + links.pairs[:, 1]
    for corner in range(3):
        ends = np.sort(mesh.triangles[:, [corner, (corner + 1) % 3]], axis=1)
        np.add.at(alone, np.searchsorted(key, ends[:, 0] * len(points) + ends[:, 1]), mesh.areas)
    assert len(none.pairs) == 0
    assert (links.stiffness * links.rest ** 2 >= 0.999 * FABRIC.shear * alone).all()


@cases("name", core.Material.presets())
@cases("aspect", [1.0, 0.15, 0.05])
def test_bend_springs_do_not_stiffen_the_plane_of_long_thin_triangles(name, aspect):
    x, triangles = grid(7, 5, (0.3, 0.3 * 5 / 7 * aspect))

    def stored(**bend):
        cloth = core.Cloth(core.ClothMesh(x, triangles), core.Material.preset(name, **bend), "mass_spring")
        return np.array([elastic_energy(cloth, x * stretched) for stretched in ((1.001, 1, 1), (1, 1.001, 1))])

    assert (stored() <= 1.5 * stored(bend=0.0)).all()
