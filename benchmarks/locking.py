# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how much a membrane resists bending on coarse meshes, and what a draped disc then looks like.

    python -m benchmarks.locking bent                 a sheet on a corrugated cylinder
    python -m benchmarks.locking drape [--cells 40 80] [--membranes triangles buckling] [--fabrics cotton]
                                                          [--seeds 5 --jitter 0.01]

`bent` prints the membrane energy of a sheet that lies on a cylinder and may slide on it, over its bending energy: zero
for cloth, which bends without stretch. `drape` lets a disc of radius 0.45 m fall on a ball of 0.2 m, and prints folds,
drape coefficient, height of the hem and roughness of creases, on right, alternating and jittered Delaunay
triangulations and at two angles of the grain; with `--seeds`, the medians of several drapes of differently jittered
vertices. Needs SciPy.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import core
from benchmarks.static_sheet import solve
from benchmarks.triangulations import TRIANGULATIONS
from core.arrays import FloatArray, IntArray
from core.stencils.membranes.stretch_shear import Shear, Stretch, membrane_stencil
from core.stencils.models import baraff_witkin
from core.stencils.stencil import ElementForce, Stencil

DISC, BALL = 0.45, 0.2
"""Radii [m]."""
KINDS = ("right", "alternating", "jittered")
MEMBRANES = ("triangles", "buckling", "edges")
"""Triangles as published; triangles that buckle; strain smoothed over edges, for `bent` only."""


FIRST_SEED = 7
FIGURES = ("folds", "coefficient", "hem", "roughness", "stretch_p99", "stretch_max", "speed", "steps", "cpu")
"""The figures of a drape, of which medians are printed."""


@dataclass(frozen=True)
class Drape:
    """A draped disc.

    Attributes:
        x: (V, 3) [m].
        folds: number of folds at the hem.
        coefficient, roughness, stretch_p99, stretch_max: [-].
        hem: mean height of the hem over the top of the ball [m].
        speed: rms speed of the last frame [m/s].
        steps, cpu: steps, also rejected ones, and CPU time [s] per frame.
    """

    x: FloatArray
    folds: int
    coefficient: float
    hem: float
    roughness: float
    stretch_p99: float
    stretch_max: float
    speed: float
    steps: float
    cpu: float


def disc(cells: int, kind: str, degrees: float = 0.0, seed: int = FIRST_SEED, jitter: float = 0.0) -> core.ClothMesh:
    """Return a disc of `cells` along its diameter, with the warp and the grid turned by `degrees`.

    jitter: largest displacement of inner vertices over a cell [-], besides that of the kind `jittered`.
    """
    from scipy.spatial import Delaunay

    d = 2.0 * DISC / cells
    line = (np.arange(cells + 1) - 0.5 * cells) * d
    i, j = np.meshgrid(np.arange(cells + 1), np.arange(cells + 1), indexing="ij")
    inside = np.hypot(line[i], line[j]) < DISC - 0.5 * d
    number = np.cumsum(inside.ravel()).reshape(inside.shape) - 1
    points = np.stack([line[i][inside], line[j][inside]], axis=1)
    around = round(2.0 * np.pi * DISC / d)
    phi = 2.0 * np.pi * np.arange(around) / around
    ring = DISC * np.stack([np.cos(phi), np.sin(phi)], axis=1)
    rng = np.random.default_rng(seed)
    if kind == "jittered":
        points = points + rng.uniform(-0.25, 0.25, points.shape) * d
    every = np.concatenate([points, ring])
    triangles = Delaunay(every).simplices
    if kind != "jittered":
        whole = inside[:-1, :-1] & inside[1:, :-1] & inside[1:, 1:] & inside[:-1, 1:]
        centre = every[triangles].mean(axis=1)
        at = np.clip(np.floor((centre - line[0]) / d).astype(int), 0, cells - 1)
        triangles = triangles[~whole[at[:, 0], at[:, 1]]]
        a, b = np.nonzero(whole)
        q = np.stack([number[a, b], number[a + 1, b], number[a + 1, b + 1], number[a, b + 1]], axis=1)
        other = ((a + b) % 2 == 0) & (kind == "alternating")
        one = np.where(other[:, None], q[:, [0, 1, 3]], q[:, [0, 1, 2]])
        two = np.where(other[:, None], q[:, [1, 2, 3]], q[:, [0, 2, 3]])
        triangles = np.concatenate([one, two, triangles])
    if jitter:
        every[:len(points)] += rng.uniform(-jitter, jitter, points.shape) * d
    one, two = every[triangles[:, 1]] - every[triangles[:, 0]], every[triangles[:, 2]] - every[triangles[:, 0]]
    area = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    triangles = np.where(area[:, None] < 0.0, triangles[:, ::-1], triangles)[np.abs(area) > 1e-6 * d * d]
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turned = every @ np.array([[c, s], [-s, c]])
    return core.ClothMesh(np.pad(turned, ((0, 0), (0, 1))), triangles, grain=(c, s, 0.0), name=kind)


def hem(mesh: core.ClothMesh) -> IntArray:
    """Return the vertices of the hem in order."""
    x = mesh.positions
    ring = np.flatnonzero(np.hypot(x[:, 0], x[:, 1]) > DISC - 1e-6)
    return ring[np.argsort(np.arctan2(x[ring, 1], x[ring, 0]))]


def fold_count(x: FloatArray, ring: IntArray) -> int:
    """Return the number of folds: maxima of the distance of the hem from the axis that stand out by a tenth of its
    mean."""
    r = np.hypot(x[ring, 0], x[ring, 1])
    spectrum = np.fft.rfft(np.interp(np.linspace(0.0, len(r), 720, endpoint=False), np.arange(len(r) + 1),
                                     np.append(r, r[0])))
    spectrum[25:] = 0.0
    r = np.fft.irfft(spectrum, 720)
    r = np.roll(r, -int(np.argmin(r)))
    least, count, low, high = 0.06 * float(r.mean()), 0, r[0], r[0]
    rising = True
    for value in np.append(r, r[0]):
        if rising:
            high = max(high, value)
            if value < high - least and high > low + least:
                count, rising, low = count + 1, False, value
            elif value < low:
                low = high = value
        else:
            low = min(low, value)
            if value > low + least:
                rising, high = True, value
    return count


def drape_coefficient(x: FloatArray, triangles: IntArray) -> float:
    """Return the shadow of the cloth beyond the ball over that of the flat disc [-]."""
    pixel, n = 0.002, 512
    shadow = np.zeros((n, n), dtype=bool)
    corners = x[triangles, :2] / pixel + n / 2
    part = np.linspace(0.0, 1.0, 17)
    share = np.array([(a, b, 1.0 - a - b) for a in part for b in part if a + b <= 1.0])
    at = np.floor(np.einsum("sk,tkd->tsd", share, corners)).astype(int).reshape(-1, 2)
    shadow[tuple(np.clip(at, 0, n - 1).T)] = True
    return float((shadow.sum() * pixel ** 2 / np.pi - BALL ** 2) / (DISC ** 2 - BALL ** 2))


def roughness(mesh: core.ClothMesh, x: FloatArray) -> float:
    """Return how often the dihedral angle changes its sign from edge to edge along a line [-]: the share of pairs of
    edges that go on within 30 degrees of a line, each weighted by the root of the product of its two angles."""
    v0, v1, a, b = mesh.hinges.T
    one, two = np.cross(x[v1] - x[v0], x[a] - x[v0]), np.cross(x[b] - x[v0], x[v1] - x[v0])
    along = x[v1] - x[v0]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    theta = np.arctan2((np.cross(one, two) * along).sum(axis=1), (one * two).sum(axis=1))
    flat = mesh.positions
    direction = np.concatenate([flat[v1] - flat[v0], flat[v0] - flat[v1]])
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    start, turn = np.concatenate([v0, v1]), np.concatenate([theta, theta])
    order = np.argsort(start, kind="stable")
    bounds = np.searchsorted(start[order], np.arange(len(x) + 1))
    changed = total = 0.0
    for vertex in range(len(x)):
        some = order[bounds[vertex]:bounds[vertex + 1]]
        cosine = direction[some] @ direction[some].T
        i, j = np.nonzero(np.triu(cosine < -np.cos(np.radians(30.0))))
        weight = np.sqrt(np.abs(turn[some[i]] * turn[some[j]]))
        total += weight.sum()
        changed += weight[turn[some[i]] * turn[some[j]] < 0.0].sum()
    return changed / total


def edge_smoothed(mesh: core.ClothMesh) -> tuple[Stencil, FloatArray]:
    """Return the columns of edges, the mean over a third of each of their triangles (ES-FEM), and these areas [m^2]."""
    own, third = membrane_stencil(mesh).weights, mesh.areas / 3.0
    t = mesh.hinge_corners // 3
    corners = mesh.hinges[:, [0, 3, 1, 2]]
    area = third[t].sum(axis=1)
    weights = np.zeros((len(t), 4, 2))
    for side in (0, 1):
        for i in range(3):
            at = np.argmax(corners == mesh.triangles[t[:, side], i, None], axis=1)
            weights[np.arange(len(t)), at] += (third[t[:, side]] / area)[:, None] * own[t[:, side], i]
    inner = np.zeros(3 * len(mesh.triangles), dtype=bool)
    inner[mesh.hinge_corners.ravel()] = True
    alone = np.flatnonzero(~inner) // 3                                     # border edges have their triangle alone
    vertices = np.concatenate([corners, mesh.triangles[alone][:, [0, 1, 2, 2]]])
    weights = np.concatenate([weights, np.pad(own[alone], ((0, 0), (0, 1), (0, 0)))])
    return Stencil(vertices, weights), np.concatenate([area, third[alone]])


def membrane_forces(mesh: core.ClothMesh, material: core.Material, membrane: str) -> list[ElementForce]:
    """Return the forces of one of MEMBRANES against stretch and shear."""
    if membrane != "edges":
        made = baraff_witkin.build(mesh, material, buckling=membrane == "buckling")
        return [force for force in made if getattr(force.law, "rest_kind", None) == "membrane"]
    stencil, a = edge_smoothed(mesh)
    (ku, kv), one = material.stretch, np.ones(len(a))
    return [ElementForce(stencil, Stretch(), (a * ku, a * kv, one, one)),
            ElementForce(stencil, Shear(), (a * material.shear,))]


def bent_energy(mesh: core.ClothMesh, membrane: str, degrees: float, wave: float, curvature: float) -> float:
    """Return the membrane energy over the bending energy [-] of a flat sheet of cotton that lies on a corrugated
    cylinder, whose lines are at `degrees` from the weft, where it has slid to its least energy.

    wave: length of a wave along the cloth [m]; curvature: largest of the profile [1/m].
    """
    material = core.Material.preset("cotton")
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    flat = mesh.positions[:, :2] @ np.array([[c, -s], [s, c]])              # along the profile, and along the lines
    fine = np.linspace(-2.0, 2.0, 40001)
    slope = curvature * wave / (2.0 * np.pi) * np.sin(2.0 * np.pi * fine / wave)
    step = float(fine[1] - fine[0])
    profile = np.stack([np.cumsum(np.cos(slope)) * step, np.cumsum(np.sin(slope)) * step], axis=1)

    def place(y: FloatArray) -> tuple[FloatArray, FloatArray]:
        p, q = (np.interp(y[:, 0], fine, profile[:, i]) for i in (0, 1))
        angle = np.interp(y[:, 0], fine, slope)
        zero = 0.0 * angle
        tangents = np.stack([np.stack([np.cos(angle), zero, np.sin(angle)], axis=1),
                             np.stack([zero, zero + 1.0, zero], axis=1)], axis=2)                     # (V, 3, 2)
        return np.stack([p, y[:, 1], q], axis=1), tangents

    forces = membrane_forces(mesh, material, membrane)
    y, n = flat.copy(), len(flat)
    for _ in range(8):
        x, tangents = place(y)
        f = np.sum([force.force(x, 0.0 * x) for force in forces], axis=0)
        g = np.einsum("via,vi->va", tangents, f).ravel()
        blocks = []
        for force in forces:
            K = force.stencil.blocks(force.law.projected_tangent(force.stencil.gather(x), force.parameters))
            at = force.stencil.vertices
            K = np.einsum("eicp,eijcd,ejdq->eipjq", tangents[at], K, tangents[at], optimize=True)
            unknowns = (2 * at[:, :, None] + np.arange(2)).reshape(len(at), -1)
            blocks.append((unknowns, K.reshape(len(at), unknowns.shape[1], -1)))
        small = 1e-9 * max(float(np.abs(K).max()) for _, K in blocks)
        blocks.append((np.arange(2 * n)[:, None], np.full((2 * n, 1, 1), small)))
        y = y + solve(blocks, 2 * n, np.arange(2 * n), g).reshape(-1, 2)
    x, _ = place(y)
    membrane_energy = sum(force.energy(x) for force in forces)
    exact = 0.5 * material.bend[0] * 0.5 * curvature ** 2 * mesh.areas.sum()
    return membrane_energy / exact


def run_bent(options: argparse.Namespace) -> None:
    """Print the membrane energy over the bending energy of bent sheets."""
    angles = (0.0, 22.5, 45.0, -45.0, 67.5)
    print("membrane     mesh         cells per wave |" + "".join(f"{angle:10.1f}" for angle in angles))
    for membrane in options.membranes:
        for kind in options.kinds:
            for cells in (8, 16, 32):
                wave = 0.1
                n = cells * 2
                points, triangles = TRIANGULATIONS[kind](n - 1, n, 2.0 * wave / n)
                mesh = core.ClothMesh(np.pad(points, ((0, 0), (0, 1))), triangles)
                ratios = [bent_energy(mesh, membrane, angle, wave, 40.0) for angle in angles]
                print(f"{membrane:12} {kind:12} {cells:14} |" + "".join(f"{ratio:10.3g}" for ratio in ratios),
                      flush=True)


def ball_mesh(around: int = 96, rings: int = 48) -> tuple[FloatArray, IntArray]:
    """Return a sphere of meridians and parallels."""
    polar, turn = np.pi * np.arange(1, rings) / rings, 2 * np.pi * np.arange(around) / around
    body = [np.column_stack([np.sin(p) * np.cos(turn), np.sin(p) * np.sin(turn), 0 * turn + np.cos(p)])
            for p in polar]
    x = BALL * np.concatenate([[[0.0, 0.0, 1.0]], *body, [[0.0, 0.0, -1.0]]])
    j, last = np.arange(around), 1 + around * (rings - 1)
    k = (j + 1) % around
    triangles = [np.stack([0 * j, 1 + j, 1 + k], axis=1)]
    for ring in range(rings - 2):
        p, q = 1 + ring * around, 1 + (ring + 1) * around
        triangles += [np.stack([p + j, q + j, q + k], axis=1), np.stack([p + j, q + k, p + k], axis=1)]
    p = 1 + (rings - 2) * around
    triangles.append(np.stack([0 * j + last, p + k, p + j], axis=1))
    return x, np.concatenate(triangles)


def drape(mesh: core.ClothMesh, fabric: str, membrane: str, seconds: float, *, alone: bool = False) -> Drape:
    """Return how a disc lies that fell on the ball `seconds` before, `alone` without self-collision."""
    cloth = core.Cloth(mesh, core.Material.preset(fabric), positions=mesh.positions + [0.0, 0.0, BALL + 0.01],
                       buckling=membrane == "buckling")
    scene = core.Scene([cloth], [core.Collider(*ball_mesh(), friction=0.3, name="ball")])
    settings = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=0.01, self_collision=not alone)
    frames, steps, start, x = round(24 * seconds), 0, time.process_time(), mesh.positions
    for frame in core.simulate(scene, settings, frames=range(1, frames + 1)):
        steps += frame.certificate.steps + frame.certificate.rejected
        before, x = x, frame.positions[0]
    ring, cpu = hem(mesh), time.process_time() - start
    return Drape(x, fold_count(x, ring), drape_coefficient(x, mesh.triangles), float(x[ring, 2].mean()) - BALL,
                 roughness(mesh, x), frame.certificate.stretch_p99, frame.certificate.stretch_max,
                 24.0 * float(np.sqrt(((x - before) ** 2).sum(axis=1).mean())), steps / frames, cpu / frames)


def run_drape(options: argparse.Namespace) -> None:
    """Print the figures of drapes, and store their shapes with --out."""
    print("membrane   fabric     mesh         grain cells | folds  drape %  hem mm   rough  stretch p99     max"
          "  rms mm/s steps/frame  CPU ms/frame", flush=True)
    for fabric, kind, degrees, cells, membrane in product(
            options.fabrics, options.kinds, options.grain, options.cells, options.membranes):
        drapes = []
        for seed in range(FIRST_SEED, FIRST_SEED + options.seeds):
            mesh = disc(cells, kind, degrees, seed, options.jitter)
            drapes.append(drape(mesh, fabric, membrane, options.seconds, alone=options.no_self))
            if options.out:
                np.savez(Path(options.out) / f"{membrane}_{fabric}_{kind}_{degrees:.0f}_{cells}_{seed}.npz",
                         x=drapes[-1].x, triangles=mesh.triangles, flat=mesh.positions)
        d = SimpleNamespace(**{name: np.median([getattr(each, name) for each in drapes]) for name in FIGURES})
        print(f"{membrane:10} {fabric:10} {kind:12} {degrees:5.0f} {cells:5} | {d.folds:5g} {100 * d.coefficient:8.1f}"
              f" {1000 * d.hem:7.1f} {d.roughness:7.3f} {d.stretch_p99:12.4f} {d.stretch_max:7.4f}"
              f" {1000 * d.speed:9.2f} {d.steps:11.2f} {1000 * d.cpu:13.0f}", flush=True)


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("bent", "drape"))
    parser.add_argument("--cells", type=int, nargs="+", default=[40, 80])
    parser.add_argument("--membranes", nargs="+", choices=MEMBRANES, default=["triangles", "buckling"])
    parser.add_argument("--fabrics", nargs="+", default=["cotton"])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--grain", type=float, nargs="+", default=[0.0, 30.0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--seeds", type=int, default=1, help="number of drapes, of which the medians are printed")
    parser.add_argument("--jitter", type=float, default=0.0,
                        help="largest displacement of inner vertices, over the size of a cell")
    parser.add_argument("--no-self", action="store_true", help="without self-collision")
    parser.add_argument("--out", help="folder for the shapes")
    options = parser.parse_args()
    if options.seeds < 1 or options.seeds > 1 and not options.jitter and options.kinds != ["jittered"]:
        parser.error("--seeds is at least 1, and more than one needs --jitter, or drapes are the same")
    (run_drape if options.what == "drape" else run_bent)(options)


if __name__ == "__main__":
    main()
