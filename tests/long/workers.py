# SPDX-License-Identifier: GPL-3.0-or-later
"""Run many cases in worker processes with limits, so that a hang or a crash names its case and ends nothing else.

A worker reads a case as a line of JSON and answers with a line of JSON. Each case has a limit of processor time; the
system ends a worker that is above it, and the next case gets a new worker. A limit of wall-clock time catches one that
waits for ever.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS_ABOVE = 5.0
"""The default of `above` [s]."""
WAITING = 10.0
"""Wall-clock time after which a worker is ended, over its limit of processor time [-]."""
MOST_ADDRESSES = 6 * 2 ** 30
"""Largest address space of a worker [bytes]: compilers and threads reserve much more than they use."""
CASES_PER_WORKER = 200
"""Number of cases after which a worker is replaced."""


def run(module: str, cases: Iterable[Any], seconds: float, processes: int = 1, *, above: float = SECONDS_ABOVE
        ) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each case with its answer, in the order in which they end.

    Args:
        module: module that calls `serve`, run by `python -m`.
        cases: values for JSON.
        seconds: judged bound of processor time [s].
        processes: number of workers.
        above: processor time that a case may have above the bound before its worker is ended [s].
    """
    waiting, limit = iter(cases), seconds + above
    with selectors.DefaultSelector() as selector:
        workers: list[_Worker] = []
        try:
            for case in waiting:
                workers.append(_Worker(module, limit, selector))
                workers[-1].give(case)
                if len(workers) == processes:
                    break
            while any(worker.busy for worker in workers):
                ready = {key.data for key, _ in selector.select(timeout=1.0)}
                for worker in workers:
                    if not worker.busy:
                        continue
                    late = time.monotonic() - worker.since > WAITING * limit
                    if worker not in ready and not late:
                        continue
                    case = worker.case
                    answer = {"died": f"no answer in {WAITING * limit:.0f} s"} if late else worker.answer()
                    following = next(waiting, None)
                    if "died" in answer or answer.get("retire") or worker.count >= CASES_PER_WORKER:
                        worker.end()
                        if following is not None:
                            worker.start()
                    if following is not None:
                        worker.give(following)
                    yield case, answer
        finally:
            for worker in workers:
                worker.end()


class _Worker:
    def __init__(self, module: str, limit: float, selector: selectors.BaseSelector) -> None:
        self._module, self._limit, self._selector = module, limit, selector
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-m", self._module, str(self._limit)], cwd=ROOT, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._selector.register(self._process.stdout, selectors.EVENT_READ, self)    # type: ignore[arg-type]
        self.busy, self.count, self.case, self.since = False, 0, None, 0.0

    def give(self, case: Any) -> None:
        assert self._process.stdin is not None
        self.case, self.busy, self.since = case, True, time.monotonic()
        self.count += 1
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line, self.busy = self._process.stdout.readline(), False
        if line:
            return json.loads(line)
        code = self._process.wait()
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return {"died": f"above {self._limit:.0f} s of processor time" if name == "SIGXCPU" else name}

    def end(self) -> None:
        if self._process.stdout in {key.fileobj for key in self._selector.get_map().values()}:
            self._selector.unregister(self._process.stdout)                           # type: ignore[arg-type]
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self.busy = False


def serve(answer: Callable[[Any], dict[str, Any]]) -> None:
    """Answer cases from standard input until it ends; to be called by the module of `run`."""
    limit = float(sys.argv[1])
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)                                                       # what else prints must not be an answer
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for line in sys.stdin:
        used = time.process_time()
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + limit) + 1, most))
        out.write(json.dumps(answer(json.loads(line))) + "\n")
        out.flush()


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone, whatever it is doing."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
