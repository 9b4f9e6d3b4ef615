# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in docs/systems.md are programs that run."""

import re
from pathlib import Path

import numpy as np

import core
from tests.cases import cases

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "systems.md").read_text(encoding="utf-8")
BEGINNING = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL).group(1)
EXAMPLES = [(title, code) for title, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)
            for code in re.findall(r"```python\n(.*?)```", body, re.DOTALL)]


@cases(("title", "code"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_an_example_runs_and_its_last_frame_is_finite(title, code):
    names = {}
    exec(compile(BEGINNING + code, f"docs/systems.md: {title}", "exec"), names)
    assert all(np.isfinite(x).all() for x in names["frames"][-1].positions)


def test_every_model_and_integrator_has_an_example():
    shown = "".join(code for _, code in EXAMPLES)
    assert {name for name in (*core.models(), *core.integrators()) if f'"{name}"' not in shown} == set()
