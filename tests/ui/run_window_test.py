# SPDX-License-Identifier: GPL-3.0-or-later
"""Test Muslin in the window of a real Blender: `python tests/ui/run_window_test.py TOOL [--pictures FOLDER]`.

TOOL is a program that runs a real Blender with and without its window (`TOOL headless ARGS`, `TOOL window ARGS`).
Beside it is ui_sim.py, which simulates mouse and keyboard. The extension is built and installed as users do it, into an
empty profile, and then used. If TOOL cannot run, the test is skipped with the reason.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ("first_steps", "bake", "bake_cycle", "solver_killed", "blender_killed",
             "bake_fluid", "changes", "interruptions", "crossings", "compare", "fields", "pressure", "pins", "rest",
             "keyed", "of_each_cloth", "not_split", "panels", "quality", "errors", "leaving")
MEASURING = ("bake_fluid",)
"""Scenarios that measure times, which depend on what else the machine does."""
PICTURES = {"first_steps": ("empty", "fabrics", "fabrics_found", "cloth", "collider"), "bake": ("baking", "baked"),
            "bake_cycle": ("bake_running", "bake_paused", "bake_partial", "bake_complete"),
            "solver_killed": ("bake_killed",), "interruptions": ("interrupted",),
            "changes": ("changed", "baked_again"),
            "quality": ("quality", "outdated"),
            "crossings": ("crossings", "certificate"), "compare": ("compare",), "fields": ("fields_panel", "fields"),
            "pressure": ("pressure_panel", "pressure"), "pins": ("pins_panel", "pins"),
            "rest": ("plasticity_panel", "rest", "tearing_panel", "tearing"),
            "keyed": ("keyed_speed", "keyed_panel"), "not_split": ("not_split",),
            "of_each_cloth": ("self_collisions_panel",),
            "panels": tuple(f"panels_{name}" for name in ("none", "cloth", "projective", "jelly", "lattice", "more",
                                                          "particles", "solid"))}
PYTHON_FAILED = ("Traceback (most recent call last)", "property not found", "unknown operator")
"""Texts that Blender prints when a panel or handler fails, without stopping."""
TIMEOUT = 1800      # longest time of one window [s]

START = """
import sys
sys.path[:0] = {path!r}
import window_scenarios
window_scenarios.start({scenarios!r}, {pictures!r})
"""


def why_not(tool: Path) -> str:
    """Return why the tool cannot be used here; empty if it can."""
    if not tool.is_file() or not tool.with_name("ui_sim.py").is_file():
        return f"{tool} and ui_sim.py beside it are not here"
    done = subprocess.run([sys.executable, str(tool), "info"], capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip() or f"{tool} info failed"


def install(tool: Path, folder: Path) -> Path:
    """Build the extension with the tool's Blender, install it into an empty profile, and return the profile."""
    profile, package = folder / "profile", folder / "muslin.zip"
    profile.mkdir()

    def command(*arguments: str) -> None:
        subprocess.run([sys.executable, str(tool), "headless", "--profile", str(profile), "--bind", str(ROOT),
                        "--command", *arguments], check=True)

    command("extension", "build", "--source-dir", str(ROOT), "--output-filepath", str(package))
    command("extension", "install-file", "-r", "user_default", "-e", str(package))
    command("muslin", "--help")
    return profile


def drive(tool: Path, profile: Path, scenarios: list[str], folder: Path, pictures: Path | None, size: str) -> int:
    """Run the scenarios in one window, and return the exit code."""
    script = folder / "start.py"
    path = [str(tool.parent), str(Path(__file__).parent)]
    script.write_text(START.format(path=path, scenarios=scenarios, pictures=str(pictures or "")))
    steps: list[str] = []
    for name in [name for scenario in scenarios for name in PICTURES.get(scenario, ())] if pictures else ():
        steps += ["--wait-file", str(pictures / f"{name}.ready"), "--screenshot", str(pictures / f"{name}.png")]
    window = subprocess.Popen([sys.executable, str(tool), "window", "--profile", str(profile), "--bind", str(ROOT),
                               "--script", str(script), "--event-simulate", "--stay", "--size", size,
                               "--timeout", str(TIMEOUT), *steps], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
    failed = False
    for line in window.stdout:
        print(line, end="", flush=True)
        failed |= any(sign in line for sign in PYTHON_FAILED)
    return window.wait() or int(failed)


def main() -> int:
    """Install the extension, run the scenarios, and print whether they passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", type=Path)
    parser.add_argument("--only", choices=SCENARIOS, action="append",
                        help="scenarios to run (default: all but those that measure times)")
    parser.add_argument("--size", default="1920x1080", help="size of the window; a high one shows whole panels")
    parser.add_argument("--pictures", type=Path, help="folder for screenshots; runs only scenarios that make some")
    options = parser.parse_args()
    tool = options.tool.resolve()
    reason = why_not(tool)
    if reason:
        print(f"skipped: Muslin in Blender's window, because {reason}")
        return 0
    scenarios = options.only or [name for name in SCENARIOS if name not in MEASURING]
    if options.pictures:
        scenarios = [name for name in scenarios if name in PICTURES]
        options.pictures = options.pictures.resolve()
        options.pictures.mkdir(parents=True, exist_ok=True)
        for name in (name for names in PICTURES.values() for name in names):             # its own, nothing else
            for old in (options.pictures / f"{name}.png", options.pictures / f"{name}.ready"):
                old.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="muslin-window-") as folder:
        code = drive(tool, install(tool, Path(folder)), scenarios, Path(folder), options.pictures, options.size)
    print(f"window test ({', '.join(scenarios)}): {'passed' if code == 0 else f'FAILED, exit code {code}'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
