# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers in messages are written as a person would write them."""

import ast
import re

import numpy as np
import pytest

from core.number_text import number_text
from tests.core.test_architecture import ROOT


@pytest.mark.parametrize(("value", "digits", "text"), [
    (1000.0, 2, "1000"), (999.6, 3, "1000"), (1234.5, 3, "1230"), (0.05, 2, "0.05"), (0.0001, 3, "0.0001"),
    (0.1, 6, "0.1"), (25, 6, "25"), (-0.5, 3, "-0.5"), (0.0, 3, "0"), (1.00001, 6, "1.00001"), (1e15, 6, "1e15"),
    (2.5e-9, 3, "2.5e-9"), (1048574.0, 10, "1048574"), (12.5, 10, "12.5"), (np.float32(0.25), 3, "0.25"),
    (np.inf, 3, "inf"), (np.nan, 3, "nan")])
def test_numbers_are_written_as_a_person_would(value, digits, text):
    assert number_text(value, digits) == text


def test_a_text_is_as_exact_as_its_digits_and_no_longer_than_it_has_to_be():
    rng = np.random.default_rng(3)
    for value in np.copysign(10.0 ** rng.uniform(-12.0, 18.0, 500), rng.uniform(-1.0, 1.0, 500)):
        for digits in (2, 3, 6):
            text = number_text(float(value), digits)
            assert abs(float(text) - value) <= 0.5000001 * 10.0 ** (1 - digits) * abs(value)
            assert len(text) <= 6 + digits and "+" not in text and "e0" not in text and "e-0" not in text


def test_all_texts_write_their_numbers_so():
    """`1e+03 m` is what the formats g and e make of a kilometre."""
    places = []
    for folder in ("core", "cloth_addon"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                spec = node.format_spec if isinstance(node, ast.FormattedValue) else None
                if spec is not None and re.search("[geGE]'$", ast.unparse(spec)) and path.name != "number_text.py":
                    places.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node.value)}")
    assert not places, "\n".join(places)
