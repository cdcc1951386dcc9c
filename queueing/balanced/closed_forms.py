r"""Closed forms of balanced fairness: one group of classes, and the linear network.

*One group* (all classes have proportional demands and limits, see :mod:`queueing.balanced.groups`): with
:math:`q = \sum_i \rho_i \max_j a_{ij}/C_j` and :math:`c = \sum_i \rho_i/\ell_i` the total has

.. math:: \frac{P(k)}{P(k-1)} = \max\Big(q, \frac{c}{k}\Big):

geometric without limits (processor sharing), Poisson without resources, and in between Poisson up to
:math:`h = \lceil c/q \rceil` and geometric from there, as with :math:`h` servers (Erlang).

*Linear network* [1]_: a long route, group 0, shares link :math:`l = 1 \ldots L` with one short route each;
the long route takes the same share of all links. Then :math:`\Phi` is a binomial coefficient,
:math:`P(x) \propto \binom{|x|}{x_0} \prod_i r_i^{x_i}` with the relative loads :math:`r_i`, and

.. math:: G = \frac{(1 - r_0)^{L-1}}{\prod_l (1 - r_0 - r_l)}:

the short counts are independent and geometric with ratios :math:`r_l/(1 - r_0)`, and given these
:math:`x_0` is a sum of :math:`1 + \sum_l x_l` geometric numbers with ratio :math:`r_0`. Moments are the
derivatives of :math:`\log G` with respect to :math:`\log r_i`.

References
----------
.. [1] L. Massoulié and J. Roberts, "Bandwidth sharing and admission control for elastic traffic",
   Telecommunication Systems 15, 2000. DOI 10.1023/A:1019138827659; T. Bonald and L. Massoulié, "Impact of
   fairness on Internet performance", SIGMETRICS 2001. DOI 10.1145/378420.378438.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from queueing.balanced.groups import SAME, Component
from queueing.balanced.tail_bound import free_shares

__all__ = ["LEAST_FREE", "LinearLaw", "OneGroupLaw", "linear_order"]

LEAST_FREE = 16 * float(np.finfo(float).eps)
"""A free share of a resource below this is rounding of the sum of the loads."""

LISTED = 1e-30
"""Marginals are listed up to this tail: the counts of merged classes are thinned from them."""


class OneGroupLaw:
    """Law of the total of a single group; exact, on all whole numbers.

    Parameters
    ----------
    component : Component
        With one group.
    """

    method = "closed form"
    tail_mass = 0.0

    def __init__(self, component: Component) -> None:
        free = free_shares(component.gain, component.resources, LEAST_FREE)
        self._q, self._free = float(component.gain.max(initial=0.0)), float(free.min(initial=1.0))
        self._c = float(component.ceiling[0])
        self.error = np.zeros(1)
        if self._q == 0:
            self.empty, mean, variance = math.exp(-self._c), self._c, self._c
            # Bernstein's inequality.
            length = math.ceil(self._c + math.sqrt(-2 * self._c * math.log(LISTED)) - math.log(LISTED)) + 1
        else:
            head, last = self._head, len(self._head) - 1
            self.empty = float(head[0])
            # Sums of q^j, j q^j, j^2 q^j over j >= 1, weighted with the last probability of the head.
            q, f = self._q, self._free
            sums = head[-1] * np.array([q / f, q / f**2, q * (1 + q) / f**3])
            k = np.arange(len(head))
            mean = float(head @ k + last * sums[0] + sums[1])
            d = last - mean
            variance = float(head @ (k - mean) ** 2 + d * d * sums[0] + 2 * d * sums[1] + sums[2])
            beyond = head[-1] / f
            fall = math.log1p(-f) if q > 0.5 else math.log(q)  # f may be 1 beside a load of 1e-300
            extra = math.log(LISTED / beyond) / fall if beyond > LISTED else 0.0
            length = last + 1 + math.ceil(extra)
        self.mean, self.variance = np.array([mean]), np.array([variance])
        self.covariance: FloatArray = self.variance[:, None]
        self.shape: tuple[int, ...] = (max(length, 2),)

    @cached_property
    def _head(self) -> FloatArray:
        """Probabilities of 0 .. h."""
        last = math.ceil(self._c / self._q)
        require_memory(
            32.0 * last, "the closed form of jobs with limits", "reduce the loads or raise the limits"
        )
        logs = np.zeros(last + 1)
        if last > 0:
            logs[1:] = np.cumsum(np.log(self._c / np.arange(1, last + 1)))
            logs[-1] = logs[-2] + math.log(self._q)  # at h the resource binds
        weights = np.exp(logs - logs.max())
        return weights / (weights.sum() + weights[-1] * self._q / self._free)

    @property
    def marginals(self) -> tuple[FloatArray, ...]:
        """Law of the total, up to the tail LISTED."""
        size = self.shape[0]
        require_memory(24.0 * size, "the law of a job count", "reduce the load")
        if self._q == 0:
            k = np.arange(size)
            return (np.exp(k * math.log(self._c) - self._c - gammaln(k + 1)),)
        head = self._head
        law = np.zeros(size)
        law[: len(head)] = head[:size]
        if size > len(head):
            law[len(head) :] = head[-1] * self._q ** np.arange(1, size - len(head) + 1)
        return (law,)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Totals, shape (size, 1)."""
        if self._q == 0:
            return rng.poisson(self._c, (size, 1))
        table = np.cumsum(self._head)
        last = len(table) - 1
        # All mass from h on is in the last bin.
        totals = np.minimum(np.searchsorted(table, rng.random(size), side="right"), last)
        beyond = totals == last
        totals[beyond] += rng.geometric(self._free, int(beyond.sum())) - 1
        return totals[:, None]


class LinearLaw:
    """Law of the counts of a linear network; exact.

    Parameters
    ----------
    component : Component
    order : ndarray
        From :func:`linear_order`: the long group, then the short groups.
    """

    method = "linear network"
    tail_mass = 0.0

    def __init__(self, component: Component, order: NDArray[np.intp]) -> None:
        self._order = order
        free = free_shares(component.gain, component.resources, LEAST_FREE)
        self._free: FloatArray = free[component.gain[order[1:]].argmax(axis=1)]
        self._long = float(component.gain[order[0]].max())
        self._short: FloatArray = component.gain[order[1:]].max(axis=1)
        n, idle = len(order), 1.0 - self._long
        long, short, free = self._long, self._short, self._free
        self.empty = float(np.exp(np.log(free / idle).sum()) * idle)
        mean = np.empty(n)
        # x_0 is NegativeBinomial(1 + |short|): its mean is r_0/(1 - r_0) (1 + E|short|).
        mean[1:] = short / free
        mean[0] = long / idle * (1.0 + mean[1:].sum())
        between = np.diag(np.append(0.0, short * idle / free**2))
        between[0, 1:] = between[1:, 0] = long / idle * np.diag(between)[1:]
        between[0, 0] = mean[0] / idle + (long / idle) ** 2 * np.diag(between)[1:].sum()
        back = np.argsort(order)
        self.mean, self.covariance = mean[back], between[np.ix_(back, back)]
        self.variance: FloatArray = np.diag(self.covariance)
        self.error = np.zeros(n)
        # E z^{x_0} is a product of one geometric law per link but the first, each with an atom at 0 (below).
        sizes = np.append(self._long_size(), np.ceil(math.log(LISTED) / np.log(short / idle)) + 1)
        self.shape = tuple(int(k) for k in sizes[back])

    def _long_size(self) -> float:
        """Length K with P(x_0 >= K) <= LISTED, by Markov's inequality for z^{x_0}, z half way to the pole."""
        ratios = self._long / (1.0 - self._short)
        z = 0.5 * (1.0 + 1.0 / float(ratios.max()))
        idle = 1.0 - self._long * z
        logs = np.log(self._free) - np.log(idle - self._short)
        power = logs.sum() + (len(ratios) - 1) * math.log(idle / (1.0 - self._long))
        return math.ceil((power - math.log(LISTED)) / math.log(z)) + 2

    @property
    def marginals(self) -> tuple[FloatArray, ...]:
        """Law of each count, up to the tail LISTED."""
        from scipy.signal import lfilter

        require_memory(24.0 * sum(self.shape), "the laws of job counts", "reduce the load")
        order, sizes = self._order, self.shape
        laws: list[FloatArray] = [np.empty(0)] * len(order)
        for i, r, free in zip(order[1:], self._short, self._free, strict=True):
            laws[i] = free / (1 - self._long) * (r / (1 - self._long)) ** np.arange(sizes[i])
        # E z^{x_0} = prod_l (1 - q_l)/(1 - q_l z) (1 - r_0 z)^{L-1}/(1 - r_0)^{L-1}, q_l = r_0/(1 - r_l), and
        # (1 - r_0 z)/(1 - q_l z) = (1 - r_l) + r_l/(1 - q_l z): positive terms only.
        law = np.zeros(sizes[order[0]])
        law[0] = 1.0
        for link, (r, free) in enumerate(zip(self._short, self._free, strict=True)):
            ratio = self._long / (1 - r)
            geometric = lfilter([free / (1 - r)], [1.0, -ratio], law)
            if link == 0:
                law = geometric
            else:
                # r_l (1 - r_l) / (1 - r_0) of the geometric law, the rest stays.
                law = (free * law + r * geometric) / (1 - self._long)
        laws[order[0]] = law
        return tuple(laws)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Counts, shape (size, n_groups)."""
        counts = np.empty((size, len(self._order)), dtype=np.int64)
        shorts = rng.geometric(self._free / (1 - self._long), (size, len(self._short))) - 1
        counts[:, self._order[1:]] = shorts
        counts[:, self._order[0]] = rng.negative_binomial(1 + shorts.sum(axis=1), 1 - self._long)
        return counts


def linear_order(component: Component) -> NDArray[np.intp] | None:
    """Long group, then the short groups, if the component is a linear network; else None."""
    gain = component.gain
    n, links = gain.shape
    if component.ceiling.any() or n != links + 1:
        return None
    uses = (gain > 0).sum(axis=1)
    order = np.argsort(-uses, kind="stable")
    if uses[order[0]] != links or (uses[order[1:]] != 1).any() or ((gain > 0).sum(axis=0) != 2).any():
        return None
    long = gain[order[0]]
    return order if long.max() - long.min() <= SAME * long.max() else None
