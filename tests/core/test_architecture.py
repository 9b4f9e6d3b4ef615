# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the source tree, read from the source: directions of imports, state, constants, and what a file says.

One test per rule. It collects all places that break the rule, so that its message lists them.
"""

import ast
import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest

import core
from core.kernels import backend

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
FOLDERS = ("core", "cloth_addon", "demo", "examples", "scripts", "tests", "benchmarks")
OWN = [ROOT / "__init__.py", ROOT / "setup.py",
       *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]
LAYERS = ("measure", "cache", "stepping", "integrators", "model", "contact", "linear", "kernels", "loads", "stencils",
          "description")
"""Folders of core from top to bottom: each imports only itself, the folders after it and BASE."""
BASE = {"core.state", "core.arrays", "core.row_ops", "core.errors", "core.did_you_mean", "core.number_text",
        "core.stopwatch", "core.parsed", "core.array_file", "core.kernels", "core.kernels.backend",
        "core.kernels.kernel_folder"}
"""Modules that all folders may import: plain records and arrays, errors, and the choice of the kernels' backend."""
EXTERNAL = {"core", "numpy", "__future__", "argparse", "collections", "contextlib", "copy", "dataclasses", "difflib",
            "functools", "inspect", "itertools", "json", "math", "numbers", "pathlib", "reprlib", "sys", "time",
            "tomllib", "types", "typing"}
"""Packages that every file of core may import."""
EXTERNAL_OF = {
    "core.kernels.backend": {"contextvars", "hashlib", "importlib", "os"},                         # compiled files
    "core.kernels.kernel_folder": {"fcntl", "grp", "hashlib", "os", "pwd", "re", "shutil", "stat"},
    "core.kernels.numba.kernel_cache": {"hashlib", "llvmlite", "pickle"},
    "core.kernels.numba.thread_count": {"os"},                                                      # its variable
    "core.kernels.numba.thread_pool": {"atexit", "contextvars", "ctypes", "os", "threading"},
    "core.version": {"importlib"},
    "core.stepping.continuation": {"hashlib"},
    "core.array_file": {"hashlib", "os", "struct"},                                                # files
    "core.cache.disk_file": {"errno", "fcntl", "msvcrt", "os"},
    "core.cache.record_log": {"os", "struct", "threading", "zlib"},
    "core.cache.pc2": {"os", "struct", "zlib"},
    "core.cache.take_reader": {"zlib"},
    "core.cache.take_entries": {"re"},
    "core.cache.take_header": {"platform", "re", "secrets"},
    "core.cache.take_checkpoints": {"os", "re", "shutil"},
    "core.cache.file_lock": {"errno", "fcntl", "msvcrt", "os"},
    "core.cache.feed": {"zlib"},
    "core.cache.process_files": {"os"},
    "core.cache.solver_start": {"importlib"},
    "core.cache.solver_process": {"importlib", "os", "subprocess"},
    "core.cache.kernel_main": {"os", "threading"},
    "core.cache.kernel_process": {"subprocess", "threading"},
    "core.cache.solver_main": {"_thread", "os", "signal", "threading", "traceback"},
    "core.cache.bake": {"concurrent"},                                                             # its writer
    **{f"core.kernels.numba.{name}": {"llvmlite", "operator"}                                      # vector instructions
       for name in ("block_rows", "simd", "llvm_vectors", "row_products", "simd_boxes", "gemm_tiles", "atomics",
                    "parallel_loop")}}
"""Packages that one module of core may import besides, and why."""
LARGEST_NUMBER_OF_CONSTANTS = 180
"""Named numbers in core, contact and integrators aside [-]. It may only fall."""


def name_of(path):
    """core/a/b.py -> core.a.b"""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(CORE.rglob("*.py"))
MODULES = {name_of(path): path for path in FILES}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def import_statements(name):
    """Return the import statements of a module; those for the type checker and inside functions count too."""
    return [node for node in ast.walk(TREES[name]) if isinstance(node, (ast.Import, ast.ImportFrom))]


def imported_by(name, nodes):
    """Return the absolute names of the modules that import statements of a module of core import."""
    package = name.split(".") if MODULES[name].name == "__init__.py" else name.split(".")[:-1]
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            continue
        base = package[:len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            inner = f"{module}.{alias.name}"
            found.add(inner if inner in MODULES else module)
    return found


IMPORTS = {name: imported_by(name, import_statements(name)) for name in MODULES}


def layer_of(name):
    """Return the place of a module in LAYERS: -1 for core itself, the largest for BASE and what is outside core."""
    folder = name.split(".")[1] if "." in name else ""
    if name == "core":
        return -1
    return LAYERS.index(folder) if folder in LAYERS and name not in BASE else len(LAYERS)


def is_law(name):
    """Whether a module defines a law: a class with energy, stress and projected_tangent (the protocol aside)."""
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.ClassDef) and not any(ast.unparse(b).startswith("Protocol") for b in node.bases):
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            if {"energy", "stress", "projected_tangent"} <= methods:
                return True
    return False


LAWS = {name for name in MODULES if is_law(name)}


def kernels(folder):
    return [name for name in MODULES if name.startswith(f"core.kernels.{folder}.")]


def none_of(places):
    """Fail with a list of places."""
    places = sorted(places)
    assert not places, "\n  ".join(["", *map(str, places)])


# ---------------------------------------------------------------------- imports


def test_this_test_reads_the_imports_that_it_judges():
    assert "core.stencils.component_algebra" in IMPORTS["core.stencils.springs.spring"]
    assert "core.description.mesh" in IMPORTS["core"]
    laws = {"springs.spring", "membranes.stretch_shear", "bending.hinge"}
    assert {f"core.stencils.{name}" for name in laws} <= LAWS
    assert {path.name for path in CORE.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(LAYERS)


def test_core_imports_only_python_numpy_and_itself():
    none_of((name, package) for name in MODULES for package in {found.split(".")[0] for found in IMPORTS[name]}
            - EXTERNAL - EXTERNAL_OF.get(name, set()) - ({"numba"} if name.startswith("core.kernels") else set()))


def test_core_imports_itself_by_relative_names():
    """Inside the extension core is a package of another name."""
    none_of((name, node.lineno) for name in MODULES for node in import_statements(name)
            if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "core" for alias in node.names)
            or isinstance(node, ast.ImportFrom) and not node.level and node.module.split(".")[0] == "core")


def test_core_never_names_blender():
    blender = {"bpy", "bmesh", "mathutils", "cloth_addon"}
    none_of((name, node.lineno) for name, tree in TREES.items() for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id in blender
            or isinstance(node, (ast.Import, ast.ImportFrom))
            and any(alias.name.split(".")[0] in blender for alias in node.names))


def test_a_folder_imports_only_itself_and_the_folders_below():
    upwards = {(name, found) for name in MODULES for found in IMPORTS[name]
               if found.split(".")[0] == "core" and layer_of(found) < layer_of(name)}
    none_of(upwards)


def test_no_modules_import_each_other_in_a_circle():
    """Tarjan 1972: modules that can reach each other by imports."""
    order, low, stack, circles = {}, {}, [], set()

    def visit(name):
        order[name] = low[name] = len(order)
        stack.append(name)
        for found in sorted(IMPORTS[name] & set(MODULES)):
            if found not in order:
                visit(found)
            if found in stack:
                low[name] = min(low[name], low[found])
        if low[name] == order[name]:
            circle = stack[stack.index(name):]
            del stack[stack.index(name):]
            if len(circle) > 1:
                circles.add(tuple(sorted(circle)))

    for name in MODULES:
        if name not in order:
            visit(name)
    none_of(circles)


def test_a_law_imports_no_other_law_and_no_settings():
    settings = {f"core.description.{name}" for name in ("settings", "cloth", "scene")}
    none_of((law, found) for law in LAWS for found in IMPORTS[law] & (LAWS | settings) - {law})


def test_contact_imports_no_law():
    none_of((name, found) for name in MODULES if name.startswith("core.contact") for found in IMPORTS[name] & LAWS)


def test_linear_solvers_import_nothing_about_cloth():
    allowed = {"core.description.topology", *BASE}
    none_of((name, found) for name in MODULES if name.startswith("core.linear") for found in IMPORTS[name]
            if found.startswith("core") and not found.startswith(("core.linear", "core.kernels"))
            and found not in allowed)


def imports_at_run_time(name):
    """Return the imports of a module without those for the type checker."""
    asides = [node for node in TREES[name].body
              if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    skipped = {id(inner) for node in asides for inner in ast.walk(node)}
    return imported_by(name, [node for node in import_statements(name) if id(node) not in skipped])


def test_numpy_kernels_are_functions_on_arrays():
    allowed = {"core.arrays", "core.row_ops", "core.kernels.layouts", "core.kernels.tuning", *kernels("numpy"),
               *kernels("formulas"), "core.kernels.formulas"}
    none_of((name, found) for name in kernels("numpy") for found in imports_at_run_time(name)
            if found.startswith("core") and found not in allowed)
    none_of((name, node.lineno) for name in kernels("numpy") for node in ast.walk(TREES[name])
            if isinstance(node, (ast.ClassDef, ast.Global)))


def test_compiled_kernels_import_the_laws_from_their_definition_and_nothing_else():
    none_of((name, found) for name in kernels("numba") for found in imports_at_run_time(name)
            if found.startswith("core") and not found.startswith(("core.kernels", "core.stencils", "core.arrays")))


def test_numba_is_imported_by_the_compiled_kernels_alone_and_only_on_demand():
    def at_once(name):
        body = [node for node in TREES[name].body if isinstance(node, (ast.Import, ast.ImportFrom))]
        return {found.split(".")[0] for found in imported_by(name, body)}

    others = [name for name in MODULES if not name.startswith("core.kernels.numba")]
    none_of(name for name in [*others, "core.kernels.numba"] if "numba" in at_once(name))
    none_of((name, found) for name in others for found in IMPORTS[name] if found.startswith("core.kernels.numba"))


def test_both_backends_have_every_kernel_that_is_called_with_the_same_arguments():
    if backend.why_not("numba"):
        pytest.skip(backend.why_not("numba"))
    called = {call for path in FILES if "kernels" not in path.parts
              for call in re.findall(r"current\(\)\.(\w+)\.(\w+)\(", path.read_text(encoding="utf-8"))}
    assert len(called) > 40

    def arguments(name, topic, function):
        kernel = getattr(getattr(backend.load(name), topic), function)
        return list(inspect.signature(getattr(kernel, "py_func", kernel)).parameters)

    none_of(call for call in called if arguments("numba", *call) != arguments("numpy", *call))


# ---------------------------------------------------------------------- state and constants


def own_attributes(tree):
    """Return the attributes of the classes of a module: fields, __slots__, and names that methods set on self."""
    found = set()
    for outer in ast.walk(tree):
        if isinstance(outer, ast.ClassDef):
            for node in ast.walk(outer):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) \
                        and ast.unparse(node.value) in ("self", "cls"):
                    found.add(node.attr)
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    found.add(node.target.id)
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__":
                    found |= set(ast.literal_eval(node.value))
    return found


def test_no_attribute_of_an_object_is_written_outside_of_its_class_s_module():
    """Helpers beside a class may write its attributes. Numba's own settings are its interface."""
    places = set()
    for name, tree in TREES.items():
        own = own_attributes(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                text = ast.unparse(node)
                owner = ast.unparse(node.value)
                if owner == "self" or text.startswith("numba.config."):
                    continue
                if isinstance(node.ctx, ast.Store) and node.attr not in own and node.attr != "__init__" \
                        or node.attr == "__dict__":
                    places.add(f"{name}: {text}")
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "object.__setattr__") \
                    and ast.unparse(node.args[0]) != "self":
                places.add(f"{name}: {ast.unparse(node)}")
    none_of(places)


def is_number(value):
    """Whether an expression is a number, a sum or product with one, or a tuple of numbers."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    if isinstance(value, ast.BinOp):
        return is_number(value.left) or is_number(value.right)
    if isinstance(value, ast.Call):
        return any(is_number(arg) for arg in value.args) or "finfo" in ast.unparse(value)
    if isinstance(value, (ast.Tuple, ast.List)):
        return bool(value.elts) and all(is_number(e) for e in value.elts)
    return isinstance(value, ast.Attribute) and "finfo" in ast.unparse(value)


def constants(tree):
    """Yield the name and value of each module-level name in capitals."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        else:
            continue
        for target, value in pairs:
            several = isinstance(target, ast.Tuple)
            names = target.elts if several else [target]
            values = value.elts if several and isinstance(value, ast.Tuple) else [value] * len(names)
            for one, its in zip(names, values, strict=True):
                if isinstance(one, ast.Name) and one.id.isupper() and len(one.id) > 1:
                    yield one.id.lstrip("_"), its


def test_no_two_constants_have_one_name():
    places = defaultdict(list)
    for name, tree in TREES.items():
        for constant, _ in constants(tree):
            places[constant].append(name)
    none_of((constant, modules) for constant, modules in places.items()
            if len(modules) > 1)


def test_core_has_few_numbers_to_set():
    counted = [(name, constant) for name, tree in TREES.items()
               if not name.startswith(("core.contact", "core.integrators", "core.cache", "core.measure"))
               for constant, value in constants(tree) if is_number(value)]
    assert 0 < len(counted) <= LARGEST_NUMBER_OF_CONSTANTS


# ---------------------------------------------------------------------- every file


def test_every_file_names_its_licence_first():
    texts = {path: path.read_text(encoding="utf-8") for path in OWN}
    none_of(path for path, text in texts.items()
            if text and not text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n"))


def test_every_file_says_what_it_is_for():
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in OWN}
    none_of(path for path, tree in trees.items() if tree.body and not ast.get_docstring(tree))


def test_no_file_is_above_four_hundred_lines():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in OWN}
    none_of((str(path.relative_to(ROOT)), length) for path, length in lengths.items() if length > 400)


def test_every_public_name_is_there_and_has_a_docstring():
    assert list(core.__all__) == sorted(core.__all__, key=lambda n: (not n[0].isupper(), n))
    assert len(set(core.__all__)) == len(core.__all__)
    public = {name: getattr(core, name) for name in core.__all__}
    for name, value in list(public.items()):
        if isinstance(value, type):
            public |= {f"{name}.{n}": m for n, m in vars(value).items() if callable(m) and not n.startswith("_")}
    none_of(name for name, value in public.items() if not (value.__doc__ or "").strip())


def test_the_promised_names_are_public():
    promised = {"ClothMesh", "Material", "Cloth", "Collider", "Scene", "Solver", "simulate", "models", "integrators",
                "audit", "ClothError", "MeshError", "MaterialError", "PinError", "ColliderError", "SolverError",
                "SceneError", "PresetError"}
    assert promised <= set(core.__all__)


def test_every_function_of_core_that_other_modules_may_use_has_a_docstring():
    places = set()
    for name, tree in TREES.items():
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        for node in tree.body + [inner for outer in classes for inner in outer.body]:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_") \
                    and not ast.get_docstring(node):
                places.add((name, node.name))
    none_of(places)
