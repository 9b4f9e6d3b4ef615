# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene can be simulated at the ends of all ranges, although files store single precision and the core double."""

from __future__ import annotations

import pytest

from tests.addon import builders


def a_sheet(scene):
    sheet = builders.sheet(4)
    builders.pin(sheet, {0: 1.0, 1: 0.5})
    for which in ("shrink", "wrinkle", "stretch", "shear", "bend"):
        setattr(sheet.muslin, f"{which}_group", "Pins")
    sheet.muslin.use_max_elongation = True
    return sheet


def a_garment(scene):
    vertices = [(x, y, 0) for y in (0, 1, 1.2, 2) for x in (0, 1)]
    panels = builders.mesh_object("Panels", vertices, [(0, 1, 3, 2), (4, 5, 7, 6)], [(2, 4), (3, 5)])
    panels.data.uv_layers.new(name="Map").uv.foreach_set("vector", [0, 0, 1, 0, 1, 1, 0, 1] * 2)
    panels.muslin.use_sewing, panels.muslin.rest_shape = True, "UV"
    return panels


def a_sheet_by_moduli(scene):
    sheet = builders.sheet(4)
    sheet.muslin.model, sheet.muslin.use_moduli = "projective", True
    return sheet


def a_jelly(scene):
    box = builders.box("Jelly", kind="CLOTH")
    box.scale = (1.0, 0.03, 0.03)                   # thin, so that many cells along it are still few
    box.muslin.model = "jelly"
    return box


def a_jelly_of_springs(scene):
    box = a_jelly(scene)
    box.muslin.jelly_structure = "LATTICE"
    return box


def particles(scene):
    return builders.mesh_object("Dust", [(0, 0, 0), (0.5, 0, 0), (0, 0.5, 1)])


def a_sheet_of_another_integrator(integrator):
    def prepare(scene):
        scene.muslin.integrator = integrator
        return builders.sheet(4)

    prepare.__name__ = f"a sheet by {integrator}"
    return prepare


OBJECTS = (a_sheet, a_garment, a_sheet_by_moduli, a_jelly, a_jelly_of_springs, particles,
          a_sheet_of_another_integrator("VERLET"), a_sheet_of_another_integrator("PROJECTIVE_DYNAMICS"))
UNBOUNDED = 1e30


def ends(settings):
    """Yield every number of `settings` with each end of its range."""
    for prop in settings.bl_rna.properties:
        if prop.type in ("FLOAT", "INT") and not prop.is_array and not prop.identifier.startswith("frame_"):
            for end in (prop.hard_min, prop.hard_max):
                if abs(end) < UNBOUNDED:
                    yield prop.identifier, end


@pytest.mark.parametrize("prepare", OBJECTS, ids=lambda prepare: prepare.__name__)
def test_the_scene_can_be_simulated_at_both_ends_of_every_range(extension, scene, prepare):
    obj = prepare(scene)
    scene.frame_end = 2
    refused = []
    for settings in (obj.muslin, scene.muslin):
        for name, end in ends(settings):
            before = getattr(settings, name)
            setattr(settings, name, end)
            values = extension.settings.scene_settings_of(scene, backend="numpy")
            try:
                inputs = extension.read_scene.read_scene(scene, values, None, scene.view_layers[0])
                next(extension.core.simulate(inputs.scene, values.solver(), range(1, 2)))
            except extension.core.ClothError as error:
                if "is painted" not in str(error):          # some models refuse painted maps
                    refused.append(f"{name} at {end}: {error}")
            setattr(settings, name, before)
    assert not refused
