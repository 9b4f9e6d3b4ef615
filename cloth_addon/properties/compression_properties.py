# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object's resistance to compression, of buckling, and of damping that differs between deformations."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, FloatProperty


def _time(name: str, description: str) -> Any:
    return FloatProperty(name=name, description=description, default=0.005, min=0.0, max=10.0, soft_max=0.1, step=0.1,
                         precision=4, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE")


class CompressionProperties:
    """Settings of compression and separate damping; a base class of `MuslinObject`."""

    __slots__ = ()

    use_compression: BoolProperty(
        name="Compression", description="Resist compression with a stiffness of its own instead of that of stretch",
        default=False, options=set(),
    )
    compression_warp: FloatProperty(
        name="Compression Warp", description="Resistance to being pushed together along the grain, in N/m. More "
        "makes it fold instead; 0 lets the fabric give way as if it buckled between the vertices",
        default=400.0, min=0.0, max=1e9, soft_max=1e5, step=10000, precision=0,
    )
    compression_weft: FloatProperty(
        name="Weft", description="Resistance to being pushed together across the grain, in N/m. More makes it fold "
        "instead",
        default=400.0, min=0.0, max=1e9, soft_max=1e5, step=10000, precision=0,
    )
    use_buckling: BoolProperty(
        name="Buckling", description="Let faces that are pushed together give way, as cloth folds between its "
        "vertices. A coarse mesh then falls in the many soft folds of a fine one, instead of a few stiff wings along "
        "its faces. Has no effect with Compression, Separate Damping or Projective Dynamics, or without bending "
        "stiffness",
        default=True, options=set(),
    )
    use_separate_damping: BoolProperty(
        name="Separate Damping", description="Damp compression, shear and bending by times of their own. Damping of "
        "the fabric is that of stretch then",
        default=False, options=set(),
    )
    compression_damping: _time("Compression", "Time by which motions that push the fabric together are damped. More "
                               "makes it give way slowly")
    shear_damping: _time("Shear", "Time by which motions that pull the grain out of square are damped. More makes the "
                         "drape settle slowly")
    bend_damping: _time("Bending", "Time by which folding motions are damped. More makes folds open and close slowly")
