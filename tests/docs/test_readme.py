# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's example is a program that runs and does what it says."""

import re
import sys
from pathlib import Path

import numpy as np

import core

README = Path(__file__).resolve().parents[2] / "README.md"


def example():
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return code


def test_the_example_is_about_fifteen_lines_long():
    statements = [line for line in example().splitlines() if line.strip()]
    assert len(statements) <= 15


def test_the_example_runs_and_its_cloth_hangs_from_two_corners(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "muslin", core)                    # the name that pip installs it by
    names = {}
    exec(compile(example(), "README.md", "exec"), names)
    last = names["frame"]
    positions = last.positions[0]
    assert last.index == 24
    assert len(capsys.readouterr().out.splitlines()) == 24
    np.testing.assert_allclose(positions[[0, names["n"] - 1]], [[0, 0, 1], [0, 1, 1]], atol=1e-12)
    assert positions[:, 2].min() < 0.5, "the free corners fell"
    assert positions[:, 2].min() > -1e-3, "the floor held"
    assert last.certificate.stretch_max < 1.1
    assert last.certificate.converged
