# Each target sets itself up on a fresh machine, in virtual environments .venv-* of this folder.
#   make demo        bake a tablecloth onto a moving ball, save it as a .blend, render pictures
#   make test        core and packaging tests without Blender, add-on tests in Blender 4.5
#   make extension   build/muslin-VERSION.zip, for Blender's Install from Disk
#   make extension-numba   the same with Numba for this platform and its Blender inside, which is large and much quicker;
#                     BLENDER=4.5 or a path for another Blender
#   make test-next   the tests that depend on versions, with Python 3.13 and Blender 5.2
#   make test-long   hostile scenes, fuzzers and long runs, for hours; SHARE=0.05 for a twentieth
#   make lint        ruff and mypy
#   make docs        build/site, the documentation with examples and the Python reference
#   make clean       remove the environments and all that was built

PYTHON3 ?= python3

# Core tests run in two processes; those of the add-on share Blender's one scene and run in one. `make -j2 test` runs
# both beside each other. Compiled kernels are made by one process first, which both test processes then load: they are
# kept in the user's cache folder as long as the sources of the kernels do not change.
IN_TWO = -n 2 --dist worksteal
CORE_TESTS = $(IN_TWO) $(wildcard tests/core tests/docs tests/scenes tests/long)
WARM_UP = -c 'import core; list(core.warm_up(core.Solver(backend="numba"), core.models()))'
# With Python 3.13 run the tests that NumPy 2 can change: arithmetic on arrays in all folders, some whole scenes. Other
# physics and scenes, documentation, examples and rules of the source are tested once, with Python 3.11, and so is what
# is marked `once`, in Blender too: shorter tests of the same things are not.
CORE_TESTS_NEXT = $(IN_TWO) -m "not slow and not once" $(wildcard $(addprefix tests/core/,\
	cache contact description integrators kernels linear model stencils stepping test_row_ops.py) \
	$(addprefix tests/scenes/test_,mass_spring.py repeatability.py rope.py self_collision.py))
# The add-on is tested from these sources in both versions of Blender, whose API differs; then, in a process of its
# own, as the zip that users install.
ADDON_TESTS = $(wildcard tests/addon)
ADDON_TESTS_NEXT = -m "not slow and not once" $(ADDON_TESTS)
EXTENSION_TESTS = $(wildcard tests/extension)
# The wheel that pip installs, which does not depend on the Python: tested once.
PACKAGING_TESTS = $(wildcard tests/packaging)

# The share of the long suite. Each part stops after its processor time [s], which bounds the whole if all is slow.
SHARE = 1
PART_SECONDS = 7200

.PHONY: demo test test-core test-addon test-next test-core-next test-addon-next test-long extension extension-numba lint docs clean
.SUFFIXES:

.venv-%/.ready: pyproject.toml scripts/environment.py
	$(PYTHON3) scripts/environment.py $*

demo: .venv-bpy45/.ready
	.venv-bpy45/bin/python demo/tablecloth.py

test: test-core test-addon

test-core: .venv-core311/.ready
	.venv-core311/bin/python $(WARM_UP)
	.venv-core311/bin/python -m pytest $(CORE_TESTS)
	.venv-core311/bin/python -m pytest $(PACKAGING_TESTS)

test-addon: .venv-bpy45/.ready
	.venv-bpy45/bin/python -m pytest $(ADDON_TESTS)
	.venv-bpy45/bin/python -m pytest $(EXTENSION_TESTS)

test-next: test-core-next test-addon-next

test-core-next: .venv-core313/.ready
	.venv-core313/bin/python -m pytest $(CORE_TESTS_NEXT)

test-addon-next: .venv-bpy52/.ready
	.venv-bpy52/bin/python -m pytest $(ADDON_TESTS_NEXT)
	.venv-bpy52/bin/python -m pytest $(EXTENSION_TESTS)

test-long: .venv-core311/.ready .venv-bpy45/.ready
	.venv-core311/bin/python $(WARM_UP)
	.venv-core311/bin/python -m tests.long --share $(SHARE) --seconds $(PART_SECONDS) --processes 2 \
		--blender .venv-bpy45/bin/python

extension:
	$(PYTHON3) scripts/build_extension.py build

extension-numba:
	$(PYTHON3) scripts/build_extension.py build --numba here $(if $(BLENDER),--blender "$(BLENDER)")

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
