# SPDX-License-Identifier: GPL-3.0-or-later
"""Text in panels is broken into lines that fit into the region, at every size of the interface."""

from __future__ import annotations

import blf
import pytest

from tests.addon import builders
from tests.addon.drawing import Layout, draw_all
from tests.addon.scripted import crumple, replace_simulation, simulate_as

TEXTS = ("The scene is being read. After that you can go on working",
         "WWWWW MMMMM WWWWW MMMMM WWWWW: self-collision of Anextremelylongnamewithoutaspaceinit_WWWWWWWWWWWW",
         "iiii, illi. (lili) iiii, illi. (lili) iiii, illi. (lili)", "Up to date", "")
SCALES = (1.0, 1.5, 2.0)


def width(text, scale):
    blf.size(0, 11.0 * scale)
    return blf.dimensions(0, text)[0]


@pytest.fixture(params=SCALES)
def scale(extension, monkeypatch, request):
    """Set the size of the interface, and return it."""
    monkeypatch.setattr(extension.wrapped_text, "ui_scale", lambda: request.param)
    return request.param


@pytest.mark.parametrize("region", [120, 158, 300, 700])
def test_lines_fit_into_the_region_and_keep_the_text(extension, scale, region):
    for text in TEXTS:
        layout = Layout()
        extension.panel_layout.paragraph(layout, text, int(region * scale))
        assert "".join("".join(layout.texts).split()) == "".join(text.split())
        assert all(width(line, scale) <= (region - 70.0) * scale for line, _ in layout.labels), layout.labels
        words = text.replace("self-", "self- ").split()
        assert text == TEXTS[1] or set(" ".join(layout.texts).split()) <= set(words), layout.texts


def test_a_wide_region_has_few_lines(extension, scale):
    layout = Layout()
    extension.panel_layout.paragraph(layout, TEXTS[0], int(400 * scale))
    assert len(layout.texts) == 1


def test_a_name_and_its_value_stand_in_one_column_where_two_are_too_narrow(extension, scale):
    for region, wanted in ((300, "99 % of Edges Below 0.602 %"), (158, "99 % of Edges Below: 0.602\u00a0%")):
        layout = Layout()
        extension.panel_layout.name_and_value(layout, "99 % of Edges Below", "0.602 %", int(region * scale), 0.7)
        assert " ".join(text for text in layout.texts if text) == wanted


@pytest.mark.parametrize("region", [158, 250])
def test_no_label_of_a_panel_is_wider_than_the_region(extension, scene, monkeypatch, region):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    scene.muslin.backend = "NUMPY"
    sheet, box = builders.sheet(), builders.box("Box of an exceedingly long name")
    builders.finish(extension.bake.bake(scene))
    box.location.x += 1.0
    sheet.muslin.friction += 0.1
    for obj, kind in ((sheet, "CLOTH"), (sheet, "NONE"), (box, "COLLIDER")):
        obj.muslin.kind = kind
        drawn = draw_all(extension, obj, region)
        wide = [text for text, has_icon in drawn.labels
                if width(text, 1.0) > region - 46.0 - 24.0 * has_icon]
        assert (drawn.labels or obj == box) and not wide, wide
