"""Intervals of simulations: they cover, or the result says why there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, PSDSF, Cluster, Problem, ProportionalFair
from fairness.errors import ModelError, NotConvergedError, UnstableError
from queueing import (
    Deterministic,
    DRFScheduler,
    Erlang,
    Exponential,
    FIFOScheduler,
    FixedTasks,
    Hyperexponential,
    JobTrace,
    Lognormal,
    System,
    Tasks,
    TruncatedPareto,
    balanced_fairness,
    simulate,
)
from queueing.results import TaskSimulation
from queueing.simulation.replications import estimate_quantiles, estimate_ratio, skewness
from queueing.simulation.run_length_checks import Memory
from queueing.simulation.starts import MOST_TABLE, rest_of_sizes, stationary_start
from queueing.states.table import tabulate

ONE = Problem([[1]], [1])
TWO = Problem([[1, 0.1], [0.1, 1]], [1, 1])


TALK = Problem([[4, 1], [1, 4]], [16, 16])
TWINS = Cluster([[4, 1], [1, 4]], [[8, 8], [8, 8]])


@pytest.mark.parametrize(
    ("problem", "load", "policy", "options"),
    [
        # Runs of the issue: each had an interval, and the mean outside of most of them.
        (TWO, 0.9, DRF(), {"events": 2_000}),
        (ONE, 0.99, DRF(), {"events": 100_000}),
        (ONE, 0.999, DRF(), {"events": 200_000}),
        (ONE, 0.9, DRF(), {"jobs": 2_000}),
        (ONE, 0.9, DRF(), {"jobs": 20_000, "batches": True}),
        (TALK, 0.8, DRFScheduler(), {"events": 20_000}),
        (TWINS, 0.8, DRFScheduler(), {"events": 20_000}),
    ],
)
def test_short_runs_have_no_interval(problem, load, policy, options):
    system = System.with_load(problem, np.ones(problem.n_classes), load)
    result = simulate(system, policy, rng=1, **options)
    more = "more events" if "events" in options else "more jobs"
    assert any("too short" in text and more in text for text in result.warnings)
    hidden = list(result.columns().values())
    if isinstance(result, TaskSimulation):
        hidden.append(result.utilization_estimate)
    if problem is TWINS:
        hidden += [result.servers.waiting, result.servers.fragmented, result.servers.utilization]
    for estimate in hidden:
        assert np.isinf(estimate.half_width).all()
        assert np.isfinite(estimate.value).all()
    assert math.isinf(result.precision)
    assert np.isinf(result.to_dataframe()["mean_durations_half_width"]).all()
    assert "no interval" in result.summary()
    assert f"warning: {result.warnings[0]}" in result.summary()
    assert "+-" not in result.summary()


@pytest.mark.long
def test_intervals_that_are_shown_cover():
    table = tabulate(ONE, DRF(), (400,))
    system = System(ONE, [0.9])
    counts = [simulate(system, DRF(), events=25_000, rng=k, table=table) for k in range(40)]
    jobs = [simulate(system, DRF(), jobs=12_000, rng=k, table=table, quantiles=()) for k in range(30)]
    queue = System(Problem([[1]], [4]), [2.8])
    tasks = [
        simulate(queue, FIFOScheduler(), tasks=Tasks(per_job=FixedTasks(1)), events=4_000, rng=k)
        for k in range(40)
    ]
    for results, name, exact in (
        (counts, "mean_jobs", 9.0),
        (jobs, "mean_durations", 10.0),
        (tasks, "mean_durations", 1.3572),  # Erlang's formula for four servers at load 0.7
    ):
        shown = [result for result in results if not result.warnings]
        assert len(shown) > 0.8 * len(results)
        assert all(np.isinf(result.half_widths[name]).all() == bool(result.warnings) for result in results)
        missed = sum(abs(r.estimates[name].value[0] - exact) > r.half_widths[name][0] for r in shown)
        # 92 % is the least that is promised: more misses than this have probability 1e-6.
        assert missed <= stats.binom.isf(1e-6, len(shown), 0.08)


def test_starts_are_drawn_from_the_stationary_law():
    # One resource shared by DRF is processor sharing, whose law is balanced fairness.
    for system in (System(ONE, [0.9]), System.with_load(TWO, [1, 2], 0.8)):
        law, begin = balanced_fairness(system), stationary_start(system)
        states = np.array([begin.draw(g) for g in np.random.default_rng(1).spawn(500)])
        spread = np.sqrt(law.variances / len(states))
        # 5 standard errors: 1e-6 per class.
        assert (np.abs(states.mean(axis=0) - law.mean_jobs) < 5 * spread + 1e-3).all()
        np.testing.assert_allclose(begin.mean_jobs, law.mean_jobs, rtol=0.01)


def test_a_run_of_one_visit_is_unbiased_at_any_load():
    # From the empty system the first visits say 0 jobs, whatever the load.
    system = System(ONE, [0.9])
    result = simulate(system, DRF(), events=1, warmup=0, replications=1000, rng=3)
    first = result.estimates["mean_jobs"].values[:, 0]
    # Counts are geometric with standard deviation sqrt(0.9)/0.1.
    assert abs(first.mean() - 9) < 5 * math.sqrt(0.9) / 0.1 / math.sqrt(1000)


@pytest.mark.parametrize("system", [
    System.with_load(Problem(np.eye(6) * 0.9 + 0.1, np.ones(6)), np.ones(6), 0.95),
    System.with_load(Problem([[1], [1]], [9], limits=[1, 2]), [1, 1], 0.9),
    System.with_load(Cluster([[1, 2], [2, 1]], [[4, 4], [6, 2]]), [1, 1], 0.97),
], ids=["six resources", "limits", "cluster"])  # fmt: skip
def test_every_system_has_a_start_whose_table_is_small(system):
    begin = stationary_start(system)
    states = np.array([begin.draw(g) for g in np.random.default_rng(1).spawn(300)])
    assert (states >= 0).all()
    assert (states > 0).any(axis=0).all()
    assert np.prod(states.max(axis=0) / 1.0) <= MOST_TABLE
    ratio = states.mean(axis=0) / begin.mean_jobs
    assert ((ratio > 0.4) & (ratio < 1.6)).all()


def test_all_policies_start_alike_whatever_n_jobs():
    system = System.with_load(TWO, [1, 1], 0.9)
    runs = [
        simulate(system, policy, events=1, warmup=0, replications=8, rng=4, n_jobs=n)
        for policy in (DRF(), ProportionalFair())
        for n in (1, 2)
    ]
    for run in runs[1:]:
        # Counts times a holding time over that time.
        np.testing.assert_allclose(
            run.estimates["mean_jobs"].values, runs[0].estimates["mean_jobs"].values, rtol=1e-12
        )
    assert len(np.unique(runs[0].estimates["mean_jobs"].values[:, 0])) > 2


@pytest.mark.parametrize("law", [Exponential(2), Deterministic(2), Hyperexponential.fit(4, 2)])
def test_what_is_left_of_jobs_present(law):
    left = rest_of_sizes(law, 20_000, np.random.default_rng(1))
    # E[S^2]/2E[S]; 4,096 sizes of scv 4 know it to about 10 %.
    assert left.mean() == pytest.approx(law.mean * (1 + law.scv) / 2, rel=0.25 if law.scv > 1 else 0.03)
    assert (left > 0).all()
    if law.scv == 0:
        assert stats.kstest(left / 2, "uniform").pvalue > 1e-6


def test_a_given_start_is_kept_and_judged():
    system = System(ONE, [0.9])
    result = simulate(system, DRF(), events=60_000, warmup=0, start=[3000], rng=1)
    assert any("the start is not forgotten" in text for text in result.warnings)
    jobs = simulate(system, DRF(), jobs=50, warmup=0, start=[40], rng=1, replications=2)
    assert (jobs.estimates["mean_jobs"].values > 20).all()
    assert not simulate(system, DRF(), events=60_000, start=[0], rng=1).warnings
    with pytest.raises(ModelError, match="leave out start"):
        simulate(System.from_trace(JobTrace(ONE, range(30), ["class 1"] * 30, [1] * 30)), DRF(), start=[1])


def test_a_policy_that_is_unstable_below_load_one_has_no_interval():
    def lazy(problem, counts):
        return DRF()(problem, counts) / 2

    with pytest.raises(UnstableError, match="lazy is unstable"):
        simulate(System(ONE, [0.6]), lazy, rng=1)
    # Of these sizes the fluid limit says nothing.
    for jobs in (5000, 20_000):
        assert simulate(System(ONE, [0.6], sizes=Erlang(2)), lazy, jobs=jobs, rng=1).warnings


def test_a_trace_of_too_much_work_has_no_interval():
    trace = JobTrace(ONE, np.arange(400.0), ["class 1"] * 400, np.full(400, 1.2))
    result = simulate(System.from_trace(trace), DRF())
    assert "the load is 1 or more" in result.warnings[0]
    assert math.isinf(result.precision)


def test_sequential_runs_do_not_stop_on_an_interval_that_is_not_sound():
    with pytest.raises(NotConvergedError, match=r"no interval .* too short.* more jobs") as caught:
        simulate(System(ONE, [0.9]), DRF(), jobs=2000, precision=0.5, rng=1)
    assert caught.value.best.warnings
    assert math.isinf(caught.value.residual)


def test_memory_of_the_single_queue_is_its_relaxation_time():
    for load in (0.3, 0.9, 0.999):
        memory = Memory.of(System(ONE, [load]))
        assert memory.shortest == pytest.approx((1 - math.sqrt(load)) ** -2, rel=1e-12)
    # Near saturation the jobs present tell the same.
    assert memory.diffusion(np.array([999.0])) == pytest.approx(memory.shortest, rel=0.01)
    # A cluster of one server is a pool; sizes that vary more are remembered longer.
    server = Memory.of(System(Cluster([[1]], [[1]]), [0.9]))
    assert server.shortest == pytest.approx(Memory.of(System(ONE, [0.9])).shortest, rel=1e-6)
    wide = Memory.of(System(ONE, [0.9]), sizes=np.array([9.0]))
    assert wide.shortest == pytest.approx(5 * server.shortest, rel=1e-6)


def test_simulation_on_a_cluster_starts_near_its_law():
    system = System.with_load(Cluster([[1, 2], [2, 1]], [[4, 4], [6, 6]]), [1, 1], 0.7)
    assert not simulate(system, PSDSF(), events=40_000, rng=1).warnings


def test_means_of_skewed_parts_are_covered():
    """Ten replications of eight parts, each a few exponentials or lognormal numbers: 20,000 intervals."""
    rng = np.random.default_rng(1)
    for parts in (
        rng.gamma(0.2, 1 / 0.2, (10, 8, 20_000)),
        rng.lognormal(-0.5, 1.0, (10, 8, 20_000)),
    ):
        tops, one = parts.sum(axis=1), np.ones((10, 1))
        plain = estimate_ratio(tops / 8, one, 0.95)
        corrected = estimate_ratio(tops / 8, one, 0.95, skewness(parts, np.ones((10, 8, 1))))
        np.testing.assert_array_equal(corrected.value, plain.value)
        off = abs(plain.value - 1)
        # Standard error of a coverage: .0016.
        assert (off <= plain.half_width).mean() < 0.93
        assert 0.935 < (off <= corrected.half_width).mean() < 0.965
        assert (off < corrected.interval[1] - corrected.value).mean() == (off < corrected.half_width).mean()


def test_skewness_is_that_of_the_ratio_whatever_the_unit():
    rng = np.random.default_rng(2)
    parts = rng.exponential(size=(200, 8, 3))
    # The mean of 1600 exponential numbers has skewness 2/40.
    assert skewness(parts, np.ones((200, 8, 1))) == pytest.approx(np.full(3, 0.05), abs=0.02)
    scaled = skewness(1e100 * parts, 1e-50 * np.ones((200, 8, 1)))
    np.testing.assert_allclose(scaled, skewness(parts, np.ones((200, 8, 1))), rtol=1e-12)
    np.testing.assert_array_equal(skewness(np.ones((4, 8, 1)), np.ones((4, 8, 1))), [0.0])


@pytest.mark.parametrize("columns", [40, pytest.param(1_000, marks=pytest.mark.long)])
def test_quantiles_are_those_of_all_replications_together_and_covered(columns):
    """Ten replications of 300 exponential numbers: of all 3,000, 30 lie beyond the last level."""
    levels = (0.1, 0.5, 0.9, 0.99)
    numbers = np.sort(np.random.default_rng(3).exponential(size=(10, columns, 300)), axis=2)
    everything = estimate_quantiles(numbers, levels, 0.95, np.full(columns, np.inf))
    for level, found in everything.items():
        exact = -math.log1p(-level)
        pooled = np.quantile(numbers.transpose(1, 0, 2).reshape(columns, -1), level, axis=1)
        np.testing.assert_allclose(found.value, pooled, rtol=1e-12)
        np.testing.assert_array_equal(found.values, np.quantile(numbers, level, axis=2))
        low, high = found.interval
        assert (low <= found.value).all()
        assert (found.value <= high).all()
        larger = np.maximum(found.value - low, high - found.value)
        np.testing.assert_allclose(found.half_width, larger, rtol=1e-12)
        # Five standard errors of a coverage.
        missed = ((exact < low) | (high < exact)).mean()
        assert abs(missed - 0.05) < 5 * math.sqrt(0.05 * 0.95 / columns)
    # Those of single replications are too low near the edge, and so is their mean.
    assert found.value.mean() == pytest.approx(exact, rel=0.02)
    assert found.values.mean() < 0.98 * exact


def test_quantiles_with_too_little_beyond_them_have_no_interval():
    rng = np.random.default_rng(4)
    numbers = np.sort(rng.exponential(size=(10, 2, 300)), axis=2)
    # 5 t^2 = 25.6 of 3,000 must lie beyond; and as many of those that are worth independent ones.
    for level, independent, there in (
        (0.99, 3000, True),
        (0.9925, 3000, False),
        (0.01, 3000, True),
        (0.005, 3000, False),
        (0.99, 2000, False),
        (0.9, 300, True),
        (0.9, 200, False),
    ):
        worth = np.array([independent, 2**53])
        found = estimate_quantiles(numbers, [level], 0.95, worth)[level]
        assert np.isfinite(found.interval[:, 0]).all() == there
        assert np.isfinite(found.half_width[0]) == there
        assert np.isfinite(found.value).all()
    two = estimate_quantiles(numbers[:2], [0.5], 0.95, np.full(2, 1e9))[0.5]
    assert np.isinf(two.half_width).all()


@pytest.mark.long
def test_sizes_whose_tail_few_jobs_show_have_no_interval_of_the_means():
    shared = Problem(np.ones((10, 1)), [1], job_classes=list("abcdefghij"))

    def system(law):
        return System(shared, np.full(10, 0.05), sizes=[law, *[Exponential()] * 9])

    for law, jobs in (
        (Hyperexponential.fit(25), 2_000),
        (TruncatedPareto(1.5, 1000), 4_000),
        (Lognormal(25), 4_000),
    ):
        short = simulate(system(law), DRF(), jobs=jobs, rng=1, quantiles=(0.5, 0.999))
        assert not short.warnings
        for estimate in short.estimates.values():
            assert np.isinf(estimate.half_width).tolist() == [True] + [False] * 9
            assert np.isfinite(estimate.value).all()
        assert math.isinf(short.precision)
        text = "no interval of the means of 'a': rare large sizes make most of the variance"
        assert any(text in gap for gap in short.gaps)
        assert text in short.summary()
        # Quantiles do not depend on the largest sizes; near the edge too few jobs tell them.
        assert np.isfinite(short.duration_quantiles[0.5].half_width).all()
        edge = "no interval of the 0.999 quantile of 'a', 'b', 'c' and 7 others: too few independent jobs"
        assert any(edge in gap for gap in short.gaps)
        long = simulate(system(law), DRF(), jobs=100_000, rng=1)
        assert not long.gaps
        assert math.isfinite(long.precision)
    with pytest.raises(
        NotConvergedError, match="no interval of the mean durations: no interval of the means"
    ):
        simulate(system(Lognormal(25)), DRF(), jobs=4_000, precision=0.5, max_replications=12, rng=1)


@pytest.mark.long
def test_intervals_of_heavy_tails_and_of_edges_cover():
    shared = System(Problem(np.ones((10, 1)), [1]), np.full(10, 0.05), sizes=[Hyperexponential.fit(25)] * 10)
    runs = [simulate(shared, DRF(), jobs=3_000, rng=k, quantiles=(0.9, 0.99)) for k in range(40)]
    for name in ("mean_jobs", "mean_durations", "mean_slowdowns", "service_rates", "slowdown_q0.9"):
        low, high = np.moveaxis([run.columns()[name].interval for run in runs], 1, 0)
        # By insensitivity; the quantile of 20 million jobs.
        exact = {"mean_jobs": 0.1, "service_rates": 0.5, "slowdown_q0.9": 3.93}.get(name, 2.0)
        assert np.isfinite(low).all()
        # 400 intervals, those of a run not independent: as if 200; 93 % are promised.
        missed = 1 - ((low <= exact) & (exact <= high)).mean()
        assert missed <= stats.binom.isf(1e-6, 200, 0.07) / 200


def test_a_job_alone_has_slowdown_one():
    pool = Problem([[0.1, 0.02], [0.05, 0.1]], [1, 1], limits=[np.inf, 4])
    system = System(pool, [1e-4, 1e-4])
    result = simulate(system, DRF(), jobs=2000, replications=3, rng=1, quantiles=(0.001, 0.5, 0.9))
    for estimate in (result.estimates["mean_slowdowns"], *result.slowdown_quantiles.values()):
        assert (estimate.values >= 1).all()
    assert (result.slowdown_quantiles[0.5].value == 1).all()
    assert (result.slowdown_quantiles[0.9].value == 1).all()


def test_slowdowns_are_never_below_one():
    # A job alone runs ten tasks, so that its duration is less than its size.
    pool = Problem([[0.1, 0.02], [0.05, 0.1]], [1, 1], limits=[np.inf, 4])
    system = System.with_load(pool, [1, 1], 0.3)
    result = simulate(system, DRF(), jobs=3000, replications=3, rng=1, record=True, quantiles=(0.001,))
    np.testing.assert_array_equal(result.alone_rates, [10, 4])
    alone = result.record["job_class"].map(dict(zip(pool.job_classes, result.alone_rates, strict=True)))
    slowdown = result.record["duration"] * alone / result.record["size"]
    # Rounding of clocks that show hundreds.
    assert slowdown.min() > 1 - 1e-8
    assert (result.mean_slowdowns >= 1).all()
    assert (result.slowdown_quantiles[0.001].value >= 1).all()
    by_class = slowdown.groupby(result.record["job_class"]).mean()
    np.testing.assert_allclose(result.mean_slowdowns, by_class[list(pool.job_classes)], rtol=1e-9)
    assert (by_class / result.alone_rates < 1).all()
