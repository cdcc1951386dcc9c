from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairness import DRF, MaxMin, Problem, ProportionalFair, one_state
from fairness.errors import ModelError, NotConvergedError, UnstableError
from fairness.testing import random_problem
from queueing import JobTrace, read_trace, simulate
from queueing.balanced.fairness import balanced_fairness
from queueing.model.arrivals import OnOff, Poisson, Renewal
from queueing.model.laws import (
    Deterministic,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    TruncatedPareto,
)
from queueing.model.system import System
from tests.queueing.chain.chains import Balanced
from tests.queueing.simulation.simulated import SURE, erlang_c, off, under

POOL = Problem([[10, 1], [1, 10]], [10, 10], job_classes=["A", "B"])
ONE = Problem([[1]], [1])

LAWS = [
    Exponential(),
    Deterministic(),
    Erlang(3),
    Hyperexponential.fit(6),
    TruncatedPareto(2.2, 1e4),
    Lognormal(4),
    Empirical([1, 2, 9]),
]


def names(value):
    return type(value).__name__


# The kernel


def naive(problem, policy, arrivals, classes, sizes):
    """Durations of given jobs, with the remaining work of every job brought down at every event."""
    now, remaining, left = 0.0, {}, np.full(len(sizes), np.nan)
    area = np.zeros(problem.n_classes)
    k = 0
    while remaining or k < len(sizes):
        counts = np.bincount([classes[j] for j in remaining], minlength=problem.n_classes)
        tasks = policy(problem, counts)
        rates = {j: tasks[classes[j]] / counts[classes[j]] for j in remaining}
        first = min(remaining, key=lambda j: remaining[j] / rates[j], default=None)
        end = now + remaining[first] / rates[first] if remaining else math.inf
        arrives = k < len(sizes) and arrivals[k] < end
        step = (arrivals[k] if arrives else end) - now
        if k < len(sizes):
            area += counts * step
        for j in remaining:
            remaining[j] -= rates[j] * step
        now += step
        if arrives:
            remaining[k] = sizes[k]
            k += 1
        else:
            del remaining[first]
            left[first] = now
    return left - arrivals, area


@pytest.mark.parametrize("law", [Exponential(), Deterministic(), Lognormal(4)], ids=names)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_duration_is_that_of_a_naive_run(n, law):
    rng = np.random.default_rng(n)
    problem = random_problem(rng, n, 2, weighted=True, limited=True)
    system = System.with_load(problem, rng.uniform(0.1, 1, n), 0.9, rng.uniform(0.5, 2, n))
    arrivals = None if n < 3 else [Poisson(), OnOff(5, 5), Renewal(Erlang(2))]
    result = simulate(
        under(system, sizes=law, arrivals=arrivals),
        DRF(),
        jobs=150,
        warmup=0,
        replications=2,
        rng=5,
        start=np.zeros(n),
        record=True,
    )
    for k in range(2):
        jobs = result.record[result.record["sample"] == k]
        assert len(jobs) == 150
        classes = [problem.job_classes.index(name) for name in jobs["job_class"]]
        durations, area = naive(
            problem, DRF(), jobs["arrival_time"].to_numpy(), classes, jobs["size"].to_numpy()
        )
        # Who stays longer is still there when unmeasured jobs arrive.
        horizon = jobs["arrival_time"].iloc[-1]
        over = (jobs["arrival_time"] + jobs["duration"] <= horizon).to_numpy()
        assert over.sum() > 100
        # 1e-9: a few hundred steps of rounding in clocks that show hundreds.
        np.testing.assert_allclose(jobs["duration"][over], durations[over], rtol=1e-9, atol=1e-9)
        measured = result.estimates["mean_jobs"].values[k] * horizon
        np.testing.assert_allclose(measured, area, rtol=1e-9)


@pytest.mark.long
def test_clocks_do_not_drift_in_a_busy_period_without_end():
    # 300 jobs at a time, one task each: the class is never empty after the start; duration = size.
    system = System(Problem([[1.0]], [1e6], limits=[1.0]), [300.0])
    sizes = Hyperexponential([0.5, 0.5], [2.0, 1e-7])
    result = simulate(under(system, sizes=sizes), DRF(), jobs=1_000_000, replications=2, rng=1, record=True)
    # The time passes 2048, so it is rounded to half of 4.5e-13, at arrival and departure.
    late = result.record["duration"] - result.record["size"]
    assert result.record["arrival_time"].max() > 3000
    assert late.abs().max() < 5e-13


def test_unlimited_capacity_serves_every_job_in_its_size():
    # M/G/infinity: limits of one task, room for all; duration = size, whatever else happens.
    system = System(Problem([[1], [1]], [1e6], limits=[1, 2]), [20.0, 5.0])
    result = simulate(
        under(system, sizes=Lognormal(4)), DRF(), jobs=40_000, replications=2, rng=2, record=True
    )
    alone = np.where(result.record["job_class"] == "class 1", 1.0, 2.0)
    slow = result.record["duration"] * alone / result.record["size"]
    # Times of thousands carry errors of 1e-12, tiny sizes of 1e-3 make that 1e-9.
    np.testing.assert_allclose(slow, 1, atol=1e-7)
    np.testing.assert_allclose(result.mean_slowdowns, 1, atol=1e-7)
    np.testing.assert_array_equal(result.alone_rates, [1, 2])


# What does not change the result


def test_all_policies_serve_the_same_jobs():
    # A pool on which the three policies differ.
    system = System.with_load(Problem([[4, 1], [1, 2]], [5, 4]), [3, 1], 0.9, [2.0, 0.5])
    results = [
        simulate(
            under(system, sizes=Hyperexponential.fit(4)),
            policy,
            jobs=5000,
            replications=3,
            rng=7,
            record=True,
        )
        for policy in (DRF(), ProportionalFair(), MaxMin())
    ]
    jobs = ["sample", "job_class", "arrival_time", "size"]
    for other in results[1:]:
        pd.testing.assert_frame_equal(other.record[jobs], results[0].record[jobs], check_exact=True)
        assert (other.record["duration"] != results[0].record["duration"]).any()
        assert other.time == results[0].time
    # The pairing pays: the difference of two policies varies less than the sum of their variances says.
    a, b = (run.estimates["mean_durations"].values[:, 0] for run in results[:2])
    assert np.var(a - b) < np.var(a) + np.var(b)


def test_arrivals_do_not_depend_on_the_sizes():
    system = System.with_load(POOL, [3, 1], 0.9)
    one, other = (
        simulate(under(system, sizes=law), DRF(), jobs=20_000, replications=2, rng=7, record=True).record
        for law in (Exponential(), Lognormal(2))
    )
    np.testing.assert_array_equal(one["arrival_time"], other["arrival_time"])
    assert (one["size"] != other["size"]).all()


def test_jobs_of_a_class_do_not_depend_on_the_others():
    both = simulate(System(POOL, [0.3, 0.3]), DRF(), jobs=4000, replications=2, rng=1, warmup=0, record=True)
    alone = simulate(System(POOL, [0.3, 0.0]), DRF(), jobs=1000, replications=2, rng=1, warmup=0, record=True)
    for k in range(2):
        mine = both.record[(both.record["sample"] == k) & (both.record["job_class"] == "A")]
        other = alone.record[alone.record["sample"] == k]
        np.testing.assert_array_equal(mine["size"][:1000], other["size"])
        np.testing.assert_array_equal(mine["arrival_time"][:1000], other["arrival_time"])
    assert np.isnan(alone.mean_durations[1])
    assert alone.mean_jobs[1] == 0


# Known laws


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS, ids=names)
def test_processor_sharing_is_insensitive(law):
    # M/G/1-PS: a job of size s lasts s/(1 - rho) on average; so E[T/S] = 1/(1 - rho) for jobs of any size.
    system = System(ONE, [0.35], [2.0])
    result = simulate(
        under(system, sizes=law), DRF(), jobs=40_000, replications=20, rng=11, record=True, quantiles=()
    )
    assert off(result.estimates["mean_durations"], 2 / 0.3) < 1
    assert off(result.estimates["mean_slowdowns"], 1 / 0.3) < 1
    assert off(result.estimates["mean_jobs"], 0.7 / 0.3) < 1
    assert off(result.estimates["service_rates"], 0.3) < 1
    assert off(result.little, 1.0) < 1
    # The tests can fail: the intervals are short.
    assert result.precision < 0.05
    assert result.little.half_width_at(SURE) < 0.005
    # Small jobs and large jobs have the same mean slowdown.
    slowdown = result.record["duration"] / result.record["size"]
    cut = result.record["size"].median()
    for part in (result.record["size"] <= cut, result.record["size"] >= cut):
        means = slowdown[part].groupby(result.record["sample"][part]).mean()
        half_width = stats.t.isf(5e-7, len(means) - 1) * means.sem()
        assert abs(means.mean() - 1 / 0.3) < half_width < 0.4


@pytest.mark.parametrize("law", [Exponential(), Deterministic(), Hyperexponential.fit(4)], ids=names)
def test_limits_give_the_multiserver_shared_queue(law):
    # One task per job on c units, shared: insensitive too, with the mean of M/M/c:
    # E[x] = rho + C(c, rho) rho/(c - rho) with Erlang's C.
    c, rho = 3, 2.1
    exact = rho + erlang_c(c, rho) * rho / (c - rho)
    system = System(Problem([[1]], [c], limits=[1]), [rho])
    result = simulate(under(system, sizes=law), DRF(), jobs=50_000, replications=20, rng=12, quantiles=())
    assert off(result.estimates["mean_jobs"], exact) < 1
    assert off(result.estimates["mean_durations"], exact / rho) < 1
    assert result.precision < 0.02


def test_duration_quantiles_of_a_plain_multiserver():
    # M/M/infinity: durations are the sizes, exponential of mean 1.
    system = System(Problem([[1]], [1e6], limits=[1]), [3.0])
    result = simulate(system, DRF(), jobs=20_000, replications=20, rng=13, quantiles=(0.1, 0.5, 0.9))
    for level, estimate in result.duration_quantiles.items():
        assert off(estimate, -math.log1p(-level)) < 1
        assert estimate.half_width < 0.02
    # All slowdowns are 1, so all their quantiles are.
    assert result.slowdown_quantiles[0.9].value == pytest.approx([1.0], abs=1e-7)


def test_deterministic_quantiles_are_order_statistics_of_the_record():
    system = System.with_load(POOL, [1, 2], 0.7)
    result = simulate(system, DRF(), jobs=3000, replications=3, rng=1, record=True, quantiles=(0.25,))
    groups = result.record.groupby(["sample", "job_class"])["duration"].quantile(0.25).unstack()
    np.testing.assert_allclose(result.duration_quantiles[0.25].values, groups, rtol=1e-12)
    # Ranked together: the mean of quantiles is biased, the more so the fewer jobs a replication has.
    pooled = result.record.groupby("job_class")["duration"].quantile(0.25)
    np.testing.assert_allclose(result.duration_quantiles[0.25].value, pooled, rtol=1e-12)


@pytest.mark.parametrize(
    "laws", [[Deterministic()] * 2, [Hyperexponential.fit(5), Erlang(2)]], ids=["fixed", "mixed"]
)
def test_balanced_fairness_is_insensitive(laws):
    system = System.with_load(POOL, [2, 1], 0.6, [1.0, 3.0])
    exact = balanced_fairness(system).mean_jobs
    policy, system = Balanced(system, (256, 256)), under(system, sizes=laws)
    result = simulate(system, policy, jobs=50_000, replications=20, rng=14, quantiles=())
    assert (off(result.estimates["mean_jobs"], exact) < 1).all()
    assert (off(result.estimates["mean_durations"], exact / system.arrival_rates) < 1).all()
    assert result.precision < 0.03


@pytest.mark.parametrize(
    ("arrivals", "transform"),
    [
        (Renewal(Deterministic()), lambda s, rate: math.exp(-s / rate)),
        (Renewal(Erlang(2)), lambda s, rate: (2 * rate / (2 * rate + s)) ** 2),
        (OnOff(5.0, 15.0), None),
    ],
    ids=["D", "E2", "on-off"],
)
def test_renewal_arrivals_give_the_gm1_queue(arrivals, transform):
    # G/M/1 at rate 1: E[x] = rho/(1 - z) with z = A*(1 - z) in (0, 1); equal sharing changes nothing.
    rate = 0.6
    if transform is None:
        law = arrivals.interarrival(rate)

        def transform(s, rate):
            return sum(p / (1 + m * s) for p, m in zip(law.probabilities, law.means, strict=True))

    z = 0.5
    for _ in range(2000):
        z = transform(1 - z, rate)
    system = System(ONE, [rate])
    result = simulate(under(system, arrivals=arrivals), DRF(), jobs=50_000, replications=20, rng=17)
    assert off(result.estimates["mean_jobs"], rate / (1 - z)) < 1
    assert off(result.estimates["mean_durations"], 1 / (1 - z)) < 1
    assert result.precision < 0.06


# Length of the run


def test_horizon_measures_what_arrives_in_it():
    system = System.with_load(POOL, [1, 1], 0.7)
    result = simulate(system, DRF(), horizon=500.0, warmup=0.2, replications=3, rng=1, record=True)
    assert result.time == pytest.approx(3 * 400)
    times = result.record["arrival_time"]
    assert times.min() > 100
    assert times.max() <= 500
    assert (result.record["duration"] > 0).all()
    # Jobs that leave after the horizon count: the longest stays are not cut off.
    assert (times + result.record["duration"]).max() > 500
    assert len(result.record) == result.jobs.sum()


def test_precision_out_of_reach_of_one_run():
    system = System.with_load(POOL, [1, 1], 0.5)
    with pytest.raises(NotConvergedError, match="longer horizon"):
        simulate(system, DRF(), horizon=5000, batches=True, precision=0.001, rng=1)


def test_batches_of_one_long_run():
    system = System(ONE, [0.5])
    result = simulate(system, DRF(), jobs=400_000, replications=20, batches=True, rng=18)
    assert result.replications == 20
    assert result.jobs.sum() == 360_000
    assert off(result.estimates["mean_durations"], 2.0) < 1
    assert result.precision < 0.05
    by_time = simulate(system, DRF(), horizon=9000, replications=3, batches=True, rng=18, record=True)
    ends = by_time.record.groupby("sample")["arrival_time"].max()
    assert (ends <= [900 + 2700 * k for k in (1, 2, 3)]).all()
    assert by_time.time == pytest.approx(8100)


# Traces


def test_trace_of_a_run_gives_its_durations(tmp_path):
    system = under(System.with_load(POOL, [1, 1], 0.8), sizes=Lognormal(2))
    run = simulate(system, DRF(), jobs=500, replications=2, warmup=0, rng=3, start=[0, 0], record=True)
    jobs = run.record[run.record["sample"] == 0]
    file = tmp_path / "jobs.csv"
    jobs.to_csv(file, index=False)
    trace = read_trace(file, POOL)
    assert trace.n_jobs == 500
    result = simulate(System.from_trace(trace), DRF(), warmup=0, replications=5, record=True)
    # The run went on with unmeasured jobs, which met those that stayed longer than the last arrival.
    over = jobs["arrival_time"] + jobs["duration"] <= jobs["arrival_time"].iloc[-1]
    assert over.sum() > 450
    # 1e-9: the first job now arrives at time 0, so all times are rounded anew.
    np.testing.assert_allclose(result.record["duration"][over], jobs["duration"][over], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(result.record["arrival_time"], jobs["arrival_time"], rtol=1e-12)
    assert result.replications == 5
    assert result.record["sample"].tolist() == np.repeat(np.arange(5), 100).tolist()
    assert result.entropy is None
    np.testing.assert_array_equal(result.system.mean_sizes, System.from_trace(trace).mean_sizes)
    means = result.record.groupby("job_class")["duration"].mean()
    np.testing.assert_allclose(result.mean_durations, means, rtol=1e-9)
    with pytest.raises(NotConvergedError, match="more jobs"):
        simulate(System.from_trace(trace), DRF(), replications=5, precision=0.01)


def test_part_of_a_trace_by_time_and_by_jobs():
    trace = JobTrace(POOL, [5, 6, 7, 9], ["A", "B", "A", "B"], [0.1, 0.1, 0.1, 0.1])
    with pytest.raises(ModelError, match="no job of class 'A' arrived in 1 of the 2"):
        simulate(System.from_trace(trace), DRF(), jobs=3, warmup=0.34, replications=2)
    longer = JobTrace(POOL, [5, 6, 7, 9, 10, 11], ["A", "B"] * 3, [0.1] * 6)
    early = simulate(System.from_trace(longer), DRF(), jobs=5, warmup=0.2, replications=2, record=True)
    assert early.record["arrival_time"].tolist() == [6, 7, 9, 10]
    # Batches of 4 units of time from the first arrival on; at its end a batch is over.
    by_time = simulate(System.from_trace(longer), DRF(), horizon=8.0, warmup=0, replications=2, record=True)
    assert by_time.record["sample"].tolist() == [0, 0, 0, 1, 1, 1]
    assert by_time.time == 8
    result = simulate(System.from_trace(trace), DRF(), warmup=0, replications=2, record=True)
    assert result.record["arrival_time"].tolist() == [5, 6, 7, 9]
    np.testing.assert_allclose(result.record["duration"], 0.1)
    with pytest.raises(ModelError, match="more than the 4"):
        simulate(System.from_trace(trace), DRF(), jobs=5)


def test_overloaded_trace_is_served_to_its_end():
    # Two jobs at once and a third behind: 4 units of work at rate 1.
    trace = JobTrace(ONE, [0, 0, 1], ["class 1"] * 3, [1.0, 2.0, 1.0])
    result = simulate(System.from_trace(trace), DRF(), warmup=0, replications=2, record=True, quantiles=())
    # Shares 1/2 until 1; 1/3 each until 2.5, when job 1 is done; 1/2 until 3.5 for job 3; alone until 4.
    np.testing.assert_allclose(result.record["duration"], [2.5, 4, 2.5], rtol=1e-12)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("0,A,1\n2,B,1\n1,A,1\n", "line 4, arrival_time: arrives at 1, before the job above it at 2"),
        ("0,A,1\n,B,1\n", "line 3, arrival_time: is missing"),
        ("0,A,1\n1,B,\n", "line 3, size: is missing"),
        ("0,A,1\n1,,1\n", "line 3, job_class: is missing"),
        ("0,A,1\n1,nan,1\n", "line 3, job_class: unknown class 'nan'"),
        ("0,A,1\n1,B,nan\n", "line 3, size: is missing"),
        ("0,A,1\n\n2,C,1\n", "line 4, job_class: unknown class 'C'; choose from 'A', 'B'"),
        ("0,A,0\n1,B,1\n", "line 2, size: must be a finite number > 0; got 0"),
        ("0,A,1\n1,B,-3\n", "line 3, size: "),
        ("0,A,1\n1,B,inf\n", "line 3, size: "),
        ("0,A,1\n1,B,much\n", "line 3, size: .*'much'"),
        ("-1,A,1\n1,B,1\n", "line 2, arrival_time: "),
        ("0,A,1\n9,B,1\n", "line 3, arrival_time: no arrival for 9"),
        ("0,A,1\n0,B,1\n", "line 3, arrival_time: .* different times"),
        ("", "has no line of data"),
        ("0,A,1\n1,A,1,4,5\n", "line 3: 5 cells for 3 columns"),
    ],
)
def test_bad_traces_name_the_line(tmp_path, lines, message):
    file = tmp_path / "jobs.csv"
    file.write_text("arrival_time,job_class,size\n" + lines)
    with pytest.raises(ModelError, match=message):
        read_trace(file, POOL, longest_gap=5)


def test_trace_files_are_read_leniently_where_nothing_is_lost(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("size, job_class, note, arrival_time\n 2, A , x, 0\n1,B,,1e1\n")
    trace = read_trace(file, POOL)
    assert trace.arrival_times.tolist() == [0, 10]
    assert trace.class_indices.tolist() == [0, 1]
    assert trace.size_law("A").values.tolist() == [2]
    with pytest.raises(ModelError, match="unknown"):
        trace.size_law("C")
    file.write_text("arrival_time,size\n0,1\n")
    with pytest.raises(ModelError, match="column 'job_class'"):
        read_trace(file, POOL)
    with pytest.raises(ModelError, match="longest_gap"):
        read_trace(file, POOL, longest_gap=0)


def test_bad_arrays_of_a_trace():
    for times, classes, sizes, message in (
        ([0, 1], ["A"], [1, 1], "equal lengths"),
        ([0, math.nan], ["A", "A"], [1, 1], "arrival_times.*index .1"),
        ([0, 1], ["A", "A"], [1, 0], "sizes.*index .1"),
        ([0, 2, 1], ["A"] * 3, [1] * 3, "job 2"),
        ([0, 1], ["A", "C"], [1, 1], "unknown class 'C'"),
        ([1, 1], ["A", "B"], [1, 1], "different times"),
    ):
        with pytest.raises(ModelError, match=message):
            JobTrace(POOL, times, classes, sizes)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, "jobs must be"),
        ({"jobs": 1.5}, "jobs must be"),
        ({"jobs": 10**400}, "jobs must be a whole number from 1 to"),
        ({"jobs": 10, "horizon": 1.0}, "not both"),
        ({"horizon": math.inf}, "horizon must be"),
        ({"quantiles": (0.5, 1)}, "quantiles"),
        ({"quantiles": 3}, "quantiles"),
        ({"jobs": 5, "batches": True, "warmup": 0.9}, "cannot be cut"),
        ({"horizon": 1e-6}, "no job of class 'A' arrived in"),
        ({"horizon": True}, "horizon must be"),
        ({"sizes": TruncatedPareto(1.1, 1e12)}, "of the work is in jobs so large"),
        ({"sizes": Hyperexponential.fit(1e8)}, "sizes of class 'A': 50% of the work is in jobs so large"),
        (
            {"sizes": Empirical(np.append(np.ones(999_999), 1e8)), "jobs": 10_000},
            "99% of the work is in jobs",
        ),
        ({"arrivals": OnOff(1e6, 1e9)}, "arrivals of class 'A': 100% of the time is in gaps so long"),
        ({"arrivals": Renewal(TruncatedPareto(1.05, 1e12))}, "jobs would come too fast"),
        ({"jobs": 10**12}, "GiB"),
        ({"table": "x"}, "table must be"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    laws = {name: arguments[name] for name in ("sizes", "arrivals") if name in arguments}
    options = {name: value for name, value in arguments.items() if name not in laws}
    with pytest.raises(ModelError, match=message):
        simulate(under(System(POOL, [0.3, 0.3]), **laws), DRF(), level="jobs", **options)


def test_tails_are_judged_by_the_replications_that_a_sequential_run_may_stop_after():
    law, system = TruncatedPareto(1.2, 1e9), System(ONE, [0.5])
    assert law.unseen_work(10 * 900 * 2) > 0.1 > law.unseen_work(10 * 900 * 2000)
    with pytest.raises(ModelError, match="give more jobs"):
        simulate(
            under(system, sizes=law),
            DRF(),
            jobs=1000,
            replications=2,
            precision=0.9,
            max_replications=2000,
            rng=1,
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, -1.0])
def test_laws_of_others_must_give_positive_numbers(bad):
    class Broken(Deterministic):
        def sample(self, generator, size):
            values = super().sample(generator, size)
            values[size // 2] = bad
            return values

    for wrong in ({"sizes": Broken()}, {"arrivals": Renewal(Broken())}):
        with pytest.raises(ModelError, match="samples of a law must be finite and > 0"):
            simulate(System(ONE, [0.5], **wrong), DRF(), jobs=5000, rng=1)


def test_a_class_may_be_called_na(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("arrival_time,job_class,size\n0,NA,1\n1,null,2\n")
    pool = Problem([[1, 1], [1, 2]], [1, 1], job_classes=["NA", "null"])
    assert read_trace(file, pool).class_indices.tolist() == [0, 1]


def test_rates_of_a_trace_are_over_its_span_wherever_it_starts():
    system = System.from_trace(JobTrace(POOL, [100, 101, 104], ["A", "B", "A"], [2.0, 1.0, 4.0]))
    assert system.arrival_rates.tolist() == [0.5, 0.25]
    assert system.mean_sizes.tolist() == [3, 1]


@pytest.mark.filterwarnings("default")
def test_lines_that_are_too_long_are_refused_without_the_help_of_strict_warnings(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("arrival_time,job_class,size\n0,A,1,7\n1,A,2,7\n")
    with pytest.raises(ModelError, match="line 2: 4 cells for 3 columns"):
        read_trace(file, POOL)


def nobody(problem, counts):
    return np.zeros(np.shape(counts))


def left_only(problem, counts):
    """Depends on more than proportions, so that there is no fluid limit to see it in."""
    return DRF()(problem, np.minimum(counts, 3)) * np.array([1.0] + [0.0] * (problem.n_classes - 1))


def from_a_hundred(problem, counts):
    """Waits until a hundred jobs of a class are there, then serves it."""
    return DRF()(problem, np.where(np.asarray(counts) < 100, 0.0, counts))


@pytest.mark.parametrize("level", ["counts", "jobs"])
@pytest.mark.parametrize(
    ("policy", "classes"), [(nobody, 1), (nobody, 2), (nobody, 9), (left_only, 2), (left_only, 9)]
)
@pytest.mark.timeout(60)
def test_a_policy_that_serves_a_class_never_is_refused(policy, classes, level):
    pool = Problem(np.eye(classes) * 0.9 + 0.1, np.ones(classes))
    system = System.with_load(pool, np.ones(classes), 0.5)
    length = {"jobs": 2000} if level == "jobs" else {"events": 100_000}
    said = "is unstable at these loads" if policy is nobody else "gives class 'class [2-9]' no tasks, .* wait"
    with pytest.raises(UnstableError, match=rf"{policy.__name__} {said}"):
        simulate(system, policy, level=level, rng=1, **length)


def test_a_policy_that_lets_many_wait_before_it_serves_them_is_none_of_these():
    result = simulate(System(Problem([[1]], [1]), [0.5]), from_a_hundred, jobs=2000, replications=2, rng=1)
    assert result.mean_jobs[0] > 90


def test_jobs_that_no_policy_serves_never_leave():
    def idle(problem, counts):
        return np.minimum(counts, 1) * np.array([1.0, 0.0])

    trace = JobTrace(POOL, [0, 1, 2], ["A", "B", "A"], [1.0, 1.0, 1.0])
    with pytest.raises(UnstableError, match=r"1 of 3 measured jobs never leave.*'B': 1"):
        simulate(System.from_trace(trace), idle, warmup=0, replications=2, quantiles=())


def test_a_policy_that_is_asked_state_by_state_is_asked_about_the_states_that_are_met():
    pool = Problem([[2, 8, 0.5], [4, 4, 0], [1, 2, 1]], [64, 256, 8])
    asked = []

    # It carries a fifth of the load: what a table of its states would have to hold grows without end.
    @one_state
    def little(problem, counts):
        asked.append(counts.copy())
        return 0.2 * counts / problem.task_shares.max(axis=1) / np.maximum(counts.sum(), 1)

    simulate(System.with_load(pool, [1, 2, 1], 0.15), little, jobs=250, replications=2, rng=1)
    assert len(asked) < 20_000
