"""Whole jobs that wait in order: against formulas, published values, and a chain that lists who waits."""

import math
from fractions import Fraction

import numpy as np
import pytest

from capacity import is_stable, policy_stability_boundary, policy_stability_region, solve
from fairness import DRF, Cluster, Problem
from fairness.errors import ModelError, NotConvergedError, UnstableError
from queueing import (
    FCFS,
    Deterministic,
    Erlang,
    Exponential,
    Hyperexponential,
    MaxWeight,
    Priorities,
    Renewal,
    ServerFilling,
    System,
    Tasks,
    simulate,
    stationary,
)
from tests.queueing.waiting.listed_chain import listed_law

TWO = Problem([[1], [2]], [2], job_classes=["narrow", "wide"])


def listed_chain(needs, capacities, rates, ends, lookahead, most):
    """Mean counts, and mean counts of those who wait, from the definition, with at most so many jobs.

    A state is the list of all jobs in order of arrival: (class, in service).
    """
    needs, capacities = np.array(needs), np.array(capacities)

    def settled(jobs):
        jobs = list(jobs)
        while True:
            used = sum((needs[i] for i, runs in jobs if runs), np.zeros(len(capacities), dtype=int))
            waiting = [k for k, (_, runs) in enumerate(jobs) if not runs][: lookahead + 1]
            starts = [k for k in waiting if (used + needs[jobs[k][0]] <= capacities).all()]
            if not starts:
                return tuple(jobs)
            jobs[starts[0]] = (jobs[starts[0]][0], True)

    def follow(jobs):
        arrivals = [(settled((*jobs, (i, False))), rate) for i, rate in enumerate(rates) if len(jobs) < most]
        return arrivals + [
            (settled(jobs[:k] + jobs[k + 1 :]), ends[i]) for k, (i, runs) in enumerate(jobs) if runs
        ]

    jobs, waiting = np.zeros((2, len(rates)))
    for state, probability in zip(*listed_law(follow), strict=True):
        for i, runs in state:
            jobs[i] += probability
            waiting[i] += probability * (not runs)
    return jobs, waiting


# Of all jobs: two servers, needs 1 and 2 equally often, sizes exponential of mean 1. A chain of 1,500 levels
# and another program's matrix-geometric solution agree on these digits.
@pytest.mark.parametrize(("rate", "mean"), [(0.5, 1.7006629), (0.8, 3.1533773), (1.0, 7.5575001)])
def test_mean_durations_that_two_programs_found(rate, mean):
    law = stationary(System(TWO, [rate / 2, rate / 2]), FCFS())
    assert law.mean_jobs.sum() / rate == pytest.approx(mean, abs=6e-8)
    assert law.residual < 1e-14
    assert law.service_error < 1e-12


def test_of_two_servers_eight_sevenths_of_a_job_can_be_carried():
    verdict = is_stable(System(TWO, [1, 1]), FCFS())
    assert verdict.throughput == Fraction(8, 7)
    assert not verdict
    assert verdict.utilization == pytest.approx([Fraction(6, 7)])
    # On the boundary itself a queue is not stable.
    assert not is_stable(System(TWO, [Fraction(4, 7), Fraction(4, 7)]), FCFS())
    assert is_stable(System(TWO, [Fraction(4, 7), Fraction(399, 700)]), FCFS())


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)])
def test_two_servers_by_hand(p):
    """A: two narrow jobs run; B: a wide one; C: a narrow one, and a wide one is at the head; rates 1.

    Somebody is always at the head: in A and B of which class is open, a narrow one with probability p. A is
    left for C at rate 2q, C for B at 1, and B at 1 for A with p^2, for C with pq, and else not.
    """
    q = 1 - p
    # With C = 1 the balance of B and of A: B (1 - q) = 1 and 2 q A = p^2 B.
    b = 1 / p
    a = b * p**2 / (2 * q)
    throughput = (2 * a + b + 1) / (a + b + 1)
    assert is_stable(System(TWO, [p, q]), FCFS()).throughput == throughput


@pytest.mark.parametrize("servers", [1, 3])
def test_jobs_of_one_server_wait_as_erlang_says(servers):
    load = 0.75 * servers
    law = stationary(System(Problem([[1]], [servers]), [load / 2], mean_sizes=2), FCFS())
    terms = [load**k / math.factorial(k) for k in range(servers)]
    last = load**servers / math.factorial(servers) / (1 - load / servers)
    wait = last / (sum(terms) + last) * 2 / (servers - load)
    assert law.mean_waits == pytest.approx([wait], rel=1e-12)
    assert law.waiting[1:].sum() == pytest.approx(last / (sum(terms) + last) * load / servers, rel=1e-10)
    assert law.decay == pytest.approx(load / servers)


def test_one_server_waits_as_pollaczek_and_khinchine_say():
    sizes = [Erlang(3, mean=1.0), Hyperexponential.fit(scv=4, mean=2.0)]
    law = stationary(System(Problem([[1], [1]], [1]), [0.3, 0.2], sizes=sizes), FCFS())
    squares = 0.3 * (1 + 1 / 3) + 0.2 * 4 * (1 + 4)
    assert law.mean_waits == pytest.approx([squares / 2 / (1 - 0.7)] * 2, rel=1e-10)


@pytest.mark.parametrize("lookahead", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2))])
def test_a_chain_that_lists_everybody_finds_the_same(lookahead):
    needs, capacities, rates, ends = [[1, 0], [2, 1], [1, 2]], [3, 2], [0.16, 0.12, 0.08], [1.0, 2.0, 1.25]
    jobs, waiting = listed_chain(needs, capacities, rates, ends, lookahead, 8)
    system = System(Problem(needs, capacities), rates, mean_sizes=[1 / end for end in ends])
    law = stationary(system, FCFS(lookahead=lookahead))
    assert law.mean_jobs == pytest.approx(jobs, rel=2e-5)
    assert law.mean_waiting == pytest.approx(waiting, abs=2e-6)


def test_phases_make_one_law_of_many():
    """Erlang sizes of one phase, and a mixture of equal exponentials, are exponential."""
    plain = stationary(System(TWO, [0.4, 0.4]), FCFS(lookahead=1))
    phased = stationary(
        System(TWO, [0.4, 0.4], sizes=[Erlang(1), Hyperexponential([0.5, 0.5], [1, 1])]), FCFS(lookahead=1)
    )
    assert phased.mean_jobs == pytest.approx(plain.mean_jobs, rel=1e-12)
    assert phased.n_states > plain.n_states


@pytest.mark.long
def test_simulation_agrees():
    system = System(TWO, [0.4, 0.4])
    law = stationary(system, FCFS())
    found = simulate(system, FCFS(), events=100_000, rng=1)
    assert np.all(np.abs(found.mean_jobs - law.mean_jobs) < 2 * found.half_widths["mean_jobs"])
    first_fit = simulate(system, FCFS(lookahead=math.inf), events=100_000, rng=1)
    far = stationary(system, FCFS(lookahead=6))
    assert np.all(np.abs(first_fit.mean_jobs - far.mean_jobs) < 3 * first_fit.half_widths["mean_jobs"])


@pytest.mark.long
def test_solve_answers_in_order_too():
    system = System(TWO, [0.5, 0.5])
    policies = [FCFS(), FCFS(lookahead=1), FCFS(lookahead=math.inf)]
    found = solve(system, policies, [0.6, 0.9], seconds=5, rng=1, progress=False)
    assert found.found_by[0] == ("chain", "chain", "simulation")
    law = stationary(System(TWO, [0.4, 0.4]), FCFS(lookahead=1))
    assert found.mean_jobs[0][1] == pytest.approx(law.mean_jobs, rel=1e-9)
    # 1.2 jobs per unit of time are more than 8/7, and as many as 6/5.
    assert found.known[1][0] == "unstable: jobs of narrow and wide grow"


def test_the_further_one_looks_the_more_is_carried():
    found = [is_stable(System(TWO, [1, 1]), FCFS(lookahead=k)).throughput for k in range(6)]
    # Seen here, and all below the 4/3 that the servers have work for.
    assert found == [Fraction(4 * (k + 2), 3 * k + 7) for k in range(6)]


def test_boundaries_and_regions_are_exact():
    point = policy_stability_boundary(TWO, FCFS(), [1, 1])
    assert point.loads == pytest.approx([4 / 7, 4 / 7], rel=1e-11)
    assert "in fractions" in point.evidence
    region = policy_stability_region(TWO, FCFS(), points=12)
    assert 0.15 < region.lost_share < 0.22
    wider = policy_stability_region(TWO, FCFS(lookahead=3), points=12)
    assert wider.volume > region.volume
    with pytest.raises(ModelError, match="confirm is not for FCFS"):
        policy_stability_region(TWO, FCFS(), confirm="chain")


@pytest.mark.long
def test_first_fit_is_judged_by_simulation():
    """It carries what looking at eight more jobs does, 40/31 of 4/3, and no more than there is work for."""
    point = policy_stability_boundary(
        TWO, FCFS(lookahead=math.inf), [1, 1], rng=1, precision=0.05, events=20_000, replications=4
    )
    # Both ends by tests of 99 %, on a fixed seed.
    assert point.inner < 1.0
    assert point.outer > 30 / 31
    assert "jobs in" in point.evidence
    region = policy_stability_region(TWO, FCFS(), points=6)
    assert (region.name, region.policy) == ("FCFS", FCFS())


def test_floats_come_near_the_fractions():
    from queueing.waiting import saturation

    system = System(Problem([[1], [2], [3]], [5]), [3, 2, 1], mean_sizes=[1, Fraction(1, 2), 2])
    exact = saturation.saturate(system, FCFS())
    states = saturation.service_states(system, FCFS(), 1000, saturated=True)
    floats, held, near_1 = saturation._in_floats(states)
    assert floats / float(states.unit) == pytest.approx(float(exact.throughput), rel=1e-12)
    assert held @ [1, 2, 3] / 5 == pytest.approx(exact.utilization, rel=1e-12)

    assert near_1 == pytest.approx(float(exact.heavy_traffic), rel=1e-12)


@pytest.mark.parametrize(
    ("pool", "mix", "options", "order"),
    [
        (TWO, [1, 1], {}, FCFS()),
        (TWO, [1, 1], {}, FCFS(lookahead=2)),
        (Problem([[1], [3]], [4]), [2, 1], {"sizes": [Erlang(2), Exponential(2)]}, FCFS()),
        (Problem([[1], [2], [4]], [4]), [4, 2, 1], {}, ServerFilling()),
    ],
)
def test_near_load_1_the_mean_is_the_constant_of_heavy_traffic(pool, mix, options, order):
    found = is_stable(System(pool, mix, **options), order)
    constant = float(found.heavy_traffic)
    near = []
    for gap in (1e-2, 1e-3):
        rates = np.array(mix) / sum(mix) * float(found.throughput) * (1 - gap)
        near.append(gap * stationary(System(pool, rates, **options), order).mean_jobs.sum())
    # The mean is this over the gap, and a constant: ten times nearer, ten times as small a difference.
    assert near == pytest.approx([constant] * 2, rel=0.03)
    assert (near[1] - constant) / (near[0] - constant) == pytest.approx(0.1, rel=0.05)
    assert f"{constant:.5g} / (1 - load)" in found.summary()


def test_constants_of_heavy_traffic():
    assert is_stable(System(TWO, [1, 1]), FCFS()).heavy_traffic == Fraction(53, 49)
    for servers in (1, 3):
        assert is_stable(System(Problem([[1]], [servers]), [1]), FCFS()).heavy_traffic == 1
    # One server: (1 + scv) / 2 of M/G/1.
    erlang = System(Problem([[1]], [1]), [1], sizes=Erlang(4))
    assert is_stable(erlang, FCFS()).heavy_traffic == pytest.approx(5 / 8, rel=1e-12)


def test_what_grows_for_ever_is_told_with_the_number():
    with pytest.raises(UnstableError, match=r"8/7 can be carried.*below 0\.952381 of what they are"):
        stationary(System(TWO, [0.6, 0.6]), FCFS())


@pytest.mark.parametrize(
    ("system", "order", "message"),
    [
        (
            System(Problem([[3], [1]], [2]), [1, 1]),
            FCFS(),
            r"class 'class 1' needs 3 of .* raise the capacity",
        ),
        (System(Cluster([[1]], [[2], [2]]), [1]), FCFS(), "is a cluster"),
        (System(TWO, [0.1, 0.1], arrivals=Renewal(Erlang(2))), FCFS(), "needs Poisson arrivals"),
        (System(TWO, [0.1, 0.1], sizes=Deterministic()), FCFS(), "of 'narrow' have no phases"),
        (System(TWO, [0, 0]), FCFS(), "nobody arrives"),
        (
            System(Problem([[0], [2]], [2], limits=[1, np.inf]), [0.1, 0.1]),
            FCFS(),
            "'class 1' demands nothing",
        ),
        (System(Problem([[2], [0]], [2], limits=[1, 1]), [0.1, 0.1]), FCFS(), "'class 2' demands nothing"),
        (
            System(Problem([[1]], [2], limits=[0.5]), [0.1]),
            FCFS(),
            "limited to 0.5 tasks .* give a limit >= 1",
        ),
        (System(TWO, [0.1, 0.1]), FCFS(lookahead=math.inf), "has no finite front; simulate"),
        (System(Problem([[k] for k in range(1, 9)], [60]), [0.1] * 8), FCFS(), "more than .* states"),
    ],
)
def test_what_cannot_be_answered_says_why(system, order, message):
    with pytest.raises(ModelError, match=message):
        stationary(system, order)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_near_load_1_the_error_is_known(gap):
    law = stationary(System(Problem([[1]], [1]), [1 - gap]), FCFS())
    assert abs(law.mean_jobs[0] * gap / (1 - gap) - 1) <= law.mean_error <= 1e-6


def test_so_near_load_1_that_digits_are_lost_there_is_no_answer():
    system = System(TWO, [4 / 7 * (1 - 1e-6)] * 2)
    with pytest.raises(NotConvergedError, match=r"mean counts may be off by .* of them") as caught:
        stationary(system, FCFS())
    # What is claimed of the best covers its error: (1 - load) E[jobs] is about 1.0816.
    best = caught.value.best
    assert best.mean_jobs.sum() * 1e-6 == pytest.approx(1.0816, rel=best.mean_error + 1e-4)


def test_whole_numbers_are_compared_exactly():
    """Two jobs need three more than there is of 10^13."""
    verdict = is_stable(System(Problem([[10**13 // 2 + 2]], [10**13]), [0.1]), FCFS())
    assert verdict.throughput == 1


def test_time_limits_are_kept():
    system = System(Problem([[1], [2]], [80]), [1, 1])
    with pytest.raises(NotConvergedError, match=r"time_limit=0\.001 seconds are over"):
        stationary(system, FCFS(), time_limit=1e-3)


def test_options_of_other_questions_are_refused():
    system = System(TWO, [0.1, 0.1])
    with pytest.raises(ModelError, match="tasks is not for whole jobs"):
        simulate(system, FCFS(), tasks=Tasks(per_job=3))
    with pytest.raises(ModelError, match="level of whole jobs in order is 'tasks'"):
        simulate(system, FCFS(), level="counts")
    with pytest.raises(ModelError, match="tail is not for whole jobs"):
        stationary(system, FCFS(), tail=1e-3)
    with pytest.raises(ModelError, match="order must be one of whole jobs, such as FCFS"):
        is_stable(system, DRF())
    with pytest.raises(ModelError, match="shape is not for whole jobs"):
        stationary(system, FCFS(), shape=10)
    with pytest.raises(ModelError, match="certified is not for whole jobs"):
        stationary(system, FCFS(), certified=True)
    with pytest.raises(ModelError, match="lookahead of a simulation"):
        simulate(system, FCFS(lookahead=2))
    with pytest.raises(ModelError, match="lookahead must be a whole number"):
        FCFS(lookahead=-1)


def test_classes_without_arrivals_stay_away():
    sizes = [Exponential(), Exponential(), Deterministic()]
    law = stationary(System(Problem([[1], [2], [5]], [2]), [0.4, 0.4, 0], sizes=sizes), FCFS())
    plain = stationary(System(TWO, [0.4, 0.4]), FCFS())
    assert law.mean_jobs == pytest.approx([*plain.mean_jobs, 0.0], rel=1e-12)
    assert math.isnan(law.mean_waits[2])


@pytest.mark.parametrize("order", [FCFS(), ServerFilling(), MaxWeight(), Priorities("least")])
def test_sizes_of_classes_without_arrivals_do_not_matter(order):
    pool = Problem([[1], [2], [1]], [2])
    systems = [
        System(pool, [0.5, 0.25, 0], sizes=sizes)
        for sizes in (Exponential(), [Exponential(), Exponential(), Erlang(2, mean=1 / 3)])
    ]
    plain, erlang = (is_stable(system, order) for system in systems)
    assert (erlang.throughput, erlang.heavy_traffic) == (plain.throughput, plain.heavy_traffic)
    assert isinstance(erlang.throughput, Fraction) == (order != Priorities("least"))
    laws = [stationary(system, order) for system in systems]
    assert np.array_equal(laws[0].mean_jobs, laws[1].mean_jobs)


@pytest.mark.parametrize("tenth", [0.1, Fraction(1, 10)])
def test_ten_tenths_fit_also_as_floats(tenth):
    """Although the float 0.1 is a little more."""
    system = System(Problem([[tenth]], [1]), [5])
    assert is_stable(system, FCFS()).throughput == pytest.approx(10, rel=1e-12)


def test_results_keep_their_promise(tmp_path):
    law = stationary(System(TWO, [0.4, 0.4], sizes=Exponential()), FCFS())
    law.save(tmp_path / "law.json")
    again = type(law).load(tmp_path / "law.json")
    assert again.mean_jobs == pytest.approx(law.mean_jobs)
    assert again.saturation.throughput == law.saturation.throughput
    assert "8/7" in is_stable(law.system, FCFS()).summary()
    assert law.plot().get_xlabel() == "jobs that wait"
    assert law.waiting.sum() == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("weights", [[1, 1], [1, 3], [2, 0, 1], [1, 2, 3, 4], [3, 1, 0, 1, 2]])
def test_the_criterion_of_rumyantsev_and_morozov(weights):
    """Sizes of one law: 1/throughput = sum_i 1/i sum_j p*i(j) P(need > s - j), p*i the i-fold convolution."""
    s, total = len(weights), sum(weights)
    p = [Fraction(w, total) for w in weights]
    needs = [k + 1 for k in range(s) if p[k]]
    inverse, sums = Fraction(0), {0: Fraction(1)}
    for i in range(1, s + 1):
        sums = {
            j: sum(sums.get(j - t, Fraction(0)) * p[t - 1] for t in range(1, s + 1)) for j in range(1, s + 1)
        }
        inverse += sum(sums[j] * sum(p[s - j :]) for j in range(i, s + 1)) / i
    system = System(Problem([[k] for k in needs], [s]), [p[k - 1] for k in needs])
    assert is_stable(system, FCFS()).throughput == 1 / inverse
