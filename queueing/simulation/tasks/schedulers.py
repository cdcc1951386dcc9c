r"""Task-level schedulers: whose task starts next.

When capacity is free, a scheduler picks the most deprived [1]_ among the jobs that have a waiting task and
are below their limit. With :math:`k` running tasks, a job of class :math:`i` holds the weighted share
:math:`s_j = k a_{ij}/(w_i C_j)` of resource :math:`j`.

* **DRF**: the smallest dominant share :math:`\max_j s_j`.
* **BMF**: the worst *best rank*. On each bottleneck the jobs present are ranked by share: the rank of a job
  is 1 plus the number of jobs with a strictly larger share. Its best rank is its smallest over the
  bottlenecks.
* **Target** (ours; the talk gives no rule for PF): a fluid policy gives a class :math:`\varphi_i(x)`
  tasks when :math:`x` jobs are present. Serve the class whose running tasks fall furthest below it,
  :math:`\min_i K_i/\varphi_i(x)`, and in it the job with the fewest running tasks. Proportional fairness is
  the target of :func:`PFScheduler`.
* **FIFO**: the oldest.

*Blocking* (the talk's head-of-line blocking): if the task of the chosen job does not fit, wait until it
does. Otherwise skip to the most deprived job whose task fits. *Ties* go to the oldest job, or to one of the
tied jobs at random, drawn afresh at each decision.

The talk leaves open which resource is a *bottleneck* when tasks are whole. ``BMFScheduler(bottlenecks=...)``:

* ``"blocking"`` (default): a resource on which the next task of some waiting job does not fit; while there is
  none, every resource counts;
* ``"fullest"``: the resources with the largest utilisation;
* ``"all"``: every resource, always.

Resources that no class demands never count.

Jobs of one class with equally many running tasks differ in age only. Hence all rules work on *groups*
(class, number of running tasks): DRF and FIFO are static orders of the groups, BMF ranks groups by
multiplicity, and a decision costs O(n_classes x levels), not O(jobs). Only random ties cost more: a walk to
the chosen place in the queue of its group.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014: "Serving the most deprived job".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import require_choice, require_flag
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from fairness.policies.proportional import ProportionalFair
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.simulation.policy_rows import Lookup, no_lookup, read_only
from queueing.simulation.tasks.own_schedulers import OwnScheduler
from queueing.waiting.whole_jobs import Order, Starts

__all__ = [
    "SERVER_SCHEDULERS",
    "BMFScheduler",
    "DRFScheduler",
    "FIFOScheduler",
    "PFScheduler",
    "Scheduler",
    "TargetScheduler",
    "is_scheduler",
    "order_scheduler",
]

IntArray = NDArray[np.int64]

STATIC, BEST_RANK, TARGET, ASKED = range(4)
BOTTLENECKS = ("blocking", "fullest", "all")
TIES = ("oldest", "random")

SAME_SHARE = 1e-12
"""Shares closer than this are equal: the same fraction computed from different demands."""

SAME_RATIO = 1e-6
"""Ratios to a fluid target closer than this are equal: fluid policies are solved to finite accuracy."""


NEVER_SERVED = 1e300
"""Score of a class, or of a user, to which the fluid target gives nothing: after all others."""


class Rule(NamedTuple):
    """A scheduler in the form that the kernel reads; groups are numbered class by class, level by level.

    ``order`` (n_groups,) ranks the groups for STATIC; ``share_rank`` (n_resources, n_groups) ranks them by
    share on each resource that is ``demanded`` and ``by_share`` lists them from the largest; ``lookup`` has
    the tasks of the fluid policy of a TARGET. What a kind does not need has one entry, or none.
    """

    kind: int
    blocking: bool = False
    random_ties: bool = False
    bottlenecks: int = 0
    demanded: NDArray[np.bool_] = np.zeros(1, np.bool_)
    order: IntArray = np.zeros(1, np.int64)
    share_rank: IntArray = np.zeros((1, 1), np.int64)
    by_share: IntArray = np.zeros((1, 1), np.int64)
    lookup: Lookup = read_only(no_lookup(1))


class CompiledScheduler(Protocol):
    """What the kernel needs from a scheduler."""

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        ...

    @property
    def policy(self) -> AnyPolicy | None:
        """Fluid policy that the scheduler follows, if any."""
        ...

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """The scheduler's order on the groups (class, number of running tasks)."""
        ...


Scheduler = CompiledScheduler | OwnScheduler
"""A scheduler of whole tasks, compiled or written in Python."""


def is_scheduler(policy: object) -> bool:
    """Whether ``policy`` schedules whole tasks or jobs; DRFScheduler without its brackets is no scheduler."""
    if isinstance(policy, type):
        return False
    compiled = not callable(policy) and hasattr(policy, "rule") and hasattr(policy, "policy")
    waits = isinstance(policy, Order) and not policy.by_counts
    return compiled or waits or isinstance(policy, OwnScheduler)


class Deprivation:
    """What compiled schedulers share: the most deprived job is served, under blocking or not, ties broken."""

    blocking: bool
    ties: str = "oldest"
    policy: AnyPolicy | None

    def __post_init__(self) -> None:
        require_flag("blocking", self.blocking)
        require_choice("ties", self.ties, TIES)

    def ruled(self, kind: int, **orders: Any) -> Rule:
        """The rule of this kind, with its orders of the groups."""
        return Rule(kind, bool(self.blocking), self.ties == "random", **orders)


@dataclass(frozen=True, kw_only=True)
class DRFScheduler(Deprivation):
    """Start a task of the job with the smallest weighted dominant share.

    Parameters
    ----------
    blocking : bool
        Wait when the chosen job's task does not fit, or skip to the most deprived job whose task fits.
    ties : {"oldest", "random"}
    """

    blocking: bool = True
    ties: str = "oldest"

    name = "DRF"
    policy = None

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """Groups ordered by dominant share."""
        share = (problem.task_shares.max(axis=1) / problem.weights)[group_class] * group_level
        return self.ruled(STATIC, order=_dense_ranks(share))


@dataclass(frozen=True, kw_only=True)
class BMFScheduler(Deprivation):
    """Start a task of the job with the worst best rank of bottleneck shares.

    Parameters
    ----------
    blocking : bool
        Wait when the chosen job's task does not fit, or skip to the most deprived job whose task fits.
    ties : {"oldest", "random"}
    bottlenecks : {"blocking", "fullest", "all"}
        Which resources count as bottlenecks; see the module docstring.
    """

    blocking: bool = True
    ties: str = "oldest"
    bottlenecks: str = "blocking"

    name = "BMF"
    policy = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("bottlenecks", self.bottlenecks, BOTTLENECKS)

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """Groups ordered by share on each resource."""
        shares = (problem.task_shares / problem.weights[:, None])[group_class] * group_level[:, None]
        ranks = np.stack([_dense_ranks(column) for column in shares.T])
        return self.ruled(
            BEST_RANK,
            bottlenecks=BOTTLENECKS.index(self.bottlenecks),
            demanded=np.asarray(problem.demands.any(axis=0)),
            share_rank=ranks,
            by_share=np.ascontiguousarray(np.argsort(-ranks, axis=1, kind="stable")),
        )


@dataclass(frozen=True)
class TargetScheduler(Deprivation):
    """Serve the class whose running tasks fall furthest below a fluid policy; in it, the least served job.

    The target is evaluated at the jobs present, whether or not they have tasks waiting.

    Parameters
    ----------
    policy : callable
        ``policy(problem, counts) -> tasks``, for example ``ProportionalFair()``.
    blocking : bool
        Wait when the chosen job's task does not fit, or skip to the most deprived job whose task fits.
    ties : {"oldest", "random"}
    """

    policy: AnyPolicy
    blocking: bool = field(default=True, kw_only=True)
    ties: str = field(default="oldest", kw_only=True)

    def __post_init__(self) -> None:
        policy_name(self.policy)
        super().__post_init__()

    @property
    def name(self) -> str:
        """Name of the policy that is followed."""
        return policy_name(self.policy)

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """Groups are ordered by the tasks of the policy, which the simulator looks up."""
        return self.ruled(TARGET)


def PFScheduler(*, blocking: bool = True, ties: str = "oldest") -> TargetScheduler:
    """Follow proportional fairness: ``TargetScheduler(ProportionalFair())``.

    Parameters
    ----------
    blocking : bool
        Wait when the chosen job's task does not fit, or skip to the most deprived job whose task fits.
    ties : {"oldest", "random"}

    Returns
    -------
    TargetScheduler

    Raises
    ------
    ModelError
        If an option is unknown.

    Examples
    --------
    >>> PFScheduler(blocking=False).name
    'PF'
    """
    return TargetScheduler(ProportionalFair(), blocking=blocking, ties=ties)


@dataclass(frozen=True, kw_only=True)
class FIFOScheduler(Deprivation):
    """Start a task of the oldest job. No two jobs have the same age, so there are no ties to break.

    Parameters
    ----------
    blocking : bool
        Wait when the oldest job's task does not fit, or skip to the oldest job whose task fits.
    """

    blocking: bool = True

    name = "FIFO"
    policy = None

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """All groups are equal, so age decides."""
        return self.ruled(STATIC, order=np.zeros(len(group_class), np.int64))


@dataclass(frozen=True, kw_only=True)
class PriorityScheduler(Deprivation):
    """Start a task of the class with the smallest rank; of classes of equal rank, of the oldest job.

    Parameters
    ----------
    ranks : tuple of int, (n_classes,)
    blocking : bool
        Wait when the chosen job's task does not fit, or skip to the next whose task fits.
    """

    ranks: tuple[int, ...]
    blocking: bool = False

    name = "priorities"
    policy = None

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """Groups are ordered by the rank of their class."""
        return self.ruled(STATIC, order=np.array(self.ranks, np.int64)[group_class])


def order_scheduler(order: Order, problem: Problem | Cluster) -> Scheduler:
    """The scheduler that starts whole jobs in this order; ModelError if jobs are taken out of service."""
    starts = order.starts(problem)
    if not isinstance(starts, Starts):
        rule: OwnScheduler = starts
        return rule
    ranks, blocking = starts
    alike = len(set(ranks)) <= 1
    return FIFOScheduler(blocking=blocking) if alike else PriorityScheduler(ranks=ranks, blocking=blocking)


SERVER_SCHEDULERS = (DRFScheduler, FIFOScheduler, TargetScheduler)
"""Those that make sense on servers and for jobs of several types."""


def _dense_ranks(values: FloatArray) -> IntArray:
    """Ranks 0, 1, ... in increasing order; values that agree up to rounding get the same rank."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    step = np.diff(ordered) > SAME_SHARE * ordered[1:]
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(step)])
    return ranks
