r"""Policies on a tree of queues.

*Filling policies* - DRF, max-min, asset fairness - fill the tree from queue to queue as
:mod:`fairness.policies.hierarchy.filling` says. What a queue holds is for DRF the shares of the resources
that its classes hold together, for the others the sum of what they equalise (tasks; sums of shares). On a
tree with a single queue they are the policy itself.

*Policies of prices and bottlenecks* - proportional, :math:`\alpha`-fair, bottleneck-max - act *at the
leaves*: the tree only says how much each class weighs (:mod:`fairness.policies.hierarchy.leaves`), and the
policy shares the pool among all classes with these weights. What one class leaves is not offered to its own
queue first, as it is by filling.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import require_choice, require_flag
from fairness.errors import ModelError, NotConvergedError
from fairness.evidence.pools import Certificate, feasibility_certificate, job_levels
from fairness.evidence.reserves import require_reserves
from fairness.evidence.trees import hierarchy_certificate
from fairness.model.problem import FloatArray, Problem
from fairness.model.tree import Tree
from fairness.policies.engines.filling import FillingPolicy
from fairness.policies.hierarchy.filling import fill_states
from fairness.policies.hierarchy.leaves import leaf_factors, tasks_at_leaves
from fairness.policies.hierarchy.tree_arrays import tree_arrays
from fairness.policies.maxmin import DRF
from fairness.protocol.family import Family, family_of
from fairness.protocol.following import Follower, KernelFollower, follow
from fairness.protocol.policy import Policy, Solution, evaluate, policy_name

__all__ = ["Hierarchical"]

STEPS = 300
"""Microseconds per queue or class and state, interpreted."""
AT_LEAVES = ("filling", "alpha-fair", "bottleneck-max")
"""Families of policies that share a pool among classes by weights; filling where alpha is infinite."""
LARGEST_RECORD = 10_000_000
"""Numbers of tasks that a solution may keep for its certificate."""


@dataclass(frozen=True)
class Hierarchical:
    """A policy on a tree of queues: H-DRF, hierarchical max-min, and others with the weights of a tree.

    Parameters
    ----------
    tree : Tree
        Its classes are found by their names. Bounds (``minimum``, ``maximum``, ``lends``) are for filling
        policies.
    policy : DRF, MaxMin, AssetFair, ProportionalFair, AlphaFair or BottleneckMax, optional
        What is equalised among siblings; DRF unless given.
    naive : bool, optional
        Whether to compare queues by all that they hold, as it is; a queue can starve then as tasks come and
        go (:mod:`fairness.indivisible.hierarchy`). Filling policies only.
    measure : {"total", "borrowed"}, optional
        What is compared of a queue that holds more of a resource than is guaranteed to it: all of it, or what
        lies above. Up to the guarantee nothing is.

    Raises
    ------
    ModelError
        If an argument is none of these. When called: if a class of the problem stands in no queue, the tree
        names a resource that the problem does not have, or queues do not lend more than there is.

    Examples
    --------
    Two queues of equal weight, one with two classes; on the CPU, a queue has half of it, not a third:

    >>> from fairness import Problem
    >>> tree = Tree.from_dict({"all": {"queues": {
    ...     "research": {"classes": ["train", "test"]}, "web": {"classes": ["serve"]}}}})
    >>> pool = Problem([[1], [1], [1]], [12], job_classes=["train", "test", "serve"], resources=["CPU"])
    >>> Hierarchical(tree)(pool, [1, 1, 1])
    array([3., 3., 6.])

    A guarantee counts per resource. Eight vcores are guaranteed to ml, which weighs a tenth; that it needs
    memory, too, of which nothing is, neither voids the guarantee nor fills the memory:

    >>> tree = Tree.from_dict({"all": {"queues": {
    ...     "ml": {"classes": ["train"], "minimum": {"vcores": 8}},
    ...     "web": {"classes": ["serve"], "weight": 9}}}})
    >>> pool = Problem([[1, 4], [1, 1]], [20, 640], job_classes=["train", "serve"],
    ...                resources=["vcores", "GiB"])
    >>> Hierarchical(tree)(pool, [1, 1])
    array([ 8., 12.])
    >>> Hierarchical(tree, measure="borrowed")(pool, [1, 1])
    array([ 9.2, 10.8])
    """

    tree: Tree
    policy: Policy = field(default_factory=DRF)
    naive: bool = field(default=False, kw_only=True)
    measure: str = field(default="total", kw_only=True)

    batches = "compiled"

    def __post_init__(self) -> None:
        if not isinstance(self.tree, Tree):
            raise ModelError.of(
                "tree", f"must be a Tree, for example Tree.flat(problem); got {self.tree!r:.80}"
            )
        require_flag("naive", self.naive)
        require_choice("measure", self.measure, ("total", "borrowed"))
        if self.fills:
            return
        family = family_of(self.policy)
        if family is None or family.name not in AT_LEAVES:
            raise ModelError.of(
                "policy",
                "must be DRF(), MaxMin(), AssetFair(), ProportionalFair(), AlphaFair(2) or BottleneckMax(); "
                f"got {self.policy!r:.80}",
            )
        if self.naive or self.measure != "total":
            name = "naive" if self.naive else "measure"
            raise ModelError.of(
                name, f"is for policies that fill the queues; {policy_name(self.policy)} acts at the leaves: "
                "take DRF()",
            )  # fmt: skip
        if self.tree.is_bounded:
            raise ModelError.of(
                "tree",
                f"has bounds, which {policy_name(self.policy)} at the leaves cannot keep; leave out minimum "
                "and maximum, or take DRF()",
            )

    @property
    def family(self) -> Family:
        """The tree, and the policy on it."""
        return Family("on a tree", {"tree": self.tree, "policy": self.policy})

    @property
    def fills(self) -> bool:
        """Whether the queues are filled; else the policy acts at the leaves."""
        return isinstance(self.policy, FillingPolicy)

    def _fills_as_pool(self, problem: Problem) -> bool:
        """Whether the tree, which must fit the problem, is one queue without bounds: the policy itself."""
        if self.tree.n_nodes > 1 or self.tree.is_bounded or not self.fills:
            return False
        self.tree.require_classes(problem)
        if self.tree.resources is not None:
            self.tree.bounds(problem)
        return True

    @property
    def name(self) -> str:
        """Name for tables and legends: H-DRF, H-MMF, H-PF, ..."""
        return (
            f"{'naive ' * self.naive}H-{policy_name(self.policy)}{' borrowed' * (self.measure == 'borrowed')}"
        )

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes)."""
        if self._fills_as_pool(problem):
            return self.policy(problem, counts)
        x = problem.check_counts(counts)
        if not self.fills:
            return tasks_at_leaves(self.tree, self.policy, problem, x)
        return _Filling(self, problem, x.size // problem.n_classes).tasks(x)

    def follow(self, problem: Problem) -> Follower:
        """One state after the other."""
        if self._fills_as_pool(problem):
            return follow(problem, self.policy)
        if not self.fills:
            return lambda counts: self(problem, counts)
        filling = _Filling(self, problem, 1, kernel=fill_states)
        follower = KernelFollower(problem, filling.kernel, *filling.parameters)

        def tasks(counts: FloatArray) -> FloatArray:
            return filling.ended(follower(counts))

        return tasks

    def solve(self, problem: Problem, counts: ArrayLike | None = None) -> Solution:
        """Allocation and certificate for one vector of counts."""
        x = problem.check_state(counts)
        policy: Any = self.policy
        if self._fills_as_pool(problem):
            return replace(policy.solve(problem, x), tree=self.tree)
        if not self.fills:
            factor = leaf_factors(self.tree, problem, x[None, :])[0]
            solution: Solution = policy.solve(problem.replaced(weights=problem.weights * factor), x)
            return replace(solution, tree=self.tree)
        filling = _Filling(self, problem, 1, record=True)
        tasks = filling.tasks(x)
        return Solution(
            tasks, filling.certificate(x, tasks), levels=job_levels(x, tasks, filling.growth), tree=self.tree
        )


class _Filling:
    """A tree that is filled for the states of one problem: what the kernel is called with."""

    def __init__(
        self,
        policy: Hierarchical,
        problem: Problem,
        n_states: int,
        *,
        kernel: Any = None,
        record: bool = False,
    ) -> None:
        rule: Any = policy.policy
        require_reserves(policy.tree, problem)
        self.policy, self.problem = policy, problem
        self.growth: FloatArray = rule.growth(problem)
        match family_of(rule):
            case Family("filling", {"growth": "dominant"}):
                self.measure = problem.task_shares
            case _:
                rates = rule.rates(problem)
                held = np.divide(1.0, rates, out=np.zeros_like(rates), where=np.isfinite(rates))
                self.measure = held[:, None]
        n = problem.n_classes
        minimum, maximum, _ = policy.tree.bounds(problem)
        bounds = np.isfinite(maximum).sum() + (minimum > 0).sum() + np.isfinite(problem.limits).sum()
        # A resource may be full more than once: guarantees that nobody can use are lent.
        rows = min(4 * int(bounds) + 100, max(LARGEST_RECORD // n - 2, 0)) if record else 0
        self.failed, self.stages = np.zeros(n_states, dtype=bool), np.zeros((rows, n))
        self.kernel = kernel or fill_states.small(STEPS * (n + policy.tree.n_nodes), n_states)
        self.work = tree_arrays(
            policy.tree, problem, self.measure, naive=policy.naive, borrowed=policy.measure == "borrowed",
            compiled=self.kernel is fill_states and fill_states.is_compiled,
        )  # fmt: skip
        self.parameters = (self.growth, self.work, self.failed, self.stages)

    def tasks(self, counts: FloatArray) -> FloatArray:
        """Tasks, shape (..., n_classes)."""
        return self.ended(evaluate(self.problem, counts, self.kernel, *self.parameters))

    def ended(self, tasks: FloatArray) -> FloatArray:
        """The tasks, unless a filling did not end."""
        if self.failed.any():
            raise NotConvergedError(
                f"{self.policy.name}: filling came to no end in state {int(np.argmax(self.failed))}; numbers "
                "that differ by more than 12 decades leave too few digits: measure resources in other units",
                best=tasks,
            )
        return tasks

    def certificate(self, counts: FloatArray, tasks: FloatArray) -> Certificate:
        """Evidence for the state that was recorded; that it fits, where there was too much to record."""
        rows = int(self.work.run[0].rows)
        if rows > len(self.stages):
            return feasibility_certificate(self.problem, counts, tasks)
        return hierarchy_certificate(
            self.problem,
            self.policy.tree,
            counts,
            np.vstack([np.zeros_like(tasks), self.stages[:rows], tasks]),
            growth=np.where(np.isfinite(self.growth), self.growth, 0.0),
            held=self.measure,
            measure=self.policy.measure,
            naive=self.policy.naive,
        )
