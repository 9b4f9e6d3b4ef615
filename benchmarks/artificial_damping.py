# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the artificial damping of each integrator on an undamped mass on a spring.

    python benchmarks/artificial_damping.py [--picture docs/pictures/artificial_damping.png]

A step of implicit Euler multiplies the amplitude by (1 + h^2 omega^2)^(-1/2) and advances the phase by atan(h omega).
With a = ln(1 + h^2 omega^2) / 2 and b = atan(h omega) the damping ratio is a / sqrt(a^2 + b^2), about h omega / 2 (Choi
and Ko 2005 call it artificial damping). Prints a table of simulated ratios and this formula. With --picture, which
needs matplotlib, the marks are simulated and the line is the formula.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import core
from core.integrators import stability_limit

PHASES = np.geomspace(0.02, 1.5, 12)
"""Phase per step h omega [rad]."""
STEPS = (1 / 24, 1 / 48, 1 / 90, 1 / 240)
"""Steps h [s]; 1/90 is that of Choi and Ko 2005."""
FREQUENCIES = (0.5, 1.0, 2.0, 5.0)
"""Frequencies [Hz]."""
OMEGA = 2.0 * np.pi
AMPLITUDE = 1e-4
"""Initial amplitude over the length of the spring [-]. Small, because with explicit Euler it grows."""


def damping_ratio(name: str, h: float) -> float:
    """Return the damping ratio of a vibration of 1 Hz in steps of h [s], from the linear recursion of its positions."""
    mesh = core.ClothMesh([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]], edges=[[0, 1]])
    width = 0.01
    fabric = core.Material(areal_density=2.0 / width, stretch=OMEGA ** 2 / width, shear=0.0, thread_width=width)
    cloth = core.Cloth(mesh, fabric, pins={0: None}, positions=[[0.0, 0.0, 0.0], [0.0, 0.0, AMPLITUDE - 1.0]])
    solver = core.Solver(integrator=name, frame_rate=1.0 / h, steps_per_frame=1, newton_iterations="converge",
                         tolerance=1e-10, adaptive=False, self_collision=False)
    frames = core.simulate(core.Scene([cloth], gravity=(0, 0, 0)), solver, range(28))
    x = np.array([frame.positions[0][1, 2] + 1.0 for frame in frames])[6:]
    order = 3 if name == "bdf2" else 2                                        # order of the recursion
    A = np.stack([x[order - 1 - i:len(x) - 1 - i] for i in range(order)], axis=1)
    recursion = np.linalg.lstsq(A, x[order:], rcond=1e-9)[0]
    roots = np.roots(np.concatenate([[1.0], -recursion]))
    root = roots[np.argmax(np.abs(roots) - 1e3 * (roots.imag <= 0.0))]
    return float(-np.log(np.abs(root)) / np.abs(np.log(root)))


def formula(phase: np.ndarray) -> np.ndarray:
    """Return the damping ratio of implicit Euler for h omega [rad]."""
    decay, advance = 0.5 * np.log1p(phase ** 2), np.arctan(phase)
    ratio: np.ndarray = decay / np.hypot(decay, advance)
    return ratio


def remaining_amplitude(frequency: float, h: float, seconds: float = 1.0) -> float:
    """Return the amplitude after a time over the initial one, with implicit Euler."""
    return float((1.0 + (2.0 * np.pi * frequency * h) ** 2) ** (-0.5 * seconds / h))


def study() -> dict[str, list[float]]:
    """Return the damping ratios at PHASES by integrator."""
    with mock.patch.object(stability_limit, "MAX_EULER_GROWTH", 1e9):         # let the amplitude of explicit Euler grow
        return {name: [damping_ratio(name, phase / OMEGA) for phase in PHASES] for name in core.integrators()}


def draw(found: dict[str, list[float]], path: Path) -> None:
    """Draw the damping ratios, and the remaining amplitude with implicit Euler."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (ratios, amplitudes) = pyplot.subplots(1, 2, figsize=(10.0, 3.8))
    fine = np.geomspace(PHASES[0], PHASES[-1], 200)
    ratios.plot(fine, formula(fine), "k-", lw=1, label="implicit Euler, formula")
    styles = dict(zip(found, ("o", "^", "s", "v", "x", "+"), strict=False))
    for name, values in found.items():
        ratios.plot(PHASES, values, styles[name], label=name, markersize=5,
                    fillstyle="none" if name == "projective_dynamics" else "full")
    ratios.set(xscale="log", xlabel="h omega", ylabel="damping ratio", title="Artificial damping")
    ratios.legend(fontsize=7)
    h = np.geomspace(1 / 500, 1 / 15, 200)
    for frequency in FREQUENCIES:
        amplitudes.plot(1e3 * h, [remaining_amplitude(frequency, one) for one in h], label=f"{frequency:g} Hz")
    for one in STEPS:
        amplitudes.axvline(1e3 * one, color="0.8", lw=0.8)
        amplitudes.text(1e3 * one, 1.02, f"1/{round(1 / one)}", fontsize=7, ha="center")
    amplitudes.set(xscale="log", xlabel="step [ms]", ylabel="amplitude left after 1 s", ylim=(0.0, 1.1),
                   title="Implicit Euler")
    amplitudes.set_xticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
    amplitudes.minorticks_off()
    amplitudes.legend(fontsize=7, title="vibration")
    for panel in (ratios, amplitudes):
        panel.grid(True, which="both", alpha=0.2)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and draw the chart if --picture is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="file for the chart")
    picture = parser.parse_args(arguments).picture
    found = study()
    print("h omega  formula  " + "  ".join(found))
    for i, phase in enumerate(PHASES):
        print(f"{phase:7.3f}  {formula(phase):7.4f}  "
              + "  ".join(f"{values[i]:{len(name)}.4f}" for name, values in found.items()))
    print("\nremaining amplitude after 1 s, implicit Euler")
    print("   Hz  " + "  ".join(f"h=1/{round(1 / h)}" for h in STEPS))
    for frequency in FREQUENCIES:
        print(f"{frequency:5.1f}  " + "  ".join(f"{remaining_amplitude(frequency, h):6.2f}" for h in STEPS))
    if picture:
        draw(found, picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
