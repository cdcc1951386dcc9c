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
from fairness.protocol.policy import Policy, policy_name
from queueing.simulation.policy_rows import Lookup, no_lookup, read_only
from queueing.simulation.tasks.own_schedulers import OwnScheduler

__all__ = [
    "BMFScheduler",
    "DRFScheduler",
    "FIFOScheduler",
    "PFScheduler",
    "Scheduler",
    "TargetScheduler",
    "is_scheduler",
    "make_rule",
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
    share on each resource and ``by_share`` lists them from the largest; ``lookup`` has the tasks of the fluid
    policy of a TARGET. What a kind does not need has one entry, or none.
    """

    kind: int
    blocking: bool
    random_ties: bool
    bottlenecks: int
    demanded: NDArray[np.bool_]
    order: IntArray
    share_rank: IntArray
    by_share: IntArray
    lookup: Lookup


class CompiledScheduler(Protocol):
    """What the kernel needs from a scheduler."""

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        ...

    @property
    def policy(self) -> Policy | None:
        """Fluid policy that the scheduler follows, if any."""
        ...

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """The scheduler's order on the groups (class, number of running tasks)."""
        ...


Scheduler = CompiledScheduler | OwnScheduler
"""A scheduler of whole tasks, compiled or written in Python."""


def is_scheduler(policy: object) -> bool:
    """Whether ``policy`` schedules whole tasks; DRFScheduler without its brackets is no scheduler."""
    if isinstance(policy, type):
        return False
    compiled = not callable(policy) and hasattr(policy, "rule") and hasattr(policy, "policy")
    return compiled or isinstance(policy, OwnScheduler)


@dataclass(frozen=True, kw_only=True)
class DRFScheduler:
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

    def __post_init__(self) -> None:
        _check_options(self.blocking, self.ties)

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """Groups ordered by dominant share."""
        share = (problem.task_shares.max(axis=1) / problem.weights)[group_class] * group_level
        return make_rule(problem, STATIC, self.blocking, self.ties, order=_dense_ranks(share))


@dataclass(frozen=True, kw_only=True)
class BMFScheduler:
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
        _check_options(self.blocking, self.ties)
        require_choice("bottlenecks", self.bottlenecks, BOTTLENECKS)

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """Groups ordered by share on each resource."""
        shares = (problem.task_shares / problem.weights[:, None])[group_class] * group_level[:, None]
        ranks = np.stack([_dense_ranks(column) for column in shares.T])
        by_share = np.argsort(-ranks, axis=1, kind="stable")
        return make_rule(
            problem,
            BEST_RANK,
            self.blocking,
            self.ties,
            bottlenecks=BOTTLENECKS.index(self.bottlenecks),
            share_rank=ranks,
            by_share=np.ascontiguousarray(by_share),
        )


@dataclass(frozen=True)
class TargetScheduler:
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

    policy: Policy
    blocking: bool = field(default=True, kw_only=True)
    ties: str = field(default="oldest", kw_only=True)

    def __post_init__(self) -> None:
        policy_name(self.policy)
        _check_options(self.blocking, self.ties)

    @property
    def name(self) -> str:
        """Name of the policy that is followed."""
        return policy_name(self.policy)

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """Groups are ordered by the tasks of the policy, which the simulator looks up."""
        return make_rule(problem, TARGET, self.blocking, self.ties)


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
class FIFOScheduler:
    """Start a task of the oldest job. No two jobs have the same age, so there are no ties to break.

    Parameters
    ----------
    blocking : bool
        Wait when the oldest job's task does not fit, or skip to the oldest job whose task fits.
    """

    blocking: bool = True

    name = "FIFO"
    policy = None

    def __post_init__(self) -> None:
        _check_options(self.blocking, "oldest")

    def rule(self, problem: Problem, group_class: IntArray, group_level: IntArray) -> Rule:
        """All groups are equal, so age decides."""
        return make_rule(problem, STATIC, self.blocking, "oldest", order=np.zeros(len(group_class), np.int64))


def _check_options(blocking: Any, ties: Any) -> None:
    require_flag("blocking", blocking)
    require_choice("ties", ties, TIES)


def make_rule(
    problem: Problem | Cluster,
    kind: int,
    blocking: bool,
    ties: str,
    *,
    bottlenecks: int = 0,
    order: IntArray | None = None,
    share_rank: IntArray | None = None,
    by_share: IntArray | None = None,
) -> Rule:
    """A rule with the entries that its kind does not need left out."""
    demanded = np.asarray(problem.demands.any(axis=0))
    return Rule(
        kind,
        bool(blocking),
        ties == "random",
        bottlenecks,
        demanded,
        np.zeros(1, np.int64) if order is None else order,
        np.zeros((1, 1), np.int64) if share_rank is None else share_rank,
        np.zeros((1, 1), np.int64) if by_share is None else by_share,
        read_only(no_lookup(problem.n_classes)),
    )


def _dense_ranks(values: FloatArray) -> IntArray:
    """Ranks 0, 1, ... in increasing order; values that agree up to rounding get the same rank."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    step = np.diff(ordered) > SAME_SHARE * ordered[1:]
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(step)])
    return ranks
