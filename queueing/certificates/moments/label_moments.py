r"""Moments under policies that give every class a full resource: filling, BMF, alpha-fairness.

With jobs of a class k there is a resource that k demands and that is full; call one of them, j, the *label*
of k in this state. Let

.. math:: N_k^j = E[x_k; \text{label}_k = j], \qquad
          z_{ik}^{hj} = E[x_k\varphi_i; \text{label}_i = h, \text{label}_k = j] .

Since the label is full, and no resource is more than full,

.. math:: \sum_{i,h} b_{ij} z_{ik}^{hj} = N_k^j, \qquad
          \sum_{i,h} b_{ij'} z_{ik}^{hj} \le N_k^j \text{ for all } j'.

*Levels.* Under progressive filling (:mod:`fairness.filling.floats`) let the label be a
*bottleneck*: full, with no job on it at a higher level :math:`\varphi_i/(r_i x_i)`; under BMF the same with
the level :math:`b_{ij}\varphi_i/(w_i x_i)` of a share, so that in both cases the level on j is
:math:`\varphi_i/(r_{ij}x_i)` with :math:`r_{ij} = r_i` or :math:`w_i/b_{ij}`. So if i demands the label j of
k, then :math:`r_{ij} x_i\varphi_k \ge r_{kj} x_k\varphi_i`. Classes with one label j share a level y, so

.. math:: z_{ik}^{jj} = r_{ij} S_{ikj}, \qquad S_{ikj} = E[y\,x_i x_k; \text{labels } j] = S_{kij},

and the matrix :math:`(S_{ikj})_{ik}` is positive semidefinite: :math:`E[y (v\cdot x)^2; \ldots] \ge 0`, where
only classes with label j count. Under filling let the label be the first of several bottlenecks. Then two
classes that demand the labels of each other have the same level, so each is a bottleneck of both, and the
labels are equal.

*Ratios.* Under alpha-fairness with prices p, :math:`\varphi_i = w_i x_i (\sum_j b_{ij} p_j)^{-1/\alpha}`, so

.. math:: \frac{w_k x_k\varphi_i}{w_i x_i\varphi_k} = \Big(\frac{\sum_j b_{kj}p_j}{\sum_j b_{ij}p_j}
          \Big)^{1/\alpha} \ge m_{ik} = \min_{j: b_{ij} > 0} \Big(\frac{b_{kj}}{b_{ij}}\Big)^{1/\alpha} .

Let the label be the first full resource of a class; then a class that demands the label j of another one has
no label after j.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from queueing.certificates.moments.moments import Coefficients, Moments, Numbers, Row, combined

__all__ = ["LevelMoments", "RatioMoments"]

_ONE, _ZERO = Fraction(1), Fraction(0)


class _LabelMoments(Moments):
    """What levels and ratios share: labels, and full resources."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__(numbers)
        self.labels = [numbers.used(k) for k in range(numbers.n)]
        for k in range(numbers.n):
            for j in self.labels[k]:
                self.column("N", k, j)
                for i in numbers.together[k]:
                    self._labelled(i, k, j)

    @abstractmethod
    def _meets(self, i: int, k: int, h: int, j: int) -> bool:
        """Whether i may have label h where k has label j."""

    def _part(self, i: int, k: int, h: int, j: int) -> Coefficients:
        """E[x_k phi_i], where i has label h and k has j."""
        return {self.column("z", i, k, h, j): _ONE}

    def _labelled(self, i: int, k: int, j: int) -> Coefficients:
        """E[x_k phi_i], where k has label j."""
        if i == k:
            return self._part(k, k, j, j)
        meeting = (h for h in self.labels[i] if self._meets(i, k, h, j))
        return combined(*((1, self._part(i, k, h, j)) for h in meeting))

    def jobs(self, job_class: int) -> Coefficients:
        """The sum over labels."""
        return {self.column("N", job_class, j): _ONE for j in self.labels[job_class]}

    def work(self, running: int, counted: int) -> Coefficients:
        """The sum over labels."""
        return combined(*((1, self._labelled(running, counted, j)) for j in self.labels[counted]))

    def rows(self) -> Iterator[Row]:
        """Capacities as seen by the jobs of each class and label, then the couplings of classes."""
        numbers = self.numbers
        for k in range(numbers.n):
            for j in self.labels[k]:
                parts = {i: self._labelled(i, k, j) for i in numbers.together[k]}
                for other in range(numbers.m):
                    users = [i for i in parts if numbers.shares[i][other]]
                    if not users:
                        continue
                    used = combined(*((numbers.shares[i][other], parts[i]) for i in users))
                    row = combined((1, {self.column("N", k, j): _ONE}), (-1, used))
                    yield Row(row, _ZERO, other == j)
        for i in range(numbers.n):
            for k in (k for k in numbers.together[i] if k > i):
                for h, j in product(self.labels[i], self.labels[k]):
                    if self._meets(i, k, h, j):
                        yield from self._couplings(i, k, h, j)

    @abstractmethod
    def _couplings(self, i: int, k: int, h: int, j: int) -> Iterator[Row]:
        """Rows for i with label h and k with label j."""


class LevelMoments(_LabelMoments):
    """Filling and BMF.

    Parameters
    ----------
    numbers : Numbers
    rates : sequence of sequence of Fraction
        r_ij of class i on resource j; only where it demands j.
    one_level : bool
        Whether a class has the same level on all its resources: filling, not BMF.
    """

    def __init__(self, numbers: Numbers, rates: list[list[Fraction]], *, one_level: bool) -> None:
        self.rates, self.one_level = rates, one_level
        super().__init__(numbers)

    def _meets(self, i: int, k: int, h: int, j: int) -> bool:
        mutual = self.numbers.shares[i][j] and self.numbers.shares[k][h]
        return h == j or not (self.one_level and mutual)

    def _part(self, i: int, k: int, h: int, j: int) -> Coefficients:
        if h != j:
            return super()._part(i, k, h, j)
        return {self.column("S", min(i, k), max(i, k), j): self.rates[i][j]}

    def _couplings(self, i: int, k: int, h: int, j: int) -> Iterator[Row]:
        if h == j:
            return
        for one, other, own, label in ((i, k, h, j), (k, i, j, h)):
            if self.numbers.shares[one][label]:  # one demands the label of the other
                ahead, behind = self._part(other, one, label, own), self._part(one, other, own, label)
                rates = self.rates[one][label], -self.rates[other][label]
                yield Row(combined((rates[0], ahead), (rates[1], behind)), _ZERO, False)

    def blocks(self) -> list[list[list[int]]]:
        """S of each label."""
        numbers = self.numbers
        return [
            [[self.column("S", min(i, k), max(i, k), j) for k in numbers.users(j)] for i in numbers.users(j)]
            for j in range(numbers.m)
        ]

    def squares(self) -> Iterator[tuple[int, list[float]]]:
        """Differences of two counts in units of loads over rates, in which the counts grow alike."""
        for j in range(self.numbers.m):
            users = self.numbers.users(j)
            units = [float(self.rates[i][j] / self.numbers.loads[i]) for i in users]
            for a, b in combinations(range(len(users)), 2):
                vector = [0.0] * len(users)
                vector[a], vector[b] = units[a], -units[b]
                yield j, vector

    def _size(self, what: tuple[Any, ...], rho: list[float], jobs: list[float]) -> float:
        size = super()._size(what, rho, jobs)
        return size / float(self.rates[what[1]][what[3]]) if what[0] == "S" else size


class RatioMoments(_LabelMoments):
    """Policies that leave no demanded resource idle, with ratios of tasks.

    Parameters
    ----------
    numbers : Numbers
    ratio : callable
        ``ratio(i, k)``: m_ik, or a number below it.
    """

    def __init__(self, numbers: Numbers, ratio: Callable[[int, int], Fraction]) -> None:
        self.ratio = ratio
        super().__init__(numbers)

    def _meets(self, i: int, k: int, h: int, j: int) -> bool:
        shares = self.numbers.shares
        return not ((shares[i][j] and j < h) or (shares[k][h] and h < j))

    def _couplings(self, i: int, k: int, h: int, j: int) -> Iterator[Row]:
        weights = self.numbers.weights
        for one, other, own, label in ((i, k, h, j), (k, i, j, h)):
            least = self.ratio(one, other)
            if least:
                more, less = self._part(one, other, own, label), self._part(other, one, label, own)
                row = combined((weights[other], more), (-least * weights[one], less))
                yield Row(row, _ZERO, False)
