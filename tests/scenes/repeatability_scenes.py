# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve small scenes that together use every part of the solver, for comparing results byte by byte.

Each function returns the simulations of one scene. They are no physical experiments: meshes are coarse and motions are
fast, so that few frames reach contact, friction, untangling and rejected steps.
"""

import numpy as np

import core
from tests.scenes.repeatability_parts import (
    COTTON,
    PANEL,
    SOFT,
    act,
    ball,
    box,
    carried,
    chain,
    cloth,
    floor,
    halves,
    points,
    quads,
    sheet,
    solid,
    tube,
    turned,
)

UP = np.array([0.0, 0.0, 1.0])
WEIGHTLESS = {"gravity": (0.0, 0.0, 0.0)}


def wind():
    """A flag on a moving pole in a field of wind, and a curtain with soft pins and all kinds of attachments."""
    silk = core.Material.preset("silk", air_drag=0.8, viscous_drag=0.1, isotropic_damping=1e-3, spring_damping=2e-3)
    x = turned(points(14, 10, 0.7, 0.5), 0.5 * np.pi, 0)
    pole = carried(x, np.arange(10) * 14, lambda t, p: p + [0.0, 0.08 * np.sin(9.0 * t), 0.0])
    flag = cloth(14, 10, 0.7, 0.5, lambda _: x, silk, pins=pole, bending="hinge")
    y = turned(points(8, 7, 0.4, 0.35), 0.5 * np.pi, 0) + [0.0, 0.6, 0.0]
    weights = np.zeros(56)
    weights[-8:] = [1.0, 0.0, 0.0, 0.6, 0.9, 0.0, 0.0, 1.0]
    held = [core.Attachment(0, [(0.0, 1.0, 0.0)]), core.Attachment(27, [(1.0, 1.0, 0.0), (0.0, 1.0, 0.0)], y[27]),
            core.Attachment(7, target=lambda t: y[7] + [0.0, 0.3 * t, 0.05 * np.sin(8.0 * t)])]
    curtain = core.Cloth(core.ClothMesh(y, faces=quads(8, 7), grain=(0.0, 0.0, 1.0), name="curtain"), SOFT,
                         pins=weights, pin_targets=lambda t: y + [0.15 * t, 0.0, 0.0], attachments=held,
                         bending="quadratic", velocities=0.1 * np.cos(7.0 * y[:, [1, 2, 0]]))

    def field(t, x):
        return np.stack([4.0 + 2.0 * x[:, 2], 2.0 * np.sin(5.0 * x[:, 0] - 8.0 * t), 0.5 + 0.0 * x[:, 0]], axis=1)

    return [act(10, [flag, curtain], world={"wind": field}, measure_energy=True, **PANEL),
            act(5, [flag], world={"wind": lambda t: (3.0, np.cos(6.0 * t), 0.0)}, **PANEL),
            act(5, [curtain], [core.Collider(*FAR_WALL, absorption=0.5)], world={"fields": fields()}, **PANEL)]


FAR_WALL = np.array([[9.0, -1.0, -1.0], [9.0, 2.0, -1.0], [9.0, 0.0, 2.0]]), [[0, 1, 2]]


def fields():
    """Force fields of all kinds that need no samples, one of them behind a wall."""
    near, far = {"x": 0.2, "y": 0.8, "z": 0.4}, {"x": 12.0, "y": 0.5}
    surface = {"vertices": FAR_WALL[0] - [8.0, 0.0, 0.0], "triangles": np.array(FAR_WALL[1])}
    return [core.ForceField("force", core.field_values(strength=-0.4, power=1.5, **near), gravitation=True),
            core.ForceField("force", core.field_values(strength=0.5, **far), absorption=True),
            core.ForceField("harmonic", core.field_values(strength=2.0, rest_length=0.3, damping=0.1, wind_factor=0.5,
                                                          **near), "surface", **surface),
            core.ForceField("vortex", core.field_values(strength=0.5, noise=0.2, **near), "line", "tube"),
            core.ForceField("magnetic", core.field_values(strength=0.6, **near), falloff="cone"),
            core.ForceField("turbulence", core.field_values(strength=0.5, size=0.2, flow=0.1, **near)),
            core.ForceField("drag", core.field_values(linear_drag=0.1, quadratic_drag=0.2, **near)),
            core.ForceField("wind", core.field_values(strength=2.0, noise=1.0, **near), "plane")]


def pushed():
    """Moving solids push cloth: a turning ball, a leg that bends in a sleeve, two arms that close on a sheet."""
    held = cloth(11, 10, 0.6, 0.5, material=SOFT, pins=dict.fromkeys([0, 10, 99, 109]), max_elongation=0.1)
    fist = solid(ball(0.1), lambda t, p: turned(p, 6.0 * t, 1) + [0.003, 0.002, 0.14 - 1.2 * min(t, 0.17)], name="ball")

    x, faces = tube(14, 7, 0.07, 0.24)
    sleeve = core.Cloth(core.ClothMesh(x + 0.1 * UP, faces=faces), COTTON, pins=dict.fromkeys(range(14)))
    bone, skin = ball(0.045, 8, 6)
    bone = bone * [1.0, 1.0, 2.0]
    leg = [solid((bone + 0.06 * UP, skin), name="thigh"),
           solid((bone - 0.08 * UP, skin), lambda t, p: turned(p, min(3.0 * t, 0.7), 1), name="shin")]

    arm, skin = ball(0.05, 10, 6)
    arms = [solid((arm * [1.0, 4.0, 1.0], skin), name=name,
                  way=lambda t, p, s=s: p + [s * max(0.08 - 0.3 * t, 0.048), 0.0, 0.0])
            for s, name in ((-1.0, "upper arm"), (1.0, "forearm"))]
    hanging = cloth(7, 4, 0.3, 0.14, lambda p: p[:, [2, 1, 0]] * [1.0, 1.0, -1.0], pins=dict.fromkeys([0, 7, 14, 21]))

    large = cloth(33, 32, 0.8, 0.8, [0.01, 0.02, 0.42], velocities=np.tile(-2.0 * UP, (33 * 32, 1)))
    return [act(8, [held], [fist], **PANEL), act(8, [sleeve], leg, **PANEL),
            act(4, [hanging], arms, **PANEL), act(3, [large], [solid(ball(0.4, 16, 10))], **PANEL)]


def falling():
    """Sheets fall on one another, on a tilted table and on the floor, and one falls inside of a room that moves."""
    def place(k):
        return lambda p: (turned(turned(p, 0.1 * np.sin(1.7 * k), 1), 0.6 * k, 2)
                          + [0.02 * np.sin(k), 0.01, 0.22 + 0.05 * k])

    heap = [cloth(6, 6, 0.3, 0.3, place(k), name=f"sheet {k}") for k in range(4)]
    x, faces = box((0.3, 0.25, 0.1))
    table = solid((turned(x, 0.3, 0) + [0.02, 0.0, 0.1], faces), friction=0.6, thickness=0.002, name="table")
    under = [table, floor(thickness=0.001)]

    x, faces = box((0.6, 0.5, 0.4))
    room = solid((x, faces[:, ::-1]), lambda t, p: turned(p, 0.5 * t, 1) + [0.6 * t, 0.0, 0.0], name="room")
    within = cloth(8, 8, 0.35, 0.35, lambda p: turned(p, 0.4, 0) - 0.08 * UP, core.Material.preset("wool"))

    below = cloth(5, 5, 0.25, 0.25, material=SOFT, name="below", pins=carried(
        points(5, 5, 0.25, 0.25), range(25), lambda t, p: p + np.clip(1.5 * t - 0.12, 0.0, 0.09) * UP))
    above = cloth(4, 4, 0.2, 0.2, [0.01, 0.007, 0.05], SOFT, name="above")

    lying = [cloth(13, 13, 0.4, 0.4, [0.005 * k, 0.003 * k, 0.0066 * (1.0 + 2.0 * k)], velocities=0.2 * np.sin(
        9.0 * points(13, 13, 0.4, 0.4)[:, [1, 0, 2]])) for k in range(2)]
    return [act(12, heap, under, **PANEL), act(10, heap, under, solid_contact="constraints", **PANEL),
            act(10, [within], [room], **PANEL), act(6, [below, above], [floor(-1.0)], WEIGHTLESS, **PANEL),
            act(7, lying, [floor()], **PANEL)]


def twisted():
    """A towel is wrung quickly, and a sheet is folded over: contact of cloth with itself alone, without colliders."""
    x = points(20, 7, 0.9, 0.2)
    left, right = (carried(x, np.flatnonzero(s * x[:, 0] > 0.449), lambda t, p, s=s: (
        turned(p, 12.0 * s * t, 0) - [0.25 * s * t, 0.0, 0.0])) for s in (-1.0, 1.0))
    towel = cloth(20, 7, 0.9, 0.2, thickness=0.002, pins=left | right)

    def over(t, p):
        part = min(3.0 * t, 1.0)
        return p + [-0.45 * part, 0.0, 0.2 * np.sin(np.pi * part) + 0.02 * part]

    x = points(16, 8, 0.5, 0.25)
    fixed = dict.fromkeys(np.flatnonzero(x[:, 0] < 0.0).tolist())
    folded = cloth(16, 8, 0.5, 0.25, material=SOFT, pins=fixed | carried(x, np.flatnonzero(x[:, 0] > 0.249), over))
    return [act(12, [towel], newton_iterations=1, steps_per_frame=1), act(11, [folded], **PANEL)]


def crossing():
    """Cloth that starts through cloth or colliders, exactly in them, folded flat, or with its pins inside of them."""
    def standing(p):
        return turned(turned(p + [0.0, 0.03, 0.0], 1.2, 0) + [0.013, 0.004, 0.003], 0.3, 2)

    sheets = [cloth(10, 10, 0.5, 0.5, name="lying"), cloth(7, 7, 0.3, 0.3, standing, name="standing")]
    x, faces = box((0.16, 0.14, 0.12))
    cube = solid((turned(turned(x, 0.2, 0), 0.3, 2) + [0.011, 0.007, -0.02], faces))
    pierced = cloth(9, 9, 0.4, 0.4)

    y = turned(points(7, 6, 0.36, 0.3), 0.5 * np.pi - 0.2, 0) - 0.1 * UP
    cape = cloth(7, 6, 0.36, 0.3, lambda _: y, rest_scale=0.97,
                 pins=carried(y, range(37, 40), lambda t, p: p + [0.1 * t, 0.0, 0.0]))
    shoulder = solid(ball(0.12, 8, 6), lambda t, p: p + [0.1 * t, 0.0, 0.0])

    flat = [cloth(9, 5, 0.4, 0.2, lambda p: np.abs(p) * [1.0, 0.0, 0.0] + p * [0.0, 1.0, 1.0], name="folded"),
            cloth(6, 6, 0.2, 0.2, name="upon"), cloth(6, 5, 0.2, 0.16, lambda p: (
                turned(p, 0.5 * np.pi, 0) + [0.0, 0.3, 0.08]), name="curtain")]
    level = [cloth(3, 3, 0.2, 0.2, shift, pins={4: None}) for shift in ([0.0, 0.0, 0.0], [0.02, 0.03, 0.0])]

    def crumpled(p):
        wave = 0.05 * np.sin(60.0 * p[:, 0] + 35.0 * p[:, 1])
        return np.stack([wave, p[:, 1], p[:, 0] * np.cos(8.0 * p[:, 1]) + 0.3], axis=1)

    z = turned(points(7, 6, 0.3, 0.25), 0.5 * np.pi, 0) - [0.0, 0.15, 0.1]
    pulled = cloth(7, 6, 0.3, 0.25, lambda _: z, pins=carried(z, range(35, 42), lambda t, p: (
        p + [0.0, np.clip(1.5 * t - 0.12, 0.0, 0.1), max(2.0 * t - 0.5, 0.0)])))
    mirrored = solid((x, faces), lambda t, p: p * [1.0, 1.0 - 7.0 * min(t, 0.28), 1.0])
    return [*(act(8, sheets, (), WEIGHTLESS, resolve_start=flag, **PANEL) for flag in (False, True)),
            *(act(8, [pierced], [cube], WEIGHTLESS, resolve_start=flag, **PANEL) for flag in (False, True)),
            act(3, [cape], [shoulder], max_halvings=3, **PANEL), act(6, flat, [floor()], **PANEL),
            act(3, level, max_halvings=2, **PANEL),
            act(6, [cloth(8, 8, 0.3, 0.3, crumpled, SOFT)], [floor(0.2)]),
            act(10, [pulled], [solid(ball(0.12))], **PANEL),
            act(8, [cloth(6, 6, 0.25, 0.25, [0.003, 0.004, 0.07])], [mirrored], **PANEL)]


def garment():
    """A skirt is sewn around a ball from a pattern with maps, and two layers are sewn with a limit and buttoned."""
    across, down = 8, 7
    i, j = (a.ravel() for a in np.meshgrid(np.arange(down + 1), np.arange(across + 1), indexing="ij"))
    angle, out = 1.6 * (j / across - 0.5), 0.16 + 0.3 * i / down
    uv = np.stack([out * np.sin(angle), out[0] - out * np.cos(angle)], axis=1)
    front = np.stack([uv[:, 0], np.full(len(uv), -0.2), 0.1 + uv[:, 1]], axis=1)
    x = np.concatenate([front, front * [1.0, -1.0, 1.0]])
    faces = quads(across + 1, down + 1)
    triangles = halves(np.concatenate([faces[:, ::-1], faces + len(uv)]))
    side = np.concatenate([np.arange(down + 1) * (across + 1), np.arange(down + 1) * (across + 1) + across])
    mesh = core.ClothMesh(x, triangles, edges=np.stack([side, side + len(uv)], axis=1), uv=np.tile(uv, (2, 1)))
    skirt = core.Cloth(mesh, COTTON, velocities=np.tile(UP, (len(x), 1)), sewing=True, sewing_time=0.25,
                       rest_scale=np.where(x[:, 2] > 0.05, 0.8, 1.1), curl_angle=0.3,
                       rest_curvature=20.0 * np.sin(30.0 * x[:, 0]), stretch_scale=1.0 + x[:, 0] ** 2,
                       shear_scale=1.2, bend_scale=np.linspace(0.5, 2.0, len(x)), max_elongation=0.3)

    layer, faces = points(6, 6, 0.3, 0.3), halves(quads(6, 6))
    x = np.concatenate([layer, layer * [1.0, -1.0, 1.0] + 0.08 * UP, [[0.15, 0.15, -0.06], [0.16, 0.15, -0.12]]])
    mesh = core.ClothMesh(x, np.concatenate([faces, faces + 36]), edges=[(35, 72), (72, 73)])
    bag = core.Cloth(mesh, SOFT, sewing=np.stack([np.arange(30, 36), np.arange(36, 42)], axis=1), sewing_time=0.2,
                     sewing_force=20.0, buttons=[(0, 66), (8, (72, (0.3, 0.3, 0.4))), (3, (73, (0.5, 0.5, 0.0)))],
                     pins={35: None}, rest_scale=0.9, rest_stretch=(0.95, 1.05))
    return [act(12, [skirt], [solid(ball(0.13), friction=0.1)], **PANEL), act(8, [bag], steps_per_frame=2)]


def jellies():
    """A lattice ball and a block of tetrahedra fall on each other, on cloth and on the floor."""
    soft = {"model": "jelly", "young_modulus": 2e4}
    x, triangles = ball(0.1, 8, 6)
    lattice = core.Cloth(core.ClothMesh(x + 0.12 * UP, triangles[1:], name="lattice"), SOFT, structure="lattice",
                         cells=4, **soft)
    y, faces = box((0.16, 0.14, 0.12))
    block = core.Cloth(core.ClothMesh(turned(y, 0.3, 0) + [0.03, 0.0, 0.33], faces=faces, name="block"), SOFT, cells=3,
                       poisson_ratio=0.4, density=500.0, velocities=np.tile(-2.0 * UP, (8, 1)), **soft)
    twin = np.concatenate([x, 0.8 * x + [0.11, 0.012, 0.007]])
    weights = np.where(twin[:, 2] > 0.09, 1.0, np.where(twin[:, 0] > 0.15, 0.5, 0.0))
    joined = core.Cloth(core.ClothMesh(twin, np.concatenate([triangles, triangles + len(x)])), SOFT,
                        structure="tetrahedra", pins=weights, **soft)
    return [act(8, [lattice, block, cloth(6, 6, 0.3, 0.3, 0.01 * UP)], [floor()], **PANEL),
            act(6, [lattice, block], [floor(thickness=0.002)], **PANEL),
            act(4, [joined], **PANEL)]


def loose():
    """Particles of all emitters are born over time; ropes, a net and fringes fall over a ball that moves."""
    options = ({}, {"mass": 0.01}, {"radius": 0.06}, {"nearest": 2, "spring_stiffness": 20.0, "spring_damping": 0.1})
    dust = []
    for kind, springs_ in zip(core.emitters(), options, strict=True):
        x, v = core.emit(kind, 20, speed=2.0, size=0.1, origin=(0.0, 0.0, 0.3), seed=3)
        dust.append(core.Cloth(core.ClothMesh(x, points=True, name=kind), SOFT, "particles", velocities=v,
                               births=np.arange(20) / 60.0, **springs_))

    cord = core.Material(areal_density=10.0, stretch=5e3, shear=0.0, bend=1e-2, damping=0.01, thread_width=0.01,
                         friction=0.8)
    s = np.linspace(-0.4, 0.4, 25)
    ropes = [core.Cloth(chain(np.stack([s, 0.02 + 0.0 * s, 0.16 + 0.1 * s ** 2], axis=1)), cord, "rope"),
             core.Cloth(chain(np.stack([0.03 + 0.0 * s, s, 0.19 + 0.0 * s], axis=1)), cord, "rope", bending=False,
                        max_elongation=0.1)]
    grid = sheet(5, 5, 0.3, 0.3)
    net = core.Cloth(core.ClothMesh(grid.positions + [0.05, 0.05, 0.25], edges=grid.edges), cord, "rope")
    x = np.concatenate([points(6, 4, 0.3, 0.2), points(6, 1, 0.3, 0.0) + [0.0, -0.16, 0.0]]) + 0.32 * UP
    fringed = core.Cloth(core.ClothMesh(x, halves(quads(6, 4)), edges=[(k, 24 + k) for k in range(6)]), COTTON,
                         births=np.where(x[:, 0] > 0.1, 0.1, 0.0))
    moving = solid(ball(0.15), lambda t, p: turned(p, 3.0 * t, 2) + [0.2 * t, 0.0, 0.0], friction=0.8, name="ball")
    return [act(14, dust, [floor()], **PANEL), act(10, [*ropes, net, fringed], [moving, floor(-0.2)], **PANEL)]


def springs():
    """Sheets of springs, of links that go slack and of woven threads fall on a ball and on one another, and hang."""
    sizes = {"mass_spring": (8, 8, 0.4, 0.4), "immediate_buckling": (8, 8, 0.38, 0.38),
             "thread_cloth": (8, 7, 0.36, 0.4)}
    pile = []
    for k, (model, size) in enumerate(sizes.items()):
        mesh = core.ClothMesh(points(*size), faces=quads(*size[:2]))
        pile.append(core.Cloth(mesh, COTTON, model, positions=mesh.positions + [0.01 * k, 0.007 * k, 0.13 + 0.05 * k]))

    faces, hung = quads(6, 6), []
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    for k, (model, options) in enumerate((("mass_spring", {"flat": True}), ("immediate_buckling", {"hold": 0.5}),
                                          ("thread_cloth", {"area_stiffness": 30.0}))):
        mesh = core.ClothMesh(points(6, 6, 0.3, 0.3) + [0.5 * k, 0.0, 0.0], triangles)
        hung.append(core.Cloth(mesh, SOFT, model, pins={0: None, 5: None}, **options))
    return [act(8, pile, [solid(ball(0.1))], newton_iterations=None),
            act(6, hung, **PANEL | {"newton_iterations": None})]


def projective():
    """Projective dynamics by a factor and by conjugate gradients, of triangles and of tetrahedra."""
    drop = cloth(11, 11, 0.5, 0.5, [0.01, 0.0, 0.13], model="projective")
    hanging = cloth(7, 7, 0.3, 0.3, material=SOFT, model="projective", pins={0: None, 6: None}, young_modulus=5e5,
                    sheet_thickness=1e-3, poisson_ratio=0.2)
    x, faces = box((0.1, 0.1, 0.1))
    block = core.Cloth(core.ClothMesh(x + 0.4 * UP, faces=faces), SOFT, "jelly", pins={1: None, 7: None}, cells=3)
    base = {"integrator": "projective_dynamics", "steps_per_frame": 2, "tolerance": 1e-2}
    return [act(7, [drop], [solid(ball(0.1)), floor(-0.1)], **base),
            act(5, [hanging], projective_solve="cg", newton_iterations=10, projective_window=0, **base),
            act(4, [hanging, block], newton_iterations="converge", **base), act(5, [drop], [solid(ball(0.1))], **PANEL)]


def explicit():
    """All explicit integrators: soft cloth that hangs, and cloth that falls on it and on the floor."""
    gentle = core.Material(areal_density=0.3, stretch=20.0, shear=5.0, bend=1e-5, damping=0.01, air_drag=0.1)
    strip = cloth(6, 4, 0.5, 0.3, material=gentle, pins={0: None, 5: None}, velocities=np.full((24, 3), 0.2))
    over = cloth(4, 4, 0.2, 0.2, [0.0, -0.05, 0.04], gentle, births=np.full(16, 0.02),
                 velocities=np.tile(-UP, (16, 1)))
    under = [floor(-0.05)]
    return [act(3, [strip, over], under, {"wind": (1.0, 0.0, 0.0)}, integrator="symplectic_euler", measure_energy=True),
            act(3, [strip, over], under, integrator="verlet", verlet_kd=0.99),
            act(3, [strip], under, integrator="explicit_euler", self_collision=False)]


def stiff():
    """Stiff cloth to a small tolerance, all laws by converged Newton iterations, and products with the elements."""
    hanging = cloth(20, 19, 0.9, 0.85, material=core.Material.preset("leather", damping=0.05), pins={0: None, 19: None})
    wool = core.Material.preset("wool", isotropic_damping=1e-3, spring_damping=1e-3, viscous_drag=0.2, air_drag=0.5)
    apart = [cloth(6, 5, 0.3, 0.25, [0.5 * k, 0.0, 0.0], wool, pins={0: None}, velocities=np.tile(3.0 * UP, (30, 1)),
                   **options) for k, options in enumerate((
                       {"bending": "hinge", "rest_curvature": 5.0}, {"buttons": [(0, 7)], "rest_curvature": 3.0},
                       {"bending": "quadratic"}, {"model": "projective"}))]
    corners = [[0, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [1, 2, 0], [0, 2, 0], [2, 2, 0], [2, 1, 1]]
    patchwork = core.ClothMesh(0.1 * np.array(corners) + [0.0, 1.0, 0.0],
                               faces=[[0, 1, 2, 3, 4, 5], [3, 2, 6, 4], [2, 3, 7]])
    x, faces = box((0.1, 0.1, 0.1))
    block = core.Cloth(core.ClothMesh(x - [0.0, 0.5, 0.0], faces=faces), SOFT, "jelly", pins={1: None}, cells=3)

    landing, on = cloth(7, 7, 0.3, 0.3, 0.06 * UP, SOFT), [solid(ball(0.05)), floor(-0.1)]
    woven = [core.Cloth(core.ClothMesh(points(6, 5, 0.3, 0.25) + [0.01 * k, 0.0, 0.08 + 0.04 * k], faces=quads(6, 5)),
                        wool, model, buttons=[(0, 7)]) for k, model in enumerate(("mass_spring", "thread_cloth"))]
    rope = core.Cloth(chain(np.linspace([-0.3, 0.0, 0.2], [0.3, 0.02, 0.2], 13)), wool, "rope")
    return [act(8, [hanging], tolerance=1e-4, self_collision=False),
            act(4, [*apart, core.Cloth(patchwork, wool, pins={0: None}), block], world={"wind": (1.0, 2.0, 0.0)},
                newton_iterations="converge", self_collision=False),
            act(5, [landing], on, **PANEL | {"newton_iterations": "converge"}),
            act(3, [landing, *woven, rope], on, {"wind": (1.0, 0.0, 0.0)}, matrix="implicit", max_strain_change=0.2,
                **PANEL)]


SCENES = {scene.__name__: scene for scene in (wind, pushed, falling, twisted, crossing, garment, jellies, loose,
                                              springs, projective, explicit, stiff)}
"""The scenes by name: functions that return a list of simulations."""
