# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel says where Coarse Frames change nothing, as the core decides."""

from __future__ import annotations

import importlib
import re

import bpy
import pytest

from tests.addon import builders, drawing

FEW = 16
"""Vertices of the coarse mesh [-]."""


def with_loose_edge(muslin):
    mesh = muslin.id_data.data
    mesh.edges.add(1)
    mesh.edges[-1].vertices = 0, 80
    mesh.update(calc_edges_loose=True)


def with_seam(muslin):
    with_loose_edge(muslin)
    muslin.use_sewing = True


def with_buttons(muslin):
    with_loose_edge(muslin)
    builders.pin(muslin.id_data, {0: 1.0, 80: 1.0}, "Buttons")
    muslin.button_group = "Buttons"


SETTINGS = {
    "plain": lambda muslin: None,
    "limit": lambda muslin: setattr(muslin, "use_max_elongation", True),
    "as published": lambda muslin: setattr(muslin, "use_buckling", False),
    "thickness": lambda muslin: setattr(muslin, "thickness", 0.01),
    "loose": with_loose_edge,
    "sewing": with_seam,
    "buttons": with_buttons,
    "pattern": lambda muslin: setattr(muslin, "rest_shape", "UV"),
    "grain": lambda muslin: setattr(muslin, "grain", "UV"),
    "pressure": lambda muslin: setattr(muslin, "use_pressure", True),
    "dynamic": lambda muslin: setattr(muslin, "use_dynamic_mesh", True),
    "plasticity": lambda muslin: setattr(muslin, "use_plasticity", True),
    "mass_spring": lambda muslin: setattr(muslin, "model", "mass_spring"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_hint_agrees_with_what_the_core_does(extension, scene, monkeypatch, setting):
    sheet = builders.sheet(9)
    sheet.data.uv_layers.new(name="UVMap")
    layer = sheet.data.uv_layers["UVMap"].data
    for loop in sheet.data.loops:
        layer[loop.index].uv = sheet.data.vertices[loop.vertex_index].co[:2]
    sheet.muslin.model = "baraff_witkin"
    SETTINGS[setting](sheet.muslin)
    monkeypatch.setattr(extension.coarse_hint, "LEAST_VERTICES", 4 * FEW)
    core = extension.core.__name__
    coarse = importlib.import_module(f"{core}.stepping.coarse_frames").CoarseFrames
    system = importlib.import_module(f"{core}.model.particle_system").ParticleSystem
    stopwatch = importlib.import_module(f"{core}.stopwatch").Stopwatch
    given = extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                            bpy.context.view_layer)
    solver = extension.core.Solver(coarse_frames=2, coarse_vertices=FEW)
    found = coarse.of(system(given.scene), solver, stopwatch(), extension.core.FrameClock())
    text = extension.coarse_hint.text(scene, [sheet])
    assert (found is None) == text.startswith("Coarse Frames change nothing"), text
    assert text == "" or found is None


def test_the_panel_shows_it_once_they_are_asked_for(extension, scene):
    first, second = builders.sheet(4, "Small"), builders.sheet(5, "Other")
    texts = " ".join(drawing.draw_all(extension, first).texts)
    assert "Coarse Frames change" not in texts
    scene.muslin.preroll, scene.muslin.coarse_frames = 4, 2
    texts = " ".join(drawing.draw_all(extension, first).texts)
    assert re.search("Coarse Frames change nothing: 'Small' has 16 vertices, and only cloth of 10,000 or more", texts)
    assert "'Other' has 25 vertices" in texts
    second.muslin.kind = "NONE"
    assert "'Other'" not in extension.coarse_hint.text(scene, [first])
