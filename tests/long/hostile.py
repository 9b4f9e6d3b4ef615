# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile scenes by seed, in worker processes: `python -m tests.long.hostile LIMIT` is one worker."""

from __future__ import annotations

from typing import Any

import core
from tests.long.judge import judge
from tests.long.recipes import draw
from tests.long.workers import serve

TWICE = 10
"""Of so many seeds one is run twice."""


def answer(case: Any) -> dict[str, Any]:
    """Return the record of a case: a seed, or a recipe."""
    recipe = draw(case) if isinstance(case, int) else case
    return judge(recipe, again=recipe["seed"] % TWICE == 0)


if __name__ == "__main__":
    for _ in core.warm_up(core.Solver()):                # kernels that are compiled in a scene would count as its time
        pass
    serve(answer)
