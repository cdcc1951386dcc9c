from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from fairness import Problem
from fairness.errors import UnstableError
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.plan import balanced_plan
from queueing.model.system import System
from tests.queueing.balanced.test_balanced_groups import check_moments

EXACT = 1e-12  # closed forms: some hundred roundings
BOX = 1e-9  # against boxes of tail 1e-14, whose second moments miss up to that times counts squared


def network(capacities, routes, loads, scale=None):
    """One class per route; a task takes the same amount of every link of its route."""
    demands = np.zeros((len(routes), len(capacities)))
    scale = np.ones(len(routes)) if scale is None else np.array(scale, dtype=float)
    for i, route in enumerate(routes):
        demands[i, list(route)] = scale[i]
    return System(Problem(demands, capacities), np.array(loads) / scale)


def agree(system, method):
    """Closed form and recursion on a box of all counts agree."""
    law, box = balanced_fairness(system), balanced_fairness(system, tail=1e-14, distribution=True)
    assert law.methods == (method,)
    assert law.tail_mass == 0
    assert law.mean_jobs == pytest.approx(box.mean_jobs, rel=BOX)
    assert law.variances == pytest.approx(box.variances, rel=BOX)
    assert law.covariance == pytest.approx(box.covariance, rel=BOX, abs=BOX)
    assert law.empty_probability == pytest.approx(box.empty_probability, rel=1e-11)
    for one, other in zip(law.marginals, box.marginals, strict=True):
        size = min(len(one), len(other))
        # Marginals of trees have an absolute error of some 1e-15, those of the box of its tail.
        assert one[:size] == pytest.approx(other[:size], abs=2e-13)
        assert one.sum() == pytest.approx(1, abs=1e-11)


def test_multiclass_processor_sharing():
    b = np.array([0.3, 0.2, 0.45])
    law = balanced_fairness(System(Problem([[2], [1], [3]], [4]), b * 4 / [2, 1, 3]))
    r = b.sum()
    assert law.methods == ("closed form",)
    assert law.mean_jobs == pytest.approx(b / (1 - r), rel=EXACT)
    # Each count is geometric with ratio b/(1 - r + b).
    q = b / (1 - r + b)
    assert law.variances == pytest.approx(q / (1 - q) ** 2, rel=EXACT)
    assert law.covariance[0, 1] == pytest.approx(b[0] * b[1] / (1 - r) ** 2, rel=EXACT)
    for marginal, ratio in zip(law.marginals, q, strict=True):
        k = np.arange(200)
        assert marginal[:200] == pytest.approx((1 - ratio) * ratio**k, rel=1e-11, abs=1e-28)
    check_moments(law, 40_000, 1)
    near = balanced_fairness(System(Problem([[1]], [1]), [1 - 1e-9]))
    assert near.mean_jobs == pytest.approx(1e9, rel=1e-6)  # an ulp of the load is 1e-7 of the free share
    for load in (1e-17, 1e-300):
        assert balanced_fairness(System(Problem([[1]], [1]), [load])).mean_jobs == pytest.approx(
            load, rel=EXACT
        )


@pytest.mark.parametrize("load", [3.3, 0.4, 4.99])
def test_limits_give_the_erlang_delay_system(load):
    # Five units, one per job: M/M/5, here as two classes.
    law = balanced_fairness(System(Problem([[1], [1]], [5], limits=[1, 1]), [load / 3, 2 * load / 3]))
    weights = [load**k / math.factorial(k) for k in range(5)]
    last, r = load**5 / math.factorial(5), load / 5
    total = sum(weights) + last / (1 - r)
    assert law.empty_probability == pytest.approx(1 / total, rel=EXACT)
    waiting = last / (1 - r) / total * r / (1 - r)
    assert law.mean_jobs.sum() == pytest.approx(load + waiting, rel=EXACT)
    k = np.arange(5, 20_000)
    second = sum(i * i * w for i, w in enumerate(weights)) + last * (k * k * r ** (k - 5.0)).sum()
    mean = law.mean_jobs.sum()
    assert law.covariance.sum() == pytest.approx(second / total - mean**2, rel=1e-9)
    check_moments(law, 40_000, 2)


def test_a_capacity_between_two_multiples_of_a_limit():
    # Ratios max(q, c/k) of successive probabilities: 1.5, 0.75 and then 0.6, for a capacity of 2.5 units.
    law = balanced_fairness(System(Problem([[1]], [2.5], limits=[1]), [1.5]))
    weights = np.array([1, 1.5, 1.5 * 0.75])
    rest = weights[-1] * 0.6 ** np.arange(1, 200)
    expected = np.append(weights, rest) / (weights.sum() + rest.sum())
    assert law.marginals[0][:40] == pytest.approx(expected[:40], rel=1e-11)


def test_no_resource_gives_independent_poisson():
    law = balanced_fairness(System(Problem([[0], [0]], [1], limits=[2, 4]), [6, 2]))
    assert law.mean_jobs == pytest.approx([3, 0.5], rel=EXACT)
    assert law.covariance == pytest.approx(np.diag([3, 0.5]), abs=1e-12)
    assert law.marginals[0][:30] == pytest.approx(stats.poisson.pmf(np.arange(30), 3), rel=1e-11)
    check_moments(law, 40_000, 3)


@pytest.mark.parametrize("loads", [(0.2, 0.3, 0.5), (0.3, 0.1, 0.4, 0.2)])
def test_linear_network(loads):
    links = len(loads) - 1
    routes = [tuple(range(links)), *((k,) for k in range(links))]
    system = network(np.ones(links), routes, loads, scale=[1, 3, 2, 1][: links + 1])
    agree(system, "linear network")
    law = balanced_fairness(system)
    long, short = loads[0], np.array(loads[1:])
    free = 1 - long - short
    expected = [long * ((1 / free).sum() - (links - 1) / (1 - long)), *(short / free)]
    assert law.mean_jobs == pytest.approx(expected, rel=EXACT)
    check_moments(law, 40_000, 4)
    # Bonald and Massoulie 2001: Phi(x) = binomial(|x|, x_0), on a box where all are present.
    box = balanced_fairness(network(np.ones(links), routes, loads), shape=12, distribution=True)
    for x in itertools.product((1, 4, 11), repeat=len(loads)):
        exact = math.comb(sum(x), x[0]) * math.prod(r**k for r, k in zip(loads, x, strict=True))
        assert box.distribution[x] / box.empty_probability == pytest.approx(exact, rel=EXACT)


@pytest.mark.parametrize(
    ("capacities", "routes", "loads"),
    [
        ([1.0, 0.6, 0.7], [(0, 1), (0, 2)], [0.3, 0.3]),  # two access links and a trunk
        ([1.0, 0.4, 0.5], [(0, 1), (0, 2)], [0.3, 0.3]),  # the trunk never binds
        ([1.0, 0.5, 0.5], [(0, 1), (0, 2)], [0.3, 0.2]),  # a tie
        ([1.0, 0.6, 0.7], [(0, 1), (0, 2), (0,)], [0.2, 0.2, 0.1]),
        ([1.0, 0.6, 0.3], [(0,), (0, 1), (0, 1, 2)], [0.2, 0.1, 0.1]),  # parking lot
        ([5.0, 3.0, 2.0, 1.5], [(0, 1), (0, 1, 2), (0, 3)], [0.7, 0.4, 0.5]),
        ([1.0, 0.35, 0.4, 0.45], [(0, 1), (0, 2), (0, 3)], [0.1, 0.15, 0.1]),
    ],
)
def test_trees(capacities, routes, loads):
    if capacities == [1.0, 0.4, 0.5]:
        law = balanced_fairness(network(capacities, routes, loads))
        r = np.array(loads) / [0.4, 0.5]
        assert law.mean_jobs == pytest.approx(r / (1 - r), rel=EXACT)
        assert law.covariance[0, 1] == pytest.approx(0, abs=1e-13)
    system = network(capacities, routes, loads, scale=[1, 3, 0.5][: len(routes)])
    agree(system, "tree")
    check_moments(balanced_fairness(system), 20_000, 6)


def test_two_branches_by_hand():
    # c, d < 1 < c + d: G is the sum over empty, one branch busy, and all full states.
    a, b, c, d = 0.25, 0.35, 0.6, 0.7
    one, two = a / (c - a), b / (d - b)
    both = (a * two + b * one) / (1 - a - b)
    law = balanced_fairness(network([1, c, d], [(0, 1), (0, 2)], [a, b]))
    assert law.empty_probability == pytest.approx(1 / (1 + one + two + both), rel=EXACT)


def test_trees_with_too_many_values_are_refused_at_once():
    # Two racks of 13 links whose sums are all different: 2^26 pairs are not formed.
    n, rng = 26, np.random.default_rng(0)
    routes = [(0, 1 + (i >= 13), 3 + i) for i in range(n)]
    system = network([1.0, 0.7, 0.7, *rng.uniform(0.03, 0.1, n)], routes, np.full(n, 0.01))
    assert balanced_plan(system).steps[0].method != "tree"


@pytest.mark.long
def test_many_access_links():
    # Forty links of 0.1 behind a trunk of 1: ten busy ones fill it. Summed over how many
    # links are busy, conservation of work (as much runs as arrives) gives the weight of the full states.
    n, cap, r = 40, 0.1, 0.02
    f = r / (cap - r)
    mass = [math.comb(n, k) * f**k for k in range(10)]
    full = sum((n * r - k * cap) * v for k, v in enumerate(mass)) / (1 - n * r)
    law = balanced_fairness(network([1.0] + [cap] * n, [(0, k + 1) for k in range(n)], [r] * n))
    assert law.methods == ("tree",)
    assert law.empty_probability == pytest.approx(1 / (sum(mass) + full), rel=1e-11)
    assert np.ptp(law.mean_jobs) <= 1e-11 * law.mean_jobs[0]
    check_moments(law, 5_000, 7)


def test_random_trees():
    rng = np.random.default_rng(2)
    for _ in range(6):
        inner, own = rng.uniform(0.3, 0.9), rng.uniform(0.3, 0.9, 3)
        routes = [(0, 1, 2), (0, 1, 3), (0, 4)]
        system = network([1, inner, *own], routes, np.ones(3), scale=rng.uniform(0.5, 2, 3))
        system = System.with_load(system.problem, rng.uniform(0.2, 1, 3), rng.uniform(0.1, 0.6))
        if balanced_fairness(system).methods == ("tree",):
            agree(system, "tree")


def test_nearly_a_tree_is_a_box():
    problem = Problem([[1, 2, 0], [1, 0, 2], [1, 2.1, 0]], [1, 1, 1])
    assert balanced_fairness(System(problem, [0.1, 0.1, 0.1])).methods == ("box",)


def test_a_long_route_with_unequal_shares_is_a_box():
    problem = Problem([[1, 2], [1, 0], [0, 1]], [1, 1])
    assert balanced_fairness(System(problem, [0.1, 0.1, 0.1])).methods == ("box",)


def test_load_of_one_up_to_rounding():
    for demands in ([[1.0]], [[1.0, 1], [1, 0], [0, 1]]):
        loads = [1 - 1e-15, 0, 0][: len(demands)]
        with pytest.raises(UnstableError, match="1 up to rounding"):
            balanced_fairness(System(Problem(demands, np.ones(len(demands[0]))), loads))
