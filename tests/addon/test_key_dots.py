# SPDX-License-Identifier: GPL-3.0-or-later
"""Each setting that may be keyed has a dot behind its field, as in Blender's own panels."""

from __future__ import annotations

import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all


def may_be_keyed(*groups):
    return {prop.identifier for group in groups for prop in group.bl_rna.properties if prop.is_animatable}


@pytest.mark.parametrize(("kind", "model"), [("CLOTH", "baraff_witkin"), ("CLOTH", "projective"), ("CLOTH", "jelly"),
                                             ("COLLIDER", "baraff_witkin")])
def test_each_setting_that_may_be_keyed_has_a_dot(extension, scene, kind, model):
    box = builders.box(kind=kind)
    box.muslin.model, box.muslin.air_law = model, "QUADRATIC"
    layout = draw_all(extension, box)
    wanted = may_be_keyed(box.muslin, scene.muslin) & set(layout.props)
    assert wanted and set(layout.dotted) >= wanted
    box.muslin.air_law = "LINEAR"
    assert kind == "COLLIDER" or model == "jelly" or "air_drag" in draw_all(extension, box).dotted
