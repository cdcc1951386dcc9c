r"""The states of one job class with phases, and the generator of all classes together.

With m phases and less than K jobs the class is in a state :math:`s = (s_1, \dots, s_m)`, :math:`s_k` jobs in
phase k, :math:`|s| = \sum_k s_k < K`. The states are listed by :math:`|s|`, so that those of a smaller K come
first. Three moves leave a state; tasks :math:`\varphi` of the class are shared equally by its jobs:

====================== =========================== =====================================================
move                   to                          rate
====================== =========================== =====================================================
arrival                :math:`s + e_k`             :math:`\lambda\,\alpha_k`, if :math:`|s| < K - 1`
end of a job           :math:`s - e_k`             :math:`\varphi\, (s_k/|s|)\, t_k`
change of phase        :math:`s - e_k + e_l`       :math:`\varphi\, (s_k/|s|)\, T_{kl}`
====================== =========================== =====================================================

Where arrivals are Markovian with the rates :math:`D_0` and :math:`D_1`, their phase is part of the state: in
:math:`(s, a)` an arrival goes to :math:`(s + e_k, b)` at rate :math:`\alpha_k D_{1,ab}`, of a full box to
:math:`(s, b)`, as it is lost; and :math:`a` changes to :math:`b` alone at rate :math:`D_{0,ab}`. States of
equal s follow one another. Of jobs that come in batches, those are lost for whom there is no room.

Seen by its counts, a chain with batches of B jobs passes through the counts between: with the rate
:math:`\beta_i(x)` of batches at count x of law :math:`\pi`, jobs of class i pass from x to :math:`x + e_i` at
the rate :math:`\sum_{j \ge 0} \pi(x - j e_i)\,\beta_i(x - j e_i)\,P(B > j)`. Every count is entered as often
more as it is left, so the chain that moves one job at a time at these rates has the law :math:`\pi` too.

The states of all classes are the product, the last class running fastest; :math:`\varphi_i` depends on the
totals only.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from fairness.model.problem import FloatArray
from queueing.chain.solvers.balance import gathered
from queueing.model.arrivals import Modulation
from queueing.model.phase_type import PhaseType
from queueing.states.box import along

__all__ = ["ClassStates", "PhaseGrid", "class_states", "count_phase_states"]

ONE = np.ones(1)
"""Law of batches of one job."""


@dataclass(frozen=True, eq=False)
class ClassStates:
    """States of one class and its moves; made by :func:`class_states`.

    Parameters
    ----------
    total : ndarray of shape (n_states,), jobs
    mixing : ndarray of shape (n_states,)
        Probability of the state given its total when every job is in phase k with probability
        proportional to its mean work there, independently of the others.
    arrive, serve : sparse array of shape (n_states, n_states)
        Rates from row to column, per arrival and per task running; without diagonal.
    join : ndarray of shape (n_states,)
        Rate of arrivals, those that are lost too, over the mean rate of jobs: 1 of a Poisson process.
    finish : ndarray of shape (n_states,)
        Rate of ends of jobs per task running.
    batches : ndarray of shape (most,)
        Probabilities of 1, 2, ... jobs that arrive at once.
    """

    total: NDArray[np.int64]
    mixing: FloatArray
    arrive: sparse.csr_array
    serve: sparse.csr_array
    join: FloatArray
    finish: FloatArray
    batches: FloatArray

    def modulated(self, arrivals: Modulation, batches: FloatArray) -> ClassStates:
        """The states with those of the arrivals, of mean rate 1, in batches of 1, 2, ... jobs."""
        m, n = len(arrivals.hidden), len(self.total)
        if m == 1 and len(batches) == 1:
            return self
        one, every = sparse.eye_array(m), sparse.eye_array(n)
        # Who finds no room is lost: the state stays.
        step = self.arrive + sparse.diags_array(1.0 * (self.total == self.total.max()))
        after, joined = every, sparse.csr_array((n, n))
        for chance in batches:
            after = after @ step
            joined = joined + chance * after
        moving = sparse.kron(joined, arrivals.arriving) + sparse.kron(every, arrivals.hidden)
        moving = sparse.csr_array(moving - sparse.diags_array(moving.diagonal()))
        moving.eliminate_zeros()
        return ClassStates(
            np.repeat(self.total, m),
            np.outer(self.mixing, arrivals.law).ravel(),
            moving,
            sparse.csr_array(sparse.kron(self.serve, one)),
            np.tile(arrivals.arriving.sum(axis=1), n),
            np.repeat(self.finish, m),
            batches,
        )

    @property
    def following(self) -> FloatArray:
        """Probabilities that more than 0, 1, ... jobs arrive at once, (most,)."""
        return np.cumsum(self.batches[::-1])[::-1]


def count_phase_states(shape: Sequence[int], phases: Sequence[int]) -> float:
    """Number of states of all classes together, as a float."""
    return math.prod(float(special.binom(k - 1 + m, m)) for k, m in zip(shape, phases, strict=True))


def class_states(law: PhaseType, size: int) -> ClassStates:
    """States with less than ``size`` jobs of a class with this law of sizes."""
    m = law.n_phases
    counts = np.arange(size)[:, None]
    for _ in range(m - 1):
        room = size - counts.sum(axis=1)
        ends = np.cumsum(room)
        last = np.arange(ends[-1]) - np.repeat(ends - room, room)
        counts = np.column_stack([np.repeat(counts, room, axis=0), last])
    total = counts.sum(axis=1)
    order = np.lexsort((*counts.T, total))
    counts, total = counts[order], total[order]
    # States are found by their rank, the sum over k of the binomial coefficients (t_k + k - 1 over k) with
    # t_k = s_1 + ... + s_k: it runs through 0, 1, 2, ... and is no larger than their number.
    binomials = list(
        itertools.accumulate(range(m - 1), lambda row, _: np.cumsum(row), initial=np.arange(size))
    )

    def rank(states: NDArray[np.int64]) -> NDArray[np.int64]:
        sums = np.cumsum(states, axis=1)
        return np.sum([row[sums[:, k]] for k, row in enumerate(binomials)], axis=0)

    at_rank = np.argsort(rank(counts))
    one = np.eye(m, dtype=np.int64)

    def place(states: NDArray[np.int64]) -> NDArray[np.intp]:
        return at_rank[rank(states)]

    n = len(total)
    arrivals, services = [], []
    finish = np.zeros(n)
    room_left = np.flatnonzero(total < size - 1)
    for k in range(m):
        if law.initial[k] > 0:
            chance = np.full(len(room_left), law.initial[k])
            arrivals.append((room_left, place(counts[room_left] + one[k]), chance))
        busy = np.flatnonzero(counts[:, k])
        part = counts[busy, k] / total[busy]
        if law.exits[k] > 0:
            services.append((busy, place(counts[busy] - one[k]), law.exits[k] * part))
            finish[busy] += law.exits[k] * part
        for j in range(m):
            if j != k and law.rates[k, j] > 0:
                services.append((busy, place(counts[busy] - one[k] + one[j]), law.rates[k, j] * part))
    weights = law.visits / law.mean
    logs = special.gammaln(total + 1.0) - special.gammaln(counts + 1.0).sum(axis=1)
    mixing = np.exp(logs + counts @ np.log(weights))
    mixing /= np.bincount(total, mixing)[total]
    return ClassStates(total, mixing, gathered(arrivals, n), gathered(services, n), np.ones(n), finish, ONE)


@dataclass(frozen=True, eq=False)
class PhaseGrid:
    """All classes together.

    Parameters
    ----------
    classes : sequence of ClassStates
    arrival_rates : ndarray of shape (n,)
    tasks : ndarray of shape (n, *shape)
        Tasks of each class by total counts.
    """

    classes: Sequence[ClassStates]
    arrival_rates: FloatArray
    tasks: FloatArray

    @property
    def sizes(self) -> tuple[int, ...]:
        """States of each class."""
        return tuple(len(c.total) for c in self.classes)

    @cached_property
    def counts_of(self) -> NDArray[np.int64]:
        """Flat place of the total counts of each state, shape ``sizes``."""
        return np.ravel_multi_index(np.ix_(*(c.total for c in self.classes)), self.tasks.shape[1:])

    def spread(self, counts_law: FloatArray, conditional: FloatArray | None = None) -> FloatArray:
        """Law of the states from that of the counts; by default jobs are independently in their phases."""
        return counts_law.ravel()[self.counts_of] * (self.mixed() if conditional is None else conditional)

    def mixed(self) -> FloatArray:
        """Probability of each state given the totals when jobs are in their phases independently."""
        return functools.reduce(np.multiply.outer, (c.mixing for c in self.classes))

    def counts_law(self, law: FloatArray) -> FloatArray:
        """Law of the total counts."""
        shape = self.tasks.shape[1:]
        # Class by class, so that no array of places is needed.
        for i, c in enumerate(self.classes):
            starts = np.searchsorted(c.total, np.arange(shape[i]))
            law = np.add.reduceat(law, starts, axis=i)
        return law

    def departures(self, law: FloatArray, counts_law: FloatArray) -> FloatArray:
        """Rates at which jobs of each class leave, given the total counts, (n, *shape)."""
        given = [self._given(i, c.finish, law, counts_law) for i, c in enumerate(self.classes)]
        return np.stack(given) * self.tasks

    def joins(self, law: FloatArray, counts_law: FloatArray) -> FloatArray:
        """Rates at which jobs of each class arrive, or pass, given the total counts, (n, *shape)."""
        ones = np.ones(counts_law.shape)
        given = [
            self._given(i, c.join, law, counts_law, c.following) if (c.join != 1.0).any() else ones
            for i, c in enumerate(self.classes)
        ]
        return np.stack(given) * along(self.arrival_rates, 0, ones.ndim + 1)

    def _given(
        self, i: int, values: FloatArray, law: FloatArray, counts_law: FloatArray, following: FloatArray = ONE
    ) -> FloatArray:
        """Mean of values at the states of a class, given the total counts of all.

        Those of fewer jobs of the class count as well, so far below as they are ``following``.
        """
        c, n = self.classes[i], len(self.classes)
        usual = np.bincount(c.total, values * c.mixing) * following.sum()
        of_counts = self.counts_law(law * along(values, i, n))
        flow = following[0] * of_counts
        for j, part in enumerate(following[1 : flow.shape[i]], 1):
            low, high = ((slice(None),) * i + (cut,) for cut in (slice(None, -j), slice(j, None)))
            flow[high] += part * of_counts[low]
        # Where the law has underflowed any values will do.
        out = np.broadcast_to(along(usual, i, n), counts_law.shape).copy()
        return np.divide(flow, counts_law, out=out, where=counts_law > 0)

    def rates(self) -> sparse.csr_array:
        """Rates from row to column, without a diagonal."""
        total = math.prod(self.sizes)
        result = sparse.csr_array((total, total))
        for i, c in enumerate(self.classes):
            before, after = math.prod(self.sizes[:i]), math.prod(self.sizes[i + 1 :])
            tasks = np.broadcast_to(self.tasks[i].ravel()[self.counts_of], self.sizes).ravel()
            for local, rate in ((c.arrive, None), (c.serve, tasks)):
                full = sparse.kron(sparse.kron(sparse.eye_array(before), local), sparse.eye_array(after))
                moves = sparse.csr_array(full)
                result = result + (
                    moves * self.arrival_rates[i] if rate is None else sparse.diags_array(rate) @ moves
                )
        return sparse.csr_array(result)
