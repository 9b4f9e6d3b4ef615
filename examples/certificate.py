# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the certificate of each frame, and audit positions that come from elsewhere.

Every frame says how far edges are stretched, how near things are, what crosses, and whether the solves converged.
`audit` looks at any positions and triangles, also at those of another program.
"""

import json

import muslin
from shapes import ball, sheet


def main(frames=30):
    positions, quads = sheet(21, 0.8, centre=(0.0, 0.0, 0.32))
    cloth = muslin.Cloth(muslin.ClothMesh(positions, faces=quads, name="sheet"), muslin.Material.preset("silk"))
    solid = muslin.Collider(*ball(0.3), name="ball")
    scene = muslin.Scene([cloth], [solid])
    for frame in muslin.simulate(scene, frames=range(1, frames + 1)):
        found = frame.certificate
        print(f"frame {frame.index}: stretch {found.stretch_p99:.4f}, gap {found.smallest_gap}, "
              f"crossings {found.crossings}, steps {found.steps}, converged {found.converged}")
    print(json.dumps(frame.certificate.as_dict(), indent=1))
    pushed = frame.positions[0] - [0.0, 0.0, 0.1]  # what a careless tool might do: 10 cm down, into the ball
    found = muslin.audit([(pushed, cloth.mesh.triangles)], [(solid.at(frame.time), solid.triangles)])
    print(f"pushed down: {found.crossings} crossings, {found.deepest_penetration:.3f} m deep")
    return scene, frame


if __name__ == "__main__":
    main()
