# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse steps whose result is no cloth any more, with an error that names what is out of proportion and what to do."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray
from ..description.settings import Solver
from ..errors import SolverError
from ..integrators import registry, stability_limit
from ..integrators.post_step import StepResult
from ..model.particle_system import ParticleSystem
from ..number_text import number_text
from ..state import State
from .step_halving import StepHalving

THICK_EDGES = 100.0
"""Thickness above which it is named as the cause of a failed step, over the longest edge [-]."""
OUT_OF_PROPORTION = 1e-4
"""Length of an edge, over the mean, and width of a cloth, over a collider's, below which they are named as the cause of
a failed step [-]."""
COLLAPSED_LENGTH = 1e-3
"""Length of an edge, over its rest length, below which it is named as the cause of a failed step [-]. Cloth is refused
where coordinates are rounded by more than this part of an edge."""


class StepRefusals:
    """The refusals of one simulation.

    Args:
        system: the particle system that is simulated.
        settings: of the simulation.
        halving: says which results grow without bound.
        whole: length of the longest step [ticks].
    """

    def __init__(self, system: ParticleSystem, settings: Solver, halving: StepHalving, whole: int) -> None:
        self._system, self._settings, self._halving, self._whole = system, settings, halving, whole
        self._finest = float(system.rest_lengths.min(initial=np.inf))

    def too_much_work(self, state: State, frame: int, steps: int, spent: float, last: float) -> SolverError:
        """Return the error of a frame that comes to `state` in so many steps, of an effort `spent`, above the `last`
        one that it may have [-]."""
        other = f", or take {stability_limit.IMPLICIT}" if self._settings.integrator in registry.LONGEST_STEP else ""
        return SolverError(
            f"frame {frame} takes more than {steps} steps, which are {spent:.0f} units of work, and {last:.0f} "
            f"or more are too much; check this first: {self._remedy(state, state.time)}{other}",
            object_name=self._whose(state))

    def check(self, state: State, result: StepResult, grown: float, h: float, size: int, frame: int) -> None:
        """Raise a SolverError if the result of a step cannot be accepted.

        Args:
            state: before the step. grown: stretch that it adds to most edges [-].
            h, size: its length [s], [ticks].
            frame: that it belongs to.
        """
        times = (self._whole // size).bit_length() - 1
        halved = f", {times} times halved" if times else ""
        step = f"the step at {state.time:.4f} s (frame {frame})"
        if not result.finite:
            raise SolverError(
                f"{step} has no finite solution even at {number_text(h, 3)} s{halved}; check this first: "
                f"{self._remedy(state, state.time + h)}{self._shortest(state)}",
                object_name=self._whose(result.state))
        self._check_rounding(result.state, frame)
        if not self._halving.runs_away(state, result, grown):
            return
        leaps = self._halving.leaps(state, result, grown)
        longer = self._halving.added_strain(state, result) if leaps else self._halving.elongation(result)
        edge = int(np.argmax(longer))
        how = "grows" if leaps else "has grown"
        name, ends = self._system.edge_named(edge)
        raise SolverError(
            f"{step} runs away even at {number_text(h, 3)} s{halved}: edge {ends} {how} by "
            f"{number_text(longer[edge], 3)} times its length; check this first: "
            f"{self._remedy(state, state.time + h)}{self._shortest(state)}", object_name=name)

    def _check_rounding(self, state: State, frame: int) -> None:
        """Raise a SolverError if cloth is so far from the origin that its coordinates are too coarse for its edges."""
        rest = self._system.rest_lengths
        if np.spacing(np.abs(state.x).max(initial=0.0)) <= COLLAPSED_LENGTH * self._finest:
            return
        rounding = np.spacing(np.abs(state.x).max(axis=1))[self._system.edges].max(axis=1)
        coarse: BoolArray = rounding > COLLAPSED_LENGTH * rest
        if not coarse.any():
            return
        edge = int(np.argmax(rounding / rest))
        name, ends = self._system.edge_named(edge)
        far = np.abs(state.x[self._system.edges[edge]]).max()
        raise SolverError(
            f"in frame {frame} edge {ends} of {name} is {number_text(far, 2)} m from the origin, where numbers are "
            f"{number_text(rounding[edge], 2)} m apart, too coarse for its length of {number_text(rest[edge], 2)} m: "
            "keep the cloth nearer to the origin, lower what accelerates it (gravity, force fields), or let something "
            "hold it",
            object_name=name)

    def _whose(self, state: State) -> str | None:
        """Return the name of the only cloth, or of the only one whose state has values that are not finite."""
        cloths = self._system.scene.cloths
        lost = [cloth.name for cloth, span in zip(cloths, self._system.slices, strict=True)
                if not (np.isfinite(state.x[span]).all() and np.isfinite(state.v[span]).all())]
        names = lost or [cloth.name for cloth in cloths]
        return names[0] if len(names) == 1 else None

    def _remedy(self, state: State, end: float) -> str:
        """Return the message part that names what is out of proportion in a step to `end` [s], and what to do."""
        system = self._system
        edges = system.rest_lengths
        mean = float(edges.mean()) if len(edges) else 0.0
        thick, whose = float(system.thickness.max(initial=0.0)), ""
        for collider in system.scene.colliders:
            if collider.thickness > thick:
                thick, whose = collider.thickness, f" of {collider.name}"
        if len(edges) and thick > THICK_EDGES * edges.max():
            return (f"the thickness{whose} of {number_text(thick, 2)} m is far above the longest edge of "
                    f"{number_text(edges.max(), 2)} m: lower the thickness, or check the unit scale")
        if len(edges) and edges.min() < OUT_OF_PROPORTION * mean:
            name, ends = system.edge_named(int(np.argmin(edges)))
            return (f"edge {ends} of {name} is {number_text(edges.min(), 2)} m long, others {number_text(mean, 2)} m "
                    "on average: merge its vertices (Merge by Distance), or make the mesh even")
        held, at = system.end_positions(state, end - state.time)
        far = np.linalg.norm(at - state.x[held], axis=1)
        if len(held) and len(edges) and far.max() > edges.max():
            i = int(held[np.argmax(far)])
            return (f"the pin of vertex {i} has moved {number_text(far.max(), 2)} m at once: let it move over more "
                    "frames, or raise steps_per_frame")
        tiny = self._tiny(state)
        if system.pressure is not None:
            return (f"{tiny}lower the pressure, which the fabric does not hold, raise the stiffness of the fabric, or "
                    "give a target volume, so that the pressure falls as the cloth expands")
        ways = (f"{tiny}raise steps_per_frame, lower the stiffness of the fabric, and start from a mesh that does not "
                "cross itself")
        if system.scene.colliders:
            ways += ", make colliders move more slowly, and keep room for the cloth between them"
        return ways

    def _tiny(self, state: State) -> str:
        """Return the message part that names a cloth which is tiny beside a collider, or nothing."""
        system = self._system
        widths = [float(np.ptp(state.x[span], axis=0).max()) if span.stop > span.start else np.inf
                  for span in system.slices]
        spans = [float(np.ptp(collider.at(state.time), axis=0).max()) for collider in system.scene.colliders]
        if not widths or not spans or min(widths) >= OUT_OF_PROPORTION * max(spans):
            return ""
        cloth, collider = int(np.argmin(widths)), int(np.argmax(spans))
        return (f"{system.scene.cloths[cloth].name} is {number_text(widths[cloth], 2)} m wide and "
                f"{system.scene.colliders[collider].name} {number_text(spans[collider], 2)} m: check the unit scale "
                "and the scale of both objects; else ")

    def _shortest(self, state: State) -> str:
        """Return the message part that names an edge that has shrunk to almost nothing, or nothing."""
        lengths = self._system.edge_lengths(state.x)
        part = lengths / self._system.rest_lengths
        if not part.min(initial=1.0) < COLLAPSED_LENGTH:
            return ""
        edge = int(np.argmin(part))
        name, ends = self._system.edge_named(edge)
        held, _ = self._system.held_positions(state.time)
        pinned = np.isin(self._system.edges[edge], held).all()
        return (f"; edge {ends} of {name} has shrunk to {number_text(lengths[edge], 2)} m" + (
            ", and pins hold both its ends: move their targets apart" if pinned else ""))
