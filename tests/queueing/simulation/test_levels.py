"""What ``simulate`` does alike at every level: counts, jobs, whole tasks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import joblib
import numpy as np
import pytest
from scipy import stats

from fairness import DRF, PSDSF, Cluster, Problem, to_latex
from fairness.errors import ModelError, NotConvergedError, UnstableError
from fairness.machine.backends import BackendError
from fairness.machine.work import Task
from queueing import (
    BMFScheduler,
    DRFScheduler,
    Erlang,
    Exponential,
    FIFOScheduler,
    FixedTasks,
    JobTrace,
    OnOff,
    RandomFit,
    System,
    TargetScheduler,
    Tasks,
    simulate,
    tabulate,
)
from queueing.results import JobSimulation, Simulation, TaskSimulation
from queueing.simulation.replications import QuantileEstimate
from queueing.simulation.sampling import Pace
from tests.processes import PATIENCE, at_once, backend_of
from tests.queueing.simulation.simulated import SURE, off, same

POOL = Problem([[10, 1], [1, 10]], [10, 10], job_classes=["A", "B"], resources=["cpu", "ram"])
WHOLE = Problem([[4, 1], [1, 4]], [16, 16], job_classes=["A", "B"], resources=["cpu", "ram"])
ONE = Problem([[1]], [1])

KIND = {"counts": Simulation, "jobs": JobSimulation, "tasks": TaskSimulation}
RUN = {
    "counts": partial(simulate, policy=DRF(), level="counts", events=20_000),
    "jobs": partial(simulate, policy=DRF(), level="jobs", jobs=10_000),
    "tasks": partial(
        simulate, policy=DRFScheduler(), tasks=Tasks(per_job=5, placement=RandomFit()), events=20_000
    ),
}
every_level = pytest.mark.parametrize("level", RUN)


def system_of(level, load=0.6, mix=(1, 1)):
    return System.with_load(WHOLE if level == "tasks" else POOL, mix, load)


@every_level
def test_results_depend_on_the_seed_alone(level):
    run = partial(RUN[level], system_of(level), replications=5)
    one = run(rng=1)
    assert type(one) is KIND[level]
    assert one.level == level
    same(one, run(rng=1, n_jobs=2))
    assert (one.mean_jobs != run(rng=2).mean_jobs).all()
    fresh = run()
    same(fresh, run(rng=fresh.entropy))
    assert len(np.unique(fresh.estimates["mean_jobs"].values[:, 0])) == fresh.replications == 5


SCRIPT = """
import json
from fairness import DRF, Cluster, Problem
from queueing import *

def show(*columns):
    print(json.dumps([list(map(float, column)) for column in columns]))

def trace(system, scheduler, horizon, **options):
    record = task_trace(system, scheduler, horizon, tasks=Tasks(**options), rng=6)
    show(record.task_jobs, record.jobs.ravel(), record.task_servers, record.task_ends)

pool = Problem([[4, 1], [1, 4]], [16, 16])
system = System.with_load(pool, [1, 1], 0.9)
alike = {"replications": 2, "rng": 3, "start": [0, 0], "table": tabulate(pool, DRF(), (4, 4))}
walk = simulate(system, DRF(), events=1000, **alike)
show(walk.estimates["mean_jobs"].values.ravel(), [walk.time], walk.table_shape)
jobs = simulate(system, DRF(), jobs=400, record=True, **alike).record
show(jobs["arrival_time"], jobs["size"], jobs["duration"])
for scheduler in (BMFScheduler(ties="random"), DRFScheduler(blocking=False), TargetScheduler(DRF())):
    trace(system, scheduler, 4.0, per_job=10.0)
system = System(Cluster([[4, 1], [1, 4]], [[8, 8], [16, 8]]), [2.0, 2.0])
for rule in (BestFit(), BestFit("alignment"), PowerOfChoices(), OnArrival("random"), OnArrival()):
    for types in (None, TaskTypes([["class 1", "class 2"]], start="any")):
        scheduler = DRFScheduler(ties="random", blocking=False)
        trace(system, scheduler, 5.0, per_job=5.0, placement=rule, types=types)
"""


@pytest.mark.long
def test_kernels_give_the_same_numbers_uncompiled():
    # Uncompiled, an index out of bounds would be an error, too. Only overflow of uint64 is meant.
    command = [sys.executable, "-W", "error", "-W", "ignore:overflow", "-c", SCRIPT]
    runs = []
    for flag in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": flag}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
        runs.append([json.loads(line) for line in done.stdout.splitlines()])
    walk, *others = runs[0]
    assert max(walk[2]) > 4
    assert [len(line[0]) > 30 for line in others] == [True] * 14
    for one, other in zip(*runs, strict=True):
        for column, again in zip(one, other, strict=True):
            # Compiled or not, log1p differs in the last digit, and a product and a sum may be one.
            np.testing.assert_allclose(column, again, rtol=1e-12)


@pytest.mark.parametrize("level", ["counts", "jobs"])
def test_results_do_not_depend_on_the_first_table(level):
    run = partial(RUN[level], system_of(level, 0.8, (3, 1)), replications=3, rng=7)
    one = run()
    for shape in [(1, 1), (2, 5), (200, 300)]:
        other = run(table=tabulate(POOL, DRF(), shape))
        same(one, other)
    assert one.table_shape != other.table_shape == (200, 300)


@every_level
@pytest.mark.long
def test_sequential_run_is_the_run_of_its_final_length(level):
    length = {"jobs": 5_000} if level == "jobs" else {"events": 10_000}
    run = partial(RUN[level], system_of(level), rng=1, **length)
    found = run(replications=5, precision=0.04)
    assert found.precision <= 0.04
    assert found.replications > 5
    same(found, run(replications=found.replications))
    same(found, run(replications=5, precision=0.04, n_jobs=2))


@every_level
def test_precision_out_of_reach(level):
    run = partial(RUN[level], system_of(level, 0.5), rng=1)
    with pytest.raises(NotConvergedError, match="raise max_replications") as caught:
        run(replications=3, precision=0.001, max_replications=6)
    assert caught.value.residual == caught.value.best.precision > 0.001
    same(caught.value.best, run(replications=6))


@every_level
def test_what_is_finished_when_the_time_is_over_is_kept(level, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("fairness.machine.work.time.monotonic", lambda: clock[0])

    def tick(progress):
        if progress.what == "the simulation":
            # In the third.
            clock[0] = 1.0 if progress.done < 0.4 * progress.total else 100.0

    run = partial(RUN[level], system_of(level, 0.5), rng=1)
    monkeypatch.setattr("fairness.machine.work.SHOWN", -1.0)
    with pytest.raises(NotConvergedError, match="the first 2 of 6 replications are finished") as caught:
        run(replications=6, time_limit=50.0, progress=tick)
    same(caught.value.best, RUN[level](system_of(level, 0.5), replications=2, rng=1))


@dataclass
class Killer:
    """DRF, but whoever asks in another process dies."""

    home: int

    def __call__(self, problem, counts):
        if os.getpid() != self.home:
            os._exit(3)
        return DRF()(problem, counts)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["dask", "loky"])
def test_a_worker_that_dies_ends_a_simulation(backend):
    def call():
        with backend_of(backend, workers=1), joblib.parallel_config(backend=backend):
            try:
                # Beyond the first table, which is made here.
                RUN["jobs"](system_of("jobs"), policy=Killer(os.getpid()), start=[99, 0], n_jobs=2, rng=1)
            except BackendError as error:
                return error

    (error,) = at_once(1, call)
    assert "as when a worker dies" in str(error)
    assert "not all of 10 replications are finished" in str(error)
    assert error.best is None


@every_level
def test_what_is_finished_when_the_backend_fails_is_kept(level, monkeypatch):
    def broken(calls, run):
        for function, number, task in calls:
            if number == 3:
                raise OSError("gone")
            yield number, function(*task)

    monkeypatch.setattr("fairness.machine.backends._by_joblib", broken)
    with pytest.raises(BackendError, match=r"\(OSError: gone\): the first 3 of 5 replic") as caught:
        RUN[level](system_of(level), replications=5, n_jobs=2, rng=1)
    same(caught.value.best, RUN[level](system_of(level), replications=3, rng=1))


@every_level
@pytest.mark.long
def test_progress_moves_within_a_replication(level, monkeypatch):
    seen = []
    monkeypatch.setattr("fairness.machine.work.SHOWN", -1.0)
    monkeypatch.setattr("queueing.simulation.sampling.SECONDS", 0.0)

    def watch(progress):
        if progress.what == "the simulation":
            seen.append(progress)

    # Every event is told.
    length = {"jobs": 1_000} if level == "jobs" else {"events": 2_000}
    same(
        RUN[level](system_of(level, 0.5), replications=2, rng=1, progress=watch, **length),
        RUN[level](system_of(level, 0.5), replications=2, rng=1, **length),
    )
    assert len(seen) > 20
    assert {progress.unit for progress in seen} == {"events"}
    done = [progress.done for progress in seen]
    assert done == sorted(done)
    assert done[-1] == pytest.approx(seen[0].total)
    assert done[0] < seen[0].total / 10


def test_compilation_is_not_taken_for_the_speed_of_a_run(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("queueing.simulation.sampling.time.monotonic", lambda: now[0])
    monkeypatch.setattr("fairness.machine.work.time.process_time", lambda: now[0])
    with Task("the simulation", 1e7, "events") as work:
        pace, stride = Pace(work, 1e9), []
        for _ in range(30):
            # The first call compiles; then a million events a second.
            now[0] += 20.0 if not stride else 1e-6 * pace.stride
            stride.append(pace.stride)
            pace.made(pace.stride)
    assert pace.total == work.done == sum(stride)
    assert max(stride) == 2**15


def test_when_the_clock_is_looked_at_changes_nothing_on_servers(monkeypatch):
    servers = Cluster([[1, 2], [2, 1]], [[40, 40], [60, 20]])
    system = System.with_load(servers, [1, 1], 0.5)

    def run():
        return simulate(system, FIFOScheduler(), tasks=Tasks(per_job=3), events=3000, replications=2, rng=1)

    seldom = run()
    monkeypatch.setattr("queueing.simulation.sampling.SECONDS", 0.0)
    np.testing.assert_array_equal(run().servers.utilization.values, seldom.servers.utilization.values)


@every_level
def test_class_without_arrivals(level):
    result = RUN[level](system_of(level, 0.3, (1, 0)), replications=3, rng=1)
    assert result.mean_jobs[1] == 0
    assert np.isnan([result.mean_durations[1], result.service_rates[1]]).all()
    assert np.isfinite(result.precision)
    assert level == "tasks" or result.table_shape[1] == 1


@pytest.mark.parametrize(("level", "jobs"), [("counts", 4000), ("jobs", 2000), ("tasks", 4000)])
@pytest.mark.long
def test_intervals_cover_as_often_as_they_say(level, jobs):
    # M/M/1 at load 0.3: E[x] = 0.3/0.7.
    confidence, runs = 0.8, 120
    run = RUN[level]
    if level == "tasks":
        run = partial(simulate, policy=FIFOScheduler(), tasks=Tasks(per_job=FixedTasks(1)))
    options = {"jobs" if level == "jobs" else "events": jobs, "replications": 5, "confidence": confidence}
    if level == "jobs":
        options["quantiles"] = ()
    hits = 0
    for seed in range(runs):
        result = run(System(ONE, [0.3]), rng=seed, **options)
        hits += abs(result.mean_jobs[0] - 0.3 / 0.7) <= result.half_widths["mean_jobs"][0]
    # Binomial(120, 0.8) leaves this interval with probability 1e-6.
    low, high = stats.binom.interval(SURE, runs, confidence)
    assert low <= hits <= high


@every_level
def test_utilization_is_the_load_that_is_carried(level):
    system = system_of(level, 0.5, (3, 1))
    result = RUN[level](system, replications=10, rng=2)
    assert result.utilization == pytest.approx(system.relative_loads, rel=0.1)
    if level == "tasks":
        assert (off(result.utilization_estimate, system.relative_loads) < 1).all()
    if level == "counts":
        assert result.utilization == pytest.approx(system.relative_loads, rel=1e-12)


def test_utilization_of_servers():
    servers = Cluster([[1, 2], [2, 1]], [[4, 4], [6, 2]])
    result = simulate(System.with_load(servers, [1, 1], 0.5), PSDSF(), events=5000, rng=1)
    loads = result.system.resource_loads / servers.total_capacities
    assert result.utilization == pytest.approx(loads, rel=1e-9)
    given = Cluster([[1, 2], [2, 1]], [[4, 4], [6, 2]], gamma=[[2, 1], [2, 2]])
    result = simulate(System.with_load(given, [1, 1], 0.3), PSDSF(), events=500, rng=1)
    with pytest.raises(ModelError, match="gamma is given"):
        _ = result.utilization


@pytest.mark.parametrize(
    ("level", "parts"),
    [
        ("counts", ["DRF, simulated: 4 replications, 64,000 events"]),
        ("jobs", ["DRF, job by job: 4 samples, 32,000 jobs", "quantiles of the durations", "Little's law"]),
        ("tasks", ["DRF, task by task: 4 replications, 64,000 events", "random fit: jobs wait"]),
    ],
)
def test_what_a_reader_sees(level, parts):
    result = RUN[level](system_of(level), replications=4, warmup=0.2, rng=1)
    frame = result.to_dataframe()
    assert list(frame.index) == ["A", "B"]
    assert frame.notna().all(axis=None)
    for name, estimate in result.columns().items():
        np.testing.assert_array_equal(frame[name], estimate.value)
        if isinstance(estimate, QuantileEstimate):
            ends = frame[f"{name}_lower"], frame[f"{name}_upper"]
            np.testing.assert_array_equal(ends, estimate.interval)
            sides = np.abs(ends - estimate.value)
            np.testing.assert_allclose(sides.max(axis=0), estimate.half_width, rtol=1e-12)
        else:
            np.testing.assert_array_equal(frame[f"{name}_half_width"], estimate.half_width)
    assert repr(result) == result.summary()
    assert result.to_latex() == to_latex(frame)
    for part in ("95 % intervals", *parts):
        assert part in repr(result)
    if level == "jobs":
        assert {"mean_slowdowns", "duration_q0.9", "slowdown_q0.99"} <= set(frame)
        assert "quantiles" not in RUN[level](system_of(level), quantiles=(), rng=1).summary()
    if level == "tasks":
        assert f"in use: cpu {result.utilization[0]:.2%} +-" in repr(result)


# Which level


def test_the_level_is_chosen_by_what_is_asked():
    system = System(POOL, [0.3, 0.3])
    laws = System(POOL, [0.3, 0.3], sizes=Erlang(2))
    bursts = System(POOL, [0.3, 0.3], arrivals=OnOff(1, 1))
    trace = System.from_trace(JobTrace(POOL, range(40), ["A", "B"] * 20, [0.1] * 40))
    run = partial(simulate, rng=1, replications=2)
    assert run(system, DRF(), events=300).level == "counts"
    assert run(system, DRF(), events=300, precision=0.99, max_replications=9).level == "counts"
    assert run(laws, DRF(), jobs=300).level == run(bursts, DRF(), jobs=300).level == "jobs"
    assert run(trace, DRF()).level == "jobs"
    for options in ({"horizon": 500.0}, {"jobs": 300, "record": True}, {"quantiles": (0.5,), "jobs": 300}):
        assert run(system, DRF(), **options).level == "jobs"
    assert run(system, DRF(), level="jobs", jobs=300).level == "jobs"
    assert run(System(WHOLE, [1, 1]), DRFScheduler(), events=3000).level == "tasks"
    assert run(System(WHOLE, [1, 1]), TargetScheduler(DRF()), events=3000).level == "tasks"


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        (DRF(), {"level": "chain"}, "level must be one of 'counts', 'jobs', 'tasks'; got 'chain'"),
        (DRF(), {"jobs": 10, "events": 10}, r"events is for .* counts or tasks; .* because jobs is given"),
        (DRF(), {"level": "counts", "jobs": 10}, "jobs is for a simulation of jobs; this one is of counts"),
        (DRF(), {"level": "counts", "record": True}, "record is for a simulation of jobs"),
        (DRF(), {"tasks": Tasks()}, r"tasks is for .* or take a scheduler such as TargetScheduler\(policy\)"),
        (DRFScheduler(), {"start": [0, 0]}, "start is for .* counts or jobs; .* the policy is a scheduler"),
        (DRFScheduler(), {"quantiles": (0.5,)}, "quantiles is for a simulation of jobs"),
        (DRFScheduler(), {"table": tabulate(WHOLE, DRF(), 2)}, "table is for"),
        (DRFScheduler(), {"tasks": FixedTasks(2)}, r"tasks must be Tasks, such as Tasks\(per_job=5\)"),
        (DRFScheduler(), {"level": "jobs"}, "policy must be callable"),
        (DRFScheduler, {}, "policy must be callable"),
        (DRFScheduler, {"level": "tasks"}, "scheduler must be a task-level scheduler such as DRFScheduler"),
        (DRF(), {"level": "tasks"}, r"follow a fluid policy with TargetScheduler\(policy\)"),
        ("drf", {}, r"policy must be callable .* got 'drf'"),
    ],
)
def test_options_and_policies_of_another_level(policy, options, message):
    with pytest.raises(ModelError, match=message):
        simulate(System(WHOLE, [0.3, 0.3]), policy, **options)


@pytest.mark.parametrize("law", [{"sizes": Erlang(2)}, {"arrivals": OnOff(1, 1)}], ids=["sizes", "arrivals"])
def test_laws_that_a_level_does_not_know(law):
    system = System(WHOLE, [0.3, 0.3], **law)
    with pytest.raises(ModelError, match=r'the simulation of counts needs .* use level="jobs"'):
        simulate(system, DRF(), level="counts")
    with pytest.raises(ModelError, match=r"the simulation of whole tasks.* needs"):
        simulate(system, BMFScheduler())


# Bad input


@every_level
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"replications": 1}, "replications must be a whole number >= 2: a confidence interval needs two"),
        ({"warmup": 1.0}, r"warmup must be a finite number >= 0 and < 1.*; got 1.0"),
        ({"warmup": -0.1}, "warmup"),
        ({"warmup": "none"}, "warmup"),
        ({"confidence": 1.0}, "confidence must be a number between 0 and 1"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": None}, "confidence must be a number between 0 and 1; got None"),
        ({"precision": 0}, "precision"),
        ({"precision": 0.1, "max_replications": 5}, "max_replications"),
    ],
)
def test_bad_arguments(level, arguments, message):
    with pytest.raises(ModelError, match=message):
        RUN[level](system_of(level), **arguments)


@pytest.mark.parametrize("level", ["counts", "tasks"])
@pytest.mark.parametrize(("events", "got"), [(0, "0"), (10.5, "10.5"), (True, "True")])
def test_events_are_whole(level, events, got):
    with pytest.raises(ModelError, match=f"events must be a whole number >= 1; got {got}"):
        RUN[level](system_of(level), events=events)


@every_level
def test_loads_that_cannot_be_carried(level):
    with pytest.raises(UnstableError, match="must be below 1 on every resource, but is not on 'cpu'"):
        RUN[level](system_of(level, 1.1))
    with pytest.raises(ModelError, match="nobody ever comes"):
        RUN[level](System(system_of(level).problem, [0.0, 0.0]))
    with pytest.raises(ModelError, match="must be a System"):
        RUN[level](POOL)


def test_a_class_without_arrivals_does_not_decide_the_level():
    quiet = System(POOL, [0.4, 0.0], sizes=[Exponential(), Erlang(3)])
    assert quiet.is_markovian
    run = simulate(quiet, DRF(), events=5_000, replications=4, rng=0)
    same_run = simulate(System(POOL, [0.4, 0.0]), DRF(), events=5_000, replications=4, rng=0)
    np.testing.assert_array_equal(run.mean_jobs, same_run.mean_jobs)
    with pytest.raises(ModelError, match="sizes are not exponential"):
        simulate(quiet, DRF(), events=5_000, start=[0, 1])
