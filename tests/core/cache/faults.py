# SPDX-License-Identifier: GPL-3.0-or-later
"""What is damaged in a take."""

from core.cache import take_checkpoints as kept
from core.cache.take_entries import fault_of


def faults(take):
    """Read the whole take, and return what is damaged, one line for each file and frame; empty if all is sound."""
    found = [fault_of(entry, take.header, take._log, take._files) for entry in take._frames]
    there = [entry for entry in take._checkpoints() if kept.is_there(take.folder, entry.frame, None)]
    damaged = [entry for entry in there if kept.load(take.folder, entry.frame, entry.values["digest"]) is None]
    return [*filter(None, found), *(f"{kept.path_of(take.folder, entry.frame)} is damaged" for entry in damaged)]
