from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, Cluster, Problem
from fairness.errors import ModelError
from queueing import Tasks, simulate, task_trace
from queueing.model.system import System
from queueing.simulation.tasks import (
    BestFit,
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    FixedTasks,
    OnArrival,
    PFScheduler,
    TabulatedTasks,
    TargetScheduler,
    TaskTypes,
    WorstFit,
)
from tests.queueing.simulated import SURE, off, same_trace
from tests.queueing.tasklevel_reference import replay

NAMES = ["map", "scan", "reduce"]
POOL = Problem([[4, 1], [2, 2], [1, 4]], [16, 16], weights=[2, 1, 2], limits=[2, 3, 9], job_classes=NAMES)
CLUSTER = Cluster(
    [[4, 1], [2, 2], [1, 4]],
    [[8, 8], [8, 4], [4, 8]],
    eligible=[[True, True, False], [True, True, True], [True, False, True]],
    weights=[2, 1, 2],
    job_classes=NAMES,
)


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("start", ["listed", "any", "stages"])
@pytest.mark.parametrize("placement", [BestFit(), WorstFit(), OnArrival()], ids=lambda rule: rule.name)
def test_every_start_is_that_of_the_reference(placement, start, blocking):
    numbers = [5, 3, 2]
    for k, (problem, scheduler) in enumerate(
        (p, s)
        for p in (POOL, CLUSTER)
        for s in (DRFScheduler(blocking=blocking), FIFOScheduler(blocking=blocking))
    ):
        system = System.with_load(problem, [1, 1, 1], 0.95)
        system = System(problem, np.full(3, system.arrival_rates.mean()), system.mean_sizes)
        record = task_trace(
            system,
            scheduler,
            30 / system.arrival_rates[0],
            tasks=Tasks(
                per_job=FixedTasks(numbers),
                placement=placement,
                types=TaskTypes([["reduce", "map"]], start=start),
            ),
            rng=k,
        )
        counts = [[2, 5] if i == 2 else [3] for i in record.job_classes]
        made, _, _ = replay(record, scheduler, placement, counts, [[2, 0], [1]], start)
        assert made > 150
        capacities = problem.capacities if problem is CLUSTER else problem.capacities[None]
        assert (record.server_usage <= capacities).all()  # whole numbers: exact
        np.testing.assert_array_equal(record.jobs[:, 0], record.jobs[:, 2])


def test_stages_come_one_after_the_other():
    system = System(POOL, [0.5, 0.2, 0.5], [5.0, 1.0, 2.0])
    types = TaskTypes([["map", "reduce"]], start="stages")
    record = task_trace(
        system, DRFScheduler(), 60.0, tasks=Tasks(per_job=FixedTasks([5, 1, 2]), types=types), rng=1
    )
    seen = 0
    for job in np.unique(record.task_jobs):
        mine = record.task_jobs == job
        first, second = (mine & (record.task_classes == row) for row in (0, 2))
        if second.any():
            assert first.sum() == 5
            assert record.task_ends[first].max() <= record.task_starts[second].min()
            seen += 1
    assert seen > 10


def test_single_types_are_the_pool_bit_by_bit():
    system = System(POOL, [0.5, 0.2, 0.5], [5.0, 1.0, 2.0])
    for scheduler in (DRFScheduler(), FIFOScheduler(blocking=False), PFScheduler()):
        one = task_trace(system, scheduler, 60.0, rng=1)
        for types in (TaskTypes([]), TaskTypes([["reduce"], ["map"]], start="stages")):
            two = task_trace(system, scheduler, 60.0, tasks=Tasks(types=types), rng=1)
            same_trace(one, two)


@pytest.mark.parametrize("start", ["listed", "any"])
def test_equal_types_are_one_type(start):
    # 3 + 4 tasks of equal demands and duration are 7 tasks; with deterministic durations even the same run.
    one = System(Problem([[4, 1], [1, 4]], [16, 16]), [0.5, 0.5], [7.0, 3.0])
    two = System(Problem([[4, 1], [4, 1], [1, 4]], [16, 16]), [0.5, 0.5, 0.5], [3.0, 4.0, 3.0])
    tasks = Tasks(per_job=FixedTasks([7, 3]), times="deterministic")
    left = task_trace(one, DRFScheduler(), 60.0, tasks=tasks, rng=2)
    types = TaskTypes([["class 1", "class 2"]], start=start)
    tasks = Tasks(per_job=FixedTasks([3, 4, 3]), times="deterministic", types=types)
    right = task_trace(two, DRFScheduler(), 60.0, tasks=tasks, rng=2)
    assert len(left.task_jobs) > 200
    np.testing.assert_array_equal(left.task_jobs, right.task_jobs)
    np.testing.assert_array_equal(left.task_starts, right.task_starts)
    np.testing.assert_array_equal(left.job_departures, right.job_departures)


def test_numbers_of_tasks_follow_their_laws():
    # Room for everything: all tasks start at once, so the record shows the numbers of all types.
    system = System(Problem([[1.0], [1.0]], [1e5]), [2.0, 2.0])
    law = TabulatedTasks([[0.0, 0.5, 0.5], [0.75, 0.25, 0.0]], first=0)
    np.testing.assert_allclose(law.means(2), [1.5, 0.25], rtol=1e-15)
    types = TaskTypes([["class 1", "class 2"]])
    record = task_trace(system, DRFScheduler(), 1500.0, tasks=Tasks(per_job=law, types=types), rng=3)
    table = np.zeros((len(record.job_tasks), 2), np.int64)
    np.add.at(table, (record.task_jobs, record.task_classes), 1)
    np.testing.assert_array_equal(table.sum(axis=1), record.job_tasks)
    observed = np.array([[((table == [a, b]).all(axis=1)).sum() for b in (0, 1)] for a in (1, 2)])
    assert observed.sum() == len(table)
    # Independent of each other, too.
    law_of_pairs = len(table) * np.outer([0.5, 0.5], [0.75, 0.25])
    assert stats.chisquare(observed.ravel(), law_of_pairs.ravel()).pvalue > 1e-6


def test_stages_without_contention_add_up():
    # One task each and room for all: E[T] = 1 + 2 in stages, 1 + 2 - 1/(1 + 1/2) at the same time.
    system = System(Problem([[1], [1]], [10_000]), [1.0, 1.0], [1.0, 2.0])
    for start, exact in (("stages", 3.0), ("any", 3.0 - 1 / 1.5)):
        result = simulate(
            system,
            DRFScheduler(),
            tasks=Tasks(per_job=FixedTasks(1), types=TaskTypes([["class 1", "class 2"]], start=start)),
            events=30_000,
            replications=20,
            rng=4,
        )
        assert (off(result.estimates["mean_durations"], exact) < 1).all()
        assert (off(result.estimates["mean_jobs"], exact) < 1).all()
        assert (off(result.estimates["service_rates"], system.mean_sizes / exact) < 1).all()
        assert off(result.utilization_estimate, 3 / 10_000) < 1
        assert result.estimates["mean_durations"].half_width_at(SURE).max() < 0.05 * exact


def test_estimates_agree_with_each_other():
    # Classes 1 and 3 in another order than in the problem: estimates keep the order of the problem.
    system = System(CLUSTER, [0.4, 0.3, 0.4], [3.0, 1.0, 2.0])
    result = simulate(
        system,
        DRFScheduler(blocking=False),
        tasks=Tasks(per_job=FixedTasks([3, 1, 2]), types=TaskTypes([["reduce", "map"]])),
        events=50_000,
        replications=20,
        rng=5,
    )
    assert result.mean_jobs[0] == result.mean_jobs[2]
    assert (off(result.estimates["mean_durations"], result.mean_jobs / system.arrival_rates) < 1).all()
    # Both sides are estimated; where jobs hardly wait, the left one is by far the surer.
    rates, durations = result.estimates["service_rates"], result.estimates["mean_durations"]
    bound = rates.half_width_at(SURE) / rates.value + durations.half_width_at(SURE) / durations.value
    assert (np.abs(rates.value * durations.value / system.mean_sizes - 1) < bound).all()
    assert (bound < 0.1).all()
    used = system.loads @ CLUSTER.demands / CLUSTER.total_capacities
    assert (off(result.utilization_estimate, used) < 1).all()


def test_bad_types():
    system = System(POOL, [0.5, 0.2, 0.5], [5.0, 1.0, 2.0])
    pair = TaskTypes([["map", "reduce"]])
    for types, message in (
        (TaskTypes([["map", "sort"]]), "task type 'sort' is no class of the problem; its classes"),
        (
            TaskTypes([["map", "scan"]]),
            r"types of one job, so their arrival_rates must be equal; got \[0\.5, 0\.2\]",
        ),
    ):
        with pytest.raises(ModelError, match=message):
            task_trace(system, DRFScheduler(), 1.0, tasks=Tasks(types=types))
    with pytest.raises(ModelError, match="their weights must be equal"):
        task_trace(
            System(POOL, [1, 1, 1]), DRFScheduler(), 1.0, tasks=Tasks(types=TaskTypes([["map", "scan"]]))
        )
    with pytest.raises(ModelError, match="'map' is listed twice"):
        TaskTypes([["map"], ["map"]])
    with pytest.raises(ModelError, match="start must be one of listed, any, stages; got 'last'"):
        TaskTypes([["map"]], start="last")
    with pytest.raises(ModelError, match="got 'map' alone"):
        TaskTypes(["map"])
    with pytest.raises(ModelError, match="a job has 1 to 8 task types; got 0"):
        TaskTypes([[]])
    with pytest.raises(ModelError, match=r"BMFScheduler.* is not defined"):
        task_trace(system, BMFScheduler(), 1.0, tasks=Tasks(types=pair))
    with pytest.raises(ModelError, match="PF sets a target of tasks per class"):
        task_trace(system, PFScheduler(), 1.0, tasks=Tasks(types=pair))
    none = TabulatedTasks([0.5, 0.5], first=0)
    with pytest.raises(ModelError, match=r"a job of \['map', 'reduce'\] may have no task at all"):
        task_trace(system, DRFScheduler(), 1.0, tasks=Tasks(per_job=none, types=pair))
    with pytest.raises(ModelError, match=r"a job of \['map'\] may have no task at all"):
        task_trace(system, DRFScheduler(), 1.0, tasks=Tasks(per_job=none))
    with pytest.raises(ModelError, match="a job never has a task"):
        TabulatedTasks([1.0, 0.0], first=0)
    with pytest.raises(ModelError, match="first must be 1 or 0; got 2"):
        TabulatedTasks([1.0], first=2)
    apart = Cluster([[1, 0], [0, 1]], [[4, 0], [0, 4]])
    with pytest.raises(ModelError, match="fit on no common server, so it cannot be bound to one"):
        task_trace(
            System(apart, [1, 1]),
            DRFScheduler(),
            1.0,
            tasks=Tasks(placement=OnArrival(), types=TaskTypes([["class 1", "class 2"]])),
        )
    with pytest.raises(ModelError, match="policy"):
        task_trace(System(apart, [1, 1]), TargetScheduler(DRF()), 1.0, tasks=Tasks(placement=FirstFit()))
