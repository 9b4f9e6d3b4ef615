# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth tears where the tension across an edge is above its strength, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import core
from core.cache.scene_file import load_scene, save_scene
from core.description.split_edges import SplitEdges
from core.description.torn_scene import TornScene
from core.model.edge_tension import edge_tensions
from core.model.particle_system import ParticleSystem

SIDE, LONG, WIDE = 0.05, 6, 4
STIFFNESS = 1000.0
FABRIC = core.Material(areal_density=0.2, stretch=(STIFFNESS, STIFFNESS), shear=500.0, bend=(1e-5, 1e-5), damping=0.05)
SPEED = 0.06


def grid(long: int = LONG, wide: int = WIDE) -> tuple[np.ndarray, list[list[int]]]:
    """Return the vertices and quads of a sheet."""
    places = np.array([(i * SIDE, j * SIDE, 0.0) for i in range(long + 1) for j in range(wide + 1)])
    corners = [i * (wide + 1) + j for i in range(long) for j in range(wide)]
    return places, [[a, a + wide + 1, a + wide + 2, a + 1] for a in corners]


def split_sheet(edges: Any = None, **size: int) -> core.ClothMesh:
    """Return a sheet split along `edges`, all if not given."""
    places, faces = grid(**size)
    rings, origin = core.split_faces(faces, edges)
    return core.ClothMesh(places[origin], faces=rings, split=True)


def pulled(mesh: core.ClothMesh, strength: Any, weights: Any = None, speed: float = SPEED,
           fabric: core.Material = FABRIC) -> core.Scene:
    """Return a strip that is held at one end and pulled at the other one."""
    x = mesh.positions
    away = np.where(x[:, 0] > 0.5 * x[:, 0].max(), speed, 0.0)
    pins = (np.minimum(x[:, 0], x[:, 0].max() - x[:, 0]) < 1e-9).astype(float)
    cloth = core.Cloth(mesh, fabric, pins=pins, pin_targets=lambda t: x + np.outer(t * away, [1.0, 0.0, 0.0]),
                       tearing=core.Tearing(strength, weights))
    return core.Scene([cloth], gravity=(0.0, 0.0, 0.0))


def torn(frame: core.Frame) -> np.ndarray:
    """Return the flags of the torn edges at a frame."""
    flags = frame.checkpoint().state.torn
    assert flags is not None
    return flags


def torn_middles(mesh: core.ClothMesh, frame: core.Frame) -> np.ndarray:
    """Return the middles at rest of the torn edges."""
    ends = SplitEdges.of(mesh.positions, mesh.triangles).ends[:, 0]
    return mesh.positions[ends].mean(axis=1)[torn(frame)]


def test_a_strip_tears_when_the_force_per_width_is_its_strength() -> None:
    strength, frames = 50.0, 40
    tension = [STIFFNESS * SPEED * (n / 24.0 + FABRIC.damping) / (LONG * SIDE) for n in range(frames)]
    done = list(core.simulate(pulled(split_sheet(), strength), frames=range(frames)))
    counts = [int(torn(frame).sum()) for frame in done]
    assert [frame.certificate.torn_edges for frame in done] == counts
    begins = next(n for n, count in enumerate(counts) if count)
    assert tension[begins - 1] < strength <= 1.02 * tension[begins]
    assert counts[-1] == WIDE                                                     # one line across, and no more


def test_a_torn_strip_has_no_tension_left() -> None:
    *_, last = core.simulate(pulled(split_sheet(), 50.0), frames=range(48))
    x = last.positions[0]
    assert np.ptp(x[:, 0]) > LONG * SIDE * 1.3
    assert last.certificate.stretch_max < 1.01
    assert last.certificate.crossings == 0


def test_nothing_tears_below_the_strength() -> None:
    frames = list(core.simulate(pulled(split_sheet(), 500.0), frames=range(24)))
    assert not any(torn(frame).any() for frame in frames)


def test_a_strip_tears_along_its_weak_line() -> None:
    mesh = split_sheet()
    weak = 4 * SIDE
    weights = np.where(np.abs(mesh.positions[:, 0] - weak) < 1e-9, 0.5, 1.0)
    *_, last = core.simulate(pulled(mesh, 100.0, weights), frames=range(30))
    middles = torn_middles(mesh, last)
    assert len(middles) == WIDE
    assert np.allclose(middles[:, 0], weak)


def test_an_edge_without_strength_tears_at_once() -> None:
    mesh = split_sheet()
    weights = np.where(np.abs(mesh.positions[:, 0] - 2 * SIDE) < 1e-9, 0.0, 1.0)
    frames = list(core.simulate(pulled(mesh, 1e6, weights, speed=0.0), frames=range(2)))
    assert len(torn_middles(mesh, frames[1])) == WIDE


def test_an_infinite_weight_never_tears() -> None:
    mesh = split_sheet()
    weights = np.where(mesh.positions[:, 0] < 3.5 * SIDE, np.inf, 1.0)
    *_, last = core.simulate(pulled(mesh, 20.0, weights), frames=range(30))
    assert len(torn_middles(mesh, last)) >= WIDE
    assert torn_middles(mesh, last)[:, 0].min() > 3.5 * SIDE


def test_a_tear_grows_from_a_notch() -> None:
    mesh = split_sheet(long=8, wide=6)
    notch = (np.abs(mesh.positions[:, 0] - 4 * SIDE) < 1e-9) & (mesh.positions[:, 1] < 2.5 * SIDE)
    *_, last = core.simulate(pulled(mesh, 60.0, np.where(notch, 0.0, 1.0), speed=0.02), frames=range(60))
    middles = torn_middles(mesh, last)
    assert np.allclose(middles[:, 0], 4 * SIDE)
    assert len(middles) == 6


def test_only_edges_at_which_the_mesh_is_split_tear() -> None:
    line = [(3 * (WIDE + 1) + j, 3 * (WIDE + 1) + j + 1) for j in range(WIDE)]
    mesh = split_sheet(line)
    *_, last = core.simulate(pulled(mesh, 20.0), frames=range(30))
    assert np.allclose(torn_middles(mesh, last)[:, 0], 3 * SIDE)
    assert torn(last).all()


def test_momentum_is_kept_when_cloth_tears() -> None:
    mesh = split_sheet()
    x = mesh.positions
    velocities = np.outer(x[:, 0], [1.0, 0.0, 0.0]) + np.outer(x[:, 1], [0.0, 0.0, 4.0]) + [0.3, -0.2, 0.5]
    weights = np.where(np.abs(x[:, 0] - 2 * SIDE) < 1e-9, 0.0, 1.0)
    cloth = core.Cloth(mesh, FABRIC, velocities=velocities, tearing=core.Tearing(1e6, weights))
    mass = mesh.vertex_areas * FABRIC.areal_density
    momenta, counts = [], []
    for frame in core.simulate(core.Scene([cloth], gravity=(0.0, 0.0, 0.0)), core.Solver(tolerance=1e-10),
                               frames=range(8)):
        momenta.append(mass @ frame.velocities[0])
        counts.append(int(torn(frame).sum()))
    assert counts[1] == WIDE
    size = float(mass @ np.linalg.norm(velocities, axis=1))
    assert np.abs(np.array(momenta) - momenta[0]).max() < 1e-9 * size


def test_vertices_that_have_not_torn_are_at_one_place() -> None:
    mesh = split_sheet()
    for frame in core.simulate(pulled(mesh, 50.0), frames=range(30)):
        edges = SplitEdges.of(mesh.positions, mesh.triangles)
        joined = edges.joined(torn(frame))
        assert np.array_equal(frame.positions[0], frame.positions[0][joined])
    assert (joined != edges.joined(np.zeros(len(edges), dtype=bool))).any()


def sheet_with(what: str, mesh: core.ClothMesh) -> core.Cloth:
    """Return a sheet with settings that have a value for each vertex."""
    x = mesh.positions
    pins, ramp = (x[:, 0] == 0.0).astype(float), 1.0 + x[:, 0]
    bent = x + np.outer(np.sin(9.0 * x[:, 0]), [0.0, 0.0, 0.02])
    options: dict[str, Any] = {
        "pins": {"pins": {0: None, 4: lambda t: [0.0, WIDE * SIDE, 0.1 * t]}},
        "weights": {"pins": 0.5 * pins, "velocities": x, "attachments": [core.Attachment(7, [[0.0, 0.0, 1.0]])]},
        "functions": {"pins": lambda t: pins * min(1.0, 2.0 * t), "pin_targets": lambda t: x + [0.0, 0.0, 0.2 * t],
                      "rest_motion": lambda t: x * [1.0 + 0.1 * t, 1.0, 1.0],
                      "rest_scale": lambda t: 1.0 - 0.1 * t * x[:, 0]},
        "maps": {"pins": pins, "positions": bent, "rest_scale": 0.9 * ramp, "rest_curvature": 3.0 * x[:, 1],
                 "stretch_scale": ramp, "bend_scale": ramp, "births": 0.1 * (x[:, 0] > 0.5 * LONG * SIDE)},
        "contact": {"contact": core.ClothContact(not_self=x[:, 1] > 2.5 * SIDE, not_objects=x[:, 0] < 1.5 * SIDE),
                    "pressure": core.Pressure(20.0, weights=x[:, 0] / x[:, 0].max())},
        "springs": {"pins": pins, "internal_springs": core.InternalSprings(100.0, scale=ramp)}}[what]
    return core.Cloth(mesh, FABRIC, thickness=0.005, **options)


@pytest.mark.parametrize("what", ["pins", "weights", "functions", "maps", "contact", "springs"])
def test_a_split_mesh_that_does_not_tear_moves_as_the_whole_one_to_the_byte(what: str) -> None:
    places, faces = box() if what == "springs" else grid()
    rings, origin = core.split_faces(faces)
    floor = core.Collider([[-9.0, -9, -0.1], [9, -9, -0.1], [9, 9, -0.1], [-9, 9, -0.1]], [[0, 1, 2], [0, 2, 3]])

    def frames(mesh: core.ClothMesh) -> list[core.Frame]:
        return list(core.simulate(core.Scene([sheet_with(what, mesh)], [floor]), frames=range(8)))

    whole, split = frames(core.ClothMesh(places, faces=faces)), frames(
        core.ClothMesh(places[origin], faces=rings, split=True))
    for one, other in zip(whole, split, strict=True):
        assert len(other.checkpoint().state.x) == len(places)                       # joined vertices are one
        assert one.positions[0][origin].tobytes() == other.positions[0].tobytes()
        assert one.velocities[0][origin].tobytes() == other.velocities[0].tobytes()
        assert one.certificate.stretch_at == other.certificate.stretch_at


def test_messages_of_a_split_mesh_have_its_numbers() -> None:
    mesh = split_sheet()
    last = len(mesh.positions) - 1

    def targets(time: float) -> np.ndarray:
        x = mesh.positions.copy()
        x[last] += np.inf if time > 0.0 else 0.0
        return x

    cloth = core.Cloth(mesh, FABRIC, pins=np.ones(len(mesh.positions)), pin_targets=targets)
    with pytest.raises(core.PinError, match=f"vertex {last} "):
        list(core.simulate(core.Scene([cloth]), frames=range(2)))


@pytest.mark.parametrize("integrator", ["implicit_euler", "bdf2"])
def test_a_simulation_that_tears_is_the_same_after_a_checkpoint(integrator: str, tmp_path: Any) -> None:
    scene, frames, solver = pulled(split_sheet(), 50.0), 26, core.Solver(integrator=integrator, steps_per_frame=1)
    through = list(core.simulate(scene, solver, frames=range(frames)))
    counts = [int(torn(frame).sum()) for frame in through]
    middle = next(n for n, count in enumerate(counts) if count)
    assert counts[middle] < counts[-1]
    through[middle].checkpoint().save(tmp_path / "middle")
    again = list(core.simulate(scene, solver, frames=range(middle + 1, frames),
                               start=core.Checkpoint.load(tmp_path / "middle")))
    for one, other in zip(through[middle + 1:], again, strict=True):
        assert one.positions[0].tobytes() == other.positions[0].tobytes()
        assert one.velocities[0].tobytes() == other.velocities[0].tobytes()
        assert torn(one).tobytes() == torn(other).tobytes()


def test_a_scene_that_tears_travels_through_a_file(tmp_path: Any) -> None:
    mesh = split_sheet()
    cloth = core.Cloth(mesh, FABRIC, pins={0: None}, tearing=core.Tearing(30.0, np.linspace(0.5, 1.0, len(
        mesh.positions))), velocities=np.outer(mesh.positions[:, 0], [60.0, 0.0, 0.0]))
    scene, window = core.Scene([cloth]), core.MotionWindow(0, 24.0, {})
    save_scene(tmp_path / "scene", scene, core.Solver(), window)
    other, solver, _ = load_scene(tmp_path / "scene")
    *_, one = core.simulate(scene, frames=range(6))
    *_, two = core.simulate(other, solver, frames=range(6))
    assert torn(one).any()
    assert one.positions[0].tobytes() == two.positions[0].tobytes()


def box(cells: int = 4, side: float = 0.3) -> tuple[np.ndarray, list[list[int]]]:
    """Return the vertices and quads of a closed box."""
    numbers: dict[tuple[int, ...], int] = {}
    faces = []
    for axis in range(3):
        for far in (0, cells):
            for i in range(cells):
                for j in range(cells):
                    ring = []
                    for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                        place = [0, 0, 0]
                        place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3] = far, a, b
                        ring.append(numbers.setdefault(tuple(place), len(numbers)))
                    faces.append(ring if far else ring[::-1])
    return np.array(list(numbers)) * side / cells, faces


def test_a_balloon_that_bursts_loses_its_pressure() -> None:
    places, faces = box()
    rings, origin = core.split_faces(faces)
    mesh = core.ClothMesh(places[origin], faces=rings, split=True)
    cloth = core.Cloth(mesh, FABRIC, pressure=core.Pressure(600.0), tearing=core.Tearing(60.0))
    frames = list(core.simulate(core.Scene([cloth], gravity=(0.0, 0.0, 0.0)), frames=range(12)))
    assert torn(frames[-1]).any()
    speed = [float(np.abs(frame.velocities[0]).max()) for frame in frames]
    assert speed[-1] < max(speed)                                    # open pieces are pushed no further
    assert np.abs(frames[-1].positions[0]).max() < 10.0


def test_plastic_cloth_tears_and_keeps_what_has_flowed() -> None:
    from core.description.arguments import arguments_of

    given = dict(arguments_of(pulled(split_sheet(), 9.0).cloths[0]))
    cloth = core.Cloth(**{**given, "plasticity": core.Plasticity(0.0085, 1.0, hardening=0.05)})
    scene = core.Scene([cloth], gravity=(0.0, 0.0, 0.0))
    before: Any = None
    for frame in core.simulate(scene, frames=range(24)):
        state = frame.checkpoint().state
        assert state.plastic is not None
        if before is not None:
            assert len(state.plastic) == len(before)
        before = state.plastic
    assert torn(frame).any()
    assert np.abs(before[:4 * len(cloth.mesh.triangles)].reshape(-1, 4) - [1.0, 0.0, 0.0, 1.0]).max() > 1e-3


def test_steps_of_explicit_integrators_are_short_enough_for_torn_cloth() -> None:
    fabric = core.Material(areal_density=0.2, stretch=(100.0, 100.0), shear=50.0, bend=(0.0, 0.0), damping=0.0)
    solver, longest = core.Solver(integrator="verlet", steps_per_frame=24), []
    for weight in (1.0, 0.0):                                                   # all edges of weight 0 tear at once
        places, faces = grid(long=3, wide=1)
        places[places[:, 0] > 1.5 * SIDE, 0] -= 0.8 * SIDE           # a narrow face loses the mass of its neighbours
        rings, origin = core.split_faces(faces)
        mesh = core.ClothMesh(places[origin], faces=rings, split=True)
        cloth = core.Cloth(mesh, fabric, tearing=core.Tearing(1e6, np.full(len(mesh.positions), weight)))
        *_, last = core.simulate(core.Scene([cloth]), solver, frames=range(2))
        control = last.checkpoint().state.control
        assert control is not None
        longest.append(control.longest)
    assert longest[1] < longest[0]


def test_the_strength_may_be_a_function_of_the_time() -> None:
    scene = pulled(split_sheet(), lambda t: 1e4 if t < 0.51 else 20.0)
    counts = [int(torn(frame).sum()) for frame in core.simulate(scene, frames=range(16))]
    assert not any(counts[:13])                                                # pulled with 50 N/m at 0.25 s already
    assert counts[-1] > 0


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.2])
def test_the_tension_across_edges_is_that_of_the_stress(angle: float) -> None:
    places, faces = grid()
    c, s = np.cos(angle), np.sin(angle)
    rings, origin = core.split_faces(faces)
    turned = places @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    mesh = core.ClothMesh(turned[origin], faces=rings, split=True)                      # warp along x
    cloth = core.Cloth(mesh, FABRIC, tearing=core.Tearing(1.0))
    system = ParticleSystem(core.Scene([cloth]))
    edges, place = system.tears.edges[0], system.tears.place[0]
    assert edges is not None and place is not None
    x = system.nodes.start * [1.08, 1.03, 1.0]
    found = edge_tensions(edges, place, system.scene.cloths[0], 0, system.element_forces(0.0), x, 0.0 * x)
    ends = mesh.positions[edges.ends[:, 0]]
    along = ends[:, 1] - ends[:, 0]
    normal = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    traction = normal * [0.08 * STIFFNESS, 0.03 * STIFFNESS]
    now = np.column_stack([along[:, 1] * 1.03, -along[:, 0] * 1.08])               # normal of the stretched edge
    assert np.allclose(found, np.einsum("wi,wi->w", traction, now) / np.linalg.norm(now, axis=1), rtol=1e-9)


def test_the_tension_balances_the_force_on_a_strip_with_that_of_damping() -> None:
    system = ParticleSystem(pulled(split_sheet(), 1.0))
    edges, place = system.tears.edges[0], system.tears.place[0]
    assert edges is not None and place is not None
    start = system.nodes.start
    x, v = start * [1.03, 1.0, 1.0], start * [0.4, 0.0, 0.0]
    found = edge_tensions(edges, place, system.scene.cloths[0], 0, system.element_forces(0.0), x, v)
    straight = np.ptp(system.nodes.rest[place][edges.ends[:, 0]], axis=1)[:, 0] == 0.0
    force = system.force(x, v, 0.0)[start[:, 0] > 0.999 * start[:, 0].max(), 0].sum()             # on its pulled end
    assert np.allclose(found[straight], -force / (WIDE * SIDE), rtol=1e-9)
    assert np.allclose(found[straight], STIFFNESS * (0.03 + FABRIC.damping * 0.4), rtol=1e-3)


def test_pushed_edges_have_no_tension() -> None:
    system = ParticleSystem(pulled(split_sheet(), 1.0))
    edges, place = system.tears.edges[0], system.tears.place[0]
    assert edges is not None and place is not None
    x = system.nodes.start * [0.9, 1.0, 1.0]
    found = edge_tensions(edges, place, system.scene.cloths[0], 0, system.element_forces(0.0), x, 0.0 * x)
    straight = np.ptp(system.nodes.rest[place][edges.ends[:, 0]], axis=1)
    assert found[straight[:, 0] == 0.0].max() < 1e-9 * STIFFNESS


def test_faces_are_split_into_as_many_vertices_as_fans() -> None:
    _, faces = grid()
    rings, origin = core.split_faces(faces)
    assert len(origin) == 4 * len(faces)                                       # every face on its own
    assert [[int(origin[v]) for v in ring] for ring in rings] == faces
    count = (LONG + 1) * (WIDE + 1)
    line = [(3 * (WIDE + 1) + j, 3 * (WIDE + 1) + j + 1) for j in range(2)]           # from the border inwards
    _, origin = core.split_faces(faces, line)
    assert len(origin) == count + 2                                            # its inner end stays one vertex
    assert len(core.split_faces(faces, [])[1]) == count


def test_whole_edges_join_a_split_mesh_to_the_original_one() -> None:
    mesh = split_sheet()
    edges = SplitEdges.of(mesh.positions, mesh.triangles)
    none, all_ = np.zeros(len(edges), dtype=bool), np.ones(len(edges), dtype=bool)
    assert len(edges) == LONG * (WIDE - 1) + (LONG - 1) * WIDE
    assert len(np.unique(edges.joined(none))) == (LONG + 1) * (WIDE + 1)
    assert np.array_equal(edges.joined(all_), np.arange(len(mesh.positions)))
    tears = TornScene(pulled(mesh, 1.0))
    assert len(tears.scene.cloths[0].mesh.hinges) == len(edges) + LONG * WIDE         # and the diagonals of the quads


@pytest.mark.parametrize(("make", "words"), [
    (lambda mesh: core.Cloth(core.ClothMesh(*_whole()), FABRIC, tearing=core.Tearing(10.0)), "not split"),
    (lambda mesh: core.Cloth(mesh, FABRIC, model="mass_spring", tearing=core.Tearing(10.0)), "mass_spring"),
    (lambda mesh: core.Cloth(mesh, FABRIC, tearing=10.0), "must be a Tearing"),
    (lambda mesh: core.Cloth(mesh, FABRIC, tearing=core.Tearing(10.0, [1.0])), "one number for each"),
    (lambda mesh: core.Cloth(mesh, FABRIC, tearing=core.Tearing(10.0, -np.ones(len(mesh.positions)))), "vertex 0"),
    (lambda mesh: core.Cloth(mesh, FABRIC, tearing=core.Tearing(1.0), plasticity=core.Plasticity(0.1, 1.0),
                             bending="hinge"), "patch"),
    (lambda mesh: core.Tearing(-1.0), "strength of the tearing"),
])
def test_tearing_that_is_not_possible_is_refused(make: Callable[[core.ClothMesh], Any], words: str) -> None:
    with pytest.raises(core.ClothError, match=words):
        make(split_sheet())


def _whole() -> tuple[np.ndarray, np.ndarray]:
    places, faces = grid()
    rings = np.array(faces)
    return places, np.concatenate([rings[:, [0, 1, 2]], rings[:, [0, 2, 3]]])
