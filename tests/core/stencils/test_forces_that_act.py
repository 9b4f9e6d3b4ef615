# SPDX-License-Identifier: GPL-3.0-or-later
"""A model makes no element force that cannot act: without elements or stiffness it would only cost time."""

import core
from core.model.cloth_forces import built_model
from tests.core.shapes import grid, quads

SHEETS = ("baraff_witkin", "projective", "mass_spring", "immediate_buckling", "thread_cloth")


def test_every_force_of_a_sheet_has_elements_and_stiffness_and_bending_has_a_force_only_if_it_resists():
    counts = {}
    for model in SHEETS:
        for cells in (1, 4):
            mesh = core.ClothMesh(grid(cells, cells)[0], faces=quads(cells, cells))
            for bend in (0.0, 1e-4):
                fabric = core.Material(areal_density=0.2, stretch=500.0, shear=50.0, bend=bend)
                forces = built_model(core.Cloth(mesh, fabric, model=model)).forces
                counts[model, cells, bend] = len(forces)
                for force in forces:
                    first = next(iter(force.law.stiffness_parameters.values()))[0]
                    assert len(force.stencil.vertices), (model, cells, bend, force.law.name)
                    assert (force.parameters[first] > 0.0).any(), (model, cells, bend, force.law.name)
        assert counts[model, 4, 1e-4] == counts[model, 4, 0.0] + 1, model
