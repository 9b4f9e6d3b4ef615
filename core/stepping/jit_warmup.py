# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile the kernels before a simulation needs them, by simulating some dozens of vertices.

Numba compiles a kernel when it is first called. That takes half a minute for all of them on a machine without a kernel
cache, and a second with one. A caller that wants to show progress, and to be able to cancel, calls this first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..contact.bvh import BVH, element_boxes
from ..contact.containment import nearest
from ..contact.continuous import Pairs, near_pairs
from ..contact.distance import point_triangle
from ..contact.kept_searches import KeptSearches
from ..contact.triangle_surface import TriangleSurface
from ..description.cloth import Cloth
from ..description.collider import Collider
from ..description.material import Material
from ..description.mesh import ClothMesh
from ..description.models import MODEL_OPTIONS
from ..description.pins import Attachment
from ..description.pressure import Pressure
from ..description.scene import Scene
from ..description.settings import Solver
from ..errors import ClothError
from ..kernels import current
from ..kernels.backend import choose, is_complete, note_complete, rule_out, using
from ..linear.packed_matrix import LEAST_PACKED_TOLERANCE
from ..model.particle_system import ParticleSystem
from ..model.strain_limit import StrainLimit
from ..stencils import registry
from .audit import audit
from .simulate import simulate

FINE_SIDE, COARSE_SIDE = 12, 4
"""Vertices along a side of a sheet that uses multigrid, and of one that is always solved directly."""
FRAME_RATES = (24.0, 1e5)
"""Frames per second to try; an explicit integrator is stable at the second [1/s]."""
FABRIC = Material(areal_density=0.15, stretch=(1000.0, 800.0), shear=100.0, bend=(1e-5, 1e-5), damping=0.01,
                  friction=0.3, air_drag=0.1)
IN_AIR = replace(FABRIC, air_drag=None, drag_coefficient=1.0, skin_friction=0.01)
"""The same with the quadratic law of the air."""
_done: set[tuple[str, str, bool]] = set()       # (backend, model, more than one linearisation)


def is_warm(solver: Solver, models: Sequence[str] = ("baraff_witkin",)) -> bool:
    """Return whether all kernels for this solver and these models are compiled. May import Numba."""
    return choose(solver.backend) == "numpy" or _done.issuperset(_keys(solver, models))


def is_kept(solver: Solver, models: Sequence[str] = ("baraff_witkin",)) -> bool:
    """Return whether a process has compiled all Numba kernels for this solver and these models, and kept them on disk.

    Imports nothing. What is kept need not be there any more: then it is compiled again.
    """
    return all(is_complete(_part(solver, model)) for model in models)


def warm_up(solver: Solver, models: Sequence[str] = ("baraff_witkin",)) -> Iterator[float]:
    """Compile the kernels for this solver and these models; yield the fraction done, 0 to 1, between the parts.

    If compiling fails and `solver.backend` is None, simulations run on NumPy from then on.

    Raises:
        SolverError: the backend that the solver names cannot run here.
    """
    yield 0.0
    todo = [] if is_warm(solver, models) else [(model, part) for model in models for part in _PARTS]
    for done, (model, part) in enumerate(todo):
        yield 0.1 + 0.9 * done / len(todo)
        try:
            _simulate(part(model), solver)
            # with the matrix itself, as a fine and stiff sheet is solved at any tolerance
            _simulate(part(model), replace(solver, tolerance=min(solver.tolerance, 0.5 * LEAST_PACKED_TOLERANCE)))
            _weigh(part(model), solver)
            _limit_stretch(solver)
            _press(solver)
            _look_for_pairs(solver)
            _turn(solver)
            _cross(solver)
        except Exception as error:
            if solver.backend is not None:
                raise
            rule_out("numba", error)
            return
    _done.update(_keys(solver, models))
    if choose(solver.backend) == "numba":
        for model in models:
            note_complete(_part(solver, model))


def _simulate(scene: Scene, solver: Solver) -> None:
    """Simulate one frame of usual length, or a very short one if integrator or model cannot take that.

    With self-collision, because without it so few vertices are never solved with multigrid.
    """
    solver = replace(solver, steps_per_frame=1, self_collision=True)
    for rate in FRAME_RATES:
        try:
            for _ in simulate(scene, replace(solver, frame_rate=rate), range(2)):
                pass
            return
        except ClothError:                      # no fault of Numba: what is missing is compiled when it is needed
            continue


def _weigh(scene: Scene, solver: Solver) -> None:
    """Evaluate the elastic energy, and the work of forces, which some steps need."""
    with using(choose(solver.backend)):
        system = ParticleSystem(scene)
        start = system.initial_state()
        system.elastic(start.time).energy(start.x)
        current().gradients.dot(start.x, start.x)


def _limit_stretch(solver: Solver) -> None:
    """Apply *Limit Stretch* once, so that its kernels are compiled: most scenes do not use it."""
    sheet, held = _sheet(0.0, COARSE_SIDE), np.zeros(1, dtype=np.int64)
    with using(choose(solver.backend)):
        limit = StrainLimit(sheet.edges, 0.9 * sheet.rest_lengths, np.ones(len(sheet.positions)), held)
        limit.relaxed(sheet.positions, held)


def _press(solver: Solver) -> None:
    """Compute the force and the stiffness of a pressure once."""
    cloth = Cloth(_block(0.0, COARSE_SIDE), FABRIC, pressure=Pressure(1.0))
    with using(choose(solver.backend)):
        system = ParticleSystem(Scene([cloth]))
        x, elastic = system.nodes.start, system.elastic(0.0)
        elastic.stiffness(x, 1.0).multiply(elastic.force(x))


def _look_for_pairs(solver: Solver) -> None:
    """Search for pairs of a few vertices after one for all, and for the nearest triangle of a point; replace a pair by
    another one, multiply by what pairs add to the matrix, and follow a place on a triangle, as homes that spread do."""
    pair = Pairs(np.arange(4)[None], np.zeros((1, 2), dtype=np.int64), 1, np.ones((1, 4)), np.ones((1, 3)), np.ones(1),
                 np.ones(1))
    sheet, kept = _sheet(0.0, COARSE_SIDE), KeptSearches()
    x = sheet.positions.copy()
    with using(choose(solver.backend)):
        surface = TriangleSurface.build(x, sheet.triangles)
        for some in (None, np.ones(len(x), dtype=np.bool_)):
            near_pairs(surface, x, x, 1.0, np.zeros(len(x)), some=some, kept=kept)
        nearest(x[:1], x, sheet.triangles, BVH.build(*element_boxes(sheet.triangles, x)))
        pair.replaced(np.ones(4, dtype=np.bool_), pair)
        current().pair_penalty.add_product(pair.vertices, pair.weights, pair.normal, np.ones(1), np.ones(1), x, 0.0 * x)
        corners, kernels = np.arange(3)[None], current().surface_places
        kernels.follow(np.zeros((1, 3)), corners[0, :1], 0 * corners, 0, corners, np.eye(3), 0.0, 1)
        kernels.unit_normals(corners, np.eye(3))
        point_triangle(np.zeros((1, 3)), *np.eye(3)[:, None])


def _turn(solver: Solver) -> None:
    """Turn a body, as a solve with multigrid does in flight, which takes more vertices than these."""
    body, arm = np.zeros(3, dtype=np.int64), np.eye(3)
    with using(choose(solver.backend)):
        kernels = current().rigid_modes
        moments = kernels.moments(body, kernels.turned(arm[0], arm), arm, 1)
        kernels.moved(arm, moments, body, arm)


def _cross(solver: Solver) -> None:
    """Look at a triangle that an edge of another one pierces."""
    corners, way = np.eye(3), np.ones(3)
    with using(choose(solver.backend)):
        audit([(np.concatenate([corners, corners + [-way, way, way]]), np.arange(6).reshape(2, 3))])


def _keys(solver: Solver, models: Sequence[str]) -> set[tuple[str, str, bool]]:
    return {(choose(solver.backend), model, solver.linearisations != 1) for model in models}


def _part(solver: Solver, model: str) -> str:
    """Return the name of the kernels for this solver and a model on disk."""
    return f"{model}-{solver.integrator}{'' if solver.linearisations == 1 else '-newton'}"


def _mesh(model: str, height: float, side: int) -> ClothMesh:
    """Return the first of some meshes that the model accepts, `height` [m] above the floor."""
    for make in _MESHES:
        mesh = make(height, side)
        try:
            registry.find(model)(mesh, FABRIC)
            return mesh
        except ClothError:
            continue
    return _sheet(height, side)                 # the model refuses it with a message


def _net(height: float, side: int) -> ClothMesh:
    sheet = _sheet(height, side)
    return ClothMesh(sheet.positions, edges=sheet.edges)


def _block(height: float, side: int) -> ClothMesh:
    corners = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return ClothMesh(corners + [0.0, 0.0, height], faces=faces)


def _points(height: float, side: int) -> ClothMesh:
    return ClothMesh(_sheet(height, side).positions, points=True)


def _sheet(height: float, side: int) -> ClothMesh:
    u, v = np.meshgrid(np.linspace(0.0, 1.0, side), np.linspace(0.0, 1.0, side), indexing="ij")
    grid = np.arange(side * side).reshape(side, side)
    quads = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=-1).reshape(-1, 4)
    return ClothMesh(np.stack([u, v, np.full_like(u, height)], axis=-1).reshape(-1, 3), faces=quads)


def _solid() -> Collider:
    return Collider([[-3.0, -3.0, 0.0], [6.0, -3.0, 0.0], [-3.0, 6.0, 0.0], [0.0, 0.0, -2.0]],
                    [[0, 1, 2], [1, 0, 3], [2, 1, 3], [0, 2, 3]], friction=0.5)


def _hanging(model: str) -> Scene:
    return Scene([Cloth(_mesh(model, 1.0, FINE_SIDE), FABRIC, model, pins={0: None})], wind=(0.0, 3.0, 0.0))


def _landing(model: str) -> Scene:
    """Return a free sheet on a solid, which all integrators with a tangent stiffness solve with multigrid."""
    return Scene([Cloth(_mesh(model, 0.01, FINE_SIDE), FABRIC, model)], [_solid()], wind=(0.0, 3.0, 0.0))


def _lying(model: str) -> Scene:
    """Return a sheet on a sheet on a solid, with a soft pin, an attachment along one direction, and a button. The upper
    one buckles, where the model has that."""
    lower, upper = _mesh(model, 0.01, COARSE_SIDE), _mesh(model, 0.08, COARSE_SIDE)
    pins = np.zeros(len(lower.positions))
    pins[0] = 0.5
    line = Attachment(len(lower.positions) - 1, directions=[(1.0, 0.0, 0.0)])
    buttons = [(1, 2)] if len(lower.edges) else []
    cloth = Cloth(lower, FABRIC, model, pins=pins, attachments=[line], buttons=buttons)
    options: dict[str, Any] = {"buckling": True} if "buckling" in MODEL_OPTIONS.get(model, {}) else {}
    return Scene([cloth, Cloth(upper, IN_AIR, model, **options)], [_solid()], wind=(0.0, 3.0, 0.0))


_MESHES: tuple[Callable[[float, int], ClothMesh], ...] = (_sheet, _net, _points, _block)
_PARTS: tuple[Callable[[str], Scene], ...] = (_hanging, _landing, _lying)
