"""A trace, its nodes and the rules of a replay, checked and as arrays for the kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import require_choice
from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.replays.engine.state import NOBODY, Given
from queueing.replays.user_order import Turns
from queueing.simulation.tasks.rules.placement import Placement
from queueing.simulation.tasks.rules.server_choice import ROUNDING

__all__ = ["NEVER_FITS", "prepared", "suited"]

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
