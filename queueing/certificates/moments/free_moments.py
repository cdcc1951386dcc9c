r"""Moments under any policy at all: only the capacities and the limits bind.

.. math:: \sum_i b_{ij} z_{ik} \le n_k \text{ for all } j, k, \qquad \rho_i \le \ell_i n_i .

The first says that :math:`x_k (1 - \sum_i b_{ij}\varphi_i) \ge 0`, the second that a job runs at most
:math:`\ell_i` tasks. They give lower bounds only. In closed form they contain, for each resource alone, the
workload of a single server to which jobs bring work :math:`b_{ij}\sigma_i` (Pollaczek and Khinchine),

.. math:: \sum_i b_{ij}\sigma_i n_i \ge \frac{\sum_i \lambda_i (b_{ij}\sigma_i)^2}{1 - \varrho_j},

and for each class the single server of its own, :math:`n_i \ge \rho_i/(\bar\varphi_i - \rho_i)` with
:math:`\bar\varphi_i = \min_j 1/b_{ij}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from queueing.certificates.moments.moments import Coefficients, Moments, Numbers, Row

__all__ = ["FreeMoments"]


class FreeMoments(Moments):
    """Any policy, of jobs with or without limits."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__(numbers)
        for k in range(numbers.n):
            self.column("n", k)
            for i in numbers.together[k]:
                self.column("z", i, k)

    def jobs(self, job_class: int) -> Coefficients:
        """A column."""
        return {self.column("n", job_class): Fraction(1)}

    def work(self, running: int, counted: int) -> Coefficients:
        """A column."""
        return {self.column("z", running, counted): Fraction(1)}

    def rows(self) -> Iterator[Row]:
        """Capacities, as seen by the jobs of each class, and limits."""
        numbers = self.numbers
        for k in range(numbers.n):
            for j in range(numbers.m):
                users = (i for i in numbers.together[k] if numbers.shares[i][j])
                row = {self.column("z", i, k): -numbers.shares[i][j] for i in users}
                yield Row({self.column("n", k): Fraction(1), **row}, Fraction(0), False)
        for k, limit in enumerate(numbers.limits):
            if limit is not None:
                yield Row({self.column("n", k): limit}, numbers.loads[k], False)

    def capacity_row(self, job_class: int, resource: int) -> int:
        """Number of the row of a resource as the jobs of a class see it."""
        return job_class * self.numbers.m + resource

    def rows_of(self, job_class: int) -> list[int]:
        """Numbers of the rows of a class: its jobs in front of each resource, and its limit."""
        numbers = self.numbers
        found = [self.capacity_row(job_class, j) for j in range(numbers.m)]
        if numbers.limits[job_class] is not None:
            before = sum(limit is not None for limit in numbers.limits[:job_class])
            found.append(numbers.n * numbers.m + before)
        return found
