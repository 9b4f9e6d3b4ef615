# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples run, and what they show is true. In the source tree `core` stands for the package `muslin`."""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import core
from core.kernels.backend import why_not

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "shapes")
GRAVITY = 9.81
slow_without_numba = pytest.mark.skipif(bool(why_not("numba")), reason="takes long with NumPy alone")


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs an example for some frames: its module, what it returns and what it prints."""
    monkeypatch.setitem(sys.modules, "muslin", core)
    monkeypatch.syspath_prepend(str(FOLDER))

    def run_example(name, frames):
        spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        result = module.main(frames)
        return module, result, capsys.readouterr().out

    return run_example


def numbers(text):
    """Return the decimal numbers in a text, in order."""
    return [float(word) for word in re.findall(r"-?\d+\.\d+", text)]


def test_there_are_ten_and_each_is_shorter_than_forty_lines_and_is_shown_with_its_picture():
    assert len(NAMES) == 10
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in FOLDER.glob("*.py")}
    assert {name: length for name, length in lengths.items() if length >= 40} == {}
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"({name}.py)" in readme and f"(../docs/pictures/examples/{name}.png)" in readme
        assert (FOLDER.parent / "docs" / "pictures" / "examples" / f"{name}.png").is_file()


def test_each_has_a_test():
    assert [name for name in NAMES if f'run("{name}"' not in Path(__file__).read_text(encoding="utf-8")] == []


def test_the_hanging_sheet_keeps_its_corners_and_hardly_stretches(run):
    module, (_, frame), _ = run("hanging_sheet", 18)
    x = frame.positions[0]
    np.testing.assert_allclose(x[0], [-0.5, -0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(x[module.COUNT - 1], module.moving(frame.time), atol=1e-12)
    assert x[:, 2].min() < -0.5
    assert frame.certificate.stretch_p99 < 1.01


@slow_without_numba
def test_the_tablecloth_stays_with_friction_and_slides_without(run):
    module, (_, frame), printed = run("tablecloth", 22)
    held, sliding = numbers(printed)
    assert held < 0.06 and sliding > 0.15
    assert frame.certificate.crossings == 0
    for x, centre in zip(frame.positions, (-0.6, 0.6), strict=True):
        assert np.linalg.norm(x - [centre, 0.0, module.RADIUS], axis=1).min() > 0.99 * module.RADIUS
        assert x[:, 2].min() > 0.0


def test_the_flag_is_carried_by_the_wind_and_lifted_by_it(run):
    _, (_, frame), _ = run("flag", 30)
    x = frame.positions[0]
    assert x[-21:, 0].mean() > 0.2, "the free side is downwind of the pole at x = -0.5"
    assert np.ptp(x[:, 1]) > 0.05, "gusts make waves"
    assert frame.certificate.stretch_p99 < 1.03


def test_the_rope_hangs_as_a_catenary(run):
    module, (_, frame), _ = run("rope", 72)
    x = frame.positions[0]
    assert -x[:, 2].min() == pytest.approx(module.catenary_sag(), rel=0.01)
    np.testing.assert_allclose(x[:, 2], x[::-1, 2], atol=1e-3)
    assert np.linalg.norm(np.diff(x, axis=0), axis=1).sum() == pytest.approx(module.LENGTH, rel=1e-3)


def test_the_softer_jelly_is_squeezed_more_and_both_stay_above_the_floor(run):
    _, (_, frame), printed = run("jelly", 12)
    soft, firm = (int(part) for part in re.findall(r"(\d+) %", printed))
    assert soft < firm < 100
    assert min(x[:, 2].min() for x in frame.positions) > 0.0


def test_woven_cloth_keeps_its_length_along_threads_and_is_longer_on_the_bias(run):
    _, _, printed = run("woven", 24)
    side, hanging, diagonal, skewed, piece = numbers(printed)
    assert hanging == pytest.approx(side, rel=0.01)
    assert skewed > 1.05 * diagonal
    assert piece < 1.01


@slow_without_numba
def test_the_skirt_is_closed_and_hangs_around_the_body(run):
    module, (_, frame), printed = run("garment", 16)
    gaps = [gap for _, gap in np.reshape(numbers(printed), (-1, 2))]
    assert gaps[0] > 400.0 and gaps[-1] < 5.0                            # [mm]
    assert frame.certificate.crossings == 0
    x = frame.positions[0]
    assert np.linalg.norm(x - [0.0, 0.0, 0.2], axis=1).min() > 0.99 * module.RADIUS
    assert (x[:len(x) // 2, 1].min() < -0.15) and (x[len(x) // 2:, 1].max() > 0.15), "one panel on each side"


def test_the_fountain_reaches_the_height_of_a_free_throw(run):
    module, (_, frame), _ = run("fountain", 14)
    x = frame.positions[0]
    assert x[:, 2].max() == pytest.approx(0.05 + module.SPEED ** 2 / (2.0 * GRAVITY), rel=0.01)
    assert (x[:, 2] > 0.0).all()
    unborn = module.SECONDS * np.arange(module.COUNT) / (module.COUNT - 1) > frame.time
    np.testing.assert_allclose(x[unborn], np.broadcast_to([0.0, 0.0, 0.05], (unborn.sum(), 3)), atol=1e-12)


def test_no_integrator_gains_energy_and_shorter_steps_and_bdf2_lose_less(run):
    _, runs, printed = run("integrators", 24)
    coarse, fine, bdf2 = (float(part) for part in re.findall(r"lost (-?\d+\.\d+)", printed))
    assert coarse > fine > 0.0
    assert coarse > bdf2 > 0.0
    assert len(runs) == 3


def test_the_certificate_finds_nothing_where_the_audit_of_spoiled_positions_finds_crossings(run):
    _, (_, frame), printed = run("certificate", 12)
    assert frame.certificate.crossings == 0 and frame.certificate.deepest_penetration == 0.0
    crossings, depth = re.search(r"pushed down: (\d+) crossings, (\d+\.\d+) m deep", printed).groups()
    assert int(crossings) > 0
    assert 0.0 < float(depth) <= 0.1
