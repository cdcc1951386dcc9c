"""System: what it accepts, what it derives, and how it complains."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairness import DRF, Problem
from fairness.arguments.validation import require_number
from fairness.errors import ModelError, UnstableError
from queueing import FIFOScheduler, enclose, simulate, task_trace
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.plan import balanced_plan
from queueing.chain.admission import admission
from queueing.chain.stationary import stationary
from queueing.chain.tagged import tagged_duration
from queueing.chain.transient import transient
from queueing.fluid.rays import rays
from queueing.fluid.trajectory import drift, trajectory
from queueing.fluid.verdict import fluid_verdict
from queueing.model.arrivals import OnOff, Poisson
from queueing.model.job_trace import JobTrace
from queueing.model.laws import Erlang, Exponential
from queueing.model.system import System

POOL = Problem([[10, 1], [1, 10]], [10, 10], job_classes=["A", "B"], resources=["cpu", "ram"])


def test_loads():
    system = System(POOL, [1, 2], [0.5, 0.25])
    assert system.loads.tolist() == [0.5, 0.5]
    assert system.resource_loads == pytest.approx([5.5, 5.5])
    assert system.relative_loads == pytest.approx([0.55, 0.55])
    assert System(POOL, [1, 2], 0.25).mean_sizes.tolist() == [0.25, 0.25]
    scaled = System.with_load(POOL, [3, 1], 0.93, [2, 4])
    assert scaled.relative_loads.max() == pytest.approx(0.93, rel=1e-14)
    assert scaled.loads[0] / scaled.loads[1] == pytest.approx(3, rel=1e-14)
    assert scaled.mean_sizes.tolist() == [2, 4]


def test_little():
    system = System(POOL, [0.2, 0.0], [2, 1])
    assert system.mean_durations([0.5, 0.0]) == pytest.approx([2.5, np.nan], nan_ok=True)
    assert system.service_rates([0.5, 0.0]) == pytest.approx([0.8, np.nan], nan_ok=True)


def test_stability():
    System.with_load(POOL, [1, 1], 0.999).require_stable()
    with pytest.raises(UnstableError, match=r"not on 'cpu' \(load 1.05\); reduce arrival_rates"):
        System(POOL, [1.0, 0.5]).require_stable()
    blocked = System(Problem([[1]], [0]), [0.1])
    assert blocked.relative_loads.tolist() == [np.inf]


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (System, ([1, 2, 3],), r"arrival_rates must have shape \(2,\), one entry per job class; got \(3,\)"),
        (System, (1,), r"arrival_rates must have shape \(2,\)"),
        (System, ([[1], [1, 2]],), "arrival_rates must be an array of numbers with rows of equal length"),
        (System, ([1, [2]],), "with rows of equal length: entry 0 is a number, entry 1 a row"),
        (System, ([np.array(1.0), "b"],), "with rows of equal length: got 'b' at index 1"),
        (System, (np.array({1}, dtype=object),), "arrival_rates must be an array of numbers"),
        (System, (["a", "b"],), "arrival_rates must be an array of numbers"),
        (System, ([np.nan, 1],), r"arrival_rates must be finite and >= 0; got nan at index 0 \('A'\)"),
        (System, ([1, -1],), r"arrival_rates must be finite and >= 0; got -1.0 at index 1 \('B'\)"),
        (System, ([1, 1], 0), r"mean_sizes must be finite and > 0; got 0.0 at index 0 \('A'\)"),
        (System, ([1, 1], [1, np.inf]), r"mean_sizes must be finite and > 0; got inf at index 1"),
        (System, ([1, 1], [1, 1, 1]), r"mean_sizes must have shape \(2,\)"),
        (System.with_load, ([1, 2, 3], 0.5), r"mix must have shape \(2,\), one entry per job class; got"),
        (System.with_load, ([1, -2], 0.5), r"mix must be finite and >= 0; got -2.0 at index 1 \('B'\)"),
        (System.with_load, ([0, 0], 0.5), "puts relative load 0 on the busiest resource"),
        (System.with_load, ([1, 2], np.nan), "load must be a finite number > 0; got nan"),
        (System.with_load, ([1, 2], 0.5, [0, 1]), r"mean_sizes must be finite and > 0; got 0.0 at index 0"),
    ],
)
def test_bad_input(make, arguments, message):
    with pytest.raises(ModelError, match=message):
        make(POOL, *arguments)


@pytest.mark.parametrize("wrong", ["0.5", None, [0.5], np.nan, np.inf, -1, 0, True, 1j])
def test_scalars_that_are_no_numbers_are_model_errors(wrong):
    """Every argument that is one number says so, by name, whatever else it is given."""
    pool = Problem([[1]], [1])
    system = System(pool, [0.5])
    calls = {
        "load": lambda: System.with_load(pool, [1], wrong),
        "warmup": lambda: simulate(system, DRF(), warmup=-1 if wrong == 0 else wrong),
        "confidence": lambda: simulate(system, DRF(), confidence=wrong),
        "rtol": lambda: trajectory(system, DRF(), [1], rtol=wrong),
        "tail": lambda: balanced_plan(system, tail=wrong),
        "precision": lambda: simulate(system, DRF(), level="jobs", precision="1" if wrong is None else wrong),
        "horizon": lambda: task_trace(system, FIFOScheduler(), wrong),
    }
    for name, call in calls.items():
        with pytest.raises(ModelError, match=rf"^{name} must be a (finite )?number"):
            call()


def test_bounds_of_a_number():
    assert require_number("x", np.float32(0.5), least=0.5, below=1) == 0.5
    for huge in (10**400, -(10**400), Fraction(10**5000)):  # the last has more digits than Python prints
        for most in (None, math.inf):
            with pytest.raises(ModelError, match=r"x must be a .*number; got a number too large for floats"):
                require_number("x", huge, most=most)
    assert require_number("x", math.inf, most=math.inf) == math.inf
    assert require_number("x", Fraction(1, 10**400)) == 0
    assert require_number("x", Fraction(1, 4)) == 0.25
    assert require_number("x", np.inf, least=1, most=np.inf) == np.inf
    for bounds, bad, rule in [
        ({"least": 1}, 0.999, "finite number >= 1"),
        ({"above": 1}, 1, "finite number > 1"),
        ({"most": 1}, 1.001, "finite number <= 1"),
        ({"below": 1}, 1, "finite number < 1"),
        ({"above": 0, "below": 1}, 1, "number between 0 and 1"),
        ({"least": 1, "most": np.inf}, -np.inf, "number >= 1"),
        ({}, np.inf, "finite number"),
    ]:
        with pytest.raises(ModelError, match=rf"^x must be a {rule}, say 2; got {bad}$"):
            require_number("x", bad, hint=", say 2", **bounds)


def test_laws_belong_to_the_system():
    laws = [Erlang(3, mean=2.0), stats.lognorm(1.0)]
    system = System(POOL, [0.2, 0.1], sizes=laws, arrivals=[Poisson(), OnOff(1, 9)])
    assert system.mean_sizes == pytest.approx([2.0, math.exp(0.5)], rel=1e-14)
    assert system.loads == pytest.approx([0.4, 0.1 * math.exp(0.5)], rel=1e-14)
    for other in (
        replace(system, arrival_rates=[0.1, 0.1]),
        system.at_load(0.7),
        pickle.loads(pickle.dumps(system)),
    ):
        assert other.sizes[0] is laws[0] or other.sizes[0] == laws[0]
        assert other.mean_sizes.tolist() == system.mean_sizes.tolist()
        assert other.arrivals == system.arrivals
    assert system.at_load(0.7).relative_loads.max() == pytest.approx(0.7, rel=1e-14)
    with pytest.raises(ModelError, match="arrival_rates are all 0"):
        System(POOL, [0, 0]).at_load(0.7)
    assert "sizes: Erlang(phases=3, mean=2.0), ScipyLaw(lognorm" in repr(system)
    assert "arrivals: Poisson(), OnOff(mean_on=1.0, mean_off=9.0)" in repr(system)
    assert system.to_dataframe().loc["A", "sizes"] == "Erlang(phases=3, mean=2.0)"
    labelled = System(POOL, [0.2, 0.1], sizes=pd.Series({"B": laws[1], "A": laws[0]}))
    assert labelled.sizes[0] == laws[0]
    short = System(POOL, [1, 1], [2, 3])
    assert short.sizes == short.at_load(0.5).sizes == (Exponential(2), Exponential(3))
    assert repr(short).startswith("System(2 classes; relative load: cpu")
    assert "sizes" not in repr(short)


def test_a_trace_is_a_system():
    trace = JobTrace(POOL, [0, 1, 4], ["A", "B", "A"], [2.0, 1.0, 4.0])
    system = System.from_trace(trace)
    assert system.arrivals is trace
    assert system.arrival_rates.tolist() == [0.5, 0.25]
    assert system.mean_sizes.tolist() == [3, 1]
    assert system.sizes[0].values.tolist() == [2.0, 4.0]
    with pytest.raises(ModelError, match="trace, which has its own problem and arrival rates"):
        System(POOL, [1, 1], arrivals=trace)
    with pytest.raises(
        ModelError, match=r"take System\.with_load\(system\.problem, system\.loads, load, sizes"
    ):
        system.at_load(0.5)
    other = System.with_load(system.problem, system.loads, 0.5, sizes=system.sizes)
    assert other.relative_loads.max() == pytest.approx(0.5, rel=1e-14)
    with pytest.raises(ModelError, match="trace must be a JobTrace"):
        System.from_trace("jobs.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mean_sizes": [1, 1], "sizes": Erlang(2)}, "mean_sizes and sizes are both given"),
        ({"mean_sizes": [Erlang(2), 1]}, r"mean_sizes must be numbers; .* give laws as sizes=\.\.\."),
        ({"sizes": [Erlang(2)]}, "sizes has 1 entries for 2 job classes"),
        ({"sizes": {"A": Erlang(2), "B": Erlang(3)}}, r"sizes is a dict; pass a list, or pd\.Series"),
        ({"sizes": "exponential"}, "sizes must be a law such as Erlang"),
        ({"sizes": [Erlang(2), 3]}, r"sizes of class 'B' must be a law such as .*; take Exponential\(3\)"),
        (
            {"sizes": [Erlang(2), stats.norm(5)]},
            "sizes of class 'B' must be of positive .* norm .* < 0: shift",
        ),
        ({"sizes": stats.poisson(3)}, "sizes must be of positive numbers; poisson takes values 0"),
        ({"sizes": stats.pareto(1.5)}, "must have finite mean and variance; pareto has 3 and inf: truncate"),
        ({"sizes": stats.cauchy()}, "those of cauchy are nan and nan: check its parameters"),
        ({"sizes": stats.gamma([1, 2])}, "gamma holds several: give a list of laws"),
        ({"sizes": stats.lognorm}, r"must have its parameters; got lognorm without: give lognorm\(s\)"),
        ({"arrivals": [Poisson()] * 3}, "arrivals has 3 entries for 2 job classes"),
        ({"arrivals": Erlang(2)}, r"arrivals must be a process such as .* or Renewal\(law\)"),
        ({"arrivals": [Poisson(), OnOff]}, "arrivals of class 'B' must be a process"),
    ],
)
def test_bad_laws(arguments, message):
    with pytest.raises(ModelError, match=message) as caught:
        System(POOL, [0.1, 0.1], **arguments)
    assert caught.value.argument == next(iter(arguments))
    assert caught.value.index == ((1,) if "'B'" in message else ())


def test_lines_about_many_laws_are_short():
    many = Problem(np.ones((40, 1)), [100])
    system = System(many, np.ones(40), sizes=[Erlang(2, mean=m) for m in range(1, 41)])
    assert repr(system).endswith("Erlang(phases=2, mean=4.0), ... (40 different))")


@pytest.mark.parametrize(
    "solve",
    [
        lambda s: stationary(s, DRF()),
        lambda s: admission(s, DRF(), max_jobs=3),
        lambda s: tagged_duration(s, DRF(), "A"),
        lambda s: transient(s, DRF(), [1.0], shape=4),
        lambda s: balanced_fairness(s),
        lambda s: balanced_plan(s),
        lambda s: duration_bound(s),
        lambda s: drift(s, DRF(), [1, 1]),
        lambda s: trajectory(s, DRF(), [1, 1]),
        lambda s: fluid_verdict(s, DRF()),
        lambda s: rays(s, DRF()),
    ],
)
def test_a_problem_is_no_system(solve):
    with pytest.raises(ModelError, match=r"system must be a System; .* build System\(problem, ") as caught:
        solve(POOL)
    assert caught.value.argument == "system"


@pytest.mark.parametrize(
    ("solve", "bursts", "sizes"),
    [
        (lambda s: balanced_fairness(s), "balanced fairness needs Poisson arrivals", None),
        (lambda s: balanced_plan(s), "balanced fairness needs Poisson arrivals", None),
        (lambda s: duration_bound(s), "the duration bound needs Poisson arrivals", None),
        (
            lambda s: simulate(s, DRF(), level="counts"),
            "counts needs Poisson arrivals",
            "counts needs exponential sizes",
        ),
        (lambda s: transient(s, DRF(), [1.0], shape=4), "Poisson", "transient needs exponential sizes"),
        (lambda s: tagged_duration(s, DRF(), "A"), "Poisson", "tagged_duration needs exponential sizes"),
        (lambda s: admission(s, DRF(), max_jobs=3), "Poisson", "admission needs exponential sizes; those of"),
        (lambda s: drift(s, DRF(), [1, 1]), None, "fluid limit needs exponential sizes; .* 'A' are Erl"),
        (lambda s: fluid_verdict(s, DRF()), None, "fluid limit needs exponential sizes"),
    ],
)
def test_what_needs_exponential_laws_says_so(solve, bursts, sizes):
    """Balanced fairness, which is insensitive, takes any sizes, the fluid limit any arrivals."""
    plain = System(POOL, [0.2, 0.1])
    erlang = replace(plain, sizes=Erlang(2))
    bursty = replace(plain, arrivals=OnOff(1, 9))
    if bursts is None:
        assert str(solve(bursty)) == str(solve(plain))
    else:
        with pytest.raises(ModelError, match=f"{bursts}.*build the system without arrivals") as caught:
            solve(bursty)
        assert caught.value.argument == "arrivals"
    if sizes is None:
        assert repr(solve(erlang)).splitlines()[1:] == repr(solve(plain)).splitlines()[1:]
    else:
        with pytest.raises(ModelError, match=f"{sizes}.*mean_sizes in place of sizes") as caught:
            solve(erlang)
        assert (caught.value.argument, caught.value.index) == ("sizes", (0,))


@pytest.mark.parametrize(
    ("solve", "begins"),
    [
        (lambda s, x: simulate(s, DRF(), level="counts", events=2_000, rng=1, start=x), True),
        (lambda s, x: transient(s, DRF(), [1.0], shape=6, start=x), True),
        (lambda s, x: drift(s, DRF(), [x, [1, 0]]), True),
        (lambda s, x: trajectory(s, DRF(), x), True),
        (lambda s, _: admission(s, DRF(), max_jobs=3), False),
        (lambda s, _: tagged_duration(s, DRF(), "A"), False),
        (lambda s, _: fluid_verdict(s, DRF()), False),
        (lambda s, _: enclose(s, DRF()).check(), False),
    ],
)
def test_sizes_of_jobs_that_are_never_met_may_have_any_law(solve, begins):
    plain = System(POOL, [0.2, 0.0])
    erlang = replace(plain, sizes=(Exponential(), Erlang(2)))
    assert repr(solve(erlang, [1, 0])) == repr(solve(plain, [1, 0]))
    if begins:
        with pytest.raises(ModelError, match="needs exponential sizes; those of class 'B' are Erlang"):
            solve(erlang, [1, 1])


def test_fractions_stay_exact():
    third = Fraction(1, 3)
    pool = Problem([[1, third], [2, 1]], [1, 2])
    system = System.with_load(pool, [1, 2], Fraction(3, 4), [third, 1])
    # Loads (1, 2) s use (5, 7/3) s of (1, 2) units: s = 3/20.
    assert system.as_fractions() == ([Fraction(9, 20), Fraction(3, 10)], [third, Fraction(1)])
    assert system.at_load(third).as_fractions()[0] == [Fraction(1, 5), Fraction(2, 15)]
    np.testing.assert_allclose(system.relative_loads.max(), 0.75, rtol=1e-15)
    # One float makes the rates floats, read as the binary numbers that they are.
    half = system.at_load(0.5)
    assert half.as_fractions() == ([Fraction(v) for v in half.arrival_rates.tolist()], [Fraction(1 / 3), 1])
    labelled = System(pool, pd.Series({"class 2": 3, "class 1": 1}, dtype=object), 2)
    assert labelled.as_fractions() == ([1, 3], [2, 2])
    assert System(pool, [1, 1], sizes=Erlang(2, mean=0.25)).as_fractions()[1] == [Fraction(1, 4)] * 2
