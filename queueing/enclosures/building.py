r"""A certificate on a given box with a given drift function: h and v are found, and checked.

What the checker proves is what is claimed, to the last digit: nothing of what is computed here is trusted.

*Spare for rounding.* The bounds are as far apart as :math:`f + Q(h \pm \delta v)` varies. Far from the
origin h and v are large, and so is what the checker allows for rounding. Hence v is asked to fall a little
faster than it must, :math:`Qv = \kappa - e(x)`, with e(x) a small part of V where the law has next to
nothing, and elsewhere so little that :math:`\kappa` grows by less than a given flow.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.certificates.arrival_phases import ArrivalPhases
from queueing.certificates.certificate import Certificate, Drift, Functional
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import family, pool_of
from queueing.certificates.intervals import Interval
from queueing.enclosures.poisson_equation import PoissonEquation, phased_solutions
from queueing.model.system import System
from queueing.proved_bounds.check import check_certificate
from queueing.states.box import along, sides
from queueing.states.table import Table, departure_rates, tabulate

__all__ = ["Builder"]

MARGIN = 1e-6
"""By so much, relatively, delta is larger than floats say that it must be."""
SPARE = 1e-11
"""For rounding, in units of the rates times V."""


class Builder:
    """Certificates of one system and policy, box after box.

    Parameters
    ----------
    system : System
    policy : Policy
    name : str
        Of the policy, as the checker knows it.
    parameters : Mapping
        Its parameters, as the checker knows them.
    functionals : sequence of Functional
    """

    def __init__(
        self,
        system: System,
        policy: AnyPolicy,
        name: str,
        parameters: Mapping[str, Any],
        functionals: Sequence[Functional],
    ) -> None:
        self.system, self.policy, self.name = system, policy, name
        self.parameters, self.functionals = dict(parameters), tuple(functionals)
        self.pool = pool_of(system, name)
        self.table: Table | None = None

    def certificate(self, shape: tuple[int, ...], drift: Drift, law: FloatArray, flow: float) -> Certificate:
        """The certificate on a box.

        Parameters
        ----------
        shape : tuple of int
        drift : Drift
            As :meth:`proved` gives it.
        law : ndarray of shape ``shape``
            About the stationary law; only a guide.
        flow : float
            By so much kappa may grow, about, for the sake of rounding.

        Raises
        ------
        NotConvergedError
            If h or v are not found.
        CertificateError
            If the checker proves nothing of them.
        """
        system = self.system
        live = np.flatnonzero(system.arrival_rates > 0)
        box, phases = tuple(shape[i] for i in live), self.pool.phases
        self.table = tabulate(system.problem, self.policy, shape, known=self.table)
        up, down = np.array(phases.peaks()), departure_rates(self.table, system.mean_sizes, live.tolist())
        counts = dict(zip(live.tolist(), np.indices(box, sparse=True), strict=True))
        values = np.empty((len(self.functionals), *box, phases.n_phases))
        for row, one in zip(values, self.functionals, strict=True):
            row[...] = np.asarray(_value(one, counts))[..., None]
        scales = drift.scales[live]
        least = min(scales * box) / scales if drift.theta > 0 else np.array(box, dtype=float)
        most = {k: Interval.of(count) for k, count in zip(live.tolist(), least, strict=True)}
        most_tasks = np.array([tasks.high for tasks in self.pool.most_tasks])
        rates: FloatArray = up + most_tasks / system.mean_sizes[live]
        likely = np.maximum(law.reshape(box) / law.sum(), 1e-300)[..., None]
        around = _around(box, scales, drift, np.array(phases.ahead, dtype=float))
        beyond = around[tuple(map(slice, box))]
        spare = np.minimum(SPARE * rates.sum() * beyond, flow / (beyond.size * likely))
        source = _source(phases, around) + spare
        solved, total, parts = self._total()
        h = np.empty(values.shape)
        if phases.n_phases == 1:
            h[solved], v = PoissonEquation(up, down, likely[..., 0]).solve(values[solved], source, beyond)
        else:
            h[solved], v = phased_solutions(phases, down, values[solved], source)
        if total is not None:
            h[total] = h[parts].sum(axis=0)
        steps = np.array(
            [sum(r * _step(one, i) for i, r in enumerate(rates)) + _turn(phases, one) for one in h]
        )
        growth = np.array([one.largest(most).high for one in self.functionals])
        delta = (1.0 + MARGIN) * (steps + growth) / drift.gamma
        nothing = np.full(len(h), np.inf)
        states = shape if phases.n_phases == 1 else (*shape, phases.n_phases)
        claims_nothing = Certificate(
            *(system, self.name, self.parameters, shape, drift, self.functionals),
            *(h.reshape(-1, *states), v.reshape(states), delta, -nothing, nothing),
        )
        lower, upper = check_certificate(claims_nothing)
        return replace(claims_nothing, lower=lower, upper=upper)

    def _total(self) -> tuple[list[int], int | None, list[int]]:
        """Functionals to be solved for; the jobs of all classes, if they are the sum of others; and these."""
        places = {one: k for k, one in enumerate(self.functionals)}
        total = places.get(Functional("jobs"))
        parts = [places.get(Functional("jobs", k), -1) for k in self.pool.classes.tolist()]
        if total is None or -1 in parts:
            return list(range(len(places))), None, []
        return [k for k in range(len(places)) if k != total], total, parts

    def proved(self, drift: Drift, shape: tuple[int, ...]) -> Drift:
        """The drift function with the decay that the checker proves of it; CertificateError if none."""
        gamma = family(self.name, drift).decay(self.pool, self.name, self.parameters, drift, shape)
        if not gamma > 0:
            raise CertificateError("drift", "V does not fall outside of the box; take a larger box")
        return replace(drift, gamma=gamma)


def _value(one: Functional, counts: Mapping[int, Any]) -> Any:
    """The functional in all states; ``counts`` by class, those with arrivals."""

    def count(k: int | None) -> Any:
        return sum(counts.values()) if k is None else counts.get(k, 0)

    return count(one.job_class) >= one.level if one.kind == "at least" else math.prod(map(count, one.factors))


def _around(box: tuple[int, ...], scales: FloatArray, drift: Drift, ahead: FloatArray) -> FloatArray:
    """V in all states of the box, and in those next to it: one state more along the axes; the phase last."""
    radius, p = float(min(scales * box)), drift.exponent
    # In units of T_A, so that no power leaves the floats.
    inside = [
        along(((b / radius) * (np.arange(side + 1)[:, None] + ahead[:, i])) ** p, i, len(box))
        for i, (b, side) in enumerate(zip(scales, box, strict=True))
    ]
    powers: FloatArray = functools.reduce(np.add, inside)
    return powers if drift.theta == 0 else np.exp(drift.theta * radius * (powers ** (1.0 / p) - 1.0))


def _source(phases: ArrivalPhases, around: FloatArray) -> FloatArray:
    """V where arrivals lead out of the box, times their rate."""
    result = np.zeros([*(side - 1 for side in around.shape[:-1]), around.shape[-1]])
    beside = (slice(-1),) * (phases.n - 1)
    for move in phases.moves:
        if move.arrives:
            beyond = np.take(around[..., move.target], -1, axis=move.place)[beside]
            np.moveaxis(result[..., move.phase], move.place, 0)[-1] += float(move.rate) * beyond
    return result


def _turn(phases: ArrivalPhases, h: FloatArray) -> float:
    """Most that h turns with the phase on a face, per unit of time."""
    turns = np.zeros(h.shape)
    for move in phases.moves:
        turns[..., move.phase] += float(move.rate) * np.abs(h[..., move.target] - h[..., move.phase])
    return float(max(np.take(turns, -1, axis=i).max() for i in range(phases.n)))


def _step(h: FloatArray, axis: int) -> float:
    """Largest step of h along an axis on the faces of the other classes."""
    low, high = sides(axis)
    steps = np.abs(h[high] - h[low])
    faces = [np.take(steps, -1, axis=k).max() for k in range(h.ndim - 1) if k != axis]
    return float(max(faces, default=0.0))
