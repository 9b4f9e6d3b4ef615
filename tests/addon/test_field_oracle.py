# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields, read from Blender and computed by the core, are what Blender's own particles feel.

COMBINATIONS of types, shapes, falloffs and options are drawn by seed, each at POINTS random points; the long suite has
more of them. Points whose nearest point of a surface lies on an edge are left out: there Blender takes either face's
normal. The tolerance of the others grows by what a change of the position in the last place of single precision makes.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from tests.addon import blender_fields, builders
from tests.cases import case_count

POINTS = 501
COMBINATIONS = case_count(70)
PORTION = 10
"""Number of combinations in one test."""
TOLERANCE = 1e-5
"""Largest error of an acceleration, over the largest one of the combination or 1."""
ROUNDING = 2.0 ** -22
"""Relative change of a position that Blender's single precision may make."""
COSINE_ROUNDING = 2.0 ** -21
"""Error of a cosine in single precision."""
TYPES = ("FORCE", "WIND", "VORTEX", "MAGNET", "HARMONIC", "TURBULENCE", "DRAG")
SHAPES = ("POINT", "LINE", "PLANE", "SURFACE", "POINTS")
FALLOFFS = ("SPHERE", "TUBE", "CONE")
Z_DIRECTIONS = ("BOTH", "POSITIVE", "NEGATIVE")
NORMALS_MATTER = ("WIND", "VORTEX", "MAGNET")


def drawn(number: int, rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    """Return type and settings of a combination."""
    kind, shape, falloff = TYPES[number % len(TYPES)], rng.choice(SHAPES), rng.choice(FALLOFFS)
    if kind == "VORTEX" and shape == "LINE":
        shape = "PLANE"                                 # Blender offers no line for it
    radial = (60.0, 60.0, 120.0) if falloff == "CONE" else (1.5, 1.5, 4.0)
    settings: dict[str, Any] = {
        "shape": str(shape), "falloff_type": str(falloff), "z_direction": str(rng.choice(Z_DIRECTIONS)),
        "flow": rng.uniform(0.0, 2.0) * rng.integers(2), "falloff_power": rng.uniform(0.0, 2.0),
        "use_min_distance": bool(rng.integers(2)), "distance_min": rng.uniform(0.0, 1.5),
        "use_max_distance": bool(rng.integers(2)), "distance_max": rng.uniform(1.5, 4.0),
        "radial_falloff": rng.uniform(0.0, 2.0),
        "use_radial_min": bool(rng.integers(2)), "radial_min": rng.uniform(0.0, radial[0]),
        "use_radial_max": bool(rng.integers(2)), "radial_max": rng.uniform(*radial[1:])}
    if kind == "DRAG":
        settings |= {"linear_drag": rng.uniform(0.0, 2.5), "quadratic_drag": rng.uniform(0.0, 2.5)}
    else:
        settings |= {"strength": rng.uniform(-3.0, 3.0)}
    if kind == "FORCE":
        settings |= {"use_gravity_falloff": bool(rng.integers(2))}
    if kind == "HARMONIC":
        settings |= {"harmonic_damping": rng.uniform(0.0, 2.0), "rest_length": rng.uniform(0.1, 1.0) * rng.integers(2)}
    if kind == "TURBULENCE":
        settings |= {"size": rng.uniform(0.1, 2.0) * rng.integers(2), "use_global_coords": bool(rng.integers(2))}
    return kind, settings


def on_edges(field: Any, x: np.ndarray) -> np.ndarray:
    """Return whether the nearest point of a field's surface to each x (V, 3) lies on an edge or a vertex."""
    vertices = field.vertices(0.0)
    distances = np.array([_distances(x, *vertices[triangle]) for triangle in field.triangles])
    nearest = np.sort(distances, axis=0)
    return nearest[1] < nearest[0] + 1e-4


def _distances(x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    from mathutils import Vector
    from mathutils.geometry import closest_point_on_tri

    corners = [Vector(corner) for corner in (a, b, c)]
    return np.array([np.linalg.norm(point - closest_point_on_tri(Vector(point), *corners)) for point in x])


@pytest.fixture
def read(extension, scene):
    """Return a function that reads the scene at its first frame."""
    import bpy

    def read():
        settings = extension.settings.scene_settings_of(scene)
        return extension.read_scene.read_scene(scene, settings, None, bpy.context.view_layer).scene

    return read


def forces(extension, scene, moved, x=None):
    """Return the sum (V, 3) of the fields of a core scene, for the particles of `moved`, or at x (V, 3)."""
    found = extension.core.field_forces(scene.fields, moved.x if x is None else x, moved.v, colliders=scene.colliders,
                                        lookahead=blender_fields.PARTICLE_STEP, backend="numpy")
    return found.sum(axis=0)


def values_of(extension):
    """Return the names of the numbers of a field."""
    return importlib.import_module(f"{extension.core.__name__}.description.force_fields").VALUES


def cone_rounding(extension, field, x):
    """Return the relative error (V,) of a cone's falloff by the rounding of the angle's cosine in single precision."""
    numbers = dict(zip(values_of(extension), field.numbers_at(0.0), strict=True))
    own = x - [numbers[name] for name in ("x", "y", "z")]
    axes = np.array([[numbers[name] for name in ("xz", "yz", "zz")]])
    if field.shape == "points":
        axes = field.normals(0.0)
    elif field.shape == "surface":
        a, b, c = (field.vertices(0.0)[field.triangles[:, corner]] for corner in range(3))
        axes = np.cross(b - a, c - a)
    cosine = (own @ axes.T) / np.outer(np.linalg.norm(own, axis=1), np.linalg.norm(axes, axis=1))
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    degrees = np.degrees(COSINE_ROUNDING / np.maximum(np.sin(angle), np.sqrt(COSINE_ROUNDING)))
    power, minimum = numbers["radial_power"], numbers["radial_minimum"]
    return (power * degrees / (1.0 + np.maximum(np.degrees(angle) - minimum, 0.0))).max(axis=1)


def distance_rounding(extension, field, x):
    """Return the relative error (V,) of the distance from a plane or an axis, which is a difference of positions."""
    numbers = dict(zip(values_of(extension), field.numbers_at(0.0), strict=True))
    own = x - [numbers[name] for name in ("x", "y", "z")]
    axis = np.array([numbers[name] for name in ("xz", "yz", "zz")])
    axis /= np.linalg.norm(axis)
    height = own @ axis
    distance = np.abs(height) if field.shape == "plane" else np.linalg.norm(own - np.outer(height, axis), axis=1)
    return 3.0 * ROUNDING * np.abs(x).max() / np.maximum(distance, 1e-9)


def errors(extension, scene, moved):
    """Return the errors (V,) of the accelerations, over the tolerance that each has."""
    found = forces(extension, scene, moved)
    allowed = np.full(len(found), TOLERANCE * max(1.0, np.abs(moved.a).max()))
    for field in scene.fields:
        if field.falloff == "cone":
            allowed += cone_rounding(extension, field, moved.x) * max(1.0, np.abs(moved.a).max())
        if field.shape in ("plane", "line"):
            allowed += distance_rounding(extension, field, moved.x) * max(1.0, np.abs(moved.a).max())
    rng = np.random.default_rng(0)
    for _ in range(4):
        near = moved.x + ROUNDING * np.abs(moved.x).max() * rng.uniform(-1.0, 1.0, moved.x.shape)
        allowed += np.abs(forces(extension, scene, moved, near) - found).max(axis=1)
    return np.abs(found - moved.a).max(axis=1) / allowed


@pytest.mark.parametrize("first", range(0, COMBINATIONS, PORTION))
def test_fields_are_what_blender_s_particles_feel(extension, read, first):
    import bpy

    for number in range(first, min(first + PORTION, COMBINATIONS)):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rng = np.random.default_rng(number)
        kind, settings = drawn(number, rng)
        emitter = blender_fields.particles(rng.uniform(-3.0, 3.0, (POINTS, 3)), rng.uniform(0.0, 2.0),
                                           rng.uniform(-1.0, 1.0, 3))
        place = blender_fields.placed(rng)
        mesh = blender_fields.bumpy_mesh(rng) if settings["shape"] in ("SURFACE", "POINTS") else None
        blender_fields.add_field(kind, place, mesh, **settings)
        moved = blender_fields.motion(emitter)
        builders.sheet()
        read_scene = scene_of(extension)
        field, = read_scene.fields
        found = errors(extension, read_scene, moved)
        if settings["shape"] == "SURFACE":
            found[on_edges(field, moved.x + blender_fields.PARTICLE_STEP * moved.v)] = 0.0
        worst = int(np.argmax(found))
        assert found[worst] <= 1.0, (number, kind, settings, f"point {worst}: {moved.x[worst]}, v {moved.v[worst]}",
                                     forces(extension, read_scene, moved)[worst], moved.a[worst])


def scene_of(extension):
    """Return the core's scene of Blender's scene at its first frame."""
    import bpy

    scene = bpy.context.scene
    return extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                           bpy.context.view_layer).scene


def test_several_fields_add_up_and_hidden_ones_do_not_act(extension, read):
    rng = np.random.default_rng(1)
    emitter = blender_fields.particles(rng.uniform(-3.0, 3.0, (60, 3)))
    for kind in ("FORCE", "WIND", "VORTEX"):
        blender_fields.add_field(kind, blender_fields.placed(rng), name=kind, strength=2.0)
    blender_fields.add_field("FORCE", name="Hidden", strength=5.0).hide_viewport = True
    blender_fields.add_field("FORCE", name="Off", strength=5.0, apply_to_location=False)
    moved = blender_fields.motion(emitter)
    builders.sheet()
    assert errors(extension, read(), moved).max() <= 1.0


@pytest.mark.parametrize("kind", ["WIND", "FORCE", "HARMONIC", "DRAG", "TURBULENCE"])
def test_noise_has_blender_s_statistics(extension, scene, read, kind):
    rng = np.random.default_rng(2)
    points = np.tile([[1.0, 0.5, -0.5], [1.0, 0.5, 0.4], [0.9, 0.5, 0.4]], (4000, 1))
    emitter = blender_fields.particles(points, speed=1.0)
    settings = {"noise": 0.5, "seed": 3, "harmonic_damping": 0.0, "size": 0.7}
    blender_fields.add_field(kind, blender_fields.placed(rng), strength=1.0, **settings)
    moved = blender_fields.motion(emitter)
    builders.sheet()
    found = forces(extension, read(), moved)
    for place in range(3):
        ours, theirs = found[place::3], moved.a[place::3]
        spread = theirs.std(axis=0).max()
        assert ours.mean(axis=0) == pytest.approx(theirs.mean(axis=0), abs=0.05 * spread)
        assert ours.std(axis=0) == pytest.approx(theirs.std(axis=0), abs=0.02 * spread)
        axis = int(np.argmax(theirs.std(axis=0)))
        both = np.sort(np.concatenate([ours[:, axis], theirs[:, axis]]))
        below = [np.searchsorted(np.sort(found[:, axis]), both) / len(found) for found in (ours, theirs)]
        assert np.abs(below[0] - below[1]).max() < 0.04         # Kolmogorov and Smirnov: 1 in 300 samples of one law


@pytest.mark.parametrize("shape", ["POINT", "PLANE"])
def test_colliders_absorb_as_their_boxes_do_in_blender(extension, read, shape):
    rng = np.random.default_rng(3)
    emitter = blender_fields.particles(rng.uniform(-4.0, 4.0, (POINTS, 3)))
    for name, place, size, part in (("Near", (1.2, 0.3, 0.1), 1.6, 0.75), ("Low", (-1.5, -0.6, -0.4), 1.0, 0.4)):
        box = builders.box(name, size)
        box.location = place
        box.modifiers.new("Collision", "COLLISION")
        box.collision.absorption = box.muslin.absorption = part
    blender_fields.add_field("WIND", name="Wind", strength=1.0, shape=shape, use_absorption=True)
    moved = blender_fields.motion(emitter)
    builders.sheet(height=8.0)
    found = forces(extension, read(), moved)
    wrong = np.abs(found - moved.a).max(axis=1) > 1e-4
    assert (found[:, 2] < 0.99).sum() >= 20
    assert wrong.mean() < 0.02 and (moved.a[wrong, 2] < found[wrong, 2]).all()  # Blender tests the triangles' boxes
