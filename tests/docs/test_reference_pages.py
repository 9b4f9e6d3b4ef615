# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python reference has every public name."""

import re
from pathlib import Path

import core

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"


def test_every_public_name_stands_in_the_reference_once():
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted(FOLDER.glob("*.md")))
    assert sorted(re.findall(r"^::: muslin\.(\w+)$", pages, re.MULTILINE)) == sorted(core.__all__)
