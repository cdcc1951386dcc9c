"""The law of durations as simulations know it, and what pictures of durations and of single runs show."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import queueing
from fairness import DRF, Cluster, ModelError, Problem
from queueing import DRFScheduler, System, simulate, tagged_duration

plt.switch_backend("Agg")

TIMES = [0.5, 1.0, 2.0, 5.0]
SHARED = System(Problem([[1], [1]], [1], job_classes=["A", "B"]), [0.3, 0.2])


@pytest.fixture(scope="module")
def simulated():
    return simulate(SHARED, DRF(), jobs=1500, replications=12, quantiles=(0.5, 0.9), record=True, rng=7)


@pytest.fixture(scope="module")
def exact():
    return tagged_duration(SHARED, DRF(), "A", shape=20)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_the_simulated_law_is_that_of_a_tagged_job(simulated, exact):
    """False alarm below 1e-6 for all four times, by Student's intervals of 12 replications."""
    law = simulated.duration_cdf("A", TIMES)
    assert (np.abs(law.value - exact.cdf(TIMES)) < law.half_width_at(1 - 1e-6 / len(TIMES))).all()
    assert (law.half_width < 0.05).all()


def test_the_simulated_law_counts_the_recorded_jobs(simulated):
    mine = simulated.record[simulated.record.job_class == "B"].duration
    expected = [float((mine <= t).mean()) for t in TIMES]
    assert simulated.duration_cdf(1, TIMES).value == pytest.approx(expected, rel=1e-12)


def test_where_no_job_or_every_job_is_shorter_there_is_no_interval(simulated, ax):
    mine = simulated.record[simulated.record.job_class == "A"].duration
    outside = [0.0, mine.min() / 2, mine.max()]
    law = simulated.duration_cdf("A", [*outside, mine.median()])
    assert law.value[:3].tolist() == [0, 0, 1]
    # That no job takes no time is known.
    assert np.isinf(law.half_width).tolist() == [False, True, True, False]
    assert law.half_width[0] == 0 < law.half_width[3]
    # The others keep their band, also where one point of the curve has none.
    late = replace(simulated, record=simulated.record[simulated.record.duration > 1.0])
    late.plot(ax, "cdf")
    bands = [one for one in ax.collections if type(one).__name__.startswith("Fill")]
    assert len(bands) == 2
    assert all(1.0 < band.get_paths()[-1].vertices[:, 0].min() < 1.2 for band in bands)


def test_a_simulation_draws_law_and_quantiles(simulated, ax):
    simulated.plot(ax, what="survival")
    curves = {line.get_label(): line for line in ax.lines}
    times, left = curves["A"].get_data()
    assert left == pytest.approx(1 - simulated.duration_cdf("A", times).value, rel=1e-12)
    for i, dots in enumerate([line for line in ax.lines if line.get_marker() == "o"]):
        quantiles = [simulated.duration_quantiles[level].value[i] for level in (0.5, 0.9)]
        assert dots.get_xydata() == pytest.approx(np.transpose([quantiles, [0.5, 0.1]]))
    # The band of each class is its interval.
    bands = [one for one in ax.collections if type(one).__name__.startswith("Fill")]
    for band, name in zip(bands, "AB", strict=True):
        law = simulated.duration_cdf(name, curves[name].get_xdata())
        assert band.get_paths()[0].vertices[:, 1].max() <= 1
        inner = band.get_paths()[0].vertices[1 : len(law.value) + 1]
        assert inner[:, 1] == pytest.approx(np.clip(1 - law.value - law.half_width, 0, 1), abs=1e-12)
    assert "95 % intervals" in ax.get_title()


@pytest.mark.long
def test_quantiles_alone_are_drawn_and_nothing_is_refused(ax):
    brief = simulate(SHARED, DRF(), jobs=200, replications=4, quantiles=(0.5,), rng=1)
    brief.plot(ax, "cdf")
    assert [line.get_marker() for line in ax.lines if line.get_label()[0] in "AB"] == ["o", "o"]
    with pytest.raises(ModelError, match=r"call simulate\(..., record=True\)"):
        brief.duration_cdf("A", [1.0])
    none = simulate(SHARED, DRF(), jobs=200, replications=4, quantiles=(), rng=1)
    with pytest.raises(ModelError, match=r"neither jobs nor quantiles .* record=True.* quantiles="):
        none.plot(ax, "cdf")
    with pytest.raises(ModelError, match=r"what must be one of 'mean_jobs', .*'cdf', 'survival'; got 'jobs'"):
        none.plot(ax, "jobs")
    counts = simulate(SHARED, DRF(), events=500, replications=4, rng=1)
    with pytest.raises(ModelError, match=r"'service_rates'; got 'cdf'"):
        counts.plot(ax, "cdf")


def test_a_run_without_intervals_draws_none(simulated, ax):
    short = replace(simulated, warnings=("too short",))
    short.plot(ax, "cdf")
    assert not [one for one in ax.collections if type(one).__name__.startswith("Fill")]
    assert "no interval" in ax.get_title()


def test_a_tagged_job_draws_both_laws_and_its_quantiles(exact):
    pictures = [exact.plot(Figure().subplots(), what) for what in ("cdf", "survival")]
    (times, cdf), (again, survival) = (picture.lines[0].get_data() for picture in pictures)
    assert np.array_equal(times, again)
    assert cdf + survival == pytest.approx(np.ones(len(times)), rel=1e-15)
    assert survival == pytest.approx(exact.survival(times), abs=1e-15)
    dots = pictures[0].lines[1]
    assert exact.cdf(dots.get_xdata()) == pytest.approx([0.5, 0.9, 0.99], rel=1e-9)
    with pytest.raises(ModelError, match="what must be one of 'cdf', 'survival'; got 'pdf'"):
        exact.plot(pictures[0], "pdf")


def trace(horizon):
    servers = Cluster([[1, 2], [2, 1]], [[9, 12], [12, 4]], job_classes=["A", "B"])
    return queueing.task_trace(System(servers, [1.5, 1.0]), DRFScheduler(), horizon, rng=3)


def test_use_over_time_is_what_the_running_tasks_hold(ax):
    run = trace(6.0)
    capacities = run.system.problem.total_capacities
    for k, time in enumerate(run.times):
        on = (run.task_starts <= time) & (run.task_ends > time)
        held = run.system.problem.demands[run.task_classes[on]].sum(axis=0) / capacities
        # Of several events at one instant the last counts.
        if k + 1 == len(run.times) or run.times[k + 1] > time:
            assert run.utilization[k] == pytest.approx(held, abs=1e-12)
    run.plot(ax, what="utilization")
    assert np.array_equal(ax.lines[1].get_ydata(), run.utilization[:, 1])
    assert 0 < run.utilization.max() <= 1


def test_jobs_that_are_still_there_count_as_longer(ax):
    """The product-limit estimate, factor by factor, against what is drawn."""
    run = trace(8.0)
    present = np.isnan(run.job_departures)
    assert present.any()
    lasted = np.where(present, run.horizon, run.job_departures) - run.job_arrivals
    run.plot(ax, what="survival")
    for k, line in enumerate(ax.lines):
        mine = run.job_classes == k
        for time, drawn in line.get_xydata():
            left = 1.0
            for end in sorted(set(lasted[mine & ~present & (lasted <= time)])):
                left *= 1 - (lasted[mine & ~present] == end).sum() / (lasted[mine] >= end).sum()
            assert drawn == pytest.approx(left, rel=1e-12)
        assert f"{present[mine].sum()} still present" in line.get_label()
