# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes in which cloth meets solids that are fast, sharp, thin, heavy, or close around it."""

import numpy as np

import core
from tests.core.contact.shapes import ball, box, sheet
from tests.scenes.scenes_of_folds import tube_mesh
from tests.scenes.solids import capsule, cone
from tests.scenes.staging import COTTON, RATE, Staged, at_ends, border, cloth, floor, moved, turned, up_and_down


def pushed_ball(size, speed=2.0, depth=0.25, width=1.0, radius=0.15, frames=None):
    """A ball is pushed at `speed` [m/s] through a sheet with pinned border, to `depth` [m] beyond its plane."""
    start = radius + 0.1 * radius + 0.02
    x, triangles = ball(24, 12, radius)

    def at(t):
        return x + [0.003, 0.002, start - min(speed * t, start - radius + depth)]

    sheet_ = cloth(size, size, width, width)
    held = core.Cloth(sheet_.mesh, COTTON, pins=dict.fromkeys(border(sheet_.positions).tolist()))
    seconds = (start - radius + depth) / speed
    return Staged(core.Scene([held], [core.Collider(at, triangles, friction=0.3, name="ball")]),
                  frames or round(seconds * RATE) + 8)


def spike(size, frames=24, width=0.6, radius=0.004, height=0.3, fall=0.05, offset=(0.3, 0.2)):
    """A sheet falls on a needle; the tip meets the sheet at `offset` [edges] from a vertex."""
    edge = width / (size - 1)
    x, triangles = cone(radius, height)
    middle = 0.5 * edge if size % 2 == 0 else 0.0
    shift = [middle + offset[0] * edge, middle + offset[1] * edge, height + fall]
    return Staged(core.Scene([cloth(size, size, width, width, lambda p: p + shift)],
                             [core.Collider(x, triangles, friction=0.3, name="spike"), floor()]), frames)


def table_edge(size, frames=30, width=0.6, fall=0.03):
    """A sheet falls obliquely over the edge of a table of twelve triangles, half of it beyond the edge."""
    x, triangles = box((1.0, 1.4, 0.3))
    return Staged(core.Scene(
        [cloth(size, size, width, width, lambda p: turned(p, 0.35, axis=2) + [0.5 + 0.03, 0.01, 0.15 + fall])],
        [core.Collider(x, triangles, friction=0.5, name="table")]), frames)


def cube(cells, frames=24, width=1.2, side=0.5, fall=0.1, friction=0.35, **more):
    """A sheet falls on a cube whose edges may be exactly below rows of its vertices; quads are cut as in Blender."""
    line = np.linspace(-0.5 * width, 0.5 * width, cells + 1)
    x, y = np.meshgrid(line, line)
    flat = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, side + fall)])
    i = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (q.ravel() for q in (i[:-1, :-1], i[:-1, 1:], i[1:, 1:], i[1:, :-1]))
    mesh = core.ClothMesh(flat, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]))
    solid, triangles = box((side, side, side))
    under = core.Collider(solid + [0.0, 0.0, 0.5 * side], triangles, friction=friction, name="cube")
    return Staged(core.Scene([core.Cloth(mesh, COTTON, **more)], [under]), frames)


def mirrored(size, solid, axis, frames=28, seconds=0.5, begin=0.1, width=0.5):
    """A sheet falls on a solid that is scaled along one axis from 1 to -1 within `seconds`, and is flat in between."""
    x, triangles = solid

    def at(t):
        scale = np.ones(3)
        scale[axis] = np.interp(t, [begin, begin + seconds], [1.0, -1.0])
        return x * scale

    over = cloth(size, size, width, width, lambda p: p + [0.003, 0.004, x[:, 2].max() + 0.02])
    return Staged(core.Scene([over], [core.Collider(at, triangles, name="mirrored"), floor(-0.4)]), frames)


def fan(size, frames=36, blades=4, turns=2.0, width=0.6, thick=0.004):
    """A sheet falls on a horizontal fan of four thin blades on edge, which makes `turns` turns per second."""
    length, height = 0.25, 0.08
    plate, sides = box((length, thick, height))
    solids = []
    for k in range(blades):
        def at(t, k=k):
            out = plate + [0.5 * length + 0.02, 0.0, 0.0]
            return turned(out, 2.0 * np.pi * (k / blades + turns * t), axis=2)
        solids.append(core.Collider(at, sides, friction=0.3, name=f"blade {k}"))
    over = cloth(size, size, width, width, lambda p: p + [0.013, 0.007, 0.5 * height + 0.03])
    return Staged(core.Scene([over], [*solids, floor(-0.5 * height - 0.02)]), frames)


def heavy_box(size, frames=36, clearance=1.6, speed=0.4, width=0.8):
    """A sheet is dragged out from under a box that leaves `clearance` [thicknesses] above the floor; it needs 2."""
    thickness = 0.2 * width / (size - 1)
    x, triangles = box((0.3, 1.0, 0.2))
    place = [0.05, 0.0, 0.1 + clearance * thickness]

    def down(t):
        return x + place + [0.0, 0.0, 0.05 * max(1.0 - 4.0 * t, 0.0)]

    flat = cloth(size, size, width, width, lambda p: p + [0.0, 0.0, 1.01 * thickness])
    right = at_ends(flat.mesh.positions, width)[1]

    def way(t, p):
        return p + [speed * max(t - 0.3, 0.0), 0.0, 0.0]

    dragged = core.Cloth(flat.mesh, COTTON, positions=flat.positions, thickness=thickness,
                         pins=moved((right, flat.positions[right], way)))
    return Staged(core.Scene([dragged], [core.Collider(down, triangles, friction=0.3, name="box"), floor()]), frames)


def bent_leg(time, thigh, shin, length, stride=1.0):
    """Return positions of the two capsules of a walking leg at `time` [s]: the hip at the origin swings, the knee
    bends.
    """
    phase = 2.0 * np.pi * stride * time
    ease = min(2.0 * time, 1.0)
    swing, bend = ease * np.radians(25.0) * np.sin(phase), ease * np.radians(35.0) * (0.5 - 0.5 * np.cos(phase))
    knee = turned(np.array([[0.0, 0.0, -length]]), swing, axis=1)[0]
    return turned(thigh, swing, axis=1), turned(shin, swing + bend, axis=1) + knee


def walking_leg(size, frames=48, radius=0.06, length=0.35, loose=1.25):
    """A tube of cloth, pinned around the hip, on a walking leg of two capsules."""
    one, triangles = capsule(radius, length)
    legs = [core.Collider(lambda t, k=k: bent_leg(t, one, one, length)[k], triangles, friction=0.3, name=name)
            for k, name in enumerate(("thigh", "shin"))]
    x, own = tube_mesh(size, max(round(1.3 * size), 8), loose * radius, 1.7 * length)
    x = x - [0.0, 0.0, 0.1 * length]
    top = np.arange(size)

    def hip(t, p):
        phase, ease = 2.0 * np.pi * t, min(2.0 * t, 1.0)
        return turned(p, ease * np.radians(25.0) * np.sin(phase), axis=1)

    leg = core.Cloth(core.ClothMesh(x, own), COTTON, pins=moved((top, x[top], hip)))
    return Staged(core.Scene([leg], legs), frames)


def elbow(size, frames=48, overlap=0.01, width=0.5, radius=0.05, unevenness=0.0, seed=0):
    """Two bars close on a hanging sheet until they overlap each other by `overlap` [m], and open again.

    The sheet starts with random offsets of `unevenness` [m].
    """
    bar, triangles = capsule(radius, 0.5)
    lying = turned(bar + [0.0, 0.0, 0.25], 0.5 * np.pi, axis=0)
    wide = radius + 0.04

    def side(sign):
        def at(t):
            part = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.clip(t, 0.0, 1.0))
            return lying + [sign * (wide + (radius - 0.5 * overlap - wide) * part), 0.0, 0.0]
        return at

    def hang(p):
        return np.stack([0 * p[:, 0], p[:, 1], p[:, 0]], axis=1)

    flat = cloth(size, size, width, 0.3, hang)
    top = at_ends(flat.mesh.positions, width)[1]
    uneven = unevenness * np.random.default_rng(seed).normal(size=flat.positions.shape)
    sheet_ = core.Cloth(flat.mesh, COTTON, positions=flat.positions + uneven, pins=dict.fromkeys(top.tolist()))
    return Staged(core.Scene([sheet_], [core.Collider(side(s), triangles, friction=0.3, name=name)
                                        for s, name in ((-1, "upper arm"), (1, "forearm"))]), frames)


def closing_walls(size, frames=12, speed=0.7, width=0.6, apart=0.7, **more):
    """A level sheet falls 0.1 m onto the floor while two walls close on it; `more` are options of the cloth."""
    wall, triangles = sheet(2, 2, 3.0, 3.0)

    def side(sign):
        return lambda t: turned(wall, 0.5 * np.pi, axis=1) + [sign * (0.5 * apart - speed * t), 0.0, 1.0]

    return Staged(core.Scene([cloth(size, size, width, width, lambda p: p + [0.0, 0.0, 0.1], **more)],
                             [*(core.Collider(side(s), triangles, friction=0.3, name="wall") for s in (-1, 1)),
                              floor()]), frames)


def wedge(size, frames=44, angle=22.6, tilt=0.0, shake=0.0, width=0.6):
    """An upright sheet slides into a V of two walls, an open mesh `angle` [degrees] wide.

    The walls are tilted by `tilt` [degrees] and shaken by up to `shake` [m].
    """
    wide = np.tan(np.radians(0.5 * angle))
    corners = np.array([[-wide, -1, 1], [-wide, 1, 1], [0, 1, 0], [0, -1, 0], [wide, -1, 1], [wide, 1, 1]])
    walls = turned(corners, np.radians(tilt), axis=0)

    def at(t):
        return walls + shake * np.array([np.sin(12.0 * t), np.sin(8.4 * t), 0.0])

    def upright(p):
        return np.column_stack([p[:, 2], p[:, 1], -p[:, 0]]) + [0.02, 0.01, 0.9]

    triangles = np.array([[0, 3, 2], [0, 2, 1], [3, 4, 5], [3, 5, 2]])
    return Staged(core.Scene([cloth(size, size, width, width, upright)],
                             [core.Collider(at if shake else walls, triangles, friction=0.1, name="wedge")]), frames)


def snatched(size, frames=3, speed=30.0, **more):
    """A ball goes through an upright sheet of 0.6 m, held above and below; `more` are options of the cloth."""
    shape, triangles = ball(12, 6, 0.06)
    held = dict.fromkeys([*range(size), *range(size * (size - 1), size * size)])
    return Staged(core.Scene(
        [cloth(size, size, 0.6, 0.6, lambda p: turned(p, 0.5 * np.pi, axis=0), pins=held, **more)],
        [core.Collider(lambda t: shape + [0.0, 0.1 - speed * t, -0.1], triangles, friction=0.3, name="ball")]), frames)


def through_solid(solid, size=16, frames=36, width=0.6, lift=0.0, tilt=10.0, gravity=0.0, **more):
    """A level sheet starts through a closed solid (positions, triangles), `lift` [m] above its middle.

    The solid is tilted by `tilt` [degrees]; `more` are options of the cloth.
    """
    x = turned(turned(solid[0], np.radians(tilt), axis=0), 0.3, axis=2) + [0.011, 0.007, -lift]
    return Staged(core.Scene([cloth(size, size, width, width, **more)], [core.Collider(x, solid[1], friction=0.3)],
                             gravity=(0.0, 0.0, -gravity)), frames, clean=False)


def flag_in_its_pole(size=24, frames=36, swing=0.0):
    """A flag in the wind, with its first column pinned to the axis of its pole, which swings by `swing` [m] to both
    sides.
    """
    x, pole = turned(sheet(size, size, 0.6, 0.6)[0], np.pi / 2, axis=0) + [0.3, 0.0, 0.0], capsule(0.03, 1.0)

    def pinned(start):
        return (lambda t: start + [0.0, swing * np.sin(4.0 * t), 0.0]) if swing else None

    held = {int(i): pinned(x[i]) for i in np.flatnonzero(np.abs(x[:, 0]) < 1e-6)}
    solid = core.Collider((lambda t: pole[0] + [0.0, swing * np.sin(4.0 * t), 0.0]) if swing else pole[0], pole[1],
                          friction=0.3)
    return Staged(core.Scene([cloth(size, size, 0.6, 0.6, lambda _: x, pins=held)], [solid], wind=(4.0, 1.0, 0.0)),
                  frames, clean=False)


def cape(size=24, frames=36):
    """A sheet hangs from the middle of its upper row, which is pinned well inside a ball."""
    x = sheet(size, size, 0.6, 0.6)[0]
    held = dict.fromkeys(np.flatnonzero((x[:, 1] > 0.3 - 1e-6) & (np.abs(x[:, 0]) < 0.14)).tolist())
    return Staged(core.Scene(
        [cloth(size, size, 0.6, 0.6, lambda x: turned(x, np.pi / 2 - 0.2, axis=0) - [0.0, 0.0, 0.2], pins=held)],
        [core.Collider(*ball(24, 12, 0.2), friction=0.3, name="shoulder")]), frames, clean=False)


def pulled_in(size=14, depth=0.12, rise=0.8, material=COTTON):
    """A sheet hangs in front of a ball; the pins of its upper row move into the ball and out again.

    They go `depth` [m] deep within `rise` [s].
    """
    flat = cloth(size, size, 0.5, 0.5, lambda p: turned(p, 0.5 * np.pi, axis=0) - [0.0, 0.25, 0.1])
    top = np.flatnonzero(flat.positions[:, 2] > 0.15 - 1e-6)

    def way(t, p):
        return p + [0.0, (depth + 0.05) * up_and_down(t, rise), 0.0]

    x, triangles = ball(24, 12, 0.2)
    held = core.Cloth(flat.mesh, material, positions=flat.positions, pins=moved((top, flat.positions[top], way)))
    return Staged(core.Scene([held], [core.Collider(x + [0.0, 0.0, 0.1], triangles, friction=0.3, name="ball")]),
                  round(2.0 * rise * RATE) + 8)


def born_late(size=14, birth=0.7, speed=0.5, frames=36):
    """A ball passes the place of a sheet whose vertices are emitted when the ball is half way through."""
    x, triangles = ball(20, 10, 0.12)
    upright = cloth(size, size, 0.5, 0.5, lambda p: turned(p, 0.5 * np.pi, axis=0), births=np.full(size * size, birth))
    return Staged(core.Scene([upright], [core.Collider(lambda t: x + [0.0, 0.3 - speed * t, 0.0], triangles,
                                                       friction=0.3, name="ball")]), frames)


SCENES = {"pushed_ball": pushed_ball, "spike": spike, "table_edge": table_edge, "fan": fan, "heavy_box": heavy_box,
          "walking_leg": walking_leg, "elbow": elbow, "closing_walls": closing_walls,
          "snatched": snatched}
