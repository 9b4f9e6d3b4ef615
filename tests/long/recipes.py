# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes of hostile scenes: what a seed draws, as plain values that JSON can keep.

A recipe says all there is to a scene, so that one which failed once stays the same when the drawing changes. Lengths in
it are in units of `size` [m], the width of the cloth, and places are counted from `origin`; `hostile_scenes` builds the
scene.

Each theme asks one question. In a scene of the theme "fall" nothing but weight acts from outside, so that the centre of
mass is known; in "pins", "solids" and "layers" something pinches, jumps or crosses; "forces" has extreme loads, fabrics
and settings; "broken" has one value that no scene can have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.long import hostile_meshes as meshes

Recipe = dict[str, Any]

THEMES = {"fall": 0.28, "pins": 0.16, "solids": 0.22, "layers": 0.09, "forces": 0.1, "broken": 0.15}
"""Share of each theme [-]."""
MODELS = ("baraff_witkin", "projective", "mass_spring", "immediate_buckling", "thread_cloth")
"""Models of faces. Threads, closed meshes and points have their own."""
INTEGRATORS = {"implicit_euler": 0.3, "bdf2": 0.35, "projective_dynamics": 0.2, "symplectic_euler": 0.05,
               "verlet": 0.05, "explicit_euler": 0.05}
"""Share of each integrator [-]. Explicit ones refuse most cloth, so that they get soft fabrics and many steps."""
EXPLICIT = ("symplectic_euler", "verlet", "explicit_euler")
FABRICS = ("cotton", "silk", "denim", "leather", "rubber", "wool")
MOTIONS = ("jump", "swap", "half_turn", "teleport", "shake", "crush", "drift", "spin")
"""How pins and colliders may move; see `hostile_scenes.moved`."""


def draw(seed: int) -> Recipe:
    """Return the recipe of a seed."""
    rng = np.random.default_rng([seed, 29])
    theme = str(rng.choice(list(THEMES), p=np.array(list(THEMES.values())) / sum(THEMES.values())))
    recipe: Recipe = {
        "seed": seed, "theme": theme, "frames": int(rng.integers(3, 9)), "size": _size(rng, theme),
        "origin": [0.0, 0.0, 0.0], "gravity": [0.0, 0.0, -9.81], "wind": None, "cloths": [], "colliders": [],
        "solver": _solver(rng, theme),
    }
    if rng.random() < (0.5 if theme == "fall" else 0.15):
        far = 10.0 ** rng.uniform(0.0, 6.0)
        recipe["origin"] = [float(v) for v in np.round(far * rng.normal(size=3), 3)]
    for number in range(1 if rng.random() < 0.85 else int(rng.integers(2, 4))):
        recipe["cloths"].append(_cloth(rng, theme, number))
    if recipe["solver"]["integrator"] in EXPLICIT and rng.random() < 0.8:
        recipe["solver"]["steps_per_frame"] = int(rng.choice([20, 100]))
        for cloth in recipe["cloths"]:
            cloth["fabric"] |= {"stretch": 1.0, "shear": 0.1, "bend": 1e-8, "damping": 0.0, "areal_density": 1.0}
    {"fall": _fall, "pins": _pins, "solids": _solids, "layers": _layers, "forces": _forces, "broken": _broken}[theme](
        rng, recipe)
    return recipe


def _size(rng, theme: str) -> float:
    if rng.random() < (0.3 if theme == "fall" else 0.6):
        return float(rng.choice([0.1, 1.0, 1.0, 2.0]))
    return float(f"{10.0 ** rng.uniform(-6.0, 4.0):.3g}")


def _log(rng, low: float, high: float) -> float:
    """Return a number whose logarithm is evenly distributed, with three digits."""
    return float(f"{10.0 ** rng.uniform(np.log10(low), np.log10(high)):.3g}")


def _solver(rng, theme: str) -> Recipe:
    integrator = str(rng.choice(list(INTEGRATORS), p=list(INTEGRATORS.values())))
    found: Recipe = {"integrator": integrator, "backend": str(rng.choice(["numba", "numpy"])),
                     "steps_per_frame": int(rng.choice([1, 1, 2, 4]))}
    if rng.random() < 0.5:
        found["tolerance"] = 1e-2
    if rng.random() < 0.25:
        found["self_collision"] = False
    options = {
        "frame_rate": lambda: _log(rng, 1.0, 1000.0), "newton_iterations": lambda: rng.choice(["1", "4", "converge"]),
        "projective_solve": lambda: "cg", "projective_window": lambda: int(rng.integers(0, 20)),
        "matrix": lambda: "implicit", "solid_contact": lambda: "springs", "adaptive": lambda: False,
        "max_halvings": lambda: int(rng.choice([0, 1, 10, 20])), "max_strain_change": lambda: _log(rng, 1e-3, 10.0),
        "max_linear_iterations": lambda: int(rng.choice([1, 10, 100])), "measure_energy": lambda: True,
        "verlet_kd": lambda: float(rng.random()), "max_newton_iterations": lambda: int(rng.choice([1, 5, 500])),
    }
    for name in rng.choice(list(options), int(rng.choice([0, 0, 1, 2, 3])), replace=False):
        value = options[str(name)]()
        text = str(value) if isinstance(value, np.str_) else value
        found[str(name)] = int(text) if text in ("1", "4") else text
    return found


def _cloth(rng, theme: str, number: int) -> Recipe:
    kind = str(rng.choice(list(meshes.KINDS)))
    model = str(rng.choice(MODELS))
    if model == "immediate_buckling" and rng.random() < 0.8:
        kind = str(rng.choice(["sheet", "graded", "strip"]))                    # it takes regular grids only
    if kind in meshes.CLOSED and rng.random() < 0.7:
        model = "jelly"
    elif kind in meshes.THREADS:
        model = str(rng.choice(["rope", "rope", "baraff_witkin", "mass_spring"]))
    elif kind == "points":
        model = "particles"
    cloth: Recipe = {"mesh": {"kind": kind, "count": int(rng.choice([4, 9, 16, 25, 40, 64, 100, 150])),
                              "seed": int(rng.integers(1 << 30))},
                     "model": model, "options": _options(rng, model), "fabric": _fabric(rng, theme),
                     "place": [0.0, 0.0, 1.5 * number] if number else [0.0, 0.0, 0.0]}
    if rng.random() < 0.4:
        cloth["turn"] = [round(float(v), 3) for v in rng.normal(size=4)]
    if rng.random() < 0.2:
        cloth["jitter"] = _log(rng, 1e-12, 0.3)
    if rng.random() < 0.2:
        cloth["thickness"] = float(rng.choice([0.0, _log(rng, 1e-9, 1e-2), _log(rng, 1e-2, 10.0), _log(rng, 1.0, 1e6)]))
    if rng.random() < 0.1:
        cloth["max_elongation"] = _log(rng, 1e-3, 1.0)
    if rng.random() < 0.1:
        cloth["maps"] = {what: _log(rng, 1e-3, 1e3) for what in ("stretch_scale", "shear_scale", "bend_scale")}
    if kind == "two_panels" and rng.random() < 0.3:
        cloth["buttons"] = True
    elif kind == "two_panels":
        cloth["sewing"] = {"sewing": True, "sewing_time": float(rng.choice([0.0, 0.05, 1.0]))}
        if rng.random() < 0.3:
            cloth["sewing"]["sewing_force"] = _log(rng, 1e-3, 1e4)
    return cloth


def _options(rng, model: str) -> Recipe:
    if rng.random() < 0.5:
        return {}
    choices: dict[str, Any] = {
        "baraff_witkin": {"bending": lambda: str(rng.choice(["patch", "hinge", "quadratic"])), "flat": lambda: True},
        "projective": {"flat": lambda: True, "bending": lambda: str(rng.choice(["patch", "hinge", "quadratic"]))},
        "jelly": {"structure": lambda: "lattice", "young_modulus": lambda: _log(rng, 1e-2, 1e9),
                  "density": lambda: _log(rng, 1e-3, 1e5), "cells": lambda: int(rng.integers(1, 7))},
        "particles": {"mass": lambda: _log(rng, 1e-9, 1e3), "nearest": lambda: int(rng.integers(0, 5)),
                      "spring_stiffness": lambda: _log(rng, 1e-3, 1e6), "spring_damping": lambda: _log(rng, 1e-6, 1e3)},
        "mass_spring": {"flat": lambda: True}, "rope": {"bending": lambda: False},
        "immediate_buckling": {"hold": lambda: float(rng.random()), "flat": lambda: True},
        "thread_cloth": {"area_stiffness": lambda: _log(rng, 1e-2, 1e5)},
    }[model]
    found = {name: choices[name]() for name in choices if rng.random() < 0.5}
    if model == "projective" and rng.random() < 0.5:                            # these go together
        found |= {"young_modulus": _log(rng, 1e2, 1e8), "poisson_ratio": float(rng.uniform(0.0, 0.4)),
                  "sheet_thickness": _log(rng, 1e-6, 1e-1)}
    return found


def _fabric(rng, theme: str) -> Recipe:
    fabric: Recipe = {"preset": str(rng.choice(FABRICS))}
    if rng.random() < 0.5:
        return fabric
    wide = theme == "forces"
    constants = {
        "areal_density": (1e-3, 1e2), "stretch": (1e-3, 1e6), "shear": (1e-3, 1e6), "bend": (1e-12, 1.0),
        "damping": (1e-6, 1.0), "friction": (1e-3, 1e3), "air_drag": (1e-3, 1e3), "viscous_drag": (1e-3, 1e3),
        "isotropic_damping": (1e-9, 1e2), "spring_damping": (1e-9, 1e2), "thread_width": (1e-6, 1.0),
    }
    for name in rng.choice(list(constants), int(rng.integers(1, 5)), replace=False):
        low, high = constants[str(name)]
        fabric[str(name)] = _log(rng, low * (1e-6 if wide else 1.0), high * (1e6 if wide else 1.0))
        if name not in ("areal_density", "thread_width") and rng.random() < 0.15:
            fabric[str(name)] = 0.0
    return fabric


# ---------------------------------------------------------------------- themes


def _fall(rng, recipe: Recipe) -> None:
    """Leave the cloth to its weight alone: no drag, pins, colliders or wind."""
    for cloth in recipe["cloths"]:
        cloth["fabric"] |= {"air_drag": 0.0, "viscous_drag": 0.0}
        if rng.random() < 0.5:
            cloth.pop("jitter", None)
        else:
            cloth["crumple"] = _log(rng, 1e-6, 1.0)
        if rng.random() < 0.2:
            cloth["velocity"] = {"common": [round(float(v), 2) for v in rng.normal(size=3)],
                                 "random": float(rng.choice([0.0, _log(rng, 1e-3, 1e3)]))}
        if rng.random() < 0.15 and cloth["model"] != "jelly":
            cloth["rest_scale"] = _log(rng, 0.1, 3.0)
    if rng.random() < 0.2:
        recipe["gravity"] = [0.0, 0.0, 0.0]


def _pins(rng, recipe: Recipe) -> None:
    for cloth in recipe["cloths"]:
        cloth["pins"] = {"which": str(rng.choice(["two", "ends", "all", "some", "one", "weights", "attached"])),
                         "motion": _motion(rng, 0.85)}
    if rng.random() < 0.3:
        recipe["colliders"].append(_collider(rng))


def _solids(rng, recipe: Recipe) -> None:
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        recipe["colliders"].append(_collider(rng))
    if rng.random() < 0.25:
        recipe["cloths"][0]["pins"] = {"which": str(rng.choice(["two", "ends", "one"])), "motion": _motion(rng, 0.3)}
    if rng.random() < 0.2:
        first = _collider(rng)
        recipe["colliders"] = [{**first, "place": [0.0, 0.0, side * 0.9], "motion": {
            "kind": "press", "by": side * -0.9, "frame": 1, "frames": 2}} for side in (1.0, -1.0)]


def _layers(rng, recipe: Recipe) -> None:
    """Let cloth start crumpled, crossed or in layers, with collisions with itself."""
    recipe["solver"]["self_collision"] = True
    first = recipe["cloths"][0]
    for number in range(int(rng.integers(1, 4))):
        more = {**first, "place": [0.0, 0.0, float(rng.choice([0.0, 1e-6, 1e-3, 0.01, 0.05])) * (number + 1)]}
        if rng.random() < 0.4:
            more["turn"] = [round(float(v), 3) for v in rng.normal(size=4)]        # through the others
        recipe["cloths"].append(more)
    if rng.random() < 0.6:
        first["crumple"] = _log(rng, 1e-3, 1.0)
    if rng.random() < 0.5:
        recipe["colliders"].append({"shape": "floor", "place": [0.0, 0.0, -0.3], "motion": None})


def _forces(rng, recipe: Recipe) -> None:
    what = str(rng.choice(["gravity", "wind", "velocity", "shrink", "settings", "fabric", "births"]))
    cloth = recipe["cloths"][0]
    if rng.random() < 0.5:
        cloth["pins"] = {"which": str(rng.choice(["two", "one"])), "motion": None}
    if what == "gravity":
        recipe["gravity"] = [float(f"{v:.3g}") for v in rng.normal(size=3) * _log(rng, 1e-6, 1e15)]
    elif what == "wind":
        recipe["wind"] = {"kind": str(rng.choice(["steady", "gust", "field"])), "speed": _log(rng, 1e-3, 1e6)}
    elif what == "velocity":
        cloth["velocity"] = {"common": [0.0, 0.0, 0.0], "random": _log(rng, 1e-2, 1e6)}
    elif what == "shrink":
        cloth["rest_scale"] = _log(rng, 1e-3, 1e3)
        cloth["rest_curvature"] = float(rng.normal() * _log(rng, 1e-2, 1e4))
    elif what == "settings":
        recipe["solver"] |= {"frame_rate": _log(rng, 1e-4, 1e7), "max_halvings": int(rng.choice([0, 6, 20, 40])),
                             "tolerance": _log(rng, 1e-14, 0.9), "steps_per_frame": int(rng.choice([1, 10, 50]))}
    elif what == "births":
        cloth["births"] = _log(rng, 1e-3, 0.5)


def _broken(rng, recipe: Recipe) -> None:
    """Break one value of a scene that may otherwise be of any theme."""
    cloth = recipe["cloths"][0]
    strange = rng.choice(["nan", "inf", "negative", "text", "none", "huge", "zero"])
    kind = str(rng.choice(["mesh", "mesh", "fabric", "fabric", "cloth", "pin", "pin", "collider", "collider", "solver",
                           "gravity", "wind", "option", "frames"]))
    recipe["broken"] = {"what": kind, "value": str(strange), "seed": int(rng.integers(1 << 30))}
    if kind == "mesh":
        cloth["mesh"]["defect"] = str(rng.choice(meshes.DEFECTS))
    elif kind == "pin":
        cloth["pins"] = {"which": "two", "motion": {"kind": "strange", "frame": int(rng.integers(0, 3))}}
    elif kind == "collider":
        recipe["colliders"].append({**_collider(rng), "motion": {
            "kind": str(rng.choice(["strange", "other_count"])), "frame": int(rng.integers(0, 3))}})


def _motion(rng, share: float) -> Recipe | None:
    if rng.random() > share:
        return None
    return {"kind": str(rng.choice(MOTIONS)), "by": _log(rng, 1e-3, 100.0), "frame": int(rng.integers(0, 4)),
            "frames": int(rng.choice([0, 0, 1, 3]))}


def _collider(rng) -> Recipe:
    shape = str(rng.choice(["floor", "ball", "ball", "box", "inverted", "open", "spike", "tangle", "flat", "room",
                            "degenerate", "speck"]))
    found: Recipe = {"shape": shape, "place": [0.0, 0.0, float(rng.choice([-0.8, -0.5, -0.2, 0.0, 0.7, 3.0]))],
                     "motion": _motion(rng, 0.55)}
    if rng.random() < 0.3:
        found["size"] = _log(rng, 1e-3, 100.0)
    if rng.random() < 0.2:
        found["thickness"] = float(rng.choice([0.0, _log(rng, 1e-6, 1.0), _log(rng, 1.0, 1e6)]))
    if rng.random() < 0.2:
        found["friction"] = float(rng.choice([0.0, _log(rng, 1e-3, 1e6)]))
    if rng.random() < 0.3:
        found["turn"] = [round(float(v), 3) for v in rng.normal(size=4)]
    return found
