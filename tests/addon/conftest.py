# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender with the extension enabled from these sources, and a new empty scene for every test."""

from __future__ import annotations

import atexit
import importlib
import os
import pkgutil
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULE = "bl_ext.dev.muslin"

profile = tempfile.mkdtemp(prefix="muslin-tests-")
atexit.register(shutil.rmtree, profile, ignore_errors=True)
os.environ["BLENDER_USER_RESOURCES"] = profile     # read when bpy is imported
pytest.importorskip("bpy", reason="the add-on is tested where the bpy package is installed")


@pytest.fixture(scope="session", autouse=True)
def extension():
    """Enable the extension as an installed one, and return its modules by their names."""
    import bpy

    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT, Path(folder) / "muslin", target_is_directory=True)
        bpy.context.preferences.extensions.repos.new(name="dev", module="dev", custom_directory=folder)
        bpy.ops.preferences.addon_enable(module=MODULE)
        assert MODULE in bpy.context.preferences.addons, "the extension was not enabled: see the messages above"
        addon = importlib.import_module(f"{MODULE}.cloth_addon")
        names = [module.name for module in pkgutil.walk_packages(addon.__path__, f"{addon.__name__}.")
                 if not module.ispkg]
        yield SimpleNamespace(core=importlib.import_module(f"{MODULE}.core"),
                              **{name.rpartition(".")[2]: importlib.import_module(name) for name in names})
        bpy.ops.preferences.addon_disable(module=MODULE)


@pytest.fixture(autouse=True)
def scene(extension):
    """Return an empty scene of 4 frames at 24 per second."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 4
    scene.frame_set(1)
    return scene


@pytest.fixture
def command(extension, blend, monkeypatch):
    """Return a function that runs `muslin` in this process on the file of the fixture `blend`, with scripted motion."""
    from tests.addon.scripted import crumple, replace_simulation, simulate_as

    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    return lambda *arguments: extension.command_line.main([str(argument) for argument in arguments])


@pytest.fixture
def read(extension, scene, monkeypatch):
    """Return a function that bakes cloth without motion and returns the core.Scene that was simulated."""
    from tests.addon import builders
    from tests.addon.scripted import replace_simulation, simulate_as

    def read():
        simulated = []
        replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x, simulated))
        builders.finish(extension.bake.bake(scene))
        return simulated[0]

    return read


@pytest.fixture
def read_inputs(extension, scene):
    """Return a function that reads the scene at its first frame, and another frame if it is given."""
    import bpy

    def read_inputs(frame=None):
        settings = extension.settings.scene_settings_of(scene)
        inputs = extension.read_scene.read_scene(scene, settings, None, bpy.context.view_layer)
        for reached in range(settings.start + 1, (frame or settings.start) + 1):
            inputs.window.read(reached)
        return inputs

    return read_inputs


@pytest.fixture
def baked(extension, scene, monkeypatch):
    """Return a function that bakes the scene's cloth over the given frames with a reproducible random motion."""
    from tests.addon import builders
    from tests.addon.scripted import crumple, replace_simulation, simulate_as

    def baked(first: int = 3, last: int = 6) -> None:
        scene.muslin.backend, scene.muslin.use_custom_range = "NUMPY", True
        scene.muslin.frame_start, scene.muslin.frame_end = first, last
        replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
        builders.finish(extension.bake.bake(scene))
    return baked
