# SPDX-License-Identifier: GPL-3.0-or-later
"""The tension across edges: force per length with which the triangles on both sides pull at an edge.

A triangle with the rest area A and the membrane stress P, of its law and its damping, pulls at its edge of rest length
L and rest normal n with the traction t = P n [N/m]. The force on the vertex opposite that edge is
f = -A P grad N = L/2 P n, so

    t = 2 f / L,    tension = max(t . m, 0)

with the normal m of the edge in the plane of the triangle, outwards. Of the two sides the larger tension counts: at the
end of a tear it is that of the triangle ahead. A push against the edge is no tension, nor is a shear along it: a fabric
that is sheared pulls at the edges across its stretched diagonal. A strip of width w that is pulled by the force F has
the tension F / w across every edge at right angles to the pull, whatever part of F damping carries: that is the load
that a tensile test of a fabric reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray, IntArray
from ..description.cloth import Cloth
from ..description.split_edges import SplitEdges
from ..row_ops import unit
from ..stencils.stencil import ElementForce


def edge_tensions(edges: SplitEdges, place: IntArray, cloth: Cloth, first: int, forces: Sequence[ElementForce],
                  x: FloatArray, v: FloatArray) -> FloatArray:
    """Return the tension across the W edges of a cloth (W,) [N/m].

    Args:
        edges: edges that may tear.
        place: (n,) vertex that is simulated for each vertex of the split mesh.
        cloth: as it is simulated.
        first: number of its first vertex among those of all cloths.
        forces: of all cloths.
        x, v: (V, 3) positions [m] and velocities [m/s] of all cloths.
    """
    mesh, triangles = cloth.mesh, cloth.mesh.triangles + first
    pull = np.zeros((len(triangles), 3, 3))                                          # force on each corner [N]
    for force in forces:
        stencil = force.stencil
        if stencil.weights.shape[1:] == (3, 2) and np.array_equal(stencil.vertices, triangles):
            for c, column in enumerate(force.stress(x, v)):
                pull -= stencil.weights[:, :, c, None] * np.stack(column, axis=-1)[:, None]
    tension = np.zeros(len(edges))
    for side in (0, 1):
        t, i = np.divmod(edges.corners[:, side], 3)
        length = np.linalg.norm(mesh.uv[t, (i + 2) % 3] - mesh.uv[t, (i + 1) % 3], axis=1)
        traction = 2.0 * pull[t, i] / length[:, None]
        start, end = (x[first + place[edges.ends[:, side, k]]] for k in (0, 1))
        e = unit(end - start)
        height = start - x[triangles[t, i]]
        m = unit(height - np.einsum("wi,wi->w", height, e)[:, None] * e)
        tension = np.maximum(tension, np.einsum("wi,wi->w", traction, m))
    return tension
