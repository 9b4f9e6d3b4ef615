# SPDX-License-Identifier: GPL-3.0-or-later
"""Report of the comparison with Blender as JSON and Markdown. Used by against_blender.py.

A ratio is in brackets if Muslin's stretch or distance is larger than Blender's or not known yet, and has a star if
other programs were running.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]

COMPARED = (("modifier-factory", "muslin-factory"), ("modifier-tuned", "muslin-tuned"), ("node", "muslin-node"),
            ("modifier-factory", "numpy-factory"), ("modifier-tuned", "numpy-tuned"),
            ("modifier-cotton", "muslin-cotton"), ("modifier-factory", "muslin-cotton"),
            ("modifier-tuned", "muslin-cotton"))
"""Pairs of rows of which ratios are printed."""
BUSY = 0.1
"""Number of cores that other programs may use during a run before its times are marked."""

LEGEND = """
- *ms*: wall-clock time of a frame, median and worst over the frames after the first; median over the turns. *CPU ms*:
  the same median of the processor time of all threads, including those that wait for work. A time with a star was
  measured while other programs used more than {busy} of a core.
- *p99*, *max*: stretch of the quads' edges (length over rest length, less 1), 99th percentile and largest, each the
  **worst over all frames**; *settled* is the median p99 of the last quarter of the frames. The same for all systems.
- *distance*: root mean square over frames and vertices of the distance from the converged motion of the row's own
  fabric (Muslin with {steps} steps per frame, tolerance 1e-6, same mesh); for a Blender row, of the fabric that its
  settings stand for.
- *iterations*: mean per frame; of linear solvers, and for the node substeps times constraint steps.
- *memory*: peak of the process during the simulation, and its growth after everything was imported and compiled.
- A ratio is Blender's median time over Muslin's, paired by turns. Where stretch or distance of Muslin is the larger
  one, or not known, the two rows are **not equal** and the ratio is in brackets.
"""


def compare(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return for every pair of rows of one scene: ratio, and whether Muslin's stretch and distance are not larger."""
    found = {(r["scene"], r["size"], r["system"]): r for r in rows}
    scenes = dict.fromkeys((scene, size) for scene, size, _ in found)
    pairs = []
    for scene, size in scenes:
        for theirs, ours in COMPARED:
            a, b = found.get((scene, size, theirs)), found.get((scene, size, ours))
            if a is None or b is None:
                continue
            known = a["distance"] is not None and b["distance"] is not None
            pairs.append({"scene": scene, "size": size, "blender": theirs, "muslin": ours,
                          "ratio": _ratio(a, b, "ms_median"), "cpu_ratio": _ratio(a, b, "cpu_ms"),
                          "busy": busy(a) or busy(b),
                          "stretch": [b["p99_worst"], a["p99_worst"]], "distance": [b["distance"], a["distance"]],
                          "stretch_at_most": b["p99_worst"] <= a["p99_worst"],
                          "distance_at_most": b["distance"] <= a["distance"] if known else None})
    return pairs


def _ratio(theirs: Row, ours: Row, key: str) -> float:
    """Return the median ratio over the turns that both rows have."""
    return float(np.median([a / b for a, b in zip(theirs["turns"][key], ours["turns"][key], strict=False)]))


def busy(row: Row) -> bool:
    """Return whether other programs were running in any of its turns; True if that is not known."""
    return any(others is None or others > BUSY for others in row["turns"]["others"])


def write(folder: Path, rows: Sequence[Row], machine: dict[str, str], reference_steps: int) -> None:
    """Write results.json and results.md, each completely or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = compare(rows)
    values = {"machine": machine, "rows": list(rows), "ratios": pairs}
    for name, text in (("results.json", json.dumps(values, indent=1)),
                       ("results.md", markdown(rows, pairs, machine, reference_steps))):
        partial = folder / f"{name}.half"
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, folder / name)


def markdown(rows: Sequence[Row], pairs: Sequence[dict[str, Any]], machine: dict[str, str], steps: int) -> str:
    """Return both tables with their legend."""
    versions = sorted({r["version"] for r in rows if "version" in r})
    head = ", ".join([machine["system"], f"{machine['cores']} cores", f"Python {machine['python']}",
                      f"NumPy {machine['numpy']}", *(f"Blender {version}" for version in versions)])
    text = ["# Muslin beside Blender's cloth", "", head, LEGEND.format(steps=steps, busy=BUSY),
            *_table(("scene", "size", "system", "kg/m^2", "N/m", "ms", "worst", "CPU ms", "p99", "settled", "max",
                     "iterations", "memory [MB]", "distance [mm]"), map(_cells, rows)), "",
            "## Ratios", "",
            *_table(("scene", "size", "Blender", "Muslin", "Blender / Muslin", "by CPU ms", "p99 at most Blender's",
                     "distance at most Blender's", "equal terms"), map(_pair_cells, pairs)), ""]
    own = [r for r in rows if r["reference_error"] is not None]
    if own:
        text += ["Between the references with half as many steps and these: " + ", ".join(
            f"{r['scene']} {r['size']}^2 {r['system']} {1e3 * r['reference_error']:.1f} mm" for r in own) + ".", ""]
    staged = [r for r in rows if r.get("stages_ms")]
    if staged:
        names = sorted({name for r in staged for name in r["stages_ms"]})
        text += ["## Where a frame of Muslin goes, ms of the median frame of the first turn", "",
                 *_table(("scene", "size", "system", *names), ((r["scene"], f"{r['size']}^2", r["system"], *(
                     f"{r['stages_ms'].get(name, 0.0):.1f}" for name in names)) for r in staged)), ""]
    backends = sorted({r["backend"] for r in rows if "backend" in r})
    if backends:
        slowest = max(r["compile_s"] for r in rows if "compile_s" in r)
        text += [f"Muslin ran on {', '.join(backends)}; warming up took {slowest:.1f} s at most and is in no row's "
                 "time.", ""]
    return "\n".join(text)


def row_line(r: Row) -> str:
    """Return one row as a line of text."""
    distance = "not known yet" if r["distance"] is None else f"{1e3 * r['distance']:.0f} mm"
    return (f"{r['scene']} {r['size']} {_name(r):28} {_ms(r):>9} ms, worst {r['ms_worst']:.0f}, CPU {r['cpu_ms']:.1f}, "
            f"p99 {r['p99_worst']:.2%}, distance {distance}, {r['iterations']:.0f} iterations, "
            f"{r['memory_mb']:.0f} MB, {len(r['turns']['ms_median'])} turns")


def _name(r: Row) -> str:
    return r["system"] + (f" ({r['options']['substeps']} substeps)" if "substeps" in r["options"] else "")


def _ms(r: Row) -> str:
    return f"{r['ms_median']:.1f}{'*' if busy(r) else ''}"


def _cells(r: Row) -> tuple[str, ...]:
    fabric = r["fabric"]
    return (r["scene"], f"{r['size']}^2", _name(r), f"{fabric['areal_density']:.3g}",
            f"{float(np.mean(fabric['stretch'])):.3g}", _ms(r), f"{r['ms_worst']:.0f}", f"{r['cpu_ms']:.1f}",
            f"{r['p99_worst']:.2%}", f"{r['p99_settled']:.2%}", f"{r['stretch_max']:.1%}", f"{r['iterations']:.0f}",
            f"{r['memory_mb']:.0f} (+{r['growth_mb']:.0f})",
            "" if r["distance"] is None else f"{1e3 * r['distance']:.0f}")


def _pair_cells(p: dict[str, Any]) -> tuple[str, ...]:
    equal = bool(p["stretch_at_most"] and p["distance_at_most"])
    texts = []
    for key, show in (("stretch", lambda v: f"{v:.2%}"), ("distance", lambda v: f"{1e3 * v:.0f} mm")):
        holds = p[f"{key}_at_most"]
        texts.append("not known" if holds is None else
                     f"{'yes' if holds else '**no**'}: {show(p[key][0])} to {show(p[key][1])}")
    ratios = [f"{ratio:.2f}{star}" for ratio, star in ((p["ratio"], "*" if p["busy"] else ""), (p["cpu_ratio"], ""))]
    return (p["scene"], f"{p['size']}^2", p["blender"], p["muslin"], *(r if equal else f"({r})" for r in ratios),
            *texts, "yes" if equal else "**no**")


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [names, ["---"] * len(names), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]
