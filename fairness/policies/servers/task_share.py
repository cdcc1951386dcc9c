r"""Max-min fairness of global shares on a cluster: TSF, CDRF, C-DRFH, DRFH.

Each mechanism levels the tasks of a class over a yardstick and the effective weight (jobs times weight)
:math:`\varphi_n`, in the sense of leximin (:mod:`.leximin`), on the servers where the class may run:

* *task share fairness* (TSF) [1]_: :math:`x_n/(\varphi_n \gamma_n)`; :math:`\gamma_n = \sum_i \gamma_{ni}`
  are the tasks of class n alone on the whole cluster if it had no placement constraints; without constraints
  this is the containerised DRF (CDRF) of [2]_;
* *C-DRFH* [3]_ (eq. 5): :math:`x_n \max_r d_{nr} / (\varphi_n \sum_i c_{ir})`, the dominant share of the
  pooled capacities; without constraints this is *DRFH* [4]_.

TSF with equal weights can give a class less than its part of every server would (the sharing incentive).
With the weights of [1]_ it cannot: let :math:`k_n = \sum_i \gamma_{ni} \varphi_n / \sum_p \varphi_p` over
eligible servers, the tasks that class n could run in a pool of its own, its part of every server. Levelling
:math:`x_n/k_n` gives everybody at least 1, because these pools together are a placement.

References
----------
.. [1] W. Wang, B. Li, B. Liang and J. Li, "Multi-resource fair sharing for datacenter jobs with placement
   constraints", SC 2016. DOI 10.1109/SC.2016.84.
.. [2] E. Friedman, A. Ghodsi and C.-A. Psomas, "Strategyproof allocation of discrete jobs on multiple
   machines", EC 2014. DOI 10.1145/2600057.2602889.
.. [3] J. Khamse-Ashari, I. Lambadaris, G. Kesidis, B. Urgaonkar and Y. Zhao, "Per-server dominant-share
   fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
.. [4] W. Wang, B. Liang and B. Li, "Multi-resource fair allocation in heterogeneous cloud computing systems",
   IEEE Transactions on Parallel and Distributed Systems 26(10), 2015. DOI 10.1109/TPDS.2014.2362139.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, require_choice
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.policies.servers.engines.leximin import leximin
from fairness.policies.servers.states.cutting_planes import LeximinTotals
from fairness.protocol.cluster_policy import ClusterPolicy, ClusterSolution
from fairness.protocol.family import Family

__all__ = ["CDRF", "CDRFH", "DRFH", "TSF", "WEIGHTINGS", "LeximinPolicy"]

WEIGHTINGS = ("equal", "dedicated")
"""How TSF weighs the classes: by effective weights alone, or so that it keeps the sharing incentive."""


class LeximinPolicy(ClusterPolicy):
    """A policy that levels tasks over yardsticks; a subclass says which.

    One state is solved by linear programs, with evidence; the totals of many by cutting planes, each checked
    (:mod:`fairness.policies.servers.states.cutting_planes`), and by programs where the check fails.

    Attributes
    ----------
    handles_constraints, handles_gamma : bool
        Whether classes may be kept from servers that have all they demand; whether gamma may be given.
    """

    batches = "compiled"
    family = Family("leximin", {"yardstick": "own", "constraints": True})
    handles_constraints = True
    handles_gamma = True

    def __init_subclass__(cls) -> None:
        # Yardsticks of its own, unless it says which they are.
        if "family" not in vars(cls) and "yardsticks" in vars(cls):
            cls.family = LeximinPolicy.family

    @abstractmethod
    def yardsticks(self, cluster: Cluster, counts: FloatArray) -> FloatArray:
        """What a level of 1 gives to a class of effective weight 1, shape (n_classes,), tasks.

        Counts may change the unit of the levels, but not the proportions of the classes.
        """

    def solve(self, cluster: Cluster, counts: ArrayLike | None = None) -> ClusterSolution:
        """Placement, levels and the evidence of each round for one vector of counts (all 1 when None)."""
        x = cluster.check_state(counts)
        result = leximin(cluster, x, self.yardsticks(cluster, x))
        details = {"rounds": result.rounds}
        return ClusterSolution(result.placement, result.certificate, levels=result.levels, details=details)

    def tasks(self, cluster: Cluster, counts: ArrayLike | None = None) -> FloatArray:
        """Tasks of each class on all servers together, shape (..., n_classes)."""
        x = self.checked_counts(cluster, counts)
        return self.follow(cluster).of(x.reshape(-1, cluster.n_classes)).reshape(x.shape)

    def follow(self, problem: Cluster) -> LeximinTotals:
        """One state after the other, each from what stopped the classes in the ones before."""
        goals = problem.weights * self.yardsticks(problem, np.ones(problem.n_classes))
        return LeximinTotals(problem, goals, lambda counts: self.solve(problem, counts).placement.sum(axis=1))


@dataclass(frozen=True)
class TSF(LeximinPolicy):
    """Task share fairness: max-min of tasks over those alone on a cluster without placement constraints.

    Parameters
    ----------
    weighting : {"equal", "dedicated"}
        Weigh classes by jobs times weight alone, or also by how much of the cluster they may use, as its
        authors do to keep the sharing incentive; then a level is tasks over those in a dedicated pool.

    Examples
    --------
    >>> from fairness import Cluster, allocate
    >>> cluster = Cluster([[1, 10], [10, 1]], [[100, 10], [10, 100]], eligible=[[True, True], [False, True]])
    >>> allocate(cluster, TSF()).tasks
    array([1., 1.])
    >>> allocate(cluster, TSF("dedicated")).tasks
    array([5.76190476, 0.52380952])
    """

    weighting: str = "equal"

    def __post_init__(self) -> None:
        require_choice("weighting", self.weighting, WEIGHTINGS)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name for tables and legends."""
        return "TSF" if self.weighting == "equal" else "TSF dedicated"

    @property
    def family(self) -> Family:  # type: ignore[override]
        """Leximin over tasks alone, or in a pool of its own."""
        yardstick = "alone" if self.weighting == "equal" else "dedicated"
        return Family("leximin", {"yardstick": yardstick, "constraints": True})

    def yardsticks(self, cluster: Cluster, counts: FloatArray) -> FloatArray:
        """Tasks alone on the whole cluster, or on the eligible servers over all effective weights."""
        if self.weighting == "equal":
            return np.asarray(cluster.unconstrained_gamma.sum(axis=1))
        everybody = float(counts @ cluster.weights)
        return np.asarray(cluster.gamma.sum(axis=1) / (everybody if everybody > 0 else 1.0))


@dataclass(frozen=True)
class CDRF(LeximinPolicy):
    """Containerised DRF: max-min of tasks over those alone on the cluster; no placement constraints.

    Examples
    --------
    >>> from fairness import Cluster, allocate
    >>> allocate(Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]]), CDRF()).tasks
    array([10., 10.])
    """

    name = "CDRF"
    family = Family("leximin", {"yardstick": "alone", "constraints": False})
    handles_constraints = False

    def yardsticks(self, cluster: Cluster, counts: FloatArray) -> FloatArray:
        """Tasks alone on the whole cluster."""
        _refuse_constraints(cluster, "CDRF", "TSF")
        return np.asarray(cluster.gamma.sum(axis=1))


@dataclass(frozen=True)
class CDRFH(LeximinPolicy):
    """DRF of the pooled capacities, with tasks on eligible servers only.

    Examples
    --------
    >>> from fairness import Cluster, allocate
    >>> cluster = Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]], eligible=[[True, True], [False, True]])
    >>> allocate(cluster, CDRFH()).tasks
    array([10., 10.])
    """

    name = "C-DRFH"
    family = Family("leximin", {"yardstick": "pooled", "constraints": True})
    handles_gamma = False

    def yardsticks(self, cluster: Cluster, counts: FloatArray) -> FloatArray:
        """Tasks that hold the whole of some resource of the pooled capacities."""
        return _pooled(cluster, "C-DRFH")


@dataclass(frozen=True)
class DRFH(LeximinPolicy):
    """DRF of the pooled capacities of heterogeneous servers; no placement constraints.

    Examples
    --------
    >>> from fairness import Cluster, allocate
    >>> allocate(Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]]), DRFH()).tasks
    array([10., 10.])
    """

    name = "DRFH"
    family = Family("leximin", {"yardstick": "pooled", "constraints": False})
    handles_constraints = False
    handles_gamma = False

    def yardsticks(self, cluster: Cluster, counts: FloatArray) -> FloatArray:
        """Tasks that hold the whole of some resource of the pooled capacities."""
        _refuse_constraints(cluster, "DRFH", "C-DRFH")
        return _pooled(cluster, "DRFH")


def _pooled(cluster: Cluster, policy: str) -> FloatArray:
    if cluster.given_gamma is not None:
        raise ModelError.of(
            "gamma",
            f"is given, so a class has no share of the pooled capacities that {policy} could level; "
            "use TSF or PSDSF, or drop gamma",
        )
    # Khamse-Ashari et al., eq. (5): the smallest quotient belongs to the dominant resource.
    quotient = np.full(cluster.demands.shape, np.inf)
    np.divide(
        np.broadcast_to(cluster.total_capacities, quotient.shape),
        cluster.demands,
        out=quotient,
        where=cluster.demands > 0,
    )
    return np.asarray(quotient.min(axis=1))


def _refuse_constraints(cluster: Cluster, policy: str, other: str) -> None:
    kept_out = ~cluster.eligible & (cluster.unconstrained_gamma > 0)
    for n, i in np.argwhere(kept_out):
        raise ModelError(
            f"{policy} has no placement constraints, but {cluster.job_classes[n]!r} is not eligible on "
            f"{cluster.servers[i]!r}, which has all that it demands; use {other}"
        )
