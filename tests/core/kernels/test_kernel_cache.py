# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled kernels come back from disk, and whatever is wrong with a file costs a compilation and nothing else."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.kernels import backend, kernel_folder
from tests.core.kernels.test_kernel_folder import damages

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "core" / "kernels" / "numba"
TINY = """
import sys
import numpy as np
from core.kernels.numba.kernel_cache import njit

@njit(cache=True)
def twice(x):
    return x + x
"""

pytestmark = pytest.mark.skipif(bool(backend.why_not("numba")), reason="no Numba here")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(backend, "_cache_parent", tmp_path / "kernels")
    return backend.cache_folder()


def twice():
    """Return a function as a new process has it: not compiled."""
    from core.kernels.numba.kernel_cache import njit

    def double(x):
        return x + x

    return njit(cache=True)(double)


def was_loaded(function, value=21):
    """Call the function, and return whether it came from disk."""
    assert function(value) == 2 * value
    assert function._cache_hits.total() + function._cache_misses.total() == 1
    return function._cache_hits.total() == 1


class Planted:
    """Unpickled, it makes a file."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return (open, (str(self.marker), "w"))


def python(code, cwd=ROOT, **environment):
    return subprocess.Popen([sys.executable, "-c", code], cwd=cwd, stdout=subprocess.PIPE, text=True,
                            env={**os.environ, **environment})


# ---------------------------------------------------------------------- kept


def test_a_kernel_is_compiled_once_for_each_type_and_loaded_after(folder):
    assert not was_loaded(twice()) and was_loaded(twice())
    assert not was_loaded(twice(), 0.5) and was_loaded(twice(), 0.5) and was_loaded(twice())
    assert len(list(folder.iterdir())) == 2
    assert np.array_equal(twice()(np.arange(3.0)), [0.0, 2.0, 4.0])


def test_functions_of_one_name_with_other_variables_are_kept_apart(folder):
    from core.kernels.numba.kernel_cache import njit

    def times(factor):
        def product(x):
            return factor * x

        return njit(cache=True)(product)

    assert [times(k)(10) for k in (1, 2, 1, 2)] == [10, 20, 10, 20]
    assert len(list(folder.iterdir())) == 2


FACTORY = """
import math
import sys
from core.kernels.numba.kernel_cache import for_kernels, njit

def times(factor):
    @njit(cache=True)
    def inner(x):
        total = factor * x
        BODY
        return total

    called = for_kernels(inner)

    @njit(cache=True)
    def outer(x):
        return called(x) - called(0.0 * x)

    return outer

print([times(float(factor))(1.0) for factor in sys.argv[1:]])
""".replace("BODY", "\n        ".join(f"total += 0.0 * math.sin({k} * x + total)" for k in range(80)))
"""The inner function is too long to become a part of the outer one."""


def test_functions_of_one_name_from_two_processes_are_kept_apart(tmp_path):
    """Both processes give their function the same number, and one that reads both files has two functions of one name
    and number.
    """
    script = tmp_path / "factory.py"
    script.write_text(FACTORY)

    def run(*factors):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
        return subprocess.run([sys.executable, str(script), *factors], capture_output=True, text=True, check=True,
                              env=environment).stdout.strip()

    (tmp_path / "cache").mkdir(mode=0o700)
    assert [run("2"), run("3")] == ["[2.0]", "[3.0]"]
    assert run("2", "3") == "[2.0, 3.0]"
    assert run("3", "2") == "[3.0, 2.0]"


def test_kernels_that_are_compiled_with_other_settings_of_numba_are_kept_apart(folder, monkeypatch):
    import numba
    assert not was_loaded(twice())
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert not was_loaded(twice()) and was_loaded(twice())
    monkeypatch.undo()
    monkeypatch.setattr(backend, "_cache_parent", folder.parent)
    assert was_loaded(twice())


def test_a_relative_cache_home_is_ignored(tmp_path, monkeypatch):
    """As the XDG base directory specification says."""
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for given, home in (("", ".cache"), ("relative", ".cache"), (str(tmp_path / "given"), "given")):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert backend._parents()[-1].parent == tmp_path / home / "muslin-kernels"


def test_all_kernels_use_this_cache_and_numba_s_own_is_off():
    own = re.compile(r"from numba import .*\bn?jit\b|numba\.n?jit|enable_caching")
    assert [path.name for path in KERNELS.glob("*.py")
            if own.search(path.read_text(encoding="utf-8"))] == ["kernel_cache.py"]
    import numba
    assert str(backend.cache_folder()) != numba.config.CACHE_DIR


# ---------------------------------------------------------------------- damaged


def test_whatever_stands_in_a_file_s_place_is_compiled_anew_once(folder):
    assert not was_loaded(twice()) and not was_loaded(twice(), 0.5)
    path = next(path for path in folder.iterdir() if len(set(folder.iterdir()) - {path}) == 1)
    other = next(place for place in folder.iterdir() if place != path)
    by_path = {}
    for value in (21, 0.5):
        kernel_folder.remove(path)
        by_path[was_loaded(twice(), value)] = value            # the one that is missing is not loaded
    value = by_path[False]
    was_loaded(twice(), value)                                 # the file is there, whichever of the two is first
    for name, damage in damages(path, other):
        kernel_folder.remove(path)
        try:
            damage()
        except PermissionError:
            was_loaded(twice(), value)
            continue
        assert not was_loaded(twice(), value), name
        assert was_loaded(twice(), value), name
    assert {place.suffix for place in folder.iterdir()} <= {kernel_folder.KERNEL_SUFFIX, ""}


@pytest.mark.parametrize("sealed", [False, True])
def test_what_was_planted_is_never_unpickled(folder, tmp_path, sealed):
    """A seal has no secret: a file of another user is refused by its owner, mode and second name."""
    assert not was_loaded(twice())
    [path] = folder.iterdir()
    marker = tmp_path / "marker"
    planted = pickle.dumps(Planted(marker))
    pickle.loads(planted).close()
    assert marker.exists(), "the trap works"
    marker.unlink()
    if sealed:
        if not hasattr(os, "geteuid"):
            pytest.skip("no modes here")
        kernel_folder.write(path, planted)
        path.chmod(0o666)
    else:
        path.write_bytes(planted)
    for name in ("double-1.py311.nbi", "double-1.py311.1.nbc", path.stem + ".nbi"):         # Numba's own names
        (folder / name).write_bytes(planted)
    assert not was_loaded(twice()) and was_loaded(twice()) and not marker.exists()


def test_a_whole_file_that_cannot_be_used_is_compiled_anew(folder):
    """Another installation under the same version numbers may have written it."""
    for contents in (b"", b"no pickle", pickle.dumps(()), pickle.dumps((1,) * 9), pickle.dumps("text")):
        twice()(21)
        [path] = folder.iterdir()
        kernel_folder.write(path, contents)
        assert not was_loaded(twice()) and was_loaded(twice())


# ---------------------------------------------------------------------- folders that cannot be used


def test_without_a_folder_kernels_are_compiled_and_nothing_is_left_behind(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "file"))
    monkeypatch.setattr(backend, "_cache_parent", tmp_path / "file" / "kernels")
    (tmp_path / "file").write_text("")
    assert "is no folder" in backend.why_not_kept() and not backend.are_kept()
    assert not was_loaded(twice()) and not was_loaded(twice())
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no modes here")
def test_a_folder_that_others_may_write_to_is_left_for_the_user_s_own(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    given = tmp_path / "kernels"
    given.mkdir()
    given.chmod(0o777)
    assert backend.cache_folder().is_relative_to(tmp_path / "own") and backend.why_not_kept() is None
    assert not was_loaded(twice()) and was_loaded(twice()) and list(given.iterdir()) == []
    (tmp_path / "own").chmod(0o777)
    assert backend.why_not_kept() == f"others may write to {given}"
    assert not was_loaded(twice()) and list(given.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no modes here")
def test_a_folder_that_is_opened_to_others_while_running_is_no_longer_read(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kernels"))
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert not was_loaded(twice()) and was_loaded(twice())
    folder.parent.chmod(0o777)
    assert not was_loaded(twice())
    folder.parent.chmod(0o755)
    assert was_loaded(twice())


def test_a_folder_that_is_deleted_while_running_is_made_again(folder):
    assert not was_loaded(twice())
    kernel_folder.remove(folder.parent)
    assert not was_loaded(twice()) and was_loaded(twice())
    assert [path.name for path in folder.parent.parent.iterdir()] == ["kernels"]


def test_a_full_disk_costs_a_compilation(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not was_loaded(twice()) and not was_loaded(twice()) and list(folder.iterdir()) == []


# ---------------------------------------------------------------------- other processes


def test_processes_that_compile_at_once_do_not_mix_up_their_kernels(folder, tmp_path):
    (tmp_path / "tiny.py").write_text(TINY)
    code = f"""
import sys
from pathlib import Path
sys.path[:0] = [{str(ROOT)!r}, {str(tmp_path)!r}]
from core.kernels import backend
backend.keep_compiled_in(Path({str(folder.parent)!r}))
from tiny import twice
print("ready", flush=True)
sys.stdin.readline()
print(twice({{value}}), twice._cache_hits.total(), flush=True)
"""
    for hits in (0, 1):
        running = [subprocess.Popen([sys.executable, "-c", code.format(value=value)], text=True,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE) for value in ("1", "1", "0.25")]
        assert [child.stdout.readline() for child in running] == ["ready\n"] * 3
        for child in running:
            child.stdin.write("\n")
            child.stdin.flush()
        said = [child.communicate()[0].split() for child in running]
        assert [result for result, _ in said] == ["2", "2", "0.5"]
        assert hits == 0 or [count for _, count in said] == ["1"] * 3
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("private", [True, False])
def test_a_process_that_is_killed_leaves_nothing_in_the_temporary_folder(tmp_path, private):
    for name in ("temporary", "kernels", "home"):
        (tmp_path / name).mkdir(mode=0o700)
    if not private:
        for name in ("kernels", "home"):
            (tmp_path / name).chmod(0o777)
    child = python(f"""
import sys, time
from pathlib import Path
from core.kernels import backend
backend.keep_compiled_in(Path({str(tmp_path / "kernels")!r}))
assert backend.why_not("numba") is None
exec({TINY!r})
print(twice(21), flush=True)
time.sleep(60)
""", TMPDIR=str(tmp_path / "temporary"), XDG_CACHE_HOME=str(tmp_path / "home"))
    assert child.stdout.readline() == "42\n"
    child.kill()
    child.wait()
    child.stdout.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert bool(list((tmp_path / "kernels").rglob("*"))) == private and list((tmp_path / "home").iterdir()) == []
