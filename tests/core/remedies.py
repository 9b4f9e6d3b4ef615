# SPDX-License-Identifier: GPL-3.0-or-later
"""A rule for error messages: they say what to do."""

from __future__ import annotations

import re

INSTRUCTION = re.compile(
    r"(^|[;,:.] |\band |\bor |\(|\bto [a-z ]+, )(check|delete|move|merge|give|take|make|use|raise|lower|set|remove|"
    r"dissolve|unwrap|simulate|leave|bring|add|join|switch|close|turn|choose|pin|name|open|fill|start|keep|split|apply|reduce|"
    r"increase|bake|save|look|shorten|slow|separate|let|put|try|sew|replace|recalculate|flip|cut|press|hold|free|scale|"
    r"write|ask|install|resume|select|clear|undo|shrink|enlarge|read|copy|spread|correct|call)\b|\bperhaps\b|"
    r"\bthere are: |\bits (arguments|options) are: |\bhas to start anew\b", re.IGNORECASE)
"""What a message says to do, or names to choose from."""
RANGE = re.compile(r"\b(must|needs?)\b")
"""What a message says that a value has to be."""
KIND = re.compile(r"\b(expected|takes?)\b")
"""What a message says about a value of the wrong kind. It does not help with one that is not finite."""
NOT_FINITE = re.compile(r"\b(nan|inf|not a number|not finite|no finite)\b")


def says_what_to_do(message: str) -> bool:
    """Return whether a message has an instruction, names to choose from, or what the value has to be."""
    if INSTRUCTION.search(message) or RANGE.search(message):
        return True
    return bool(KIND.search(message)) and not NOT_FINITE.search(message)
