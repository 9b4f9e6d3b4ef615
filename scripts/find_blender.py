# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out which Blender an extension with Numba is built for, and which Python that has. Used by build_extension.py.

Runs in any Python from 3.9 on.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from numba_wheels import BLENDERS, LONG_TERM, PYTHONS

PROBE = "import bpy, sys; print('found %d.%d %d.%d' % (*bpy.app.version[:2], *sys.version_info[:2]))"
ANSWER = re.compile(r"^found (\d+\.\d+) (\d+\.\d+)$", re.MULTILINE)
TIMEOUT = 120
"""Longest time that a Blender may take to start [s]."""


@dataclass(frozen=True)
class Target:
    """The Blender versions for which an extension zip bundles wheels.

    Attributes:
        name: end of the zip's name; empty for any Blender.
        pythons: versions of Python.
        reason: why it was chosen, for the user.
    """

    name: str
    pythons: tuple[str, ...]
    reason: str


def target(blender: str | None) -> Target:
    """Return the target of `--blender`: a version, the path of a Blender, "any", or None for the Blender that is here.

    Raises:
        ValueError: it is none of them, or does not start.
    """
    if blender is None:
        return _target_here()
    if blender == "any":
        return Target("", PYTHONS, "any Blender")
    version = re.fullmatch(r"(\d+\.\d+)(\.\d+)?", blender)
    if version and version[1] in BLENDERS:
        return _of_version(version[1], f"Blender {version[1]}")
    if version:
        raise ValueError(f"which Python is in Blender {blender} is not known here: give its path, "
                         f"or one of {', '.join(BLENDERS)}, any")
    return _of_program(blender)


def _target_here() -> Target:
    """Return the target for the Blender whose Python runs this, else the one on the search path, else the newest."""
    version = own_blender(Path(sys.executable))
    if version:
        return _named(version, "{}.{}".format(*sys.version_info), f"Blender {version}, whose Python runs this")
    program = shutil.which("blender")
    if program:
        return _of_program(program)
    return _of_version(LONG_TERM[-1], f"Blender {LONG_TERM[-1]}, because no Blender was found; for another one give "
                       "--blender with its version or path")


def own_blender(python: Path) -> str:
    """Return the version of the Blender that a Python in VERSION/python/bin belongs to; empty if to none."""
    folders = python.absolute().parents
    if len(folders) > 2 and folders[1].name == "python" and re.fullmatch(r"\d+\.\d+", folders[2].name):
        return folders[2].name
    return ""


def _of_program(program: str) -> Target:
    """Return the target of a Blender by asking it."""
    try:
        done = subprocess.run([program, "--background", "--factory-startup", "--python-expr", PROBE],
                              capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError(f"the Blender {program} does not start: {error}") from None
    found = ANSWER.search(done.stdout)
    if found is None:
        raise ValueError(f"{program} does not say which Blender it is: {(done.stdout + done.stderr).strip()[-500:]}")
    return _named(found[1], found[2], f"Blender {found[1]} with Python {found[2]}, {program}")


def _of_version(version: str, reason: str) -> Target:
    return _named(version, BLENDERS[version], reason)


def _named(version: str, python: str, reason: str) -> Target:
    """Return a target that is named after Blender, or after a Python that Blender is not usually built with."""
    name = f"-blender{version}" if BLENDERS.get(version) == python else f"-python{python}"
    return Target(name, (python,), reason)
