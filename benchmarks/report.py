# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the comparison as JSON and Markdown. A ratio always says whether stretch and error allow it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]

COMPARED = (("modifier-factory", "muslin-factory"), ("modifier-tuned", "muslin-tuned"), ("node", "muslin-tuned"),
            ("modifier-cotton", "muslin-cotton"), ("modifier-factory", "muslin-cotton"),
            ("modifier-tuned", "muslin-cotton"))
"""Which rows are set against which."""

LEGEND = """
- *ms*: wall-clock time of a frame, median and worst over the frames after the first; median over the turns.
- *p99*, *max*: stretch of the quads' edges (length over rest length, less 1), 99th percentile and largest, each the
  **worst over all frames**; *settled* is the median p99 of the last quarter of the frames. All systems alike.
- *distance*: root mean square over frames and vertices from the converged motion of the row's fabric (Muslin with
  {steps} steps per frame, tolerance 1e-6, same mesh). A Blender row is held against the Muslin row of the same name.
- *iterations*: per frame, mean; of linear solvers, and for the node substeps times constraint steps.
- *memory*: peak of the process while it simulates, and how much of it came after everything was imported and compiled.
- A ratio is Blender's median time over Muslin's, paired by turns. Where stretch or distance of Muslin is the larger
  one, the two rows are **not equal** and the ratio is in brackets.
"""


def compare(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """For every pair of rows on one scene: ratio, and whether Muslin's stretch and distance are at most Blender's."""
    found = {(r["scene"], r["size"], r["system"]): r for r in rows}
    places = dict.fromkeys((scene, size) for scene, size, _ in found)
    pairs = []
    for scene, size in places:
        for theirs, ours in COMPARED:
            a, b = found.get((scene, size, theirs)), found.get((scene, size, ours))
            if a is None or b is None:
                continue
            pairs.append({"scene": scene, "size": size, "blender": theirs, "muslin": ours,
                          "ratio": float(np.median(np.array(a["ms_turns"]) / np.array(b["ms_turns"]))),
                          "stretch": [b["p99_worst"], a["p99_worst"]], "distance": [b["distance"], a["distance"]],
                          "stretch_at_most": b["p99_worst"] <= a["p99_worst"],
                          "distance_at_most": b["distance"] <= a["distance"]})
    return pairs


def write(folder: Path, rows: Sequence[Row], machine: dict[str, str], reference_steps: int) -> None:
    """results.json and results.md."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = compare(rows)
    kept = {"machine": machine, "rows": list(rows), "ratios": pairs}
    (folder / "results.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    (folder / "results.md").write_text(markdown(rows, pairs, machine, reference_steps), encoding="utf-8")


def markdown(rows: Sequence[Row], pairs: Sequence[dict[str, Any]], machine: dict[str, str], steps: int) -> str:
    """Both tables with their legend."""
    versions = sorted({r["version"] for r in rows if "version" in r})
    head = ", ".join([machine["system"], f"{machine['cores']} cores", f"Python {machine['python']}",
                      f"NumPy {machine['numpy']}", *(f"Blender {version}" for version in versions)])
    text = ["# Muslin beside Blender's cloth", "", head, LEGEND.format(steps=steps),
            *_table(("scene", "size", "system", "kg/m^2", "N/m", "ms", "worst", "p99", "settled", "max", "iterations",
                     "memory [MB]", "distance [mm]"), map(_cells, rows)), "",
            "## Ratios", "",
            *_table(("scene", "size", "Blender", "Muslin", "Blender / Muslin", "p99 at most Blender's",
                     "distance at most Blender's", "equal terms"), map(_pair_cells, pairs)), ""]
    own = [r for r in rows if r.get("reference_error") is not None]
    if own:
        text += ["Between the references with half as many steps and these: " + ", ".join(dict.fromkeys(
            f"{r['scene']} {r['size']}^2 {r['system'].partition('-')[2] or 'tuned'} {1e3 * r['reference_error']:.1f} mm"
            for r in own)) + ".", ""]
    backends = sorted({r["backend"] for r in rows if "backend" in r})
    if backends:
        slowest = max(r["compile_s"] for r in rows if "compile_s" in r)
        text += [f"Muslin ran on {', '.join(backends)}; warming up took {slowest:.1f} s at most and is in no row's "
                 "time.", ""]
    return "\n".join(text)


def _cells(r: Row) -> tuple[str, ...]:
    fabric = r["fabric"]
    note = f" ({r['options']['substeps']} substeps)" if "substeps" in r["options"] else ""
    return (r["scene"], f"{r['size']}^2", r["system"] + note, f"{fabric['areal_density']:.3g}",
            f"{float(np.mean(fabric['stretch'])):.3g}", f"{r['ms_median']:.1f}", f"{r['ms_worst']:.0f}",
            f"{r['p99_worst']:.2%}", f"{r['p99_settled']:.2%}", f"{r['stretch_max']:.1%}", f"{r['iterations']:.0f}",
            f"{r['memory_mb']:.0f} (+{r['growth_mb']:.0f})", f"{1e3 * r['distance']:.0f}")


def _pair_cells(p: dict[str, Any]) -> tuple[str, ...]:
    equal = p["stretch_at_most"] and p["distance_at_most"]
    says = [f"{'yes' if p[key + '_at_most'] else '**no**'}: {show(p[key][0])} to {show(p[key][1])}"
            for key, show in (("stretch", lambda v: f"{v:.2%}"), ("distance", lambda v: f"{1e3 * v:.0f} mm"))]
    ratio = f"{p['ratio']:.2f}" if equal else f"({p['ratio']:.2f})"
    return (p["scene"], f"{p['size']}^2", p["blender"], p["muslin"], ratio, *says, "yes" if equal else "**no**")


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [names, ["---"] * len(names), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]
