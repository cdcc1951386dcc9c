r"""In which order the jobs of a class are served, for the kernel of job-level simulation.

A policy gives class :math:`i` so many tasks, :math:`\varphi_i(x)`; within the class they are shared equally
(``"ps"``, the clocks of :mod:`queueing.simulation.jobs.events`), or they go to its jobs in an *order*:

========== =========================================================================== ==================
order      who comes first                                                             key
========== =========================================================================== ==================
``fcfs``   who came first                                                              0
``sjf``    who has begun, in the order of beginning; then the smallest size            size, then minus inf
``psjf``   the smallest size                                                           size
``srpt``   the least that is left of the size [1]_                                     what is left
``las``    the least attained service; equals share equally [2]_                       attained
========== =========================================================================== ==================

Ties go to who came first. A job runs at most :math:`\ell_i` tasks, its limit: the first takes what there is
up to that, the next of the rest, and so on, as on servers of which a job holds one each [3]_; so all tasks of
the class run as long as the policy keeps to :math:`\varphi_i \le x_i \ell_i`. Under ``las`` the jobs of equal
attained service take theirs together, equally, before those that have attained more. Under ``sjf`` a job that
has begun stays before all that have not; if the policy takes tasks from its class, it may have to pause.

The jobs of a class stand in an array in *falling* order of their keys, the first of the order at its end.
What is served stands at the end, so that an event costs as many steps as jobs are served, and an arrival as
many as it goes before. Under ``las`` jobs whose keys are equal form a group; a group that is served faster
than the one before it in the array catches up with it, which is an event of its own: from then on both are
one.

*One order of all jobs*, of whatever class (:class:`queueing.SRPT`): the first by what is left times the scale
of its class takes as many tasks as its limit and the resources allow, the next what these leave, and so on.
Within a class that is ``srpt``, so only the tasks of the classes are to be found, by going through the first
of each. Who is served faster than one before it overtakes it, which is an event of its own, too.

References
----------
.. [1] L. Schrage, "A proof of the optimality of the shortest remaining processing time discipline",
   Operations Research 16(3), 1968. DOI 10.1287/opre.16.3.687.
.. [2] L. Kleinrock, "Queueing Systems, volume 2: Computer Applications", Wiley, 1976, section 4.6.
.. [3] I. Grosof, Z. Scully and M. Harchol-Balter, "SRPT for multiserver systems", Performance Evaluation
   127-128, 2018. DOI 10.1016/j.peva.2018.10.001.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray, require_choice
from fairness.errors import ModelError
from fairness.machine.cache_lines import each_apart
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.simulation.kernels import part

__all__ = [
    "NO_SCALES",
    "ORDERS",
    "PS",
    "Queues",
    "allot",
    "catch_up",
    "checked_orders",
    "first_due",
    "join",
    "leave",
    "line_up",
    "new_queues",
    "overtake",
    "serve",
]

PS, FCFS, SJF, PSJF, SRPT, LAS = range(6)

NO_SCALES: FloatArray = np.empty(0)

ROUNDING = 2.0**-48
"""Part of a resource that is none."""

LESS = 1.0 - 2.0**-50
"""What makes a number smaller by its last digits."""

ORDERS = {"ps": PS, "fcfs": FCFS, "sjf": SJF, "psjf": PSJF, "srpt": SRPT, "las": LAS}
"""Codes of the orders by their names."""


class Queues(NamedTuple):
    """Orders of the classes; what is left of a job stands where ``ps`` has its threshold."""

    orders: IntArray  # (n_classes,): codes
    limits: FloatArray  # (n_classes,): most tasks of a job
    keys: FloatArray  # (n_classes, most jobs), falling
    scales: FloatArray  # (n_classes,): of the keys in one order of all jobs; none without such an order
    shares: FloatArray  # (n_classes, n_resources): of the resources, that a task holds
    free: FloatArray  # (n_resources,): parts
    places: IntArray  # (n_classes,): whom the order has come to
    tasks: FloatArray  # (n_classes,): what the order gives them
    passing: IntArray  # (4,): class and place of who overtakes, and of whom


def checked_orders(order: str | Sequence[str], job_classes: Sequence[str]) -> tuple[str, ...]:
    """One order for each class.

    Raises
    ------
    ModelError
        If an order is unknown, or there are not as many as classes.
    """
    orders = (order,) * len(job_classes) if isinstance(order, str) else tuple(order)
    if len(orders) != len(job_classes):
        raise ModelError.of(
            "order",
            f"must be one name, or one for each of the {len(job_classes)} classes; got {len(orders)} names",
        )
    for name in orders:
        require_choice("order", name, ORDERS)
    return orders


def new_queues(
    orders: Sequence[str],
    limits: FloatArray,
    problem: Problem | Cluster,
    jobs: int,
    scales: FloatArray = NO_SCALES,
) -> Queues | None:
    """Queues with room for some jobs; None where all classes share equally.

    ``limits`` (n_classes,) are the most tasks of a job; ``scales`` (n_classes,) make one order of all jobs of
    a pool.
    """
    if set(orders) == {"ps"}:
        return None
    n = len(orders)
    shares = problem.task_shares if len(scales) else np.empty((n, 0))
    queues = Queues(
        orders=np.array([ORDERS[name] for name in orders]),
        limits=limits,
        keys=np.empty((n, jobs)),
        scales=scales,
        shares=shares,
        free=np.empty(shares.shape[1]),
        places=np.empty(n, np.int64),
        tasks=np.empty(n),
        passing=np.zeros(4, np.int64),
    )
    return each_apart(queues)


def line_up(queues: Queues, works: FloatArray, i: int, count: int) -> None:
    """Give class i its first jobs, with increasing works, as if they had just come."""
    if queues.orders[i] != PS:
        works[:count] = works[:count][::-1]
        by_size = queues.orders[i] in (SJF, PSJF, SRPT)
        queues.keys[i, :count] = works[:count] if by_size else 0.0


@part
def join(
    queues: Queues, works: FloatArray, rows: IntArray, i: int, count: int, size: float, row: int
) -> None:
    """A job joins class i, behind those of its key."""
    keys, order = queues.keys[i], queues.orders[i]
    key = 0.0 if order in (FCFS, LAS) else size
    k = count
    while k > 0 and keys[k - 1] <= key:
        keys[k], works[k], rows[k] = keys[k - 1], works[k - 1], rows[k - 1]
        k -= 1
    keys[k], works[k], rows[k] = key, size, row


@part
def leave(queues: Queues, works: FloatArray, rows: IntArray, i: int, count: int, place: int) -> None:
    """The job at a place leaves class i."""
    keys = queues.keys[i]
    for k in range(place, count - 1):
        keys[k], works[k], rows[k] = keys[k + 1], works[k + 1], rows[k + 1]


@part
def _begin(keys: FloatArray, order: int, top: int) -> int:
    """Where the group that ends before ``top`` begins: jobs that are served alike."""
    k = top - 1
    if order == LAS:
        while k > 0 and keys[k - 1] == keys[k]:
            k -= 1
    return k


@part
def first_due(queues: Queues, works: FloatArray, i: int, count: int, tasks: float) -> tuple[float, int]:
    """How long until the next event of class i, and the place of who leaves.

    Of a group that catches up with the next it is minus its first place.
    """
    keys, order, limit = queues.keys[i], queues.orders[i], queues.limits[i]
    wait, place = np.inf, 0
    top, ahead = count, 0.0
    while top > 0:
        begin = _begin(keys, order, top)
        rate = min(limit, tasks / (top - begin))
        if ahead > rate and order == LAS:
            # Rounding may have carried it past the other.
            due = max(keys[begin] - keys[top], 0.0) / (ahead - rate)
            if due < wait:
                wait, place = due, -top
        if rate <= 0.0:
            break
        for k in range(begin, top):
            due = max(works[k], 0.0) / rate
            if due < wait:
                wait, place = due, k
        tasks = max(tasks - rate * (top - begin), 0.0) if rate == limit else 0.0
        top, ahead = begin, rate
        if tasks == 0.0 and order != LAS:
            break
    return wait, place


@part
def serve(queues: Queues, works: FloatArray, i: int, count: int, tasks: float, elapsed: float) -> None:
    """Time passes: what is served of class i."""
    keys, order, limit = queues.keys[i], queues.orders[i], queues.limits[i]
    top = count
    while top > 0 and tasks > 0.0 and elapsed > 0.0:
        begin = _begin(keys, order, top)
        rate = min(limit, tasks / (top - begin))
        done = rate * elapsed
        # Not within the loop: their keys tell who is of the group.
        key = keys[begin]
        if order == LAS:
            key += done
        elif order == SRPT:
            key -= done
        elif order == SJF:
            key = -np.inf
        for k in range(begin, top):
            works[k] -= done
            keys[k] = key
        tasks = max(tasks - rate * (top - begin), 0.0) if rate == limit else 0.0
        top = begin


@part
def catch_up(queues: Queues, i: int, count: int, begin: int) -> None:
    """The group of class i that begins at a place joins the one before it."""
    keys = queues.keys[i]
    own = keys[begin]
    for k in range(begin, count):
        if keys[k] != own:
            break
        keys[k] = keys[begin - 1]


@part
def allot(queues: Queues, counts: IntArray) -> float:
    """Tasks of each class in one order of all jobs; how long until one job overtakes another."""
    tasks, places, free = queues.tasks, queues.places, queues.free
    for j in range(len(free)):
        free[j] = 1.0
    for i in range(len(tasks)):
        tasks[i] = 0.0
        places[i] = counts[i] - 1
    wait, ahead, speed_ahead = np.inf, 0.0, np.inf
    before, place_before = 0, 0
    while True:
        first, key = -1, np.inf
        for i in range(len(tasks)):
            if places[i] >= 0 and queues.scales[i] * queues.keys[i, places[i]] < key:
                first, key = i, queues.scales[i] * queues.keys[i, places[i]]
        if first < 0:
            return wait
        rate = queues.limits[first]
        for j in range(len(free)):
            if queues.shares[first, j] > 0.0:
                rate = min(rate, free[j] / queues.shares[first, j])
        place = places[first]
        # Where a resource is full, all the jobs behind have nothing.
        places[first] = place - 1 if rate == queues.limits[first] else -1
        if rate > 0.0:
            speed = queues.scales[first] * rate
            if speed > speed_ahead and max(key - ahead, 0.0) < wait * (speed - speed_ahead):
                wait = max(key - ahead, 0.0) / (speed - speed_ahead)
                queues.passing[0], queues.passing[1] = first, place
                queues.passing[2], queues.passing[3] = before, place_before
            ahead, speed_ahead, before, place_before = key, speed, first, place
            tasks[first] += rate
            for j in range(len(free)):
                rest = free[j] - rate * queues.shares[first, j]
                free[j] = rest if rest > ROUNDING else 0.0


@part
def overtake(queues: Queues, works: FloatArray) -> None:
    """The job that is to overtake another has less left from now on, also by the last digit."""
    i, k = queues.passing[0], queues.passing[1]
    other, place = queues.passing[2], queues.passing[3]
    key = queues.scales[other] * queues.keys[other, place] / queues.scales[i]
    works[i, k] = queues.keys[i, k] = min(queues.keys[i, k], key * LESS)
