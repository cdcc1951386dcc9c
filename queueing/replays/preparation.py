r"""A replay made ready: whose turn it is, and the trace, its nodes and the rules as arrays for the kernel.

The schedulers are those of :mod:`queueing.simulation.tasks.schedulers`, with a *user* of the trace in the
place of a job: what has a share is the user, and what waits are its tasks, the oldest first.

* :func:`~queueing.DRFScheduler`: the user with the smallest weighted dominant share
  :math:`s_u = \max_r h_{ur}/(w_u C_r)`, where :math:`h_{ur}` is what its running tasks hold and :math:`C_r`
  the capacity of all nodes together.
* :func:`~queueing.TargetScheduler`: the user who is furthest below a fluid policy. Where the policy gives a
  present user :math:`\varphi_u` tasks and its task holds :math:`d_{ur}` on average, weighted by duration,
  that is the user with the smallest :math:`\max_r h_{ur}/(\varphi_u d_{ur})`; if all its tasks are alike,
  running tasks over target. The policy sees each present user (one with tasks waiting or running) as one job
  of its weight: on the pool of all nodes, or, for policies of clusters, on the nodes where some of its tasks
  may run, if they have all that its mean task holds; equal nodes are taken together. It is asked when the set
  of present users has changed.
* :func:`~queueing.FIFOScheduler`: the user of the oldest waiting task.

*Blocking*: if that task does not fit anywhere, all wait. Otherwise the turn goes to the next user, and of a
user's tasks to the oldest one that fits; under FIFO that is backfilling without reservations. *Ties* go to
the user of the oldest of the tasks that they would start, or to one of the tied users at random.

Best ranks (``BMFScheduler``) are not defined on servers, see :mod:`queueing.simulation.tasks.runs`:
bottleneck max fairness is followed as a target.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import by_label, is_labelled
from fairness.arguments.validation import (
    FloatArray,
    float_array,
    frozen,
    require,
    require_choice,
    require_shape,
)
from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.following import follow
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.replays.state import NOBODY, Given
from queueing.simulation.tasks.placement import ROUNDING, Placement
from queueing.simulation.tasks.schedulers import (
    NEVER_SERVED,
    SAME_RATIO,
    SAME_SHARE,
    SERVER_SCHEDULERS,
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    Scheduler,
    TargetScheduler,
    is_scheduler,
)

__all__ = ["Turns", "prepared", "suited", "user_weights"]

ROOM = 2**26
"""Bytes of answers of a policy that are kept."""

Scores = tuple[FloatArray, FloatArray]
"""What a unit of each resource adds to the score of a user, (n_users, n_resources); the score without any."""


class Turns:
    """A scheduler's order of the users.

    Attributes
    ----------
    blocking, random_ties : bool
    follows : bool
        Whether the scores depend on the users present.
    tolerance : float
        Scores that are closer, as a part of the smallest, are equal.
    user_of : ndarray of int32, shape (n_tasks,)
        Whose turn it is when a task is to start: the user of the trace; under FIFO all are one.
    n_users : int
    """

    def __init__(
        self, trace: ClusterTrace, nodes: NodeList, scheduler: Scheduler, weights: FloatArray
    ) -> None:
        if isinstance(scheduler, BMFScheduler):
            raise ModelError.of(
                "scheduler",
                f": {scheduler!r} is not defined on servers; take TargetScheduler(BottleneckMax())",
            )
        if not isinstance(scheduler, SERVER_SCHEDULERS):
            why = (
                "is written in Python, which a replay cannot ask"
                if is_scheduler(scheduler)
                else "is none of whole tasks; follow a policy with TargetScheduler(policy)"
            )
            raise ModelError.of(
                "scheduler",
                f"must be DRFScheduler(), FIFOScheduler(), PFScheduler() or a TargetScheduler; "
                f"{scheduler!r} {why}",
            )
        self.blocking = bool(scheduler.blocking)
        self.random_ties = scheduler.ties == "random"
        self.follows = isinstance(scheduler, TargetScheduler)
        self.tolerance = SAME_RATIO if self.follows else SAME_SHARE
        fifo = isinstance(scheduler, FIFOScheduler)
        self.user_of = np.zeros_like(trace.user_of) if fifo else trace.user_of
        self.n_users = 1 if fifo else trace.n_users
        shape = self.n_users, trace.n_resources
        self._fixed: Scores = np.zeros(shape), np.zeros(self.n_users)
        if isinstance(scheduler, DRFScheduler):
            total = np.where(nodes.total_capacities > 0, nodes.total_capacities, np.inf)
            self._fixed = 1.0 / (weights[:, None] * total), self._fixed[1]
        elif isinstance(scheduler, TargetScheduler):
            self._rows = np.unique(trace.user_of)
            self._problem = _fluid(trace, nodes, scheduler, weights[self._rows])
            self._follower = follow(self._problem, scheduler.policy)
            self._asked = lru_cache(max(2, ROOM // (8 * (shape[0] * (shape[1] + 1)))))(self._answer)

    def scores(self, present: NDArray[np.bool_]) -> Scores:
        """Scores where these users are present, (n_users,)."""
        return self._asked(present.tobytes()) if self.follows else self._fixed

    def _answer(self, key: bytes) -> Scores:
        present = np.frombuffer(key, dtype=np.bool_)
        tasks = np.array(self._follower(present[self._rows].astype(float)))
        scale, base = np.zeros_like(self._fixed[0]), np.zeros_like(self._fixed[1])
        amounts = tasks[:, None] * self._problem.demands
        scale[self._rows] = np.divide(1.0, amounts, out=np.zeros_like(amounts), where=amounts > 0)
        base[self._rows] = np.where(tasks > 0, 0.0, NEVER_SERVED)
        return scale, base


def user_weights(trace: ClusterTrace, weights: ArrayLike | Mapping[str, float] | None) -> FloatArray:
    """Weights of the users, (n_users,): all 1, an array in their order, or of some by name.

    Raises
    ------
    ModelError
        If a name is unknown, or a weight is not positive.
    """
    if is_labelled(weights):
        weights = by_label({"users": trace.users}, {"weights": (weights, ("users",))})[1][0]
    if isinstance(weights, Mapping):
        places = {name: k for k, name in enumerate(trace.users)}
        for name in weights:
            if name not in places:
                raise ModelError.of(
                    "weights",
                    f"names {name!r}, who is no user of the trace; its users: "
                    f"{', '.join(map(repr, trace.users[:10]))}{', ...' if trace.n_users > 10 else ''}",
                )
        weights = [weights.get(name, 1.0) for name in trace.users]
    values = np.ones(trace.n_users) if weights is None else float_array("weights", weights, 1)
    require_shape("weights", values, (trace.n_users,), "users", np.empty(trace.n_users))
    require("weights", values, np.isfinite(values) & (values > 0), "finite and > 0", trace.users)
    return frozen(values)


def _fluid(
    trace: ClusterTrace, nodes: NodeList, scheduler: TargetScheduler, weights: FloatArray
) -> Problem | Cluster:
    """What the policy is asked about: a class per user that occurs."""
    pool = nodes.pool(trace, by="user")
    if not isinstance(scheduler.policy, ClusterPolicy):
        return pool.replaced(weights=weights)
    _, first, sizes = np.unique(nodes.kind_of, return_index=True, return_counts=True)
    capacities = nodes.capacities[first] * sizes[:, None]
    pairs = np.unique(np.stack([trace.user_of, trace.type_of], axis=1), axis=0)
    allowed = nodes.eligible(trace)[:, first]
    rows = np.searchsorted(np.unique(trace.user_of), pairs[:, 0])
    eligible = np.zeros((pool.n_classes, len(first)), dtype=np.bool_)
    np.logical_or.at(eligible, rows, allowed[pairs[:, 1]])
    # Of nodes that lack what its mean task needs a class makes no use.
    eligible &= ((pool.demands[:, None] == 0) | (capacities > 0)).all(axis=2)
    used = eligible.any(axis=0)
    try:
        return Cluster(
            pool.demands,
            capacities[used],
            eligible=eligible[:, used],
            weights=weights,
            job_classes=pool.job_classes,
            resources=pool.resources,
        )
    except ModelError as error:
        raise ModelError.of(
            "scheduler",
            f": {scheduler.name} is asked about a cluster whose classes are the users: {error}; "
            "or follow a policy of pools, for which nodes and constraints are forgotten",
        ) from error


NEVER_FITS = ("refuse", "drop")

MOST_DEVICES = 62
"""Devices of one node: which of them a task takes are the bits of one number."""


def prepared(trace: ClusterTrace, nodes: NodeList, turns: Turns, placement: Placement) -> Given:
    """What does not change in a replay of tasks that each fit on some node.

    Raises
    ------
    ModelError
        If tasks would be bound to nodes on arrival, devices are not whole, or memory is short.
    """
    if isinstance(placement, type) or not hasattr(placement, "placement_rule"):
        raise ModelError.of("placement", f"must be a rule such as BestFit(); got {placement!r}")
    rule = placement.placement_rule()
    if rule.bound:
        raise ModelError.of(
            "placement",
            f": {placement.name!r} binds jobs to servers when they arrive, and a replay places tasks when "
            "they start; take BestFit(), FirstFit(), WorstFit(), RandomFit() or PowerOfChoices()",
        )
    require_memory(
        120.0 * trace.n_tasks + 8.0 * nodes.n_nodes * (3 * trace.n_resources + 8),
        f"a replay of {trace.n_tasks} tasks",
        "take a part of the trace: trace.head(n) or trace.between(start, end)",
    )
    allowed = _allowed(trace, nodes)
    kinds, first = np.unique(nodes.kind_of, return_index=True)
    capacities = nodes.capacities[first]
    device = NOBODY if trace.devices is None else trace.devices
    cost = np.zeros((trace.n_types, len(kinds)))
    for r in range(trace.n_resources):
        has = capacities[:, r] > 0
        cost[:, has] += trace.types[:, r, None] / capacities[has, r]
    cost /= np.maximum((capacities > 0).sum(axis=1), 1)
    pair = turns.user_of.astype(np.int64) * trace.n_types + trace.type_of
    pairs, pair_of = np.unique(pair, return_inverse=True)
    pair_user, pair_type = pairs // trace.n_types, pairs % trace.n_types
    return Given(
        arrivals=np.array(trace.arrivals),
        durations=np.array(trace.durations),
        type_of=np.array(trace.type_of),
        pair_of=pair_of.reshape(-1).astype(np.int32),
        pair_user=pair_user,
        pair_type=pair_type,
        user_first=np.searchsorted(pair_user, np.arange(turns.n_users + 1)),
        type_first=np.searchsorted(np.sort(pair_type), np.arange(trace.n_types + 1)),
        demands=np.array(trace.types),
        capacities=np.array(nodes.capacities),
        room=nodes.capacities * (1.0 + ROUNDING),
        kind_of=np.array(nodes.kind_of),
        allowed=allowed,
        cost=cost,
        n_devices=np.zeros(nodes.n_nodes, np.int64) if device < 0 else _devices(nodes, device),
        device=device,
        place=rule.kind,
        choices=rule.choices,
        blocking=turns.blocking,
        random_ties=turns.random_ties,
        follows=turns.follows,
        tolerance=turns.tolerance,
        seed=np.uint64(0),
    )


def suited(trace: ClusterTrace, nodes: NodeList, never_fits: str) -> ClusterTrace:
    """The trace; without the tasks that fit on no node, if these are to be dropped.

    Raises
    ------
    ModelError
        If a task fits on no node, and is not to be dropped.
    """
    require_choice("never_fits", never_fits, NEVER_FITS)
    lost = ~np.asarray(_allowed(trace, nodes).any(axis=1))[trace.type_of]
    few = int(lost.sum())
    if not few:
        return trace
    if never_fits == "drop":
        told = f"{few:,} task{'s' * (few > 1)} fit{'s' * (few == 1)} on no node: dropped"
        return trace.only(~lost, told)
    task = int(np.argmax(lost))
    t = int(trace.type_of[task])
    why = "not even alone on one where it may run"
    for k in np.flatnonzero(trace.types[t] > nodes.capacities.max(axis=0)):
        why = (
            f"the largest node has {nodes.capacities[:, k].max():g} {trace.units[k]} of {trace.resources[k]}"
        )
    raise ModelError.of(
        "trace",
        f": task {task} (counted from 0) of user {trace.users[trace.user_of[task]]!r} demands "
        f"{trace.type_names[t]} and fits on no node, {why}; "
        f"{'it is the only one' if few == 1 else f'so do {few:,} tasks in all'}: give nodes that are large "
        "enough, or drop such tasks with never_fits='drop'",
        task,
    )


def _allowed(trace: ClusterTrace, nodes: NodeList) -> NDArray[np.bool_]:
    """On which kinds of nodes a task of each type may run and fits alone, (n_types, n_kinds)."""
    columns = nodes.model_of(trace)
    _, first = np.unique(nodes.kind_of, return_index=True)
    allowed: NDArray[np.bool_] = np.ones((trace.n_types, len(first)), dtype=np.bool_)
    if trace.eligible_models is not None:
        allowed = trace.eligible_models[:, columns[first]]
    for r in range(trace.n_resources):
        allowed = allowed & (trace.types[:, r, None] <= nodes.capacities[first, r] * (1.0 + ROUNDING))
    return allowed


def _devices(nodes: NodeList, device: int) -> np.ndarray:
    """Devices of each node."""
    own = nodes.capacities[:, device]
    wrong = (own != np.floor(own)) | (own > MOST_DEVICES)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ModelError.of(
            "nodes",
            f": {nodes.names[k]!r} has {own[k]:g} of {nodes.resources[device]!r}, which are devices; give a "
            f"whole number up to {MOST_DEVICES}, or a trace without devices",
            k,
        )
    return own.astype(np.int64)
