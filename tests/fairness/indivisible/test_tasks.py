"""Whole tasks on one pool and on clusters, against direct readings of the rules and against the proofs."""

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import DRF, Cluster, ModelError, Problem, allocate
from fairness.indivisible import (
    BestRank,
    DominantShare,
    LowestShare,
    ResidualShare,
    SequentialMinMax,
    TaskShare,
    VirtualShare,
    deviation,
    fill_cluster,
    fill_tasks,
    repeat_filling,
)
from fairness.indivisible.cluster import SERVER_RULES
from fairness.testing import random_cluster

POOL_RULES = [
    LowestShare(),
    LowestShare("skip"),
    SequentialMinMax(),
    *(BestRank(stop, kind) for stop in ("first misfit", "skip") for kind in ("blocking", "fullest", "all")),
]


def random_pool(rng, *, positive=False, plain=False):
    """Small integers, so that ties abound; zeros, weights, limits and fractions unless excluded."""
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    demands = rng.integers(1 if positive else 0, 5, (n, m))
    demands[~demands.any(axis=1), 0] = 1
    capacities = rng.integers(4, 25, m) if positive else rng.integers(0, 25, m)
    if rng.random() < 0.3:
        demands = np.array([[F(int(v), 3) for v in row] for row in demands])
    weights = None if plain or rng.random() < 0.5 else rng.integers(1, 4, n)
    limits = None if plain or rng.random() < 0.5 else rng.choice([1, 2.5, 4, np.inf], n)
    return Problem(demands, capacities, weights=weights, limits=limits)


def direct(problem, rule, counts, ties):
    """The rules of fairness.indivisible.rules, word by word, without heaps or integers."""
    demands, capacities = map(np.array, problem.as_fractions())
    weights = [F(x) * F(w) for x, w in zip(counts.tolist(), problem.weights.tolist(), strict=True)]
    most = [
        math.inf if math.isinf(cap) else math.floor(F(x) * F(cap))
        for x, cap in zip(counts.tolist(), problem.limits.tolist(), strict=True)
    ]
    tasks, order = np.zeros(problem.n_classes, dtype=object), []
    present = [i for i in range(problem.n_classes) if counts[i] > 0 and not problem.blocked[i]]
    wanted = [j for j in range(problem.n_resources) if any(demands[i, j] > 0 for i in present)]

    def short(i):
        return [j for j in wanted if demands[i, j] > 0 and (tasks @ demands + demands[i] > capacities)[j]]

    def share(i, j, k):
        return k * demands[i, j] / capacities[j] / weights[i]

    while waiting := [i for i in present if tasks[i] < most[i]]:
        if isinstance(rule, BestRank):
            full = {j: (tasks @ demands)[j] / capacities[j] for j in wanted}
            narrow = {
                "all": wanted,
                "fullest": [j for j in wanted if full[j] == max(full.values())],
                "blocking": sorted({j for i in waiting for j in short(i)}) or wanted,
            }[rule.bottlenecks]
            held = {(i, j): share(i, j, tasks[i]) for i in present for j in narrow}
            score = {
                i: -min(1 + sum(counts[k] for k in present if held[k, j] > held[i, j]) for j in narrow)
                for i in waiting
            }
        else:
            ahead = isinstance(rule, SequentialMinMax)
            score = {i: max([share(i, j, tasks[i] + ahead) for j in wanted], default=0) for i in waiting}
        if rule.stop == "skip":
            score = {i: value for i, value in score.items() if not short(i)}
            if not score:
                break
        chosen = min((i for i in score if score[i] == min(score.values())), key=list(ties).index)
        if short(chosen):
            return tasks.tolist(), order, chosen
        tasks[chosen] += 1
        order.append(chosen)
    return tasks.tolist(), order, None


@pytest.mark.parametrize("rule", POOL_RULES, ids=repr)
def test_filling_follows_the_rule(rule):
    rng = np.random.default_rng(1)
    for _ in range(120):
        problem = random_pool(rng)
        counts = rng.choice([0, 1, 1, 2, 0.5], problem.n_classes)
        ties = rng.permutation(problem.n_classes)
        filling = fill_tasks(problem, rule, counts, ties=ties.tolist())
        tasks, order, stopper = direct(problem, rule, counts, ties)
        assert (filling.tasks.tolist(), list(filling.order), filling.stopper) == (tasks, order, stopper)
        assert filling.is_exact
        assert filling.certificate.residual == 0


@pytest.mark.parametrize("rule", POOL_RULES, ids=repr)
def test_floats_do_not_spoil_ties_and_fits(rule):
    # 0.1 * k and 0.3 are not exact: counted naively, tasks that just fit would not, and ties would break.
    rng = np.random.default_rng(2)
    for _ in range(60):
        problem = random_pool(rng)
        unit = rng.choice([0.1, 0.7, 1e-9, 3e8], problem.n_resources)
        inexact = Problem(
            problem.demands * unit, problem.capacities * unit, weights=problem.weights, limits=problem.limits
        )
        one, other = fill_tasks(problem, rule), fill_tasks(inexact, rule)
        assert one.is_exact
        assert not other.is_exact
        assert one.order == other.order
        np.testing.assert_allclose(one.dominant_shares.astype(float), other.dominant_shares, rtol=1e-12)
        # A task may exceed what is free by the documented 1e-12 of the capacity.
        assert other.certificate.residual <= 2e-12


def test_gap_of_each_pair_is_at_most_one_task_of_the_richer_and_attained():
    rng = np.random.default_rng(3)
    largest = F(0)
    for _ in range(1000):
        filling = fill_tasks(random_pool(rng))
        share, one = filling.dominant_shares, filling.one_task_levels
        rich, poor = one > 0, (one > 0) & ~filling.at_limit
        gaps = share[rich, None] - share[poor]
        assert (gaps <= one[rich, None]).all()
        assert filling.largest_gap == max(gaps.max(initial=F(0)), 0)
        if rich.any():
            largest = max(largest, filling.largest_gap / filling.gap_bound)
    assert largest == 1


def test_going_on_after_a_misfit_widens_the_gap():
    # Resource 2 is full when classes 1 and 2 have four tasks each; class 3 goes on alone.
    pool = Problem([[1, 2], [0, 2], [1, 0]], [16, 16])
    filling = fill_tasks(pool, LowestShare("skip"))
    assert filling.tasks.tolist() == [4, 4, 12]
    assert filling.largest_gap == F(1, 4) > filling.gap_bound == F(1, 8)
    stopped = fill_tasks(pool)
    assert stopped.tasks.tolist() == [4, 4, 8]
    assert stopped.largest_gap == 0


def test_one_pool_is_within_one_task_of_the_continuous_shares():
    """s* - delta < s_i <= s* + delta_i, where all continuous shares are equal."""
    rng = np.random.default_rng(5)
    for _ in range(400):
        problem = random_pool(rng, positive=True)
        problem = problem.replaced(limits=np.full(problem.n_classes, np.inf))
        filling = fill_tasks(problem)
        found = deviation(filling)
        assert len(set(found.continuous)) == 1
        assert (found.shares - found.continuous <= filling.one_task_levels).all()
        assert found.below < found.one_task


def test_continuous_shares_agree_with_the_drf_solver():
    rng = np.random.default_rng(6)
    for _ in range(200):
        problem = random_pool(rng)
        counts = rng.choice([0.0, 1.0, 2.0], problem.n_classes)
        # Whole-task filling rounds limits down; compare where they are whole.
        whole = problem.replaced(limits=np.where(problem.limits == 2.5, 3.0, problem.limits))
        exact = deviation(fill_tasks(whole, counts=counts)).continuous.astype(float)
        np.testing.assert_allclose(
            exact, allocate(whole, DRF(), counts).dominant_shares, rtol=1e-12, atol=1e-15
        )


def random_machines(rng):
    """K equal machines that can hold one max-task, for classes with positive demands."""
    demands = rng.integers(1, 6, (int(rng.integers(1, 5)), int(rng.integers(1, 4))))
    machine = demands.max(axis=0) + rng.integers(0, 8, demands.shape[1])
    weights = rng.integers(1, 4, len(demands)) if rng.random() < 0.5 else None
    return Cluster(demands, [machine] * int(rng.integers(1, 6)), weights=weights)


@pytest.mark.parametrize("server_rule", ["first fit", "best fit", "random fit"])
def test_machines_are_within_one_max_task_between_users_and_above(server_rule):
    rng = np.random.default_rng(7)
    ratio, short = F(0), F(0)
    for _ in range(150):
        cluster = random_machines(rng)
        filling = fill_cluster(cluster, server_rule=server_rule, stop="first misfit", rng=rng)
        found = deviation(filling)
        assert found.holds_max_task
        assert found.gap <= found.one_task
        assert found.above <= found.one_task
        ratio, short = max(ratio, found.gap / found.one_task), max(short, found.below / found.one_task)
        if cluster.n_servers == 1:
            assert found.below < found.one_task
        assert filling.certificate.residual == 0
    assert ratio == 1
    # Fragmentation: the third reading of the statement fails on several machines.
    assert short > 1


def test_what_stands_outside_the_filling():
    problem = Problem([[1, 0], [0, 0], [1, 1], [2, 0]], [4, 0], limits=[np.inf, 7, np.inf, 1])
    filling = fill_tasks(problem)
    # Class 2 demands nothing, class 3 needs what does not exist, class 4 reaches its limit.
    assert filling.tasks.tolist() == [2, 7, 0, 1]
    assert filling.order == (0, 3, 0)
    assert filling.stopped_by == (("resource 1",), (), ("resource 1", "resource 2"), ("resource 1",))
    assert filling.at_limit.tolist() == [False, True, True, True]
    assert fill_tasks(problem, counts=[0, 0, 0, 0]).tasks.tolist() == [0, 0, 0, 0]
    assert fill_tasks(problem, BestRank(), counts=[0, 0, 1, 0]).tasks.tolist() == [0, 0, 0, 0]
    assert fill_tasks(Problem([[3]], [2])).stopper == 0
    frame = filling.to_dataframe()
    assert frame["stopped_by"].tolist()[1] == "limit"
    assert "order: class 1, class 4, class 1" in filling.summary()


def test_holdings_count_in_usage_and_shares():
    pool = Problem([[1, 4], [3, 1]], [9, 18])
    filling = fill_tasks(pool, holdings=[[0, 8], [0, 0]])
    # Class 1 starts at 8/18, so class 2 comes first.
    assert filling.order[0] == 1
    assert filling.usage.tolist() == [sum(filling.tasks * [1, 3]), 8 + sum(filling.tasks * [4, 1])]
    assert filling.dominant_shares[0] == F(8 + 4 * int(filling.tasks[0]), 18)
    over = fill_tasks(pool, holdings=[[0, 10], [0, 9]])
    assert over.overcommitted == ("resource 2",)
    assert over.tasks.tolist() == [0, 0]
    assert over.certificate.residual == pytest.approx(1 / 18)
    assert not fill_tasks(pool, holdings=[[0, 0.5], [0, 0]]).is_exact


def test_random_ties_are_even_and_reproducible():
    pool = Problem([[1], [1], [1]], [1])
    rng = np.random.default_rng(9)
    wins = sum(fill_tasks(pool, ties="random", rng=rng).tasks for _ in range(3000))
    # Each count is binomial(3000, 1/3), standard deviation 25.8: five of them err once in 1.7e6.
    assert (np.abs(wins - 1000) < 5 * 25.9).all()
    big = Problem([[1, 2], [2, 1], [1, 1]], [30, 30])
    for rule in POOL_RULES:
        one, other = (fill_tasks(big, rule, ties="random", rng=4) for _ in range(2))
        assert one.order == other.order


def test_huge_and_tiny_units():
    for scale in (10**40, F(1, 10**40)):
        pool = Problem([[1 * scale, 4], [3 * scale, 1]], [9 * scale, 18])
        assert fill_tasks(pool, ties=[1, 0]).order == (1, 0, 0, 1, 0)


def test_exact_models_have_no_margin_and_float_models_do():
    assert fill_tasks(Problem([[10**13 + 1]], [10**13])).tasks.tolist() == [0]
    assert fill_tasks(Problem([[1e13 + 1]], [1e13])).tasks.tolist() == [1]


def test_a_tiny_task_within_the_margin_of_a_full_server():
    # Nothing is free when the large task runs; the small ones fit within 1e-12 of the capacity.
    cluster = Cluster([[1.0], [1e-12]], [[1.0]], weights=[2, 1])
    filling = fill_cluster(cluster, ResidualShare(), server_rule="joint")
    assert filling.tasks.tolist() == [1, 1]
    assert filling.certificate.residual <= 2e-12


def test_best_fit_takes_the_first_of_equally_good_servers():
    # Both servers offer resources as 5 to 7, but in floats the second seems to fit better.
    cluster = Cluster([[0.7000000000000001, 0.1]], [[13.5, 18.900000000000002], [1.5, 2.1]])
    assert fill_cluster(cluster, server_rule="best fit").order[0] == (0, 0)


def test_certificates_refuse_a_filling_that_stopped_too_early():
    pool = fill_tasks(Problem([[1]], [2]), LowestShare("skip"))
    assert pool.certificate.residual == 0
    idle = replace(pool, tasks=np.array([1]), stopped_by=((),))
    assert idle.certificate.residual == math.inf
    placed = fill_cluster(Cluster([[1]], [[2]]))
    assert placed.certificate.residual == 0
    idle = replace(placed, placement=np.array([[1]]), stopped_by={(0, 0): ()})
    assert idle.certificate.residual == math.inf
    stopped = fill_cluster(Cluster([[1], [1]], [[4]]), server_rule="first fit", stop="first misfit")
    assert stopped.certificate.residual == 0
    # A gap of four tasks, three too many.
    assert replace(stopped, placement=np.array([[4], [0]])).certificate.residual == 3


def test_ranks_count_jobs_and_not_classes():
    # After three tasks class 4 is behind the five jobs of class 3, class 2 behind fewer.
    pool = Problem([[3, 0, 0], [1, 0, 2], [2, 3, 0], [1, 1, 3]], [8, 4, 5])
    filling = fill_tasks(pool, BestRank("skip", "fullest"), counts=[1, 1, 5, 1])
    assert filling.tasks.tolist() == [1, 1, 1, 1]
    assert fill_tasks(pool, BestRank("skip", "fullest")).tasks.tolist() == [1, 2, 1, 0]


POOL, SERVER = Problem([[1, 4], [3, 1]], [9, 18]), Cluster([[1]], [[1]])


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (fill_tasks, (POOL, "drf"), "rule must be LowestShare"),
        (fill_tasks, (POOL, LowestShare(factors=[1])), "factors has 1 entries"),
        (fill_tasks, (POOL, None, [1]), "counts"),
        (fill_tasks, (SERVER,), "needs a Problem"),
        (LowestShare, ("never",), "stop must be one of"),
        (LowestShare, ("skip", [-1]), "factors must be finite"),
        (LowestShare, ("skip", [1, "high"]), "factors must be finite and >= 0; got 'high' at index 1"),
        (LowestShare, ("skip", 3), "factors must list one number per class; got 3"),
        (BestRank, ("skip", "some"), "bottlenecks must be one of"),
        (fill_cluster, (POOL,), "needs a Cluster"),
        (fill_cluster, (SERVER, LowestShare()), "rule must be DominantShare"),
        (deviation, (fill_tasks(Problem([[1]], [2]), holdings=[[1]]),), "started from holdings"),
    ],
)
def test_bad_rules_and_models(call, arguments, message):
    with pytest.raises(ModelError, match=message):
        call(*arguments)


@pytest.mark.parametrize(
    ("call", "options", "message"),
    [
        (fill_tasks, {"ties": "last"}, "ties must be 'first', 'random'"),
        (fill_tasks, {"ties": [0, 0]}, "ties must list each class number 0..1 once"),
        (fill_tasks, {"ties": [0.5, 1.5]}, "ties must list each class number 0..1 once"),
        (fill_tasks, {"ties": ["A", "B"]}, "ties must list each class number 0..1 once"),
        (fill_tasks, {"ties": None}, "ties must list each class number 0..1 once; got None"),
        (fill_tasks, {"holdings": [[1, 2]]}, "holdings must have shape"),
        (fill_tasks, {"holdings": [[1, 2], [-1, 0]]}, "holdings must be finite and >= 0"),
        (fill_cluster, {"server_rule": "worst fit"}, "server_rule must be one of"),
        (fill_cluster, {"rule": VirtualShare(), "server_rule": "best fit"}, "cannot choose the class first"),
        (fill_cluster, {"stop": "first misfit"}, "chooses the class first"),
        (repeat_filling, {"runs": 1}, "runs must be a whole number from 2 .* got 1"),
        (repeat_filling, {"runs": 2.5}, "runs must be a whole number from 2 .* got 2.5"),
        (repeat_filling, {"runs": "3"}, "runs must be a whole number from 2 .* got '3'"),
    ],
)
def test_bad_options(call, options, message):
    with pytest.raises(ModelError, match=message):
        call(POOL if call is fill_tasks else SERVER, **options)


def random_servers(rng):
    """Integers with zeros; placement constraints, weights and effective capacities now and then."""
    options = dict(zip(("weighted", "constrained"), rng.random(2) < 0.5, strict=True))
    drawn = random_cluster(rng, *rng.integers(1, 5, 3), kind="integer", **options)
    capacities = drawn.capacities.astype(int) * rng.integers(1, 3, drawn.capacities.shape)
    cluster = drawn.replaced(demands=drawn.demands.astype(int), capacities=capacities)
    if rng.random() < 0.3:
        gamma = np.array(cluster.as_fractions()[2]) * rng.choice([F(1, 2), 1, F(3, 2)], cluster.gamma.shape)
        cluster = cluster.replaced(gamma=gamma, eligible=None)
    return cluster


def direct_cluster(cluster, rule, counts, server_rule, stop, ties, rng):
    """The rules of fairness.indivisible.cluster, word by word."""
    demands, capacities, gamma = map(np.array, cluster.as_fractions())
    lifted = cluster.replaced(eligible=None).as_fractions()[2]
    weight = [F(x) * F(w) for x, w in zip(counts.tolist(), cluster.weights.tolist(), strict=True)]
    total, free = capacities.sum(axis=0), capacities.copy()
    placed = np.zeros(gamma.shape, dtype=int)
    order = []

    def need(k, i):
        wanted = demands[k] > 0
        return demands[k] * min(capacities[i, wanted] / demands[k, wanted]) / gamma[k, i]

    def fits(k, i):
        return counts[k] > 0 and gamma[k, i] > 0 and (need(k, i) <= free[i]).all()

    def level(k, i):
        wanted = demands[k] > 0
        if isinstance(rule, DominantShare):
            share = max(demands[k, wanted] / total[wanted])
        elif isinstance(rule, TaskShare):
            share = 1 / sum(lifted[k])
        elif isinstance(rule, VirtualShare):
            share = 1 / gamma[k, i]
        else:
            share = max(need(k, i)[wanted] / free[i, wanted])
        return int(placed[k].sum()) * share / weight[k]

    def start(k, i):
        placed[k, i] += 1
        order.append((k, i))
        free[i] -= need(k, i)

    if server_rule == "rrr":
        alive = list(range(cluster.n_servers))
        while alive:
            for i in rng.permutation(alive).tolist():
                able = [k for k in ties if fits(k, i)]
                if able:
                    start(min(able, key=lambda k: level(k, i)), i)
                else:
                    alive.remove(i)
        return order
    if server_rule == "joint":
        while pairs := [(k, i) for k in ties for i in range(cluster.n_servers) if fits(k, i)]:
            start(*min(pairs, key=lambda pair: level(*pair)))
        return order
    asked = [k for k in ties if counts[k] > 0]
    there = total > 0
    while asked:
        k = min(asked, key=lambda k: level(k, 0))
        room = [i for i in range(cluster.n_servers) if fits(k, i)]
        if not room:
            if stop == "first misfit":
                return order
            asked.remove(k)
        elif server_rule == "first fit":
            start(k, room[0])
        elif server_rule == "random fit":
            start(k, room[int(rng.integers(len(room)))])
        else:
            wish, *offers = ((row[there] / total[there]).astype(float) for row in (demands[k], *free[room]))
            distance = [np.abs(wish / wish.sum() - offer / offer.sum()).sum() for offer in offers]
            start(k, room[int(np.flatnonzero(np.array(distance) <= min(distance) + 1e-12)[0])])
    return order


CLUSTER_CASES = [
    (rule, server_rule, stop)
    for rule in (DominantShare(), TaskShare(), VirtualShare(), ResidualShare())
    for server_rule in SERVER_RULES
    for stop in ("skip", "first misfit")
    if not (server_rule in ("rrr", "joint") and stop == "first misfit")
    and not (rule.per_server and server_rule.endswith("fit"))
]


@pytest.mark.long
@pytest.mark.parametrize(("rule", "server_rule", "stop"), CLUSTER_CASES)
def test_cluster_filling_follows_the_rule(rule, server_rule, stop):
    rng = np.random.default_rng(10)
    for seed in range(25):
        cluster = random_servers(rng)
        counts = rng.choice([0, 1, 1, 2], cluster.n_classes).astype(float)
        ties = rng.permutation(cluster.n_classes).tolist()
        options = {"server_rule": server_rule, "stop": stop, "ties": ties}
        filling = fill_cluster(cluster, rule, counts, **options, rng=seed)
        expected = direct_cluster(cluster, rule, counts, server_rule, stop, ties, np.random.default_rng(seed))
        assert list(filling.order) == expected
        assert filling.is_exact
        assert filling.certificate.residual == 0
        assert filling.placement.sum() == len(filling.order) == filling.total
        demands, capacities, _ = map(np.array, cluster.as_fractions())
        there, present = capacities.sum(axis=0) > 0, counts > 0
        one_task = (demands[:, there] / capacities.sum(axis=0)[there]).max(axis=1)
        units = (counts * cluster.weights).astype(int).astype(object)
        shares = (filling.tasks * one_task)[present] / units[present]
        assert filling.dominant_shares[present].tolist() == shares.tolist()
        assert filling.largest_gap == (shares.max() - shares.min() if present.any() else 0)
        # Not a power of 2, so that nothing is exact, but the same for all: best fit compares resources.
        inexact = cluster.replaced(demands=cluster.demands * 0.7, capacities=cluster.capacities * 0.7)
        other = fill_cluster(inexact, rule, counts, **options, rng=seed)
        assert other.order == filling.order
        assert not other.is_exact
        # As on one pool: 1e-12 of the capacity.
        assert other.certificate.residual <= 2e-12


def test_random_ties_on_clusters():
    cluster = Cluster([[1], [1]], [[1], [1]])
    for kind, firsts in (
        ("joint", {(0, 0), (0, 1), (1, 0), (1, 1)}),
        ("best fit", {(0, 0), (0, 1), (1, 0), (1, 1)}),
        ("random fit", {(0, 0), (0, 1), (1, 0), (1, 1)}),
        ("first fit", {(0, 0), (1, 0)}),
        ("rrr", {(0, 0), (0, 1), (1, 0), (1, 1)}),
    ):
        orders = [fill_cluster(cluster, server_rule=kind, ties="random", rng=k).order for k in range(60)]
        # One of four equally likely is missed by 60 draws once in 8e6.
        assert {order[0] for order in orders} == firsts
    again = [fill_cluster(cluster, rng=5, ties="random").order for _ in range(2)]
    assert again[0] == again[1]


def test_long_names_do_not_run_together():
    classes, servers = ["a batch of long jobs", "web"], ["the machine in the cellar", "attic"]
    cluster = Cluster([[5, 1], [1, 5]], [[100, 30], [30, 100]], job_classes=classes, servers=servers)
    pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=classes)
    runs = repeat_filling(cluster, runs=2, rng=1)
    for result in (fill_tasks(pool), fill_cluster(cluster, rng=1), runs):
        head, *rows = repr(result).splitlines()[1:4]
        assert [row.startswith(f"  {name}  ") for row, name in zip(rows, classes, strict=True)] == [True] * 2
        assert "  class  " in head
    for result in (fill_cluster(cluster, rng=1), runs):
        head, *rows = repr(result).splitlines()[1:4]
        assert "  the machine in the cellar  " in head
        assert {len(row) for row in rows} == {len(head)}


def test_runs_report_mean_and_deviation():
    cluster = Cluster([[5, 1], [1, 5]], [[100, 30], [30, 100]], servers=["s", "t"])
    runs = repeat_filling(cluster, runs=10, rng=1)
    assert runs.placements.shape == (10, 2, 2)
    np.testing.assert_allclose(runs.mean, runs.placements.sum(axis=0) / 10)
    assert runs.totals.tolist() == [p.sum() for p in runs.placements]
    assert (runs.placements == repeat_filling(cluster, runs=10, rng=1).placements).all()
    assert len({p.tobytes() for p in runs.placements}) > 1
    assert runs.to_dataframe().loc[("class 1", "t"), "std"] == pytest.approx(runs.std[0, 1])
    assert "10 runs" in repr(runs)
    frame = fill_cluster(cluster, rng=1).to_dataframe()
    assert frame["tasks"].tolist() == (frame["tasks on s"] + frame["tasks on t"]).tolist()


def test_limits_bound_whole_tasks_and_the_claim_says_so():
    filled = fill_tasks(Problem([[1], [1]], [100], limits=[1, np.inf]))
    assert filled.tasks.tolist() == [1, 99]
    assert "none below its limit is poorer" in str(filled.certificate)
    assert filled.to_dataframe().stopped_by.tolist() == ["limit", "resource 1"]
    # Limits are floats: ten times .7 are seven, three times 1/3 one.
    assert fill_tasks(Problem([[1]], [100], limits=[0.7]), counts=[10]).tasks.tolist() == [7]
    assert fill_tasks(Problem([[F(1)]], [100], limits=[1 / 3]), counts=[3]).tasks.tolist() == [1]
    assert fill_tasks(Problem([[1]], [100], limits=[0.7 - 1e-9]), counts=[10]).tasks.tolist() == [6]
    with pytest.raises(ModelError, match="limits let a class without demand run more"):
        fill_tasks(Problem([[0], [1]], [10], limits=[1e30, np.inf]))
