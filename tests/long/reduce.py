# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the smallest recipe that fails as a given one does: `python -m tests.long.reduce SEED [--seconds S]`.

Parts of the recipe are left out or made plain one after the other, as long as a failure of the same kind is left.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Iterator
from typing import Any

from tests.long import workers
from tests.long.recipes import Recipe, draw

PLAIN: dict[str, Any] = {
    "size": 1.0, "origin": [0.0, 0.0, 0.0], "gravity": [0.0, 0.0, -9.81], "wind": None, "turn": None,
    "integrator": "implicit_euler", "backend": "numpy", "steps_per_frame": 1, "options": {}, "model": "baraff_witkin",
    "fabric": {"preset": "cotton"}, "preset": "cotton", "place": [0.0, 0.0, 0.0], "motion": None, "frames": 2,
    "kind": "sheet",
}
"""Values that are tried in the place of others, by name."""
OPTIONAL = (
    "turn", "jitter", "crumple", "thickness", "max_elongation", "sewing", "maps", "buttons", "pins", "velocity",
    "births", "friction", "rest_scale", "rest_curvature", "size", "tolerance", "frame_rate", "newton_iterations",
    "projective_solve", "projective_window", "matrix", "solid_contact", "adaptive", "max_halvings",
    "max_strain_change", "max_linear_iterations", "measure_energy", "verlet_kd", "max_newton_iterations",
    "self_collision", "areal_density", "stretch", "shear", "bend", "damping", "air_drag", "viscous_drag",
    "isotropic_damping", "spring_damping", "thread_width",
)
"""Names that may be left out where they are not at the top of a recipe."""


def smaller(recipe: Recipe) -> Iterator[Recipe]:
    """Yield recipes that are a step plainer."""
    for what in ("cloths", "colliders"):
        for number in range(len(recipe[what])):
            if len(recipe[what]) > (what == "cloths"):
                made = copy.deepcopy(recipe)
                del made[what][number]
                yield made
    for path in list(_paths(recipe)):
        name, value = path[-1], _at(recipe, path)
        if name in OPTIONAL and len(path) > 1:
            made = copy.deepcopy(recipe)
            del _at(made, path[:-1])[name]
            yield made
        if name in PLAIN and value != PLAIN[name] and value is not None:
            made = copy.deepcopy(recipe)
            _at(made, path[:-1])[name] = PLAIN[name]
            yield made
        if name in ("count", "frames") and value > 2:
            for less in {4 if name == "count" else 2, value // 2, value - 1}:
                if less < value:
                    made = copy.deepcopy(recipe)
                    _at(made, path[:-1])[name] = less
                    yield made


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _paths(item, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def kinds(recipe: Recipe, seconds: float) -> set[str]:
    """Return the kinds of failures of a recipe."""
    record = next(workers.run("tests.long.hostile", [recipe], seconds))[1]
    found = {kind for kind, _ in record.get("failures", [])}
    if "died" in record or record.get("seconds", 0.0) > seconds:
        found.add("time")
    return found


def reduced(recipe: Recipe, seconds: float) -> tuple[Recipe, set[str]]:
    """Return the plainest recipe with a failure of the same kind, and the kinds; times above `seconds` fail."""
    wanted = kinds(recipe, seconds)
    found = bool(wanted)
    while found:
        found = False
        for made in smaller(recipe):
            if kinds(made, seconds) & wanted:
                recipe, found = made, True
                break
    return recipe, wanted


def main() -> None:
    """Reduce a seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    recipe, wanted = reduced(draw(given.seed), given.seconds)
    print(sorted(wanted), json.dumps(recipe))


if __name__ == "__main__":
    main()
