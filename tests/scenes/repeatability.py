# SPDX-License-Identifier: GPL-3.0-or-later
"""Print digests of what twelve scenes simulate: `python -m tests.scenes.repeatability [--backend B] [--scene S]`.

One line for each scene and backend: name, backend, the SHA-256 of all positions and velocities of all frames, and the
SHA-256 of all certificates but their wall-clock times, with an audit of each last frame. The last line combines the
lines before.

Run it before and after a change that must not change results, on the same machine and Python. Rounding differs between
processors, so these digests mean nothing elsewhere, and none are kept in the repository.
"""

import argparse
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import core
from tests.scenes.repeatability_scenes import SCENES

BACKENDS = ("numpy", "numba")


@dataclass(frozen=True)
class Outcome:
    """What a scene gave with a backend: digests in hexadecimal, and how many steps were rejected."""

    scene: str
    backend: str
    motion: str
    certificates: str
    rejected: int

    @property
    def line(self):
        """The outcome as it is printed."""
        return f"{self.scene:10} {self.backend} {self.motion} {self.certificates}"


def available():
    """Return the names of the backends that can run here."""
    corner = core.Cloth(core.ClothMesh(np.eye(3), [[0, 1, 2]]), core.Material.preset("cotton"))
    result = []
    for backend in BACKENDS:
        try:
            core.simulate(core.Scene([corner]), core.Solver(backend=backend), range(1))
        except core.SolverError:
            continue
        result.append(backend)
    return result


def run(name, backend, most=None):
    """Simulate all of a scene, of each simulation at most so many frames after the first, and return the outcome."""
    motion, certificates, rejected = hashlib.sha256(), hashlib.sha256(), 0
    for act in SCENES[name]():
        solver = core.Solver(**act.settings, backend=backend)
        if name == "explicit":                                       # the others take as many as they are told
            certificates.update(_text(core.steps_in_frame(act.scene, solver)))
        count = act.frames if most is None else min(act.frames, most)
        for frame in core.simulate(act.scene, solver, range(count + 1)):
            for values in (*frame.positions, *frame.velocities):
                assert values.dtype == np.float64
                motion.update(values.tobytes())
            certificates.update(_text(frame.certificate.as_dict()))
            rejected += frame.certificate.rejected
        found = core.audit([(x, c.mesh.triangles) for x, c in zip(frame.positions, act.scene.cloths, strict=True)],
                           [(c.at(frame.time), c.triangles) for c in act.scene.colliders])
        certificates.update(_text(vars(found)))
    return Outcome(name, backend, motion.hexdigest(), certificates.hexdigest(), rejected)


def _text(value):
    """Return the values in a record as bytes, without the names of its fields, which may change."""
    return repr(list(_values(value))).encode()


def _values(value) -> Iterator:
    if isinstance(value, dict):
        for key, part in value.items():
            if key != "seconds":                                     # wall-clock times
                yield from _values(part)
    elif isinstance(value, (list, np.ndarray)):
        for part in value:
            yield from _values(part)
    else:
        yield value.item() if isinstance(value, np.generic) else value


def main():
    """Print the lines of the scenes that are asked for, and their combined digest."""
    parser = argparse.ArgumentParser(prog="python -m tests.scenes.repeatability", description=__doc__.split(":")[0])
    parser.add_argument("--backend", choices=BACKENDS, help="all that can run here if not given")
    parser.add_argument("--scene", choices=list(SCENES), help="all if not given")
    parser.add_argument("--frames", type=int, help="of each simulation after the first, at most; all if not given")
    given = parser.parse_args()
    combined = hashlib.sha256()
    for backend in [given.backend] if given.backend else available():
        for name in [given.scene] if given.scene else SCENES:
            line = run(name, backend, given.frames).line
            print(line, flush=True)
            combined.update(line.encode())
    print("combined", combined.hexdigest())


if __name__ == "__main__":
    main()
