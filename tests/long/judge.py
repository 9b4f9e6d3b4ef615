# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a hostile scene and judge it: what may never happen, whatever the scene.

    exception   anything but a ClothError
    remedy      a ClothError that does not say what to do, or that names no object or value
    number      a frame that is not finite
    momentum    free fall that is not that of the integrator, or cloth at rest that deforms while it falls
    crossing    cloth that started clean, and crosses itself or a solid although nothing forces it to
    audit       a certificate that says less than the independent audit
    bytes       another result of the same scene
    time        more than `MOST_SECONDS` of processor time
    memory      more than `MOST_MEMORY` of memory
    warning     a warning of NumPy, which users see in the terminal
"""

from __future__ import annotations

import hashlib
import resource
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import core
from core.kernels import using
from core.kernels.backend import choose
from core.model.particle_system import ParticleSystem
from tests.core.remedies import says_what_to_do
from tests.long.hostile_scenes import Staged, build
from tests.long.recipes import Recipe

MOST_SECONDS = 60.0
"""Largest processor time of a scene [s]."""
MOST_MEMORY = 2.0 * 2 ** 30
"""Largest memory of a scene [bytes]."""
EXACT = 1e-6
"""Largest relative error of momentum [-]: a thousandth of the usual tolerance of the solves."""
STANDING = 1e-8, 1e-4
"""Velocity that counts as none [m/s], and the same in widths of the cloth per second [1/s]; the smaller one counts."""
ROUNDING = 64.0 * np.finfo(np.float64).eps
"""Largest error of a place, over its largest coordinate [-]."""
STILL = 1e-5
"""Largest deformation of cloth at rest in free fall, over its size [-]."""

Finding = tuple[str, str]
"""Kind of a failure and its description."""


def judge(recipe: Recipe, again: bool = False) -> dict[str, Any]:
    """Run the scene of a recipe, `again` a second time, and return its record.

    The record has `failures`, a list of findings; `refusal`, the message of a ClothError or None; `seconds` of
    processor time of the first run, without this judge's own, and `slowest` of a frame; `frames`, the number of frames
    that came; `retire`, whether this process should end because it holds much memory.
    """
    found, memory_before = [], _memory()
    refusal, frames = None, 0
    seconds = slowest = 0.0
    last = time.process_time()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", RuntimeWarning)
        try:
            staged = build(recipe)
            rules = Rules(recipe, staged)
            for frame in core.simulate(staged.scene, staged.solver, staged.frames):
                took = time.process_time() - last
                seconds, slowest, last = seconds + took, max(slowest, took), time.process_time()
                frames += 1
                rules.look(frame)
                last = time.process_time()
            found += rules.found
            if again:
                found += _same_bytes(recipe, rules.digest.hexdigest())
        except core.ClothError as error:
            seconds += time.process_time() - last
            refusal = f"{type(error).__name__}: {error}"
            found += without_remedy(error)
        except Exception as error:
            found.append(("exception", f"{type(error).__name__}: {error} at {_place(error)}"))
    found += [("warning", f"{w.message} at {w.filename.rpartition('/')[2]}:{w.lineno}") for w in warned[:1]]
    memory = _memory()
    if seconds > MOST_SECONDS:
        found.append(("time", f"{seconds:.0f} s, slowest frame {slowest:.0f} s"))
    if memory > max(MOST_MEMORY, memory_before):
        found.append(("memory", f"{memory / 2 ** 30:.1f} GB"))
    return {"seed": recipe["seed"], "theme": recipe["theme"], "failures": found, "refusal": refusal,
            "seconds": seconds, "slowest": slowest, "frames": frames,
            "retire": memory > 0.5 * MOST_MEMORY}


def without_remedy(error: core.ClothError) -> list[Finding]:
    """Return the finding about a message that does not say what to do; empty if it does."""
    return [] if says_what_to_do(str(error)) else [("remedy", f"{type(error).__name__}: {error}")]


def falls_freely(recipe: Recipe) -> bool:
    """Return whether nothing but weight acts on the cloth from outside. Verlet's k_d below 1 is a drag, too."""
    return not recipe["colliders"] and recipe["solver"].get("verlet_kd", 1.0) == 1.0 and recipe["wind"] is None and all(
        not cloth.get("pins") and not cloth.get("births")
        and cloth["fabric"].get("air_drag") == cloth["fabric"].get("viscous_drag") == 0.0 for cloth in recipe["cloths"])


class Rules:
    """The rules for the frames of one scene.

    Args:
        recipe, staged: what is judged.

    Attributes:
        found: findings so far.
        digest: of all frames.
    """

    def __init__(self, recipe: Recipe, staged: Staged) -> None:
        self.found: list[Finding] = []
        self.digest = hashlib.sha256()
        self._recipe, self._staged = recipe, staged
        self._clean = True
        self._first: core.Frame | None = None
        self._mass: np.ndarray | None = None
        if falls_freely(recipe):
            with using(choose(staged.solver.backend)):
                self._mass = ParticleSystem(staged.scene).mass

    def look(self, frame: core.Frame) -> None:
        """Judge a frame."""
        for x, v in zip(frame.positions, frame.velocities, strict=True):
            self.digest.update(x.tobytes() + v.tobytes())
            if not (np.isfinite(x).all() and np.isfinite(v).all()):
                self._add("number", f"frame {frame.index} is not finite")
                return
        certificate = frame.certificate
        if not np.isfinite([certificate.stretch_max, certificate.residual, certificate.deepest_penetration]).all():
            self._add("number", f"the certificate of frame {frame.index} is not finite")
        if self._mass is not None:
            self._look_at_momentum(frame)
        self._look_at_crossings(frame)
        self._first = self._first or frame

    def _add(self, kind: str, text: str) -> None:
        if not any(kind == other for other, _ in self.found):                  # the first of each kind is enough
            self.found.append((kind, text))

    def _look_at_momentum(self, frame: core.Frame) -> None:
        """Judge the motion of the centre of mass, and of cloth that is at rest the shape."""
        assert self._mass is not None
        state = frame.checkpoint().state
        if self._first is None:
            self._start, self._noise = state, 0.0
            return
        mass, size = self._mass[:, None], self._recipe["size"]
        total = float(self._mass.sum())
        gravity = np.array(self._recipe["gravity"])
        solver, time = self._staged.solver, frame.time
        h = 1.0 / (solver.frame_rate * solver.steps_per_frame)
        mean = (mass * state.v).sum(axis=0) / total
        expected = (mass * self._start.v).sum(axis=0) / total + gravity * time
        inner = float(np.abs(state.v - mean).max())
        self._noise = max(self._noise, inner)
        place = float(np.abs(state.x).max())
        allowed = EXACT * (np.linalg.norm(gravity) * time + np.abs(expected).max() + self._noise) + \
            ROUNDING * place / h + min(STANDING[0], STANDING[1] * size)
        wrong = float(np.abs(mean - expected).max())
        if not wrong <= allowed:
            self._add("momentum", f"frame {frame.index}: the mean velocity is {wrong:.3g} m/s off, {allowed:.3g} "
                                  f"allowed (size {size:g} m)")
        # the place: between the falls of the shortest and of the longest steps
        moved = (mass * (state.x - self._start.x)).sum(axis=0) / total
        thrown = (mass * self._start.v).sum(axis=0) / total * time
        fall = 0.5 * gravity * time * time
        late = np.linalg.norm(gravity) * time * h
        bound = allowed * time + late + ROUNDING * place
        off = float(np.abs(moved - thrown - fall).max())
        if not off <= bound:
            self._add("momentum", f"frame {frame.index}: the centre of mass is {off:.3g} m off, {bound:.3g} allowed "
                                  f"(size {size:g} m)")
        if self._is_at_rest():
            bent = float(np.abs(state.x - self._start.x - moved).max())
            if not bent <= STILL * size + ROUNDING * place * frame.index:
                self._add("momentum", f"frame {frame.index}: cloth at rest has deformed by {bent:.3g} m of {size:g} m")

    def _is_at_rest(self) -> bool:
        return all(c["model"] not in ("jelly", "particles", "rope") and c["mesh"]["kind"] in
                   ("sheet", "graded", "strip", "single") and not c.keys() & {"crumple", "velocity", "rest_scale",
                                                                              "jitter", "sewing", "thickness"}
                   and not c["options"] for c in self._recipe["cloths"]) and len(self._recipe["cloths"]) == 1

    def _look_at_crossings(self, frame: core.Frame) -> None:
        certificate = frame.certificate
        crossed = certificate.crossings > 0
        if self._first is None:
            self._clean = not crossed and certificate.deepest_penetration == 0.0
        cloths = [(x, c.mesh.triangles) for x, c in zip(frame.positions, self._staged.scene.cloths, strict=True)]
        solids = [(c.at(frame.time), c.triangles) for c in self._staged.scene.colliders]
        sewn = any(c.sewing for c in self._staged.scene.cloths)                # what is sewn may meet
        found = None if sewn else independent_crossings(cloths, solids)
        if found is not None and found > 0 and not crossed and not certificate.crossings_pinched:
            self._add("audit", f"frame {frame.index}: the certificate has no crossings, the independent audit {found}")
        if self._clean and crossed and not self._is_forced(solids):
            pairs = ", ".join(f"{p.first} x {p.second}: {p.crossings}" for p in certificate.crossing_pairs)
            self._add("crossing", f"frame {frame.index}: {pairs}")

    def _is_forced(self, solids: Sequence[Any]) -> bool:
        """Return whether pins or solids push cloth through something."""
        cloths, colliders = self._recipe["cloths"], self._recipe["colliders"]
        pinned = any(c.get("pins") for c in cloths)
        if any((c.get("pins") or {}).get("motion") for c in cloths) or pinned and any(c["motion"] for c in colliders):
            return True
        if not self._staged.solver.self_collision:
            return True
        moving = [k for k, c in enumerate(colliders) if c["motion"]]
        if moving and len(colliders) > 1 or any(c["shape"] in ("tangle", "degenerate") for c in colliders):
            return True
        return any(c["motion"] and c["motion"]["kind"] == "crush" for c in colliders)


def independent_crossings(cloths: Sequence[Any], solids: Sequence[Any]) -> int | None:
    """Return how many edges pierce triangles, by the IPC toolkit's test of one pair; None where it cannot say.

    Pairs are found by brute force over bounding boxes. Edges and triangles of the same solid are not counted, nor are
    triangles without area and edges that only touch.
    """
    try:
        from ipctk import is_edge_intersecting_triangle
    except ImportError:
        return None
    meshes = [(np.asarray(x, dtype=float), _with_area(x, t)) for x, t in (*cloths, *solids)]
    places = np.concatenate([x for x, _ in meshes])
    if not 1e-3 < float(np.ptp(places, axis=0).max()) < 1e3 or np.abs(places).max() > 1e3:
        return None                                                 # its tolerances are lengths
    count = 0
    sides = [_sides(t) for _, t in meshes]
    for one, (x, _) in enumerate(meshes):
        for other, (y, triangles) in enumerate(meshes):
            edges = sides[one]
            if min(one, other) >= len(cloths) or not len(edges) or not len(triangles):
                continue
            (low, high), (bottom, top) = _boxes(x[edges]), _boxes(y[triangles])
            near = ((low[:, None] <= top) & (high[:, None] >= bottom)).all(axis=2)
            for e, t in np.argwhere(near):
                if one == other and np.isin(edges[e], triangles[t]).any():
                    continue
                edge, corners = x[edges[e]], y[triangles[t]]
                count += is_edge_intersecting_triangle(*edge, *corners) and not _touches(edge, corners)
    return count


def _touches(edge: np.ndarray, corners: np.ndarray) -> bool:
    """Return whether an edge (2, 3) does not go from one side of a triangle (3, 3) to the other: it ends at a
    corner, where pins put two vertices at one place, or lies on one side, within the tolerance of the predicate."""
    if (edge[:, None] == corners).all(axis=2).any():
        return True
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return bool(np.prod((edge - corners[0]) @ normal) >= 0.0)


def _with_area(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return triangles[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-9]


def _sides(triangles: np.ndarray) -> np.ndarray:
    """Return the edges (E, 2) of triangles (T, 3), each once."""
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    return np.unique(ends, axis=0)


def _boxes(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return points.min(axis=1), points.max(axis=1)


def _same_bytes(recipe: Recipe, digest: str) -> list[Finding]:
    staged, second = build(recipe), hashlib.sha256()
    for frame in core.simulate(staged.scene, staged.solver, staged.frames):
        for x, v in zip(frame.positions, frame.velocities, strict=True):
            second.update(x.tobytes() + v.tobytes())
    return [] if second.hexdigest() == digest else [("bytes", "a second run gave another result")]


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"


def _memory() -> float:
    """Return the largest memory of this process so far [bytes]."""
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)
