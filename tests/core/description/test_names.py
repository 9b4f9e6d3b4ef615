# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that the description lists are the names of what there is."""

import inspect

import core
from core.description.models import MODEL_OPTIONS
from core.description.settings import BACKEND_NAMES, INTEGRATOR_NAMES
from core.integrators.registry import integrators
from core.kernels import backend
from core.stencils.registry import MODELS


def test_a_solver_takes_the_integrators_and_backends_that_there_are():
    assert integrators() == INTEGRATOR_NAMES
    assert backend.BACKENDS == BACKEND_NAMES


def test_a_cloth_takes_the_models_that_there_are_with_their_options_and_default_values():
    assert list(MODEL_OPTIONS) == list(MODELS) == list(core.models())
    for name, build in MODELS.items():
        options = list(inspect.signature(build).parameters.values())[2:]
        assert MODEL_OPTIONS[name] == {option.name: option.default for option in options}, name
        assert list(MODEL_OPTIONS[name]) == [option.name for option in options], name


def test_the_options_of_a_cloth_are_those_given_and_the_default_values_of_the_others():
    mesh = core.ClothMesh([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]])
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), "immediate_buckling", hold=0.5)
    assert cloth.model_options == {"hold": 0.5}
    assert list(cloth.options.items()) == [("flat", False), ("hold", 0.5)]
