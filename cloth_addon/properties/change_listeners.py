# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that are called when objects become cloth or colliders, or stop being so.

Blender's update of the scene does not report such a change. The overlay of crossings adds a function here, so that the
properties need not import the overlay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_listeners: list[Callable[[], None]] = []


def add(listener: Callable[[], None]) -> None:
    """Call `listener` at every later change."""
    _listeners.append(listener)


def remove(listener: Callable[[], None]) -> None:
    """Do not call `listener` any more."""
    _listeners.remove(listener)


def notify(settings: Any, context: Any) -> None:
    """Call all listeners. The signature is that of a property's `update`."""
    for listener in _listeners:
        listener()
