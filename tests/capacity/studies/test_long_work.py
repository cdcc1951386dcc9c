"""The five walls: what is said before them, and what is known where they are left. No test waits."""

import math
from functools import partial

import numpy as np
import pytest

from capacity import (
    heavy_traffic,
    packing_region,
    policy_stability_boundary,
    policy_stability_region,
    provision,
    search_instability,
    service_boundary,
    service_region,
    stability_region,
)
from capacity.results import PolicyPoint
from capacity.studies.instability import RandomSystems
from fairness import DRF, PSDSF, Cluster, ModelError, NotConvergedError, Problem, ProportionalFair
from fairness.exact.double_description import enclose
from fairness.exact.linear_algebra import dot
from fairness.machine.work import OutOfTime, watching
from queueing import FIFOScheduler, System, simulate, tabulate

RNG = np.random.default_rng(0)
DEMANDS = RNG.integers(1, 5, (32, 2))
SERVERS = [[20, 20], [10, 30], [30, 10]]


class Stop(list):
    """A watcher that keeps all reports, and presses Ctrl-C at the first one that is enough."""

    def __init__(self, enough):
        self.enough = enough

    def __call__(self, progress):
        self.append(progress)
        if self.enough(progress):
            raise KeyboardInterrupt


def after(what, done=1):
    """Stop when so many units of some work are done."""
    return Stop(lambda progress: (progress.what, progress.done) == (what, done))


@pytest.fixture
def everything(monkeypatch):
    """All work counts as long, none as too long, and every report is passed on; a list for them."""
    monkeypatch.setattr("fairness.machine.work.TOO_LONG", math.inf)
    monkeypatch.setattr("fairness.machine.work.LONG", 0.0)
    monkeypatch.setattr("fairness.machine.work.SAMPLE", -1.0)
    monkeypatch.setattr("fairness.machine.work.SHOWN", -1.0)
    return []


def test_simulation_of_eight_classes_on_a_cluster_says_first_how_long_it_takes(everything):
    system = System.with_load(Cluster(DEMANDS[:8], SERVERS), np.ones(8), 0.7)
    with pytest.raises(NotConvergedError, match=r"time_limit=0 seconds are over .* 10 replications"):
        simulate(system, PSDSF(), rng=1, progress=everything.append, time_limit=0)
    watcher = Stop(lambda progress: progress.announced and progress.what == "the simulation")
    with pytest.raises(KeyboardInterrupt) as stop:
        simulate(system, PSDSF(), rng=1, progress=watcher)
    assert stop.value.__notes__ == ["not all of 10 replications are finished"]
    announced = watcher[-1]
    assert (announced.total, announced.unit) == (1e7, "events")
    assert announced.remaining > 0
    # It is said as soon as its speed is known, in the first of ten replications.
    assert announced.done < 1e6


def test_a_simulation_that_is_stopped_gives_its_first_replications(everything):
    system = System(Problem([[1]], [1]), [0.5])
    few = simulate(system, DRF(), events=20_000, replications=3, rng=1)

    def run(stop_after, **options):
        watcher = Stop(lambda p: p.what == "the simulation" and p.done >= 20_000 * stop_after)
        with pytest.raises(KeyboardInterrupt) as stop:
            simulate(system, DRF(), events=20_000, replications=8, rng=1, progress=watcher, **options)
        return stop.value

    stop = run(3)
    assert stop.__notes__ == ["the first 3 of 8 replications are finished"]
    assert repr(stop.best) == repr(few)
    assert stop.best.replications == 3
    assert stop.best.half_widths["mean_jobs"] == few.half_widths["mean_jobs"]
    assert run(1).best is None  # no interval from one
    # Threads finish in any order: those before the first that is missing.
    best = run(7, n_jobs=2).best
    assert best is None or 2 <= best.replications <= 8


def test_a_time_that_ends_with_the_work_takes_nothing(everything, monkeypatch):
    system, options = System(Problem([[1]], [1]), [0.5]), {"events": 20_000, "replications": 4, "rng": 1}
    clock = [0.0]
    monkeypatch.setattr("fairness.machine.work.time.monotonic", lambda: clock[0])

    def watcher(progress):
        clock[0] = progress.done // 20_000 if progress.what == "the simulation" else clock[0]

    timed = simulate(system, DRF(), time_limit=3.5, progress=watcher, **options)
    assert clock[0] == 4
    assert repr(timed) == repr(simulate(system, DRF(), **options))


def test_a_table_that_memory_cannot_hold_is_refused_before_it_starts():
    system = System.with_load(Problem(DEMANDS[:10], [40, 40]), np.ones(10), 0.7)

    def never(problem, counts):
        assert len(counts) <= 1024, "no more than the first table"
        return DRF()(problem, counts)

    table = tabulate(system.problem, never, 2)
    with pytest.raises(ModelError, match=r"10 classes under never take a table .* GiB .*; leave table out"):
        simulate(system, never, table=table, rng=1)


def test_a_table_is_stopped(everything):
    pool = Problem([[1, 2], [2, 1]], [9, 9])
    tabulate(pool, DRF(), (4, 4))
    with watching(everything.append):
        tabulate(pool, DRF(), (40, 40))
    assert everything[-1].done == everything[-1].total == 1600
    assert len(everything) >= 3  # the first states, some more, and the announcement
    with watching(time_limit=0), pytest.raises(OutOfTime, match="table of DRF on 40 x 40"):
        tabulate(pool, DRF(), (40, 40))


def test_service_boundary_with_eight_classes(everything):
    problem = Problem(DEMANDS[:8], [20, 20])
    with pytest.raises(NotConvergedError, match=r"the crossing lies between .*; raise time_limit") as caught:
        service_boundary(problem, "balanced", 0.5, np.ones(8), time_limit=0)
    best = caught.value.best
    assert (best.inner, best.outer, best.evaluations) == (0.0, 1.0, 0)
    # After two evaluations the bracket is smaller, and still holds.
    watcher = after("the boundary on a ray", 2)
    with pytest.raises(KeyboardInterrupt) as stop:
        service_boundary(problem, "balanced", 0.5, np.ones(8), precision=0.01, progress=watcher)
    point = stop.value.best
    assert point.evaluations == 2
    assert 0 < point.inner < point.outer <= 1
    assert (point.service_rates >= 0.5).all()
    assert "the crossing lies between" in stop.value.__notes__[0]
    assert watcher[0].announced
    assert watcher[0].done == 0  # before anything was computed
    assert watcher[0].remaining > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "precision", "told"),
    [
        ("balanced", 1e-6, "the boundary on a ray: about 9 evaluations, about .* (min|h)"),
        (DRF(), 1e-6, r"one law of DRF is a chain of 8 classes on about .* states, .*max_states=1,000,000"),
        (DRF(), 0.1, r"one law of DRF is a chain of 8 classes"),
    ],
)
def test_a_service_boundary_that_takes_too_long_is_refused_before_it_starts(
    method, precision, told, monkeypatch
):
    def never(*_, **__):
        raise AssertionError("no law is computed")

    for engine in ("balanced_fairness", "stationary"):
        monkeypatch.setattr(f"capacity.boundaries.service_rates.{engine}", never)
    ask = partial(service_boundary, Problem(DEMANDS[:8], [20, 20]), method, 0.5, np.ones(8))
    with pytest.raises(ModelError, match=told) as refused:
        ask(precision=precision)
    for remedy in ("larger precision", "fewer classes", "method='bound'", "Simulated(policy)"):
        assert remedy in str(refused.value)
    if method == "balanced":  # with a time limit it starts
        with pytest.raises(NotConvergedError, match="time_limit=0 seconds are over"):
            ask(precision=precision, time_limit=0)
    else:  # with more states time is what counts
        with pytest.raises(
            ModelError, match=r"the boundary on a ray: about 9 evaluations, about .* (h|days|years)"
        ):
            ask(precision=1e-6, max_states=10**15)


def test_what_the_closed_bound_and_few_classes_take_is_not_refused():
    problem = Problem(DEMANDS[:30], [20, 20])
    point = service_boundary(problem, "bound", 0.5, np.ones(30))
    assert point.outer - point.inner <= 1e-6
    # Classes without arrivals do not count.
    few = service_boundary(problem, DRF(), 0.5, np.arange(30) == 3, precision=1e-3)
    assert few.inner <= 1 - 0.5 * problem.task_shares[3].max() <= few.outer


def test_a_service_region_that_is_stopped_is_the_region_of_its_points(everything):
    problem = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    with pytest.raises(NotConvergedError) as caught:
        service_region(problem, "bound", 0.2, points=20, time_limit=0)
    assert caught.value.best is None
    with pytest.raises(KeyboardInterrupt) as stop:
        service_region(problem, "bound", 0.2, points=20, progress=after("the region", 12))
    assert len(stop.value.best.points) == 12
    whole = service_region(problem, "bound", 0.2, points=20)
    assert 0.9 * whole.volume < stop.value.best.volume <= whole.volume


@pytest.mark.parametrize(
    ("policy", "watcher", "evaluations"),
    [
        (DRF(), after("the boundary on a ray", 2), 2),
        (FIFOScheduler(), Stop(lambda progress: progress.what == "the simulation"), 0),
    ],
)
def test_a_policy_boundary_that_is_stopped_is_the_point_as_far_as_it_is_known(
    policy, watcher, evaluations, everything
):
    pool = Problem([[2, 1], [1, 2]], [3, 3])
    with pytest.raises(KeyboardInterrupt) as stop:
        policy_stability_boundary(pool, policy, [1, 1], progress=watcher)
    best = stop.value.best
    assert isinstance(best, PolicyPoint)
    assert 0 <= best.inner < best.outer <= 1
    assert best.evaluations == evaluations


def test_studies_that_are_stopped_bring_what_is_done(everything):
    pool = Problem([[1], [1]], [1])
    watcher = after("the search for an instability")
    with pytest.raises(KeyboardInterrupt) as stop:
        search_instability(ProportionalFair(), RandomSystems(3, 2), 5, rng=1, progress=watcher)
    assert stop.value.__notes__ == ["1 of 5 systems are searched"]
    assert len(stop.value.best.findings) == 1
    policies = ["balanced", ProportionalFair()]
    with pytest.raises(KeyboardInterrupt) as stop:
        heavy_traffic(pool, [1, 3], policies, loads=[0.1, 0.2, 0.3, 0.4], progress=after("heavy traffic"))
    assert [queue.policy for queue in stop.value.best.queues] == ["balanced"]
    for ask in (
        lambda: search_instability(ProportionalFair(), RandomSystems(3, 2), 5, time_limit=0),
        lambda: heavy_traffic(pool, [1, 3], policies, time_limit=0),
        lambda: policy_stability_region(pool, DRF(), points=5, time_limit=0),
        lambda: packing_region(Cluster(DEMANDS[:4], SERVERS), time_limit=0).exact_facets,
    ):
        with pytest.raises(NotConvergedError, match="time_limit=0 seconds are over"):
            ask()


def test_facets_of_thirty_two_classes():
    region = stability_region(Cluster(DEMANDS, SERVERS))
    with pytest.raises(ModelError, match=r"at least .* facets, .*more than max_facets=2,000;"):
        _ = region.exact_facets
    assert region.contains(np.full(32, 0.1))  # what needs no facets works all the same


def test_a_search_for_facets_that_is_stopped(everything):
    with pytest.raises(NotConvergedError, match="inequalities of the region are proved") as caught:
        _ = stability_region(Cluster(DEMANDS[:10], SERVERS), time_limit=0).exact_facets
    assert caught.value.best == ()
    # At least 64 facets, but more than can be known beforehand.
    region = stability_region(Cluster(DEMANDS[:6], SERVERS), max_facets=64, progress=everything.append)
    with pytest.raises(ModelError, match=r"more than 64 facets"):
        _ = region.exact_facets
    assert everything[-1].done < everything[-1].total


def test_inequalities_that_are_proved_hold(everything):
    cluster = Cluster(DEMANDS[:5], SERVERS)
    watcher = Stop(lambda progress: len(watcher) == 40)
    with pytest.raises(KeyboardInterrupt) as stop:
        _ = stability_region(cluster, progress=watcher).exact_facets
    assert stop.value.best
    corners = stability_region(cluster).exact_vertices
    assert all(max(dot(normal, x) for x in corners) == offset for normal, offset in stop.value.best)


def test_a_cut_beyond_max_facets_is_given_up_inside():
    points = [tuple(int(v) for v in row) for row in RNG.integers(1, 100, (60, 6))]

    def support(prices):
        return max((dot(prices, x), x) for x in points)

    with pytest.raises(ModelError, match="more than 50 facets"):
        enclose(support, 6, 50)


@pytest.mark.parametrize(("method", "n"), [("balanced", 5), (DRF(), 4)])
def test_provision_says_what_it_takes_and_stops(method, n, everything):
    arguments = (DEMANDS[:n], np.ones(n), [1, 2])
    with pytest.raises(NotConvergedError, match="time_limit=0 seconds are over") as caught:
        provision(*arguments, maximum_duration=2, method=method, time_limit=0)
    best = caught.value.best
    if method == "balanced":
        # What keeps the targets under the bound keeps them under balanced fairness.
        assert best.method == "bound"
        assert not best.optimal
        assert best.to_dataframe()["kept"].all()
        assert best.floor_cost <= best.lower_cost <= best.cost
        assert caught.value.residual == best.gap
    else:
        assert best is None
    first = Stop(lambda progress: True)
    with pytest.raises(KeyboardInterrupt):
        provision(*arguments, maximum_duration=2, method=method, progress=first)
    if method == "balanced":  # the time of a chain is known only after the first
        assert first[0].announced
        assert first[0].unit == "evaluations of the model"
        assert first[0].remaining > 0


def test_provision_stopped_late_brings_the_cheapest_verified(monkeypatch):
    options = {"servers": np.diag([0.05, 0.04]), "whole": True, "minimum_service_rate": 0.4}

    monkeypatch.setattr("fairness.machine.work.SHOWN", -1.0)
    watcher = Stop(lambda progress: progress.unit == "evaluations of the model" and progress.done >= 3)
    with pytest.raises(KeyboardInterrupt) as stop:
        provision([[1, 0.1], [0.1, 1]], [3, 2], [1, 1.3], **options, progress=watcher)
    best = stop.value.best
    assert best.method == "balanced"
    assert best.to_dataframe()["kept"].all()
    assert math.isfinite(best.gap)
    assert "best costs" in stop.value.__notes__[0]
