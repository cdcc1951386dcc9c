"""In which order the jobs of a class are served: job by job against the definitions, and in the mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, PSDSF, Cluster, Problem
from fairness.errors import ModelError, UnstableError
from fairness.testing import random_problem
from queueing import (
    SRPT,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    System,
    simulate,
    single_server,
    stationary,
    tabulate,
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


def naive_order_of_all(problem, scales, arrivals, classes, sizes):
    """Durations of given jobs, of which the first by scaled work left takes what it can, then the next."""
    now, present, k = 0.0, [], 0
    gone = np.full(len(sizes), np.nan)
    while present or k < len(sizes):
        present.sort(key=lambda job: scales[classes[job.number]] * job.left)
        free = problem.capacities.astype(float)
        events, ahead = [(math.inf, "", None)], None
        speed = {}
        for job in present:
            i = classes[job.number]
            needs = problem.demands[i] > 0
            rate = min(problem.limits[i], (free[needs] / problem.demands[i][needs]).min())
            if rate < 1e-12:
                continue
            free = np.maximum(free - rate * problem.demands[i], 0.0)
            speed[job] = rate
            events.append((job.left / rate, "leaves", job))
            key = scales[i] * job.left, scales[i] * rate
            if ahead is not None and key[1] > ahead[1] * (1 + 1e-12):
                # A little later, so that it is before the other then.
                events.append(((key[0] - ahead[0]) / (key[1] - ahead[1]) + 1e-11, "passes", job))
            ahead = key
        if k < len(sizes):
            events.append((arrivals[k] - now, "comes", None))
        wait, what, who = min(events, key=lambda event: event[0])
        for job, rate in speed.items():
            job.left -= rate * wait
        now += wait
        if what == "comes":
            present.append(Job(k, sizes[k]))
            k += 1
        elif what == "leaves":
            present.remove(who)
            gone[who.number] = now
    return gone - arrivals


@pytest.mark.parametrize("by", ["size", "share-time"])
@pytest.mark.parametrize(
    "problem",
    [
        Problem([[2, 1], [1, 3]], [6, 6], limits=[1, 1.5]),
        Problem([[1, 0], [1, 1], [0, 2]], [4, 5], limits=[2, 1, 3]),
        Problem([[1, 1], [1, 4]], [10, 10], limits=[1, 6]),
    ],
)
def test_in_an_order_of_all_jobs_the_first_takes_what_it_can(problem, by):
    n = problem.n_classes
    system = System.with_load(problem, np.ones(n), 0.7, sizes=Lognormal(2))
    result = simulate(
        system,
        SRPT(by),
        jobs=200,
        warmup=0,
        replications=2,
        rng=1,
        start=np.zeros(n),
        record=True,
        quantiles=(),
    )
    scales = np.ones(n) if by == "size" else (problem.demands / problem.capacities).max(axis=1)
    for k in range(2):
        jobs = result.record[result.record["sample"] == k]
        classes = [problem.job_classes.index(name) for name in jobs["job_class"]]
        times, sizes = jobs["arrival_time"].to_numpy(), jobs["size"].to_numpy()
        durations = naive_order_of_all(problem, scales, times, classes, sizes)
        over = (times + jobs["duration"] <= times[-1]).to_numpy()
        assert over.sum() > 150
        # 1e-7: who overtakes does so 1e-11 later in the naive run, at some of 400 events.
        np.testing.assert_allclose(jobs["duration"][over], durations[over], rtol=1e-7, atol=1e-8)


def test_on_one_resource_the_order_of_all_jobs_is_srpt():
    # Classes only differ in their sizes: together a mixture.
    laws = [Exponential(1.0), Exponential(4.0)]
    system = System(Problem([[1], [1]], [1]), [0.4, 0.1], sizes=laws)
    exact = single_server(Hyperexponential([0.8, 0.2], [1.0, 4.0]), 0.8, "srpt")
    for by in ("size", "share-time"):
        result = simulate(system, SRPT(by), jobs=40_000, replications=10, rng=1, quantiles=())
        totals = result.estimates["mean_jobs"].values.sum(axis=1)
        # False alarms have probability 1e-6: Student's law of ten runs.
        wide = stats.t.isf(5e-7, 9) * np.std(totals, ddof=1) / math.sqrt(10)
        assert abs(totals.mean() - exact.mean_jobs) < wide < 0.2 * exact.mean_jobs
        assert result.policy == f"SRPT by {by}"


@pytest.mark.long
def test_the_first_may_waste_what_others_could_use():
    # One job at a time, where two could have nearly a resource each: loads of .65 each are more than 1.
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.7)
    with pytest.raises(UnstableError, match="never leave under SRPT by size"):
        simulate(system, SRPT(), jobs=5000, replications=2, rng=1)


def test_an_order_of_all_jobs_is_of_jobs_on_a_pool():
    system = System(ONE, [0.2])
    for options, told in (
        ({"order": "las"}, "order is not for an order of all jobs"),
        ({"level": "counts"}, "level of an order of all jobs is 'jobs'; got 'counts'"),
        ({"table": tabulate(ONE, DRF(), 5)}, "table is not for an order of all jobs"),
    ):
        with pytest.raises(ModelError, match=told):
            simulate(system, SRPT(), **options)
    with pytest.raises(ModelError, match="by must be one of 'size', 'share-time'"):
        SRPT("age")
    cluster = Cluster([[1, 1]], [[4, 4], [2, 2]])
    with pytest.raises(ModelError, match="an order of all jobs"):
        simulate(System.with_load(cluster, [1], 0.7), SRPT())


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
