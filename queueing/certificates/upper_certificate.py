r"""An upper bound of the mean holding costs under one policy, and its checker: one inequality a state.

The policy is a table, and beyond it that of the largest weight
(:mod:`queueing.certificates.table_policy`). Let

.. math:: u(x) = \tfrac{\kappa}{2} \sum_i g_i\sigma_i x_i^2 + v(x) ,

where :math:`\kappa \ge 0`, g are the gains of the policy and v is 0 outside of a finite set, and let Q be the
generator under the policy.

*Theorem.* If :math:`w\cdot x + Qu \le c` in all states, then from every start

.. math:: \limsup_{t \to \infty} \frac1t\, E \int_0^t \sum_i w_i X_i(s)\,ds \;\le\; c ,

and c bounds the mean under a stationary law. *Proof.* By Dynkin's formula up to the time at which there are
m jobs, and Fatou's lemma for large m, :math:`E\int_0^t (w\cdot X - c)\,ds \le u(X_0) - \inf u`, and u is
bounded below. Divide by t. ∎

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
tasks. On N the tasks are those floats, exactly. Gains and the numbers of the system are from 1e-50 to 1e50,
tasks that a class alone can run from 1e-100 to 1e100; so all weights of at most 1e100 jobs of a class are
floats that neither overflow nor lose digits, and of such counts the claim holds for the policy's floats.
Counts above 2^53 that are no floats are rounded to some, which is one of those roundings. Beyond 1e100 jobs
the policy that the claim is about is the largest weight itself, not its floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.exact.linear_algebra import dot
from fairness.exact.server_rows import as_fractions
from fairness.machine.work import Task
from fairness.model.problem import Problem
from queueing.certificates.cost_certificate import SECONDS, CostCertificate, Extreme, Numbers
from queueing.certificates.errors import CertificateError
from queueing.certificates.pool import LARGEST, SMALLEST
from queueing.certificates.state_function import StateFunction
from queueing.certificates.table_policy import TablePolicy

__all__ = ["UpperCertificate", "far_bound"]

ROUNDING = Fraction(1, 2**40)
"""The eta of the module docstring."""


@dataclass(frozen=True, eq=False, repr=False)
class UpperCertificate(CostCertificate):
    """An upper bound of the mean holding costs under one policy, with all that is needed to check it.

    Attributes
    ----------
    policy : TablePolicy
    factor : Fraction
        The kappa of the quadratic part.
    """

    is_upper = True

    policy: TablePolicy
    factor: Fraction

    @property
    def of_whom(self) -> str:
        """Name of the policy."""
        return self.policy.name

    def _proved(self, numbers: Numbers, h: StateFunction) -> Extreme:
        """The largest value of w·x + Qu, or of its bound, in all states."""
        policy, live = self.policy, list(numbers.classes)
        if not (isinstance(policy, TablePolicy) and policy.problem.same(self.system.problem)):
            raise CertificateError("data", "policy must be a TablePolicy for the problem of the system")
        if policy.classes != numbers.classes:
            raise CertificateError("data", "the policy is for other classes than those with arrivals")
        if type(self.factor) is not Fraction:
            raise CertificateError("data", f"factor must be a fraction; got {self.factor!r:.80}")
        gains, table, n = policy.gains, policy.table, len(live)
        for name, array, dimensions in (("gains", gains, 1), ("table", table, n + 1)):
            if not (
                isinstance(array, np.ndarray)
                and (array.dtype, array.ndim) == (np.float64, dimensions)
                and array.shape[-1] == n
                and array.size
            ):
                told = f"{name} of the policy must be floats of {dimensions} dimensions, the last of {n}"
                raise CertificateError("data", told)
        if not ((gains >= SMALLEST) & (gains <= LARGEST)).all():
            told = f"gains of the policy must be from {SMALLEST:g} to {LARGEST:g}"
            raise CertificateError("data", told)
        if not h.contains(policy.tabulated()).all():
            raise CertificateError("data", "the table of the policy has states that are not among states")
        weights = [Fraction(g) for g in gains.tolist()]
        constant, slopes = far_bound(self.system.problem, numbers, weights, self.factor)
        # Then factor is > 0, and u bounded below.
        if max(slopes) >= 0:
            raise CertificateError("drift", "the costs of a class grow faster than u falls; raise factor")
        # Of the quadratic part, per job squared.
        squares = [self.factor * g * size / 2 for g, size in zip(weights, numbers.mean_sizes, strict=True)]
        return max(
            [(constant + dot(slopes, x), tuple(x)) for x in h.frontier.tolist()]
            + self._near(numbers, h, squares)
        )

    def _near(self, numbers: Numbers, h: StateFunction, squares: list[Fraction]) -> list[Extreme]:
        """The largest value for each of the answers of the policy on N."""
        live, states = list(numbers.classes), np.zeros((len(h.counts), self.system.n_classes))
        states[:, live] = h.counts
        tasks = self.policy(self.system.problem, states)[:, live]
        if not (np.isfinite(tasks) & (tasks >= 0) & ((h.counts > 0) | (tasks == 0))).all():
            raise CertificateError("data", "tasks must be finite, >= 0, and 0 where no job is present")
        answers, which = np.unique(tasks, axis=0, return_inverse=True)
        arrive, leave = (
            numbers.arrival_rates,
            [numbers.leaving(tuple(map(Fraction, row))) for row in answers.tolist()],
        )
        factors = [*numbers.costs]
        for row in (arrive, *leave):
            factors += [v * by for v, square in zip(row, squares, strict=True) for by in (h.unit, square)]
        common = math.lcm(*{v.denominator for v in factors})
        jobs, found = h.counts.astype(object), list[Extreme]()
        up, down = ([h.step(i, by) for i in range(len(live))] for by in (1, -1))
        with Task(f"check of {len(jobs):,} states", len(jobs), "states", SECONDS * len(jobs)) as task:
            for number, row in enumerate(leave):
                rows = np.flatnonzero(which.ravel() == number)
                whole: Any = np.zeros(len(rows), dtype=object)
                for i, square in enumerate(squares):
                    x = jobs[rows, i]
                    # Of x^2 a job more makes 2x + 1, a job less -2x + 1.
                    for rate, step, more in ((arrive[i], up[i], 2 * x + 1), (row[i], down[i], 1 - 2 * x)):
                        whole += step[rows] * int(rate * h.unit * common) + more * int(rate * square * common)
                    whole += x * int(numbers.costs[i] * common)
                at = int(whole.argmax())
                found.append((Fraction(int(whole[at]), common), tuple(h.counts[rows[at]].tolist())))
                task.advance(len(rows))
        return found


def far_bound(
    problem: Problem, numbers: Numbers, gains: list[Fraction], factor: Fraction
) -> tuple[Fraction, list[Fraction]]:
    """The bound outside of N: its constant, and the coefficients of the counts."""
    demands, capacities = as_fractions(problem)
    full, caps = numbers.running.vertices[numbers.running.caps], numbers.running.caps
    loads = [rate * size for rate, size in zip(numbers.arrival_rates, numbers.mean_sizes, strict=True)]
    most = [max(one) for one in zip(*full, strict=True)]
    columns = [([demands[i][j] for i in numbers.classes], capacity) for j, capacity in enumerate(capacities)]
    spare = min((c - dot(loads, column)) / dot(most, column) for column, c in columns if any(column))
    points = [rho + spare * m for rho, m in zip(loads, most, strict=True)]
    constant = (dot(gains, loads) + max(dot(gains, tasks) for tasks in full) * (1 + ROUNDING)) / 2
    constant += sum(g * cap * p for g, cap, p in zip(gains, caps, points, strict=True) if cap > 1)
    slopes = [
        w + factor * g * (rho - p * (1 - ROUNDING))
        for w, g, rho, p in zip(numbers.costs, gains, loads, points, strict=True)
    ]
    return factor * constant, slopes
