# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact sheet of several bakes: one HTML page with a picture of the last frame, figures and curves of each."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..bake.bake import frame_kept
from ..compare import comparison_folder, comparison_sheet, snapshot
from ..compare.records import Shot, Variant
from ..properties.settings import metres_per_unit
from ..write import output_paths

NO_VALUE = comparison_sheet.NO_VALUE
STYLE = ".bakes figure { width: 240px; vertical-align: top; }"


@dataclass(frozen=True)
class Picture:
    """A frame of a bake before it is drawn: its meshes [m]."""

    frame: int
    cloths: list[snapshot.DrawnMesh]
    colliders: list[snapshot.DrawnMesh]


@dataclass(frozen=True)
class Row:
    """One bake of the sheet.

    Attributes:
        title: name for the user.
        report: the report of the bake.
        seconds: that it took [s].
        error: why it failed, empty if it did not.
        picture: its last frame, None without one.
        shot: rows with the same text are drawn in one view.
    """

    title: str
    report: dict[str, Any]
    seconds: float
    error: str
    picture: Picture | None
    shot: str


COLUMNS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("frames", lambda report: f"{report['first']} to {report['last']}"),
    ("stretch p99", lambda report: _figure(report, "stretch_p99", "{:.4f}")),
    ("stretch max", lambda report: _figure(report, "stretch_max", "{:.4f}")),
    ("crossings", lambda report: _figure(report, "crossings", "{:.0f}")),
    ("deepest [mm]", lambda report: _figure(report, "deepest_penetration", "{:.2f}", 1e3)),
    ("frames not solved", lambda report: _figure(report, "not_converged", "{:.0f}")),
    ("steps", lambda report: _figure(report, "steps", "{:.0f}")),
    ("computed by", lambda report: str(report["backend"])),
)
"""Titles of the columns, and functions of a report that return their text."""


def picture_of(scene: bpy.types.Scene, report: dict[str, Any]) -> Picture:
    """Return the last frame of a bake of the open scene."""
    with frame_kept(scene):
        scene.frame_set(report["last"])
        depsgraph = bpy.context.evaluated_depsgraph_get()
        unit = metres_per_unit(scene)
        cloths = [_mesh(scene.objects[name], depsgraph, unit) for name in report["cloths"]]
        colliders = [_mesh(scene.objects[name], depsgraph, unit, snapshot.COLLIDER_COLOUR)
                     for name in report["colliders"] if name in scene.objects]
    return Picture(report["last"], cloths, colliders)


def _mesh(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, unit: float,
          colour: tuple[float, float, float] = snapshot.CLOTH_COLOUR) -> snapshot.DrawnMesh:
    """Return an object as it is displayed."""
    evaluated: Any = obj.evaluated_get(depsgraph)
    mesh: Any = evaluated.to_mesh()
    try:
        mesh.calc_loop_triangles()
        positions = _array(mesh.vertices, "co", 3, np.float32).astype(np.float64)
        matrix = np.array(evaluated.matrix_world, dtype=np.float64)
        triangles = _array(mesh.loop_triangles, "vertices", 3, np.int32)
        edges = _array(mesh.edges, "vertices", 2, np.int32)
        loose = edges[_array(mesh.edges, "is_loose", 1, np.bool_)[:, 0]]
    finally:
        evaluated.to_mesh_clear()
    points = np.setdiff1d(np.arange(len(positions)), np.union1d(edges.ravel(), triangles.ravel()))
    return snapshot.DrawnMesh(unit * (positions @ matrix[:3, :3].T + matrix[:3, 3]), triangles, loose, points, colour)


def _array(items: Any, name: str, size: int, kind: Any) -> NDArray[Any]:
    """Return an attribute of all items as an array (N, size)."""
    found = np.empty(len(items) * size, kind)
    items.foreach_get(name, found)
    return found.reshape(-1, size)


def write(path: Path, rows: Sequence[Row]) -> None:
    """Draw the pictures and write the sheet; without pictures where Blender cannot render.

    Raises:
        OSError: it cannot be written.
    """
    images: dict[int, str] = {}
    with tempfile.TemporaryDirectory(prefix="muslin-") as folder:
        for shot in dict.fromkeys(row.shot for row in rows):
            drawn = {number: _shot(row) for number, row in enumerate(rows)
                     if row.shot == shot and row.picture is not None and row.picture.cloths}
            if not drawn:
                continue
            view = comparison_folder.view_of(list(drawn.values()), set())
            for number, one in drawn.items():
                picture = Path(folder) / f"{number}.png"
                with suppress(RuntimeError, FileNotFoundError):
                    snapshot.draw(one.cloths + one.colliders, view, picture)
                    images[number] = base64.b64encode(picture.read_bytes()).decode()
    output_paths.write_text(output_paths.target_of(path), html(rows, images))


def _shot(row: Row) -> Shot:
    """Return the picture of a row as one of a comparison."""
    picture: Any = row.picture
    return Shot(Variant(row.title, ""), picture.frame, picture.cloths, picture.colliders,
                np.concatenate([mesh.positions for mesh in picture.cloths]))


def html(rows: Sequence[Row], images: dict[int, str]) -> str:
    """Return the page. `images` are PNG files in base64, by the number of the row."""
    good = [row for row in rows if not row.error]
    parts = ["<!doctype html><html lang='en'><meta charset='utf-8'><title>Muslin: bakes</title>",
             f"<style>{comparison_sheet.STYLE}{STYLE}</style><h1>{len(rows)} bakes</h1>", _table(rows),
             "<div class='bakes'>",
             *(_figure_of(row, images.get(number)) for number, row in enumerate(rows)), "</div>"]
    if good:
        legend = "".join(f"<span>{comparison_sheet.legend_line(number)} {escape(row.title)}</span>"
                         for number, row in enumerate(good))
        first = good[0].report["first"] if len({row.report["first"] for row in good}) == 1 else 0
        parts += [f"<p class='runs'>{legend}</p>",
                  *(comparison_sheet.curves_over_frames(title, first, [
                      [frame.get(name) or 0.0 for frame in row.report["certificates"]] for row in good])
                    for name, title in (("stretch_p99", "Stretch, 99th percentile"), ("crossings", "Crossings")))]
    return "\n".join(parts) + "\n</html>\n"


def _table(rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{name}</th>" for name, _ in COLUMNS)
    lines = []
    for row in rows:
        figures = [NO_VALUE if row.error else value(row.report) for _, value in COLUMNS]
        lines.append(f"<tr><td>{escape(row.title)}</td><td>{row.seconds:.1f}</td>"
                     + "".join(f"<td>{escape(figure)}</td>" for figure in figures) + "</tr>")
        if row.error:
            lines.append(f"<tr><td class='error' colspan='{len(COLUMNS) + 2}'>{escape(row.error)}</td></tr>")
    return f"<table><tr><th>bake</th><th>seconds</th>{head}</tr>{''.join(lines)}</table>"


def _figure_of(row: Row, image: str | None) -> str:
    """Return the figure of a bake."""
    title = escape(row.title)
    if row.error:
        return f"<figure><p class='error'>failed</p><figcaption>{title}</figcaption></figure>"
    picture = f"<img alt='{title}' src='data:image/png;base64,{image}'>" if image else ""
    return (f"<figure>{picture}<figcaption>{title}</figcaption>stretch {_figure(row.report, 'stretch_p99', '{:.3f}')}, "
            f"{_figure(row.report, 'crossings', '{:.0f}')} crossings, frame {row.report['last']}</figure>")


def _figure(report: dict[str, Any], name: str, form: str, factor: float = 1.0) -> str:
    value = report["summary"].get(name)
    return NO_VALUE if value is None else form.format(factor * value)
