# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of a command: lines for people on stderr, and JSON lines for programs on stdout.

Each JSON line is an object with `event`:

    start    a bake or comparison begins: file, variant ("" without --set), output
    stage    what it does before or after the frames: stage, run
    frame    a frame is solved, and on disk in a bake: frame, done, total, seconds_left (or null), run ("" for a bake),
             and of the certificate stretch_p99, crossings, deepest_penetration [m], converged
    end      it is over: file, variant, output, seconds, error (null, or its type and message)
    exit     last line: code, error (null, or as above)
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any, TypeVar

from ..bake.progress import Progress
from ..write.report import json_values

Result = TypeVar("Result")
INTERVAL = 1.0
"""Time between two lines of progress if stderr is not a terminal [s]."""
OF_CERTIFICATE = "stretch_p99", "crossings", "deepest_penetration", "converged"
"""Fields of a certificate in a JSON line of a frame."""


def say(message: str) -> None:
    """Print a message for people."""
    print(f"muslin: {message}", file=sys.stderr, flush=True)


class Output:
    """Writes the progress of a command: lines for people, and JSON lines if wanted.

    Attributes:
        as_json: whether JSON lines are written to stdout.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def event(self, event: str, **values: Any) -> None:
        """Write a JSON line, if they are wanted. A reader that is gone is no error."""
        if self.as_json:
            with suppress(OSError, ValueError):
                print(json.dumps({"event": event, **json_values(values)}), flush=True)

    def run(self, steps: Generator[Progress, None, Result]) -> Result:
        """Run a bake or comparison to its end, write its progress, and return its result."""
        terminal = sys.stderr.isatty()
        stage, printed = "", time.monotonic()
        while True:
            try:
                progress = next(steps)
            except StopIteration as end:
                if terminal:
                    print(file=sys.stderr)
                result: Result = end.value
                return result
            except BaseException:
                steps.close()
                raise
            heading = ": ".join(part for part in (progress.run, progress.stage) if part)
            if heading not in ("", stage):
                stage = heading
                say(stage)
                self.event("stage", stage=progress.stage, run=progress.run)
            if progress.certificate is None:
                continue
            self._frame(progress)
            if terminal or time.monotonic() - printed >= INTERVAL or progress.done >= progress.total:
                printed = time.monotonic()
                _print_frame(progress, terminal)

    def _frame(self, progress: Progress) -> None:
        certificate: Any = progress.certificate
        self.event("frame", frame=progress.frame, done=progress.done, total=progress.total,
                   seconds_left=progress.seconds_left, run=progress.run,
                   **{name: getattr(certificate, name) for name in OF_CERTIFICATE})


def _print_frame(progress: Progress, terminal: bool) -> None:
    left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
    run = f"{progress.run}, " if progress.run else ""
    line = f"{run}frame {progress.frame}, {progress.fraction:.0%}{left}"
    print(f"\rmuslin: {line:<70}" if terminal else f"muslin: {line}", end="" if terminal else "\n",
          file=sys.stderr, flush=True)
