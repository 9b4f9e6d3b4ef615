# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the table of docs/validation.md, measured with the scenes of the physics tests.

    python -m benchmarks.validation_table

One Markdown row per case: the compared quantity, the largest error, and the tolerance of the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

import numpy as np

import core
from tests.core.physics import (
    test_air_drag,
    test_cantilever,
    test_conservation,
    test_free_fall,
    test_friction,
    test_hanging,
    test_lateral_buckling,
    test_modes,
    test_oscillator,
    test_pendulum,
    test_ruck,
    test_scale,
    test_stick_slip,
    test_tip_load,
    test_whole_sheets,
)
from tests.core.physics.scenes import GRAVITY, masses, reference, run, sheet


def relative(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the largest relative error of pairs (found, exact)."""
    return max(abs(found / wanted - 1.0) for found, wanted in pairs)


def percent(pairs: Iterable[tuple[float, float]]) -> str:
    return f"{100.0 * relative(pairs):.2g} %"


def free_fall() -> str:
    worst = 0.0
    for row in reference("pendulum_integrators")["free_fall"]:
        cloth = core.Cloth(sheet((2, 2), (1.0, 1.0)), test_free_fall.FABRIC)
        solver = core.Solver(frame_rate=round(1.0 / row["h"]), steps_per_frame=1)
        last = run(core.Scene([cloth]), solver, row["steps"])[-1]
        worst = max(worst, np.abs(last.positions[0][:, 2] - row["z"]["implicit_euler"]).max())
    return f"{worst:.1e} m"


def amplification() -> str:
    worst = 0.0
    for row in test_oscillator.ROWS:
        _, product = test_oscillator.roots(test_oscillator.bob(row["frequency_hz"], row["h"], 1))
        worst = max(worst, abs(np.sqrt(product) - row["implicit_euler"]["amplification_per_step"]))
    return f"{worst:.1e}"


def peaks(kind: int | str) -> str:
    def pairs() -> Iterable[tuple[float, float]]:
        for row, case in test_pendulum.CASES:
            if case["h"] > 0.002:
                wanted = np.array(case[test_pendulum.KINDS[kind]])[:3]
                t, angle = test_pendulum.swing(row, case["h"], kind, int((wanted[-1, 0] + 0.05) / case["h"]))
                yield from zip(test_pendulum.maxima(t, angle)[1], wanted[:, 1], strict=False)
    return percent(pairs())


def spin() -> str:
    return percent((test_pendulum.spin(r["omega0"], r["h"], round(1 / r["h"])), r["omega_at_1s"])
                   for r in test_pendulum.TABLE["spin_converged_implicit_euler"])


def momentum() -> str:
    worst = 0.0
    for solver in test_conservation.SOLVERS.values():
        cloth = test_conservation.shaken(sheet((5, 4), (0.5, 0.4)), 1.0, 3)
        frames = run(core.Scene([cloth], gravity=(0, 0, 0)), solver, 12)
        drift = masses(cloth) @ (frames[-1].velocities[0] - cloth.velocities)
        worst = max(worst, np.abs(drift).max() / (masses(cloth) @ np.linalg.norm(cloth.velocities, axis=1)))
    return f"{worst:.1e}"


def drag() -> str:
    def pairs() -> Iterable[tuple[float, float]]:
        for row in test_air_drag.TABLE["drag"]:
            last = test_air_drag.falling(row["sigma"], row["k_d"], 1 / 60, round(60 * row["times"][-1]))[-1]
            yield -last.velocities[0][:, 2].mean(), row["terminal_speed"]
    return percent(pairs())


def strip() -> str:
    def pairs() -> Iterable[tuple[float, float]]:
        for sigma, length, k in test_hanging.STRIPS:
            for diagonals in ("right", "alternating"):
                grown = test_hanging.hanging_strip(sigma, length, k, 20, diagonals)[0]
                yield grown, sigma * GRAVITY * length ** 2 / (2.0 * k)
    return percent(pairs())


def rigid_links() -> str:
    def pairs() -> Iterable[tuple[float, float]]:
        for row in test_hanging.CATENARY["rows"]:
            for n in (8, 16, 32):
                w = row["weight_per_length"]
                sag = test_hanging.hung_rope(row["span"], row["length"], w, 2e4 * w * row["length"], n)[0]
                yield sag, row["discrete_links"][str(n)]["sag"]
    return percent(pairs())


def elastic_rope(which: str) -> str:
    at = {"sag": 0, "horizontal_tension": 1, "end_tension": 2}[which]
    return percent((test_hanging.hung_rope(r["span"], r["length"], r["weight_per_length"], r["EA"], 32)[at],
                    r["elastic"][which]) for r in test_hanging.CATENARY["rows"])


def bridge(number: int, half_cell: float = 0.0) -> str:
    row = test_hanging.BRIDGE["rows"][number]
    errors = [test_hanging.bridge(row, n, half_cell)[0] / row["expected"]["sag"] - 1.0 for n in (10, 20, 40)]
    return ", ".join(f"{100.0 * error:+.2f}" for error in errors) + " %"


def chain() -> str:
    return percent((test_modes.omega_of(test_modes.swinging_chain(row["length"], n, mode, row["gravity"], 40)),
                    row["lumped_omega"][str(n)][mode - 1]) for row, n, mode in test_modes.CHAINS)


def cantilever(cells: int) -> str:
    def pairs() -> Iterable[tuple[float, float]]:
        for gamma in (0.3, 1.0, 3.0, 10.0, 30.0):
            B = 0.2 * GRAVITY * 0.1 ** 3 / gamma
            reach, drop, counts = test_cantilever.clamped_strip(0.1, cells, 0.2, B)
            W, H = test_cantilever.elastica(0.2 * GRAVITY * counts ** 3 / B)
            yield drop / reach, H / W
    return percent(pairs())


def bias(which: int) -> str:
    name = ("force_per_width", "transverse")[which]
    return percent((test_whole_sheets.bias((6, 3), k, s, row["lam"])[which], row[name])
                   for k, s, row in test_whole_sheets.BIAS)


def membrane() -> str:
    return percent(test_modes.membrane(*m, mode) for m in test_modes.MEMBRANES for mode in ((1, 1), (1, 2)))


def beam() -> str:
    return percent(test_modes.beam(*b, mode) for b in test_modes.BEAMS for mode in (1, 2))


def heart() -> str:
    return percent((test_cantilever.heart(row)[0], row["loop_length"]) for row in test_cantilever.HEARTS)


def tip_load(cells: int, length: float) -> str:
    rows = test_tip_load.TABLE["rows"]
    return f"{max(abs(test_tip_load.loaded(row['alpha'], cells, length)[1] - row['H']) for row in rows):.2g}"


def wind() -> str:
    worst = 0.0
    for case in test_air_drag.HUNG:
        angles, wanted = test_air_drag.hung_in_wind(*case, "right")
        worst = max(worst, np.abs(angles - wanted).max())
    return f"{worst:.2g} degrees"


def stop() -> str:
    def pairs() -> Iterable[tuple[float, float]]:
        for mu, v0 in test_friction.STOPS:
            travel = test_friction.on_plane(mu, 0.0, 1 / 60, 1.3 * v0 / (mu * GRAVITY), speed=v0)
            yield travel[-1], test_friction.stopping_distance(mu, v0, 1 / 60)
    return percent(pairs())


def scale() -> str:
    metres, _ = test_scale.draped(1.0, {})
    return f"{max(np.abs(test_scale.draped(2.0 ** p, {})[0] - metres).max() for p in (-10, 10)):.1g}"


def slope() -> str:
    return percent((test_friction.on_plane(r["mu"], r["angle_deg"], 1 / 60, r["time"])[-1],
                    r["implicit_euler_distance"]["h=0.0166667"]) for r in test_friction.TABLE["slope"] if r["slides"])


def stick() -> str:
    worst = max(np.abs(test_friction.on_plane(mu, np.degrees(np.arctan(mu)) - 0.5, 1 / 48, 1.0, heading=30.0)).max()
                for mu in (0.1, 0.3, 0.6, 1.0))
    return f"{1e3 * worst:.1g} mm/s"


def capstan() -> str:
    return percent((test_friction.capstan(mu, wrap), np.exp(mu * np.radians(wrap)))
                   for mu, wrap in test_friction.CAPSTANS)


def ribbon() -> str:
    """Return the steps of 5 % of the weight between which the ribbon buckles."""
    found = []
    for aspect, across in ((0.5, 8), (0.2, 8), (0.1, 4)):
        step = next(step for step in range(-4, 5)
                    if test_lateral_buckling.twisted(aspect, across, 1.0 + step / 20.0) > 0.01)
        found.append(f"{5 * step - 5:+d} to {5 * step:+d} %")
    return ", ".join(found)


def slip() -> str:
    rows = test_stick_slip.TABLE["rows"][3::3]
    return f"{max(abs(test_stick_slip.slips_at(row['T_over_N']) - row['eps']) for row in rows):.2g}"


def ruck(cells: int) -> str:
    return percent((test_ruck.height(row, cells), row["H"]) for row in test_ruck.TABLE["rows"][1:])


CASES: list[tuple[str, Callable[[], str], str]] = [
    ("Free fall, 1 s, default tolerances, against -g h^2 n (n + 1) / 2", free_fall, "1e-10 m"),
    ("Oscillator, 20 rows, amplification per step", amplification, "1e-6"),
    ("Pendulum, peaks, step solved to convergence", lambda: peaks("converge"), "1 %"),
    ("Pendulum, peaks, one linear solve", lambda: peaks(1), "1 %"),
    ("Spinning sheet, speed after 1 s", spin, "0.2 %"),
    ("Momentum of a shaken free sheet, any solver tolerance", momentum, "1e-10"),
    ("Air drag, terminal speed", drag, "0.1 %"),
    ("Sheet hung in wind, angle", wind, "0.5 degrees"),
    ("Hanging strip, elongation, 20 cells", strip, "0.1 %"),
    ("Catenary, sag against as many rigid links", rigid_links, "0.1 %"),
    ("Catenary, elastic, sag with 32 links", lambda: elastic_rope("sag"), "0.5 %"),
    ("Catenary, elastic, tension at the support", lambda: elastic_rope("end_tension"), "1 %"),
    ("Bridge, hammock, sag with 10, 20, 40 cells", lambda: bridge(0), "3, 1.5, 1 %"),
    ("Bridge, taut, sag with 10, 20, 40 cells", lambda: bridge(1), "3, 1.5, 1 %"),
    ("Bridge, stiff and clamped, pinned cell outside", lambda: bridge(2), "3, 1.5, 1 %"),
    ("Bridge, stiff and clamped, by the half-cell rule", lambda: bridge(2, 0.5), "order 2; 1 % at 40"),
    ("Hanging chain, 10 modes", chain, "0.5 %"),
    ("Stretched membrane, 24 cells, two modes", membrane, "0.5 %"),
    ("Weightless cantilever, 40 cells, two modes", beam, "1 %"),
    ("Cantilever, H/W, gamma 0.3 to 30, 10 cells", lambda: cantilever(10), "5 %"),
    ("Cantilever, H/W, gamma 0.3 to 30, 20 cells", lambda: cantilever(20), "3 %"),
    ("Cantilever, H/W, gamma 0.3 to 30, 40 cells", lambda: cantilever(40), "1.5 %"),
    ("Strip with a load at its tip, drop over length, 16 cells", lambda: tip_load(16, 0.2), "0.01"),
    ("Strip with a load at its tip, drop over length, 32 cells", lambda: tip_load(32, 1.5), "0.005"),
    ("Heart loop, 40 cells, length", heart, "2 %"),
    ("Bias extension, force, stretch to 1.3", lambda: bias(0), "1 %"),
    ("Bias extension, width, stretch to 1.3", lambda: bias(1), "1 %"),
    ("1/1024 and 1024 times the size, difference over the size", scale, "0"),
    ("Slope, sliding distance", slope, "2 %"),
    ("Slope, creep half a degree below the threshold", stick, "0.5 mm/s"),
    ("Sheet launched along a floor, stopping distance", stop, "2 %"),
    ("Capstan, tension ratio", capstan, "5 %"),
    ("Strip pressed onto a floor, slip of its tip, way of the clamp over the length", slip, "0.01"),
    ("Ruck in a rug, height, edges of l_g/5", lambda: ruck(5), "5 %"),
    ("Ruck in a rug, height, edges of l_g/10", lambda: ruck(10), "3 %"),
    ("Ribbon on edge, critical weight, width 1/2, 1/5, 1/10 of the length", ribbon, "20 %"),
]


def main() -> None:
    """Print the table."""
    sys.stdout.write("| case | Muslin | tolerance |\n| --- | --- | --- |\n")
    for name, measure, tolerance in CASES:
        sys.stdout.write(f"| {name} | {measure()} | {tolerance} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
