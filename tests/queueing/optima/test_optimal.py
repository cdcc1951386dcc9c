"""The least mean costs of all policies: closed forms, a second method, every policy of the catalogue."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairness import (
    CATALOGUE,
    Cluster,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
    UnstableError,
)
from fairness.protocol.calling import policy_tasks
from queueing import Erlang, OnOff, System, drift_bound, optimal, simulate, stationary, tabulate
from queueing.certificates.errors import CertificateError
from queueing.enclosures.moment_programs.drift_bound import DriftBound
from tests.oracles.least_costs import least_mean_cost

PAIR = Problem([[1, 0.1], [0.1, 1]], [1, 1])


def assert_best(system, least, precision=1e-6, cost="jobs"):
    """The least mean cost lies between the bounds, which are as near as was asked for and hold."""
    best = optimal(system, cost=cost, precision=precision)
    # The float of a closed form may be a few roundings off, the bounds are outward.
    assert best.lower * (1 - 1e-12) <= least <= best.upper
    assert best.gap <= precision
    assert best.shortfall == ""
    best.check()
    return best


# --- what is known ------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [0.5, 0.7])
def test_equal_loads_on_two_resources(load):
    """h = al (x^2 + y^2 + x + y) + be xy gives 2 rho/((1 + e)(1 - rho)), e = 0.1."""
    best = assert_best(System.with_load(PAIR, [1, 1], load), 20 / 11 * load / (1 - load), 1e-5)
    # The quadratic function finds it by itself.
    assert best.by_hand.lower[0] == pytest.approx(20 / 11 * load / (1 - load), rel=1e-9)


def test_unequal_loads():
    """2.5792641 by relative value iteration elsewhere; proportional fairness is not far."""
    best = optimal(System.with_load(PAIR, [3, 1], 0.7))
    assert best.lower < 2.57926407 < best.upper
    assert best.upper - best.lower < 3e-6
    assert best.by_hand.lower[0] < best.lower_proof.lower[0]


@pytest.mark.long
@pytest.mark.parametrize(("mix", "least"), [([3, 1], 9.193657137), ([1, 1], 180 / 11)])
def test_high_load(mix, least):
    assert_best(System.with_load(PAIR, mix, 0.9), least)


@pytest.mark.long
def test_price_bound_is_attained():
    """sum_i rho_i a_ii/s_i with the spare s = C - load: what it asks for holds here."""
    demands = np.array([[1, 0.1], [0.2, 1]])
    loads = np.linalg.solve(demands.T, [0.8, 0.9])
    least = float(loads @ (1 / (1 - np.array([0.8, 0.9]))))
    assert least == pytest.approx(11.530612, abs=1e-6)
    assert_best(System(Problem(demands, [1, 1]), loads), least)


def test_the_bound_by_hand_contains_the_price_bound():
    """sum_i rho_i a_ii/s_i: 11.530612, and 35/6 for three classes at load .7."""
    demands = np.array([[1, 0.1], [0.2, 1]])
    loads = np.linalg.solve(demands.T, [0.8, 0.9])
    system = System(Problem(demands, [1, 1]), loads)
    assert drift_bound(system).lower[0] == pytest.approx(loads @ [1 / 0.2, 1 / 0.1], rel=1e-9)
    assert drift_bound(system).lower[0] == pytest.approx(11.530612, abs=1e-6)
    three = System.with_load(Problem(0.1 + 0.9 * np.eye(3), [1, 1, 1]), [1, 1, 1], 0.7)
    assert drift_bound(three).lower[0] == pytest.approx(35 / 6, rel=1e-9)


def test_three_classes():
    """5/3 by the price bound, which by_hand contains."""
    system = System.with_load(Problem(0.1 + 0.9 * np.eye(3), [1, 1, 1]), [1, 1, 1], 0.4)
    best = optimal(system, precision=0.01)
    assert best.lower == pytest.approx(5 / 3, rel=1e-9)
    assert best.lower_proof.lower[0] < 5 / 3 < best.upper < 1.01 * 5 / 3
    best.check()


@pytest.mark.long
def test_three_classes_closely():
    system = System.with_load(Problem(0.1 + 0.9 * np.eye(3), [1, 1, 1]), [1, 1, 1], 0.6)
    assert_best(system, 15 / 4, 1e-3)


@pytest.mark.parametrize("load", [0.2, 0.9])
def test_one_class_on_one_resource(load):
    """M/M/1."""
    assert_best(System(Problem([[2]], [2]), [load]), load / (1 - load))


@pytest.mark.long
def test_one_class_near_load_1():
    """The bound by hand is there, so that no function is looked for on 20,000 states."""
    best = assert_best(System(Problem([[1]], [1]), [0.999]), 999)
    assert len(best.lower_proof.h) == 0
    assert best.lower == best.by_hand.lower[0]
    assert "proofs by hand and on" in best.summary()


@pytest.mark.parametrize(("servers", "load"), [(8, 2), (4, 0.5), (8, 1), (50, 40), (100, 80)])
def test_one_class_with_limits(servers, load):
    """M/M/n by Erlang's formula; it is empty once in e^80 units of time, or leaves the states that rarely."""
    terms = [math.exp(k * math.log(load) - math.lgamma(k + 1)) for k in range(servers + 1)]
    waits = terms[-1] / (1 - load / servers)
    waits /= sum(terms[:-1]) + waits
    least = load + waits * load / (servers - load)
    assert_best(System(Problem([[1]], [servers], limits=[1]), [load]), least)


def cobham(rates, sizes, costs):
    """Mean costs under preemptive priorities by cost over mean size, exponential sizes, one resource."""
    total, before, work = 0.0, 0.0, 0.0
    for i in sorted(range(len(rates)), key=lambda i: -costs[i] / sizes[i]):
        after = before + rates[i] * sizes[i]
        work += rates[i] * sizes[i] ** 2
        total += costs[i] * rates[i] * (sizes[i] * (1 - after) + work) / ((1 - before) * (1 - after))
        before = after
    return total


@pytest.mark.parametrize(
    ("sizes", "costs"), [([1, 2], [1, 1]), ([1, 2], [1, 3]), ([2, 0.5], [1, 1]), ([1, 1], [2, 1])]
)
def test_priorities_on_one_resource(sizes, costs):
    """The c-mu rule is the best; the policy that was found follows it where jobs are few."""
    rates = [0.2, 0.15]
    best = assert_best(
        System(Problem([[1], [1]], [1]), rates, sizes), cobham(rates, sizes, costs), cost=costs
    )
    first = int(np.argmax(np.divide(costs, sizes)))
    tasks = best.policy(best.system.problem, [[1, 1], [3, 2], [1, 4]])
    assert (tasks == np.eye(2)[first]).all()


# --- a second method, and all policies ------------------------------------------------------------------


def some_system(rng, load, limited=False):
    m = rng.integers(1, 4)
    demands = rng.uniform(0.05, 1, (2, m)) * (rng.random((2, m)) < 0.8)
    demands[demands.sum(axis=1) == 0] = 0.7
    demands[:, demands.sum(axis=0) == 0] = 0.7
    limits = rng.choice([np.inf, 0.3], 2) if limited else None
    problem = Problem(demands, rng.uniform(0.5, 2, m), limits=limits)
    return System.with_load(problem, rng.uniform(0.1, 1, 2), load, rng.uniform(0.3, 2, 2))


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.long) for k in (2, 3))])
def test_value_iteration_finds_the_same(seed):
    rng = np.random.default_rng(seed)
    system, costs = some_system(rng, 0.3, limited=seed % 2 == 1), rng.uniform(0.5, 2, 2)
    best = optimal(system, cost=costs, precision=1e-4)
    # The box of the other method leaves less than 1e-6 outside at these loads.
    assert best.lower * (1 - 1e-6) <= least_mean_cost(system, costs, 24) <= best.upper * (1 + 1e-6)
    best.check()


@pytest.mark.parametrize("seed", range(3))
def test_no_policy_is_better(seed):
    rng = np.random.default_rng(100 + seed)
    system = some_system(rng, rng.uniform(0.3, 0.6), limited=seed == 2)
    lower = optimal(system, precision=1e-4).lower
    for entry in CATALOGUE:
        law = stationary(system, entry.policy, tail=1e-7)
        assert law.mean_jobs.sum() + law.mean_jobs_error.sum() >= lower


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_no_policy_is_better_anywhere(seed):
    rng = np.random.default_rng(200 + seed)
    system = some_system(rng, rng.uniform(0.2, 0.85), limited=seed % 3 == 2)
    best = optimal(system)
    assert best.gap <= 1e-6
    for entry in CATALOGUE:
        law = stationary(system, entry.policy)
        assert law.mean_jobs.sum() + law.mean_jobs_error.sum() >= best.lower


# --- costs --------------------------------------------------------------------------------------------


def test_costs():
    system = System.with_load(PAIR, [3, 1], 0.5)
    jobs, duration = (optimal(system, cost=cost, precision=1e-4) for cost in ("jobs", "duration"))
    assert duration.value == pytest.approx(duration.law.mean_durations.mean(), rel=1e-12)
    assert jobs.value == pytest.approx(jobs.law.mean_jobs.sum(), rel=1e-12)
    # Each is the best at what it was found for.
    assert jobs.law.mean_durations.mean() > duration.lower
    assert duration.law.mean_jobs.sum() > jobs.lower
    tenfold = optimal(system, cost=[10, 10], precision=1e-4)
    assert tenfold.lower == pytest.approx(10 * jobs.lower, rel=1e-5)
    assert (tenfold.cost, tenfold.costs.tolist()) == ("own", [10, 10])


@pytest.mark.parametrize("costs", [[1e-9, 1], [1, 1e6]])
def test_costs_of_very_different_size(costs):
    """Rounding hides the small ones; what is proved holds, and the best policy for one class is not far."""
    best = optimal(System(PAIR, [0.3, 0.4]), cost=costs, max_states=5000)
    alone = [0.3 / 0.7, 0.4 / 0.6]
    assert max(np.multiply(costs, alone)) * (1 - 1e-6) < best.lower < best.upper
    assert best.value == pytest.approx(best.lower, rel=1e-4)
    assert best.shortfall.startswith("the bound for many jobs, weak near load 1 and for costs of very diff")
    best.check()


def test_the_unit_of_time_does_not_matter():
    plain, fast = (
        optimal(System.with_load(PAIR, [3, 1], 0.5, [size, size]), precision=1e-4) for size in (1, 2.0**-20)
    )
    assert fast.lower == pytest.approx(plain.lower, rel=1e-9)
    assert len(fast.lower_proof.h) == len(plain.lower_proof.h)


def test_classes_without_arrivals_are_left_out():
    three = Problem([[1, 0.1, 0], [0.1, 1, 0], [0.5, 0.5, 1]], [1, 1, 0])
    some = optimal(System(three, [0.4, 0.4, 0]), precision=1e-4)
    assert some.lower == pytest.approx(optimal(System(PAIR, [0.4, 0.4]), precision=1e-4).lower, rel=1e-9)
    some.check()
    assert some.policy(three, [2, 2, 5])[2] == 0


def test_fractions_are_taken_as_they_are():
    third = Fraction(1, 3)
    best = optimal(System(Problem([[1], [1]], [1]), [third, third]), precision=1e-4)
    assert best.lower_proof.check() <= 2
    assert best.upper_proof.check() >= 2


# --- the policy ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def best():
    return optimal(System.with_load(PAIR, [3, 1], 0.6), precision=1e-4)


def test_the_policy_is_one_like_any_other(best):
    table = tabulate(PAIR, best.policy, (90, 90))
    assert table.tasks[0, 0].tolist() == [0, 0]
    assert (table.tasks[1:, 1:].sum(axis=-1) > 0.9).all()
    assert stationary(best.system, best.policy).mean_jobs == pytest.approx(best.law.mean_jobs, rel=1e-6)
    found = simulate(best.system, best.policy, events=200_000, replications=10, rng=1)
    # Half-widths of 95 %, of ten replications: four of them are nine standard errors, 1e-5 by Student's law.
    width = found.half_widths["mean_jobs"].sum()
    assert found.mean_jobs.sum() == pytest.approx(best.value, abs=4 * width)


def test_the_policy_beyond_its_table(best):
    far = np.array([[1e9, 1], [1, 1e9], [0, 1e15], [0.5, 0], [200.5, 300]])
    tasks = policy_tasks(PAIR, best.policy, far)
    assert (tasks[2:4] == [[0, 1], [1, 0]]).all()
    # The largest weight: all of the resource for whom all wait.
    assert tasks[0, 0] > 0.99
    assert tasks[1, 1] > 0.99


def test_the_policy_is_for_its_problem_alone(best):
    with pytest.raises(ModelError, match="not the one that 'best found' was found for"):
        best.policy(Problem([[1, 0.2], [0.1, 1]], [1, 1]), [1, 1])


def test_proportional_fairness_is_above(best):
    fair = stationary(best.system, ProportionalFair())
    assert fair.mean_jobs.sum() > best.upper


# --- the result ---------------------------------------------------------------------------------------


def test_another_system_is_noticed(best):
    with pytest.raises(CertificateError, match="of another system"):
        replace(best, system=System.with_load(PAIR, [3, 1], 0.61)).check()
    with pytest.raises(CertificateError, match="of other costs"):
        replace(best, costs=np.array([1.0, 2.0])).check()
    with pytest.raises(CertificateError, match="of another policy"):
        replace(best, policy=replace(best.policy)).check()


def test_pictures(best):
    ax = best.plot(Figure().subplots(), job_class=1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("jobs of class 2", "jobs of class 1")
    shown = ax.collections[0].get_array()
    assert shown[0, 1] == 1  # alone
    assert shown[1, 0] == 0
    alone = optimal(System(Problem([[1]], [1]), [0.5]), precision=1e-3)
    assert alone.plot(Figure().subplots()).get_ylabel() == "tasks"
    three = System(Problem([[1, 0.1], [0.1, 1], [1, 1]], [1, 1]), [0.3, 0.3, 0])
    with pytest.raises(ModelError, match="job_class must be one with arrivals"):
        optimal(three, precision=1e-2).plot(job_class=2)


def test_what_is_not_reached_is_said():
    best = optimal(System.with_load(PAIR, [3, 1], 0.8), max_states=1000)
    assert best.shortfall == "more than max_states=1,000 states are needed"
    assert best.shortfall in best.summary()
    assert 1e-6 < best.gap < 0.5
    best.check()


def test_an_error_that_is_not_estimated(best):
    unknown = replace(best, law=replace(best.law, mean_jobs_error=np.full(2, np.inf)))
    assert "error not estimated" in unknown.summary()
    assert "error about" in best.summary()


def test_functions_that_are_not_found(monkeypatch):
    """Larger sets do not help; the bound by hand remains."""
    monkeypatch.setattr("queueing.optima.stopping.ROUNDS", 1)
    with pytest.raises(NotConvergedError, match="a function still changes after 1 rounds") as stopped:
        optimal(System.with_load(PAIR, [3, 1], 0.7))
    stopped.value.best.check()
    assert isinstance(stopped.value.best, DriftBound)


# --- bad input ----------------------------------------------------------------------------------------


def test_systems_that_are_refused():
    cases = [
        (System.with_load(PAIR, [1, 1], 1.0), UnstableError, "must be below 1 on every resource"),
        (System(Cluster([[1, 2]], [[4, 4]]), [1]), ModelError, "optimal needs one pool"),
        (System(PAIR, [0.1, 0.1], sizes=Erlang(2)), ModelError, "optimal needs exponential sizes"),
        (System(PAIR, [0.1, 0.1], arrivals=OnOff(1, 1)), ModelError, "optimal needs Poisson arrivals"),
        (System(Problem(np.ones((4, 1)), [9]), np.ones(4)), ModelError, "has 4 classes with arrivals"),
        (System(PAIR, [0, 0]), ModelError, "has 0 classes with arrivals"),
        (System(Problem([[0, 0], [1, 1]], [1, 1], limits=[1, 1]), [0.1, 0.1]), ModelError, "demands no"),
        (System(Problem(np.ones((2, 1)), [1], limits=[1e-4, 1]), [0.1, 0.1]), ModelError, "20,002 patterns"),
    ]
    for system, error, said in cases:
        with pytest.raises(error, match=said):
            optimal(system)


def test_arguments_that_are_refused():
    system = System.with_load(PAIR, [1, 1], 0.5)
    for arguments, said in (
        ({"cost": "delay"}, "cost must be one of 'jobs', 'duration'"),
        ({"cost": [1, 0]}, "cost must be finite and > 0; got 0.0 at index 1"),
        ({"cost": [1, 5e-324]}, r"cost must be from 1e-50 to 1e\+50; got \[1.0, 5e-324\]"),
        ({"cost": [1, 1, 1]}, r"cost must have shape \(2,\)"),
        ({"precision": 1e-10}, "precision must be a finite number >= 1e-09"),
        ({"max_states": 1.5}, "max_states must be"),
        ({"max_states": 10}, "max_states must be at least 850"),
    ):
        with pytest.raises(ModelError, match=said):
            optimal(system, **arguments)


def test_a_time_limit_leaves_the_bound_by_hand():
    with pytest.raises(NotConvergedError, match="time_limit=0 seconds are over") as stopped:
        optimal(System.with_load(PAIR, [1, 1], 0.5), time_limit=0)
    assert stopped.value.best.lower[0] == pytest.approx(20 / 11)
