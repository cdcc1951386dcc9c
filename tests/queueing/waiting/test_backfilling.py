"""EASY backfilling and orders of one's own, in simulation."""

from types import SimpleNamespace

import numpy as np
import pytest

from capacity import is_stable
from fairness import Cluster, Problem
from fairness.errors import ModelError
from queueing import EASY, FCFS, FIFOScheduler, Order, System, Tasks, simulate, stationary, task_trace
from queueing.simulation.tasks.schedulers import order_scheduler

ONE = Tasks(per_job=1)
THREE = Problem([[1, 0], [2, 1], [3, 1]], [5, 2], job_classes=["a", "b", "c"])
SYSTEM = System(THREE, [0.9, 0.4, 0.3], [1.0, 1.5, 0.5])


def trace(scheduler, problem=THREE, system=SYSTEM, seed=3):
    return task_trace(system, scheduler, 150.0, tasks=ONE, rng=seed)


def overtakings(found, estimates, problem):
    """How often somebody overtook the head, each time checked against the definition, by the record."""
    needs, seen, number = problem.demands, set(), 0
    for place, (job, now) in enumerate(zip(found.task_jobs, found.task_starts, strict=True)):
        head = min(set(np.flatnonzero(found.job_arrivals <= now)) - seen)
        mine, first = found.job_classes[job], found.job_classes[head]
        running = [k for k in range(place) if found.task_ends[k] > now]
        classes = [found.job_classes[found.task_jobs[k]] for k in running]
        free = problem.capacities - needs[classes].sum(axis=0)
        assert (needs[mine] <= free).all()
        seen.add(job)
        if job == head:
            continue
        number += 1
        assert not (needs[first] <= free).all()
        ends = [max(now, found.task_starts[k] + estimates[i]) for k, i in zip(running, classes, strict=True)]

        def left(moment, free=free, ends=ends, classes=classes, first=first):
            """Free beside the head when all have ended that end by then."""
            over = [i for end, i in zip(ends, classes, strict=True) if end <= moment]
            return free + needs[over].sum(axis=0) - needs[first]

        reserved = min(moment for moment in ends if (left(moment) >= 0).all())
        before = now + estimates[mine] <= reserved
        assert before or (needs[mine] <= left(reserved)).all()
    return number


@pytest.mark.parametrize("estimates", [[1.0, 1.5, 0.5], [0.2, 3.0, 1.0], [5.0, 1.0, 1.0]])
def test_reservations_are_kept(estimates):
    found = trace(order_scheduler(EASY(estimates), THREE))
    assert overtakings(found, estimates, THREE) > 5


def test_whose_end_is_now_is_first_fit():
    """Estimates of 0 let everybody start who fits."""
    easy, first_fit = trace(order_scheduler(EASY([0, 0, 0]), THREE)), trace(FIFOScheduler(blocking=False))
    assert np.array_equal(easy.task_ends, first_fit.task_ends)


def test_who_would_end_after_the_reservation_waits():
    """Where all are estimated alike, who overtakes has started together with one in service."""
    pool = Problem([[1], [2]], [2])
    found = trace(order_scheduler(EASY([1, 1]), pool), pool, System(pool, [0.4, 0.4]))
    starts, jobs = found.task_starts, found.task_jobs
    late = [k for k in range(len(jobs)) if jobs[k] > min(set(range(len(found.job_classes))) - set(jobs[:k]))]
    assert late
    assert all(starts[k] == starts[k - 1] for k in late)


def moment(time, free, running, waiting):
    """What the rule is shown: classes of jobs by their numbers, (number, class), and who of them fits."""
    jobs = [SimpleNamespace(number=n, job_class=i, running=True) for n, i in running]
    behind = [SimpleNamespace(number=n, job_class=i, running=False, fits=fits) for n, i, fits in waiting]
    return SimpleNamespace(time=time, free=np.array([free]), jobs=[*jobs, *behind], candidates=behind)


def test_all_that_end_at_the_reservation_leave_spare_units():
    """Two jobs of one unit end together: beside the head, of two, one of the three units is spare."""
    rule = EASY([1, 1, 5]).starts(Problem([[1], [2], [1]], [3]))
    for now, free in ((0.0, 3.0), (0.0, 2.0)):
        n = int(3 - free)
        assert rule.choose(moment(now, free, [(k, 0) for k in range(n)], [(n, 0, True)])).number == n
    long = rule.choose(moment(0.5, 1.0, [(0, 0), (1, 0)], [(2, 1, False), (3, 2, True)]))
    assert long.number == 3
    # A second one would delay the head.
    later = moment(0.5, 0.0, [(0, 0), (1, 0), (3, 2)], [(2, 1, False), (4, 2, True)])
    assert rule.choose(later) is None


def test_who_has_left_is_forgotten():
    rule = EASY([1]).starts(Problem([[1]], [9]))
    for n in range(500):
        rule.choose(moment(float(n), 6.0, [(k, 0) for k in range(n - 3, n)], [(n, 0, True)]))
    assert {496, 497, 498, 499} <= set(rule.running)
    assert len(rule.running) < 60


def test_an_order_of_ones_own_is_simulated():
    class Oldest(Order):
        name = "oldest"

        def choose(self, state):
            return state.candidates[0] if state.candidates[0].fits else None

    system = System(Problem([[1], [2]], [2]), [0.4, 0.4])
    own = simulate(system, Oldest(), events=4_000, replications=3, rng=1)
    plain = simulate(system, FCFS(), events=4_000, replications=3, rng=1)
    assert own.mean_jobs == pytest.approx(plain.mean_jobs, rel=1e-12)
    assert own.policy == "oldest"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EASY([-1.0]), "estimates must be finite and >= 0"),
        (lambda: simulate(SYSTEM, EASY([1.0])), r"estimates must have shape \(3,\); got \(1,\)"),
        (lambda: simulate(System(Cluster([[1]], [[2], [2]]), [1]), EASY([1.0])), "is a cluster"),
        (lambda: stationary(SYSTEM, EASY([1, 1, 1])), "EASY has no finite front.*simulate"),
        (lambda: is_stable(SYSTEM, EASY([1, 1, 1])), "EASY has no finite front"),
        (lambda: simulate(SYSTEM, Order()), "ask stationary"),
    ],
)
def test_what_cannot_be_answered_says_why(call, message):
    with pytest.raises(ModelError, match=message):
        call()
