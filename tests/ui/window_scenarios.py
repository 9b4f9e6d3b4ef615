# SPDX-License-Identifier: GPL-3.0-or-later
"""All scenarios with mouse and keyboard in Blender's window, and their start by run_window_test.py.

A scenario is a generator. At each `yield` Blender handles events and redraws. Each runs alone, or after any other.
"""

from __future__ import annotations

import time
from pathlib import Path

import ui_sim as ui
import window_input as window
from bake_cycle_scenario import bake_cycle, blender_killed, solver_killed
from bake_fluid_scenario import bake_fluid
from bake_scenario import bake, interruptions
from changes_scenario import changes
from compare_scenario import compare
from crossings_scenario import crossings
from errors_scenario import errors
from fields_scenario import fields
from first_steps_scenario import first_steps
from leaving_scenario import leaving
from panels_scenario import panels
from quality_scenario import quality
from settings_scenarios import keyed, not_split, of_each_cloth
from shapes_scenarios import pins, pressure, rest

SCENARIOS = {run.__name__: run for run in (
    first_steps, bake, bake_cycle, solver_killed, blender_killed, bake_fluid, changes, interruptions, crossings,
    compare, fields, pressure, pins, rest, keyed, of_each_cloth, not_split, panels, quality, errors, leaving)}
LIMIT = 200.0           # longest time of one scenario [s]
PAUSE = 0.01            # least time between two steps of a scenario [s]


def start(scenarios: list[str], picture_folder: str) -> None:
    """Run the scenarios, and then quit Blender with an exit code."""
    window.pictures = Path(picture_folder)
    ui.STEP = PAUSE

    def all_of_them() -> window.Steps:
        window.load_modules()
        for name in scenarios:
            begin = time.monotonic()
            yield from window.press("ESC")          # closes a message of the one before; operators have a context again
            yield from SCENARIOS[name]()
            print(f"window test: {name} passed in {time.monotonic() - begin:.1f} s", flush=True)

    ui.main(all_of_them, LIMIT * len(scenarios))
