# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `muslin drape`: fabrics in the drape meter, and bending stiffness out of laboratory values. No Blender.

    blender --background --command muslin drape --fabric cotton --picture cotton.svg
    python MUSLIN_CHECKOUT drape --fabric cotton silk --json drape.json
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..description.material import Material
from ..errors import ClothError, MaterialError
from ..number_text import number_text
from .bending_length import bending_length, bending_stiffness
from .drape_curve import stiffness_of_coefficient
from .drape_meter import Drape, DrapeMeter, drape
from .drape_picture import svg
from .path_option import path_option

DESCRIPTION = """\
Hangs fabrics in a drape meter (Cusick 1968, BS 5058, ISO 9073-9), and prints the drape coefficient and the number of
nodes of each. --bending-length (ASTM D1388) or --coefficient gives the fabrics the bending stiffness that such a
measurement means.
"""


def parser(prog: str = "muslin drape") -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = argparse.ArgumentParser(prog=prog, description=DESCRIPTION,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--fabric", nargs="+", required=True, metavar="NAME",
                      help=f"presets, or .toml files of fabrics: {', '.join(Material.presets())}")
    made.add_argument("--diameter", type=float, default=30.0, metavar="CM",
                      help="diameter of the specimen: 30, 24 for limp fabrics, 36 for stiff ones")
    made.add_argument("--plate", type=float, default=18.0, metavar="CM", help="diameter of the plates: 18")
    made.add_argument("--rings", type=int, default=12, metavar="N", help="rows of cells that hang over")
    made.add_argument("--grain", type=float, default=0.0, metavar="DEGREES", help="angle of the warp")
    made.add_argument("--seed", type=int, default=0, metavar="N", help="of the ripple at the start")
    made.add_argument("--bending-length", type=float, metavar="CM", help="measured by ASTM D1388: B = sigma g c^3")
    made.add_argument("--coefficient", type=float, metavar="PERCENT",
                      help="measured drape coefficient, from which the bending stiffness is found")
    made.add_argument("--backend", choices=("numpy", "numba"),
                      help="backend of the inner loops; the fastest without it")
    made.add_argument("--picture", metavar="OUT.svg", type=path_option, help="draw the shadow of the last fabric here")
    made.add_argument("--json", metavar="REPORT", dest="report", type=path_option, help="write the figures here")
    return made


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code: 0 done, 1 a fabric was not measured, 2 wrong usage."""
    try:
        arguments = parser().parse_args([str(argument) for argument in argv])
    except SystemExit as error:                                     # argparse has printed its help or the reason
        return 2 if error.code else 0
    report: dict[str, Any] = {"drape": []}
    try:
        _run(arguments, report["drape"])
        code = 0
    except (ClothError, OSError) as error:
        print(f"muslin: {error}", file=sys.stderr)
        report["error"] = {"type": type(error).__name__, "message": str(error)}
        code = 1
    if arguments.report:
        try:
            Path(arguments.report).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            print(f"muslin: the report could not be written: {error}", file=sys.stderr)
            code = 1
    return code


def _run(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    """Measure each fabric, print a line for it, and add it to `rows`."""
    meter = DrapeMeter(arguments.diameter / 100.0, arguments.plate / 100.0, arguments.rings,
                       math.radians(arguments.grain), arguments.seed)
    for name in arguments.fabric:
        fabric = _with_stiffness(Material.load(name) if name.endswith(".toml") else Material.preset(name), arguments,
                                 meter)
        found = drape(fabric, meter, backend=arguments.backend)
        rows.append(_row(fabric, found))
        rest = "" if found.is_at_rest else f", still moving at {1e3 * found.speed:.1f} mm/s after {found.time:.0f} s"
        print(f"{fabric.name}: drape coefficient {100.0 * found.coefficient:.1f} %, {found.nodes} nodes, bending "
              f"{number_text(1e6 * fabric.bend[0], 3)} and {number_text(1e6 * fabric.bend[1], 3)} uN m{rest}")
        if arguments.picture:
            Path(arguments.picture).write_text(svg(found, fabric.name), encoding="utf-8")


def _with_stiffness(fabric: Material, arguments: argparse.Namespace, meter: DrapeMeter) -> Material:
    """Return the fabric with the bending stiffness that a measured value means, if one is given."""
    if arguments.bending_length is not None and arguments.coefficient is not None:
        raise MaterialError("--bending-length and --coefficient both give the bending stiffness; give one of them")
    sigma = fabric.areal_density
    if arguments.bending_length is not None:
        bend = bending_stiffness(sigma, arguments.bending_length / 100.0)
    elif arguments.coefficient is not None:
        bend = stiffness_of_coefficient(sigma, arguments.coefficient / 100.0, meter)
    else:
        return fabric
    return replace(fabric, bend=(bend, bend))


def _row(fabric: Material, found: Drape) -> dict[str, Any]:
    """Return the figures of one fabric, in SI."""
    meter = found.meter
    return {"fabric": fabric.name, "coefficient": found.coefficient, "nodes": found.nodes, "bend": list(fabric.bend),
            "bending_length": [bending_length(fabric.areal_density, b) if b > 0.0 else 0.0 for b in fabric.bend],
            "areal_density": fabric.areal_density, "diameter": meter.diameter, "plate": meter.plate,
            "rings": meter.rings, "seed": meter.seed, "at_rest": found.is_at_rest, "time": found.time,
            "speed": found.speed}
