r"""Moments under proportional fairness: of the prices and products of tasks.

There are prices :math:`p_j(x) \ge 0` of the resources, positive only where one is full, such that a job
spends its weight, :math:`w_k x_k = \varphi_k \sum_j b_{kj} p_j` with :math:`b_{kj} = a_{kj}/C_j`
(:mod:`fairness.policies.proportional`). Multiplied by :math:`\varphi_i` this makes all mixed moments out of
the symmetric numbers

.. math:: T_{ikj} = E[p_j\varphi_i\varphi_k], \qquad z_{ik} = \frac1{w_k}\sum_j b_{kj} T_{ikj},

since where :math:`p_j > 0` the resource is full, :math:`\sum_i b_{ij}\varphi_i = 1`:

.. math:: Y_{kj} = E[p_j\varphi_k] = \sum_i b_{ij} T_{ikj}, \qquad
          n_k = \frac1{w_k}\sum_j b_{kj} Y_{kj}, \qquad P_j = E[p_j] = \sum_k b_{kj} Y_{kj} .

The other capacities give :math:`\sum_i b_{ij'} T_{ikj} \le Y_{kj}`. Each matrix of moments of
:math:`(1, \varphi)` under the measure :math:`p_j\,d\pi`, with entries :math:`P_j, Y_{kj}, T_{ikj}`, is
positive semidefinite: :math:`E[p_j (s + v\cdot\varphi)^2] \ge 0` for all s and v.

With :math:`v\cdot\varphi + s = 1 - \varrho\varphi_i/\rho_i`, weighted by :math:`b_{ij}` and summed, these
squares contain the bound that is known in closed form (Bonald and Massoulié's function
:math:`\sum_i w_i x_i^2/(\rho_i\mu_i)`): :math:`\sum_i w_i n_i \le \sum_i w_i\,\varrho/(1 - \varrho)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

from queueing.certificates.moments.moments import Coefficients, Moments, Numbers, Row, combined

__all__ = ["PriceMoments"]


class PriceMoments(Moments):
    """Proportional fairness of jobs without limits."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__(numbers)
        self._users = [numbers.users(j) for j in range(numbers.m)]
        everyone = list(range(numbers.n))
        self._members = [everyone if numbers.whole else users for users in self._users]
        for j, members in enumerate(self._members):
            self.column("P", j)
            for k in members:
                self.column("Y", k, j)
                for i in numbers.together[k]:
                    self._product(i, k, j)

    def _product(self, i: int, k: int, j: int) -> int:
        """Column T_ikj; one of the classes is a member of j."""
        return self.column("T", min(i, k), max(i, k), j)

    def jobs(self, job_class: int) -> Coefficients:
        """The sum of b_kj Y_kj, over w_k."""
        shares, weight = self.numbers.shares[job_class], self.numbers.weights[job_class]
        return {self.column("Y", job_class, j): shares[j] / weight for j in self.numbers.used(job_class)}

    def work(self, running: int, counted: int) -> Coefficients:
        """The sum of b_kj T_ikj, over w_k."""
        shares, weight = self.numbers.shares[counted], self.numbers.weights[counted]
        used = self.numbers.used(counted)
        return {self._product(running, counted, j): shares[j] / weight for j in used}

    def rows(self) -> Iterator[Row]:
        """Capacities where a price is positive."""
        shares, zero = self.numbers.shares, Fraction(0)
        for j, users in enumerate(self._users):
            spent = {self.column("Y", k, j): shares[k][j] for k in users}
            yield Row(combined((1, spent), (-1, {self.column("P", j): Fraction(1)})), zero, True)
            for k in self._members[j]:
                price = {self.column("Y", k, j): Fraction(1)}
                for other in range(self.numbers.m):
                    others = [i for i in self.numbers.together[k] if shares[i][other]]
                    used = {self._product(i, k, j): shares[i][other] for i in others}
                    if used:
                        yield Row(combined((1, price), (-1, used)), zero, other == j)

    def blocks(self) -> list[list[list[int]]]:
        """Moments of (1, phi) for each price."""
        found = []
        for j, members in enumerate(self._members):
            first = [self.column("P", j), *(self.column("Y", k, j) for k in members)]
            rest = [[self.column("Y", i, j), *(self._product(i, k, j) for k in members)] for i in members]
            found.append([first, *rest])
        return found

    def squares(self) -> Iterator[tuple[int, list[float]]]:
        """1 - varrho phi_i/rho_i, from which the closed bound follows, and differences of phi_i/rho_i."""
        rho = [float(load) for load in self.numbers.loads]
        load = max(
            sum(r * float(row[j]) for r, row in zip(rho, self.numbers.shares, strict=True))
            for j in range(self.numbers.m)
        )
        for j, members in enumerate(self._members):
            for place, i in enumerate(members):
                vector = [1.0] + [0.0] * len(members)
                vector[1 + place] = -load / rho[i]
                yield j, vector
            for a, b in combinations(range(len(members)), 2):
                vector = [0.0] * (1 + len(members))
                vector[1 + a], vector[1 + b] = 1 / rho[members[a]], -1 / rho[members[b]]
                yield j, vector

    @cached_property
    def _price(self) -> float:
        return sum(map(float, self.numbers.weights))

    def _size(self, what: tuple[Any, ...], rho: list[float], jobs: list[float]) -> float:
        """Tasks are near their loads, prices near the weights of a job per class."""
        *classes, _ = what[1:]
        return math.prod((rho[k] for k in classes), start=self._price)
