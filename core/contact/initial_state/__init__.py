# SPDX-License-Identifier: GPL-3.0-or-later
"""Resolve starts that intersect, before the first frame.

Cloth as it is drawn, downloaded or fitted by hand often intersects the body, or itself. First colliders give way:

    shrinking_surface -> shrunk_colliders                a collider shrinks where it crosses cloth; it grows again in
                                                         a simulation (`stepping.growing_colliders`)

What that cannot do, and cloth that crosses cloth, is resolved quasi-statically: by positions near the given ones that
intersect nothing and keep the shape of the cloth (`shape_energy`), subject to one-sided distances (`distance_rows`).
Each iteration finds these distances anew, in the order of the folder:

    collider_surface -> wrong_sides -> collider_rows     cloth leaves colliders to the side of its own outer face
    layer_rows                                           cloth leaves cloth, along the contours of intersection
    resolve                                              iterations, their limit, and what is left

The rest shape of the simulation does not change: what the resolution stretches, the simulation relaxes.
"""
