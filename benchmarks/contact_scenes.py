# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the contact scenes of the tests at any resolution, and print the findings of an independent audit.

    python benchmarks/contact_scenes.py towel --size 40 turns=3
    python benchmarks/contact_scenes.py --all --size 16
    /path/to/python-with-bpy benchmarks/contact_scenes.py --speed

For each frame: crossings by kind (cloth edge through cloth, cloth edge through solid, solid edge through cloth), number
of vertices inside solids and the deepest [mm], smallest gap of the certificate [mm], time [ms], linear iterations,
accepted and rejected steps, kinetic energy [J] and the 99th percentile of stretch. Needs `ipctk`.

`--speed` instead compares the drape with self-collision, at 100^2 and 129^2 vertices, with Blender's modifier at
factory and tuned settings, and prints the times of contact and of the rest. It takes the options of against_blender.py.
"""

from __future__ import annotations

import argparse
import sys
import time
from ast import literal_eval
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import core
from benchmarks import against_blender
from tests.scenes import scenes_of_colliders, scenes_of_folds, scenes_of_layers
from tests.scenes.staging import AS_IN_BLENDER, AS_IN_CORE, kinetic_energy, perform

SCENES = {**scenes_of_folds.SCENES, **scenes_of_layers.SCENES, **scenes_of_colliders.SCENES}
SMALL = {"falling_sheets": 8, "resting_stack": 8, "slope": 6}
"""Default number of vertices along a side for scenes of many sheets."""
DRAPE = ("--scenes", "drape", "--sizes", "100", "129", "--systems", "modifier-factory", "muslin-factory",
         "modifier-tuned", "muslin-tuned", "muslin-cotton")
"""Arguments of against_blender.py for --speed."""
HEADER = "frame  own  into  onto inside  deep   gap      ms   iter steps rej    energy   p99"


def run(name: str, size: int, *, frames: int | None = None, options: dict[str, Any] | None = None, quiet: bool = False,
        save: str | None = None, **solver: Any) -> dict[str, Any]:
    """Run a scene, and return its figures with one row for each frame.

    Args:
        options: arguments of the scene's builder.
        quiet: do not print the frames.
        save: file for the positions of all frames.
        solver: further arguments of `perform`.
    """
    staged = SCENES[name](size, **(options or {}))
    rows: list[dict[str, Any]] = []
    before, positions, error_text = time.perf_counter(), [], ""
    if not quiet:
        print(f"{name} {size} {options or ''}\n{HEADER}", flush=True)
    try:
        for frame, found in perform(staged, frames, **solver):
            ms, certificate = 1e3 * (time.perf_counter() - before), frame.certificate
            row = {"frame": frame.index, "crossings": found.crossings, "inside": found.inside, "deepest": found.deepest,
                   "gap": certificate.smallest_gap, "ms": 1e3 * sum(certificate.seconds.values()), "wall": ms,
                   "iterations": certificate.iterations, "steps": certificate.steps, "rejected": certificate.rejected,
                   "energy": kinetic_energy(frame, staged.scene), "p99": certificate.stretch_p99,
                   "most": certificate.stretch_max, "own": certificate.crossings, "finite": found.finite}
            rows.append(row)
            if save:
                positions.append(np.concatenate(frame.positions))
            if not quiet:
                print(line(row), flush=True)
            before = time.perf_counter()
    except core.ClothError as error:
        error_text = str(error)
        print(f"{name}: stopped after frame {len(rows)}: {error_text}")
    if save:
        np.savez(save, x=np.array(positions), **{f"solid{k}": np.array([c.at(r / 24.0) for r in range(len(positions))])
                                                 for k, c in enumerate(staged.scene.colliders)})
    return {"scene": name, "size": size, "vertices": sum(len(c.positions) for c in staged.scene.cloths),
            "error": error_text, "thickness": staged.thickness, "clean": staged.clean, "rows": rows}


def line(row: dict[str, Any]) -> str:
    """Return the line of one frame, under HEADER."""
    gap = "    -" if row["gap"] is None else f"{1e3 * row['gap']:5.2f}"
    own, into, onto = row["crossings"]
    return (f"{row['frame']:5d} {own:4d} {into:5d} {onto:5d} {row['inside']:6d} {1e3 * row['deepest']:5.2f} {gap} "
            f"{row['ms']:7.1f} {row['iterations']:6d} {row['steps']:5d} {row['rejected']:3d} {row['energy']:9.2e} "
            f"{row['p99']:5.3f}")


def summary(result: dict[str, Any]) -> str:
    """Return the line of one scene, under SUMMARY."""
    rows = result["rows"]
    bad = [r["frame"] for r in rows if sum(r["crossings"]) or r["deepest"] > 0.01 * result["thickness"]]
    most = [max((r["crossings"][k] for r in rows), default=0) for k in range(3)]
    ms = np.array([r["ms"] for r in rows[1:]] or [0.0])
    gaps = [r["gap"] for r in rows if r["gap"] is not None]
    return (f"{result['scene']:16s} {result['vertices']:7d} {len(rows):6d} {bad[0] if bad else '-':>6} {len(bad):4d} "
            f"{most[0]:4d} {most[1]:5d} {most[2]:5d} {1e3 * max((r['deepest'] for r in rows), default=0):6.2f} "
            f"{1e3 * min(gaps, default=np.nan):6.2f} {np.median(ms):8.1f} {ms.max():8.1f} "
            f"{sum(r['iterations'] for r in rows):7d} {sum(r['rejected'] for r in rows):4d} "
            f"{max((r['p99'] for r in rows), default=0):6.3f} {rows[-1]['energy'] if rows else np.nan:9.2e} "
            f"{result['error'][:40]}")


SUMMARY = ("scene           vertices frames  first  bad  own  into  onto   deep    gap   median    worst "
           "   iter  rej    p99    energy")


def main() -> None:
    """Run the scenes of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", nargs="?", choices=sorted(SCENES))
    parser.add_argument("options", nargs="*", help="arguments of the scene's builder, as NAME=VALUE")
    parser.add_argument("--all", action="store_true", help="run every scene and print one line for each")
    parser.add_argument("--size", type=int, help="vertices along a side")
    parser.add_argument("--frames", type=int)
    parser.add_argument("--core-defaults", action="store_true", help="use the defaults of the core, not of the panel")
    parser.add_argument("--backend", choices=("numpy", "numba"))
    parser.add_argument("--save", metavar="FILE.npz", help="file for the positions of all frames")
    parser.add_argument("--speed", action="store_true", help="compare with Blender; takes against_blender's options")
    if "--speed" in sys.argv[1:]:
        against_blender.main([*DRAPE, *(word for word in sys.argv[1:] if word != "--speed")])
        return
    given = parser.parse_intermixed_args()
    base = {"settings": AS_IN_CORE if given.core_defaults else AS_IN_BLENDER}
    options = {key: literal_eval(value) for key, value in (o.split("=", 1) for o in given.options)}
    if given.all:
        print(SUMMARY)
    names = list(SCENES) if given.all else [given.scene]
    if names == [None]:
        parser.error("name a scene, or say --all")
    for name in names:
        size = given.size or SMALL.get(name, 16)
        result = run(name, size, frames=given.frames, options=options, quiet=given.all, save=given.save,
                     backend=given.backend, **base)
        if not given.all:
            print(SUMMARY)
        print(summary(result), flush=True)


if __name__ == "__main__":
    main()
