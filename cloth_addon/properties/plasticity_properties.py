# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of stretch and folds that stay in an object's fabric."""

from __future__ import annotations

from bpy.props import BoolProperty, FloatProperty


class PlasticityProperties:
    """Settings of plasticity; a base class of `MuslinObject`."""

    __slots__ = ()

    use_plasticity: BoolProperty(
        name="Plasticity", description="Let stretch and folds stay where they are stronger than a limit, as in paper, "
        "foil or dough",
        default=False, options=set(),
    )
    use_plastic_stretch: BoolProperty(
        name="Plastic Stretch", description="Let stretch above the limit stay", default=True, options=set(),
    )
    stretch_yield: FloatProperty(
        name="Stretch Yield", description="Stretch over the rest length above which it stays. Less makes the fabric "
        "give way earlier",
        default=5.0, min=0.0, soft_max=50.0, max=1e4, step=10, precision=2, subtype="PERCENTAGE",
    )
    use_plastic_bending: BoolProperty(
        name="Plastic Bending", description="Let folds that are sharper than the limit stay", default=True,
        options=set(),
    )
    bend_yield: FloatProperty(
        name="Bending Yield", description="Curvature above which folds stay, in 1/m: one over the radius. 20 is a "
        "radius of 5 cm. Less makes weaker folds stay",
        default=20.0, min=0.0, max=1e6, soft_max=500.0, step=100, precision=1,
    )
    plastic_time: FloatProperty(
        name="Flow Time", description="Time in which stretch and folds above their limit become permanent. More makes "
        "the fabric creep slowly; 0 is at once",
        default=0.0, min=0.0, soft_max=10.0, max=1e6, step=10, precision=3, subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
    )
    hardening: FloatProperty(
        name="Hardening", description="How much the limits grow with what has stayed. More makes the fabric resist "
        "further change",
        default=0.0, min=0.0, soft_max=5.0, max=1e6, step=1, precision=3,
    )
