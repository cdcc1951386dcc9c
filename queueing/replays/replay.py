r"""``replay``: a recorded cluster's tasks, started again by another scheduler.

At the instant of an event (the end of a task or an arrival) all that ends then leaves, and all that arrives
then queues up; then tasks start, one by one, as the scheduler says (:mod:`queueing.replays.preparation`),
each on the node that the placement rule picks (:mod:`queueing.replays.events`), until the scheduler waits. A
task that has started runs on for its recorded duration: nothing is preempted, or runs faster or slower
elsewhere. Tasks of one job start one by one, not as a gang.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import A_GENERATOR, Seed, entropy_of, generator, require_number
from fairness.errors import ModelError
from fairness.machine.checkpoint import Checkpoint
from fairness.machine.digests import digest_of, told
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.replays.preparation import Turns, prepared, suited, user_weights
from queueing.replays.recorded import Replay
from queueing.replays.running import Run, identity
from queueing.simulation.tasks.placement import BestFit, Placement
from queueing.simulation.tasks.schedulers import Scheduler

__all__ = ["replay"]


def replay(
    trace: ClusterTrace,
    nodes: NodeList,
    scheduler: Scheduler,
    *,
    placement: Placement | None = None,
    weights: ArrayLike | Mapping[str, float] | None = None,
    until: float | None = None,
    never_fits: str = "refuse",
    checkpoint: Any = None,
    rng: Seed = None,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Replay:
    """Replay a trace on some nodes: the same tasks, arriving as recorded, started by a scheduler.

    Parameters
    ----------
    trace : ClusterTrace
    nodes : NodeList
        With the resources of the trace.
    scheduler : Scheduler
        ``DRFScheduler()``, ``FIFOScheduler()``, ``PFScheduler()`` or ``TargetScheduler(policy)``, where the
        policy may be one of pools (``BottleneckMax()``, ``Hierarchical(tree, DRF())``) or of clusters
        (``TSF()``, ``PSDSF()``); its jobs are the users. With ``blocking=False`` it skips tasks that fit
        nowhere, as most schedulers of clusters do.
    placement : Placement, optional
        ``BestFit()`` (default), ``FirstFit()``, ``WorstFit()``, ``RandomFit()`` or ``PowerOfChoices(d)``.
    weights : array_like of shape (n_users,) or mapping from user to float, optional
        Weights of the users, > 0. Default, also of those that a mapping leaves out: 1.
    until : float, seconds
        Time of the trace at which the record ends. Default: when the last task has ended.
    never_fits : {"refuse", "drop"}
        Tasks that fit on no node: refuse the trace, or leave them out (a note of the trace says how many).
    checkpoint : path, optional
        File that keeps what has been done; the same call goes on from there. It is made if it does not exist.
    rng : numpy Generator or seed
        For rules that draw at random. Default: fresh entropy; with a checkpoint that exists, its own.
    progress, time_limit
        As in :func:`queueing.simulate`.

    Returns
    -------
    Replay
        When and where every task started. The same arguments and seed give the same.

    Raises
    ------
    ModelError
        If a task fits on no node; if the nodes have other resources, or a model that the trace does not know;
        if the scheduler or the placement rule has no meaning here; if an argument is out of range; or if the
        checkpoint belongs to another replay.
    NotConvergedError
        If the time limit is over; ``best`` is the replay so far.

    Examples
    --------
    At 10 seconds a node of eight cores is free again: for the oldest tasks, or for one of each user.

    >>> from queueing import ClusterTrace, DRFScheduler, FIFOScheduler, NodeList
    >>> trace = ClusterTrace(
    ...     ["CPU"], ["cores"], [0, 0, 0, 0, 1], [10] * 5, [[4]], [0] * 5, ["a", "b"], [0, 0, 0, 0, 1]
    ... )
    >>> nodes = NodeList(["node"], ["CPU"], ["cores"], [[8]])
    >>> replay(trace, nodes, FIFOScheduler()).starts
    array([ 0.,  0., 10., 10., 20.])
    >>> replay(trace, nodes, DRFScheduler()).starts
    array([ 0.,  0., 10., 20., 10.])
    """
    rule = BestFit() if placement is None else placement
    trace = suited(trace, nodes, never_fits)
    given_weights = user_weights(trace, weights)
    end = math.inf if until is None else require_number("until", until, least=float(trace.arrivals[0]))
    stream = generator(rng)
    turns = Turns(trace, nodes, scheduler, given_weights)
    given = prepared(trace, nodes, turns, rule)
    with ExitStack() as stack:
        store = None
        if checkpoint is not None:
            store = stack.enter_context(Checkpoint(checkpoint, "replay", "checkpoint"))
            rules = {
                "scheduler": told(scheduler),
                "all of the scheduler": digest_of(scheduler),
                "placement": repr(rule),
                "weights": given_weights.tolist(),
                "until": until,
            }
            stream = _begin(store, identity(trace, nodes, **rules), rng, stream)
        entropy = entropy_of(stream)
        run = Run(given, turns, stream)
        if store is not None:
            run.resume(store)

        def so_far(clock: float) -> Replay:
            return Replay(
                trace, nodes, str(scheduler.name), rule.name, given_weights, clock, *run.record(), entropy
            )

        what = f"the replay of {trace.n_tasks:,} tasks under {scheduler.name}"
        instead = "take a part of the trace (head, between), or give until"
        try:
            stack.enter_context(watching(progress, time_limit))
            with Task(what, 2.0 * trace.n_tasks, "events", instead=instead) as task:
                run.go(end, task, store)
        except (OutOfTime, KeyboardInterrupt) as stop:
            if store is not None:
                run.keep(store)
            known = f"{run.events:,} of {2 * trace.n_tasks:,} arrivals and ends are done"
            if store is not None and store.kept:
                known += " and" if run.kept == run.events else f", {run.kept:,} of them"
                known += f" kept in {store.path}; the same call goes on from there"
            raise stopped(stop, known, so_far(run.now)) from None
        if store is not None:
            run.keep(store)
        return so_far(run.now if until is None else end)


def _begin(
    store: Checkpoint, replayed: dict[str, Any], rng: Seed, stream: np.random.Generator
) -> np.random.Generator:
    """Say what the checkpoint belongs to; the generator that it began with."""
    entropy: Any = entropy_of(stream)
    if rng is None and store.settings is not None:
        entropy = store.settings.get("rng")
        stream = generator(entropy)
    if entropy == A_GENERATOR:
        raise ModelError.of("rng", "must be a seed where there is a checkpoint: it is drawn from again")
    store.begin(replayed | {"rng": entropy})
    return stream
