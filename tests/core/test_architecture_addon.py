# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports inside the add-on, read from its source: layers without circles, and the core by its public names."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADDON = ROOT / "cloth_addon"
LAYERS = ("properties", "read", "write", "bake", "compare", "commands", "ui")
"""Folders from the lowest to the highest: each imports only itself and those before it."""
TOP = {"cloth_addon": LAYERS, "cloth_addon.command_line": LAYERS[:-1]}
"""Folders that the two files outside of all folders may import."""
CORE_INTERNALS = {
    # chooses the backend of the inner loops and the folder of its compiled kernels, both without a simulation
    "cloth_addon.bake.backends": {"core.kernels.backend"},
    "cloth_addon.command_line": {"core.measure.command"},                        # a command that needs no Blender
    "cloth_addon.commands.arguments": {"core.measure.path_option"},              # as those of that command
    # repeats the audit of a frame while objects move, and triangulates as a bake does
    "cloth_addon.read.crossings": {"core.contact.exclusions", "core.description.triangulate", "core.kernels",
                                   "core.stepping.audit", "core.stepping.certificate"},
    # whether a state fits the scene, before anything is written to the take that is to go on
    "cloth_addon.bake.preparation": {"core.stepping.continuation"},
    "cloth_addon.bake.fitting": {"core.stepping.resolve_start"},                 # a resolution in iterations
    "cloth_addon.bake.take_notes": {"core.parsed"},
    "cloth_addon.properties.baked_record": {"core.parsed"},                      # the checks of all stored records
    "cloth_addon.properties.number_text": {"core.number_text"},                  # numbers as in the core's messages
    "cloth_addon.properties.record_schema": {"core.parsed"},
    "cloth_addon.properties.air_settings": {"core.description.scene"},           # the default density of the air
    "cloth_addon.properties.fabric_presets": {"core.description.presets"},       # title and description of a file
}
"""Modules of the core that are imported beside its public names, and why."""


def name_of(path):
    """cloth_addon/a/b.py -> cloth_addon.a.b"""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(ADDON.rglob("*.py"))}


def imports(name):
    """Return (module, name) of every import from the checkout, absolute, those for the type checker included."""
    path = MODULES[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[:len(package) - node.level + 1]
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [(module, alias.name) for alias in node.names]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            assert not any(module.split(".")[0] in ("core", "cloth_addon") for module in names), \
                f"{name} imports {names} by an absolute name, which an extension must not"
    return found


def addon_imports(name):
    """Return the modules of the add-on that a module imports."""
    modules = {f"{module}.{item}" if f"{module}.{item}" in MODULES else module for module, item in imports(name)}
    return {module for module in modules if module.startswith("cloth_addon")}


IMPORTS = {name: addon_imports(name) for name in MODULES}


def layer_of(name):
    return name.split(".")[1] if name.count(".") and name.split(".")[1] in LAYERS else ""


def test_this_test_reads_the_imports_that_it_judges():
    assert {layer_of(name) for name in MODULES} == {"", *LAYERS}
    assert "cloth_addon.properties.settings" in IMPORTS["cloth_addon.read.read_cloth"]
    assert "cloth_addon.bake.bake_job" in IMPORTS["cloth_addon"]


def test_no_modules_import_each_other_in_a_circle():
    finished, path = set(), []

    def visit(name):
        assert name not in path, f"circle: {' -> '.join([*path[path.index(name):], name])}"
        if name in finished:
            return
        path.append(name)
        for imported in sorted(IMPORTS[name] - {name}):
            visit(imported)
        finished.add(path.pop())

    for name in sorted(MODULES):
        visit(name)


def test_a_folder_imports_only_itself_and_the_folders_below():
    """In particular nothing but ui and the registration imports ui."""
    for name, found in IMPORTS.items():
        layer = layer_of(name)
        allowed = LAYERS[:LAYERS.index(layer) + 1] if layer else TOP[name]
        wrong = {imported for imported in found if layer_of(imported) not in ("", *allowed)}
        assert not wrong, f"{name} imports {sorted(wrong)}"
        if layer:
            upwards = {imported for imported in found if not layer_of(imported)}
            assert not upwards, f"{name} imports {sorted(upwards)}"


def test_the_core_is_used_by_its_public_names():
    """The core as a whole, as in `from .. import core`, its cache of bakes, and the modules of CORE_INTERNALS only."""
    internals = {}
    for name, path in MODULES.items():
        used = {core_module(module, item) for module, item in imports(name) if module.split(".")[0] == "core"}
        used = {module for module in used if not module.startswith("core.cache.")}
        if used:
            internals[name] = used
        attributes = {node.attr for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                      if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "core"}
        assert attributes <= public_names(), f"{name} uses core.{sorted(attributes - public_names())}"
    assert internals == CORE_INTERNALS


def core_module(module, item):
    """("core.kernels", "backend") -> core.kernels.backend if that is a module, else core.kernels."""
    path = ROOT.joinpath(*module.split("."), f"{item}.py")
    return f"{module}.{item}" if path.is_file() else module


def public_names():
    """Return the names in `core.__all__`."""
    for node in ast.parse((ROOT / "core" / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    raise AssertionError("core has no __all__")
