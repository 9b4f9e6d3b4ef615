# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction on slopes, floors, cylinders and table edges."""

import numpy as np
import pytest

import core
from core.contact.friction_modes import ELASTIC
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, elastic_force, grid, reference, run
from tests.core.shapes import quads

TABLE = reference("friction")
PLANE = np.array([[-9.0, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]]), [[0, 1, 2], [0, 2, 3]]


def tilted(points, degrees, heading=0.0):
    """Return points turned so that the x axis points down a slope of `angle`, and then about the vertical."""
    a, b = np.radians(degrees), np.radians(heading)
    down = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]])
    about = np.array([[np.cos(b), np.sin(b), 0], [-np.sin(b), np.cos(b), 0], [0, 0, 1]])
    return np.asarray(points) @ down @ about


def on_plane(mu, degrees, h, seconds, speed=0.0, heading=0.0, cells=3):
    """Return the mean travel [m] down a plane, and its history, of a sheet on it that starts with `speed` [m/s]."""
    flat, triangles = grid((cells, cells), (0.3, 0.3))
    fabric = core.Material(areal_density=0.2, stretch=2e3, shear=500.0, bend=1e-4, friction=mu)
    mesh = core.ClothMesh(flat, triangles)
    thickness = 0.2 * mesh.mean_edge
    start = tilted(flat + [0.0, 0.0, thickness], degrees, heading)
    down = tilted([1.0, 0.0, 0.0], degrees, heading)
    cloth = core.Cloth(core.ClothMesh(start, triangles), fabric, velocities=np.tile(speed * down, (len(flat), 1)),
                       thickness=thickness)
    plane = core.Collider(tilted(PLANE[0], degrees, heading), PLANE[1], friction=mu)
    solver = core.Solver(frame_rate=1.0 / h, steps_per_frame=1, adaptive=False)
    frames = run(core.Scene([cloth], [plane]), solver, round(seconds / h))
    moved = np.array([frame.positions[0] - start for frame in frames])
    normal = tilted([0.0, 0.0, 1.0], degrees, heading)
    assert np.abs(moved @ normal).max() < 0.05 * thickness                       # it stays in contact with the plane
    return (moved @ down).mean(axis=1)


@pytest.mark.parametrize("h", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
@cases("row", TABLE["slope"], ids=lambda r: f"mu={r['mu']} {r['angle_deg']} deg")
def test_a_sheet_slides_down_a_slope_with_coulombs_acceleration(row, h):
    travel = on_plane(row["mu"], row["angle_deg"], h, row["time"])
    if row["slides"]:
        assert travel[-1] == pytest.approx(row["implicit_euler_distance"][f"h={h:.6g}"], rel=0.02)
    else:
        assert np.abs(travel).max() < 5e-4 * row["time"]


@cases(("mu", "degrees", "heading"), [(0.2, 25.0, 40.0), (0.8, 55.0, 200.0), (0.4, 35.0, 90.0)])
def test_coulombs_acceleration_holds_on_other_slopes(mu, degrees, heading):
    h, n = 1 / 100, 40
    a = GRAVITY * (np.sin(np.radians(degrees)) - mu * np.cos(np.radians(degrees)))
    assert on_plane(mu, degrees, h, n * h, heading=heading)[-1] == pytest.approx(a * h * h * n * (n + 1) / 2, rel=0.02)


@cases("h", [1 / 120, 1 / 480])
def test_friction_is_whole_in_the_step_in_which_contact_begins(h):
    """The slide by which a pair that sticks gives way is that of a pair that has stuck before."""
    mu, degrees, steps = 0.3, 20.0, 12
    a = GRAVITY * (np.sin(np.radians(degrees)) - mu * np.cos(np.radians(degrees)))
    travel = on_plane(mu, degrees, h, steps * h)
    assert np.diff(travel) / h == pytest.approx(a * h * np.arange(1, steps + 1), abs=0.2 * a * h)


@cases("mu", [0.1, 0.3, 0.6, 1.0])
def test_a_sheet_sticks_half_a_degree_below_the_threshold_and_slides_half_a_degree_above(mu):
    threshold = np.degrees(np.arctan(mu))
    h, seconds = 1 / 48, 1.0
    stuck = on_plane(mu, threshold - 0.5, h, seconds, heading=30.0)
    slid = on_plane(mu, threshold + 0.5, h, seconds, heading=30.0)
    assert np.abs(stuck).max() < 5e-4 * seconds
    a = GRAVITY * (np.sin(np.radians(threshold + 0.5)) - mu * np.cos(np.radians(threshold + 0.5)))
    assert slid[-1] > 0.8 * a * seconds ** 2 / 2


def test_a_fine_sheet_slides_as_soon_as_a_coarse_one():
    """Its edges also lie over the diagonal of the plane, where edge contacts must not hold it."""
    mu, h, n = 0.4, 1 / 48, 24
    slope = np.arctan(1.02 * mu)
    a = GRAVITY * (np.sin(slope) - mu * np.cos(slope))
    travel = on_plane(mu, np.degrees(slope), h, n * h, heading=17.0, cells=59)
    assert travel[-1] == pytest.approx(a * h * h * n * (n + 1) / 2, rel=0.03)


def stopping_distance(mu, v0, h):
    """Return the distance [m] of implicit Euler: the sum of h (v0 - n mu g h) while positive; v0^2 / (2 mu g) for small
    steps.
    """
    n = np.arange(1, int(v0 / (mu * GRAVITY * h)) + 1)
    return float(np.sum(h * (v0 - n * mu * GRAVITY * h)))


STOPS = [(r["mu"], r["v0"]) for r in TABLE["stop"]] + [(0.45, 1.5)]


@cases(("mu", "v0"), STOPS)
@pytest.mark.parametrize("h", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
def test_a_sheet_launched_along_the_floor_stops_where_friction_stops_it(mu, v0, h):
    wanted = stopping_distance(mu, v0, h)
    travel = on_plane(mu, 0.0, h, 1.3 * v0 / (mu * GRAVITY), speed=v0)
    assert travel[-1] == pytest.approx(wanted, rel=0.02)
    if v0 * h < 0.01 * v0 ** 2 / (mu * GRAVITY):
        assert travel[-1] == pytest.approx(v0 ** 2 / (2.0 * mu * GRAVITY), rel=0.02)
    give = ELASTIC * 0.2 * 0.1                                   # it stays at rest, but for what friction gives
    assert abs(travel[-1] - travel[-3]) < max(5e-4 * 2 * h, 0.5 * give)


# ---------------------------------------------------------------------- round a cylinder

def cylinder(radius, axis_length, sides, centre=(0.0, 0.0, 0.0)):
    """Return positions and triangles of a closed cylinder along y."""
    a = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(a), 0 * a, radius * np.sin(a)], axis=1)
    half = np.array([0.0, 0.5 * axis_length, 0.0])
    points = np.concatenate([ring - half, ring + half, [-half], [half]]) + centre
    i = np.arange(sides)
    j = (i + 1) % sides
    one, two = np.full(sides, 2 * sides), np.full(sides, 2 * sides + 1)
    quads = [[i, i + sides, j + sides], [i, j + sides, j], [one, i, j], [two, j + sides, i + sides]]
    return points, np.concatenate([np.stack(t, axis=1) for t in quads])


CAPSTANS = [(r["mu"], r["wrap_deg"]) for r in TABLE["capstan"]] + [(0.3, 120.0)]


def pulls(mu, wrap, drawn, frames, k=200.0, strain=0.0, rows=1, tolerance=1e-5,
          **solver):
    """Return the pulls (frames, 2) [N] at the ends of a weightless strip of stiffness k [N/m] around a cylinder.

    The strip starts with `strain`. One end is moved by `drawn(t)` [m], the other is held.
    """
    radius, tail, d = 0.1, 0.06, 0.012
    beta = np.radians(wrap)
    arc = radius * beta
    n = round((arc + 2.0 * tail) / d)
    flat, triangles = grid((n, rows), (arc + 2.0 * tail, rows * d))
    mesh = core.ClothMesh(flat, triangles)
    thickness = 0.002
    around = radius + thickness
    length = (around * beta + 2.0 * tail) * (1.0 + strain)
    s = flat[:, 0] * length / (arc + 2.0 * tail) - 0.5 * length               # from the middle of the arc
    angle = np.clip(s / around, -0.5 * beta, 0.5 * beta)
    beyond = s - angle * around
    start = np.stack([around * np.sin(angle) + beyond * np.cos(angle), flat[:, 1] - 0.5 * rows * d,
                      around * np.cos(angle) - beyond * np.sin(angle)], axis=1)
    held, end = range(rows + 1), range(n * (rows + 1), (n + 1) * (rows + 1))
    along = np.array([np.cos(0.5 * beta), 0.0, -np.sin(0.5 * beta)])
    pins = dict.fromkeys(held) | {v: (lambda t, at=start[v]: at + drawn(t) * along) for v in end}
    fabric = core.Material(areal_density=0.1, stretch=k, shear=0.3 * k, friction=mu, viscous_drag=5.0)
    cloth = core.Cloth(mesh, fabric, pins=pins, positions=start, thickness=thickness)
    drum = core.Collider(*cylinder(radius, (rows + 4) * d, 180), friction=mu)
    solver = core.Solver(frame_rate=24.0, steps_per_frame=2, tolerance=tolerance, **solver)
    result = []
    for frame in run(core.Scene([cloth], [drum], gravity=(0, 0, 0)), solver, frames)[1:]:
        force = elastic_force(cloth, frame.positions[0])
        result.append((-force[end].sum(axis=0) @ along, np.linalg.norm(force[held].sum(axis=0))))
    return np.array(result)


def capstan(mu, wrap):
    """Return the ratio of the pulls at the ends of a strip: one is moved, the other held."""
    drawn, held = pulls(mu, wrap, lambda t: 0.02 * t, 40)[-12:].T
    return np.mean(drawn / held)


@cases(("mu", "wrap"), CAPSTANS)
def test_a_strip_dragged_round_a_cylinder_pulls_exp_mu_beta_times_harder_at_one_end(mu, wrap):
    """The capstan equation of Euler and Eytelwein."""
    assert capstan(mu, wrap) == pytest.approx(np.exp(mu * np.radians(wrap)), rel=0.05)


@cases("k", [1e3, 1e5])
@cases("tolerance", [1e-3, 1e-5])
def test_friction_of_a_taut_strip_reverses_with_its_motion(k, tolerance):
    """Friction reverses with the motion, although the contact force could move a single vertex by hundreds of metres
    per step. Single frames in which the strip goes slack may be off.
    """
    def drawn(t):
        return 0.06 * np.sin(2.0 * t)

    forth_and_back = pulls(0.3, 180.0, drawn, 45, k, 0.1, tolerance=tolerance)[40:]
    ratio = np.median(forth_and_back[:, 0] / forth_and_back[:, 1])
    assert ratio == pytest.approx(np.exp(-0.3 * np.pi), rel=0.05)


def test_a_taut_strip_of_many_rows_does_not_swing_sideways_from_step_to_step():
    """If the drag across the sliding direction is bounded too low, sideways motion grows with every step: the strip
    sticks and slips, and friction is a quarter too small. By constraints as published it is a tenth too small.
    """
    def drawn(t):
        return 0.1 * min(t, 0.5) + 0.02 * max(t - 0.5, 0.0)

    drawn_on = pulls(0.3, 180.0, drawn, 40, 1e5, 0.1, rows=4, tolerance=1e-8)[-12:]
    assert drawn_on[:, 0] / drawn_on[:, 1] == pytest.approx(np.exp(0.3 * np.pi), rel=0.05)


# ---------------------------------------------------------------------- dropped on a slope

@cases(("mu", "degrees"), [(0.3, 15.0), (0.6, 29.0), (1.0, 43.0)])
def test_a_bumpy_sheet_dropped_on_a_slope_comes_to_rest_there(mu, degrees):
    flat, triangles = grid((4, 4), (0.3, 0.3))
    mesh = core.ClothMesh(flat, triangles)
    lift = 0.2 * mesh.mean_edge + 0.002 * np.random.default_rng(0).random(len(flat))
    start = tilted(flat + np.outer(lift, [0.0, 0.0, 1.0]), degrees)
    fabric = core.Material(areal_density=0.2, stretch=2e3, shear=500.0, bend=1e-4, friction=mu, damping=0.001)
    cloth = core.Cloth(mesh, fabric, positions=start)
    plane = core.Collider(tilted(PLANE[0], degrees), PLANE[1], friction=mu)
    solver = core.Solver(frame_rate=48.0, steps_per_frame=1)
    frames = run(core.Scene([cloth], [plane]), solver, 72)
    down = tilted([1.0, 0.0, 0.0], degrees)
    travel = [((frame.positions[0] - start) @ down).mean() for frame in frames]
    assert travel[-1] - travel[36] < 1e-9
    assert travel[-1] < 2e-3


# ---------------------------------------------------------------------- over the edge of a table

AROUND = 0.032
"""Radius of the strip's turn around the edge [m]."""


def over_the_edge(mu, hanging, h=1 / 48, seconds=1.0):
    """Return the travel [m] of a strip with the part `hanging` of its length over a frictionless round edge."""
    length, d, thickness, around = 0.6, 0.0125, 0.002, AROUND
    flat, triangles = grid((round(length / d), 1), (length, d))
    s = flat[:, 0] - (1.0 - hanging) * length                                    # from the start of the edge
    angle = np.clip(s / around, 0.0, 0.5 * np.pi)
    beyond = np.maximum(s - 0.5 * np.pi * around, 0.0)
    start = np.stack([np.minimum(s, 0.0) + around * np.sin(angle), flat[:, 1],
                      around * (np.cos(angle) - 1.0) - beyond], axis=1)
    fabric = core.Material(areal_density=0.2, stretch=2e3, shear=500.0, bend=1e-7, friction=mu)
    cloth = core.Cloth(core.ClothMesh(flat, triangles), fabric, positions=start, thickness=thickness)
    top = core.Collider(np.array([[-2.0, -1, 0], [0, -1, 0], [0, 1, 0], [-2, 1, 0]]) - [0.004, 0, thickness],
                        [[0, 1, 2], [0, 2, 3]], friction=mu, name="table")
    edge = core.Collider(*cylinder(around - thickness, 0.2, 120, (0.0, 0.5 * d, -around)), friction=0.0, name="edge")
    frames = run(core.Scene([cloth], [top, edge]), core.Solver(frame_rate=1 / h, steps_per_frame=1), round(seconds / h))
    return frames[-1].positions[0][0, 0] - start[0, 0]


@cases("mu", [r["mu"] for r in TABLE["table_edge"]])
def test_a_strip_slides_off_a_table_when_it_hangs_over_by_more_than_friction_holds(mu):
    """mu (L - hanging) = overhanging height; the quarter turn of the edge adds its radius only."""
    limit = next(r["hang_fraction_max"] for r in TABLE["table_edge"] if r["mu"] == mu)
    assert limit == pytest.approx(mu / (1.0 + mu), rel=1e-9)
    turn = (0.5 * np.pi - 1.0) * AROUND / 0.6                                    # part of the length that does not pull
    threshold = (mu + turn) / (1.0 + mu)
    assert abs(over_the_edge(mu, threshold - 0.01)) < 1e-3
    assert over_the_edge(mu, threshold + 0.01) > 0.01


@cases("backend", [None, "numpy"])
@cases("integrator", ["implicit_euler", "bdf2"])
def test_a_sheet_whose_links_go_slack_slides_as_others_do(integrator, backend):
    """In the first frames rounding decides which links are slack, and which vertices stick for a moment. What slides
    then has the acceleration of a block, whatever its links did before."""
    mu, degrees, heading, h, n = 0.45, 27.0, 33.0, 1 / 60, 20
    flat, _ = grid((4, 4), (0.3, 0.3))
    thickness = 0.2 * 0.3 / 4
    start = tilted(flat + [0.0, 0.0, thickness], degrees, heading)
    fabric = core.Material(areal_density=0.2, stretch=2e3, shear=500.0, bend=1e-4, friction=mu)
    cloth = core.Cloth(core.ClothMesh(start, faces=quads(4, 4)), fabric, "immediate_buckling", thickness=thickness)
    plane = core.Collider(tilted(PLANE[0], degrees, heading), PLANE[1], friction=mu)
    solver = core.Solver(frame_rate=1.0 / h, steps_per_frame=1, integrator=integrator, backend=backend)
    frames = run(core.Scene([cloth], [plane]), solver, 2 * n)
    way = [((frame.positions[0] - start) @ tilted([1.0, 0.0, 0.0], degrees, heading)).mean() for frame in frames]
    a = GRAVITY * (np.sin(np.radians(degrees)) - mu * np.cos(np.radians(degrees)))
    assert way[2 * n] - 2.0 * way[n] + way[0] == pytest.approx(a * (n * h) ** 2, rel=0.03)
    assert (way[2 * n] - way[2 * n - 1]) / h == pytest.approx(a * 2 * n * h, rel=0.04)


def tip(radius=0.5, sides=24):
    """The upper half of a faceted ball of this radius [m], its tip at the origin."""
    around = 2.0 * np.pi * np.arange(sides) / sides
    rings = [[radius * np.array([np.sin(b) * np.cos(a), np.sin(b) * np.sin(a), np.cos(b) - 1.0]) for a in around]
             for b in np.pi / sides * np.arange(2, sides, 2)]
    points = np.vstack([np.zeros((1, 3)), *rings])
    triangles = [(0, 1 + i, 1 + (i + 1) % sides) for i in range(sides)]
    for j in range(len(rings) - 1):
        for i in range(sides):
            a, b = 1 + j * sides + i, 1 + j * sides + (i + 1) % sides
            triangles += [(a, a + sides, b + sides), (a, b + sides, b)]
    return core.Collider(points, triangles, name="Ball")


@pytest.mark.parametrize(("side", "seed"), [(1e-3, 0), (3e-4, 0), (3e-4, 5), (3e-4, 6), (3e-4, 30)])
def test_friction_does_not_fling_a_scrap_that_falls_on_a_ball_a_thousand_times_its_size(side, seed):
    """It is so stiff beside its weight that the forces which press on it change from pass to pass, and rounding decides
    which: seeds move its vertices by a billionth of its size. Flung, it had 4 to 750 m/s, or there was no solution."""
    height = 1e-3
    points, _ = grid((12, 12), (side, side), shift=(-0.5 * side, -0.5 * side, height))
    points = points + 1e-9 * side * np.random.default_rng(seed).uniform(-1.0, 1.0, points.shape)
    mesh = core.ClothMesh(points, faces=quads(12, 12), name="Scrap")
    scene = core.Scene([core.Cloth(mesh, core.Material.preset("cotton"))], [tip()])
    fall = np.sqrt(2.0 * GRAVITY * height)
    for frame in core.simulate(scene, core.Solver(), range(1, 13)):
        speed = np.linalg.norm(frame.velocities[0].mean(axis=0))
        assert speed < 2.0 * fall, f"frame {frame.index}: {speed} m/s"
        assert frame.certificate.crossings == 0 and frame.certificate.deepest_penetration == 0.0
    assert speed < fall                                                              # it may slide, as on a slope
    assert np.abs(frame.positions[0]).max() < 0.05
