"""What simulations of whole tasks refuse, and how they end under too much load."""

from __future__ import annotations

import math

import pytest

from fairness import DRF, TSF, Cluster, Problem
from fairness.errors import ModelError, UnstableError
from queueing import (
    BestFit,
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    FixedTasks,
    GeometricTasks,
    OnArrival,
    PFScheduler,
    PowerOfChoices,
    System,
    TabulatedTasks,
    TargetScheduler,
    Tasks,
    TaskTypes,
    simulate,
    task_trace,
)
from tests.oracles.tasklevel_reference import HALVES, POOL, TALK

PAIR = TaskTypes([["map", "reduce"]])
SCAN = TaskTypes([["map", "scan"]])
APART = Cluster([[1, 0], [0, 1]], [[4, 0], [0, 4]])
BOUND = {"placement": OnArrival(), "types": TaskTypes([["class 1", "class 2"]])}
NEVER = TabulatedTasks([0.5, 0.5], first=0)
LARGE = Problem([[1], [5]], [4], job_classes=["A", "B"], resources=["cpu"])


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (FixedTasks, [1.5], r"number must be an integer >= 1; got 1\.5"),
        (FixedTasks, [1e300], "number must be an integer >= 1"),
        (TabulatedTasks, [[0.5, 0.4]], r"row 0 sums to 0\.9$"),
        (TabulatedTasks, [[[0.5, 0.5], [1.0]]], "probabilities must be an array of numbers"),
        (TabulatedTasks, [[1.5, -0.5]], "finite numbers >= 0"),
        (lambda: TabulatedTasks([1.0, 0.0], first=0), [], "a job never has a task"),
        (lambda: TabulatedTasks([1.0], first=2), [], "first must be 1 or 0; got 2"),
        (lambda: DRFScheduler(ties="newest"), [], "ties must be one of 'oldest', 'random'; got 'newest'"),
        (
            lambda: BMFScheduler(bottlenecks="some"),
            [],
            "bottlenecks must be one of 'blocking', 'fullest', 'all'",
        ),
        (lambda: BMFScheduler(blocking="no"), [], "blocking must be True or False; got 'no'"),
        (TargetScheduler, ["pf"], "policy must be callable"),
        (BestFit, ["tight"], "score must be one of 'remaining', 'alignment'; got 'tight'"),
        *((BestFit, [wrong], "score must be one of") for wrong in ([], {}, None, 1)),
        *((OnArrival, [wrong], "rule must be one of") for wrong in ([], {}, None, 1)),
        (OnArrival, ["longest queue"], "rule must be one of 'random', 'round robin', 'shortest queue'"),
        (OnArrival, ["random", 2], "choices=2 has no meaning for the rule 'random'"),
        (OnArrival, ["shortest queue", True], "choices must be a whole number >= 1; got True"),
        (PowerOfChoices, [0], "choices must be a whole number >= 1; got 0"),
        (TaskTypes, [[["map"], ["map"]]], "'map' is listed twice"),
        (TaskTypes, [[["map"]], "last"], "start must be one of 'listed', 'any', 'stages'; got 'last'"),
        (TaskTypes, [["map"]], "got 'map' alone"),
        (TaskTypes, [[[]]], "a job has 1 to 8 task types; got 0"),
    ],
)
def test_bad_laws_and_rules(make, arguments, message):
    with pytest.raises(ModelError, match=message):
        make(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": "uniform"}, "times must be one of 'exponential', 'deterministic'; got 'uniform'"),
        ({"per_job": 0.5}, "mean must be a number >= 1"),
        ({"per_job": "many"}, "mean must be a number >= 1"),
        ({"per_job": 1e300}, r"mean must be a number >= 1, <= 1e\+09"),
        ({"per_job": GeometricTasks}, r"per_job must be a law such as FixedTasks\(5\)"),
        ({"per_job": [2.0, 3.0, 4.0]}, r"mean has 3 entries; give one, or one per job class \(2\)"),
        ({"per_job": TabulatedTasks([[1.0]] * 3)}, "probabilities has 3 rows"),
        ({"max_jobs": 0}, "max_jobs must be a whole number >= 1"),
        ({"max_jobs": 10**13}, "running tasks needs"),
        ({"placement": BestFit}, r"placement must be a rule such as BestFit\(\)"),
        ({"placement": "best fit"}, r"placement must be a rule such as BestFit\(\)"),
        ({"types": [["a"]]}, "types must be TaskTypes"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ModelError, match=message):
        task_trace(System(HALVES, [1, 1]), DRFScheduler(), 1.0, tasks=Tasks(**options))


@pytest.mark.parametrize(
    ("problem", "rates", "scheduler", "options", "message"),
    [
        (LARGE, 0.1, DRFScheduler(), {}, "a task of class 'B' demands 5 of 'cpu', more than its capacity 4"),
        (Problem([[0]], [4], limits=[1]), 0.1, DRFScheduler(), {}, "'class 1' demands nothing"),
        (Problem([[1]], [4], limits=[0.5]), 0.1, DRFScheduler(), {}, "could never run a whole task"),
        (Problem([[1e-300]], [1]), 0.1, DRFScheduler(), {}, "running tasks needs .* count demands in larger"),
        (TALK, 0, DRFScheduler(), {}, "nobody ever comes"),
        (Cluster([[3]], [[2], [2]]), 0.5, DRFScheduler(), {}, "a task of class 'class 1' fits on no server"),
        (HALVES, 1, BMFScheduler(), {}, "BMFScheduler.* is not defined for servers and task types; take DRF"),
        (HALVES, 1, TargetScheduler(TSF()), {"placement": OnArrival()}, "TSF sets a target .* bound to"),
        (APART, 1, TargetScheduler(DRF()), {"placement": FirstFit()}, "policy"),
        (APART, 1, DRFScheduler(), BOUND, "fit on no common server, so it cannot be bound to one"),
        (POOL, 1, BMFScheduler(), {"types": PAIR}, r"BMFScheduler.* is not defined"),
        (POOL, 1, PFScheduler(), {"types": PAIR}, "PF sets a target of tasks per class"),
        (POOL, 1, DRFScheduler(), {"types": SCAN}, "their weights must be equal"),
        (POOL, [0.5, 0.2, 0.5], DRFScheduler(), {"types": SCAN}, r"arrival_rates must .* got \[0\.5, 0\.2\]"),
        (POOL, 1, DRFScheduler(), {"types": TaskTypes([["map", "sort"]])}, "'sort' is no class of the"),
        (POOL, 1, DRFScheduler(), {"types": PAIR, "per_job": NEVER}, r"\['map', 'reduce'\] may have no task"),
        (POOL, 1, DRFScheduler(), {"per_job": NEVER}, r"a job of \['map'\] may have no task at all"),
    ],
)
def test_systems_that_make_no_sense(problem, rates, scheduler, options, message):
    system = System(problem, rates if isinstance(rates, list) else [rates] * problem.n_classes)
    with pytest.raises(ModelError, match=message):
        task_trace(system, scheduler, 1.0, tasks=Tasks(**options))


@pytest.mark.parametrize("horizon", [0, -1.0, math.inf, "long"])
def test_bad_horizons(horizon):
    with pytest.raises(ModelError, match="horizon must be a finite number > 0"):
        task_trace(System(TALK, [1, 1]), DRFScheduler(), horizon)


def test_a_record_that_no_memory_holds_is_refused_at_once():
    with pytest.raises(ModelError, match=r"a record of about .* events needs .* reduce horizon"):
        task_trace(System.with_load(TALK, [1, 1], 0.5), DRFScheduler(), 1e300)


def test_a_class_of_which_no_job_leaves_is_an_error():
    with pytest.raises(ModelError, match=r"no job of class 'class .' left during .*; give more events"):
        simulate(System(TALK, [1, 1]), DRFScheduler(), events=3, rng=1)


@pytest.mark.parametrize(
    ("system", "scheduler", "message"),
    [
        # Below the fluid capacity, but above what blocking in order of arrival carries.
        (System.with_load(TALK, [1, 1], 0.95), FIFOScheduler(), r"FIFO \(present: 'class 1'"),
        # Two tasks of 3 do not fit on a server of 5.
        (System(Cluster([[3]], [[5], [5]]), [2.5]), DRFScheduler(), "whole tasks carry less"),
    ],
)
def test_overload_is_found(system, scheduler, message):
    with pytest.raises(UnstableError, match=rf"more than max_jobs=200 jobs at time .* {message}"):
        simulate(system, scheduler, tasks=Tasks(max_jobs=200), events=10_000_000, rng=1)
    with pytest.raises(UnstableError, match="more than max_jobs=1 jobs"):
        task_trace(system, scheduler, 1000.0, tasks=Tasks(max_jobs=1), rng=1)
