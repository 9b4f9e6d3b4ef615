# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzz the command line: `python -m tests.long.commands COUNT`, in a Python that has the bpy package.

Each case is a line of words that belong there, nearly belong, or do not. The scene has no cloth, so that no line does
work; a run must end with one of its exit codes and say why. The last line is the record, as JSON.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import tempfile
import time
from typing import Any

import numpy as np

from tests.long.in_blender import registered

WORDS = ["bake", "compare", "bake", "compare", "--object", "--frames", "--backend", "--output", "--json", "--models",
         "--integrators", "--resume", "--cache", "--threads", "--progress", "--result", "--files", "--set", "--sheet",
         "material.friction=0.1,0.3", "scene.wind=1:2", "x=", "=", "a.b=c", "json", "mesh_cache",
         "--help", "-h", "--", "-", "--obj", "--frame", "--output=", "--json=", "--frames=1", "1",
         "24", "0", "-5", "3.5", "nan", "99999999999999999999", "1e9", "numpy", "numba", "NumPy", "gpu", "verlet",
         "baraff_witkin", "rope", "bdf2", "Sheet", "Cube", "", " ", "\t", "é", "\u202e", "x" * 5000, "a.blend",
         "b.json", "folder", "folder/", "no/such/folder/a.blend", ".", "..", "*", "~", "%s", "{0}", "a\nb", "@file",
         "CON", "\udcff", "a\0b"]
"""Words of a line."""
EXIT_CODES = (0, 1, 2)


def line(rng: np.random.Generator) -> list[str]:
    """Return the words of a case."""
    words = [str(WORDS[int(k)]) for k in rng.integers(len(WORDS), size=int(rng.integers(0, 8)))]
    return words if rng.random() < 0.2 else [str(rng.choice(["bake", "compare"])), *words]


def judged(main: Any, words: list[str]) -> str | None:
    """Run a line, and return its failure in words."""
    out, errors = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = main(words)
    except BaseException as error:                                   # a SystemExit as well
        return f"{words!r}: {type(error).__name__}: {error}"
    said = errors.getvalue()
    if code not in EXIT_CODES:
        return f"{words!r}: exit code {code!r}"
    if "unexpected error" in said or "Traceback" in said:
        return f"{words!r}: {said.strip().splitlines()[-1]}"
    if code and not said.strip():
        return f"{words!r}: exit code {code} without a word"
    return None


def main(count: int) -> dict[str, object]:
    """Run the cases and return their record."""
    registered()
    command_line = importlib.import_module("muslin.cloth_addon.command_line")
    failures, slowest, worst = [], 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        inner = os.path.join(folder, "one", "two")
        os.makedirs(os.path.join(inner, "folder"))
        os.chdir(inner)
        for seed in range(count):
            start = time.process_time()
            found = judged(command_line.main, line(np.random.default_rng([seed, 3])))
            if found is not None:
                failures.append(f"{seed}: {found[:300]}")
            took = time.process_time() - start
            if took > slowest:
                slowest, worst = took, seed
        os.chdir("/")
    return {"cases": count, "failures": failures, "slowest": slowest, "worst": worst}


if __name__ == "__main__":
    record = main(int(sys.argv[1]))
    print(json.dumps(record))
