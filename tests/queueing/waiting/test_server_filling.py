"""ServerFilling: against an event loop with everybody in it, a chain that lists everybody, and formulas."""

import heapq
from fractions import Fraction

import numpy as np
import pytest

from capacity import is_stable, policy_stability_region, solve
from fairness import Cluster, Problem
from fairness.errors import ModelError, UnstableError
from queueing import FCFS, Erlang, Exponential, ServerFilling, System, simulate, stationary
from queueing.waiting import saturation, service_states
from queueing.waiting.saturated_chain import solve_saturated
from tests.queueing.waiting.listed_chain import listed_law

TWO = Problem([[1], [2]], [2], job_classes=["narrow", "wide"])


def served(jobs, needs, servers):
    """From the definition: jobs, in order of arrival, that are in service."""
    total, front = 0, []
    for place, i in enumerate(jobs):
        if total >= servers:
            break
        front.append(place)
        total += needs[i]
    free, chosen = servers, []
    for place in sorted(front, key=lambda place: (-needs[jobs[place]], place)):
        if needs[jobs[place]] <= free:
            free -= needs[jobs[place]]
            chosen.append(place)
    return chosen


def listed_means(needs, servers, rates, ends, most):
    """Mean counts, and those of jobs that wait, of a chain that lists everybody, at most so many jobs."""

    def follow(jobs):
        arrivals = [((*jobs, i), rate) for i, rate in enumerate(rates) if len(jobs) < most]
        places = served(jobs, needs, servers)
        return arrivals + [(jobs[:place] + jobs[place + 1 :], ends[jobs[place]]) for place in places]

    jobs, waiting = np.zeros((2, len(rates)))
    for state, probability in zip(*listed_law(follow), strict=True):
        running = set(served(state, needs, servers))
        np.add.at(jobs, list(state), probability)
        np.add.at(waiting, [i for place, i in enumerate(state) if place not in running], probability)
    return jobs, waiting


@pytest.mark.parametrize(
    ("needs", "servers", "rates", "ends", "most"),
    [
        ([1, 2], 2, [0.15, 0.15], [1.0, 1.0], 11),
        ([1, 2, 4], 4, [0.15, 0.2, 0.04], [1.0, 2.0, 0.5], 8),
        ([1, 3], 6, [0.4, 0.4], [0.5, 1.25], 11),
    ],
)
def test_a_chain_that_lists_everybody_finds_the_same(needs, servers, rates, ends, most):
    jobs, waiting = listed_means(needs, servers, rates, ends, most)
    fewer, _ = listed_means(needs, servers, rates, ends, most - 1)
    system = System(Problem([[k] for k in needs], [servers]), rates, mean_sizes=[1 / end for end in ends])
    law = stationary(system, ServerFilling())
    # What lies beyond the longest list falls geometrically.
    missing = jobs - fewer
    assert np.all(missing < 6e-3 * jobs)
    assert np.all(np.abs(law.mean_jobs - jobs) < 4 * missing + 1e-9)
    assert np.all(np.abs(law.mean_waiting - waiting) < 4 * missing + 1e-9)
    assert law.residual < 1e-13


def event_loop(needs, servers, rates, ends, events, seed):
    """Mean counts of jobs, of those not in service and of those that never were, (3, n_classes): a list."""
    rng = np.random.default_rng(seed)
    arrivals = [(rng.exponential(1 / rate), i) for i, rate in enumerate(rates)]
    heapq.heapify(arrivals)
    now, jobs, new, held = 0.0, [], [], np.zeros((3, len(rates)))
    for _ in range(events):
        running = served(jobs, needs, servers)
        for place in running:
            new[place] = False
        total = sum(ends[jobs[place]] for place in running)
        # Exponential sizes: what is left of them is as new.
        end = now + rng.exponential(1 / total) if running else np.inf
        then = min(end, arrivals[0][0])
        np.add.at(held[0], jobs, then - now)
        np.add.at(held[1], [i for place, i in enumerate(jobs) if place not in running], then - now)
        np.add.at(held[2], [i for i, never in zip(jobs, new, strict=True) if never], then - now)
        now = then
        if end < arrivals[0][0]:
            parts = np.array([ends[jobs[place]] for place in running]) / total
            place = running[rng.choice(len(running), p=parts)]
            del jobs[place], new[place]
        else:
            _, i = arrivals[0]
            jobs.append(i)
            new.append(True)
            heapq.heapreplace(arrivals, (now + rng.exponential(1 / rates[i]), i))
    return held / now


@pytest.mark.long
def test_an_event_loop_finds_the_same():
    needs, rates, ends = [1, 2, 4], [1.2, 0.4, 0.2], [1.0, 1.0, 1.0]
    law = stationary(System(Problem([[k] for k in needs], [4]), rates), ServerFilling())
    runs = np.array([event_loop(needs, 4, rates, ends, 6_000, seed)[0] for seed in range(12)])
    # Twelve runs: Student's quantile of 1e-6 with 11 degrees of freedom is 9.4.
    error = 9.4 * runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert np.all(np.abs(runs.mean(axis=0) - law.mean_jobs) < error)
    assert np.all(error < 0.6 * law.mean_jobs)


def test_jobs_that_are_taken_out_of_service_wait_again():
    _, out, never = event_loop([1, 2], 2, [0.4, 0.4], [1.0, 1.0], 8_000, 1)
    waits = stationary(System(TWO, [0.4, 0.4]), ServerFilling()).mean_waits
    # Narrow jobs make room for a wide one; wide ones go on.
    assert out / 0.4 == pytest.approx(waits, rel=0.25)
    assert never[0] < 0.9 * out[0]
    assert never[1] == pytest.approx(out[1])


@pytest.mark.parametrize(
    ("needs", "servers", "mix", "means"),
    [
        ([1, 2], 2, [1, 1], [1, 1]),
        ([1, 2, 4], 8, [3, 2, 1], [1, Fraction(1, 2), 3]),
        ([2, 6], 12, [5, 1], [1, 2]),
    ],
)
def test_the_saturated_chain_fills_all_servers(needs, servers, mix, means):
    """What is said without the chain is what the chain says, in fractions."""
    system = System(Problem([[k] for k in needs], [servers]), mix, mean_sizes=means)
    states = service_states.service_states(system, ServerFilling(), 2000, saturated=True)
    throughput, held = saturation._in_fractions(system, states, states.unit)
    found = is_stable(system, ServerFilling())
    assert throughput == found.throughput
    assert throughput == servers * Fraction(sum(mix)) / sum(
        p * k * Fraction(size) for p, k, size in zip(mix, needs, means, strict=True)
    )
    assert held @ needs == pytest.approx(servers, rel=1e-12)
    assert found.utilization == pytest.approx([1.0], rel=1e-12)
    assert "all servers are held" in found.summary()
    # The theorem about the mean near load 1, and Poisson's equation of the chain.
    constant = solve_saturated(states, exact=len(states.full) <= 20).heavy_traffic
    assert float(constant) == pytest.approx(float(found.heavy_traffic), rel=1e-12)


def test_jobs_of_one_server_wait_as_in_order():
    """With equal needs of one server it is the queue M/M/3, as under FCFS."""
    system = System(Problem([[1]], [3]), [1.1], mean_sizes=2)
    law, plain = stationary(system, ServerFilling()), stationary(system, FCFS())
    assert law.mean_jobs == pytest.approx(plain.mean_jobs, rel=1e-12)
    assert law.waiting[: len(plain.waiting)] == pytest.approx(plain.waiting, abs=1e-11)


def test_the_law_of_those_who_wait_has_their_mean():
    system = System(Problem([[1], [2], [4]], [4]), [1.0, 0.3, 0.2])
    law = stationary(system, ServerFilling())
    assert law.waiting.sum() == pytest.approx(1.0, abs=1e-10)
    assert law.waiting @ np.arange(len(law.waiting)) == pytest.approx(law.mean_waiting.sum(), rel=1e-8)


def test_regions_and_solve_take_it():
    region = policy_stability_region(TWO, ServerFilling(), points=8)
    assert region.lost_share == pytest.approx(0.0, abs=1e-10)
    found = solve(System(TWO, [0.5, 0.5]), [ServerFilling()], [0.6, 0.9], seconds=5, progress=False)
    assert found.found_by[0] == ("chain",)
    assert found.found_by[1] == ("chain",)
    with pytest.raises(UnstableError, match="4/3 can be carried"):
        stationary(System(TWO, [0.7, 0.7]), ServerFilling())


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (System(Problem([[2], [3]], [6]), [1, 1]), "class 'class 1' does not divide that of class 'class 2'"),
        (System(Problem([[1], [4]], [6]), [1, 1]), "class 'class 2' does not divide the capacity: take FCFS"),
        (System(Problem([[1, 0], [1, 1]], [2, 2]), [1, 1]), "class 'class 2' needs another one, too"),
        (System(Problem([[1, 0], [0, 1]], [2, 2]), [1, 1]), "class 'class 2' needs another one, too"),
        (System(Problem([[0.1]], [1.0]), [1]), "floats are compared exactly: give integers"),
        (System(TWO, [0.1, 0.1], sizes=[Exponential(), Erlang(2)]), "exponential sizes; those of class"),
        (System(Cluster([[1]], [[2], [2]]), [1]), "is a cluster"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_says_why(system, message):
    with pytest.raises(ModelError, match=message):
        stationary(system, ServerFilling())


def test_it_cannot_be_simulated_as_whole_tasks():
    with pytest.raises(ModelError, match=r"takes jobs out of service.*ask stationary"):
        simulate(System(TWO, [0.1, 0.1]), ServerFilling())


def test_classes_without_arrivals_need_not_divide():
    law = stationary(System(Problem([[1], [2], [3]], [4]), [0.4, 0.4, 0]), ServerFilling())
    plain = stationary(System(Problem([[1], [2]], [4]), [0.4, 0.4]), ServerFilling())
    assert law.mean_jobs == pytest.approx([*plain.mean_jobs, 0.0], rel=1e-12)
