# SPDX-License-Identifier: GPL-3.0-or-later
"""The long suite: `python -m tests.long [--share S] [--part NAME ...]`, the whole of it or a share.

    known         recipes that failed once, always all of them
    hostile       2,000 scenes by seed                                            (`judge` has the rules)
    checkpoint, continued, preset, arguments, names, audit, kernels, cache, scenes
                  10,000 cases of each fuzzer, of `continued` 1,000               (`fuzz`)
    determinism   the same scenes over threads, hash seeds and processes          (`determinism`)
    soak          5,000 frames of one simulation at constant memory               (`soak`)
    kills         50 bakes that are killed at random, and some at every write     (tests/core/cache)
    processes     50 solver processes that are killed, or paused and stopped      (tests/core/cache)
    records       fuzz tests and fault matrix of the add-on, 10,000 cases each    (tests/addon)
    bakes         200 bakes in one process of Blender at constant memory          (`bakes`)
    commands      10,000 command lines                                            (`commands`)
    headless      20 headless bakes that are killed and resumed                   (`headless_kills`)

At the end a table has the cases, the failures and the slowest case of each part; the exit code says whether all
passed. Each part stops when it has used its processor time; the table then says how many cases ran, and those left out
are no failure. `--seed N` runs one hostile scene and prints its recipe and record, `--recipe JSON` that of a recipe.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.long import workers

ROOT = Path(__file__).resolve().parents[2]
KNOWN = Path(__file__).with_name("known_failures.json")
OPEN = Path(__file__).with_name("open_failures.json")
"""Seeds of hostile scenes that fail and are not mended yet, {seed: kinds}. They are counted by themselves, and run only
by the whole suite."""
SCENES, CASES, FRAMES, BAKES, KILLS, HEADLESS_KILLS = 2000, 10_000, 5000, 200, 50, 20
"""Cases of the whole suite: hostile scenes, cases of a fuzzer, frames of the soak, bakes, kills at random moments, also
of headless bakes."""
MOST_SECONDS = 60.0
"""Largest processor time of a scene [s]."""
SECONDS_OF_JUDGE = 120.0
"""Processor time that a second run of a scene and its judge may take besides [s]."""
BATCH_SECONDS = 300.0
"""Largest processor time of a batch of a fuzzer [s]."""
PART_SECONDS = 7200.0
"""Processor time of a part, unless it is given [s]."""
SHOWN = 40
"""Largest number of failures that a part prints."""


@dataclass
class Row:
    """A row of the table.

    Attributes:
        part: its name. cases: how many ran. wanted: how many were to run.
        failures: descriptions. open: how many cases failed as `open_failures.json` says.
        slowest: largest processor time of a case [s]. worst: the case.
    """

    part: str
    wanted: int = 0
    cases: int = 0
    failures: list[str] = field(default_factory=list)
    open: int = 0
    slowest: float = 0.0
    worst: str = "-"
    skipped: str = ""

    def fail(self, text: str) -> None:
        """Count a failure, and print it unless there were many."""
        self.failures.append(text)
        if len(self.failures) <= SHOWN:
            self._print(text)

    def show(self) -> None:
        """Print the first failures again: of a long output its end is read."""
        for text in self.failures[:SHOWN]:
            self._print(text)

    def _print(self, text: str) -> None:
        print(f"  {self.part}: {text[:400]}".encode("ascii", "backslashreplace").decode(), flush=True)

    def took(self, seconds: float, case: Any) -> None:
        """Count a case's processor time [s]."""
        if seconds > self.slowest:
            self.slowest, self.worst = seconds, str(case)

    @property
    def line(self) -> str:
        """The row as text."""
        cases = f"{self.cases}" if self.cases >= self.wanted else f"{self.cases} of {self.wanted}"
        note = f"   skipped: {self.skipped}" if self.skipped else ""
        counts = f"{cases:>14} {len(self.failures):9} {self.open:5}"
        return f"{self.part:13} {counts} {self.slowest:12.2f}   {self.worst}{note}"


@dataclass(frozen=True)
class Plan:
    """What to run: the share of the whole, the processor time of a part [s], the Python that has Blender, and the file
    of recipes that failed once."""

    share: float
    seconds: float
    blender: str | None
    known: Path = KNOWN

    def number(self, whole: int) -> int:
        """Return the share of a number of cases, at least 1."""
        return max(1, round(whole * self.share))


# ---------------------------------------------------------------------- parts


def known(plan: Plan) -> Row:
    """Run all recipes that failed once."""
    recipes = [entry["recipe"] for entry in json.loads(plan.known.read_text(encoding="utf-8"))]
    return _scenes("known", recipes, len(recipes), plan, PART_SECONDS)


def hostile(plan: Plan) -> Row:
    """Run hostile scenes by seed."""
    count = plan.number(SCENES)
    left_out = set() if plan.share >= 1.0 else set(json.loads(OPEN.read_text(encoding="utf-8")))
    seeds = [seed for seed in range(count) if str(seed) not in left_out]
    row = _scenes("hostile", seeds, len(seeds), plan, plan.seconds)
    row.open += count - len(seeds)
    return row


def _scenes(part: str, cases: Iterable[Any], count: int, plan: Plan, most: float) -> Row:
    row, used, unmended = Row(part, count), [0.0], json.loads(OPEN.read_text(encoding="utf-8"))
    for case, record in workers.run("tests.long.hostile", _while(cases, used, most), MOST_SECONDS,
                                    above=SECONDS_OF_JUDGE):
        name = case if isinstance(case, int) else f"seed {case['seed']} of old"
        row.cases += 1
        if "died" in record:
            late = "processor" in record["died"]
            record = {"seconds": MOST_SECONDS + SECONDS_OF_JUDGE if late else 0.0,
                      "failures": [("time" if late else "died", record["died"])]}
        expected = unmended.get(str(case), []) if isinstance(case, int) else []
        row.open += any(kind in expected for kind, _ in record["failures"])
        for kind, text in record["failures"]:
            if kind not in expected:
                row.fail(f"{name}: {kind}: {text}")
        used[0] += record["seconds"]
        row.took(record["seconds"], name)
    return row


def _fuzzer(name: str, plan: Plan) -> Row:
    from tests.long.fuzz import BATCH

    count = plan.number(CASES // 10 if name == "continued" else CASES)
    batches = [{"fuzzer": name, "first": first, "count": min(BATCH, count - first)} for first in range(0, count, BATCH)]
    row, used = Row(name, count), [0.0]
    for case, record in workers.run("tests.long.fuzz", _while(batches, used, plan.seconds), BATCH_SECONDS):
        row.cases += case["count"]
        if "died" in record:
            row.fail(f"{case['first']}..{case['first'] + case['count'] - 1}: {record['died']}")
            continue
        for seed, text in record["failures"]:
            row.fail(f"{seed}: {text}")
        used[0] += record["seconds"]
        row.took(record["slowest"], record["worst"])
    return row


def determinism(plan: Plan) -> Row:
    """Run scenes over threads, hash seeds and processes."""
    return _module("determinism", "tests.long.determinism", plan, str(plan.number(40)))


def soak(plan: Plan) -> Row:
    """Run one long simulation."""
    return _module("soak", "tests.long.soak", plan, str(plan.number(FRAMES)))


def kills(plan: Plan) -> Row:
    """Kill bakes at random moments and at every write, and continue them."""
    every = max(1, round(1.0 / plan.share))
    return _module("kills", "tests.core.cache.kills", plan, str(plan.number(KILLS)), "--every", str(every))


def processes(plan: Plan) -> Row:
    """Kill and stop solver processes at random moments, and continue them."""
    return _module("processes", "tests.core.cache.process_kills", plan, str(plan.number(KILLS)))


def bakes(plan: Plan) -> Row:
    """Bake many times in one process of Blender."""
    return _module("bakes", "tests.long.bakes", plan, str(plan.number(BAKES)), python=plan.blender)


def commands(plan: Plan) -> Row:
    """Give arguments to the command line."""
    return _module("commands", "tests.long.commands", plan, str(plan.number(CASES)), python=plan.blender)


def headless(plan: Plan) -> Row:
    """Kill headless bakes at random moments, and resume them."""
    return _module("headless", "tests.long.headless_kills", plan, str(plan.number(HEADLESS_KILLS)), python=plan.blender)


def _module(part: str, module: str, plan: Plan, *arguments: str, python: str | None = sys.executable) -> Row:
    """Run a module in a process of its own; it prints failures, and its cases and slowest as JSON in its last line."""
    row = Row(part, 1)
    if python is None:
        row.skipped, row.wanted = "no Python with Blender was given", 0
        return row
    limit = int(plan.seconds + 600)
    run = subprocess.run(["sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", python, "-m", module, *arguments],
                         cwd=ROOT, text=True, capture_output=True, check=False)
    try:
        record = json.loads(next(line for line in run.stdout.splitlines()[::-1] if line.startswith("{")))
        row.cases = row.wanted = record["cases"]
        for text in record["failures"]:
            row.fail(text)
        row.took(record["slowest"], record["worst"])
    except (ValueError, StopIteration, KeyError, TypeError):
        row.fail(f"{module} ended with code {run.returncode}: {run.stderr[-400:]}")
    return row


def records(plan: Plan) -> Row:
    """Run the tests of the add-on that take their number of cases from MUSLIN_CASES."""
    row = Row("records", 0)
    files = sorted(str(path) for pattern in ("*fuzz*.py", "*fault*.py", "*oracle*.py")
                   for path in ROOT.glob(f"tests/addon/test_{pattern}"))
    if plan.blender is None or not files:
        row.skipped = "no such tests" if not files else "no Python with Blender was given"
        return row
    run = subprocess.run([plan.blender, "-m", "pytest", "-q", "-m", "", *files], cwd=ROOT, text=True,
                         capture_output=True, check=False,
                         env={**os.environ, "MUSLIN_CASES": str(plan.number(CASES))})
    summary = next((line for line in run.stdout.splitlines()[::-1] if re.search(r" in [\d.]+s", line)), "")
    row.cases = row.wanted = sum(map(int, re.findall(r"(\d+) (?:passed|failed|error)", summary)))
    if run.returncode:
        named = re.findall(r"^(?:FAILED|ERROR) .*", run.stdout, re.MULTILINE)
        for line in named or [run.stdout[-400:] + run.stderr[-400:]]:
            row.fail(line)
    row.worst = f"{len(files)} files"
    return row


def _while(cases: Iterable[Any], used: list[float], most: float) -> Iterator[Any]:
    """Yield cases as long as less than `most` [s] of processor time is used."""
    for case in cases:
        if used[0] > most:
            return
        yield case


FUZZERS = ("checkpoint", "continued", "preset", "arguments", "names", "audit", "kernels", "cache", "scenes")
PARTS: dict[str, Callable[[Plan], Row]] = {
    "known": known, "hostile": hostile,
    **{name: lambda plan, name=name: _fuzzer(name, plan) for name in FUZZERS},               # type: ignore[misc]
    "determinism": determinism, "soak": soak, "kills": kills, "processes": processes, "records": records,
    "bakes": bakes, "commands": commands, "headless": headless,
}


def main() -> int:
    """Run the parts and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="share of the cases, 1 for all")
    parser.add_argument("--seconds", type=float, default=PART_SECONDS, help="processor time of each part [s]")
    parser.add_argument("--part", action="append", choices=list(PARTS), help="run this part only; may be repeated")
    parser.add_argument("--processes", type=int, default=1, help="parts that run beside each other")
    parser.add_argument("--blender", help="Python that has the bpy package, for the parts of the add-on")
    parser.add_argument("--known", type=Path, default=KNOWN, help="file of recipes for the part `known`")
    parser.add_argument("--seed", type=int, help="run one hostile scene and print its recipe and record")
    parser.add_argument("--recipe", help="run the scene of this recipe, as JSON, and print its record")
    given = parser.parse_args()
    if given.seed is not None or given.recipe is not None:
        return _one(json.loads(given.recipe) if given.recipe else given.seed)
    plan = Plan(given.share, given.seconds, given.blender, given.known)
    began, rows = time.monotonic(), []
    with ThreadPoolExecutor(given.processes) as pool:
        for row in pool.map(lambda name: PARTS[name](plan), given.part or PARTS):
            rows.append(row)
            print(row.line, flush=True)
    print(f"\n{'part':13} {'cases':>14} {'failures':>9} {'open':>5} {'slowest [s]':>12}   slowest case")
    for row in rows:
        print(row.line)
    failed = sum(len(row.failures) for row in rows)
    for row in rows:
        row.show()
    print(f"{failed} failures in {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _one(case: Any) -> int:
    from tests.long.recipes import draw

    print(json.dumps(draw(case) if isinstance(case, int) else case))
    record = next(workers.run("tests.long.hostile", [case], MOST_SECONDS, above=SECONDS_OF_JUDGE))[1]
    print(json.dumps(record, indent=1))
    return 1 if "died" in record or record["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
