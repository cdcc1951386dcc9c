"""Means in a given time: what is found, how well it is known, and what is said where there is none.

No test depends on the speed of the machine: times are so long that they do not matter, or what is tested is
that nothing could be done in none.
"""

import math
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from capacity import solve, sweep
from capacity.means import chains, method
from capacity.means.chains import ByChain
from capacity.means.formulas import ByBounds, ByFormula, ByRecursion
from capacity.means.ladder import answered
from capacity.means.method import Effort, Plan
from capacity.means.pooling import pooled
from capacity.means.simulations import BySimulation
from capacity.results import Solved
from fairness import (
    DRF,
    PSDSF,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
    one_state,
)
from fairness.machine import work
from queueing import (
    Deterministic,
    DRFScheduler,
    Exponential,
    Hyperexponential,
    JobTrace,
    Renewal,
    System,
    balanced_fairness,
    duration_bound,
    simulate,
    stationary,
)

POOL = Problem([[10, 1], [1, 10]], [1, 1], job_classes=["A", "B"])
SYSTEM = System.with_load(POOL, [2, 1], 0.5)
LINE = Problem([[1, 1], [1, 0], [0, 1]], [1, 1], job_classes=["long", "left", "right"])
ENOUGH = 300.0
"""Seconds that no machine needs here."""


def short_first(problem, counts):
    here = (np.asarray(counts) > 0).astype(float)
    long = here[..., 0] * (1 - here[..., 1]) * (1 - here[..., 2])
    return np.stack([long, here[..., 1], here[..., 2]], axis=-1)


def test_the_means_are_those_of_the_verbs():
    solved = solve(SYSTEM, ["balanced", "bound", DRF()], [0.3, 0.6], seconds=ENOUGH)
    assert solved.found_by == (("balanced", "bound", "chain"),) * 2
    for k, load in enumerate((0.3, 0.6)):
        system = SYSTEM.at_load(load)
        known = [balanced_fairness(system), duration_bound(system), stationary(system, DRF(), tail=1e-9)]
        for m, law in enumerate(known):
            # Which tail the time allows is measured: a chain is as near as it says.
            error = solved.mean_jobs_error[k, m] + 1e-9 * law.mean_jobs if m == 2 else 1e-12 * law.mean_jobs
            assert (np.abs(solved.mean_jobs[k, m] - law.mean_jobs) <= error).all()
            loads = system.loads / solved.mean_jobs[k, m]
            np.testing.assert_allclose(solved.service_rates[k, m], loads, rtol=1e-9 if m == 2 else 1e-12)
            assert solved.results[solved.methods[m], load].system.arrival_rates.tolist()
    assert solved.known[0][2].startswith("chain, error about ")
    assert (solved.mean_jobs_error[:, 2] < 1e-2 * solved.mean_jobs[:, 2]).all()


def test_nobody_is_below_the_fewest_jobs():
    pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    system = System.with_load(pool, [1, 1], 0.5)
    policies = {"best": "optimal", "PF": ProportionalFair(), "DRF": DRF()}
    solved = solve(system, policies, [0.5, 0.8, 1.1], seconds=ENOUGH)
    above = solved.above_best()
    for k, load in enumerate((0.5, 0.8)):
        # Equal loads: (20/11) load/(1 - load), the optimum in closed form.
        least = 20 / 11 * load / (1 - load)
        assert solved.mean_jobs[k, 0].sum() == pytest.approx(least, rel=1e-4)
        assert above.loc[load, "DRF"] == pytest.approx(solved.mean_jobs[k, 2].sum() / least - 1, rel=1e-2)
        assert 0 <= above.loc[load, "best"] < 1e-4
        assert above.loc[load, "best"] <= above.loc[load, "PF"] < above.loc[load, "DRF"]
        assert solved.results["best", load].lower <= least
    assert solved.known[2][0].startswith("overload")
    assert above.loc[1.1].isna().all()
    text = str(solved)
    assert "at load 0.8 no policy has fewer than 7.27" in text
    assert "DRF has at most" in text


def test_the_fewest_jobs_of_many_classes_or_servers_are_not_known():
    many = System.with_load(Problem(np.eye(4), [1] * 4), [1] * 4, 0.5)
    solved = solve(many, ["optimal"], seconds=ENOUGH)
    assert "has 4 classes with arrivals" in solved.errors[0][0]
    cluster = Cluster([[1, 0], [0, 1]], [[2, 1], [1, 2]])
    with pytest.raises(ModelError, match="'optimal' is known for one pool"):
        solve(System.with_load(cluster, [1, 1], 0.5), ["optimal"], seconds=1)
    with pytest.raises(ModelError, match=r"give a function as outputs that calls queueing\.optimal"):
        sweep(SYSTEM.at_load, ["optimal"], {"load": [0.5]})


def test_one_policy_and_the_system_as_it_is():
    solved = solve(SYSTEM, DRF(), seconds=ENOUGH)
    assert solved.loads.tolist() == [0.5]
    assert solved.methods == ("DRF",)
    named = solve(SYSTEM, {"mine": DRF()}, seconds=ENOUGH)
    assert named.methods == ("mine",)
    np.testing.assert_array_equal(named.mean_jobs, solved.mean_jobs)


def test_unstable_is_an_answer():
    system = System.with_load(LINE, [1, 1, 1], 0.5)
    policies = {"short first": short_first, "PF": ProportionalFair()}
    methods = [ByChain(tail=1e-2)]
    solved = solve(system, policies, [0.3, 0.8, 1.5], methods=methods, seconds=ENOUGH)
    assert solved.known[1][0] == "unstable: jobs of long grow"
    assert solved.known[2] == ("overload: resource 1 and resource 2",) * 2
    assert [row[0] for row in solved.found_by] == ["chain", "unstable", "unstable"]
    assert np.isfinite(solved.mean_jobs[1, 1]).all()
    assert np.isnan(solved.mean_jobs[1, 0]).all()
    assert np.isfinite(solved.mean_jobs[0]).all()
    assert "unstable: jobs of long grow" in solved.summary()
    figure = solved.figure()
    FigureCanvasAgg(figure).draw()
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert [line.get_xdata()[0] for line in crosses] == [0.8, 1.5]


@pytest.mark.parametrize("sizes", [Exponential(), Deterministic(), Hyperexponential.fit(scv=4)])
@pytest.mark.parametrize("policy", [DRF(), ProportionalFair(), BottleneckMax()])
def test_processor_sharing_is_a_formula(sizes, policy):
    """Mean jobs rho_i/(1 - rho) of each class, whatever the sizes."""
    system = System.with_load(Problem([[1], [2]], [4]), [1, 2], 0.8, sizes=sizes)
    found = answered(system, policy, (ByFormula(),), Effort())
    np.testing.assert_allclose(found.mean_jobs, np.array([0.16, 0.64]) / 0.2, rtol=1e-12)
    assert found.known == "exact"


def test_the_formula_is_that_of_the_chain_and_only_where_it_holds():
    limited = System.with_load(Problem([[1]], [4], limits=[1]), [1], 0.7)
    found = answered(limited, MaxMin(), (ByFormula(),), Effort())
    np.testing.assert_allclose(
        found.mean_jobs, stationary(limited, MaxMin(), tail=1e-12).mean_jobs, rtol=1e-9
    )
    two = System.with_load(Problem([[1], [2]], [4]), [1, 2], 0.8)
    weighted = System.with_load(Problem([[1], [2]], [4], weights=[1, 2]), [1, 2], 0.8)
    for system, policy in ((two, MaxMin()), (weighted, DRF()), (SYSTEM, DRF()), (two, short_first)):
        assert ByFormula().plan(system, policy, Effort()) is None


def test_bounds_hold_what_the_chain_says():
    found = solve(SYSTEM, DRF(), [0.6], methods=[ByBounds()], seconds=ENOUGH)
    law = stationary(SYSTEM.at_load(0.6), DRF(), tail=1e-9)
    assert found.known == (("proved bounds",),)
    assert (np.abs(found.mean_jobs[0, 0] - law.mean_jobs) <= found.mean_jobs_error[0, 0]).all()
    assert (np.abs(found.service_rates[0, 0] - law.service_rates) <= found.service_rates_error[0, 0]).all()


def test_without_an_upper_bound_the_error_is_infinite():
    found = solve(SYSTEM, {"mine": lambda problem, counts: DRF()(problem, counts)}, methods=[ByBounds()])
    assert found.known == (("proved lower bounds",),)
    assert np.isinf(found.mean_jobs_error).all()
    law = stationary(SYSTEM, DRF(), tail=1e-9)
    assert (found.mean_jobs[0, 0] <= law.mean_jobs).all()


def test_where_no_chain_fits_it_is_simulated_as_long_as_it_takes():
    # Intervals of level 1 - 1e-6: a false alarm in 500,000 for two classes (fixed seed, but lengths by time).
    methods = [ByChain(max_states=20), BySimulation(confidence=1 - 1e-6)]
    solved = solve(SYSTEM, ProportionalFair(), methods=methods, precision=0.1, seconds=ENOUGH, rng=3)
    assert solved.found_by == (("simulation",),)
    assert solved.known == (("simulated, 100 %",),)
    assert solved.entropy == 3
    assert "exceeds max_states=20" in solved.remarks[0][0]
    law = stationary(SYSTEM, ProportionalFair())
    assert (np.abs(solved.mean_jobs[0, 0] - law.mean_jobs) <= solved.mean_jobs_error[0, 0]).all()
    assert (solved.mean_jobs_error[0, 0] <= 0.1 * solved.mean_jobs[0, 0]).all()


def test_what_was_found_goes_on():
    methods = [ByChain(max_states=20), BySimulation()]
    ask = {"policies": [ProportionalFair(), "bound"], "methods": [ByRecursion(), *methods], "seconds": ENOUGH}
    first = solve(SYSTEM, precision=0.1, rng=1, **ask)
    again = solve(SYSTEM, precision=0.03, start=first, rng=1, **ask)
    name = "PF", 0.5
    before, after = first.results[name], again.results[name]
    assert after.replications > before.replications
    assert after.events > before.events
    # The first replications are among the later ones.
    old, new = (one.estimates["mean_jobs"].values for one in (before, after))
    np.testing.assert_array_equal(new[: len(old)], old)
    assert after.precision <= 0.03
    # What is known stays the same object.
    same = solve(SYSTEM, precision=0.1, start=again, **ask)
    assert all(same.results[cell] is again.results[cell] for cell in same.results)
    for change, said in (({"policies": [DRF(), "bound"]}, "policies"), ({"loads": [0.4]}, "loads")):
        with pytest.raises(ModelError, match=f"start was found for other {said}"):
            solve(SYSTEM, start=first, **(ask | change))
    with pytest.raises(ModelError, match="start was found for other system"):
        solve(SYSTEM.at_load(0.4), start=first, **ask)


def test_what_was_said_of_a_run_that_was_too_short_is_not_said_of_a_longer_one():
    near = SYSTEM.at_load(0.95)
    methods = [ByChain(max_states=20), BySimulation(events=1000)]
    short = solve(near, DRF(), methods=methods, seconds=math.inf, rng=1)
    assert short.known == (("simulated, no interval",),)
    assert "too short" in short.summary()
    assert "give more events" not in short.summary()  # solve has no events: it is more seconds that help
    assert "more seconds" in short.summary()
    longer = solve(near, DRF(), methods=methods, seconds=ENOUGH, precision=0.5, start=short, rng=1)
    assert longer.known == (("simulated, 95 %",),)
    assert "too short" not in longer.summary()
    assert "exceeds max_states=20" in longer.remarks[0][0]  # why there is no chain
    assert "more seconds" not in longer.summary()


def test_a_file_goes_on_too(tmp_path):
    ask = {"policies": ProportionalFair(), "methods": [BySimulation()], "seconds": ENOUGH}
    solve(SYSTEM, precision=0.2, **ask).save(tmp_path / "solved.json")
    first = Solved.load(tmp_path / "solved.json")
    again = solve(SYSTEM, precision=0.05, start=first, **ask)
    assert again.results["PF", 0.5].events > first.results["PF", 0.5].events


def test_runs_count_together_as_one():
    """Of equal replications: as all of them were one run, which has the same total times."""
    runs = [simulate(SYSTEM, DRF(), events=20_000, replications=5, rng=seed) for seed in (1, 2)]
    both = pooled(*runs)
    areas = [run.time * run.mean_jobs for run in runs]
    np.testing.assert_allclose(both.mean_jobs, sum(areas) / both.time, rtol=1e-12)
    np.testing.assert_allclose(both.mean_durations, both.mean_jobs / SYSTEM.arrival_rates, rtol=1e-12)
    np.testing.assert_allclose(both.service_rates, SYSTEM.loads / both.mean_jobs, rtol=1e-12)
    # Half-widths over the root of two, but for the quantile of Student and the chance in the variances.
    for name, half in both.half_widths.items():
        assert (half < np.max([run.half_widths[name] for run in runs], axis=0)).all()


def test_in_no_time_nothing_is_found_and_that_is_said():
    many = System.with_load(Problem(np.eye(20) + 0.1, np.ones(20)), np.ones(20), 0.9)
    solved = solve(many, [DRF(), "bound"], seconds=1e-9)
    assert solved.found_by == (("", ""),)
    assert solved.known == (("nothing", "nothing"),)
    assert "not asked: the time is over" in solved.summary()


def test_what_takes_longer_is_said_before_it_begins():
    """A chain of so many states is refused by its plan; the bounds are what is left."""
    six = System.with_load(Problem(np.eye(6) + 0.2, np.ones(6)), np.ones(6), 0.95)
    told = []
    solved = solve(six, DRF(), methods=[ByChain(), ByBounds(rounds=0)], seconds=20, progress=told.append)
    announced = [str(progress) for progress in told if progress.announced]
    line, *_ = [line for line in announced if "no chain" in line]  # again where the bounds were not done
    assert line.startswith("DRF at load 0.95: no chain: about ")
    assert "states or more" in line
    assert solved.found_by[0][0] in ("", "proved")
    assert "no chain" in solved.left_out()[0]


def test_a_plan_decides():
    class Long(ByChain):
        def plan(self, system, policy, effort):
            return Plan(1e6, pytest.fail, 1e12, "states")

    found = answered(SYSTEM, DRF(), (Long(), ByChain()), Effort(seconds=ENOUGH, precision=0.01))
    assert found.found_by == "chain"


def test_it_is_never_silent():
    """A step that says nothing itself; whoever watches is told all the same, from another thread."""
    threads, heard = set(), threading.Event()

    class Silent(ByChain):
        def plan(self, system, policy, effort):
            assert heard.wait(60)
            return super().plan(system, policy, effort)

    def watcher(progress):
        threads.add(threading.current_thread())
        if threading.current_thread() is not threading.main_thread():
            heard.set()

    solve(SYSTEM, DRF(), methods=[Silent()], seconds=ENOUGH, progress=watcher)
    assert len(threads) == 2


def test_ctrl_c_returns_the_table_so_far():
    asked = []

    class Stopped(ByChain):
        def plan(self, system, policy, effort):
            asked.append(policy)
            if len(asked) == 2:
                raise KeyboardInterrupt
            return super().plan(system, policy, effort)

    solved = solve(SYSTEM, {"one": DRF(), "two": DRF()}, methods=[Stopped()], seconds=ENOUGH)
    assert solved.interrupted
    assert solved.found_by == (("chain", ""),)
    assert "interrupted" in solved.summary()


def _is_as_near_as_it_says(found, law):
    """Which tail the time allows is measured, but not whether the error covers what it leaves out."""
    error = found.mean_jobs_error[0, 0] + law.mean_jobs_error
    assert (np.abs(found.mean_jobs[0, 0] - law.mean_jobs) <= error).all()
    assert (error < 1e-2 * law.mean_jobs).all()


def test_servers_own_functions_schedulers_and_records():
    cluster = System.with_load(Cluster([[1, 1], [1, 2]], [[4, 4], [9, 9]]), [1, 1], 0.4)
    _is_as_near_as_it_says(solve(cluster, PSDSF(), seconds=ENOUGH), stationary(cluster, PSDSF()))

    def alone(problem, counts):
        return ProportionalFair()(problem, counts)

    own = solve(SYSTEM, alone, seconds=ENOUGH, precision=1e-6)
    _is_as_near_as_it_says(own, stationary(SYSTEM, ProportionalFair()))
    whole = System.with_load(Problem([[4, 1], [1, 4]], [16, 16]), [1, 1], 0.3)
    tasks = solve(whole, DRFScheduler(), precision=0.5, seconds=ENOUGH, rng=1)
    assert tasks.found_by == (("simulation",),)
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.exponential(2.0, 400))
    trace = JobTrace(Problem([[1]], [1]), times, ["class 1"] * 400, rng.exponential(1.0, 400))
    recorded = solve(System.from_trace(trace), DRF(), seconds=ENOUGH)
    assert recorded.found_by == (("simulation",),)
    renewal = System.with_load(POOL, [1, 1], 0.3, arrivals=Renewal(Deterministic()))
    jobs = solve(renewal, DRF(), precision=0.5, seconds=ENOUGH, rng=1)
    assert jobs.results["DRF", 0.3].level == "jobs"


def test_bars_at_one_load_tell_simulated_ones_apart():
    policies = {"recursion": "balanced", "bound": "bound", "run": ProportionalFair()}
    methods = [ByRecursion(), ByChain(max_states=20), BySimulation()]
    solved = solve(SYSTEM, policies, methods=methods, precision=0.5, seconds=ENOUGH, rng=1)
    figure = Figure()
    axes = solved.plot(figure.subplots(), quantity="mean_durations")
    FigureCanvasAgg(figure).draw()
    white = [bar.get_facecolor()[:3] == (1.0, 1.0, 1.0) for bar in axes.patches]
    assert white == [row == "simulation" for row in solved.found_by[0]]
    table = solved.to_latex()
    assert all(word in table for word in ("exact up to", "simulated, 95"))
    assert set(solved.to_dataset().data_vars) >= {"known", "mean_jobs", "found_by"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loads": [0.6, 0.3]}, "loads must be increasing and positive"),
        ({"loads": [0.0, 0.3]}, "loads must be increasing and positive"),
        ({"loads": []}, "loads must be increasing and positive"),
        ({"loads": [math.inf]}, "loads must be"),
        ({"seconds": 0}, "seconds must be"),
        ({"seconds": -1}, "seconds must be"),
        ({"precision": 0}, "precision must be"),
        ({"policies": "balance"}, "policies: 'balance' is none"),
        ({"policies": []}, "policies is empty"),
        ({"policies": [3]}, "must be callable"),
        ({"policies": [DRF]}, "must be callable"),
        ({"policies": 3}, "policies must be a list"),
        ({"policies": [DRF(), DRF()]}, "two policies are called 'DRF'"),
        ({"methods": []}, "methods must be a list of methods"),
        ({"methods": ["chain"]}, "methods must be a list of methods"),
        ({"start": 3}, "start must be what solve has returned"),
        ({"system": POOL}, "system must be a System"),
        ({"progress": 3}, "progress must be"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ModelError, match=message):
        solve(**{"system": SYSTEM, "policies": ["bound"], **options})


def recorded(seed=0, jobs=4_000):
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(2.0, jobs))
    pool = Problem([[1]], [1])
    return System.from_trace(JobTrace(pool, arrivals, ["class 1"] * jobs, rng.exponential(1.0, jobs)))


def test_a_recorded_trace_is_counted_once():
    system = recorded()
    solved = solve(system, DRF(), seconds=ENOUGH, precision=1e-6)
    run = simulate(system, DRF(), quantiles=())
    np.testing.assert_array_equal(solved.mean_jobs[0, 0], run.mean_jobs)
    np.testing.assert_array_equal(solved.mean_jobs_error[0, 0], run.half_widths["mean_jobs"])
    again = solve(system, DRF(), seconds=ENOUGH, precision=1e-6, start=solved)
    assert again.results["DRF", solved.loads[0]] is solved.results["DRF", solved.loads[0]]


def test_runs_that_count_together_have_drawn_different_numbers():
    system = System.with_load(POOL, [2, 1], 0.9)
    ask = {"methods": [BySimulation(replications=4)], "rng": 1, "seconds": ENOUGH}
    solved = None
    for precision in (0.3, 0.15, 0.1):
        solved = solve(system, ProportionalFair(), precision=precision, start=solved, **ask)
    values = solved.results["PF", 0.9].estimates["mean_jobs"].values[:, 0]
    assert len(values) > 8
    assert len(np.unique(values)) == len(values)
    assert solved.calls == 3


def test_what_was_found_for_another_question_is_refused():
    ask = {"seconds": ENOUGH, "precision": 0.1}
    start = solve(SYSTEM, {"mine": DRF()}, **ask)
    kept = solve(SYSTEM, {"mine": DRF()}, **ask, start=start)
    assert kept.results["mine", 0.5] is start.results["mine", 0.5]
    for system in (
        replace(SYSTEM, sizes=Deterministic()),
        replace(SYSTEM, arrivals=Renewal(Deterministic())),
    ):
        with pytest.raises(ModelError, match="start was found for other system"):
            solve(system, {"mine": DRF()}, **ask, start=start)
    with pytest.raises(ModelError, match="start was found for other policies"):
        solve(SYSTEM, {"mine": ProportionalFair()}, **ask, start=start)


def test_intervals_of_before_get_the_level_of_now():
    ask = {"policies": ProportionalFair(), "seconds": ENOUGH, "precision": 0.2, "rng": 1}
    half = solve(SYSTEM, **ask, methods=[BySimulation(confidence=0.5)])
    whole = solve(SYSTEM, **ask, methods=[BySimulation(confidence=0.95)], start=half)
    assert whole.known == (("simulated, 95 %",),)
    assert (whole.mean_jobs_error > 1.5 * half.mean_jobs_error).all()
    assert whole.entropy == half.entropy  # nothing more was drawn


def test_a_policy_that_takes_long_is_stopped_wherever_it_is_asked(monkeypatch):
    calls = []

    def slow(problem, counts):
        calls.append(counts)  # each takes a tenth of a second by the clock that is shown
        return ProportionalFair()(problem, counts)

    shown = SimpleNamespace(monotonic=lambda: time.monotonic() + 0.1 * len(calls), process_time=lambda: 0.0)
    for place in (work, method):
        monkeypatch.setattr(place, "time", shown)
    for policy in (slow, one_state(slow)):
        calls.clear()
        solve(SYSTEM, {"slow": policy}, seconds=2)
        assert len(calls) <= 26


@pytest.mark.parametrize("failure", [ModelError, NotConvergedError])
def test_what_is_known_is_not_given_up_for_what_is_worse(monkeypatch, failure):
    asked = []

    def second_fails(*arguments, tail, **options):
        asked.append(tail)
        if len(asked) > 1:
            raise failure("over")
        return stationary(*arguments, tail=tail, **options)

    monkeypatch.setattr(chains, "stationary", second_fails)
    monkeypatch.setattr(chains, "MOMENTS", 0.0)
    found = answered(SYSTEM, DRF(), (ByChain(),), Effort(seconds=ENOUGH, precision=1e-8))
    assert len(asked) == 2
    assert 1e-8 < found.precision(SYSTEM) < 1e-2


def test_nobody_arrives_and_nothing_is_known_of_what_no_method_is_for():
    solved = solve(System(POOL, [0, 0]), DRF(), seconds=1e9)
    np.testing.assert_array_equal(solved.mean_jobs, 0.0)
    assert solved.evidence()
    [[said]] = solve(SYSTEM, "balanced", methods=[ByChain()], seconds=ENOUGH).errors
    assert said == "methods: none of them is for balanced fairness"
    with pytest.raises(ModelError, match="methods must be a list"):
        solve(SYSTEM, DRF(), methods=ByChain())


def _too_much(problem, counts):
    return 1.1 * np.asarray(counts, dtype=float)


def _too_much_from_seven_jobs_on(problem, counts):
    x = np.asarray(counts, dtype=float)
    jobs = x.sum(axis=-1, keepdims=True)
    return np.where(jobs <= 7, 3 * x / np.maximum(jobs, 1), 5 * x)


@pytest.mark.parametrize("policy", [_too_much, _too_much_from_seven_jobs_on])
def test_what_is_no_policy_has_no_means(policy):
    pool = Problem([[1, 2], [2, 1]], [10, 10])
    answer = solve(System.with_load(pool, [1, 1], 0.3), [policy, DRF()], seconds=5)
    assert np.isnan(answer.mean_jobs[0, 0]).all()
    assert "an answer must be feasible" in answer.errors[0][0]
    assert np.isfinite(answer.mean_jobs[0, 1]).all()
