# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft cloth that folds quickly over a ball: the cut at the end of a step has little left to do, and steps are kept."""

import numpy as np
import pytest

import core
from core.contact.contact_step import SelfContactStep
from tests.core.shapes import ball, grid

SOFT = core.Material(areal_density=0.3, stretch=71.0, shear=14.0, bend=1e-5, friction=0.35, viscous_drag=0.05)
SIZE = 56
SETTINGS = {"integrator": "bdf2", "steps_per_frame": 1, "tolerance": 1e-2}


def scene_of(size):
    """A level sheet of 2 x 2 m above a ball."""
    x, triangles = grid(size, size)
    return core.Scene([core.Cloth(core.ClothMesh(2.0 * (x - x.mean(axis=0)), triangles), SOFT)],
                      [core.Collider(*ball(0.5, 3, (0.0, 0.0, -0.6)), friction=0.3)])


@pytest.fixture(scope="module")
def fall():
    """Frames of the fall, and how far each cut moved vertices in all, over an edge's length."""
    cuts, once = [], SelfContactStep.truncate

    def watched(self, x1, *more):
        cut = once(self, x1, *more)
        cuts.append(np.linalg.norm(cut - x1, axis=1).sum() * SIZE / 2.0)
        return cut

    scene = scene_of(SIZE)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SelfContactStep, "truncate", watched)
        frames = list(core.simulate(scene, core.Solver(**SETTINGS), range(18)))
    return scene.cloths[0].mesh, frames, cuts


def test_soft_cloth_folds_in_one_step_a_frame_but_for_a_few(fall):
    mesh, frames, _ = fall
    assert sum(f.certificate.rejected for f in frames) <= 4
    assert [f.certificate.crossings for f in frames] == [0] * len(frames)
    lengths = np.array([np.linalg.norm(np.diff(f.positions[0][mesh.edges], axis=1)[:, 0], axis=1) for f in frames])
    stretch = lengths / mesh.rest_lengths
    added = stretch[1:] - np.maximum(stretch[:-1], 1.0)
    assert added.max() < 0.4 and stretch.max() < 1.4                  # an edge in a fold had got to twice its length
    assert max(f.certificate.stretch_p99 for f in frames) < 1.2


def test_what_a_quick_motion_would_make_meet_is_solved_for_and_not_cut(fall):
    assert sum(fall[2]) < 20.0
