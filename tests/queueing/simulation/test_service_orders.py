"""In which order the jobs of a class are served: job by job against the definitions, and in the mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairness import DRF, PSDSF, Cluster, Problem
from fairness.errors import ModelError
from fairness.testing import random_problem
from queueing import (
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    System,
    simulate,
    single_server,
    stationary,
)
from tests.queueing.simulation.simulated import off, under

ONE = Problem([[1]], [1])
ORDERS = ("ps", "fcfs", "sjf", "psjf", "srpt", "las")


class Job:
    """A job of a naive run."""

    def __init__(self, number, size):
        self.number, self.size, self.left, self.got, self.began = number, size, size, 0.0, math.inf

    def key(self, order):
        """Who is served first: the least, by the words of the definition."""
        return {
            "fcfs": (self.number,),
            "sjf": (self.began, self.size, self.number),
            "psjf": (self.size, self.number),
            "srpt": (self.left, self.number),
            "las": (self.got,),
            "ps": (0,),
        }[order]


# Attained service that is equal up to rounding is equal.
EQUAL = 1e-10


def rates(order, jobs, tasks, limit):
    """Tasks of each job of a class, and when attained services meet."""
    share, meet, ahead = {}, math.inf, None
    line = sorted(jobs, key=lambda job: job.key(order))
    while line:
        if order in ("ps", "las"):
            group = [job for job in line if order == "ps" or job.got <= line[0].got + EQUAL]
        else:
            group = line[:1]
        each = min(limit, tasks / len(group))
        if order == "las" and ahead is not None and each < ahead[1]:
            meet = min(meet, (group[0].got - ahead[0]) / (ahead[1] - each))
        share |= dict.fromkeys(group, each)
        tasks = max(tasks - each * len(group), 0.0)
        ahead = group[0].got, each
        line = [job for job in line if job not in group]
    return share, meet


def naive(problem, policy, orders, arrivals, classes, sizes):
    """Durations of given jobs."""
    now, present, k = 0.0, [], 0
    left = np.full(len(sizes), np.nan)
    starts = 0
    while present or k < len(sizes):
        counts = np.bincount([classes[job.number] for job in present], minlength=problem.n_classes)
        tasks = policy(problem, counts)
        speed, wait = {}, math.inf
        for i, order in enumerate(orders):
            mine = [job for job in present if classes[job.number] == i]
            shares, meet = rates(order, mine, tasks[i], problem.limits[i])
            speed |= shares
            wait = min(wait, meet)
        due = {job: job.left / rate for job, rate in speed.items() if rate > 1e-12}
        first = min(due, key=due.get, default=None)
        leaves = first is not None and due[first] <= wait
        wait = due[first] if leaves else wait
        arrives = k < len(sizes) and arrivals[k] < now + wait
        step = arrivals[k] - now if arrives else wait
        for job, rate in speed.items():
            job.left -= rate * step
            job.got += rate * step
            if rate > 0 and step > 0 and math.isinf(job.began):
                job.began = starts
                starts += 1
        now += step
        if arrives:
            present.append(Job(k, sizes[k]))
            k += 1
        elif leaves:
            present.remove(first)
            left[first.number] = now
    return left - arrivals


def against_naive(problem, orders, law, seed):
    n = problem.n_classes
    rng = np.random.default_rng(seed)
    system = System.with_load(problem, rng.uniform(0.3, 1, n), 0.8, rng.uniform(0.5, 2, n))
    result = simulate(
        under(system, sizes=law),
        DRF(),
        jobs=150,
        warmup=0,
        replications=2,
        rng=seed,
        start=np.zeros(n),
        order=orders if n > 1 else orders[0],
        record=True,
        quantiles=(),
    )
    assert result.orders == tuple(orders)
    for k in range(2):
        jobs = result.record[result.record["sample"] == k]
        classes = [problem.job_classes.index(name) for name in jobs["job_class"]]
        times, sizes = jobs["arrival_time"].to_numpy(), jobs["size"].to_numpy()
        durations = naive(problem, DRF(), orders, times, classes, sizes)
        # Who stays longer is still there when unmeasured jobs arrive.
        over = (times + jobs["duration"] <= times[-1]).to_numpy()
        assert over.sum() > 90
        # 1e-8: a few hundred steps of rounding; equal attained services are merged by the naive run.
        np.testing.assert_allclose(jobs["duration"][over], durations[over], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("law", [Exponential(), Lognormal(4)], ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("order", ORDERS)
def test_every_duration_is_that_of_the_definition(order, law):
    against_naive(ONE, [order], law, 1)


@pytest.mark.parametrize("order", ORDERS)
def test_no_job_runs_more_tasks_than_its_limit(order):
    # Three servers, each job on one; two at most, the second half of what is left.
    against_naive(Problem([[1]], [3], limits=[1]), [order], Hyperexponential.fit(3), 2)
    against_naive(Problem([[1]], [2.5], limits=[1.2]), [order], Exponential(), 3)


@pytest.mark.parametrize("seed", range(3))
def test_each_class_has_its_order_beside_the_others(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 3, 2, weighted=True, limited=True)
    orders = rng.permutation(ORDERS)[:3].tolist()
    against_naive(problem, orders, Lognormal(2), seed)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "law", [Hyperexponential.fit(4), Erlang(3), Empirical([1, 2, 2, 9])], ids=lambda law: type(law).__name__
)
def test_means_are_those_of_the_formulas(order, law):
    system = System.with_load(ONE, [1], 0.7, sizes=law)
    result = simulate(system, DRF(), jobs=30_000, replications=10, order=order, rng=3, quantiles=())
    exact = single_server(law, 0.7, order)
    assert off(result.estimates["mean_durations"], exact.mean_duration) < 1
    assert off(result.estimates["mean_jobs"], exact.mean_jobs) < 1
    if math.isfinite(exact.mean_slowdown):
        assert off(result.estimates["mean_slowdowns"], exact.mean_slowdown) < 1


@pytest.mark.parametrize("order", ["fcfs", "las"])
def test_orders_that_ignore_sizes_keep_the_chain_of_exponential_sizes(order):
    # Which of the jobs leaves does not matter for the counts, as long as nobody knows what is left of whom.
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.6)
    exact = stationary(system, DRF())
    result = simulate(system, DRF(), jobs=40_000, replications=10, order=order, rng=1, quantiles=())
    assert (off(result.estimates["mean_jobs"], exact.mean_jobs) < 1).all()


def test_orders_conserve_the_work():
    # One resource, always fully used: busy periods end at the same times in every order.
    system = System.with_load(ONE, [1], 0.8, sizes=Lognormal(2))
    ends = []
    for order in ORDERS:
        record = simulate(
            system, DRF(), jobs=2000, replications=2, warmup=0, start=[0], order=order, rng=1, record=True
        ).record
        record = record[record["sample"] == 0].sort_values("arrival_time")
        over = np.maximum.accumulate(record["arrival_time"] + record["duration"])
        new = record["arrival_time"].to_numpy()[1:] > over.to_numpy()[:-1]
        ends.append(np.append(over.to_numpy()[:-1][new], np.nan))
    for other in ends[1:]:
        # Of times up to 2500, and sums of some hundred steps.
        np.testing.assert_allclose(other[:-1], ends[0][:-1], rtol=1e-11)


def test_within_fairness_between_users_the_shortest_first_helps_both():
    pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    system = System.with_load(pool, [1, 1], 0.8, sizes=Lognormal(4))
    runs = {
        order: simulate(system, DRF(), jobs=20_000, replications=4, order=order, rng=2, quantiles=())
        for order in ("ps", "srpt", "psjf")
    }
    assert (runs["srpt"].mean_durations < 0.8 * runs["ps"].mean_durations).all()
    assert (runs["srpt"].mean_durations < runs["psjf"].mean_durations).all()
    assert "in each class srpt" in repr(runs["srpt"])
    assert "in each class" not in repr(runs["ps"])


def test_clusters_have_orders_too():
    cluster = Cluster([[1, 1]], [[4, 4], [2, 2]])
    system = System.with_load(cluster, [1], 0.7)
    result = simulate(
        system, PSDSF(), level="jobs", jobs=2000, replications=2, order="srpt", rng=1, quantiles=()
    )
    plain = simulate(system, PSDSF(), level="jobs", jobs=2000, replications=2, rng=1, quantiles=())
    assert result.mean_durations < plain.mean_durations


def test_recorded_jobs_are_served_in_an_order():
    from queueing import JobTrace

    trace = JobTrace(ONE, [0.0, 1.0, 2.0], ["class 1"] * 3, [10.0, 1.0, 1.0])
    system = System.from_trace(trace)
    durations = {
        order: simulate(
            system, DRF(), order=order, warmup=0, replications=2, record=True, quantiles=()
        ).record["duration"]
        for order in ORDERS
    }
    np.testing.assert_allclose(durations["fcfs"], [10, 10, 10])
    np.testing.assert_allclose(durations["sjf"], [10, 10, 10])
    np.testing.assert_allclose(durations["srpt"], [12, 1, 1])
    np.testing.assert_allclose(durations["psjf"], [12, 1, 1])
    # The second has attained 1 when the third comes, as much as the first: it leaves then.
    np.testing.assert_allclose(durations["las"], [12, 1, 1])
    np.testing.assert_allclose(durations["ps"], [12, 2.5, 2.5])


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("lifo", "order must be one of 'ps', 'fcfs', 'sjf', 'psjf', 'srpt', 'las'; got 'lifo'"),
        (["srpt"], "order must be one name, or one for each of the 2 classes; got 1 names"),
        (["srpt", 3], "order must be one of"),
    ],
)
def test_wrong_orders_are_named(order, told):
    system = System(Problem([[1], [1]], [1]), [0.2, 0.2])
    with pytest.raises(ModelError, match=told):
        simulate(system, DRF(), order=order)


def test_orders_are_of_jobs():
    system = System(ONE, [0.2])
    with pytest.raises(ModelError, match=r"order is for a simulation of jobs"):
        simulate(system, DRF(), level="counts", order="srpt")
    assert simulate(system, DRF(), order="ps", jobs=100, replications=2).level == "jobs"
