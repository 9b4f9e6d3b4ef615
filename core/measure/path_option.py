# SPDX-License-Identifier: GPL-3.0-or-later
"""The type of options of a command line that name a file or folder."""

from __future__ import annotations

import argparse


def path_option(text: str) -> str:
    """Return the path that an option gives.

    Raises:
        ArgumentTypeError: it is empty, as that of a variable of a script that is not set. To take it for an option that
            is not given would save somewhere else than was asked for.
    """
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; name a file or folder, or leave the option out")
    return text
