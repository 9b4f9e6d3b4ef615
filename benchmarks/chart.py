# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost against error, a panel per scene, every row in it. Needs matplotlib, which only tests and benchmarks want.

    python benchmarks/chart.py build/benchmarks/results.json       draws it again, with any Python that has matplotlib
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COLOURS = {"factory": "tab:red", "tuned": "tab:blue", "cotton": "tab:green", "": "tab:purple"}
MARKERS = {"muslin": "o", "modifier": "s", "node": "^"}


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the chart; p99 stretch stands beside every mark, and a mark grows with the mesh.

    Raises:
        ImportError: there is no matplotlib.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    figure, panels = pyplot.subplots(1, len(scenes), figsize=(6.0 * len(scenes), 5.0), squeeze=False)
    for panel, scene in zip(panels[0], scenes, strict=True):
        named = set()
        for row in (row for row in rows if row["scene"] == scene):
            kind, _, name = row["system"].partition("-")
            x, y = 1e3 * row["distance"], row["ms_median"]
            panel.scatter(x, y, s=0.6 * row["size"] + 10, marker=MARKERS[kind], color=COLOURS[name], alpha=0.8,
                          label=None if row["system"] in named else row["system"])
            panel.annotate(f" {row['size']}²  {row['p99_worst']:.1%}", (x, y), fontsize=7)
            named.add(row["system"])
        panel.set(title=scene, xscale="log", yscale="log", xlabel="distance from the converged motion [mm]",
                  ylabel="time per frame [ms]")
        panel.grid(True, which="both", alpha=0.2)
        panel.legend(fontsize=8)
    figure.suptitle("Cost against error; beside each mark mesh and p99 stretch")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    source = Path(sys.argv[1])
    draw(json.loads(source.read_text(encoding="utf-8"))["rows"], source.with_suffix(".png"))
