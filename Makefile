# Each target sets itself up on a fresh machine, in virtual environments .venv-* of this folder.
#   make demo        bake a tablecloth onto a moving ball, save it as a .blend, render pictures
#   make test        core and packaging tests without Blender, add-on tests in Blender 4.5
#   make extension   build/muslin-VERSION.zip, for Blender's Install from Disk
#   make extension-numba   the same with Numba for this platform inside, which is large and much quicker
#   make test-next   the same tests with Python 3.13 and Blender 5.2
#   make lint        ruff and mypy
#   make docs        build/site, the documentation with examples and the Python reference
#   make clean       remove the environments and all that was built

PYTHON3 ?= python3

# In two processes: what takes long is Python, one thread of it. Those of the add-on share Blender's one scene.
CORE_TESTS = -n 2 --dist worksteal $(wildcard tests/core tests/scenes)
# The add-on is tested from these sources, then, in a process of its own, as the zip that users install.
ADDON_TESTS = $(wildcard tests/addon)
EXTENSION_TESTS = $(wildcard tests/extension)
# The wheel that pip installs, which does not depend on the Python: tested once.
PACKAGING_TESTS = $(wildcard tests/packaging)

.PHONY: demo test test-core test-addon test-next test-core-next test-addon-next extension extension-numba lint docs clean
.SUFFIXES:

.venv-%/.ready: pyproject.toml scripts/environment.py
	$(PYTHON3) scripts/environment.py $*

demo: .venv-bpy45/.ready
	.venv-bpy45/bin/python demo/tablecloth.py

test: test-core test-addon

test-core: .venv-core311/.ready
	.venv-core311/bin/python -m pytest $(CORE_TESTS)
	.venv-core311/bin/python -m pytest $(PACKAGING_TESTS)

test-addon: .venv-bpy45/.ready
	.venv-bpy45/bin/python -m pytest $(ADDON_TESTS)
	.venv-bpy45/bin/python -m pytest $(EXTENSION_TESTS)

test-next: test-core-next test-addon-next

test-core-next: .venv-core313/.ready
	.venv-core313/bin/python -m pytest $(CORE_TESTS)

test-addon-next: .venv-bpy52/.ready
	.venv-bpy52/bin/python -m pytest $(ADDON_TESTS)
	.venv-bpy52/bin/python -m pytest $(EXTENSION_TESTS)

extension: .venv-bpy45/.ready
	.venv-bpy45/bin/python scripts/build_extension.py build

extension-numba: .venv-bpy45/.ready
	.venv-bpy45/bin/python scripts/build_extension.py build --numba here

lint: .venv-lint/.ready
	.venv-lint/bin/python -m ruff check .
	.venv-lint/bin/python scripts/check_types.py

# The versions are fixed in pyproject.toml, so that notices about later versions do not matter here.
docs: export NO_MKDOCS_2_WARNING = 1
docs: export DISABLE_MKDOCS_2_WARNING = true
docs: .venv-docs/.ready
	.venv-docs/bin/python -m mkdocs build --strict

clean:
	rm -rf build .venv-* .mypy_cache .ruff_cache .pytest_cache
