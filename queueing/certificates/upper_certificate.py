r"""An upper bound of the mean holding costs under one policy, and its checker: one inequality a state.

The policy is a table, and beyond it that of the largest weight
(:mod:`queueing.certificates.table_policy`). Let

.. math:: u(x) = \tfrac{\kappa}{2} \sum_i g_i\sigma_i x_i^2 + v(x) ,

where :math:`\kappa \ge 0`, g are the gains of the policy and v is 0 outside of a finite set, and let Q be the
generator under the policy.

*Theorem.* If :math:`w\cdot x + Qu \le c` in all states, then from every start

.. math:: \limsup_{t \to \infty} \frac1t\, E \int_0^t \sum_i w_i X_i(s)\,ds \;\le\; c ,

and c bounds the mean under a stationary law. *Proof.* By Dynkin's formula up to the time at which |X| reaches
m, and Fatou's lemma for large m, :math:`E\int_0^t (w\cdot X - c)\,ds \le u(X_0) - \inf u`, and u is bounded
below. Divide by t. ∎

*All other states at once.* Let N be the set of v with its neighbours, and let it hold the table. Outside, v
plays no part. Let :math:`m_i` be the most tasks of class i alone and
:math:`\theta = \min_j (C_j - \sum_i \rho_i a_{ij})/\sum_i m_i a_{ij}`. The tasks
:math:`p_i = \rho_i + \theta m_i` can run, but for limits: the largest weight is at least
:math:`\sum_i g_i x_i p_i`, less :math:`g_i K_i p_i` for each class whose jobs are limited where they
are fewer than :math:`K_i`. So

.. math:: w\cdot x + Qu \le \sum_i x_i\bigl(w_i + \kappa g_i(\rho_i - p_i)\bigr)
   + \kappa\Bigl(\sum_i g_i\bigl(K_i p_i 1_{K_i > 1} + \tfrac12\rho_i\bigr)
   + \tfrac12\max_\varphi \sum_i g_i\varphi_i\Bigr) .

If the coefficients of x are negative, this is largest on the frontier of N. The policy computes in floats:
its roundings are less than :math:`\eta = 2^{-40}` of the weights, which count :math:`1 - \eta`, and of the
tasks. On N the tasks are those floats, exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairness.exact.linear_algebra import dot
from fairness.exact.outward import above
from fairness.exact.server_rows import as_fractions
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates.bounded_means import BoundedMeans
from queueing.certificates.departures import Departures
from queueing.certificates.errors import CertificateError
from queueing.certificates.lower_certificate import SECONDS, known_costs, known_departures
from queueing.certificates.state_function import StateFunction
from queueing.certificates.table_policy import TablePolicy
from queueing.model.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["UpperCertificate", "far_bound"]

ROUNDING = Fraction(1, 2**40)
"""The eta of the module docstring."""


@dataclass(frozen=True, eq=False, repr=False)
class UpperCertificate(BoundedMeans):
    """An upper bound of the mean holding costs under one policy, with all that is needed to check it.

    Attributes
    ----------
    system : System
        A pool with Poisson arrivals, exponential sizes and load below 1.
    costs : tuple of Fraction
        w > 0 of each class, cost per job and unit of time.
    policy : TablePolicy
    factor : Fraction
        The kappa of the quadratic part.
    states : ndarray of int of shape (n_states, n)
        Counts of the classes with arrivals.
    h : ndarray of int of shape (n_states,)
        The function v there, in multiples of ``2**-bits``.
    bits : int
    bound : Fraction
        What is claimed: the c of the theorem, cost per unit of time.
    """

    system: System
    costs: tuple[Fraction, ...]
    policy: TablePolicy
    factor: Fraction
    states: NDArray[np.int64]
    h: NDArray[np.int64]
    bits: int
    bound: Fraction

    @property
    def names(self) -> tuple[str, ...]:
        """What is bounded."""
        return (f"holding costs under {self.policy.name}",)

    @property
    def lower(self) -> FloatArray:
        """0, shape (1,): costs are not negative."""
        return np.zeros(1)

    @cached_property
    def upper(self) -> FloatArray:
        """The bound, rounded up, shape (1,)."""
        return np.array([above(self.bound)])

    def check(self) -> Fraction:
        """The smallest bound that this proves, at most the one that is claimed.

        Raises
        ------
        CertificateError
            If it is none, or more is claimed than follows; it names the state.
        """
        proved, state = _Checker(self).proved()
        if type(self.bound) is not Fraction or proved > self.bound:
            raise CertificateError(
                "inequality", f"{float(self.bound)!r} is claimed, {float(proved)!r} is proved", state
            )
        return proved

    def summary(self) -> str:
        """The claim, and the states it rests on."""
        return "\n".join(
            [
                f"certificate of an upper bound under {self.policy.name}",
                *self._claims(),
                f"  v on {len(self.states):,} states; check() checks it in fractions",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """The bounds as a bar."""
        return self._drawn(ax, f"upper bound under {self.policy.name}", "mean holding costs")


class _Checker:
    """One certificate; its data are looked at first."""

    def __init__(self, certificate: UpperCertificate) -> None:
        c, policy = certificate, certificate.policy
        self.rates = known_departures(c.system)
        self.costs = known_costs(c.costs, self.rates, c.system.n_classes)
        self.v = StateFunction(len(self.rates.classes), c.states, c.h, c.bits)
        if not (isinstance(policy, TablePolicy) and policy.problem.same(c.system.problem)):
            raise CertificateError("data", "policy must be a TablePolicy for the problem of the system")
        if type(c.factor) is not Fraction or c.factor < 0:
            raise CertificateError("data", "factor must be a fraction >= 0")
        live, sizes, self.n_classes = list(self.rates.classes), c.system.as_fractions()[1], c.system.n_classes
        self.c, self.policy, self.live, self.sizes = c, policy, live, [sizes[i] for i in live]
        self.gains = _gains(policy, live, self.n_classes)
        # Of the quadratic part, per job squared.
        self.squares = [c.factor * g * size / 2 for g, size in zip(self.gains, self.sizes, strict=True)]
        _check_vertices(policy, self.rates, self.sizes, self.n_classes)
        table = np.argwhere(~np.isnan(policy.table).all(axis=-1))
        alone = np.delete(table, live, axis=1).sum(axis=1) == 0
        if not self.v.contains(table[alone][:, live]).all():
            raise CertificateError("data", "the table of the policy has states that are not among states")

    def proved(self) -> tuple[Fraction, tuple[int, ...]]:
        """The largest value of w·x + Qu, or of its bound, and the state where it is."""
        constant, slopes = far_bound(self.c.system, self.rates, self.costs, self.gains, self.c.factor)
        for i, slope in zip(self.live, slopes, strict=True):
            if slope >= 0:
                raise CertificateError(
                    "drift", f"the costs of class {i} grow faster than u falls; raise factor"
                )
        found = self._near()
        for x in self.v.frontier.tolist():
            found.append((constant + sum(s * k for s, k in zip(slopes, x, strict=True)), tuple(x)))
        return max(found)

    def _near(self) -> list[tuple[Fraction, tuple[int, ...]]]:
        """The largest value for each of the answers of the policy on N."""
        v, n = self.v, len(self.live)
        states = np.zeros((len(v.counts), self.n_classes))
        states[:, self.live] = v.counts
        tasks = self.policy(self.c.system.problem, states)[:, self.live]
        if not (np.isfinite(tasks) & (tasks >= 0) & ((v.counts > 0) | (tasks == 0))).all():
            raise CertificateError("data", "tasks must be finite, >= 0, and 0 where no job is present")
        answers, which = np.unique(tasks, axis=0, return_inverse=True)
        leave = [
            [Fraction(t) / size for t, size in zip(row, self.sizes, strict=True)] for row in answers.tolist()
        ]
        arrive = self.rates.arrival_rates
        numbers = list(self.costs)
        for row in (arrive, *leave):
            numbers += [rate * v.unit for rate in row] + [
                rate * s for rate, s in zip(row, self.squares, strict=True)
            ]
        common = math.lcm(*{value.denominator for value in numbers})
        scale = v.unit * common
        up, down = ([v.step(i, by) for i in range(n)] for by in (1, -1))
        jobs, found = v.counts.astype(object), []
        with Task(f"check of {len(jobs):,} states", len(jobs), "states", SECONDS * len(jobs)) as task:
            for number, row in enumerate(leave):
                rows = np.flatnonzero(which.ravel() == number)
                whole: Any = np.zeros(len(rows), dtype=object)
                for i, (rate, out, square) in enumerate(zip(arrive, row, self.squares, strict=True)):
                    x = jobs[rows, i]
                    whole += x * int(self.costs[i] * common) + up[i][rows] * int(rate * scale)
                    whole += down[i][rows] * int(out * scale)
                    # Of x^2 a job more makes 2x + 1, a job less -2x + 1.
                    whole += (2 * x + 1) * int(rate * square * common) + (1 - 2 * x) * int(
                        out * square * common
                    )
                at = int(whole.argmax())
                found.append((Fraction(int(whole[at]), common), tuple(v.counts[rows[at]].tolist())))
                task.advance(len(rows))
        return found


def far_bound(
    system: System, rates: Departures, costs: list[Fraction], gains: list[Fraction], factor: Fraction
) -> tuple[Fraction, list[Fraction]]:
    """The bound outside of N: its constant, and the coefficients of the counts."""
    (demands, capacities), (arrivals, sizes) = as_fractions(system.problem), system.as_fractions()
    live, full = rates.classes, rates.vertices[rates.caps]
    loads, most = [arrivals[i] * sizes[i] for i in live], [max(one) for one in zip(*full, strict=True)]
    most = [rate * sizes[i] for rate, i in zip(most, live, strict=True)]
    columns = [([demands[i][j] for i in live], capacity) for j, capacity in enumerate(capacities)]
    spare = min((c - dot(loads, column)) / dot(most, column) for column, c in columns if any(column))
    points = [rho + spare * m for rho, m in zip(loads, most, strict=True)]
    tasks = [[rate * sizes[i] for rate, i in zip(one, live, strict=True)] for one in full]
    constant = (dot(gains, loads) + max(dot(gains, one) for one in tasks) * (1 + ROUNDING)) / 2
    limited = [g * cap * p for g, cap, p in zip(gains, rates.caps, points, strict=True) if cap > 1]
    slopes = [
        w + factor * g * (rho - p * (1 - ROUNDING))
        for w, g, rho, p in zip(costs, gains, loads, points, strict=True)
    ]
    return factor * (constant + sum(limited)), slopes


def _gains(policy: TablePolicy, live: list[int], n_classes: int) -> list[Fraction]:
    """The gains of the classes with arrivals."""
    gains = policy.gains
    if not (isinstance(gains, np.ndarray) and gains.shape == (n_classes,) and (gains > 0).all()):
        raise CertificateError("data", f"gains of the policy must be {n_classes} numbers > 0")
    return [Fraction(g) for g in gains[live].tolist()]


def _check_vertices(policy: TablePolicy, rates: Departures, sizes: list[Fraction], n_classes: int) -> None:
    """Refuse a policy that chooses from other vertices than those of the pool, but for roundings."""
    listed = dict(policy.vertices)
    for pattern, points in rates.vertices.items():
        whole, exact = [0] * n_classes, np.zeros((len(points), n_classes), dtype=object)
        for k, i in enumerate(rates.classes):
            whole[i] = pattern[k]
            exact[:, i] = [point[k] * sizes[k] for point in points]
        found = listed.pop(tuple(whole), None)
        if not isinstance(found, np.ndarray) or found.shape != exact.shape or not np.isfinite(found).all():
            raise CertificateError("data", f"the policy has no vertices for the pattern {tuple(whole)}")
        given = np.vectorize(Fraction, otypes=[object])(found)
        if (abs(given - exact) > exact * (ROUNDING / 8)).any():
            raise CertificateError(
                "data", f"vertices of the policy for the pattern {tuple(whole)} are others"
            )
    if listed:
        raise CertificateError("data", f"the policy has vertices for the pattern {next(iter(listed))}")
