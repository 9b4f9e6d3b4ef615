# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may import whom, read from the source: dependencies point one way, and every file says what it is."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import core
from core.kernels import backend

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
FOLDERS = ("core", "cloth_addon", "demo", "examples", "scripts", "tests", "benchmarks")
OWN = [ROOT / "__init__.py", ROOT / "setup.py",
       *(p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*.py")))]
FEATURES = ("stencils", "contact", "integrators", "linear", "loads", "kernels", "model", "stepping")


def name_of(path):
    """core/a/b.py -> core.a.b"""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements(path):
    """Import statements of a file; ones for the type checker alone count too."""
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, (ast.Import, ast.ImportFrom))]


def imports(path):
    """Absolute names of the modules that a file of core imports."""
    package = name_of(path).split(".")
    package = package if path.name == "__init__.py" else package[:-1]
    found = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            continue
        base = package[:len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            inner = f"{module}.{alias.name}"
            found.add(inner if inner in MODULES else module)
    return found


FILES = sorted(CORE.rglob("*.py"))
MODULES = {name_of(path): path for path in FILES}
IMPORTS = {name: imports(path) for name, path in MODULES.items()}
files = pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))


def is_law(path):
    """Whether a file defines a law: a class with energy, stress and projected_tangent (the protocol aside)."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and not any(ast.unparse(b).startswith("Protocol") for b in node.bases):
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            if {"energy", "stress", "projected_tangent"} <= methods:
                return True
    return False


LAWS = [name for name, path in MODULES.items() if is_law(path)]


def test_this_test_reads_the_imports_it_judges():
    assert "core.stencils.component_algebra" in IMPORTS["core.stencils.springs.spring"]
    assert "core.description.mesh" in IMPORTS["core"]
    laws = {"springs.spring", "membranes.stretch_shear", "bending.hinge"}
    assert {f"core.stencils.{name}" for name in laws} <= set(LAWS)


@files
def test_core_knows_nothing_but_python_numpy_and_itself(path):
    allowed = {"core", "numpy", "__future__", "collections", "contextlib", "dataclasses", "difflib", "functools",
               "inspect", "itertools", "json", "math", "numbers", "pathlib", "reprlib", "sys", "time", "tomllib",
               "types", "typing"}
    if name_of(path) == "core.kernels.backend":                   # keeps what is compiled on disk
        allowed |= {"contextvars", "hashlib", "importlib", "os", "shutil", "tempfile"}
    if name_of(path) == "core.kernels.numba.thread_pool":       # shares loops out to threads
        allowed |= {"contextvars", "os", "queue", "threading"}
    if name_of(path) == "core.stepping.checkpoint":               # files
        allowed |= {"hashlib", "os", "struct"}
    if "kernels" in path.parts:
        allowed |= {"numba"}
    if name_of(path) == "core.kernels.numba.simd":              # has Python's operators
        allowed |= {"operator"}
    vectors = {"block_rows", "simd", "llvm_vectors", "row_products", "simd_boxes", "gemm_tiles"}
    if name_of(path).removeprefix("core.kernels.numba.") in vectors:
        allowed |= {"llvmlite"}
    assert {name.split(".")[0] for name in imports(path)} <= allowed


@files
def test_core_imports_itself_by_relative_names(path):
    """Inside the extension core is a package of another name."""
    for node in statements(path):
        if isinstance(node, ast.Import):
            assert not any(alias.name.split(".")[0] == "core" for alias in node.names)
        else:
            assert node.level > 0 or node.module.split(".")[0] != "core"


@files
def test_core_never_names_blender(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {a.name.split(".")[0] for node in statements(path) for a in node.names}
    assert not names & {"bpy", "bmesh", "mathutils", "cloth_addon"}


@pytest.mark.parametrize("law", LAWS)
def test_a_law_imports_no_other_law_no_contact_and_no_solver(law):
    assert not (IMPORTS[law] & set(LAWS)) - {law}
    for name in IMPORTS[law]:
        folder = name.split(".")[1] if name.count(".") else ""
        assert folder not in ("contact", "linear", "integrators", "loads", "model", "stepping")
        assert name not in ("core.description.settings", "core.description.cloth", "core.description.scene")


def test_linear_solvers_know_no_cloth():
    for name, found in IMPORTS.items():
        if name.startswith("core.linear"):
            own = {n for n in found if n.startswith("core")}
            own -= {"core.arrays", "core.description.topology", "core.state"}
            assert all(n.startswith(("core.linear", "core.kernels")) for n in own), (name, own)


def imports_at_once(path):
    """Names of the packages that importing a file imports: not those inside its functions."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    plain = {alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
    return {name.split(".")[0]
            for name in plain | {node.module for node in body if isinstance(node, ast.ImportFrom) and not node.level}}


def kernels(folder):
    return [name for name in IMPORTS if name.startswith(f"core.kernels.{folder}.")]


def known_to(name):
    """What of core a kernel's file imports when it runs. For the type checker it may name what it is handed."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    asides = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    skipped = {id(inner) for node in asides for inner in ast.walk(node)}
    found = {(node.level, node.module or "", alias.name) for node in ast.walk(tree)
             if isinstance(node, ast.ImportFrom) and node.level and id(node) not in skipped for alias in node.names}
    base = name.split(".")[:-1]
    paths = {".".join([*base[:len(base) - level + 1], *([module] if module else []), inner])
             for level, module, inner in found}
    return {path if path in MODULES else path.rpartition(".")[0] for path in paths}


def test_the_definition_of_the_kernels_is_functions_on_arrays_in_numpy():
    for name in kernels("numpy"):
        allowed = {"core.arrays", "core.row_ops", "core.kernels.layouts", *kernels("numpy")}
        assert known_to(name) <= allowed, (name, known_to(name))
        tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
        assert not any(isinstance(node, (ast.ClassDef, ast.Global)) for node in ast.walk(tree)), name


def test_compiled_kernels_take_the_laws_from_where_they_are_defined_and_nothing_else():
    for name in kernels("numba"):
        allowed = ("core.kernels", "core.stencils", "core.arrays")
        assert all(n.startswith(allowed) for n in known_to(name)), (name, known_to(name))


def test_numba_is_imported_by_the_compiled_kernels_only_and_these_only_when_they_are_wanted():
    for name, path in MODULES.items():
        if not name.startswith("core.kernels.numba"):
            assert "numba" not in imports_at_once(path), name
            assert not any(n.startswith("core.kernels.numba") for n in IMPORTS[name]), name
    assert "numba" not in imports_at_once(MODULES["core.kernels.numba"])


CALLED = sorted({call for path in FILES if "kernels" not in path.parts
                 for call in re.findall(r"current\(\)\.(\w+)\.(\w+)\(", path.read_text(encoding="utf-8"))})


@pytest.mark.parametrize(("topic", "function"), CALLED)
def test_both_backends_have_every_kernel_that_is_called_with_the_same_arguments(topic, function):
    if backend.why_not("numba"):
        pytest.skip(backend.why_not("numba"))
    definition, compiled = (getattr(getattr(backend.load(name), topic), function) for name in backend.BACKENDS)
    compiled = getattr(compiled, "py_func", compiled)               # what Numba's decorator was given
    assert list(inspect.signature(compiled).parameters) == list(inspect.signature(definition).parameters)


def test_contact_and_laws_do_not_know_each_other():
    for name, found in IMPORTS.items():
        if name.startswith("core.stencils"):
            assert not any(n.startswith("core.contact") for n in found), name
        if name.startswith("core.contact"):
            assert not found & set(LAWS), name


def test_nothing_below_imports_what_runs_it():
    """mesh and fabric -> laws, contact, linear -> system -> integrators -> stepping -> simulate."""
    for name, found in IMPORTS.items():
        top = name.split(".")[1] if "." in name else ""
        if name != "core" and top != "stepping":
            assert not any(n.startswith("core.stepping") for n in found) and "core" not in found, name
        if top in FEATURES and top not in ("integrators", "stepping", "model"):
            above = ("core.model", "core.description.settings", "core.integrators")
            assert not any(n.startswith(above) for n in found), name
        if top == "description" or name in ("core.arrays", "core.errors"):
            assert not any(n.startswith(tuple(f"core.{f}" for f in FEATURES)) for n in found), name


# ---------------------------------------------------------------------- every file


def test_every_file_names_its_licence_first():
    for path in OWN:
        text = path.read_text(encoding="utf-8")
        assert not text or text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n"), path


def test_every_file_says_what_it_is_for():
    for path in OWN:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not tree.body or ast.get_docstring(tree), path


def test_no_file_is_above_four_hundred_lines():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in OWN}
    assert {name: n for name, n in lengths.items() if n > 400} == {}


def test_every_public_name_is_there_and_has_a_docstring():
    assert list(core.__all__) == sorted(core.__all__, key=lambda n: (not n[0].isupper(), n))
    assert len(set(core.__all__)) == len(core.__all__)
    for name in core.__all__:
        value = getattr(core, name)
        assert value.__doc__ and value.__doc__.strip(), name
        methods = [] if not isinstance(value, type) else [
            (n, m) for n, m in vars(value).items() if callable(m) and not n.startswith("_")]
        for method, function in methods:
            assert function.__doc__ and function.__doc__.strip(), f"{name}.{method}"


def test_the_promised_names_are_public():
    promised = {"ClothMesh", "Material", "Cloth", "Collider", "Scene", "Solver", "simulate", "models", "integrators",
                "audit", "ClothError", "MeshError", "MaterialError", "PinError", "ColliderError", "SolverError",
                "SceneError", "PresetError"}
    assert promised <= set(core.__all__)


def test_every_function_of_core_that_others_use_has_a_docstring():
    for path in FILES:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        classes = [node for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        for node in body + [inner for outer in classes for inner in outer.body]:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{path.relative_to(ROOT)}: {node.name}"
