# SPDX-License-Identifier: GPL-3.0-or-later
"""The element forces of one cloth: its model builds them, and painted stiffness is applied to them.

Seams, buttons and soft pins change with time; `seam_forces` and `soft_pins` make forces of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..description.material import Material
from ..description.paint_maps import PaintMaps
from ..errors import ClothError
from ..stencils import registry
from ..stencils.models.built_model import BuiltModel
from ..stencils.stencil import ElementForce
from .internal_springs import with_internal_springs


def built_model(cloth: Cloth, material: Material | None = None) -> BuiltModel:
    """Return the forces, and further nodes, masses and neighbours, that the cloth's model builds.

    `material` replaces that of the cloth.

    Raises:
        ClothError: an option of the model is out of range, the mesh does not suit it, or a map is painted that its laws
            do not use.
    """
    made = registry.find(cloth.model, object_name=cloth.name)(cloth.mesh, material or cloth.material, **cloth.options)
    body = made if isinstance(made, BuiltModel) else BuiltModel(made)
    if cloth.material.two_sided and body.forces and not any("two-sided" in f.law.name for f in body.forces):
        raise ClothError(f"its fabric has a compression of its own, but its model '{cloth.model}' resists compression "
                         "as its springs say; choose the model 'baraff_witkin' or 'mass_spring', or leave compression "
                         "out", object_name=cloth.name)
    return with_internal_springs(replace(body, forces=with_painted_stiffness(body.forces, cloth.maps)), cloth)


def with_painted_stiffness(forces: Sequence[ElementForce], maps: PaintMaps) -> list[ElementForce]:
    """Return the forces with their stiffness multiplied by the painted factors.

    Raises:
        ClothError: a map is painted that no law of the model uses.
    """
    result = list(forces)
    _check_curvature(forces, maps)
    for what, factor in maps.stiffness.items():
        rows = [row for row, force in enumerate(result) if what in _stiffness_parameters(force)
                and force.stencil.vertices.max(initial=-1) < len(factor)]      # further nodes are not painted
        if not rows and forces:
            laws = ", ".join(dict.fromkeys(force.law.name for force in forces))
            raise ClothError(f"{what}_scale is painted, but none of its laws ({laws}) has such a stiffness; "
                             "leave that map out or choose another model", object_name=maps.name)
        for row in rows:
            result[row] = _scaled(result[row], what, factor)
    return result


def _check_curvature(forces: Sequence[ElementForce], maps: PaintMaps) -> None:
    if maps.rest_curvature is not None and maps.rest_curvature.any() and forces \
            and not any(getattr(force.law, "has_rest_curvature", False) for force in forces):
        raise ClothError("a rest curvature is painted, but nothing in its model can be curved at rest: either its "
                         "fabric has no bending stiffness, or the model is one of springs; leave that map out or "
                         "choose another model", object_name=maps.name)


def _stiffness_parameters(force: ElementForce) -> Mapping[str, tuple[int, ...]]:
    """Return which parameters of the law are stiffness, and against which deformation (see `Law`).

    Empty if the law has no such list.
    """
    parameters: Mapping[str, tuple[int, ...]] = getattr(force.law, "stiffness_parameters", {})
    return parameters


def _scaled(force: ElementForce, what: str, factor: FloatArray) -> ElementForce:
    """Return the force with its stiffness against `what` times the mean of `factor` (V,) over each element."""
    stencil = force.stencil
    vertices = stencil.vertices if force.painted_vertices is None else force.painted_vertices
    takes_part = (stencil.weights.any(axis=2) if force.painted_vertices is None
                  else np.ones(vertices.shape, dtype=np.bool_))
    count = takes_part.sum(axis=1)                             # an element without any weight keeps its stiffness
    mean = np.where(count, (factor[vertices] * takes_part).sum(axis=1), 1.0) / np.maximum(count, 1)
    parameters = list(force.parameters)
    for place in _stiffness_parameters(force)[what]:
        parameters[place] = parameters[place] * mean
    return replace(force, parameters=tuple(parameters))
