# SPDX-License-Identifier: GPL-3.0-or-later
"""Test the pairs of cloth and a collider where edges of the cloth cross it."""

import numpy as np

import core
from core.contact.contact_trial import ContactTrial
from core.contact.surfaces import SurfaceSet
from core.model.particle_system import ParticleSystem
from tests.core.contact.shapes import ball

RADIUS = 0.1


def test_no_pair_holds_cloth_inside_of_a_collider_that_it_crosses():
    """Edges of the cloth are chords of the ball, with both of their ends outside."""
    x, triangles = ball(48, 24, RADIUS)
    half = 0.8 * RADIUS
    corners = np.array([[-half, -half, 0.0], [half, -half, 0.0], [half, half, 0.0], [-half, half, 0.0]])
    lifted = corners + [0.0, 0.003, 0.6 * RADIUS]
    sheet = core.Cloth(core.ClothMesh(lifted, faces=[[0, 1, 2, 3]]), core.Material.preset("cotton"))
    system = ParticleSystem(core.Scene([sheet], [core.Collider(x, triangles)]))
    solids = SurfaceSet(system.scene.colliders, system.thickness, system.friction.at, system.shapes).between(0.0, 0.1)
    trial, at = ContactTrial(system.self_contact), system.nodes.start
    around = trial.look(at, at, trial.motion(solids))
    assert len(around.crossings) > 10 and (np.linalg.norm(at, axis=1) > 1.05 * RADIUS).all()
    pairs, count = around.pairs, len(at)
    cloth = pairs.vertices < count
    points = np.einsum("pk,pki->pi", np.where(cloth, np.abs(pairs.weights), 0.0), around.start[pairs.vertices])
    assert len(pairs) > 0 and not trial.motion(solids).inside(0, points).any()
    assert (np.linalg.norm(points, axis=1) > 0.97 * RADIUS).all()            # the ball's faces are flat
