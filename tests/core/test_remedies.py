# SPDX-License-Identifier: GPL-3.0-or-later
"""Every message of a ClothError in the core's sources says what to do: a wanted range, a choice or an instruction."""

import ast
from pathlib import Path

import pytest

from core import errors
from tests.core.remedies import says_what_to_do

CORE = Path(__file__).resolve().parents[2] / "core"
COMPLETED = ("checkpoint.py", "records.py")
"""Files whose messages get their remedy from `Checkpoint.load`."""
CLASSES = {name for name, value in vars(errors).items() if isinstance(value, type)} | {"error_type"}
"""Names of the classes of errors that users see, and of one that is handed on."""
ELSEWHERE = ("{error}", "{str(error)}", "{message}", "{_misfit", "{reason}")
"""Values that are whole messages, whose remedy is in them."""


def messages(tree):
    """Yield the message of every error of Muslin's own that a module makes, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = ast.unparse(node.func)
            if name.rpartition(".")[2] in CLASSES:
                yield shown(node.args[0]), node.lineno


def shown(node):
    """Return the text of a message, its values as their source in braces."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(shown(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return shown(node.left) + shown(node.right)
    return "{" + ast.unparse(node.value if isinstance(node, ast.FormattedValue) else node) + "}"


def test_every_message_of_the_core_says_what_to_do():
    wanting = []
    for path in sorted(CORE.rglob("*.py")):
        if path.name in COMPLETED:
            continue
        for message, line in messages(ast.parse(path.read_text(encoding="utf-8"))):
            if not any(part in message for part in ELSEWHERE) and not says_what_to_do(message):
                wanting.append(f"{path.relative_to(CORE)}:{line}: {message}")
    assert not wanting, "\n".join(wanting)


@pytest.mark.parametrize(("message", "good"), [
    ("thickness is nan, it must be a number, 0 or more", True),
    ("vertex 3 is at [nan, 0, 0], which is not a number; delete or move that vertex", True),
    ("no model 'cloth'; there are: rope, jelly", True),
    ("positions: expected shape (n, 3), got (2,)", True),
    ("the target of vertex 3 is nan at 0.1 s, expected 3 numbers", False),
    ("the checksum is wrong: the file is damaged", False),
    ("vertex 3 is at [nan, 0, 0] at 0.1 s, which is not a number", False)])
def test_a_remedy_is_told_from_a_complaint(message, good):
    assert says_what_to_do(message) is good
