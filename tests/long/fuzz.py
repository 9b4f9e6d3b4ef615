# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzz what reads other people's data: `python -m tests.long.fuzz LIMIT` is one worker.

A fuzzer is a function of a random generator. It hands something damaged to a parser and returns a failure in words, or
None if the parser read it or raised a `core.ClothError` that says what to do.

    checkpoint    files of checkpoints, by bytes and by values, with the checksum set right
    continued     checkpoints that could be read, from which a simulation goes on for a frame
    preset        files of fabrics
    arguments     names and values of the arguments of every public constructor and function
    names         names of models, integrators, presets, options and emitters, with their suggestions
    audit         positions and triangles of an audit
    cache         files of takes, by bytes and by values, with the checksums set right
    scenes        files of scenes and feeds, in the same ways
    kernels       files of compiled kernels: what is read is what was written, or nothing, and then the file is gone
"""

from __future__ import annotations

import functools
import os
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import core
from core.description import presets
from core.kernels import kernel_folder
from tests.core.shapes import ball, grid
from tests.long.damage import damaged, repacked, strange
from tests.long.fuzz_cache import cache
from tests.long.fuzz_scene import scenes
from tests.long.judge import without_remedy
from tests.long.workers import serve

BATCH = 100
"""Number of cases that a worker gets at a time."""
SLOW = 5.0
"""Largest processor time of a case [s]: a reader of small files has no reason to take longer."""


def answer(case: Any) -> dict[str, Any]:
    """Return the record of a batch: {"fuzzer": name, "first": seed, "count": n}."""
    fuzzer, failures, worst, slowest = FUZZERS[case["fuzzer"]], [], 0, 0.0
    began = time.process_time()
    for seed in range(case["first"], case["first"] + case["count"]):
        start = time.process_time()
        found = attempt(fuzzer, seed)
        took = time.process_time() - start
        if took > slowest:
            worst, slowest = seed, took
        if found is None and took > SLOW:
            found = f"took {took:.1f} s"
        if found is not None:
            failures.append([seed, found])
    return {"failures": failures, "worst": worst, "slowest": slowest, "seconds": time.process_time() - began}


def attempt(fuzzer: Callable[[np.random.Generator], Any], seed: int) -> str | None:
    """Run one case, and return its failure in words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fuzzer(np.random.default_rng([seed, 7]))
    except core.ClothError as error:
        return next((text for _, text in without_remedy(error)), None)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:200]} at {Path(last.filename).name}:{last.lineno}"
    return None


# ---------------------------------------------------------------------- checkpoints


@functools.cache
def kept() -> list[tuple[core.Scene, core.Solver, bytes]]:
    """Return scenes with their solver and the file of a checkpoint in the middle of them."""
    x, triangles = grid(4, 4)
    fabric = core.Material.preset("cotton")
    drape = core.Cloth(core.ClothMesh(x - [0.5, 0.5, 0.0], triangles), fabric, pins={0: None})
    ball_at = core.Collider(ball(0.3, 1)[0] - [0.0, 0.0, 0.32], ball(0.3, 1)[1])
    chain = core.Cloth(core.ClothMesh(x[:6], edges=[[k, k + 1] for k in range(5)]), fabric, "rope", pins={0: None})
    found = []
    for scene, solver in ((core.Scene([drape], [ball_at]), core.Solver(backend="numpy", integrator="bdf2")),
                          (core.Scene([chain]), core.Solver(backend="numpy"))):
        *_, last = core.simulate(scene, solver, range(4))
        with tempfile.TemporaryDirectory() as folder:
            last.checkpoint().save(Path(folder) / "a")
            found.append((scene, solver, (Path(folder) / "a").read_bytes()))
    return found


def loaded(data: bytes) -> core.Checkpoint:
    """Return the checkpoint in a file of these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.checkpoint"
        path.write_bytes(data)
        return core.Checkpoint.load(path)


def checkpoint(rng: np.random.Generator) -> None:
    """Read a damaged checkpoint."""
    _, _, data = kept()[int(rng.integers(len(kept())))]
    loaded(damaged(data, rng) if rng.random() < 0.5 else repacked(data, rng))


def continued(rng: np.random.Generator) -> None:
    """Continue from an altered checkpoint."""
    scene, solver, data = kept()[int(rng.integers(len(kept())))]
    start = loaded(repacked(data, rng))
    for frame in core.simulate(scene, solver, range(start.frame + 1, start.frame + 2), start=start):
        if not all(np.isfinite(x).all() for x in frame.positions):
            raise AssertionError("a frame that is not finite")


# ---------------------------------------------------------------------- presets


def preset(rng: np.random.Generator) -> None:
    """Read a damaged preset."""
    names = core.Material.presets()
    own = presets.PRESET_FOLDER
    text = (own / f"{rng.choice(names)}.toml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cotton.toml"
        if rng.random() < 0.4:
            path.write_bytes(damaged(text.encode(), rng))
        else:
            path.write_text(_preset_altered(text, rng), encoding="utf-8", errors="surrogatepass")
        presets.PRESET_FOLDER = Path(folder)
        try:
            core.Material.preset("cotton")
        finally:
            presets.PRESET_FOLDER = own


def _preset_altered(text: str, rng: np.random.Generator) -> str:
    lines = text.splitlines()
    at = int(rng.integers(len(lines)))
    values = ["nan", "inf", "-1.0", "1e300", "[]", "[1.0]", "[1.0, 2.0, 3.0]", "{}", "true", '"text"', "1979-05-27",
              "'''", "[" * 3000 + "]" * 3000, "0x" + "f" * 200, "{value = 1.0}", "1_0.0"]
    value = values[int(rng.integers(len(values)))]
    name = lines[at].partition("=")[0].strip() or "value"
    how = rng.random()
    if how < 0.6:
        lines[at] = f"{name} = {value}"
    elif how < 0.75:
        del lines[at]
    elif how < 0.85:
        lines.insert(at, lines[int(rng.integers(len(lines)))])
    else:
        lines.insert(at, rng.choice(["[stretch]", "[unknown]", "[[stretch]]", "name = 1", "[name]", "a.b.c = 1"]))
    return "\n".join(lines)


# ---------------------------------------------------------------------- arguments and names


def _sheet() -> core.ClothMesh:
    x, triangles = grid(2, 2)
    return core.ClothMesh(x, triangles)


def _good() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return each public constructor or function with arguments that it takes."""
    x, triangles = grid(2, 2)
    fabric = core.Material.preset("cotton")
    cloth = core.Cloth(_sheet(), fabric)
    solver = dict(vars(core.Solver()))
    return {
        "ClothMesh": (core.ClothMesh, {"positions": x, "triangles": triangles, "edges": None, "uv": x[:, :2],
                                       "faces": None, "name": "a", "grain": (1.0, 0.0, 0.0), "points": False}),
        "Material": (core.Material, {"areal_density": 0.2, "stretch": 1e3, "shear": 10.0, "bend": 1e-5, "damping": 0.01,
                                     "friction": 0.3, "air_drag": 0.1, "viscous_drag": 0.0, "thread_width": 0.01,
                                     "name": "a"}),
        "Material.preset": (core.Material.preset, {"name": "cotton", "friction": 0.3}),
        "Cloth": (core.Cloth, {"mesh": _sheet(), "material": fabric, "model": "baraff_witkin", "pins": {0: None},
                               "velocities": 0.0 * x, "births": np.zeros(9), "positions": x, "pin_targets": None,
                               "attachments": (), "thickness": 0.01, "max_elongation": 0.1, "name": "a",
                               "sewing": False, "sewing_force": 1.0, "sewing_time": 1.0, "buttons": [(0, 8)],
                               "rest_scale": 1.0, "rest_curvature": 0.0, "curl_angle": 0.0, "stretch_scale": 1.0,
                               "shear_scale": 1.0, "bend_scale": 1.0, "bending": "patch"}),
        "Collider": (core.Collider, {"positions": x, "triangles": triangles, "friction": 0.1, "thickness": 0.0,
                                     "name": "a"}),
        "Attachment": (core.Attachment, {"vertex": 0, "directions": np.eye(3), "target": (0.0, 0.0, 0.0)}),
        "Scene": (core.Scene, {"cloths": [cloth], "colliders": [], "gravity": (0.0, 0.0, -9.81), "wind": (1.0, 0, 0)}),
        "Solver": (core.Solver, solver),
        "simulate": (_run, {"scene": core.Scene([cloth]), "solver": core.Solver(backend="numpy"), "frames": range(2),
                            "start": None}),
        "emit": (core.emit, {"kind": "fountain", "count": 3, "speed": 1.0, "size": 1.0, "origin": (0.0, 0.0, 0.0),
                             "seed": 0}),
    }


def _run(**given: Any) -> None:
    for _ in core.simulate(**given):
        pass


def arguments(rng: np.random.Generator) -> None:
    """Call a constructor or a function with one or two arguments that do not fit, and use what it makes."""
    known = _good()
    name = str(rng.choice(list(known)))
    call, given = known[name]
    for _ in range(int(rng.choice([1, 1, 2]))):
        given[str(rng.choice(list(given)))] = strange(rng)
    if rng.random() < 0.1:
        given[str(rng.choice(["friktion", "Stretch", "a b", "", "self"]))] = strange(rng)
    if rng.random() < 0.1 and given:
        del given[str(rng.choice(list(given)))]
    made = call(**given)
    sheet = made if isinstance(made, core.Cloth) else core.Cloth(
        made if isinstance(made, core.ClothMesh) else _sheet(),
        made if isinstance(made, core.Material) else core.Material.preset("cotton"),
        attachments=[made] if isinstance(made, core.Attachment) else [])
    scene = made if isinstance(made, core.Scene) else core.Scene(
        [sheet], [made] if isinstance(made, core.Collider) else [])
    if name in ("Cloth", "Collider", "Scene", "Attachment") and rng.random() < 0.2:
        _run(scene=scene, solver=core.Solver(backend="numpy", max_halvings=2), frames=range(2))


def names(rng: np.random.Generator) -> None:
    """Give names that are nearly right."""
    known = [*core.models(), *core.integrators(), *core.Material.presets(), *core.emitters(), "numba", "patch"]
    word = list(str(rng.choice(known)))
    for _ in range(int(rng.integers(0, 4))):
        at = int(rng.integers(len(word) + 1))
        word[at:at + int(rng.integers(0, 2))] = chr(int(rng.choice([32, 45, 95, 65, 97, 0, 233, 0x1F600, 0xD800])))
    text = "".join(word)
    calls: list[Callable[[], Any]] = [
        lambda: core.Cloth(_sheet(), core.Material.preset("cotton"), text), lambda: core.Solver(integrator=text),
        lambda: core.Material.preset(text), lambda: core.emit(text, 2), lambda: core.Solver(backend=text),
        lambda: core.Cloth(_sheet(), core.Material.preset("cotton"), **{text: 1}), lambda: core.Solver(**{text: 1}),
        lambda: core.Material.preset("cotton", **{text: 1.0}), lambda: core.Solver(matrix=text),
        lambda: core.Solver(newton_iterations=text)]                                         # type: ignore[arg-type]
    calls[int(rng.integers(len(calls)))]()


def audit(rng: np.random.Generator) -> None:
    """Audit meshes of which one is wrong."""
    x, triangles = grid(2, 2)
    pair: Any = [x, triangles]
    pair[int(rng.integers(2))] = strange(rng)
    meshes = [[tuple(pair)], [pair, (x, triangles)], strange(rng), [strange(rng)]][int(rng.integers(4))]
    core.audit(meshes) if rng.random() < 0.5 else core.audit([(x, triangles)], meshes)


def kernels(rng: np.random.Generator) -> None:
    """Read a file of a compiled kernel that was changed, replaced or opened to others."""
    with tempfile.TemporaryDirectory() as folder:
        path, other = (Path(folder) / f"{name}{kernel_folder.KERNEL_SUFFIX}" for name in ("add-1", "add-2"))
        contents = rng.bytes(int(rng.choice([0, 1, 100, 5000])))
        kernel_folder.write(path, contents)
        kernel_folder.write(other, contents + b"x")
        whole, how = path.read_bytes(), str(rng.choice(["bytes", "bytes", "other", "link", "twice", "folder", "mode",
                                                        "pipe", "empty", "kept"]))
        path.unlink()
        if how == "folder":
            path.mkdir()
        elif how == "link":
            path.symlink_to(other)
        elif how == "twice":
            os.link(other, path)
        elif how == "pipe":
            os.mkfifo(path)
        else:
            path.write_bytes({"bytes": damaged(whole, rng), "other": other.read_bytes(), "empty": b""}.get(how, whole))
            path.chmod(0o666 if how == "mode" else 0o600)
        good = how == "kept" or how == "bytes" and path.read_bytes() == whole
        found = kernel_folder.read(path)
        if found != (contents if good else None):
            raise AssertionError(f"{how}: {found!r} was read")
        if not good and os.path.lexists(path):
            raise AssertionError(f"{how}: the file is still there")
        if kernel_folder.read(other) != contents + b"x" and how != "twice":
            raise AssertionError(f"{how}: another file has changed")


FUZZERS: dict[str, Callable[[np.random.Generator], Any]] = {
    "checkpoint": checkpoint, "continued": continued, "preset": preset, "arguments": arguments, "names": names,
    "audit": audit, "kernels": kernels, "cache": cache, "scenes": scenes,
}

if __name__ == "__main__":
    serve(answer)
