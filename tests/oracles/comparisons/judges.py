"""Cases of enumerations judged again, one by one, and counted: each by another way than the definition's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, max_min, runs, usage
from proofs.definitions.registry import Second, fraction, fractions
from proofs.definitions.second.cloud.rounds import LevelRun, families, level_run, level_tasks
from proofs.definitions.second.cloud.work import dcdrf_operations
from proofs.definitions.second.pools.filling import drf_tasks
from proofs.definitions.second.pools.mechanisms import whole_task_order
from proofs.definitions.second.pools.timed import exchanged
from proofs.definitions.second.queues.drifts import bmf_square_drift

JUDGES: dict[str, Second] = {}


def judge(function: Any = None, *, cases: Callable[..., int] | None = None) -> Any:
    """Keep a function that judges a case, and how many cases there are; decorator."""

    def decorate(function: Any) -> Any:
        JUDGES[function.__name__] = Second(function, cases)
        return function

    return decorate if function is None else decorate(function)


@judge(cases=lambda n, m, largest: ((largest + 1) ** m - 1) ** (n + 1))
def drf_lies(case: Mapping[str, Any], n: int, m: int, largest: int) -> bool:
    """The first user runs no more of its tasks with what the lie brings it."""
    a, said = fractions(case["demands"]), fractions(case["lie"])
    honest, given = drf_tasks(a, [1] * m), drf_tasks([said, *a[1:]], [1] * m)
    return runs(a[0], [given[0] * d for d in said]) <= honest[0]


@judge(
    cases=lambda largest_demand, largest_capacity, poorest=True: (
        (largest_capacity - largest_demand + 1) ** 2 * largest_demand**4
    )
)
def whole_task_gaps(
    case: Mapping[str, Any], largest_demand: int, largest_capacity: int, poorest: bool = True
) -> bool:
    """Shares by merged levels, and their difference beside the larger share of one task."""
    a, c = case["demands"], case["capacities"]
    order = whole_task_order(a, c, poorest=poorest)
    one = [1 / runs(fractions(row), fractions(c)) for row in a]
    held = [order.count(i) * v for i, v in enumerate(one, 1)]
    gap = max(held) - min(held)
    return held == [fraction(h) for h in case["shares"]] and gap <= max(one)


@judge(cases=lambda users, largest: ((largest + 1) ** 2 * 3) ** users)
def exchange_loses_nothing(case: Mapping[str, Any], users: int, largest: int) -> bool:
    """Nobody has less of what it needs than it brought, by swaps along lines."""
    after = exchanged(case["contributions"], case["needs"])
    lost = [
        fraction(brought) - h
        for rows in zip(case["contributions"], case["needs"], after, strict=True)
        for brought, need, h in zip(*rows, strict=True)
        if need
    ]
    return after == fractions(case["after"]) and max(lost) <= 0


@judge
def integer_thresholds(
    case: Mapping[str, Any], demands: Any, capacities: Any, first: int, thresholds: Any, tasks: Any
) -> bool:
    """Merged levels with this k, between the thresholds that the case lies between."""
    k = fraction(case["k"])
    order = whole_task_order(demands, capacities, [1, k], [first, 3 - first])
    got = [order.count(1), order.count(2)]
    piece = max([0, *(n for n, limit in enumerate(thresholds, 1) if fraction(limit) <= k)])
    return got == case["tasks"] == tasks[piece]


def ratio_of_loads(run: LevelRun) -> Fraction:
    """Least over largest sum of growth of a resource that anybody demands."""
    loads = [load for column in zip(*run.growth, strict=True) if (load := sum(column, ZERO))]
    return min(loads) / max(loads)


@judge(cases=lambda n, m, largest, least, weights: families(n, m, largest, weights, least))
def edrf_rounds_of(
    case: Mapping[str, Any], n: int, m: int, largest: int, least: int, weights: Sequence[Any]
) -> bool:
    """All stop at the first level."""
    run = level_run(fractions(case["demands"]), ZERO, case["weights"])
    return set(run.stops) == {run.rounds[0]} and case["rounds"] == 1


@judge(cases=lambda n, m, largest, epsilon, weights: families(n, m, largest, weights))
def edrf_is_dcdrf(
    case: Mapping[str, Any], n: int, m: int, largest: int, epsilon: Any, weights: Sequence[Any]
) -> bool:
    """The levels with this epsilon are those without, and max-min fair."""
    demands, w = fractions(case["demands"]), case["weights"]
    one, two = level_run(demands, ZERO, w), level_run(demands, fraction(epsilon), w)
    return (one.rounds, one.stops) == (two.rounds, two.stops) and two.tasks(demands) == level_tasks(
        demands, w
    )


def _lemma_cases(
    n: int, m: int, largest: int, epsilons: Sequence[Any], weights: Sequence[Any], frozen: bool = False
) -> int:
    return families(n, m, largest, weights) * len(epsilons)


@judge(cases=_lemma_cases)
def dcdrf_lemma_rounds(
    case: Mapping[str, Any],
    n: int,
    m: int,
    largest: int,
    epsilons: Sequence[Any],
    weights: Sequence[Any],
    frozen: bool,
) -> bool:
    """Rounds by levels, and the ratio of the loads."""
    e = fraction(case["epsilon"])
    run = level_run(fractions(case["demands"]), e, case["weights"], frozen)
    t, c = len(run.rounds), ratio_of_loads(run)
    return (t, c) == (case["rounds"], fraction(case["c"])) and (t == 1 or c < (1 - e) ** (t - 1))


@judge(cases=lambda most, epsilon, frozen: most)
def dcdrf_lemma_chain(case: Mapping[str, Any], most: int, epsilon: Any, frozen: bool) -> bool:
    """The same for a chain of tenants."""
    e, m = fraction(epsilon), case["tenants"]
    demands = [[Fraction(4 * (r == k) + (r > k), 4) for r in range(m)] for k in range(m)]
    run = level_run(demands, e, [Fraction(1, 3) ** k for k in range(m)], frozen)
    t, c = len(run.rounds), ratio_of_loads(run)
    return (t, c) == (case["rounds"], fraction(case["c"])) and (t == 1 or c < (1 - e) ** (t - 1))


@judge(cases=_lemma_cases)
def dcdrf_rounds_equal(
    case: Mapping[str, Any], n: int, m: int, largest: int, epsilons: Sequence[Any], weights: Sequence[Any]
) -> bool:
    """Ratios of levels that follow one another, and their number."""
    e = fraction(case["epsilon"])
    rounds = level_run(fractions(case["demands"]), e, case["weights"]).rounds
    steep = all(z / y >= 1 / (1 - e) for y, z in pairwise(rounds))
    return len(rounds) == case["rounds"] and steep and (1 / (1 - e)) ** (len(rounds) - 1) <= n


@judge(cases=lambda most: most)
def dcdrf_rounds_quarter(case: Mapping[str, Any], most: int) -> bool:
    """A load of a quarter leaves three quarters, more than the half: each resource takes a round."""
    m = case["resources"]
    singles = [[ONE * (r == k) for r in range(m)] for k in range(m)]
    run = level_run(singles, Fraction(1, 2), [Fraction(1, 4) ** k for k in range(m)])
    return run.rounds == sorted(set(run.stops)) and len(run.rounds) == m == case["rounds"]


def _unit(w: Mapping[str, int]) -> int:
    return w["N"] * w["B"] + w["I"] * w["N"] + w["I"] * w["R"]


def _spent(w: Mapping[str, int], line_16: str) -> int:
    return 3 * w["entries"] + w["N"] + 2 * w["I"] * w["R"] + w[f"line {line_16}"]


def light(rounds: int, length: int, many: int) -> tuple[Matrix, Fraction, list[Fraction]]:
    """Tenants who end a round each, with halving weights, and many light ones of one vector; epsilon 0."""
    demands, weights = [], []
    for k in range(rounds + many):
        first, last = (k, k + 1) if k < rounds else (rounds, rounds + length)
        demands.append([Fraction(first <= r < last) for r in range(rounds + length)])
        weights.append(Fraction(1, 2) ** k if k < rounds else Fraction(1, many * 2 ** (rounds + 1)))
    return demands, ZERO, weights


def _same(case: Mapping[str, Any], w: Mapping[str, int]) -> bool:
    return all(case[name] == number for name, number in w.items())


@judge(
    cases=lambda n, m, largest, epsilons, line_16, constant: families(n, m, largest, [None]) * len(epsilons)
)
def dcdrf_work(
    case: Mapping[str, Any],
    n: int,
    m: int,
    largest: int,
    epsilons: Sequence[Any],
    line_16: str,
    constant: int,
) -> bool:
    """Operations counted from the levels."""
    w = dcdrf_operations(fractions(case["demands"]), fraction(case["epsilon"]))
    return _same(case, w) and w["I"] <= min(w["N"], w["R"]) and _spent(w, line_16) <= constant * _unit(w)


@judge(cases=lambda most, line_16, constant: most)
def dcdrf_work_light(case: Mapping[str, Any], most: int, line_16: str, constant: int) -> bool:
    """Operations counted from the levels."""
    k = case["rounds"]
    w = dcdrf_operations(*light(k, k, 4 * k))
    return _same(case, w) and _spent(w, line_16) <= constant * _unit(w)


@judge(cases=lambda most: most)
def dcdrf_work_grows(case: Mapping[str, Any], most: int) -> bool:
    """Operations counted from the levels."""
    k = case["k"]
    w = dcdrf_operations(*light(k, k, 4 * k))
    return _same(case, w) and Fraction(w["line 16, per demand"], _unit(w)) >= Fraction(k, 5)


@judge
def bmf_drift(case: Mapping[str, Any], classes: int, load: Any) -> bool:
    """The busiest resource has the load, and the function falls."""
    a, rho, x = fractions(case["shares"]), fractions(case["loads"]), fractions(case["counts"])
    return max(usage(a, rho)) == fraction(load) and bmf_square_drift(a, rho, x) < 0


def _states(families: Any) -> int:
    total = 0
    for n, m, largest, most in families:
        total += ((largest + 1) ** m - 1) ** n * ((most + 1) ** n - 1) * 2 * 2**n
    return total


@lru_cache(maxsize=64)
def _filled(shares: str, rates: str) -> tuple[Fraction, ...]:
    """Tasks by assignments, remembered for the loads that follow."""
    a = [[Fraction(v) for v in row.split()] for row in shares.split(";")]
    r = [Fraction(v) for v in rates.split()]
    some = [i for i, v in enumerate(r) if v]
    found = dict(
        zip(some, max_min([a[i] for i in some], [ONE] * len(a[0]), [r[i] for i in some]), strict=True)
    )
    return tuple(found.get(i, ZERO) for i in range(len(a)))


@judge(cases=_states)
def filling_keeps_up(case: Mapping[str, Any], families: Any) -> bool:
    """Tasks by assignments; tasks over load times the busiest load, beside the part of the maximum."""
    counts, loads = case["counts"], case["loads"]
    rates = [fraction(g) * k for g, k in zip(case["growth"], counts, strict=True)]
    text = ";".join(" ".join(map(str, row)) for row in case["shares"])
    tasks = _filled(text, " ".join(map(str, rates)))
    level = [r / rho for r, rho in zip(rates, loads, strict=True)]
    busiest = max(
        sum(rho * v for rho, v in zip(loads, column, strict=True))
        for column in zip(*case["shares"], strict=True)
    )
    kept = [t * busiest * max(level) - v * rho for t, v, rho in zip(tasks, level, loads, strict=True)]
    return [fraction(t) for t in case["tasks"]] == list(tasks) and min(kept) >= 0
