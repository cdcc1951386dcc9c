r"""Mixed moments of counts and tasks under a policy, and what is known of them.

In a stationary state write :math:`n_k = E[x_k]` and :math:`z_{ik} = E[x_k\varphi_i]`. The functions
:math:`x_i x_k` and :math:`x_i(x_i + 1)` of the counts do not drift on average, which gives

.. math:: \mu_i z_{ik} + \mu_k z_{ki} = \lambda_i n_k + \lambda_k n_i \quad (i < k), \qquad
          \mu_i z_{ii} = \lambda_i (n_i + 1),

for every policy under which the means are finite. What is known of the tasks of a policy in *each* state (a
resource that is full, one class's tasks that are bounded by another's) gives linear equations and
inequalities between these numbers, or between parts of them. :class:`Moments` lists the numbers, all of them
>= 0 (its *columns*), says how jobs and work are made of them, and lists the inequalities (its *rows*). A
linear program over them bounds the means; multipliers of the rows are the proof
(:mod:`queueing.certificates.drift_certificate`).

With many classes only the products of classes that share a resource are columns. The row of a capacity stays
true without the others, which are >= 0, and their drifts have no multipliers.

All coefficients are fractions, made of the floats of the model, each of which is meant exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from queueing.certificates.pool import Pool

__all__ = ["Coefficients", "Moments", "Numbers", "Row", "combined"]

WIDE = 5_000
"""Most products of resources and pairs of classes of which all pairs are taken."""

Coefficients = dict[int, Fraction]
"""A linear function of the columns: the coefficient of each column that has one."""


class Row(NamedTuple):
    """``coefficients`` times the columns is ``constant``, or at least that if not ``equal``."""

    coefficients: Coefficients
    constant: Fraction
    equal: bool


@dataclass(frozen=True)
class Numbers:
    """Numbers of a pool as fractions; classes with arrivals, resources that they demand.

    Attributes
    ----------
    arrival_rates, service_rates, loads, weights : tuple of Fraction
        lambda_i, mu_i = 1/sigma_i, rho_i and w_i.
    limits : tuple of Fraction or None
        None where a job may run any number of tasks.
    shares : tuple of tuple of Fraction
        a_ij/C_j, without resources that never bind before another one.
    pool : Pool
        With all resources.
    """

    arrival_rates: tuple[Fraction, ...]
    service_rates: tuple[Fraction, ...]
    loads: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    limits: tuple[Fraction | None, ...]
    shares: tuple[tuple[Fraction, ...], ...]
    pool: Pool

    @classmethod
    def of(cls, pool: Pool) -> Numbers:
        """The numbers of a pool."""
        rates = tuple(map(Fraction, pool.arrival_rates.tolist()))
        sizes = tuple(map(Fraction, pool.mean_sizes.tolist()))
        kept = pool.binding(range(pool.n))
        return cls(
            rates,
            tuple(1 / size for size in sizes),
            tuple(rate * size for rate, size in zip(rates, sizes, strict=True)),
            tuple(map(Fraction, pool.weights.tolist())),
            tuple(None if limit == float("inf") else Fraction(limit) for limit in pool.limits.tolist()),
            tuple(tuple(row[j] for j in kept) for row in pool.shares),
            pool,
        )

    @property
    def n(self) -> int:
        """Number of classes."""
        return len(self.loads)

    @property
    def m(self) -> int:
        """Number of resources."""
        return len(self.shares[0])

    @property
    def whole(self) -> bool:
        """Whether the products of all pairs of classes are columns."""
        return self.n * (self.n + 1) // 2 * self.m <= WIDE

    @cached_property
    def together(self) -> list[list[int]]:
        """For each class those whose products with it are columns: all, or who shares a resource with it."""
        if self.whole:
            return [list(range(self.n))] * self.n
        users = [self.users(j) for j in range(self.m)]
        return [sorted({i for j in self.used(k) for i in users[j]}) for k in range(self.n)]

    def users(self, resource: int) -> list[int]:
        """Classes that demand a resource."""
        return [i for i in range(self.n) if self.shares[i][resource]]

    def used(self, job_class: int) -> list[int]:
        """Resources that a class demands."""
        return [j for j in range(self.m) if self.shares[job_class][j]]


class Moments(ABC):
    """Columns and rows for one family of policies.

    Attributes
    ----------
    numbers : Numbers
    columns : dict
        Number of each column by what it stands for.
    """

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.columns: dict[tuple[Any, ...], int] = {}

    def column(self, *what: Any) -> int:
        """Number of a column, which is added where it is new."""
        return self.columns.setdefault(what, len(self.columns))

    @abstractmethod
    def jobs(self, job_class: int) -> Coefficients:
        """E[x_k]."""

    @abstractmethod
    def work(self, running: int, counted: int) -> Coefficients:
        """E[x_k phi_i], k ``counted`` and i ``running``."""

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """What is known of the columns, beside the drifts and that they are >= 0."""

    @cached_property
    def listed(self) -> list[Row]:
        """The rows, in a fixed order."""
        return list(self.rows())

    @cached_property
    def drifts(self) -> dict[tuple[int, int], Row]:
        r"""The drift equations of :math:`x_i x_k` (i < k) and :math:`x_i (x_i + 1)`, by (i, k) and (i, i).

        A row is minus the drift of the function, but for its constant.
        """
        return dict(_drift_rows(self))

    def sizes(self) -> list[float]:
        """Rough size of each column, which scales the linear program."""
        rho = [float(load) for load in self.numbers.loads]
        jobs = [load * float(max(row)) for load, row in zip(rho, self.numbers.shares, strict=True)]
        return [self._size(what, rho, jobs) for what in self.columns]

    def _size(self, what: tuple[Any, ...], rho: list[float], jobs: list[float]) -> float:
        """That of one column: jobs are near the loads in shares, tasks near the loads."""
        kind, first, *rest = what
        return jobs[first] if kind in ("n", "N") else rho[first] * jobs[rest[0]]

    def blocks(self) -> list[list[list[int]]]:
        """Square matrices of columns that are moments of products, and so positive semidefinite."""
        return []

    def squares(self) -> Iterator[tuple[int, list[float]]]:
        """Cuts to start from: the number of a block, and a vector."""
        return iter(())


def combined(*parts: tuple[Fraction | int, Coefficients]) -> Coefficients:
    """Sum of multiples of linear functions."""
    total: Coefficients = {}
    for factor, coefficients in parts:
        for column, value in coefficients.items():
            total[column] = total.get(column, Fraction(0)) + factor * value
    return {column: value for column, value in total.items() if value}


def _drift_rows(moments: Moments) -> Iterator[tuple[tuple[int, int], Row]]:
    numbers = moments.numbers
    jobs = [moments.jobs(k) for k in range(numbers.n)]
    for i in range(numbers.n):
        rate, speed = numbers.arrival_rates[i], numbers.service_rates[i]
        yield (i, i), Row(combined((2 * speed, moments.work(i, i)), (-2 * rate, jobs[i])), 2 * rate, True)
        for k in (k for k in numbers.together[i] if k > i):
            row = combined(
                (speed, moments.work(i, k)),
                (numbers.service_rates[k], moments.work(k, i)),
                (-rate, jobs[k]),
                (-numbers.arrival_rates[k], jobs[i]),
            )
            yield (i, k), Row(row, Fraction(0), True)
