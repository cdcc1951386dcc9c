"""Schedulers written in Python: the compiled ones, said again, make the same runs; mistakes are told."""

from __future__ import annotations

import time

import numpy as np
import pytest

from fairness import (
    DRF,
    PSDSF,
    Cluster,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
    UnstableError,
)
from fairness.protocol.calling import policy_tasks
from queueing import (
    BestFit,
    DRFScheduler,
    FIFOScheduler,
    FixedTasks,
    OnArrival,
    OwnScheduler,
    RandomFit,
    System,
    TargetScheduler,
    Tasks,
    TaskTypes,
    WorstFit,
    simulate,
    task_trace,
)
from tests.oracles.tasklevel_reference import CLUSTER, HALVES, POOL, TALK
from tests.queueing.simulation.simulated import same, same_trace


class First:
    """Blocking or not, a job of the lowest score; of equal ones the oldest."""

    def __init__(self, blocking=True):
        self.blocking = blocking

    def choose(self, state):
        jobs = state.candidates if self.blocking else state.fitting
        best = min(jobs, key=lambda job: (self.score(state, job), job.number))
        return best if best.fits else None


class FIFO(First):
    """In order of arrival."""

    name = "FIFO"

    def score(self, state, job):
        return 0


class MostDeprived(First):
    """Lowest weighted dominant share, which is computed in whole numbers: ties are ties."""

    name = "DRF"

    def score(self, state, job):
        problem = state.problem
        capacities = problem.capacities if job.server is None else problem.capacities[job.server]
        if job.server is None and state.problem is not TALK and capacities.ndim == 2:
            capacities = capacities.sum(axis=0)
        held = np.zeros(problem.n_resources)
        for t, running in zip(job.types, job.running_by_type, strict=True):
            held += running * problem.demands[t]
        share = np.divide(held, capacities, out=np.zeros_like(held), where=capacities > 0)
        return round(share.max() / problem.weights[job.job_class], 9)


class Below(First):
    """Furthest below a fluid policy."""

    name = "target"

    def __init__(self, policy, blocking=True):
        super().__init__(blocking)
        self.policy = policy

    def score(self, state, job):
        target = policy_tasks(state.problem, self.policy, state.counts.astype(float))
        ratio = state.running / np.where(target > 0, target, np.nan)
        return round(ratio[job.job_class], 5), job.running


class Idle:
    """Never starts anything."""

    name = "idle"

    def choose(self, state):
        return None


class Answers:
    """Gives what a function of the state gives."""

    name = "mine"

    def __init__(self, answer):
        self.choose = answer


blocking_or_not = pytest.mark.parametrize("blocking", [True, pytest.param(False, marks=pytest.mark.long)])


@blocking_or_not
@pytest.mark.parametrize(
    ("problem", "options"),
    [
        (TALK, {}),
        (TALK, {"times": "deterministic"}),
        (POOL, {}),
        (HALVES, {}),
        (CLUSTER, {"placement": WorstFit()}),
        (CLUSTER, {"placement": RandomFit()}),
        (CLUSTER, {"placement": OnArrival()}),
        (CLUSTER, {"placement": OnArrival("random")}),
        (POOL, {"types": TaskTypes([["reduce", "map"]], start="any")}),
        (CLUSTER, {"types": TaskTypes([["reduce", "map"]], start="listed")}),
        (CLUSTER, {"types": TaskTypes([["map", "reduce"]], start="stages"), "placement": OnArrival()}),
        (CLUSTER, {"types": TaskTypes([["map", "reduce"]], start="any"), "placement": OnArrival()}),
    ],
    ids=lambda value: value.n_classes if isinstance(value, Problem | Cluster) else "-".join(map(str, value)),
)
def test_compiled_schedulers_said_in_python_make_the_same_events(problem, options, blocking):
    rate = System.with_load(problem, [1] * problem.n_classes, 0.9).arrival_rates.mean()
    system = System(problem, [rate] * problem.n_classes)
    tasks = Tasks(per_job=FixedTasks(4), **options)
    for seed, (own, compiled) in enumerate(((FIFO, FIFOScheduler), (MostDeprived, DRFScheduler))):
        record = task_trace(system, own(blocking), 30 / rate, tasks=tasks, rng=seed)
        other = task_trace(system, compiled(blocking=blocking), 30 / rate, tasks=tasks, rng=seed)
        assert len(record.task_jobs) > 150
        same_trace(record, other)
        np.testing.assert_array_equal(record.task_servers, other.task_servers)


@blocking_or_not
@pytest.mark.parametrize(("problem", "policy"), [(TALK, ProportionalFair()), (HALVES, PSDSF())])
def test_targets_said_in_python_make_the_same_events(problem, policy, blocking):
    system = System.with_load(problem, [1, 2], 0.9)
    tasks, horizon = Tasks(per_job=3), 60 / system.arrival_rates.sum()
    compiled = TargetScheduler(policy, blocking=blocking)
    record, other = (
        task_trace(system, scheduler, horizon, tasks=tasks, rng=3)
        for scheduler in (Below(policy, blocking), compiled)
    )
    assert len(record.task_jobs) > 100
    same_trace(record, other)


@pytest.mark.long
def test_estimates_are_those_of_the_compiled_scheduler():
    system = System.with_load(HALVES, [1, 1], 0.6)
    options = {"tasks": Tasks(per_job=4, placement=BestFit()), "events": 2000, "replications": 2, "rng": 4}
    own = simulate(system, MostDeprived(False), **options)
    same(own, simulate(system, DRFScheduler(blocking=False), **options))
    assert own.decisions > 500
    assert f"{own.decisions:,} decisions in Python" in repr(own)
    pool = simulate(System.with_load(TALK, [1, 1], 0.5), FIFO(), events=2000, replications=2, rng=1)
    compiled = simulate(
        System.with_load(TALK, [1, 1], 0.5), FIFOScheduler(), events=2000, replications=2, rng=1
    )
    same(pool, compiled)
    assert pool.servers is None
    assert compiled.decisions == 0


class Random:
    """Any that fits; remembers how often it was asked, which no other replication may see."""

    name = "random"

    def __init__(self):
        self.asked = 0

    def choose(self, state):
        self.asked += 1
        if self.asked % 3 == 0:
            return None
        return state.fitting[state.rng.integers(len(state.fitting))]


def test_draws_and_memory_depend_on_the_seed_alone():
    system, scheduler = System.with_load(TALK, [1, 1], 0.3), Random()
    options = {"tasks": Tasks(per_job=3), "events": 600, "replications": 3}
    one = simulate(system, scheduler, rng=1, **options)
    same(one, simulate(system, scheduler, rng=1, n_jobs=2, **options))
    assert scheduler.asked == 0
    other = simulate(system, scheduler, rng=2, **options)
    assert (one.mean_jobs != other.mean_jobs).all()
    # Of two replications with the same arrivals only the draws of the scheduler would differ.
    assert len(set(one.estimates["mean_jobs"].values[:, 0])) == 3


def test_shortest_remaining_beats_order_of_arrival():
    """On one unit with tasks of equal length, fewest tasks left first is optimal for the mean duration."""

    class Shortest(First):
        name = "shortest"

        def score(self, state, job):
            return job.remaining

    system = System(Problem([[1]], [1]), [0.8])
    options = {"tasks": Tasks(per_job=5, times="deterministic"), "events": 4000, "replications": 2, "rng": 1}
    short, fifo = simulate(system, Shortest(), **options), simulate(system, FIFOScheduler(), **options)
    # Work is conserved and arrivals are common, so it holds run by run and not only on average.
    assert (short.estimates["mean_jobs"].values < fifo.estimates["mean_jobs"].values).all()


class Watching(First):
    """Checks what it sees against itself."""

    name = "watching"
    seen = 0

    def score(self, state, job):
        return 0

    def choose(self, state):
        n, servers = state.problem.n_classes, np.atleast_2d(state.problem.capacities)
        jobs = state.jobs
        assert [job.number for job in jobs] == sorted(job.number for job in jobs)
        counts, running, waiting = (np.zeros(n, int) for _ in range(3))
        for job in jobs:
            for t, here, wait in zip(job.types, job.running_by_type, job.waiting_by_type, strict=True):
                counts[t] += 1
                running[t] += here
                waiting[t] += wait
            assert (job.waiting, job.running) == (sum(job.waiting_by_type), sum(job.running_by_type))
            assert job.remaining > 0
            assert job.arrival <= state.time
            assert job.job_class == job.types[0]
        for name, own in (("counts", counts), ("running", running), ("waiting", waiting)):
            np.testing.assert_array_equal(getattr(state, name), own)
            with pytest.raises(ValueError, match="read-only"):
                getattr(state, name)[0] = 7
        np.testing.assert_array_equal(state.placement.sum(axis=1), running)
        used = np.einsum("ns,nr->sr", state.placement, state.problem.demands)
        np.testing.assert_allclose(state.free, (servers - used).reshape(state.free.shape), atol=1e-9)
        assert state.free.shape == state.problem.capacities.shape
        assert set(state.fitting) <= set(state.candidates) <= set(jobs)
        assert state.fitting
        free = np.atleast_2d(state.free)
        for job in state.candidates:
            demand = state.problem.demands[job.task_class]
            eligible = getattr(state.problem, "eligible", np.ones((n, 1), bool))[job.task_class]
            fits = eligible & (demand <= free + 1e-9).all(axis=1)
            assert job.fits == (fits.any() if job.server is None else fits[job.server])
            assert job.server == state.server
            if len(job.types) == 1 and job.server is None:
                assert state.servers_of(job) == tuple(np.flatnonzero(fits))
        type(self).seen += 1
        return super().choose(state)


@pytest.mark.parametrize("problem", [POOL, CLUSTER])
@pytest.mark.parametrize("start", ["listed", "stages"])
@pytest.mark.parametrize("placement", [BestFit(), OnArrival()])
def test_what_a_scheduler_sees(problem, start, placement):
    before = Watching.seen
    tasks = Tasks(per_job=4, placement=placement, types=TaskTypes([["reduce", "map"]], start=start))
    rate = System.with_load(problem, [1] * 3, 0.8).arrival_rates.mean()
    task_trace(System(problem, [rate] * 3), Watching(False), 15 / rate, tasks=tasks, rng=1)
    assert Watching.seen > before + 50


class Packer:
    """Says where, too: the last server that fits."""

    name = "packer"

    def choose(self, state):
        job = state.fitting[0]
        return job, state.servers_of(job)[-1]


def test_a_scheduler_may_place_the_task():
    system = System.with_load(CLUSTER, [1, 1, 1], 0.3)
    record = task_trace(system, Packer(), 40.0, tasks=Tasks(per_job=3), rng=1)
    assert len(record.task_jobs) > 200
    running = []
    for start, end, t, server in zip(
        record.task_starts, record.task_ends, record.task_classes, record.task_servers, strict=True
    ):
        running = [task for task in running if task[0] > start]
        free = CLUSTER.capacities.astype(float)
        for _, other, where in running:
            free[where] -= CLUSTER.demands[other]
        fits = CLUSTER.eligible[t] & (CLUSTER.demands[t] <= free).all(axis=1)
        assert server == np.flatnonzero(fits)[-1]
        running.append((end, t, server))


def failing(state):
    return 1 / 0


def stale():
    seen = []

    def choose(state):
        seen.append(state.fitting[0])
        gone = [job for job in seen if job.number not in {job.number for job in state.jobs}]
        return gone[0] if gone else state.fitting[0]

    return choose


WRONG = [
    (lambda state: 0, r"answered 0; give a job of state\.fitting"),
    (lambda state: (state.fitting[0], 0, 0), r"answered \(PresentJob"),
    (lambda state: state.counts, "answered array"),
    (failing, "failed with ZeroDivisionError: division by zero"),
    (lambda state: (state.fitting[0], 9), "chose server 9 for job 0 of class 'class .', whose task fits on"),
    (lambda state: (state.fitting[0], "a"), "chose server 'a' for job 0"),
    (lambda state: max(state.candidates, key=lambda job: not job.fits), "whose task does not fit"),
    (lambda state: min(state.jobs, key=lambda job: job.waiting), "has no task that it may start"),
    (stale(), "has no task that it may start"),
]


@pytest.mark.parametrize(("answer", "message"), WRONG)
def test_wrong_answers_are_told(answer, message):
    with pytest.raises(ModelError, match=message) as caught:
        task_trace(System.with_load(TALK, [1, 1], 0.9), Answers(answer), 60.0, tasks=Tasks(per_job=4), rng=1)
    assert str(caught.value).startswith("scheduler 'mine' at time ")
    assert "(present: 'class 1' " in str(caught.value)


def test_schedulers_that_are_none():
    class Locked(Idle):
        def __deepcopy__(self, memo):
            raise TypeError("no copies")

    class Nameless:
        def choose(self, state):
            return None

    system = System.with_load(TALK, [1, 1], 0.5)
    with pytest.raises(ModelError, match="scheduler 'idle' cannot be copied"):
        task_trace(system, Locked(), 1.0)
    for wrong in (Nameless(), Idle, DRF()):
        with pytest.raises(ModelError, match="write an OwnScheduler, an object with a name"):
            task_trace(system, wrong, 1.0)
    assert isinstance(Idle(), OwnScheduler)


def test_idling_is_allowed_until_too_many_jobs_wait():
    system = System.with_load(TALK, [1, 1], 0.5)
    with pytest.raises(UnstableError, match=r"under idle .* it leaves tasks waiting, or .* starts what fits"):
        simulate(system, Idle(), tasks=Tasks(max_jobs=200), events=1000, rng=1)
    record = task_trace(system, Idle(), 1.0, tasks=Tasks(per_job=2), rng=1)
    assert len(record.task_jobs) == 0


@pytest.mark.long
def test_time_is_said_and_kept_to():
    class Slow(FIFO):
        def choose(self, state):
            end = time.process_time() + 0.002
            while time.process_time() < end:
                pass
            return super().choose(state)

    system, said = System.with_load(TALK, [1, 1], 0.5), []
    with pytest.raises(NotConvergedError, match="time_limit=1 seconds are over"):
        simulate(system, Slow(), events=100_000, replications=2, rng=1, progress=said.append, time_limit=1)
    assert any(report.announced for report in said)
    with pytest.raises(ModelError, match=r"the simulation: about .* events, about"):
        simulate(system, Slow(), events=10**9, rng=1)
