"""MaxWeight and priorities: against definitions, a chain of their own, and formulas of priority queues."""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.sparse.linalg import spsolve

from capacity import is_stable, packing_region, policy_stability_boundary, policy_stability_region, solve
from fairness import DRF, Cluster, Problem, allocate
from fairness.errors import ModelError, UnstableError
from queueing import (
    Erlang,
    MaxWeight,
    Priorities,
    Renewal,
    System,
    enclose,
    simulate,
    stationary,
    tagged_duration,
)
from queueing.waiting import counted_throughput

FEW = [0.1, 0.1]
SEVEN = Problem([[2], [3]], [7])
TWO = Problem([[1], [2]], [2], job_classes=["narrow", "wide"])


def fitting(problem, counts):
    """Whole numbers of jobs of at most these counts that fit together, in increasing order."""
    needs, capacities = problem.as_fractions()
    for n in itertools.product(*(range(int(x) + 1) for x in counts)):
        held = [sum(k * row[j] for k, row in zip(n, needs, strict=True)) for j in range(len(capacities))]
        if all(h <= c for h, c in zip(held, capacities, strict=True)):
            yield n


def max_weight(problem, counts):
    """From the definition, in fractions; of equal ones the largest in lexicographic order."""
    values = [Fraction(w) * int(x) for w, x in zip(problem.weights.tolist(), counts, strict=True)]
    return max(
        fitting(problem, counts), key=lambda n: (sum(v * k for v, k in zip(values, n, strict=True)), n)
    )


def by_rank(problem, counts, ranking):
    """From the definition: of those that fit the first class has the most jobs, then the second, ..."""
    return max(fitting(problem, counts), key=lambda n: [n[i] for i in ranking])


@st.composite
def pools(draw):
    n, m = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    needs = draw(st.lists(st.lists(st.integers(0, 4), min_size=m, max_size=m), min_size=n, max_size=n))
    needs = [row if any(row) else [1, *row[1:]] for row in needs]
    capacities = [draw(st.integers(max(row[j] for row in needs), 9)) for j in range(m)]
    weights = draw(st.lists(st.sampled_from([1, 2, 0.5]), min_size=n, max_size=n))
    return Problem(needs, [max(c, 1) for c in capacities], weights=weights)


@given(pools(), st.data())
@settings(max_examples=60, deadline=None)
def test_definitions(problem, data):
    counts = data.draw(
        st.lists(
            st.lists(st.integers(0, 6), min_size=problem.n_classes, max_size=problem.n_classes), min_size=1
        )
    )
    found = MaxWeight()(problem, counts)
    assert found.tolist() == [[*map(float, max_weight(problem, x))] for x in counts]
    for order in ("most", "least"):
        shares = problem.task_shares.max(axis=1)
        ranking = sorted(range(problem.n_classes), key=lambda i: (-1 if order == "most" else 1) * shares[i])
        found = Priorities(order)(problem, counts)
        assert found.tolist() == [[*map(float, by_rank(problem, x, ranking))] for x in counts]


LARGE = [
    Problem([[Fraction(1e-4)], [Fraction(0.3)]], [1]),
    Problem([[Fraction(1, 3)], [Fraction(2, 3)], [Fraction(1, 3**40)], [Fraction(2, 7)]], [1]),
    Problem([[1, Fraction(1, 3**40)], [Fraction(1, 7), Fraction(1, 3)]], [3, 1]),
]
"""Pools whose common unit leaves 64 bits."""


@pytest.mark.parametrize("problem", LARGE)
def test_integers_of_any_size(problem):
    counts = np.random.default_rng(1).integers(0, 4, (6, problem.n_classes))
    for ranking in itertools.permutations(range(problem.n_classes)):
        order = Priorities([problem.job_classes[i] for i in ranking])
        known = [[*map(float, by_rank(problem, x, ranking))] for x in counts]
        assert order(problem, counts).tolist() == known
        assert [order(problem, x).tolist() for x in counts] == known
        assert order(problem, counts.reshape(2, 3, -1)).reshape(counts.shape).tolist() == known


def test_numbers_of_jobs_beyond_the_digits_of_a_float():
    # Of the first class 2^60 - 1 fit, which as a float is 2^60: more than there is room for.
    pool = Problem([[1], [1]], [2**60 - 1])
    assert Priorities("most")(pool, [2.0**62, 5.0]).tolist() == [2.0**60, 0.0]
    assert is_stable(System(pool, [1, 1]), Priorities()).throughput == 2**60 - 1
    # Floats have a common unit, too.
    assert Priorities("most")(Problem([[1e-4], [0.3]], [1.0]), [2, 2]).tolist() == [2.0, 2.0]
    assert is_stable(System(Problem([[1e-4], [0.3]], [1.0]), [9, 1]), Priorities("most"))
    # A class without jobs may need more than 64 bits tell.
    assert Priorities("least")(Problem([[1], [10**30]], [1]), [1, 0]).tolist() == [1.0, 0.0]


def box_means(tasks, rates, ends, size):
    """Mean counts of the chain on a square box, from its balance equations."""
    states = list(itertools.product(range(size), repeat=2))
    places = {x: k for k, x in enumerate(states)}
    entries = []
    for x in states:
        run = tasks(x)
        for i in range(2):
            for by, rate in ((1, rates[i]), (-1, run[i] * ends[i])):
                target = tuple(v + by * (k == i) for k, v in enumerate(x))
                if target in places and rate:
                    entries.append((places[x], places[target], rate))
    rows, columns, values = zip(*entries, strict=True)
    moves = sparse.coo_array((values, (rows, columns)), shape=(len(states),) * 2).tocsr()
    generator = (moves - sparse.diags_array(moves.sum(axis=1))).T.tocsc()
    law = np.concatenate([[1.0], spsolve(generator[1:, 1:], -generator[1:, [0]].toarray().ravel())])
    return law @ np.array(states) / law.sum()


@pytest.mark.long
def test_the_law_under_max_weight_is_that_of_its_own_chain():
    known = {}

    def tasks(x):
        cut = tuple(x)
        if cut not in known:
            known[cut] = max_weight(SEVEN, x)
        return known[cut]

    system = System(SEVEN, [0.8, 0.6], mean_sizes=[1, Fraction(4, 5)])
    law = stationary(system, MaxWeight())
    assert law.mean_jobs == pytest.approx(box_means(tasks, [0.8, 0.6], [1.0, 1.25], 26), rel=1e-7)
    run = simulate(system, MaxWeight(), events=20_000, rng=1)
    assert np.all(np.abs(run.mean_jobs - law.mean_jobs) < 3 * run.half_widths["mean_jobs"])


def test_max_weight_reaches_the_region_of_whole_tasks():
    found = is_stable(System(SEVEN, [1, 1]), MaxWeight())
    # x + y < 3 and x + 2 y < 4, the capacity of seven units for whole jobs: 4/3 of each.
    assert found.throughput == Fraction(8, 3)
    assert found.utilization == pytest.approx([Fraction(5 * 4, 3 * 7)])
    assert not is_stable(System(SEVEN, [Fraction(4, 3)] * 2), MaxWeight())
    region = policy_stability_region(SEVEN, MaxWeight(), points=12)
    # Cut at the rays, which miss a corner.
    assert region.volume == pytest.approx(packing_region(SEVEN).volume, rel=1e-3)
    for point in region.points:
        assert packing_region(SEVEN).judge(point.loads).relative_load == pytest.approx(1.0, rel=1e-9)
    assert "prices that prove it the best, in fractions" in region.points[3].evidence


@pytest.mark.parametrize("few", [0, 1000])
def test_max_weight_carries_what_is_packed(few, monkeypatch):
    monkeypatch.setattr(counted_throughput, "FEW", few)
    pool = Problem([[2, 1], [3, 1], [5, 2], [1, 0]], [11, 5])
    for loads in ([1, 1, 1, 1], [3, 2, 1, 0], [1, 0, 0, 5]):
        found = is_stable(System(pool, loads), MaxWeight())
        known = sum(loads) / packing_region(pool).judge(loads).relative_load
        assert float(found.throughput) == pytest.approx(known, rel=1e-9)
        assert isinstance(found.throughput, Fraction) == (few > 0)
        assert "prices" in found.summary()


@pytest.mark.parametrize("order", [["a", "b", "c"], pytest.param(["c", "a", "b"], marks=pytest.mark.long)])
def test_one_server_with_priorities(order):
    """The queue M/M/1 with preemptive priorities: Kleinrock, Queueing Systems II, section 3.4."""
    rates, means = {"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 1.0, "b": 0.5, "c": 2.0}
    pool = Problem([[1]] * 3, [1], job_classes=["a", "b", "c"])
    law = stationary(System(pool, [*rates.values()], [*means.values()]), Priorities(order))
    load, residual = 0.0, 0.0
    for name in order:
        before, load = load, load + rates[name] * means[name]
        residual += rates[name] * means[name] ** 2
        expected = means[name] / (1 - before) + residual / (1 - before) / (1 - load)
        # The error that the chain claims for itself, twice.
        i = pool.job_classes.index(name)
        assert abs(law.mean_durations[i] - expected) < 2 * law.mean_jobs_error[i] / rates[name] + 1e-9


def test_one_server_with_priorities_to_the_end():
    """Cobham's formula of the queue M/G/1 with priorities and no preemption."""
    pool = Problem([[1], [1]], [1], job_classes=["a", "b"])
    system = System(pool, [0.4, 0.2], [1.0, 1.5])
    residual = 0.4 * 1.0 + 0.2 * 1.5**2
    run = simulate(system, Priorities(["b", "a"], preemptive=False), events=60_000, rng=1)
    waits = np.array([residual / (1 - 0.3) / (1 - 0.7), residual / (1 - 0.3)])
    # Ten replications: three half-widths of 95 % are exceeded with probability 1e-4 or so.
    assert np.all(np.abs(run.mean_durations - waits - [1.0, 1.5]) < 3 * run.half_widths["mean_durations"])


def test_ranks_are_those_of_the_classes():
    pool = Problem([[1]] * 3, [1], job_classes=["a", "b", "c"])
    assert Priorities(["c", "a", "b"], preemptive=False).starts(pool).ranks == (1, 2, 0)


def test_two_classes_with_priorities_carry_what_the_first_one_leaves():
    # Narrow ones first: a wide job runs if none is there, of a queue M/M/2 with probability (2-r)/(2+r).
    found = is_stable(System(TWO, [1, 1]), Priorities(["narrow", "wide"]))
    assert float(found.throughput) == pytest.approx(math.sqrt(17) - 3, rel=1e-12)
    assert is_stable(System(TWO, [0.5, 0.5]), Priorities("most")).throughput == pytest.approx(
        4 / 3, rel=1e-12
    )
    # Beside two jobs of two a fifth server is left: the first class alone is the boundary.
    pool = Problem([[2], [1]], [5])
    assert is_stable(System(pool, [10, 1]), Priorities("most")).throughput == pytest.approx(2.2, rel=1e-12)
    only = is_stable(System(TWO, [1, Fraction(1, 10**6)]), Priorities("most"))
    assert only.throughput == pytest.approx(2.0, rel=1e-5)
    assert is_stable(System(TWO, [1, 3]), Priorities("least")).throughput < 4 / (1 + 3 * 2) * 2
    point = policy_stability_boundary(TWO, Priorities("least"), [1, 1])
    assert point.loads == pytest.approx([(math.sqrt(17) - 3) / 2] * 2, rel=1e-10)
    assert "random environment" in point.evidence


@pytest.mark.parametrize(
    ("order", "pool", "boundary"),
    [
        (Priorities("least"), TWO, math.sqrt(17) - 3),
        pytest.param(MaxWeight(), SEVEN, 8 / 3, marks=pytest.mark.long),
    ],
)
def test_simulated_jobs_grow_beyond_the_boundary(order, pool, boundary, monkeypatch):
    monkeypatch.setattr(sys.modules["queueing.simulation.simulate"], "require_carried", lambda *_: None)
    jobs = {}
    for part in (0.96, 1.04):
        system = System(pool, [part * boundary / 2] * 2)
        runs = [simulate(system, order, events=n, replications=2, rng=3) for n in (25_000, 100_000)]
        jobs[part] = [float(run.mean_jobs.sum()) for run in runs]
    # Seeds are fixed. Jobs that grow do so in proportion to the length of a run.
    assert jobs[0.96][1] < 1.5 * jobs[0.96][0] < 100
    assert jobs[1.04][1] > 2.5 * jobs[1.04][0] > 200


def test_what_the_first_class_leaves_by_its_law():
    """The mean of what the policy gives the second class beside the law of the first one."""
    pool = Problem([[2, 1], [3, 1]], [11, 9], job_classes=["a", "b"])
    order = Priorities(["a", "b"])
    mix = System(pool, [2, 1], [1, Fraction(3, 2)])
    theta = float(is_stable(mix, order).throughput)
    at = System(Problem([[2, 1]], [11, 9]), [2 * theta / 3])
    law = stationary(at, Priorities("most"), tail=1e-13)
    many = np.array([[x, 1000] for x in range(len(law.distribution))])
    assert law.distribution @ order(pool, many)[:, 1] == pytest.approx(theta / 3 * 1.5, rel=1e-9)


@pytest.mark.parametrize(("units", "order"), [(1601, "least"), (1601, "most"), (20_001, "least")])
def test_many_servers_with_priorities(units, order):
    """The first class as Poisson's law, cut off, whose factors leave the floats."""
    pool = Problem([[1], [2]], [units])
    theta = float(is_stable(System(pool, [8, 3]), Priorities(order)).throughput)
    loads, needs = [theta * 8 / 11, theta * 3 / 11], [1, 2]
    first = 0 if order == "least" else 1
    most = units // needs[first]
    n = np.arange(most + 1)
    law = stats.poisson.pmf(n, loads[first])
    law[-1] /= 1 - loads[first] / most
    left = (units - n * needs[first]) // needs[1 - first]
    assert law @ left / law.sum() == pytest.approx(loads[1 - first], rel=1e-9)


def test_what_many_servers_carry_is_simulated():
    system = System(Problem([[1], [2]], [1601]), [800.0, 1.0])
    run = simulate(system, Priorities("least"), events=4_000, replications=2, rng=1, start=[800, 1])
    assert run.mean_jobs[0] == pytest.approx(800, rel=0.1)


def test_jobs_that_hold_the_same_waste_nothing():
    pool = Problem([[1]] * 3, [4])
    found = is_stable(System(pool, [1, 2, 3], [1, Fraction(1, 2), 1]), Priorities("most"))
    assert found.throughput == Fraction(4 * 6, 5)
    assert found.utilization == pytest.approx([1.0])


@pytest.mark.long
def test_solve_takes_them_beside_each_other():
    found = solve(
        System(TWO, [0.5, 0.5]), [MaxWeight(), Priorities("least")], [0.5, 0.9], seconds=4, progress=False
    )
    assert found.found_by[0] == ("chain", "chain")
    assert found.known[1][1] == "unstable: jobs of narrow and wide grow"
    law = stationary(System.with_load(TWO, [1, 1], 0.5), MaxWeight())
    assert found.mean_jobs[0][0] == pytest.approx(law.mean_jobs, rel=1e-6)


def test_allocate_and_enclose_take_them_as_policies():
    assert allocate(SEVEN, MaxWeight(), [3, 4]).tasks.tolist() == [2.0, 1.0]
    assert allocate(SEVEN, Priorities("most"), [3, 1]).tasks.tolist() == [2.0, 1.0]
    with pytest.raises(ModelError):
        enclose(System(SEVEN, [0.2, 0.2]), MaxWeight())


def test_classes_without_jobs_may_demand_anything():
    pool = Problem([[1], [0], [9]], [4], limits=[np.inf, 1, np.inf])
    for order in (MaxWeight(), Priorities("least")):
        assert order(pool, [6, 0, 0]).tolist() == [4.0, 0.0, 0.0]
        law = stationary(System(pool, [1, 0, 0]), order)
        assert law.mean_jobs[1:].tolist() == [0.0, 0.0]
        assert is_stable(System(pool, [1, 0, 0]), order).throughput == 4


def test_tenths_as_floats_are_tenths():
    pool = Problem([[0.1], [0.3]], [1.0])
    assert MaxWeight()(pool, [20, 0]).tolist() == [10.0, 0.0]
    assert Priorities("most")(pool, [20, 2]).tolist() == [4.0, 2.0]


@pytest.mark.parametrize("verb", [stationary, simulate])
def test_what_grows_for_ever_is_told_with_the_number(verb):
    with pytest.raises(UnstableError, match="8/3 can be carried"):
        verb(System(SEVEN, [1.36, 1.36]), MaxWeight())
    with pytest.raises(UnstableError, match=r"1\.123.* can be carried"):
        verb(System(TWO, [0.6, 0.6]), Priorities("least"))


def test_other_arrivals_are_simulated():
    system = System(SEVEN, [0.5, 0.5], arrivals=Renewal(Erlang(2)))
    run = simulate(system, MaxWeight(), jobs=4_000, replications=4, rng=1)
    assert run.mean_jobs[0] < stationary(System(SEVEN, [0.5, 0.5]), MaxWeight()).mean_jobs[0]


def test_durations_are_those_of_whole_jobs():
    """The law of the duration in the queue M/M/2, oldest first: its size, and a wait with probability C."""
    system = System(Problem([[1]], [2]), [1.0])
    run = simulate(system, MaxWeight(), jobs=20_000, replications=8, rng=1, start=[0])
    wait = 1 / 3  # Erlang's formula at load 1/2; who waits does so at rate 1
    for level, found in run.duration_quantiles.items():
        t = found.value[0]
        left = (1 - wait) * math.exp(-t) + wait * (1 + t) * math.exp(-t)
        density = (1 - wait + wait * t) * math.exp(-t)
        assert abs(1 - left - level) < 3 * density * found.half_width[0]
    # Sharing equally among all jobs, one server at most each, is the same traffic with another law.
    limited = System(Problem([[1]], [2], limits=[1]), [1.0])
    plain = simulate(limited, DRF(), jobs=20_000, replications=8, rng=1, start=[0], order="fcfs")
    assert run.mean_durations == plain.mean_durations
    assert run.mean_slowdowns == plain.mean_slowdowns
    assert (run.orders, run.alone_rates.tolist()) == (("fcfs",), [1.0])


def test_the_oldest_first_last_as_long_as_the_law_says_and_the_shortest_less():
    system = System(TWO, [0.4, 0.4])
    exact = stationary(system, MaxWeight()).mean_durations
    oldest, least = (
        simulate(system, MaxWeight(), order=order, jobs=20_000, replications=6, rng=1)
        for order in (None, "srpt")
    )
    assert np.all(np.abs(oldest.mean_durations - exact) < 3 * oldest.half_widths["mean_durations"])
    assert np.all(least.mean_durations + 3 * least.half_widths["mean_durations"] < exact)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MaxWeight()(SEVEN, [0.5, 1]), "must be whole numbers of jobs under MaxWeight; got 0.5"),
        (lambda: MaxWeight()(Problem([[8]], [7]), [1]), "needs 8 of .* raise the capacity"),
        (lambda: Priorities()(Problem([[1]], [7], limits=[0.5]), [1]), "limited to 0.5 tasks"),
        (lambda: MaxWeight()(Cluster([[1]], [[2], [2]]), [1]), "is a cluster"),
        (lambda: MaxWeight()(Problem(np.eye(8), [9] * 8), [1] * 8), "has more than 50,000 configurations"),
        (lambda: Priorities("wide"), "order must be 'most', 'least' or a list"),
        (lambda: Priorities(["a", "a"]), "each once"),
        (lambda: Priorities(["narrow"])(TWO, [1, 1]), "order must list the classes narrow, wide; got narrow"),
        (lambda: Priorities(preemptive="no"), "preemptive"),
        (lambda: Priorities(preemptive=False)(TWO, [1, 1]), "depends on who runs already"),
        (lambda: stationary(System(TWO, FEW, sizes=Erlang(2)), MaxWeight()), "needs exponential sizes"),
        (lambda: simulate(System(TWO, FEW, sizes=Erlang(2)), MaxWeight()), "needs exponential sizes"),
        (lambda: is_stable(System(TWO, FEW, sizes=Erlang(2)), MaxWeight()), "needs exponential sizes"),
        (lambda: stationary(System(TWO, FEW), Priorities(preemptive=False)), "simulate"),
        (lambda: tagged_duration(System(TWO, FEW), MaxWeight(), 0), r"jobs run whole.*MaxWeight\(\), quant"),
        (lambda: simulate(System(TWO, FEW), MaxWeight(), order="ps", jobs=99), "order 'ps' shares tasks"),
        (lambda: is_stable(System(TWO, FEW), Priorities(preemptive=False)), "no finite front"),
        (
            lambda: is_stable(System(Problem([[1], [2]], [2_000_000]), [1, 1]), Priorities("least")),
            "if at most 1,000,000 jobs of the first fit",
        ),
        (
            lambda: is_stable(System(Problem([[1], [2], [3]], [4]), [0.1] * 3), Priorities()),
            "known for one or two classes",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_says_why(call, message):
    with pytest.raises(ModelError, match=message):
        call()
