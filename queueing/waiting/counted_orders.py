r"""Orders of whole jobs that look at the counts alone: MaxWeight and priorities.

Jobs are taken out of service at any time and go on later where they stopped; with exponential sizes it does
not matter for the counts which jobs of a class run. So an order is a policy that answers with whole numbers
of tasks, one for each job that runs. It does matter for the law of the durations, if not for their means: a
simulation of jobs runs the oldest ones of a class, or those that its ``order`` says.

**MaxWeight** [1]_ runs, of the whole numbers of jobs :math:`n \le x` that fit together, those with the
largest

.. math:: \sum_i w_i x_i n_i ,

w being the weights of the classes; as Maguluri, Srikant and Ying do in clusters [2]_, without the sizes of
the jobs. It carries whatever any order of whole jobs carries: :math:`\frac12\sum_i w_i\sigma_i x_i^2` has a
drift of at most :math:`\sum_i w_i x_i(\rho_i - n_i)` and a constant, n is the best configuration but for
classes of few jobs, and so the drift is negative far from 0 if :math:`\rho` lies inside the convex hull of
the configurations. *Ties* go to the class that stands first: of the best n the one with the most jobs of
it, of these the one with the most of the second, and so on. Sums that differ by less than 1e-12 are equal.

**Priorities** go through the classes in an order that never changes; each runs as many jobs as fit beside
those of the classes before it.

References
----------
.. [1] L. Tassiulas and A. Ephremides, "Stability properties of constrained queueing systems and scheduling
   policies for maximum throughput in multihop radio networks", IEEE Transactions on Automatic Control 37(12),
   1992. DOI 10.1109/9.182479.
.. [2] S. T. Maguluri, R. Srikant and L. Ying, "Stochastic models of load balancing and scheduling in cloud
   computing clusters", INFOCOM 2012. DOI 10.1109/INFCOM.2012.6195815.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import require_flag
from fairness.errors import ModelError
from fairness.exact.configurations import maximal_configurations
from fairness.exact.server_rows import distinct_servers
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.family import Family
from queueing.waiting.whole_jobs import Order, Starts, require_whole_jobs, whole_needs

__all__ = ["MaxWeight", "Priorities", "configurations", "most_alone"]

MOST_CONFIGURATIONS = 50_000
"""Of which MaxWeight takes the best one in each state."""
AT_ONCE = 4_000_000
"""States times configurations that are compared in one piece."""
SAME = 1e-12
"""Relative difference of sums that are equal."""

_POOLS: WeakKeyDictionary[Problem, _Pool] = WeakKeyDictionary()
"""States are asked about one by one: what is the same for all is found once."""


@dataclass(frozen=True)
class MaxWeight(Order):
    """Run the whole jobs that fit together with the largest sum of weight times jobs present of their class.

    A policy of counts [1]_, which answers with whole numbers of tasks: for :func:`queueing.stationary`,
    :func:`queueing.simulate`, :func:`capacity.solve`, and :func:`capacity.is_stable`. Jobs are taken out of
    service and go on later. Ties go to the class that stands first (:mod:`queueing.waiting.counted_orders`).

    Raises
    ------
    ModelError
        When asked about counts that are not whole, a cluster, sizes that are not exponential, a class that
        never fits, demands nothing or has a limit below 1, or more than 50,000 configurations.

    References
    ----------
    .. [1] L. Tassiulas and A. Ephremides, "Stability properties of constrained queueing systems and
       scheduling policies for maximum throughput in multihop radio networks", IEEE Transactions on Automatic
       Control 37(12), 1992. DOI 10.1109/9.182479.

    Examples
    --------
    Seven units, jobs of two and of three:

    >>> from fairness import Problem
    >>> from queueing import MaxWeight, System, stationary
    >>> pool = Problem([[2], [3]], [7])
    >>> MaxWeight()(pool, [[1, 5], [3, 4], [5, 1]])
    array([[0., 2.],
           [2., 1.],
           [3., 0.]])
    >>> stationary(System(pool, [0.8, 0.6]), MaxWeight()).mean_jobs.round(4)
    array([0.9328, 0.8396])
    """

    batches = "in turn"
    family = Family("max-weight")

    @property
    def by_counts(self) -> bool:
        """Always."""
        return True

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Jobs that run, shape (..., n_classes)."""
        x, pool = _asked(self, problem, counts)
        states, listed = x.reshape(-1, problem.n_classes), pool.configurations
        piece = max(1, AT_ONCE // len(listed))
        parts = [_best(problem.weights, listed, states[k : k + piece]) for k in range(0, len(states), piece)]
        return np.concatenate([*parts, np.empty((0, problem.n_classes))]).reshape(x.shape)


@dataclass(frozen=True)
class Priorities(Order):
    """Run whole jobs class by class, in an order of the classes that never changes.

    Parameters
    ----------
    order : "most", "least" or sequence of str
        First those whose job holds the largest part of some resource, or the smallest; of equal ones the
        class that stands first. Or the names of all classes, the first one first.
    preemptive : bool
        Jobs are taken out of service when others come, and go on later; this is a policy of counts, as
        MaxWeight. If not, jobs run to their end: whenever there is room the first class that has a
        waiting job that fits starts it, the oldest one; :func:`queueing.simulate` runs it.

    Raises
    ------
    ModelError
        If the order is none; when asked, as MaxWeight, and if it names other classes than the model.

    Examples
    --------
    The widest first leaves a server free, which a narrow job takes.

    >>> from fairness import Problem
    >>> from queueing import Priorities, System, stationary
    >>> pool = Problem([[1], [2]], [3], job_classes=["narrow", "wide"])
    >>> Priorities("most")(pool, [4, 2]), Priorities(["narrow", "wide"])(pool, [4, 2])
    (array([1., 1.]), array([3., 0.]))
    >>> stationary(System(pool, [0.8, 0.4]), Priorities("most")).mean_durations.round(4)
    array([1.4289, 1.6667])
    """

    order: str | Sequence[str] = "most"
    preemptive: bool = True

    batches = "in turn"

    def __post_init__(self) -> None:
        require_flag("preemptive", self.preemptive)
        if isinstance(self.order, str):
            if self.order not in ("most", "least"):
                raise ModelError.of(
                    "order",
                    f"must be 'most', 'least' or a list of the names of all classes; got {self.order!r}",
                )
            return
        names = tuple(self.order)
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise ModelError.of("order", f"must list names of classes, each once; got {self.order!r:.80}")
        object.__setattr__(self, "order", names)

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        first = f"{self.order} first" if isinstance(self.order, str) else " > ".join(self.order)
        return f"priorities, {first}{'' if self.preemptive else ', to the end'}"

    @property
    def by_counts(self) -> bool:
        """Whether jobs are taken out of service."""
        return self.preemptive

    @property
    def family(self) -> Family | None:
        """Data for those who know something of it; nothing is known of jobs that run to their end."""
        return Family("priorities", {"order": self.order}) if self.preemptive else None

    def ranking(self, problem: Problem | Cluster) -> list[int]:
        """The classes, the first one first."""
        if isinstance(self.order, str):
            largest = problem.task_shares.reshape(problem.n_classes, -1).max(axis=1)
            return [int(i) for i in np.argsort(-largest if self.order == "most" else largest, kind="stable")]
        if sorted(self.order) != sorted(problem.job_classes):
            raise ModelError.of(
                "order",
                f"must list the classes {', '.join(problem.job_classes)}; got {', '.join(self.order)}",
            )
        return [problem.job_classes.index(name) for name in self.order]

    def starts(self, problem: Problem | Cluster) -> Starts:
        """By class, of jobs that run to their end."""
        if self.preemptive:
            return super().starts(problem)
        return Starts(tuple(np.argsort(self.ranking(problem)).tolist()), blocking=False)

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Jobs that run, shape (..., n_classes)."""
        if not self.preemptive:
            raise ModelError.of("policy", f"{self.name} depends on who runs already: simulate(system, order)")
        x, pool = _asked(self, problem, counts)
        states = x.reshape(-1, problem.n_classes)
        free: NDArray[Any] = np.broadcast_to(pool.room, (len(states), len(pool.room)))
        tasks = np.zeros(states.shape)
        for i in self.ranking(problem):
            if states[:, i].any():
                held = pool.needs[i]
                some = held > 0
                fit = (free[:, some] // held[some]).min(axis=1)
                # In integers: a number of jobs that is rounded might not fit.
                jobs = np.minimum(_integers(states[:, i], held.dtype), fit)
                tasks[:, i] = jobs
                free = free - jobs[:, None] * held
        return tasks.reshape(x.shape)


def most_alone(problem: Problem, i: int) -> int:
    """How many jobs of class i fit where there are no others."""
    pool = _POOLS.setdefault(problem, _Pool(problem))
    rows = zip(pool.room.tolist(), pool.needs[i].tolist(), strict=True)
    return min(room // need for room, need in rows if need)


def configurations(problem: Problem) -> NDArray[np.int64]:
    """Maximal whole numbers of jobs that fit together, (n_configurations, n_classes)."""
    return _POOLS.setdefault(problem, _Pool(problem)).configurations


class _Pool:
    """A pool in integers, and which of its classes are known to run whole."""

    def __init__(self, problem: Problem) -> None:
        capacities, needs, slack = whole_needs(problem)
        largest = max([*capacities, *(need for row in needs for need in row)], default=0)
        kind: Any = np.int64 if largest < 2**62 else object
        self.room = np.array(capacities, kind) + np.array(slack, kind)
        self.needs = np.array(needs, kind)
        self.checked = np.zeros(problem.n_classes, bool)
        (shares,) = distinct_servers(problem)
        # Jobs that demand nothing are refused where there are any.
        self._shares = tuple(row if row and any(row) else None for row in shares)
        self._slack = Fraction(0) if problem.is_rational else Fraction(1, 10**12)

    @cached_property
    def configurations(self) -> NDArray[np.int64]:
        """Maximal whole numbers of jobs that fit together, (n_configurations, n_classes)."""
        return maximal_configurations(self._shares, MOST_CONFIGURATIONS, self._slack, "the pool")


def _asked(order: Order, problem: Problem, counts: ArrayLike) -> tuple[FloatArray, _Pool]:
    """The counts, and the pool; ModelError if one is not whole, or there are jobs that cannot run."""
    x: FloatArray = problem.check_counts(counts)
    here = np.asarray(x.reshape(-1, problem.n_classes).any(axis=0))
    pool = _POOLS.get(problem)
    if pool is None or (here & ~pool.checked).any():
        require_whole_jobs(problem, here)
        pool = _POOLS.setdefault(problem, pool or _Pool(problem))
        pool.checked |= here
    if (x != np.floor(x)).any():
        place = tuple(int(v) for v in np.argwhere(x != np.floor(x))[0])
        raise ModelError(
            f"counts must be whole numbers of jobs under {order.name}; got {x[place]:g}",
            argument="counts",
            index=place,
        )
    return x, pool


def _integers(counts: FloatArray, kind: Any) -> NDArray[Any]:
    """Whole floats as integers of a kind; in int64 as many as that can tell, which is more than fits."""
    if kind == np.int64:
        return np.minimum(counts, 2.0**63 - 1024).astype(np.int64)
    return np.array([int(x) for x in counts], object)


def _best(weights: FloatArray, listed: NDArray[np.int64], states: FloatArray) -> FloatArray:
    """The best configurations in some states, (n_states, n_classes)."""
    # What fits of at most x jobs is part of a maximal configuration, cut off at x.
    cut = [np.minimum.outer(states[:, i], listed[:, i]) for i in range(len(weights))]
    worth = sum((weights[i] * states[:, i])[:, None] * cut[i] for i in range(len(weights)))
    best = worth >= (1.0 - SAME) * worth.max(axis=1, keepdims=True)
    tasks = np.empty(states.shape)
    for i, jobs in enumerate(cut):
        tasks[:, i] = np.where(best, jobs, -1.0).max(axis=1)
        best &= jobs == tasks[:, i, None]
    return tasks
