# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin's core: cloth, rope and soft bodies by implicit Euler and modified conjugate gradients, in NumPy.

    mesh   = ClothMesh(positions, triangles)
    cloth  = Cloth(mesh, Material.preset("cotton"), pins={0: None})
    for frame in simulate(Scene([cloth], [Collider(positions, triangles)]), Solver(), frames=range(1, 61)):
        frame.positions, frame.certificate

A mesh and a fabric make a cloth (`ClothMesh`, `Material`, `Cloth`); cloths, colliders, gravity and wind a `Scene`;
`Solver` says how it is solved. `Material.presets()`, `models()` and `integrators()` list the names there are. What is
wrong with an input is a `ClothError`, or one of its kinds, that names the object and the value.

SI units throughout. Nothing here knows Blender.
"""

from .description.cloth import Cloth
from .description.cloth_contact import ClothContact
from .description.collider import Collider
from .description.force_fields import FieldWeights, ForceField, field_values
from .description.frame_clock import FrameClock
from .description.internal_springs import InternalSprings
from .description.keyed import Keyed
from .description.keyed_material import KeyedMaterial
from .description.material import Material
from .description.mesh import ClothMesh
from .description.motion import MotionWindow, Trajectory
from .description.particle_emitters import emit, emitters
from .description.pins import Attachment
from .description.plasticity import Plasticity
from .description.pressure import Pressure
from .description.scene import Scene
from .description.settings import Solver
from .description.split_edges import split_faces
from .description.tearing import Tearing
from .errors import (
    CacheError,
    CheckpointError,
    ClothError,
    ColliderError,
    MaterialError,
    MeshError,
    PinError,
    PresetError,
    SceneError,
    SolverError,
    UnstableStepError,
)
from .integrators.registry import integrators
from .model.field_forces import field_forces
from .stencils.registry import models
from .stepping.audit import Audit, audit
from .stepping.certificate import Certificate, CrossingsLeft
from .stepping.checkpoint import Checkpoint
from .stepping.energy import Energy
from .stepping.jit_warmup import is_kept, is_warm, warm_up
from .stepping.resolve_start import ResolvedStart, resolve_start
from .stepping.simulate import Frame, simulate, steps_in_frame
from .version import __version__ as __version__

__all__ = [
    "Attachment", "Audit", "CacheError", "Certificate", "Checkpoint", "CheckpointError", "Cloth", "ClothContact",
    "ClothError", "ClothMesh", "Collider", "ColliderError", "CrossingsLeft", "Energy", "FieldWeights", "ForceField",
    "Frame", "FrameClock", "InternalSprings", "Keyed", "KeyedMaterial", "Material", "MaterialError", "MeshError",
    "MotionWindow", "PinError", "Plasticity", "PresetError", "Pressure", "ResolvedStart", "Scene", "SceneError",
    "Solver", "SolverError", "Tearing", "Trajectory", "UnstableStepError", "audit", "emit", "emitters",
    "field_forces", "field_values", "integrators", "is_kept", "is_warm", "models", "resolve_start", "simulate",
    "split_faces", "steps_in_frame", "warm_up",
]
