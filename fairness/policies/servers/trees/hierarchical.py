r"""Policies for clusters on a tree of queues.

*Levelling policies* - C-DRFH, DRFH, TSF, CDRF - fill the tree from queue to queue
(:mod:`fairness.policies.servers.trees.filling`). What a queue holds is for DRFH and C-DRFH the shares of the
resources of the whole cluster that its classes hold together: H-DRF [1]_ on servers. For TSF and CDRF it is
the sum of the task shares of its classes. With a single queue they are the policy itself.

*Other policies* - PS-DSF, DRF on each server - act *at the leaves*, as the policies of prices and bottlenecks
do on a pool (:mod:`fairness.policies.hierarchy.leaves`): the tree only says how much each class weighs.

References
----------
.. [1] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import require_flag
from fairness.errors import ModelError, NotConvergedError
from fairness.evidence.tree_placements import hierarchy_placement_certificate, pooled
from fairness.model.cluster import Cluster
from fairness.model.tree import Tree
from fairness.policies.hierarchy.leaves import leaf_factors
from fairness.policies.servers.engines.level_program import FAR_APART
from fairness.policies.servers.task_share import CDRFH, LeximinPolicy
from fairness.policies.servers.trees.filling import fill_tree
from fairness.protocol.cluster_policy import ClusterPolicy, ClusterSolution
from fairness.protocol.family import Family
from fairness.protocol.policy import policy_name

__all__ = ["HierarchicalPlacement"]


@dataclass(frozen=True)
class HierarchicalPlacement(ClusterPolicy):
    """A policy for clusters on a tree of queues: H-DRF on servers, and others with the weights of a tree.

    Parameters
    ----------
    tree : Tree
        Its classes are found by their names. A ``maximum`` bounds what a queue uses on all servers together;
        it is for levelling policies only. Guarantees (``minimum``) are for pools.
    policy : CDRFH, DRFH, TSF, CDRF, PSDSF or PerServerDRF, optional
        What is equalised among siblings; C-DRFH unless given, the dominant share of the whole cluster.
    naive : bool, optional
        Whether to compare queues by all that they hold, as it is; levelling policies only.

    Raises
    ------
    ModelError
        If an argument is none of these. When called: if a class of the cluster stands in no queue, the tree
        names a resource that the cluster does not have, or gamma is given to a levelling policy.

    Examples
    --------
    Two queues of equal weight, one with two classes, of which one needs the second server:

    >>> from fairness import Cluster, allocate
    >>> tree = Tree.from_dict({"all": {"queues": {
    ...     "research": {"classes": ["train", "test"]}, "web": {"classes": ["serve"]}}}})
    >>> cluster = Cluster([[1], [1], [1]], [[8], [4]], job_classes=["train", "test", "serve"],
    ...                   eligible=[[False, True], [True, True], [True, True]])
    >>> allocate(cluster, HierarchicalPlacement(tree)).tasks
    array([3., 3., 6.])
    """

    tree: Tree
    policy: ClusterPolicy = field(default_factory=CDRFH)
    naive: bool = field(default=False, kw_only=True)

    batches = "compiled"
    handles_gamma = False

    def __post_init__(self) -> None:
        if not isinstance(self.tree, Tree):
            raise ModelError.of(
                "tree", f"must be a Tree, for example Tree.flat(cluster); got {self.tree!r:.80}"
            )
        require_flag("naive", self.naive)
        if not isinstance(self.policy, ClusterPolicy) or isinstance(self.policy, HierarchicalPlacement):
            raise ModelError.of(
                "policy",
                "must be CDRFH(), DRFH(), TSF(), CDRF(), PSDSF() or PerServerDRF(); for a pool take "
                f"Hierarchical(tree, policy); got {self.policy!r:.80}",
            )
        if self.tree.minimum.any():
            raise ModelError.of(
                "tree",
                "guarantees something, which is not for servers: leave out minimum, or share the pool of "
                "all servers, Problem(cluster.demands, cluster.total_capacities), by Hierarchical(tree)",
            )
        if self.fills:
            return
        if self.naive:
            told = f"is for policies that fill the queues; {policy_name(self.policy)} acts at the leaves"
            raise ModelError.of("naive", f"{told}: take CDRFH()")
        if np.isfinite(self.tree.maximum).any():
            raise ModelError.of(
                "tree",
                f"has bounds, which {policy_name(self.policy)} at the leaves cannot keep; leave out maximum, "
                "or take CDRFH()",
            )

    @property
    def family(self) -> Family:
        """The tree, and the policy on it."""
        return Family("on a tree", {"tree": self.tree, "policy": self.policy})

    @property
    def fills(self) -> bool:
        """Whether the queues are filled; else the policy acts at the leaves."""
        return isinstance(self.policy, LeximinPolicy)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name for tables and legends: H-C-DRFH, H-TSF, H-PS-DSF, ..."""
        return f"{'naive ' * self.naive}H-{policy_name(self.policy)}"

    @property
    def division(self) -> str:  # type: ignore[override]
        """How placements share a server."""
        return self.policy.division

    @property
    def handles_constraints(self) -> bool:
        """Whether classes may be kept from servers that have all they demand."""
        return bool(getattr(self.policy, "handles_constraints", True))

    def solve(self, cluster: Cluster, counts: ArrayLike | None = None) -> ClusterSolution:
        """Placement, levels and evidence for one vector of counts (all 1 when None)."""
        x = cluster.check_state(counts)
        if not isinstance(self.policy, LeximinPolicy):
            factor = leaf_factors(self.tree, cluster, x[None, :])[0]
            return self.policy.solve(cluster.replaced(weights=cluster.weights * factor), x)
        if cluster.given_gamma is not None:
            raise ModelError.of(
                "gamma",
                f"is given, so a queue has no share of the whole cluster that {self.name} could level; drop "
                "gamma, or take HierarchicalPlacement(tree, PSDSF())",
            )
        yardsticks = self.policy.yardsticks(cluster, x)
        growth = cluster.weights * yardsticks
        pool = pooled(cluster)
        of_resources = self.policy.family.parameters["yardstick"] == "pooled"
        measure = pool.task_shares if of_resources else (1.0 / yardsticks)[:, None]
        filled = fill_tree(cluster, self.tree, x, x * growth, measure, self.naive)
        certificate = hierarchy_placement_certificate(
            cluster, self.tree, x, filled.placement, filled.stages, filled.prices,
            growth=growth, held=measure, naive=self.naive,
        )  # fmt: skip
        tasks = filled.placement.sum(axis=1)
        levels = np.divide(tasks, x * growth, out=np.zeros_like(tasks), where=x > 0)
        details: dict[str, Any] = {"stages": filled.stages, "prices": filled.prices}
        solution = ClusterSolution(filled.placement, certificate, levels=levels, details=details)
        if not certificate.holds:
            raise NotConvergedError(
                f"{self.name}: the filling is off by {certificate.residual:.1e}; {FAR_APART}",
                best=solution,
                residual=certificate.residual,
            )
        return solution
