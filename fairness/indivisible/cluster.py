r"""Indivisible tasks on the servers of a cluster, started one after the other.

A rule (:mod:`fairness.indivisible.server_shares`) says who is poorest, and ``server_rule`` says how servers
come in:

* ``"rrr"`` [1]_, randomised round robin: in each round the servers have their turn in a random order; a
  server starts one task of its poorest class whose task fits; a round without a task is the last one;
* ``"joint"``: the class and the server with the lowest level, among the pairs where the task fits;
* ``"first fit"``, ``"best fit"``, ``"random fit"``: the poorest class, for rules whose level does not
  depend on the server; then among the servers where its task fits the first, a random one, or the one whose
  free amounts are most nearly proportional to the demands. There is no standard measure of the last: here
  it is :math:`\sum_r |\bar d_r - \bar f_r|`, demand and free amounts as shares of the whole cluster, each
  divided by its sum (the heuristic of [2]_, which divides by the first resource), in floats.

A filling ends when no task fits anywhere, or, with ``stop="first misfit"`` and one of the last three server
rules, when the task of the poorest class fits nowhere. Then the gap statement of
:mod:`fairness.indivisible.pool` holds, however the servers are chosen: its proof does not mention them.

References
----------
.. [1] Y. Shan, A. Jain, G. Kesidis, B. Urgaonkar, J. Khamse-Ashari and I. Lambadaris, "Online scheduling of
   Spark workloads with Mesos using different fair allocation algorithms", 2018. arXiv:1803.00922.
.. [2] W. Wang, B. Li and B. Liang, "Dominant resource fairness in cloud computing systems with heterogeneous
   servers", INFOCOM 2014. arXiv:1308.0083.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import Entropy, Seed, entropy_of, generator, require_choice
from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.evidence.pools import Certificate
from fairness.indivisible.free_resources import Ledger, Number
from fairness.indivisible.placement import Placing
from fairness.indivisible.priority_queue import make_ties
from fairness.indivisible.rational_model import ClusterAmounts, Numbers, array, number, overfull
from fairness.indivisible.rules import STOPS
from fairness.indivisible.server_shares import ClusterRule, DominantShare
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray
from fairness.results.placements import placement_bars, server_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SERVER_RULES", "ClusterFilling", "fill_cluster"]

SERVER_RULES = ("rrr", "joint", "first fit", "best fit", "random fit")


@dataclass(frozen=True, eq=False, repr=False)
class ClusterFilling(Result):
    """Whole tasks of each class on each server; made by :func:`fill_cluster`.

    Numbers are fractions where the cluster is rational, floats else.

    Attributes
    ----------
    cluster : Cluster
    rule : ClusterRule
    server_rule : str
    counts : ndarray of shape (n_classes,), jobs
    placement : ndarray of int, shape (n_classes, n_servers), tasks
    order : tuple of (int, int)
        Class and server of each task, in the order in which they started.
    stopper : int or None
        The class whose misfit stopped everything; None if the filling ended because no task fits anywhere.
    stopped_by : dict from (int, int) to tuple of str
        For each class with jobs on each server that it may use: the resources that its next task finds too
        scarce; empty if it would fit.
    amounts : ClusterAmounts
        Demands, capacities, effective weights and gamma in the arithmetic of this result.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the filling; "a generator" where no seed does.
    """

    cluster: Cluster
    rule: ClusterRule
    server_rule: str
    counts: FloatArray
    placement: NDArray[np.int64]
    order: tuple[tuple[int, int], ...]
    stopper: int | None
    stopped_by: dict[tuple[int, int], tuple[str, ...]]
    amounts: ClusterAmounts
    entropy: Entropy

    @property
    def is_exact(self) -> bool:
        """Whether the numbers of this result are fractions."""
        return self.amounts.exact

    @cached_property
    def tasks(self) -> NDArray[np.int64]:
        """Tasks per class on all servers together, shape (n_classes,)."""
        return np.asarray(self.placement.sum(axis=1))

    @property
    def total(self) -> int:
        """All tasks."""
        return int(self.placement.sum())

    @cached_property
    def usage(self) -> Numbers:
        """Units of each resource in use on each server, shape (n_servers, n_resources)."""
        zero = number(0, self.is_exact)
        used = [[zero] * self.cluster.n_resources for _ in range(self.cluster.n_servers)]
        for n, i in np.argwhere(self.placement > 0).tolist():
            need = self.amounts.needs[n][i] or []
            used[i] = [u + int(self.placement[n, i]) * v for u, v in zip(used[i], need, strict=True)]
        return array(used, self.is_exact)

    @cached_property
    def one_task_shares(self) -> Numbers:
        """Weighted dominant share of a single task in the whole cluster, (n_classes,); 0 without jobs."""
        return array(self.amounts.dominant_units, self.is_exact)

    @cached_property
    def dominant_shares(self) -> Numbers:
        """Weighted dominant share of a class in the whole cluster, shape (n_classes,); 0 without jobs."""
        return array(self.one_task_shares * self.tasks, self.is_exact)

    @cached_property
    def largest_gap(self) -> Number:
        """Largest difference between the dominant shares of two classes with jobs."""
        shares = self.dominant_shares[self.counts > 0]
        gap: Number = shares.max() - shares.min() if shares.size else number(0, self.is_exact)
        return gap

    @cached_property
    def gap_bound(self) -> Number:
        """Largest dominant share of one task; bounds the gap of DRF at its first misfit."""
        bound: Number = self.one_task_shares.max()
        return bound

    @cached_property
    def certificate(self) -> Certificate:
        """What the filling promises about its result, as a residual."""
        residual = max(map(overfull, self.usage, self.amounts.capacities))
        claim = "within all capacities"
        if self.stopper is None:
            claim += ", and no task fits anywhere"
            residual = residual if all(self.stopped_by.values()) else math.inf
        elif isinstance(self.rule, DominantShare):
            claim += ", and no two dominant shares are further apart than one task"
            residual = max(residual, float(self.largest_gap / self.gap_bound) - 1.0)
        return Certificate(claim, residual)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: jobs, tasks, dominant share, tasks on each server."""
        frame = pd.DataFrame(
            {"jobs": self.counts, "tasks": self.tasks, "dominant_share": self.dominant_shares.astype(float)},
            index=pd.Index(self.cluster.job_classes, name="job_class"),
        )
        for i, server in enumerate(self.cluster.servers):
            frame[f"tasks on {server}"] = self.placement[:, i]
        return frame

    def summary(self) -> str:
        """What a person wants to read: the placement, and what is in use on every server."""
        cluster = self.cluster
        lines = [f"{self.rule.name}, task by task, servers by {self.server_rule}: {self.total} tasks"]
        if cluster.n_servers <= 8 and cluster.n_classes <= 40:
            lines += server_table(
                cluster,
                self.counts,
                [str(tasks) for tasks in self.tasks],
                lambda n, i: str(self.placement[n, i]),
            )
            for i, server in enumerate(cluster.servers):
                used = zip(cluster.resources, self.usage[i], cluster.capacities[i], strict=True)
                text = ", ".join(f"{name} {float(u):.6g}/{c:g}" for name, u, c in used if c > 0)
                lines.append(f"  {server}: {text}")
        lines.append(f"  {self.certificate}")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Stacked bars: how much of each resource of each server every class holds."""
        title = f"{self.rule.name}, servers by {self.server_rule}"
        return placement_bars(self.cluster, self.placement, title, ax)


def fill_cluster(
    cluster: Cluster,
    rule: ClusterRule | None = None,
    counts: ArrayLike | None = None,
    *,
    server_rule: str = "rrr",
    stop: str = "skip",
    ties: str | Sequence[int] = "first",
    rng: Seed = None,
) -> ClusterFilling:
    """Start whole tasks on the servers of a cluster, one by one.

    Parameters
    ----------
    cluster : Cluster
        Exact arithmetic if it is rational, floats else.
    rule : DominantShare, TaskShare, VirtualShare or ResidualShare, optional
        By which share the poorest class is found. Default: ``DominantShare()``, DRF.
    counts : array_like of shape (n_classes,), jobs, optional
        Default: one of each.
    server_rule : {"rrr", "joint", "first fit", "best fit", "random fit"}
        See the module docstring.
    stop : {"skip", "first misfit"}
        What to do when the task of the poorest class fits nowhere: leave the class out, or stop. The second
        only where the class is chosen before the server.
    ties : {"first", "random"} or sequence of int
        Which class is served among equals: the first, one drawn at random, or the first in this order.
        Between servers (of "joint" and "best fit") the first, or one drawn at random.
    rng : numpy Generator or seed, optional
        For "rrr", "random fit" and random ties.

    Returns
    -------
    ClusterFilling

    Raises
    ------
    ModelError
        If an argument has another shape or an unknown name, or if the class is to be chosen before the server
        by a share that depends on the server.

    Examples
    --------
    >>> from fairness import Cluster
    >>> from fairness.indivisible import VirtualShare
    >>> cluster = Cluster([[5, 1], [1, 5]], [[100, 30], [30, 100]])
    >>> fill_cluster(cluster, VirtualShare(), server_rule="joint")
    PS-DSF, task by task, servers by joint: 41 tasks
      class    jobs  tasks  server 1  server 2
      class 1     1     19        19         0
      class 2     1     22         2        20
      server 1: resource 1 97/100, resource 2 29/30
      server 2: resource 1 20/30, resource 2 100/100
      within all capacities, and no task fits anywhere: holds (residual 0.0e+00)
    """
    if not isinstance(cluster, Cluster):
        raise ModelError(f"fill_cluster needs a Cluster; got {type(cluster).__name__}")
    rule = DominantShare() if rule is None else rule
    if not isinstance(rule, ClusterRule):
        raise ModelError.of(
            "rule", f"must be DominantShare(), TaskShare(), VirtualShare() or ResidualShare(); got {rule!r}"
        )
    class_first = require_choice("server_rule", server_rule, SERVER_RULES) not in ("rrr", "joint")
    if class_first and rule.per_server:
        raise ModelError(
            f"{rule.name} has a level on each server, so {server_rule!r} cannot choose the class first; "
            "take server_rule='rrr' or 'joint'"
        )
    if require_choice("stop", stop, STOPS) == "first misfit" and not class_first:
        raise ModelError(
            f"stop='first misfit' needs a server rule that chooses the class first; got {server_rule!r}"
        )
    x = cluster.check_state(counts)
    amounts = ClusterAmounts(cluster, x)
    stream = generator(rng)
    entropy = entropy_of(stream)
    choice = make_ties(ties, stream, cluster.n_classes, exact=amounts.exact)
    ledger = Ledger(amounts.needs, amounts.capacities, exact=amounts.exact)
    filling = Placing(amounts, rule, ledger, choice)
    stopper = None
    if server_rule == "rrr":
        filling.by_turns(stream)
    elif server_rule == "joint":
        filling.by_pairs()
    else:
        stopper = filling.class_first(server_rule, stop, stream)
    return ClusterFilling(
        cluster=cluster,
        rule=rule,
        server_rule=server_rule,
        counts=x,
        placement=filling.placement,
        order=tuple(filling.order),
        stopper=stopper,
        stopped_by={
            (n, i): tuple(cluster.resources[r] for r in ledger.lacking(n, i))
            for n in filling.present
            for i in filling.places[n]
        },
        amounts=amounts,
        entropy=entropy,
    )
