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
(:mod:`queueing.drift_bounds.certificate`).

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
    all_shares : tuple of tuple of Fraction
        The same with them.
    classes, resources : tuple of int
        Indices in the system of these classes, and of the resources of ``all_shares``.
    """

    arrival_rates: tuple[Fraction, ...]
    service_rates: tuple[Fraction, ...]
    loads: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    limits: tuple[Fraction | None, ...]
    shares: tuple[tuple[Fraction, ...], ...]
    all_shares: tuple[tuple[Fraction, ...], ...]
    classes: tuple[int, ...]
    resources: tuple[int, ...]

    @classmethod
    def of(cls, pool: Pool) -> Numbers:
        """The numbers of a pool."""
        rates = tuple(map(Fraction, pool.arrival_rates.tolist()))
        sizes = tuple(map(Fraction, pool.mean_sizes.tolist()))
        capacities = list(map(Fraction, pool.capacities.tolist()))
        shares = [
            [Fraction(a) / c for a, c in zip(row, capacities, strict=True)] for row in pool.demands.tolist()
        ]
        kept = _binding(list(zip(*shares, strict=True)))
        return cls(
            rates,
            tuple(1 / size for size in sizes),
            tuple(rate * size for rate, size in zip(rates, sizes, strict=True)),
            tuple(map(Fraction, pool.weights.tolist())),
            tuple(None if limit == float("inf") else Fraction(limit) for limit in pool.limits.tolist()),
            tuple(tuple(row[j] for j in kept) for row in shares),
            tuple(map(tuple, shares)),
            tuple(pool.classes.tolist()),
            tuple(pool.resources.tolist()),
        )

    @property
    def n(self) -> int:
        """Number of classes."""
        return len(self.loads)

    @property
    def m(self) -> int:
        """Number of resources."""
        return len(self.shares[0])

    def users(self, resource: int) -> list[int]:
        """Classes that demand a resource."""
        return [i for i in range(self.n) if self.shares[i][resource]]

    def used(self, job_class: int) -> list[int]:
        """Resources that a class demands."""
        return [j for j in range(self.m) if self.shares[job_class][j]]


def _binding(columns: list[tuple[Fraction, ...]]) -> list[int]:
    """Columns that no other one dominates; of equal ones the first."""
    kept: list[int] = []
    for j in sorted(range(len(columns)), key=lambda j: (-sum(columns[j]), j)):
        if not any(all(a <= b for a, b in zip(columns[j], columns[k], strict=True)) for k in kept):
            kept.append(j)
    return sorted(kept)


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

    @abstractmethod
    def sizes(self) -> list[float]:
        """Rough size of each column, which scales the linear program."""

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
        for k in range(i + 1, numbers.n):
            row = combined(
                (speed, moments.work(i, k)),
                (numbers.service_rates[k], moments.work(k, i)),
                (-rate, jobs[k]),
                (-numbers.arrival_rates[k], jobs[i]),
            )
            yield (i, k), Row(row, Fraction(0), True)
