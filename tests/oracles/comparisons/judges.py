"""Cases of enumerations judged again, one by one, and counted: each by another way than the definition's."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise, permutations, product
from math import comb, prod
from typing import Any

from proofs.definitions.exact import (
    ONE,
    ZERO,
    Matrix,
    Row,
    dot,
    max_min,
    moved,
    powers,
    runs,
    shares_of,
    usage,
    vertices,
)
from proofs.definitions.registry import Second, fraction, fractions
from proofs.definitions.second.cloud.bundles import bundle_outcomes, sequential_minmax
from proofs.definitions.second.cloud.rounds import LevelRun, edrf_tasks, level_run, level_tasks
from proofs.definitions.second.cloud.work import dcdrf_operations
from proofs.definitions.second.pools.filling import is_bottleneck_max
from proofs.definitions.second.pools.mechanisms import whole_task_order
from proofs.definitions.second.pools.timed import exchanged
from proofs.definitions.second.queues.balance import balance, below, frozen, multinomial, series
from proofs.definitions.second.queues.drifts import two_resource_bmf
from proofs.definitions.second.servers.shares import Park, cannot_gain, is_psdsf
from proofs.definitions.second.servers.sweeps import rests
from tests.oracles.comparisons.tasks import drf_tasks

JUDGES: dict[str, Second] = {}


def judge(function: Any = None, *, cases: Callable[..., int] | None = None) -> Any:
    """Keep a function that judges a case, and how many cases there are; decorator."""

    def decorate(function: Any) -> Any:
        JUDGES[function.__name__] = Second(function, cases)
        return function

    return decorate if function is None else decorate(function)


def families(n: int, m: int, largest: int, weights: Sequence[Any], least: int = 0) -> int:
    """Number of multisets of n demands from least to largest, not all 0, times the weights."""
    kinds = (largest - least + 1) ** m - (least == 0)
    return comb(kinds + n - 1, n) * len(weights)


def bmf_square_drift(a: Matrix, rho: Row, x: Row) -> Fraction:
    """Drift of the sum of x^2/(2 rho) of the classes that have jobs."""
    some = [i for i, k in enumerate(x) if k]
    tasks = two_resource_bmf([a[i] for i in some], [x[i] for i in some])
    return sum((x[i] - x[i] * t / rho[i] for i, t in zip(some, tasks, strict=True)), ZERO)


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
    loads = [load for column in zip(*run.rates, strict=True) if (load := sum(column, ZERO))]
    return min(loads) / max(loads)


@judge(cases=lambda n, m, largest, least, weights: families(n, m, largest, weights, least))
def edrf_rounds_of(
    case: Mapping[str, Any], n: int, m: int, largest: int, least: int, weights: Sequence[Any]
) -> bool:
    """All stop at the first level."""
    run = level_run(fractions(case["demands"]), ZERO, case["weights"])
    return set(run.stops) == {run.levels[0]} and case["rounds"] == 1


@judge(cases=lambda n, m, largest, epsilon, weights: families(n, m, largest, weights))
def edrf_is_dcdrf(
    case: Mapping[str, Any], n: int, m: int, largest: int, epsilon: Any, weights: Sequence[Any]
) -> bool:
    """The levels with this epsilon are those without, and max-min fair."""
    demands, w = fractions(case["demands"]), case["weights"]
    one, two = level_run(demands, ZERO, w), level_run(demands, fraction(epsilon), w)
    return (one.levels, one.stops) == (two.levels, two.stops) and two.tasks(demands) == level_tasks(
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
    t, c = len(run.levels), ratio_of_loads(run)
    return (t, c) == (case["rounds"], fraction(case["c"])) and (t == 1 or c < (1 - e) ** (t - 1))


@judge(cases=lambda most, epsilon, frozen: most)
def dcdrf_lemma_chain(case: Mapping[str, Any], most: int, epsilon: Any, frozen: bool) -> bool:
    """The same for a chain of tenants."""
    e, m = fraction(epsilon), case["tenants"]
    demands = [[Fraction(4 * (r == k) + (r > k), 4) for r in range(m)] for k in range(m)]
    run = level_run(demands, e, [Fraction(1, 3) ** k for k in range(m)], frozen)
    t, c = len(run.levels), ratio_of_loads(run)
    return (t, c) == (case["rounds"], fraction(case["c"])) and (t == 1 or c < (1 - e) ** (t - 1))


@judge(cases=_lemma_cases)
def dcdrf_rounds_equal(
    case: Mapping[str, Any], n: int, m: int, largest: int, epsilons: Sequence[Any], weights: Sequence[Any]
) -> bool:
    """Ratios of levels that follow one another, and their number."""
    e = fraction(case["epsilon"])
    rounds = level_run(fractions(case["demands"]), e, case["weights"]).levels
    steep = all(z / y >= 1 / (1 - e) for y, z in pairwise(rounds))
    return len(rounds) == case["rounds"] and steep and (1 / (1 - e)) ** (len(rounds) - 1) <= n


@judge(cases=lambda most: most)
def dcdrf_rounds_quarter(case: Mapping[str, Any], most: int) -> bool:
    """A load of a quarter leaves three quarters, more than the half: each resource takes a round."""
    m = case["resources"]
    singles = [[ONE * (r == k) for r in range(m)] for k in range(m)]
    run = level_run(singles, Fraction(1, 2), [Fraction(1, 4) ** k for k in range(m)])
    return run.levels == sorted(set(run.stops)) and len(run.levels) == m == case["rounds"]


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


def whole(demand: Sequence[int], units: Sequence[int]) -> int:
    """Whole bundles in so many units."""
    return int(runs([Fraction(d) for d in demand], [Fraction(u) for u in units]))


def nothing_fits(demands: Sequence[Sequence[int]], capacities: Sequence[int], bundles: Sequence[int]) -> bool:
    """Whether no agent can have one bundle more."""
    left = [
        c - sum(x * d for x, d in zip(bundles, column, strict=True))
        for c, column in zip(capacities, zip(*demands, strict=True), strict=True)
    ]
    return min(left) >= 0 and not any(whole(row, left) for row in demands)


def fair_part(demands: Sequence[Sequence[int]], capacities: Sequence[int]) -> list[int]:
    """Whole bundles in the n-th part of everything."""
    n = len(demands)
    return [int(runs([Fraction(d) for d in row], [Fraction(c, n) for c in capacities])) for row in demands]


def wants(demands: Sequence[Sequence[int]], bundles: Sequence[int], i: int, j: int, removed: int) -> int:
    """Own bundles that agent i could run with what agent j holds, less some of the bundles of j."""
    return whole(demands[i], [max(0, bundles[j] - removed) * d for d in demands[j]])


def _fair(demands: Sequence[Sequence[int]], capacities: Sequence[int], bundles: Sequence[int]) -> bool:
    pairs = [(i, j) for i, j in product(range(len(demands)), repeat=2) if i != j]
    return (
        nothing_fits(demands, capacities, bundles)
        and all(x >= y for x, y in zip(bundles, fair_part(demands, capacities), strict=True))
        and all(wants(demands, bundles, i, j, 0) - bundles[i] <= 1 for i, j in pairs)
    )


@judge(cases=lambda n, m, largest, capacities, ahead=1: ((largest + 1) ** m - 1) ** n)
def minmax_fair(
    case: Mapping[str, Any], n: int, m: int, largest: int, capacities: Sequence[int], ahead: int = 1
) -> bool:
    """Bundles by events, and what is asked of them."""
    found = sequential_minmax(case["demands"], capacities, range(n), ahead)
    return found == case["bundles"] and _fair(case["demands"], capacities, found)


@judge
def minmax_fair_random(case: Mapping[str, Any], ahead: int = 1) -> bool:
    """The same, with ties in some order."""
    demands, capacities, told = case["demands"], case["capacities"], case["bundles"]
    orders = permutations(range(len(demands)))
    reached = any(sequential_minmax(demands, capacities, order, ahead) == told for order in orders)
    return reached and _fair(demands, capacities, told)


def edrf_with_lies(demands: Matrix, lies: Mapping[int, Row]) -> Row:
    """Tasks by assignments, with what the claims of some bring them."""
    claimed = [lies.get(i, row) for i, row in enumerate(demands)]
    given = edrf_tasks(claimed)
    return [runs(row, [x * d for d in told]) for row, told, x in zip(demands, claimed, given, strict=True)]


def _number_of_lies(n: int, m: int, largest: int, members: int) -> int:
    return families(n, m, largest, [None]) * comb(n, members) * ((largest + 1) ** m - 1) ** members


@judge(cases=_number_of_lies)
def edrf_lies(case: Mapping[str, Any], n: int, m: int, largest: int, members: int) -> bool:
    """Honest and lying tasks by assignments; some member does not gain."""
    demands, group = fractions(case["demands"]), [i - 1 for i in case["members"]]
    honest = edrf_tasks(demands)
    got = edrf_with_lies(demands, dict(zip(group, fractions(case["lies"]), strict=True)))
    told = [fractions(case["honest"]), fractions(case["with the lies"])]
    return told == [honest, got] and min(got[i] - honest[i] for i in group) <= 0


def _lonely_cases(most: int, epsilons: Sequence[Any]) -> int:
    return sum(fraction(e) < Fraction(n - 2, n - 1) for n in range(3, most + 1) for e in epsilons)


@judge(cases=_lonely_cases)
def dcdrf_lonely_loss(case: Mapping[str, Any], most: int, epsilons: Sequence[Any]) -> bool:
    """The others stop with 1/(n - 1) tasks, and what is left of resource 1 then follows."""
    n, e = case["n"], fraction(case["epsilon"])
    part = 1 - e - Fraction(1, n - 1)
    # All grow alike. The others exhaust resource 2 with 1/(n - 1) tasks each; tenant 1 then has as many.
    task = Fraction(1, n - 1)
    left = 1 - task - (n - 1) * part * task
    rough = task if left <= e else task + left
    exact = task + left
    told = [fraction(case["EDRF"]), fraction(case["DC-DRF"])]
    return told == [exact, rough] and rough * (1 + e * (n - 1)) == exact


@judge(cases=lambda sizes: sum(comb((k + 1) ** m - 2 + n, n) for n, m, k in sizes))
def bmf_fixed_points(case: Mapping[str, Any], sizes: Any) -> bool:
    """The allocations are BMF, and tasks under the levels are these tasks again, without room or overflow."""
    a = fractions(case["demands"])
    for tasks in fractions(case["vertices"]):
        load = usage(a, tasks)
        level = [
            max(x * row[j] for x, row in zip(tasks, a, strict=True)) if load[j] >= 1 else ONE
            for j in range(len(load))
        ]
        again = [runs(row, level) for row in a]
        # A level stays where it is if its load is 1, or if it is 1 and there is room.
        still = all(u == 1 or (u < 1 and t == 1) for u, t in zip(load, level, strict=True))
        if again != tasks or not still or not is_bottleneck_max(a, [ONE] * len(load), tasks):
            return False
    return bool(case["vertices"])


@judge(cases=lambda n, m, largest: ((largest + 1) ** m - 1) ** n)
def drf_bottlenecks(case: Mapping[str, Any], n: int, m: int, largest: int) -> bool:
    """If those of higher levels leave, each user still demands something full: there is no room for it."""
    a = fractions(case["demands"])
    tasks = drf_tasks(a, [1] * m)
    level = [x * max(row) for x, row in zip(tasks, a, strict=True)]
    for i, row in enumerate(a):
        kept = usage(a, [x if v <= level[i] else ZERO for x, v in zip(tasks, level, strict=True)])
        if not any(d and u == 1 for d, u in zip(row, kept, strict=True)):
            return False
    return True


def _best(loads: Matrix, tasks: Row, weights: Row) -> bool:
    """Whether no allocation to classes on two resources has a larger weighted sum of ratios to the tasks."""
    corners = vertices([list(column) for column in zip(*loads, strict=True)], [ONE, ONE])
    gains = [w / x for w, x in zip(weights, tasks, strict=True)]
    best = max(sum(map(prod, zip(gains, corner, strict=True))) for corner in corners)
    return max(usage(loads, tasks)) <= 1 and best == sum(weights)


@judge(cases=lambda largest, most: largest**4 * most**2)
def two_classes(case: Mapping[str, Any], largest: int, most: int) -> bool:
    """The tasks per job are BMF, and no allocation to the two classes beats them."""
    a, counts, tasks = (
        fractions(case["demands"]),
        [fraction(k) for k in case["counts"]],
        fractions(case["tasks"]),
    )
    jobs = [row for row, k in zip(a, counts, strict=True) for _ in range(int(k))]
    each = [x for x, k in zip(tasks, counts, strict=True) for _ in range(int(k))]
    loads = [[k * d for d in row] for row, k in zip(a, counts, strict=True)]
    return is_bottleneck_max(jobs, [ONE, ONE], each) and _best(loads, tasks, counts)


def _cells(policy: str, least_demand: int, largest_demand: int, largest_capacity: int) -> int:
    kinds = (largest_demand - least_demand + 1) ** 2 - (least_demand == 0)
    return kinds**3 * largest_capacity**2


@judge(cases=_cells)
def levels_and_full(
    case: Mapping[str, Any], policy: str, least_demand: int, largest_demand: int, largest_capacity: int
) -> bool:
    """Raised alike to the common level of user 1, all tasks are these and just fit."""
    a, c, tasks = fractions(case["demands"]), fractions(case["capacities"]), fractions(case["tasks"])
    one = [max(row) if policy == "drf" else sum(row) for row in shares_of(a, c)]
    common = [tasks[0] * one[0] / v for v in one]
    # What is the least factor by which something overflows? 1 if it is just full.
    room = min(c_j / u for u, c_j in zip(usage(a, common), c, strict=True) if u)
    return common == tasks and room == 1


@judge(cases=lambda largest, weighted=True: 3 * ((largest + 1) ** 2 - 1) ** 2)
def one_server_cases(case: Mapping[str, Any], largest: int, weighted: bool = True) -> bool:
    """DRF by assignments leaves no gain on the server."""
    park = Park.of(case["cluster"])
    rates = [
        (w if weighted else ONE) * runs(row, park.capacities[0])
        for w, row in zip(park.weights, park.demands, strict=True)
    ]
    tasks = max_min(park.demands, park.capacities[0], rates)
    return tasks == fractions(case["tasks"]) and cannot_gain(park, [[x] for x in tasks], "resource")


@judge(cases=lambda denominator, threshold, largest: int(fraction(largest) * denominator))
def cpu_use_of_class_d(case: Mapping[str, Any], denominator: int, threshold: Any, largest: Any) -> bool:
    """TSF by its order of users, PS-DSF by the gains that are left, and the CPU of class D."""
    c, half = fraction(case["c"]), Fraction(1, 2)
    park = Park.of(
        {
            "demands": [["1/10", "1/10"], [c, "1/5"], ["1/5", "1/10"]],
            "capacities": [[8, 8], [34, 34], ["33/2", "33/4"], ["11/2", "33/4"]],
            "eligible": [[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]],
        }
    )
    # TSF: user 3 has the least share even with all CPU of C and D; so users 1 and 2 share the memory of A, B.
    alone = [sum((runs(row, capacity) for capacity in park.capacities), ZERO) for row in park.demands]
    third = 22 / park.demands[2][0]
    factor = 42 / (alone[0] * park.demands[0][1] + alone[1] * park.demands[1][1])
    fits = factor * (alone[0] * park.demands[0][0] + alone[1] * c) <= 42
    tsf = ONE if fits and third / alone[2] < factor else ZERO
    part = min(ONE, 2 * (285 * c + 3 * half) / 77)
    # PS-DSF: user 2 has t tasks, of which class D runs those that A and B leave.
    t = Fraction(1755, 14) if 285 * c < 37 else (165 + 1575 * c) / (1 + 15 * c)
    d = [2 * t - 210, 2 * t / 3 - Fraction(165, 2)]
    x = [
        [Fraction(80), 2 * t - 80, ZERO, ZERO],
        [ZERO, 210 - t, ZERO, d[0]],
        [ZERO, ZERO, Fraction(165, 2), d[1]],
    ]
    stands = is_psdsf(park, x, "resource") and cannot_gain(park, x, "resource")
    told = [fraction(case["PS-DSF"]), fraction(case["TSF"])]
    as_said = (part < 1) == (c < fraction(threshold))
    return (
        stands
        and told == [part, tsf]
        and tsf == 1
        and park.used(x, 3)[0] == part * Fraction(11, 2)
        and as_said
    )


@judge(cases=lambda shares, loads, sizes, size, balanced: (size + 1) ** len(shares))
def balance_equations(
    case: Mapping[str, Any], shares: Any, loads: Any, sizes: Any, size: int, balanced: bool
) -> bool:
    """Each class goes down as often as it comes up, across every face of the state."""
    if not balanced:
        raise NotImplementedError("this judges balanced fairness only")
    columns, rho, x = frozen(shares), fractions(loads), tuple(case["counts"])
    for i, (r, sigma) in enumerate(zip(rho, fractions(sizes), strict=True)):
        up = moved(x, i, 1)
        # From x to x + e_i and back; the tasks at x + e_i are the ratio of the balance functions.
        served = balance(columns, x) / balance(columns, up) / sigma
        here, there = (balance(columns, y) * powers(rho, y) for y in (x, up))
        if r / sigma * here != served * there:
            return False
    return True


@judge(cases=lambda shares, size, largest: (size + 1) ** len(shares) - 1)
def balanced_usage(case: Mapping[str, Any], shares: Any, size: int, largest: bool) -> bool:
    """Tasks as ratios from above, and the fullest resource."""
    columns, x = frozen(shares), tuple(case["counts"])
    tasks = [
        balance(columns, moved(x, i, -1), largest) / balance(columns, x, largest) if k else ZERO
        for i, k in enumerate(x)
    ]
    used = usage(fractions(shares), tasks)
    return used == fractions(case["usage"]) and max(used) == 1


@judge(cases=lambda shares, size: (size + 1) ** len(shares))
def balance_below_others(case: Mapping[str, Any], shares: Any, size: int) -> bool:
    """From above, and the power series by multinomials."""
    columns, x = frozen(shares), tuple(case["counts"])
    value, other = balance(columns, x), series(columns, x)
    needs = [
        sum((v * series(columns, moved(x, i, -1)) for i, v in enumerate(column) if x[i]), ZERO)
        for column in columns
    ]
    told = [fraction(case["value"]), fraction(case["other"])]
    return told == [value, other] and value <= other and max(needs) <= other


@judge(cases=lambda shares, loads, total: total + 1)
def mass_of_totals(case: Mapping[str, Any], shares: Any, loads: Any, total: int) -> bool:
    """From above; the coefficient is the complete symmetric polynomial of the loads."""
    columns, rho, k = frozen(shares), fractions(loads), case["jobs"]
    states = [x for x in product(range(k + 1), repeat=len(rho)) if sum(x) == k]
    mass = sum((balance(columns, x) * powers(rho, x) for x in states), ZERO)
    load = [dot(rho, column) for column in columns]
    most = sum((prod(chosen, start=ONE) for chosen in combinations_with_replacement(load, k)), ZERO)
    return mass == fraction(case["mass"]) and max(load) ** k <= mass <= most


@judge(cases=lambda shares, size, largest: (size + 1) ** len(shares) * len(shares))
def duration_terms(case: Mapping[str, Any], shares: Any, size: int, largest: bool) -> bool:
    """From above, and geometric series of one resource by multinomials."""
    columns, x, i = frozen(shares), tuple(case["counts"]), case["class"]
    up = moved(x, i, 1)
    own = [column[i] for column in columns]
    # Coefficients of the balance series times load/(1 - load): all states below x, but x itself.
    behind = [
        sum((balance(columns, y) * multinomial(column, z) for y, z in below(x) if any(z)), ZERO)
        for column in columns
    ]
    left = (x[i] + 1) * balance(columns, up)
    right = (max(own) if largest else min(own)) * balance(columns, x)
    right += dot(own, behind)
    return [fraction(case["left"]), fraction(case["right"])] == [left, right] and right - left >= 0


def _is_fair(demands: Matrix, weights: Any, epsilon: Fraction) -> bool:
    run = level_run(demands, epsilon, weights)
    tasks, left = run.tasks(demands), [1 - u for u in run.used(max(run.levels))]
    for i, row in enumerate(demands):
        # Nobody stops below the level 1, at which it runs what its entitlements run.
        if run.stops[i] < 1 or not any(d and s <= epsilon for d, s in zip(row, left, strict=True)):
            return False
        for j, z in enumerate(run.stops):
            scaled = [
                own * z * g / other
                for own, g, other in zip(run.entitled[i], run.rates[j], run.entitled[j], strict=True)
            ]
            if runs(row, scaled) > tasks[i]:
                return False
    return min(left) >= 0


@judge(cases=families)
def edrf_fair(case: Mapping[str, Any], n: int, m: int, largest: int, weights: Sequence[Any]) -> bool:
    """Fair by levels, and the tasks are max-min fair levels."""
    demands, w = fractions(case["demands"]), case["weights"]
    return level_run(demands, ZERO, w).tasks(demands) == level_tasks(demands, w) and _is_fair(
        demands, w, ZERO
    )


@judge(cases=lambda n, m, largest, epsilons, weights: families(n, m, largest, weights) * len(epsilons))
def dcdrf_fair(
    case: Mapping[str, Any], n: int, m: int, largest: int, epsilons: Sequence[Any], weights: Sequence[Any]
) -> bool:
    """Fair by levels."""
    return _is_fair(fractions(case["demands"]), case["weights"], fraction(case["epsilon"]))


def _tables(choices: Sequence[int], capacity: int, efficient: bool, fair: str) -> int:
    return prod(len(bundle_outcomes(pair, capacity, efficient, fair)) for pair in product(choices, repeat=2))


@judge(cases=_tables)
def all_bundle_mechanisms(
    case: Mapping[str, Any], choices: Sequence[int], capacity: int, efficient: bool, fair: str
) -> bool:
    """The table gives what it may, and a pair of its rows shows that a lie pays."""
    table = case["demands and bundles"]
    allowed = all((x, y) in bundle_outcomes((d, e), capacity, efficient, fair) for d, e, x, y in table)
    pays = False
    for (d, e, x, y), (p, q, u, v) in product(table, repeat=2):
        first = e == q and u * p // d > x  # agent 1 needs d and claims p
        second = d == p and v * q // e > y
        pays = pays or first or second
    return (
        allowed and pays and sorted(row[:2] for row in table) == sorted(map(list, product(choices, repeat=2)))
    )


@judge
def bmf_path_pieces(case: Mapping[str, Any], demands: Any, capacities: Any, capped: bool = True) -> bool:
    """The conditions hold at both ends and in the middle of the piece; without a cap it is BMF."""
    a, c = fractions(demands), fractions(capacities)
    (begin, end), (first, last) = fractions(case["caps"]), fractions(case["tasks"])
    owners = case["bottlenecks"]
    middle = [(u + v) / 2 for u, v in zip(first, last, strict=True)]

    def stands(cap: Fraction, tasks: Row) -> bool:
        load = usage(a, tasks)
        followers = [i for i, j in enumerate(owners) if j == len(c)]
        return (
            max(tasks) <= cap
            and all(u <= c_j for u, c_j in zip(load, c, strict=True))
            and all(tasks[i] == cap for i in followers)
            and all(
                load[j] == c[j]
                and max(x * row[j] for x, row in zip(tasks, a, strict=True)) == tasks[i] * a[i][j]
                for i, j in enumerate(owners)
                if i not in followers
            )
        )

    path = stands(begin, first) and stands((begin + end) / 2, middle) and stands(end, last)
    ends = begin == end or not capped
    return path and (not ends or is_bottleneck_max(a, c, last))


@lru_cache(maxsize=256)
def _park(text: str) -> Park:
    """The cluster of a text of plain data, read once for all its placements."""
    return Park.of(literal_eval(text))


@judge
def placements_by_both_definitions(
    case: Mapping[str, Any], division: str, largest: int, saturated: bool = True, denominator: int = 2
) -> bool:
    """The highest served level and the gains that are left say the same."""
    park, x = _park(repr(case["cluster"])), fractions(case["placement"])
    return is_psdsf(park, x, division) == cannot_gain(park, x, division)


@judge
def algorithm_rests(case: Mapping[str, Any], largest: int) -> bool:
    """The poorest who are left are stopped by full resources, exactly if the served levels say PS-DSF."""
    park, placement = Park.of(case["cluster"]), fractions(case["placement"])
    return rests(park, placement) == is_psdsf(park, placement, "resource")
