# SPDX-License-Identifier: GPL-3.0-or-later
"""The Quality panel and the bar of the timeline: what they show of a bake, and the button to a frame."""

from __future__ import annotations

import math
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all


def certificates(count: int, **values):
    """Return certificates whose figures are functions of the index of the frame."""
    return [{name: value(i) if callable(value) else value for name, value in values.items()} for i in range(count)]


@pytest.fixture
def made(extension):
    """Return a function that makes statistics of given figures."""
    return lambda count=5, first=1, **values: extension.bake_statistics.Statistics(first, certificates(count, **values))


@pytest.fixture
def sheet(extension, scene):
    """Return a baked sheet of 5 x 5 vertices."""
    scene.muslin.backend = "NUMPY"
    sheet = builders.sheet()
    builders.finish(extension.bake.bake(scene))
    return sheet


def delete(extension, scene, sheet):
    """Delete the bake and all takes of a cloth."""
    extension.shape_keys.delete_bake(sheet)
    for take in extension.takes.of_object(scene, sheet, now=True):
        extension.takes.delete(take)


def texts_of(extension, sheet, statistics, monkeypatch, chart="STRETCH"):
    monkeypatch.setattr(extension.quality_panel, "statistics_of", lambda obj: statistics)
    bpy.context.window_manager.muslin_curve = chart
    return draw_all(extension, sheet).texts


def test_statistics_of_a_bake_are_those_of_its_report(extension, scene, sheet):
    report = extension.baked_record.report_of(sheet)
    statistics = extension.bake_statistics.statistics_of(sheet)
    assert (statistics.first, statistics.last) == (1, 4) and statistics.total_seconds == report["seconds"]["total"]
    assert list(statistics.values("stretch_max")) == [frame["stretch_max"] for frame in report["certificates"]]
    assert statistics.values("seconds")[1] == pytest.approx(sum(report["certificates"][1]["seconds"].values()))
    assert statistics.memory == 12 * 25 * 4 and statistics.disk == extension.takes.in_use(sheet).size > 0
    assert extension.bake_statistics.statistics_of(sheet) is statistics
    delete(extension, scene, sheet)
    assert extension.bake_statistics.statistics_of(sheet) is None


def test_a_take_without_a_bake_has_statistics_and_a_bar(extension, scene, sheet):
    of_bake = extension.bake_statistics.statistics_of(sheet)
    extension.shape_keys.delete_bake(sheet)
    extension.takes.forget()
    statistics, bar = extension.bake_statistics.statistics_of(sheet), extension.timeline_bar
    assert (statistics.first, statistics.last, statistics.memory) == (1, 4, None) and statistics.disk == of_bake.disk
    assert np.array_equal(statistics.values("stretch_max"), of_bake.values("stretch_max"))
    assert extension.bake_statistics.statistics_of(sheet) is statistics
    assert bar.baked_frames(sheet) == [(1, 4, bar.PARTIAL)]
    take = extension.takes.unused(scene, sheet)
    (take.folder / "frames.muslin").write_bytes(b"damaged")
    extension.takes.forget()
    assert extension.bake_statistics.statistics_of(sheet) is None and bar.baked_frames(sheet) == []


def test_curves_and_bar_grow_with_a_bake_beside_the_window(extension, scene, sheet, monkeypatch):
    session, bar, statistics_of = extension.session, extension.timeline_bar, extension.bake_statistics.statistics_of
    bake = SimpleNamespace(certificates=[], first=3)
    monkeypatch.setattr(session, "running", lambda: bake)
    monkeypatch.setattr(session, "is_of", lambda obj: obj == sheet)
    assert statistics_of(sheet).last == 4 and bar.baked_frames(sheet) == [(1, 4, bar.BAKED)]
    for count in (1, 2, 5):                                         # two frames of pre-roll before frame 3
        bake.certificates = [{"frame": i, "stretch_max": 1.0 + i} for i in range(1, 1 + count)]
        found = statistics_of(sheet)
        assert (found is None) == (count < 3) and statistics_of(sheet) is found
        assert bar.baked_frames(sheet)[-1] == (1, count, bar.PARTIAL)
    assert (found.first, found.last) == (3, 5) and list(found.values("stretch_max")) == [4.0, 5.0, 6.0]


def test_values_of_any_type_are_numbers_or_missing(made):
    values = [1, 2.5, None, "x", True, float("nan"), float("inf"), 10 ** 400, 1e200, [1], {"a": 1.0}]
    found = made(len(values), steps=values.__getitem__).values("steps")
    assert list(found[:2]) == [1.0, 2.5] and np.isnan(found[2:]).all()
    seconds = [0.5, {"solve": 1.0, "contact": 0.25}, {}, {"solve": "x"}, None]
    assert made(5, seconds=seconds.__getitem__).values("seconds") == pytest.approx([0.5, 1.25, 0, math.nan, math.nan],
                                                                                  nan_ok=True)
    assert np.isnan(made(3).values("unknown")).all() and made(3).worst("unknown") is None


def test_the_worst_frames_are_named_with_their_values(extension, made):
    statistics = made(60, first=11, stretch_max=lambda i: 1.052 if i == 23 else 1.001,
                      crossings=lambda i: 3 * (i == 1), crossings_pinched=lambda i: 40 * (i == 2),
                      deepest_penetration=0.0,
                      steps=lambda i: 8 if i == 30 else 2, seconds=lambda i: {"a": 1.6, "b": 0.5} if i == 46 else 0.1)
    assert extension.quality_panel.worst_frames(statistics) == [
        ("Most stretch: frame 34 (5.2 %)", 34), ("Most crossings: frame 12 (3)", 12),
        ("Most crossings of pinched cloth: frame 13 (40)", 13),
        ("Most steps: frame 41 (8)", 41), ("Slowest: frame 57 (2.1 s)", 57)]
    calm = made(4, stretch_max=1.0, crossings=0, deepest_penetration=0.0, steps=lambda i: 2 * (i > 0))
    assert extension.quality_panel.worst_frames(calm) == []
    deep = made(4, deepest_penetration=lambda i: 0.002 * i)
    assert extension.quality_panel.worst_frames(deep) == [("Deepest: frame 4 (6 mm)", 4)]


def test_times_and_sizes_are_shown_where_they_are_known(extension):
    statistics = extension.bake_statistics.Statistics(
        1, certificates(3, seconds=lambda i: 0.25 * (i > 0)), 75.0, 31_000_000, 2_500)
    assert extension.quality_panel.costs(statistics) == [
        ("Seconds per Frame", "0.25 s"), ("Total Time", "1 min 15 s"), ("Shape Keys", "31 MB"), ("On Disk", "2.5 kB")]
    assert extension.quality_panel.costs(extension.bake_statistics.Statistics(1, [{}])) == []
    assert [extension.quality_panel.size_text(size) for size in (0, 999, 1e3, 2.34e9)] == [
        "0 bytes", "999 bytes", "1 kB", "2.34 GB"]


def test_the_panel_draws_every_curve_of_a_bake(extension, scene, sheet):
    for chart in extension.quality_panel.CHARTS:
        bpy.context.window_manager.muslin_curve = chart
        drawn = draw_all(extension, sheet)
        assert "a picture" in drawn.texts or "No frame has this figure" in drawn.texts
        assert "muslin_curve" in drawn.props and "muslin.frame_go" in drawn.operators
    delete(extension, scene, sheet)
    assert "muslin_curve" not in draw_all(extension, sheet).props


@pytest.mark.parametrize("count", [1, 2, 10000])
def test_the_panel_names_the_limits_the_frames_and_the_value_at_the_current_frame(extension, scene, sheet, made,
                                                                                 monkeypatch, count):
    statistics = made(count, first=1, stretch_max=1.034, stretch_p99=1.01)
    scene.frame_set(1)
    texts = texts_of(extension, sheet, statistics, monkeypatch)
    assert {"Largest: 3.4 % at frame 1", "99 % of Edges: 1 % at frame 1", "4 %", "0 %", "1"} <= {*texts}
    assert (str(count) in texts)
    scene.frame_set(20000)
    assert {"Largest", "99 % of Edges"} <= {*texts_of(extension, sheet, statistics, monkeypatch)}


def test_strange_figures_and_frames_are_drawn(extension, scene, sheet, made, monkeypatch):
    strange = (None, "x", 1e99, -1e99, 5e-324, 10 ** 400, math.nan, {"a": 1e99}, 0, -1)
    rng = np.random.default_rng(3)
    for first in (-2 ** 31, 2 ** 31 - 1, 0):
        for _ in range(20):
            names = ("stretch_max", "stretch_p99", "crossings", "smallest_gap", "deepest_penetration", "steps",
                     "rejected", "seconds")
            statistics = extension.bake_statistics.Statistics(
                first, [{name: strange[rng.integers(len(strange))] for name in names} for _ in range(4)], 1e99)
            for chart in extension.quality_panel.CHARTS:
                texts_of(extension, sheet, statistics, monkeypatch, chart)


def test_the_picture_is_made_again_only_after_a_change(extension, scene, sheet, made, monkeypatch):
    made_of, marked = [], []
    icons = extension.curve_icons
    for name, calls in (("curve_image", made_of), ("with_marker", marked)):
        function = getattr(icons, name)
        monkeypatch.setattr(icons, name, lambda *args, f=function, c=calls: c.append(1) or f(*args))
    statistics = made(5, stretch_max=1.01, crossings=1)

    def drawn(chart="STRETCH", of=statistics):
        texts_of(extension, sheet, of, monkeypatch, chart)
        return len(made_of), len(marked)

    scene.frame_set(2)
    assert drawn() == (1, 1) == drawn()
    scene.frame_set(3)
    assert drawn() == (1, 2) == drawn()
    assert drawn("CROSSINGS") == (2, 3)
    grown = made(6, stretch_max=1.01, crossings=1)
    assert drawn("CROSSINGS", grown) == (3, 4) == drawn("CROSSINGS", grown)
    scene.frame_set(90)
    drawn("CROSSINGS", grown)
    assert (len(made_of), len(marked)) == (3, 4)                   # outside of the bake there is no marker


def test_the_button_goes_to_its_frame(extension, scene):
    assert bpy.ops.muslin.frame_go(frame=34) == {"FINISHED"} and scene.frame_current == 34
    assert bpy.ops.muslin.frame_go(frame=-5) == {"FINISHED"} and scene.frame_current == -5


def test_the_icons_are_freed_at_the_end(extension, scene, sheet):
    panel = extension.quality_panel
    draw_all(extension, sheet)
    assert len(panel._made) == 1
    panel.detach()
    try:
        assert panel._made == [] and not hasattr(bpy.types.WindowManager, panel.PROPERTY)
    finally:
        panel.attach()
    draw_all(extension, sheet)


# ---------------------------------------------------------------------- the bar of the timeline


def test_the_bar_has_the_baked_frames_and_says_what_is_out_of_date(extension, scene, sheet):
    bar = extension.timeline_bar
    assert bar.baked_frames(sheet) == [(1, 4, bar.BAKED)]
    sheet.muslin.friction += 0.1
    assert bar.baked_frames(sheet) == [(1, 4, bar.OUTDATED)]
    sheet.muslin.friction -= 0.1
    sheet.shape_key_remove(sheet.data.shape_keys.key_blocks["Muslin 0003"])
    assert bar.baked_frames(sheet) == [(1, 4, bar.OUTDATED)]
    delete(extension, scene, sheet)
    assert bar.baked_frames(sheet) == []


def test_the_bar_grows_while_a_bake_runs(extension, scene):
    bar, sheet, other = extension.timeline_bar, builders.sheet(), builders.sheet(name="Other", height=2.0)
    scene.muslin.backend = "NUMPY"
    job = extension.bake_job.begin(extension.bake.bake(scene, [sheet]))
    seen = []
    try:
        while not job.advance(idle=True):
            seen += [span for span in bar.baked_frames(sheet) if span not in seen]
            assert bar.baked_frames(other) == []
    finally:
        extension.bake_job.end()
    assert bar.baked_frames(sheet) == [(1, 4, bar.BAKED)]
    assert all(state == bar.PARTIAL and first == 1 and last < 5 for first, last, state in seen)


def test_frames_outside_of_the_editor_are_not_drawn(extension):
    bar = extension.timeline_bar
    spans = [(1, 4, bar.BAKED), (6, 6, bar.PARTIAL), (90, 99, bar.BAKED), (-9, -5, bar.OUTDATED)]
    assert bar.rectangles(spans, lambda frame: 10.0 * frame, 62.0) == [
        (5.0, 45.0, bar.BAKED), (55.0, 62.0, bar.PARTIAL)]


def test_the_bar_is_drawn_for_cloth_where_the_editor_shows_caches(extension, sheet):
    shown = extension.timeline_bar.is_shown
    space = SimpleNamespace(show_cache=True, cache_cloth=True)
    assert shown(space, sheet) and not shown(space, None)
    assert not shown(SimpleNamespace(show_cache=False, cache_cloth=True), sheet)
    assert not shown(SimpleNamespace(show_cache=True, cache_cloth=False), sheet)
    sheet.muslin.kind = "NONE"
    assert not shown(space, sheet)


def test_nothing_is_registered_for_drawing_without_a_window(extension):
    assert extension.timeline_bar._drawing == []


def test_every_panel_of_the_extension_is_registered(extension):
    modules = [module for module in vars(extension).values() if hasattr(module, "classes")]
    panels = {cls for module in modules for cls in vars(module).values()
              if isinstance(cls, type) and issubclass(cls, bpy.types.Panel)}
    assert len(panels) > 12 and not [cls for cls in panels if not cls.is_registered]
