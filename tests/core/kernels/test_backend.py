# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernels run is asked for, said, and never a matter of what else is installed."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import core
from core.kernels import backend, current, using
from tests.cases import cases

ROOT = Path(__file__).resolve().parents[3]
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "numba":
            raise {error}

sys.meta_path.insert(0, Blocked())
"""
FALL = """
import core
mesh = core.ClothMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
scene = core.Scene([core.Cloth(mesh, core.Material.preset("cotton"))])
frames = list(core.simulate(scene, core.Solver(), range(1, 3)))
print(frames[-1].certificate.backend)
"""


def sheet(n=6):
    u, v = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    grid = np.arange(n * n).reshape(n, n)
    quads = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=-1).reshape(-1, 4)
    mesh = core.ClothMesh(np.stack([u, v, 0.0 * u], axis=-1).reshape(-1, 3), faces=quads)
    return core.Scene([core.Cloth(mesh, core.Material.preset("cotton"), pins={0: None})])


def last(scene, name, frames=4):
    return list(core.simulate(scene, core.Solver(backend=name), range(frames)))[-1]


def needs(name):
    if backend.why_not(name):
        pytest.skip(backend.why_not(name))


def python(code, **environment):
    """Standard output of `code` in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---------------------------------------------------------------------- choosing


@cases("name", [None, "numpy", "numba"])
def test_the_certificate_says_which_backend_ran(name):
    needs(name or "numpy")
    certificate = last(sheet(), name).certificate
    assert certificate.backend == (name or backend.choose(None)) == certificate.as_dict()["backend"]


def test_both_backends_make_the_same_cloth():
    needs("numba")
    ours, theirs = (last(sheet(), name, frames=8) for name in backend.BACKENDS)
    assert np.abs(ours.positions[0] - theirs.positions[0]).max() < 1e-6


def test_an_unknown_backend_is_refused_with_what_there_is():
    with pytest.raises(core.SolverError, match="no backend 'cuda'; there are: numpy, numba"):
        core.Solver(backend="cuda")


def test_making_a_solver_imports_nothing():
    assert python("import sys, core; core.Solver(backend='numba'); print('numba' in sys.modules)") == "False\n"


def test_importing_the_core_and_simulating_on_numpy_import_no_numba():
    code = FALL.replace("core.Solver()", "core.Solver(backend='numpy')") + "import sys; print('numba' in sys.modules)"
    assert python(code) == "numpy\nFalse\n"


# ---------------------------------------------------------------------- without numba


@cases("error", ["ImportError('no Numba here')", "RuntimeError('a broken installation')"])
def test_without_numba_numpy_runs(error):
    assert python(BLOCKED.format(error=error) + FALL) == "numpy\n"


def test_without_numba_asking_for_it_is_an_error_that_says_why():
    said = python(BLOCKED.format(error="ImportError('Numba needs NumPy 2.2 or less')") + """
from core.kernels import backend
try:
    backend.choose("numba")
except Exception as error:
    print(error)
""")
    assert "'numba' cannot run here: ImportError: Numba needs NumPy 2.2 or less; take 'numpy'" in said


def test_a_numba_that_is_not_installed_is_called_that_and_where_to_get_it():
    ask = """
from core.kernels import backend
print(backend.why_not("numba"))
"""
    missing = "ModuleNotFoundError(\"No module named '{0}'\", name='{0}')"
    said = python(BLOCKED.format(error=missing.format("numba")) + ask)
    assert said == "Numba is not installed; Muslin's zip with Numba brings it, or `pip install numba`\n"
    assert "No module named 'llvmlite'" in python(BLOCKED.format(error=missing.format("llvmlite")) + ask)


def test_a_backend_that_was_left_open_and_does_not_compile_is_ruled_out(monkeypatch):
    needs("numba")
    monkeypatch.setattr(backend, "_reasons", dict(backend._reasons))
    module = sys.modules["core.stepping.jit_warmup"]
    monkeypatch.setattr(module, "_done", set())

    def fails(*_):
        raise RuntimeError("LLVM is broken")

    monkeypatch.setattr(module, "simulate", fails)
    assert list(core.warm_up(core.Solver()))[0] == 0.0
    assert backend.choose(None) == "numpy" and "LLVM is broken" in backend.why_not("numba")
    with pytest.raises(core.SolverError, match="LLVM is broken"):
        list(core.warm_up(core.Solver(backend="numba")))


# ---------------------------------------------------------------------- using


def test_using_a_backend_ends_where_it_was_begun_also_by_an_error():
    assert current().name == "numpy"
    with pytest.raises(ValueError), using("numpy"):
        raise ValueError
    assert current().name == "numpy"


def test_a_simulation_changes_nothing_for_its_caller_between_frames():
    needs("numba")
    for _ in core.simulate(sheet(), core.Solver(backend="numba"), range(3)):
        assert current().name == "numpy"


def test_two_simulations_on_two_backends_may_be_stepped_in_turn_and_in_any_thread():
    needs("numba")
    alone = {name: last(sheet(), name).positions[0] for name in backend.BACKENDS}
    running = {name: core.simulate(sheet(), core.Solver(backend=name), range(4)) for name in backend.BACKENDS}
    for _ in range(4):
        now = {}
        for name, steps in running.items():
            thread = threading.Thread(target=lambda name=name, steps=steps, now=now: now.update({name: next(steps)}))
            thread.start()
            thread.join()
    for name in backend.BACKENDS:
        assert now[name].certificate.backend == name
        assert np.array_equal(now[name].positions[0], alone[name])


# ---------------------------------------------------------------------- what is kept on disk


def test_the_folder_changes_with_the_sources(tmp_path):
    for name in ("stencils/springs/law.py", "kernels/numba/product.py", "kernels/numpy/constants.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("1")
    seen = {backend.source_digest(tmp_path)}
    for path in sorted(tmp_path.rglob("*.py")):
        path.write_text("2")
        seen.add(backend.source_digest(tmp_path))
    (tmp_path / "kernels" / "numba" / "more.py").write_text("")
    now = backend.source_digest(tmp_path)
    assert len(seen | {now}) == 5
    (tmp_path / "mesh.py").write_text("is not compiled")
    assert backend.source_digest(tmp_path) == now


def test_all_that_is_compiled_is_among_the_sources():
    """A constant of another module is part of the machine code too."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "core" / "kernels" / "numba").glob("*.py"))
    imported = set(re.findall(r"^from \.\.\.(\w+)", sources, re.MULTILINE))
    assert imported <= {"arrays", "stencils"}, "arrays has types only"


def test_kernels_are_kept_where_they_were_asked_to_be(tmp_path):
    needs("numba")
    python(f"""
from pathlib import Path
from core.kernels import backend
backend.keep_compiled_in(Path({str(tmp_path)!r}))
assert not backend.are_kept() and not backend.is_known("numba")
assert backend.why_not("numba") is None and backend.is_known("numba")
folder = backend.cache_folder()
assert folder.parent == Path({str(tmp_path)!r}) and backend.why_not_kept() is None
import numba
assert not numba.config.CACHE_DIR, "other add-ons may use Numba"
try:
    backend.keep_compiled_in(Path("/elsewhere"))
except Exception as error:
    assert "too late" in str(error)
else:
    raise AssertionError
from core.kernels.numba.thread_pool import looks_per_turn
assert not backend.are_kept() and looks_per_turn() > 0 and backend.are_kept()
""")
    [folder] = tmp_path.iterdir()
    assert folder.name.startswith("numba-")


def test_kernels_from_disk_give_the_same_bytes_as_those_just_compiled_and_damage_is_repaired(tmp_path):
    needs("numba")
    script = f"""
import hashlib
from pathlib import Path
import numpy as np
import core
from core.kernels import backend, using
from core.stencils import registry
from tests.core.shapes import grid
backend.keep_compiled_in(Path({str(tmp_path)!r}))
fabric = core.Material(areal_density=0.2, stretch=500.0, shear=60.0, bend=1e-4, damping=0.005)
mesh = core.ClothMesh(*grid(24, 24))
x, v = (mesh.positions + np.random.default_rng(k).normal(scale=0.01, size=mesh.positions.shape) for k in range(2))
family = [force for force in registry.find("baraff_witkin")(mesh, fabric) if not force.law.constant_tangent][:1]
with using("numba") as kernels:
    for force in family:
        total = np.zeros_like(x)
        kernels.element_families.add_force([force], x, total)
        kernels.element_families.add_damping_force([force], x, v, total)
        print(hashlib.sha256(total.tobytes()).hexdigest())
"""
    first = python(script)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*.kernel")}
    assert python(script) == first and len(files) > 3
    for k, (path, whole) in enumerate(files.items()):
        path.write_bytes([b"", whole[:len(whole) // 2], whole[:-9] + bytes(9), next(iter(files.values()))[1:]][k % 4])
    assert python(script) == first
    assert {path: len(path.read_bytes()) for path in tmp_path.rglob("*")
            if path.is_file()} == {path: len(whole) for path, whole in files.items()}


def test_each_name_that_the_core_is_imported_under_has_kernels_of_its_own():
    """What is kept says which modules it needs: `core` in the tests, a part of the extension in Blender."""
    assert backend.__package__ in backend.cache_folder().parts


# ---------------------------------------------------------------------- warming up


WARM_UP = """
import os, sys, core, numba
from numba.core.dispatcher import Dispatcher

def late_kernels(model, iterations):
    solver = core.Solver(backend="numba", newton_iterations=iterations)
    fractions = list(core.warm_up(solver, [model]))
    assert fractions == sorted(fractions) and 0.0 == fractions[0] and fractions[-1] < 1.0, fractions
    assert core.is_warm(solver, [model])
    assert list(core.warm_up(solver, [model])) == [0.0]
    mesh = sys.modules["core.stepping.jit_warmup"]._mesh(model, 0.0, 12)
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), model, pins={0: None})
    return compiled_in(core.Scene([cloth], [floor]), solver, 8)

def compiled_in(scene, solver, frames):
    late, make = set(), Dispatcher.compile          # which loads what is kept, or compiles
    Dispatcher.compile = lambda self, signature: late.add(self.py_func.__name__) or make(self, signature)
    list(core.simulate(scene, solver, range(frames)))
    return late

floor = core.Collider([[-2, -2, -0.1], [9, -2, -0.1], [-2, 9, -0.1], [0, 0, -2]],
                      [[0, 1, 2], [1, 0, 3], [2, 1, 3], [0, 2, 3]])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_warming_up_a_simulation_compiles_nothing():
    """Each model in a process of its own, which is forked before anything is loaded."""
    needs("numba")
    said = python(WARM_UP + """
for case in [(model, 1) for model in core.models()] + [("baraff_witkin", 2), ("jelly", 2)]:
    if os.fork() == 0:
        print(case, late_kernels(*case), flush=True)
        os._exit(0)
    os.wait()
""")
    cases = [(model, 1) for model in core.models()] + [("baraff_witkin", 2), ("jelly", 2)]
    assert said.splitlines() == [f"{case} set()" for case in cases]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_warming_up_a_dense_sheet_on_a_ball_compiles_nothing():
    """So many vertices are solved with multigrid, fold, and without self-collision cross; stiff ones use the matrix
    itself, not its copy in fewer bytes."""
    needs("numba")
    said = python(WARM_UP + """
from dataclasses import replace
from benchmarks.scenes import core_scene, scene_layout
cotton = core.Material.preset("cotton")
stiff = replace(cotton, stretch=tuple(50.0 * k for k in cotton.stretch))
for integrator, collides, fabric in (("bdf2", True, cotton), ("bdf2", False, cotton), ("bdf2", True, stiff),
                                     ("implicit_euler", True, cotton)):
    scene = core_scene(scene_layout("drape", 56), fabric)
    if os.fork() == 0:
        solver = core.Solver(backend="numba", integrator=integrator, steps_per_frame=1, tolerance=1e-2,
                             self_collision=collides)
        list(core.warm_up(solver))
        print(compiled_in(scene, solver, 20), flush=True)
        os._exit(0)
    os.wait()
""")
    assert said.splitlines() == ["set()"] * 4


def test_warming_up_numpy_is_nothing():
    assert list(core.warm_up(core.Solver(backend="numpy"))) == [0.0]
